"""torch.autograd.Function on levels of transformations."""
from typing import NamedTuple

import torch
from torch._functorch.utils import exposed_in
from torch._functorch.vmap import unwrap_batched, wrap_batched
from torch.utils import _pytree as pytree

_PAGE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    batch_size: int
    randomness: str


def has_overriden_vmap_rule(autograd_function):
    return autograd_function.vmap is not torch.autograd.Function.vmap


def active():
    """Whether an operator runs on levels: a trace has levels that nothing runs on."""
    return torch._C._are_functorch_transforms_active() and not torch._C._functorch._traced()


def custom_function_call(autograd_function, apply, args):
    """autograd_function.apply(*args) while levels are under way; apply is what it does on no level."""
    if autograd_function.setup_context is torch.autograd.Function.setup_context:
        raise RuntimeError(f"In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the setup_context staticmethod. {_PAGE}")
    kind, level, randomness = torch._C._functorch._levels()[-1]
    if kind == "Vmap":
        name = autograd_function.__name__
        if autograd_function.generate_vmap_rule:
            if has_overriden_vmap_rule(autograd_function):
                raise RuntimeError(f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
                                   f"overriden vmap staticmethod to avoid ambiguity. {_PAGE}")
        elif not has_overriden_vmap_rule(autograd_function):
            raise RuntimeError(f"You tried to vmap over {name}, but it does not have vmap support. Please override and implement the vmap staticmethod or set generate_vmap_rule=True. {_PAGE}")
        else:
            unwrapped, in_dims = unwrap_batched(args, level)
            if all(d is None for d in pytree.tree_leaves(in_dims)):
                return torch._C._functorch._beneath(autograd_function.apply, *unwrapped)
            out = torch._C._functorch._beneath(autograd_function.vmap, VmapInfo(torch._C._functorch._batch_size(), randomness), in_dims, *unwrapped)
            if not (isinstance(out, tuple) and len(out) == 2):
                raise RuntimeError(f"Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. Got a {type(out)} as the return value.")
            return wrap_batched(out[0], out[1], level)
    return applied_on_level(apply, args)


def applied_on_level(apply, args):
    """apply(*args) on the innermost level: for each element of a batch, or recorded on it."""
    kind, level, _ = torch._C._functorch._levels()[-1]
    if kind == "Vmap":
        flat, spec = pytree.tree_flatten(args)
        flat, dims = zip(*[torch._C._functorch._unwrap_batched(a, level) if isinstance(a, torch.Tensor) else (a, None) for a in flat]) if flat else ((), ())
        if all(d is None for d in dims):
            return torch._C._functorch._beneath(apply, *args)

        size = torch._C._functorch._batch_size()

        def each():
            rows, out_spec = [], None
            for i in range(size):
                one = pytree.tree_unflatten([a if d is None else a.select(d, i) for a, d in zip(flat, dims)], spec)
                leaves, out_spec = pytree.tree_flatten(_again(apply, one))
                rows.append(leaves)
            return [torch.stack(c) if isinstance(c[0], torch.Tensor) else c[0] for c in zip(*rows)], out_spec

        leaves, out_spec = torch._C._functorch._beneath(each)
        return pytree.tree_unflatten([torch._C._functorch._add_batch_dim(x, 0, level) if isinstance(x, torch.Tensor) else x for x in leaves], out_spec)
    for a in pytree.tree_leaves(args):
        if isinstance(a, torch.Tensor) and a.requires_grad:
            a = torch._C._functorch.get_unwrapped(a)
            while True:
                if a.requires_grad:
                    raise NotImplementedError("torch.autograd.Function in gradients of torch.func within others is not supported")
                if not torch._C._functorch.is_functorch_wrapped_tensor(a):
                    break
                a = torch._C._functorch.get_unwrapped(a)
    return apply(*args)


def _again(apply, args):
    return applied_on_level(apply, args) if active() else apply(*args)
