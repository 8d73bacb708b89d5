# A backend that takes the whole process down when it meets torch.cumsum, as a segfault in a native compiler would.
import os

import torch


def aborting(gm: torch.fx.GraphModule, example_inputs):
    for node in gm.graph.nodes:
        if node.target == torch.cumsum:
            os.abort()
    return gm


def forward(x):
    y = torch.sin(x) + torch.cos(x)
    z = torch.cumsum(y * 2, 0)
    return torch.exp(z).sum() - x.mean()


torch.compile(forward, backend=aborting)(torch.ones(8, 4))
