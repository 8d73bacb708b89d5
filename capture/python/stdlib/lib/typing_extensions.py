from typing import *
from typing import (Annotated, Self, Literal, Protocol, TypedDict, Final, runtime_checkable, ParamSpec, Concatenate, TypeAlias, TypeGuard, Never,
                    NotRequired, Required, Unpack, TypeVarTuple, LiteralString, overload, override, dataclass_transform, assert_never, get_type_hints,
                    get_args, get_origin, NamedTuple, TypeVar, TYPE_CHECKING, cast, final, Any, Union, Optional, Callable)


def deprecated(msg, *, category=DeprecationWarning, stacklevel=1): return lambda f: f


TypeIs = TypeGuard
