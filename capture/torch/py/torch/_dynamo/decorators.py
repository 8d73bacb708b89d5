"""Functions by which a program speaks to capture."""
import functools
import inspect
import types

import torch
from torch._C import _dynamo as _native
from torch._dynamo.exc import IncorrectUsage


def disable(fn=None, recursive=True):
    if fn is None:
        return lambda f: disable(f, recursive)
    if isinstance(fn, torch.nn.Module):
        from torch._dynamo.eval_frame import DisableContext, OptimizedModule

        return OptimizedModule(fn, DisableContext(recursive))
    if not recursive:
        fn.__code__  # a class has none
        fn._torchdynamo_disable_once = True
        return fn
    if inspect.isclass(fn):  # making its objects, and calling them
        for name in ("__init__", "__call__") + ("_call_impl",) * issubclass(fn, torch.nn.Module):
            setattr(fn, name, disable(getattr(fn, name)))
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

    wrapper._torchdynamo_inline = fn  # inside of a trace there is nothing to run already
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
    """Sizes of a tensor, all or those of one dimension or several, are constants of each graph; of a class of modules, so are the numbers that its
    instances have."""
    if inspect.isclass(t) and issubclass(t, torch.nn.Module):
        t._dynamo_marked_static = True
        return t
    if not isinstance(t, torch.Tensor):
        raise TypeError(f"mark_static expects a tensor/nn.Module class but recieved {type(t)}")
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
    if isinstance(fn, types.BuiltinFunctionType):
        _native.disallow(fn, False)  # those of torch are allowed unless they were disallowed
        return fn
    # The mark names its function: functools.wraps copies it to wrappers, which are other functions.
    fn._dynamo_allow_in_graph = fn
    return fn


def disallow_in_graph(fn):
    """A function of torch that ends graphs from now on; allow_in_graph takes that back."""
    if isinstance(fn, (list, tuple)):
        return [disallow_in_graph(f) for f in fn]
    assert callable(fn), "disallow_in_graph expects a callable"
    if not isinstance(fn, types.BuiltinFunctionType) and getattr(fn, "_dynamo_allow_in_graph", None) is not fn and not (getattr(fn, "__module__", None) or "").startswith("torch."):
        raise IncorrectUsage(
            "disallow_in_graph is expected to be used on an already allowed callable (like torch.* ops). "
            "Allowed callables means callables that TorchDynamo puts as-is in the extracted graph.")
    if isinstance(fn, types.BuiltinFunctionType):
        _native.disallow(fn, True)
        return fn
    if getattr(fn, "_dynamo_allow_in_graph", None) is fn:
        fn._dynamo_allow_in_graph = None
    fn._torchdynamo_disable = fn
    return fn


def forbid_in_graph(fn):
    """A function that no trace may meet: it is an error there."""
    if isinstance(fn, (list, tuple)):
        return [forbid_in_graph(f) for f in fn]
    assert callable(fn), "forbid_in_graph applies only to callables"
    fn._dynamo_forbidden = True
    return fn


forbid_in_graph([mark_dynamic, maybe_mark_dynamic, mark_unbacked, mark_static_address])


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

        return forbid_in_graph(wrapper)


forbid_in_graph(set_stance)


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False, is_embedded_type=False):
    """Have capture look into a Python function wherever a program calls original_fn, which is not Python.

    can_constant_fold_through says that a call with constants alone may be computed while tracing. Without skip_signature_check
    the two have to take their arguments alike; is_embedded_type allows a class for original_fn.
    """

    def function(o):
        return isinstance(o, (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodType))

    if not function(original_fn) and not (is_embedded_type and inspect.isclass(original_fn)):
        raise TypeError(f"substitute_in_graph expects a function but got {type(original_fn)!r}")
    if is_embedded_type and not inspect.isclass(original_fn):
        raise TypeError(f"substitute_in_graph expects a class but got {type(original_fn)!r}")

    def register(traceable_fn):
        if not function(traceable_fn):
            raise TypeError(f"@substitute_in_graph(...) expects a function but got {type(traceable_fn)!r}")
        if not skip_signature_check:
            _same_signature(original_fn, traceable_fn)
        if _native.substituted(original_fn):
            raise ValueError(f"Duplicate dispatch rule for {original_fn}: already registered in VariableBuilder's id dispatch map")
        _native.substitute(original_fn, traceable_fn, can_constant_fold_through)

        @functools.wraps(traceable_fn)
        def wrapped(*args, **kwargs):
            return original_fn(*args, **kwargs)

        wrapped.__torch_dynamo_original__ = original_fn
        wrapped.__torch_dynamo_polyfill__ = traceable_fn
        wrapped.__torch_dynamo_can_constant_fold_through__ = can_constant_fold_through
        return wrapped

    return register


def _same_signature(original_fn, traceable_fn):
    try:
        wanted = inspect.signature(original_fn)
    except ValueError:
        return
    has = inspect.signature(traceable_fn)

    def taken(signature):
        return [(p.kind, p.name, p.default) for p in signature.parameters.values()]

    def kinds(signature):
        # What a positional-only parameter is called does not matter.
        return [(kind, None if kind is inspect.Parameter.POSITIONAL_ONLY else name, default is not inspect.Parameter.empty) for kind, name, default in taken(signature)]

    if kinds(wanted) != kinds(has):
        raise TypeError(f"Signature mismatch between {original_fn} and {traceable_fn}: {wanted} != {has}")
