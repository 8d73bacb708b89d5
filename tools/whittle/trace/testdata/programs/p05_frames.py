import torch

def helper(x):
    torch._dynamo.graph_break()
    return x.tanh()

@torch.compile
def outer(x):
    y = x * 3
    z = helper(y)
    return z + y

@torch.compile
def another(x, k):
    for i in range(k):
        x = x + i
    return x

outer(torch.randn(5))
for k in (1, 2, 3):
    another(torch.randn(5), k)
