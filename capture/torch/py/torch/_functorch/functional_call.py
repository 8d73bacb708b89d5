"""Modules as functions of their parameters, and several modules as one with stacked parameters."""
import torch
from torch._functorch.utils import exposed_in


@exposed_in("torch.func")
def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    given = parameter_and_buffer_dicts
    if isinstance(given, (list, tuple)):
        given = {k: v for d in given for k, v in d.items()}
    if not isinstance(given, dict):
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    given, changed = swap_in(module, given, tie_weights, strict)
    try:
        return module(*args, **(kwargs or {}))
    finally:
        swap_out(parameter_and_buffer_dicts, given, changed)


def swap_in(module, given, tie_weights, strict):
    """Puts tensors in the place of a module's own: gives what is to be put back, and all that were given, with those that are tied to them."""
    own = {}
    for prefix, m in module.named_modules(remove_duplicate=False):
        for table in (m._parameters, m._buffers):
            for k, v in table.items():
                own[prefix + ("." if prefix else "") + k] = (table, k, v)
    if tie_weights:
        named = {id(own[k][2]): v for k, v in given.items() if k in own and own[k][2] is not None}
        for k, (_, _, v) in own.items():
            if k not in given and id(v) in named:
                given = {**given, k: named[id(v)]}
    if strict:
        missing, unexpected = [k for k in own if k not in given], [k for k in given if k not in own]
        if missing or unexpected:
            parts = [f"{what} key(s): {', '.join(map(repr, keys))}." for what, keys in (("Unexpected", unexpected), ("Missing", missing)) if keys]
            raise RuntimeError("Error(s) in reparametrizing for {}:\n\t{}".format(type(module).__name__, "\n\t".join(parts)))
    changed = [(own[k][0], own[k][1], own[k][2], v) for k, v in given.items() if k in own]
    for table, k, _, v in changed:
        table[k] = v
    return given, changed


def swap_out(dicts, given, changed):
    for (table, k, old, v) in changed:
        if table[k] is not v:  # the call has put something else there, as running statistics: the caller's dict gets it
            for name, x in list(given.items()):
                if x is v and isinstance(dicts, dict) and name in dicts:
                    dicts[name] = table[k]
        table[k] = old


@exposed_in("torch.func")
def stack_module_state(models):
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not all(m.training == models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(all_named, differentiable):
        names = [dict(x) for x in all_named]
        out = {}
        for k in names[0]:
            values = [n[k] for n in names]
            t = torch.stack([v.detach() for v in values])
            out[k] = t.requires_grad_() if differentiable and values[0].requires_grad else t
        return out

    return stacked([m.named_parameters() for m in models], True), stacked([m.named_buffers() for m in models], False)
