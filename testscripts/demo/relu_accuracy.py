# The kernel generated for relu runs, and computes something else: repro level 4 compares every graph with eager.
import torch
import torch._dynamo.config
import torch._inductor.config

torch._dynamo.config.repro_after = "aot"
torch._dynamo.config.repro_level = 4
torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 32), torch.nn.Tanh(),
    torch.nn.Linear(32, 32), torch.nn.ReLU(),
    torch.nn.Linear(32, 8), torch.nn.Sigmoid(),
)

with torch.no_grad():
    print(torch.compile(model)(torch.randn(4, 16)).shape)
