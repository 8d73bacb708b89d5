"""What programs import of TorchScript's inner workings: marks on functions, and annotations. Here they say nothing to anyone."""
import typing
from typing import Any, Callable, Dict, Final, List, NamedTuple, Optional, Tuple, Union

from torch.futures import Future


class FunctionModifiers:
    """What a mark on a function says."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def _mark(fn, modifier):
    if isinstance(fn, property):
        for f in (fn.fget, fn.fset):
            if f is not None:
                f._torchscript_modifier = modifier
        return fn
    fn._torchscript_modifier = modifier
    return fn


def export(fn):
    return _mark(fn, FunctionModifiers.EXPORT)


def unused(fn):
    return _mark(fn, FunctionModifiers.UNUSED)


def ignore(drop=False, **kwargs):
    if callable(drop):
        return _mark(drop, FunctionModifiers.IGNORE)
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: _mark(fn, FunctionModifiers.UNUSED if drop else FunctionModifiers.IGNORE)


def _copy_to_script_wrapper(fn):
    return _mark(fn, FunctionModifiers.COPY_TO_SCRIPT_WRAPPER)


def _drop(fn):
    return _mark(fn, FunctionModifiers._DROP)


def is_scripting():
    return False


def _overload(func):
    return func


def _overload_method(func):
    return func


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls one of two, as one of its arguments is true or not."""

    def fn(*args, **kwargs):
        chosen = default
        if arg_name in kwargs:
            chosen = kwargs[arg_name]
        elif arg_index < len(args):
            chosen = args[arg_index]
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_false.__doc__ or if_true.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    return fn


class BroadcastingListCls:
    def __getitem__(self, types):
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingListCls()


def get_origin(annotation):
    return typing.get_origin(annotation)


def is_final(annotation):
    return annotation is Final or typing.get_origin(annotation) is Final


def is_optional(annotation):
    return typing.get_origin(annotation) is Union and type(None) in typing.get_args(annotation)
