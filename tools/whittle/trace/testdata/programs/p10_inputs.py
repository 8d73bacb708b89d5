import torch

@torch.compile(dynamic=True)
def mix(xs, scale=1.0):
    out = xs["a"] @ xs["b"].t()
    out = torch.where(out > 0, out, out * scale)
    return out.sum(0), out.max()

for n in (4, 6):
    d = {"a": torch.randn(n, 8), "b": torch.randn(3, 8)}
    mix(d)
mix(d, 0.5)
mix(d, 2.5)
