"""Tensors on the device meta."""
import torch
from torch import nn
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e))
x = torch.empty(2, 3, device="meta"); print(x, x.device, x.is_meta, x.shape, type(x), x.dtype, x.stride(), x.requires_grad, x.device.type, x.device.index, x.is_cpu, x.numel(), x.element_size(), x.data_ptr() , x.is_leaf)
print(x + 1, x @ x.t(), x.sum(), torch.zeros(3, device="meta", dtype=torch.int64), torch.ones_like(x), torch.rand_like(x), x.view(-1), x[0], x[:, 1:], x.to(torch.float64), x.clone(), x.detach(), x.contiguous(), torch.cat([x, x]).shape)
t(lambda: x + torch.ones(2, 3)); t(lambda: x + torch.tensor(1.0)); t(lambda: torch.ones(2, 3) + x); t(lambda: x.item()); t(lambda: x.sum().item()); t(lambda: x.tolist()); t(lambda: bool(x.sum())); t(lambda: x.numpy()); t(lambda: x.to("cpu")); t(lambda: x.cpu()); t(lambda: x.nonzero()); t(lambda: x[x > 0]); t(lambda: torch.tensor([1, 2], device="meta")); t(lambda: torch.tensor([1.0]).to("meta")); t(lambda: str(x.sum())); t(lambda: x.copy_(torch.ones(2, 3))); t(lambda: torch.ones(2, 3).copy_(x)); t(lambda: float(x.sum()))
l = nn.Linear(3, 4, device="meta"); print(l.weight, l.bias.device, l(x)); t(lambda: l(torch.ones(1, 3)))
y = torch.empty(2, 3, device="meta", requires_grad=True); z = (y * 2).sum(); print(z, z.grad_fn.name()); z.backward(); print(y.grad)
l2 = l.to_empty(device="cpu"); print(l2.weight.device, l2.weight.shape)
m = nn.Linear(2, 2).to("meta"); print(m.weight.device); t(lambda: m.to("cpu"))
with torch.device("meta"): n = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)); q = torch.ones(2); r = torch.tensor([1., 2.])
print(n[0].weight.device, n[1].running_mean.device, q.device, r)
sd = {k: torch.ones(v.shape) for k, v in n.state_dict().items()}
n.load_state_dict(sd, assign=True); print(n[0].weight.device, n[0].weight.requires_grad)
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); nn.Linear(3, 3, device="meta").load_state_dict(nn.Linear(3, 3).state_dict()); print([str(i.message)[:200] for i in w])
torch.set_default_device("meta"); print(torch.ones(2).device, torch.get_default_device()); torch.set_default_device(None)
print(nn.utils.skip_init(nn.Linear, 3, 3).weight.device, torch.arange(4, device="meta"), torch.randn(2, device="meta"), torch.full((2,), 1.0, device="meta"), torch.eye(2, device="meta"), torch.linspace(0, 1, 3, device="meta"))
x.fill_(3); x.add_(1); x.normal_(); x.uniform_(); print(x, torch.nn.init.kaiming_uniform_(x))
print(torch.nn.functional.conv2d(torch.empty(1, 3, 8, 8, device="meta"), torch.empty(4, 3, 3, 3, device="meta")).shape, x.storage().size() if 0 else "", torch.device("meta"), repr(torch.device("meta", 0)) )
print(nn.Parameter(x), [x], x.max(dim=1), x.is_contiguous(), torch.nn.Embedding(3, 2, device="meta")(torch.zeros(2, dtype=torch.long, device="meta")))
opt = torch.optim.SGD(l.parameters(), lr=0.1)
print(sum(p.numel() for p in nn.Transformer(8, 2, 1, 1, 8, device="meta").parameters()))
t(lambda: torch.empty(2, device="meta").cuda()); t(lambda: torch.empty(2, device="cuda"))
import copy; print(copy.deepcopy(x).device, copy.deepcopy(nn.Linear(2, 2, device="meta")).weight)
