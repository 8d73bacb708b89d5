"""__torch_dispatch__: modes, and the helpers of subclasses that wrap tensors."""
import contextlib

import torch

_mode_stack = []


def is_in_torch_dispatch_mode(include_infra_modes=True):
    return bool(_mode_stack)


def is_in_any_mode_without_ignore_compile_internals():
    return bool(_mode_stack)


def _get_current_dispatch_mode():
    return _mode_stack[-1] if _mode_stack else None


def _get_current_dispatch_mode_stack():
    return list(_mode_stack)


def _len_torch_dispatch_stack():
    return len(_mode_stack)


class TorchDispatchMode:
    """Sees each aten operator while it is entered."""

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key=None):
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        raise NotImplementedError(f"{type(self).__name__}: modes of __torch_dispatch__ are not supported")

    def __exit__(self, exc_type, exc_val, exc_tb):
        _mode_stack.pop()

    @classmethod
    def push(cls, *args, **kwargs):
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
    saved = _mode_stack[:]
    _mode_stack.clear()
    try:
        yield saved
    finally:
        _mode_stack.extend(saved)


def is_traceable_wrapper_subclass(t):
    """Whether a tensor is of a class that tells the tensors inside it, and can be made of such again."""
    is_subclass = isinstance(t, torch.Tensor) and type(t) not in (torch.Tensor, torch.nn.Parameter)
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass_type(t):
    return issubclass(t, torch.Tensor) and t not in (torch.Tensor, torch.nn.Parameter) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """A subclass like t with callback's result for each tensor inside it."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    attrs, ctx = t.__tensor_flatten__()
    inner = {a: callback(a, getattr(t, a)) for a in attrs}
    sub = type(t).__tensor_unflatten__(inner, ctx, outer_size, outer_stride)
    assert sub.shape == outer_size, f"Expected return value from {type(t)}__tensor_unflatten__() to have shape equal to {outer_size}, but got: {sub.shape}"
    assert sub.stride() == outer_stride, f"Expected return value from {type(t)}__tensor_unflatten__() to have stride equal to {outer_stride}, but got: {sub.stride()}"
    return sub


def return_and_correct_aliasing(func, args, kwargs, out):
    """What an operator's __torch_dispatch__ returns, so that an in-place operator returns its argument."""
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
        return o

    if len(returns) == 1:
        return correct(returns[0], out)
    if not isinstance(out, (list, tuple)):
        return out
    return type(out)(correct(r, o) for r, o in zip(returns, out))
