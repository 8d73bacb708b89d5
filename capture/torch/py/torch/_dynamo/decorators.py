"""Functions by which a program speaks to capture."""
import functools

import torch
from torch._C import _dynamo as _native


def disable(fn=None, recursive=True):
    if fn is None:
        return lambda f: disable(f, recursive)
    if isinstance(fn, torch.nn.Module):
        from torch._dynamo.eval_frame import OptimizedModule

        return OptimizedModule(fn, disable(fn.__call__, recursive))
    if not recursive:
        fn._torchdynamo_disable_once = True
        return fn

    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return _native.disabled(fn, args, kwargs)

    inner._torchdynamo_disable = True
    inner._torchdynamo_orig_callable = fn
    return inner


def run(fn=None):
    if fn is None:
        return lambda f: run(f)
    from torch._dynamo.eval_frame import OptimizedModule, innermost_fn

    names = fn
    if isinstance(fn, torch.nn.Module):
        fn = fn._orig_mod if isinstance(fn, OptimizedModule) else fn
        names = fn.forward
    else:
        names = fn = innermost_fn(fn)

    @functools.wraps(names)
    def wrapper(*args, **kwargs):
        return _native.run_only(fn, args, kwargs)

    return wrapper


def graph_break(msg=""):
    pass


class _DimRange:
    """What mark_dynamic promises of one dimension."""

    def __init__(self, dim, min, max):
        self.dim, self.min, self.max = dim, min, max

    def __eq__(self, other):
        return (self.dim, self.min, self.max) == (other.dim, other.min, other.max)

    def __hash__(self):
        return hash((self.dim, self.min, self.max))


def _mark(t, name, item):
    if not hasattr(t, name):
        setattr(t, name, set())
    getattr(t, name).add(item)


def mark_dynamic(t, index, *, min=None, max=None):
    if isinstance(index, int):
        _mark(t, "_dynamo_dynamic_indices", index)
        _mark(t, "_dynamo_dynamic_range", _DimRange(index, min, max))
        return
    for i in index:
        mark_dynamic(t, i, min=min, max=max)


def maybe_mark_dynamic(t, index):
    if isinstance(index, int):
        _mark(t, "_dynamo_weak_dynamic_indices", index)
        return
    for i in index:
        maybe_mark_dynamic(t, i)


def mark_unbacked(t, index):
    if isinstance(index, int):
        _mark(t, "_dynamo_unbacked_indices", index)
        return
    for i in index:
        mark_unbacked(t, i)


def mark_static(t, index=None):
    if isinstance(index, int):
        _mark(t, "_dynamo_static_indices", index)
    elif index is None:
        for i in range(t.dim()):
            mark_static(t, i)
    else:
        for i in index:
            mark_static(t, i)


def mark_static_address(t, guard=True):
    t._dynamo_static_input_type = "guarded" if guard else "unguarded"


def allow_in_graph(fn):
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(f) for f in fn]
    # The mark names its function: functools.wraps copies it to wrappers, which are other functions.
    fn._dynamo_allow_in_graph = fn
    return fn


def disallow_in_graph(fn):
    fn._torchdynamo_disable = fn
    return fn


forbid_in_graph = disallow_in_graph


def assume_constant_result(fn):
    fn._dynamo_marked_constant = True
    return fn


class set_stance:
    """How compiled functions behave: default, force_eager, eager_on_recompile, fail_on_recompile.

    A function, a context manager, and a decorator.
    """

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        from torch._dynamo.eval_frame import DynamoStance, _set_stance

        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance = DynamoStance(stance, skip_guard_eval_unsafe, force_backend)
        self.prev = _set_stance(self.stance)

    def __enter__(self):
        from torch._dynamo.eval_frame import _set_stance

        _set_stance(self.stance)

    def __exit__(self, *args):
        from torch._dynamo.eval_frame import _set_stance

        _set_stance(self.prev)

    def __call__(self, fn):
        from torch._dynamo.eval_frame import _set_stance

        _set_stance(self.prev)
        stance = self.stance

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            with set_stance(stance.stance, skip_guard_eval_unsafe=stance.skip_guard_eval_unsafe, force_backend=stance.backend):
                return fn(*args, **kwargs)

        return wrapper
