import torch

def picky(gm, inputs):
    if any(n.target is torch.cumsum for n in gm.graph.nodes):
        raise NotImplementedError("no cumsum <b>here</b>")
    return gm.forward

@torch.compile(backend=picky)
def fine(x):
    return x + 1

@torch.compile(backend=picky)
def bad(x):
    return torch.cumsum(x, 0).cos()

fine(torch.ones(3))
try:
    bad(torch.ones(3))
except Exception as e:
    print(type(e).__name__)
