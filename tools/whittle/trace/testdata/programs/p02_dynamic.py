import torch

@torch.compile
def norm(x):
    return x / (x.abs().sum(-1, keepdim=True) + 1e-5)

for n in (3, 5, 8, 13):
    norm(torch.randn(n, 4))
norm(torch.randn(3, 4, dtype=torch.float64))
norm(torch.randn(3, 4, 2))
