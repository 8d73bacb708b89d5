import torch

w = torch.nn.Parameter(torch.ones(6))
opt = torch.optim.Adam([w], lr=0.1)

@torch.compile
def step():
    opt.step()

for i in range(3):
    w.grad = torch.full((6,), float(i))
    step()
