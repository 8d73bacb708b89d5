"""torch.nn.utils.prune."""
import torch, copy
from torch import nn
import torch.nn.utils.prune as prune
torch.manual_seed(0)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
m = nn.Linear(4, 3)
prune.l1_unstructured(m, "weight", amount=5)
print(sorted(dict(m.named_parameters())), sorted(dict(m.named_buffers())), m.weight_mask, m.weight.is_leaf, prune.is_pruned(m), [type(h).__name__ for h in m._forward_pre_hooks.values()], (m.weight == 0).sum())
prune.ln_structured(m, "weight", amount=1, n=2, dim=0); print(m.weight_mask, type(list(m._forward_pre_hooks.values())[0]), [type(x).__name__ for x in list(m._forward_pre_hooks.values())[0]])
m(torch.ones(1, 4)).sum().backward(); print(m.weight_orig.grad)
prune.remove(m, "weight"); print(sorted(dict(m.named_parameters())), type(m.weight), prune.is_pruned(m), m._forward_pre_hooks)
prune.random_unstructured(m, "weight", amount=0.5); print(m.weight_mask.sum()); prune.remove(m, "weight")
prune.random_structured(m, "weight", amount=0.5, dim=1); print(m.weight_mask.sum())
c = nn.Conv2d(3, 4, 3); prune.ln_structured(c, "weight", 0.5, n=float("inf"), dim=1); print(c.weight_mask.sum(dim=(0, 2, 3)))
prune.identity(c, "bias"); print(c.bias_mask)
l = nn.Linear(2, 2); prune.custom_from_mask(l, "weight", torch.tensor([[1, 0], [0, 1]])); print(l.weight == l.weight_orig * l.weight_mask)
a, b = nn.Linear(4, 4), nn.Linear(4, 2)
prune.global_unstructured([(a, "weight"), (b, "weight")], pruning_method=prune.L1Unstructured, amount=0.25); print((a.weight == 0).sum() + (b.weight == 0).sum())
for f in (lambda: prune.remove(nn.Linear(2, 2), "weight"), lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", amount=-1), lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", amount=1.5), lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", amount=100), lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", amount="x"), lambda: prune.ln_structured(nn.Linear(2, 2), "bias", 1, 2, 0), lambda: prune.ln_structured(nn.Linear(2, 2), "weight", 1, 2, 5), lambda: prune.global_unstructured([1], prune.L1Unstructured), lambda: prune.custom_from_mask(nn.Linear(2,2), "weight", torch.ones(3))): t(f)
class Foo(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"
    def compute_mask(self, t, default_mask):
        mask = default_mask.clone(); mask.view(-1)[::2] = 0; return mask
x = nn.Linear(3, 2); Foo.apply(x, "bias"); print(x.bias_mask, Foo().prune(torch.ones(4)))
print(prune.L1Unstructured(2).prune(torch.tensor([3., 1., 2., 4.])), prune.LnStructured(1, 1, 0).compute_mask(torch.ones(2, 2) * torch.tensor([[1.], [2.]]), torch.ones(2, 2)), prune.Identity().prune(torch.ones(2)), prune.RandomUnstructured(0.5).PRUNING_TYPE)
sd = a.state_dict(); print(sorted(sd))
