# How an after-dynamo repro is run: forward, and backward where something asks for gradients.
import copy

import torch
import torch._inductor.config
from torch._dynamo.debug_utils import _leaves, run_fwd_maybe_bwd

torch._inductor.config.fallback_random = True


def run(mod, args, how):
    torch._dynamo.reset()
    mod = copy.deepcopy(mod)
    if how == "double":
        mod = mod.double()
        args = [a.detach().double().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]
    if how == "compiled":
        mod = torch.compile(mod)
    torch.manual_seed(0)
    return list(_leaves(run_fwd_maybe_bwd(mod, args)))
