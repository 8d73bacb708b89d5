"""__torch_function__: the questions that programs ask of it, and modes, which are entered and left."""
import contextlib
import functools

import torch
from torch._C import _disabled_torch_dispatch_impl, _disabled_torch_function_impl, _len_torch_function_stack, _pop_torch_function_stack, _push_on_torch_function_stack


def get_default_nowrap_functions():
    return {torch.Tensor._base.__get__, torch.Tensor.grad.__get__, torch.Tensor._grad.__get__}


def is_tensor_like(inp):
    """Whether a value is a tensor or has __torch_function__."""
    return type(inp) is torch.Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    return func in _tensor_members() or getattr(func, "__name__", "") == "__get__"


@functools.lru_cache(None)
def _tensor_members():
    found = set()
    for name in dir(torch.Tensor):
        try:
            found.add(getattr(torch.Tensor, name))
        except (AttributeError, TypeError):
            pass
    return found


def _get_overloaded_args(relevant_args, get_type_fn=None):
    """The arguments whose classes have __torch_function__, subclasses before what they derive from."""
    get_type_fn = get_type_fn or type
    seen, found = set(), []
    for arg in relevant_args:
        cls = get_type_fn(arg)
        if cls in seen or not hasattr(cls, "__torch_function__") or cls.__torch_function__ is _disabled_torch_function_impl or cls is torch.Tensor:
            continue
        seen.add(cls)
        at = next((i for i, old in enumerate(found) if issubclass(cls, get_type_fn(old))), len(found))
        found.insert(at, arg)
    return found


def has_torch_function(relevant_args):
    if torch._C._is_torch_function_all_disabled():
        return False
    overloaded = torch._C._is_torch_function_enabled() and bool(_get_overloaded_args(relevant_args))
    return overloaded or _len_torch_function_stack() > 0


def has_torch_function_unary(arg):
    return has_torch_function((arg,))


def has_torch_function_variadic(*args):
    return has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Has the first __torch_function__ that knows how call public_api."""
    overloaded = _get_overloaded_args(relevant_args)
    types = tuple(map(type, overloaded))
    if _len_torch_function_stack():
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {[type(a) for a in overloaded]}")


def wrap_torch_function(dispatcher):
    """Makes a function of the program's own one that __torch_function__ overrides; dispatcher gives its tensors."""

    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def resolve_name(f):
    """The name by which a function of torch is called, None if it is none."""
    if isinstance(f, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(f)
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", getattr(f, "__name__", None))
    if name is None:
        return None
    if f in _tensor_members():
        return f"torch.Tensor.{f.__name__}"
    return f"{module or 'torch'}.{name}".replace("torch._C._VariableFunctions", "torch").replace("torch._VariableFunctionsClass", "torch")


def _get_current_function_mode():
    stack = _get_current_function_mode_stack()
    return stack[-1] if stack else None


def _get_current_function_mode_stack():
    return [torch._C._get_function_stack_at(i) for i in range(_len_torch_function_stack())]


def _push_mode(mode):
    _push_on_torch_function_stack(mode)


def _pop_mode():
    return _pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily():
    old = _pop_mode()
    try:
        yield old
    finally:
        _push_mode(old)


class TorchFunctionMode:
    """Sees each call of a function of torch's while it is entered, before the function runs."""

    inner: "TorchFunctionMode"

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        import warnings

        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Calls through."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _enable_torch_function():
    old = torch._C._set_torch_function_off(0)
    try:
        yield
    finally:
        torch._C._set_torch_function_off(old)


@contextlib.contextmanager
def enable_reentrant_dispatch():
    yield
