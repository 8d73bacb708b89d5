import torch

def scale(x, y):
    a = x.sin() + y
    print("in between")
    b = a * 2
    if b.sum() > 0:
        b = b - 1
    return b.relu()

f = torch.compile(scale)
f(torch.randn(4, 3), torch.ones(4, 3))
f(torch.randn(4, 3), torch.ones(4, 3))
