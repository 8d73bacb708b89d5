"""__torch_dispatch__: modes, and the helpers of subclasses that wrap tensors."""
import contextlib

import torch
from torch import _C

def _len_torch_dispatch_stack():
    return _C._len_torch_dispatch_stack()


def _get_current_dispatch_mode_stack():
    return [_C._get_dispatch_stack_at(i) for i in range(_C._len_torch_dispatch_stack())]


def _get_current_dispatch_mode():
    n = _C._len_torch_dispatch_stack()
    return _C._get_dispatch_stack_at(n - 1) if n else None


def is_in_torch_dispatch_mode(include_infra_modes=True):
    return any(include_infra_modes or not m.is_infra_mode() for m in _get_current_dispatch_mode_stack())


_is_in_torch_dispatch_mode = is_in_torch_dispatch_mode


def is_in_any_mode_without_ignore_compile_internals():
    return any(not m.ignore_compile_internals() for m in _get_current_dispatch_mode_stack())


def _push_mode(mode):
    _C._push_on_torch_dispatch_stack(mode)


def _pop_mode(mode_key=None):
    return _C._pop_torch_dispatch_stack()


@contextlib.contextmanager
def _pop_mode_temporarily(mode_key=None):
    old = _pop_mode(mode_key)
    try:
        yield old
    finally:
        _push_mode(old)


class TorchDispatchMode:
    """Performs each aten operator that is called while it is entered. Operators that __torch_dispatch__ itself calls are performed by those
    around it."""

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key=None):
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, *error):
        _pop_mode(self._dispatch_key if hasattr(self, "_dispatch_key") else None)

    @classmethod
    def push(cls, *args, **kwargs):
        import warnings

        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        return False

    @classmethod
    def ignore_compile_internals(cls):
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """Calls through."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _disable_current_modes():
    """No modes, for a while."""
    saved = []
    while _C._len_torch_dispatch_stack():
        saved.append(_pop_mode())
    try:
        yield saved[::-1]
    finally:
        for mode in reversed(saved):
            _push_mode(mode)


def is_traceable_wrapper_subclass(t):
    """Whether a tensor is of a class that tells the tensors inside it, and can be made of such again."""
    return isinstance(t, torch.Tensor) and _flattens(type(t), t)


def is_traceable_wrapper_subclass_type(t):
    return issubclass(t, torch.Tensor) and _flattens(t, t)


def _flattens(cls, t):
    return cls not in (torch.Tensor, torch.nn.Parameter) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """A subclass like t with callback's result for each tensor inside it."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, ctx = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    sub = type(t).__tensor_unflatten__(inner, ctx, outer_size, outer_stride)
    assert sub.shape == outer_size, f"Expected return value from {type(t)}__tensor_unflatten__() to have shape equal to {outer_size}, but got: {sub.shape}"
    assert sub.stride() == outer_stride, f"Expected return value from {type(t)}__tensor_unflatten__() to have stride equal to {outer_stride}, but got: {sub.stride()}"
    return sub


def return_and_correct_aliasing(func, args, kwargs, out):
    """What an operator's __torch_dispatch__ returns, so that an in-place operator returns its argument, and a view shares its storage."""
    returns = func._schema.returns
    params = func._schema.arguments

    def argument(alias):
        for i, p in enumerate(params):
            if p.alias_info is not None and p.alias_info.before_set & alias.before_set:
                return args[i] if i < len(args) else (kwargs or {}).get(p.name)
        return None

    def correct(r, o):
        if r.alias_info is not None and r.alias_info.is_write:
            return argument(r.alias_info)
        if r.alias_info is not None:
            for x in o if isinstance(o, (list, tuple)) else [o]:
                source = argument(r.alias_info)
                if isinstance(x, torch.Tensor) and isinstance(source, torch.Tensor):
                    torch._C._share_wrapper_storage(x, source)
        return o

    if len(returns) == 1:
        return correct(returns[0], out)
    if not isinstance(out, (list, tuple)):
        return out
    return type(out)(correct(r, o) for r, o in zip(returns, out))
