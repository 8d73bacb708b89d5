"""torch.compiler: the public side of the compiler. Its work is torch._dynamo's, which is loaded when it is first needed."""
import torch
from torch._C._dynamo import is_compiling as _is_tracing


def _dynamo():
    import torch._dynamo

    return torch._dynamo


def compile(*args, **kwargs):
    """torch.compile by another name."""
    return torch.compile(*args, **kwargs)


def reset():
    _dynamo().reset()


def disable(fn=None, recursive=True):
    return _dynamo().disable(fn, recursive)


def allow_in_graph(fn):
    return _dynamo().allow_in_graph(fn)


def assume_constant_result(fn):
    return _dynamo().assume_constant_result(fn)


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    return _dynamo().substitute_in_graph(original_fn, can_constant_fold_through=can_constant_fold_through, skip_signature_check=skip_signature_check)


def list_backends(exclude_tags=("debug", "experimental")):
    return _dynamo().list_backends(exclude_tags)


def set_stance(stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
    from torch._dynamo.decorators import set_stance as of_dynamo

    return of_dynamo(stance, skip_guard_eval_unsafe=skip_guard_eval_unsafe, force_backend=force_backend)


def is_compiling():
    return _is_tracing()


def is_dynamo_compiling():
    return _is_tracing()


def cudagraph_mark_step_begin():
    """There are no CUDA graphs whose steps could begin."""


def wrap_numpy(fn):
    """A function on numpy's arrays as one on tensors."""
    from torch._dynamo.external_utils import wrap_numpy as wrap

    return wrap(fn)
