"""functorch's older way to make a module a function of its parameters."""
import torch
from torch._functorch.functional_call import functional_call


def make_functional(model, disable_autograd_tracking=False):
    names = [k for k, _ in model.named_parameters()]
    params = tuple(p.detach() if disable_autograd_tracking else p for p in model.parameters())

    def fmodel(params, *args, **kwargs):
        return functional_call(model, dict(zip(names, params)), args, kwargs)

    return fmodel, params


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    names, kept = [k for k, _ in model.named_parameters()], [k for k, _ in model.named_buffers()]
    params = tuple(p.detach() if disable_autograd_tracking else p for p in model.parameters())

    def fmodel(params, buffers, *args, **kwargs):
        return functional_call(model, {**dict(zip(names, params)), **dict(zip(kept, buffers))}, args, kwargs)

    return fmodel, params, tuple(model.buffers())


def combine_state_for_ensemble(models):
    made = [make_functional_with_buffers(m) for m in models]
    params = tuple(torch.stack([p.detach() for p in ps]).requires_grad_() for ps in zip(*(m[1] for m in made)))
    buffers = tuple(torch.stack(bs) for bs in zip(*(m[2] for m in made)))
    return made[0][0], params, buffers
