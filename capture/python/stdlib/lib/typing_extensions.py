"""What later versions of typing have, for this one; it takes the place of the package of this name where that is not installed."""
import abc
import collections
import functools
import inspect
import typing
import warnings
from typing import *
from typing import (IO, AbstractSet, Annotated, Any, AsyncGenerator, BinaryIO, Callable, ClassVar, Concatenate, Final, ForwardRef, Generic, Literal, LiteralString,
                    NamedTuple, Never, NewType, NoReturn, NotRequired, Optional, ParamSpec, ParamSpecArgs, ParamSpecKwargs, Protocol, Required, Self, Text, TextIO, Type,
                    TYPE_CHECKING, TypeAlias, TypedDict, TypeGuard, TypeVar, TypeVarTuple, Union, Unpack, assert_never, assert_type, cast, clear_overloads,
                    dataclass_transform, final, get_args, get_origin, get_overloads, get_type_hints, is_typeddict, no_type_check, overload, reveal_type, runtime_checkable)

runtime = runtime_checkable
TypeIs = TypeGuard
TypeForm = Optional
ReadOnly = Required


class _Sentinel:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"typing_extensions.{self._name}"


NoDefault = _Sentinel("NoDefault")


class Buffer(abc.ABC):
    """What memoryview takes."""

    @classmethod
    def __subclasshook__(cls, C):
        return NotImplemented


for _cls in (bytes, bytearray, memoryview):
    Buffer.register(_cls)


def override(arg, /):
    """Marks a method that overrides one of a base class."""
    try:
        arg.__override__ = True
    except (AttributeError, TypeError):
        # A descriptor or a builtin takes no mark.
        pass
    return arg


class deprecated:
    """Marks a class or a function as deprecated: using it warns, unless category is None."""

    def __init__(self, message, /, *, category=DeprecationWarning, stacklevel=1):
        if not isinstance(message, str):
            raise TypeError(f"Expected an object of type str for 'message', not {type(message).__name__!r}")
        self.message, self.category, self.stacklevel = message, category, stacklevel

    def __call__(self, arg, /):
        msg, category, stacklevel = self.message, self.category, self.stacklevel
        if category is None:
            arg.__deprecated__ = msg
            return arg
        if isinstance(arg, type):
            original_new = arg.__new__

            @functools.wraps(original_new)
            def __new__(cls, /, *args, **kwargs):
                if cls is arg:
                    warnings.warn(msg, category=category, stacklevel=stacklevel + 1)
                if original_new is not object.__new__:
                    return original_new(cls, *args, **kwargs)
                if cls.__init__ is object.__init__ and (args or kwargs):
                    raise TypeError(f"{cls.__name__}() takes no arguments")
                return original_new(cls)

            arg.__new__ = staticmethod(__new__)
            arg.__deprecated__ = __new__.__deprecated__ = msg
            return arg
        if not callable(arg):
            raise TypeError(f"@deprecated decorator with non-None category must be applied to a class or callable, not {arg!r}")

        @functools.wraps(arg)
        def wrapper(*args, **kwargs):
            warnings.warn(msg, category=category, stacklevel=stacklevel + 1)
            return arg(*args, **kwargs)

        arg.__deprecated__ = wrapper.__deprecated__ = msg
        return wrapper


def get_original_bases(cls, /):
    """The bases of a class as they were written."""
    try:
        return cls.__dict__.get("__orig_bases__", cls.__bases__)
    except AttributeError:
        raise TypeError(f"Expected an instance of type, not {type(cls).__name__!r}") from None


def is_protocol(tp, /):
    return isinstance(tp, type) and getattr(tp, "_is_protocol", False) and tp is not Protocol


def get_protocol_members(tp, /):
    if not is_protocol(tp):
        raise TypeError(f"{tp!r} is not a Protocol")
    return frozenset(typing._get_protocol_attrs(tp))


class TypeAliasType:
    """A named alias; its value is what it stands for."""

    def __init__(self, name, value, *, type_params=()):
        if not isinstance(name, str):
            raise TypeError("TypeAliasType name must be a string")
        self.__name__, self.__value__, self.__type_params__ = name, value, type_params

    def __repr__(self):
        return self.__name__

    def __or__(self, right):
        return Union[self, right]

    def __ror__(self, left):
        return Union[left, self]
