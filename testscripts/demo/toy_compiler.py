# A backend written in Python that cannot handle torch.relu: the failing graph is the one that Dynamo captured.
import torch

layers = torch.nn.Sequential(*[torch.nn.Linear(200, 200) for _ in range(5)])


def toy_compiler(gm: torch.fx.GraphModule, example_inputs):
    for node in gm.graph.nodes:
        if node.target == torch.relu:
            assert False
    return gm


def forward():
    x = torch.ones(200, 200)
    y = torch.ones(200, 200)
    z = torch.relu(x + y)
    return layers(z)


torch.compile(forward, backend=toy_compiler)()
