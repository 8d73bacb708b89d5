import torch

class Block(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = torch.nn.LayerNorm(n)
        self.lin = torch.nn.Linear(n, n)

    def forward(self, x):
        return x + self.lin(self.norm(x)).relu()

m = torch.nn.Sequential(*[Block(16) for _ in range(3)]).eval()
c = torch.compile(m)
with torch.no_grad():
    c(torch.randn(2, 16))
    c(torch.randn(7, 16))
