"""torch.compiler: the public side of the compiler."""
import torch
from torch._C import _dynamo as _native


def compile(*args, **kwargs):
    return torch.compile(*args, **kwargs)


def reset():
    import torch._dynamo

    torch._dynamo.reset()


def disable(fn=None, recursive=True):
    import torch._dynamo

    return torch._dynamo.disable(fn, recursive)


def allow_in_graph(fn):
    import torch._dynamo

    return torch._dynamo.allow_in_graph(fn)


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    import torch._dynamo

    return torch._dynamo.substitute_in_graph(original_fn, can_constant_fold_through=can_constant_fold_through, skip_signature_check=skip_signature_check)


def assume_constant_result(fn):
    import torch._dynamo

    return torch._dynamo.assume_constant_result(fn)


def list_backends(exclude_tags=("debug", "experimental")):
    import torch._dynamo

    return torch._dynamo.list_backends(exclude_tags)


def is_compiling():
    return _native.is_compiling()


def is_dynamo_compiling():
    return _native.is_compiling()


def is_exporting():
    return False


def set_stance(stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
    import torch._dynamo.decorators

    return torch._dynamo.decorators.set_stance(stance, skip_guard_eval_unsafe=skip_guard_eval_unsafe, force_backend=force_backend)


def cudagraph_mark_step_begin():
    pass
