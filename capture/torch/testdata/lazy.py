"""Modules that get their shapes from the first input."""
import torch, warnings
from torch import nn
from torch.nn.parameter import UninitializedParameter, UninitializedBuffer, is_lazy
torch.manual_seed(0)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
m = nn.LazyLinear(3)
print(m, type(m.weight), m.weight, is_lazy(m.weight), m.has_uninitialized_params(), m.in_features, list(dict(m.named_parameters())))
t(lambda: m.weight.shape); t(lambda: m.weight.size()); t(lambda: list(m.state_dict().items()))
y = m(torch.ones(2, 5)); print(m, type(m), m.weight.shape, y.shape, m.has_uninitialized_params() if hasattr(m, "has_uninitialized_params") else None, type(m.weight))
net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
print(net); print(net(torch.randn(2, 3, 6, 6)).shape); print(net)
o = nn.LazyConv1d(2, 3, bias=False); print(o.bias, o)
t(lambda: o(torch.ones(2)))
o(torch.ones(1, 4, 8)); print(o)
for c in (nn.LazyConv3d, nn.LazyConvTranspose1d, nn.LazyConvTranspose2d, nn.LazyConvTranspose3d): print(c(2, 3), c.cls_to_become)
for c in (nn.LazyBatchNorm1d, nn.LazyBatchNorm3d, nn.LazyInstanceNorm1d, nn.LazyInstanceNorm2d, nn.LazyInstanceNorm3d): print(c(), c(affine=True) if "Inst" in c.__name__ else "", c.cls_to_become)
a, b = nn.LazyLinear(3), nn.LazyLinear(3)
a(torch.ones(1, 4)); b.load_state_dict(a.state_dict()); print(b.weight.shape, b.has_uninitialized_params(), type(b))
c = nn.LazyLinear(3); c2 = nn.LazyLinear(3); print(c2.load_state_dict(c.state_dict())); print(list(c.state_dict()))
l = nn.Linear(4, 3); t(lambda: l.load_state_dict(c.state_dict()))
p = UninitializedParameter(); print(p, p.requires_grad); p.materialize((2, 2)); print(type(p), p.shape)
bf = UninitializedBuffer(); print(bf); bf.materialize((2,)); print(type(bf), bf.shape)
import copy; print(copy.deepcopy(UninitializedParameter()))
opt = None
t(lambda: torch.optim.SGD(nn.LazyLinear(3).parameters(), lr=0.1))
print(nn.LazyLinear(3).to(torch.float64).weight)
t(lambda: p.data.shape)
f = torch.compile(nn.Sequential(nn.LazyLinear(3), nn.ReLU()), backend="eager"); print(f(torch.ones(2, 5)).shape)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); nn.LazyLinear(2); print([str(x.message) for x in w])
class My(nn.modules.lazy.LazyModuleMixin, nn.Module):
    def __init__(s): super().__init__(); s.w = UninitializedParameter()
    def initialize_parameters(s, x):
        if s.has_uninitialized_params():
            with torch.no_grad(): s.w.materialize((x.shape[-1],)); s.w.fill_(2)
    def forward(s, x): return x * s.w
my = My(); print(my(torch.ones(1, 3)), type(my))
