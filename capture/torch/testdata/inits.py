"""Rare initializations, and orthogonal parametrizations."""
import torch
from torch import nn
from torch.nn import init
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print(init.dirac_(torch.empty(4, 2, 3)), init.dirac_(torch.empty(4, 2, 3, 3), 2).sum((2, 3)), init.dirac_(torch.empty(2, 2, 1, 3, 3)).sum())
t(lambda: init.dirac_(torch.empty(2, 2))); t(lambda: init.dirac_(torch.empty(3, 2, 3), 2))
torch.manual_seed(0); s = init.sparse_(torch.empty(10, 5), 0.3); print((s == 0).sum(0), s)
t(lambda: init.sparse_(torch.empty(2), 0.3)); 
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); torch.manual_seed(0); print(init.uniform(torch.empty(2)), init.constant(torch.empty(1), 3.0)); print([(x.category.__name__, str(x.message)) for x in w])
from torch.nn.utils import parametrizations as P
torch.manual_seed(0)
l = P.orthogonal(nn.Linear(4, 4)); print(l, torch.dist(l.weight @ l.weight.T, torch.eye(4)) < 1e-5)
l = P.orthogonal(nn.Linear(3, 5), orthogonal_map="householder"); print(torch.dist(l.weight.T @ l.weight, torch.eye(3)) < 1e-5, l.weight.shape)
l = P.orthogonal(nn.Linear(5, 3), orthogonal_map="cayley"); print(torch.dist(l.weight @ l.weight.T, torch.eye(3)) < 1e-5)
l = P.orthogonal(nn.Linear(4, 4), use_trivialization=False); l(torch.ones(1, 4)).sum().backward(); print(l.parametrizations.weight.original.grad.shape)
t(lambda: P.orthogonal(nn.Linear(4, 4), "bias")); t(lambda: P.orthogonal(nn.Linear(4, 4), orthogonal_map="x"))
