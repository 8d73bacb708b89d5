"""One step of a graph."""
import builtins
import inspect
import types
from collections.abc import Callable
from typing import Any, Union

from torch._C import _Node as Node
from torch.fx.immutable_collections import immutable_dict, immutable_list

Target = Union[Callable[..., Any], str]
Argument = Any
base_types = (str, int, float, bool, complex, type(None), type(...))
_side_effectful_functions = set()


def has_side_effect(fn):
    """Keeps calls of fn whose results nobody uses in the graph."""
    _side_effectful_functions.add(fn)
    return fn


def _get_qualified_name(func):
    """The name that generated code calls a function by."""
    name = getattr(func, "__name__", None)
    if name is None:
        return type(func).__module__ + "." + type(func).__name__
    if getattr(builtins, name, None) is func:
        return name
    if isinstance(func, types.FunctionType) and name == "<lambda>":
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except Exception as e:
            raise RuntimeError("Unable to represent lambda") from e
    module = getattr(func, "__module__", None)
    if module is None:
        owner = getattr(func, "__objclass__", None) or type(getattr(func, "__self__", None))
        return f"{owner.__module__}.{owner.__name__}.{name}"
    return f"{module}.{name}"


def map_arg(a, fn):
    """An argument with fn applied to each node in it."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a, fn):
    """An argument with fn applied to each leaf of its tuples, lists, dicts and slices."""
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({k: map_aggregate(v, fn) for k, v in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def _replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
    """Has every user of this node that delete_user_cb agrees to use another value; gives those users."""
    if propagate_meta:
        if len(replace_with.meta) != 0:
            raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")
        replace_with.meta.update(self.meta)
    return self._replace_uses(replace_with, delete_user_cb)


def _update_arg(self, idx, arg):
    args = list(self.args)
    args[idx] = arg
    self.args = tuple(args)


def _insert_arg(self, idx, arg):
    if not 0 <= idx <= len(self.args):
        raise AssertionError("insert_args index must be between 0 and len(self.args)")
    self.args = self.args[:idx] + (arg,) + self.args[idx:]


def _update_kwarg(self, key, arg):
    self.kwargs = {**self.kwargs, key: arg}


for _name, _method in [("replace_all_uses_with", _replace_all_uses_with), ("update_arg", _update_arg), ("insert_arg", _insert_arg), ("update_kwarg", _update_kwarg)]:
    setattr(Node, _name, _method)


def _normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
    from torch.fx.operator_schemas import normalized_arguments

    return normalized_arguments(self, root, arg_types, kwarg_types)  # PyTorch does not look at the last argument, either


Node.normalized_arguments = _normalized_arguments
