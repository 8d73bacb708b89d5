"""Tests of sharded parameters."""
import torch
from torch import nn
from torch._absent import declare

declare("FSDPTest", "FSDPTestMultiThread")


class MLP(nn.Module):
    """Two layers, each with a relu behind it; the first is dim_multiplier times as wide as the second."""

    def __init__(self, dim, device=None, *, bias=True, with_buffer=False, dim_multiplier=4):
        super().__init__()
        self.in_proj = nn.Linear(dim, dim_multiplier * dim, device=device, bias=bias)
        self.out_proj = nn.Linear(dim_multiplier * dim, dim, device=device, bias=bias)
        if with_buffer:
            self.register_buffer("buffer", torch.randn((dim,), device=device))
        else:
            self.buffer = None

    def forward(self, x):
        z = torch.relu(self.in_proj(x))
        z = torch.relu(self.out_proj(z))
        return z if self.buffer is None else z + self.buffer

    def reset_parameters(self):
        if self.buffer is not None:
            torch.nn.init.normal_(self.buffer)
