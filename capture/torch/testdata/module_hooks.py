"""Hooks of all modules and of the backward pass, edges of the graph, gradcheck."""
import warnings

import torch
from torch import nn
from torch.nn.modules import module as M


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.ReLU()
        self.register_buffer("c", torch.ones(2))

    def forward(self, x, fail=False):
        if fail:
            raise ValueError("asked for")
        return self.b(self.a(x)) + self.c


seen = []
handles = [M.register_module_parameter_registration_hook(lambda m, n, p: seen.append(("parameter", type(m).__name__, n))),
           M.register_module_module_registration_hook(lambda m, n, s: seen.append(("module", type(m).__name__, n))),
           M.register_module_buffer_registration_hook(lambda m, n, b: seen.append(("buffer", type(m).__name__, n)) or b * 2)]
net = Net()
print(seen, net.c)
for h in handles:
    h.remove()
Net()
print(len(seen))
with torch.no_grad():
    net.a.weight.fill_(0.5)
    net.a.bias.zero_()
handles = [M.register_module_forward_pre_hook(lambda m, args: print("before", type(m).__name__, len(args))),
           M.register_module_forward_hook(lambda m, args, out: print("behind", type(m).__name__, out.shape)),
           M.register_module_forward_hook(lambda m, args, kwargs, out: print("keywords", type(m).__name__, kwargs), with_kwargs=True),
           M.register_module_full_backward_hook(lambda m, gi, go: print("backward", type(m).__name__, [g is not None for g in go]))]
net(torch.ones(1, 2), fail=False).sum().backward()
for h in handles:
    h.remove()
print(net.a.weight.grad)
net.register_forward_hook(lambda m, args, out: print("always", out is None), always_call=True)
net.register_forward_hook(lambda m, args, out: print("not always"))
net(torch.ones(1, 2))
try:
    net(torch.ones(1, 2), fail=True)
except ValueError as e:
    print(e)
bad = Net()
bad.register_forward_hook(lambda m, args, out: 1 / 0, always_call=True)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    try:
        bad(torch.ones(1, 2), fail=True)
    except ValueError as e:
        print(e, [str(x.message) for x in w])

from torch.autograd.graph import get_gradient_edge, increment_version, register_multi_grad_hook

x, y = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
h = register_multi_grad_hook((x, y), lambda grads: print("all", [g if g is None else g.tolist() for g in grads]))
(x * y).sum().backward()
(x * y * 2).sum().backward()
h.remove()
(x * y).sum().backward()
h = register_multi_grad_hook((x, y), lambda g: print("any", g.tolist()), mode="any")
(x * 1).sum().backward()
h.remove()
z = x * 2
print(get_gradient_edge(z).node.name(), get_gradient_edge(x).node.name(), get_gradient_edge(z).output_nr)
for f in (lambda: get_gradient_edge(torch.ones(1)), lambda: register_multi_grad_hook((x,), print, mode="x")):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, e)
v = torch.ones(2)
increment_version(v)
print(v._version, v)

from torch.autograd import gradcheck, gradgradcheck


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


d = torch.linspace(0.1, 1, 4, dtype=torch.float64).requires_grad_()
print(gradcheck(torch.sin, (d,)), gradcheck(lambda a, b: (a * b, a.exp()), (d, d.detach().clone().requires_grad_())), gradgradcheck(lambda t: t**3, d), gradcheck(Wrong.apply, d, raise_exception=False))
try:
    gradcheck(Wrong.apply, torch.ones(1, dtype=torch.float64, requires_grad=True))
except RuntimeError as e:
    print(type(e).__name__, e)
try:
    gradcheck(torch.sin, torch.ones(1))
except ValueError as e:
    print(e)
