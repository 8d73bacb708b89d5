"""The signatures of what nodes call, and their arguments in the one form that a signature gives them."""
import collections
import inspect
import numbers
import types
import typing
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch

__all__ = ["ArgsKwargsPair", "check_for_mutable_operation", "get_signature_for_torch_op", "create_type_hint", "type_matches", "normalize_function", "normalize_module"]


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call."""

    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]


_TYPES = {"Tensor": torch.Tensor, "int": int, "float": float, "bool": bool, "str": str, "number": numbers.Number, "Scalar": numbers.Number, "SymInt": int, "Device": torch.device,
          "ScalarType": torch.dtype, "Layout": torch.layout, "MemoryFormat": torch.memory_format, "Generator": torch.Generator, "complex": complex}


def _annotation(text):
    """The Python type that a type of a schema is."""
    text = text.strip()
    if "(" in text:  # Tensor(a!)
        text = text[:text.index("(")] + text[text.index(")") + 1:]
    if text.endswith("?"):
        return Optional[_annotation(text[:-1])]
    if text.startswith("Optional["):
        return Optional[_annotation(text[9:-1])]
    if text.startswith("List["):
        return List[_annotation(text[5:-1])]
    if text.endswith("]"):
        return List[_annotation(text[:text.rindex("[")])]
    return _TYPES.get(text, Any)


def _signature(schema):
    """A schema of an operator as a Python signature; self is called input, as torch's functions call it."""
    params = []
    for a in schema.arguments:
        name = "input" if a.name == "self" else a.name
        if name == "from":
            return None
        default = a.default_value if a.has_default_value() else inspect.Parameter.empty
        params.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY if a.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=_annotation(str(a.type))))
    found = [_annotation(str(r.type)) for r in schema.returns]
    returns = None if not found else found[0] if len(found) == 1 else Tuple[tuple(found)]
    return inspect.Signature(params, return_annotation=returns)


def _overloads(op):
    """The overloads of an operator that a callable is; none for what is no operator."""
    if isinstance(op, torch._ops.OpOverload):
        return [op]
    if isinstance(op, torch._ops.OpOverloadPacket):
        return [getattr(op, o) for o in op.overloads()]
    if not isinstance(op, types.BuiltinFunctionType) or getattr(torch, getattr(op, "__name__", ""), None) is not op:
        return []
    packet = getattr(torch.ops.aten, op.__name__, None)
    return [] if packet is None else [getattr(packet, o) for o in packet.overloads()]


def get_signature_for_torch_op(op, return_schemas=False):
    """The signatures of an operator of torch, one for each overload; None for what is none."""
    found = [(_signature(o._schema), o._schema) for o in _overloads(op)]
    found = [f for f in found if f[0] is not None]
    # those that write their results elsewhere come last
    found.sort(key=lambda f: "out" in f[0].parameters)
    if not found:
        return (None, None) if return_schemas else None
    signatures, schemas = [f[0] for f in found], [f[1] for f in found]
    return (signatures, schemas) if return_schemas else signatures


def check_for_mutable_operation(target, args, kwargs):
    """Raises where a call writes to an argument."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    if not signatures or not schemas:
        return
    fits = []
    for sig, schema in zip(signatures, schemas):
        try:
            sig.bind(*args, **kwargs)
        except TypeError:
            continue
        fits.append(schema)
    if len(fits) == 1 and fits[0].is_mutable:
        raise RuntimeError(f"Tried to trace mutable operation {fits[0]}. FX only supports functional code, so operations that mutate operands in-place (e.g. via `out` arguments) are not supported")


def create_type_hint(x):
    """The hint for a list or tuple of types: one of the type that all of them are."""
    if not isinstance(x, (list, tuple)):
        return x
    hint = (lambda t: List[t]) if isinstance(x, list) else (lambda t: Tuple[t, ...])
    if len(x) == 0:
        return hint(Any)
    base = x[0]
    for t in x:
        if isinstance(t, type) and isinstance(base, type) and issubclass(base, t):
            base = t
        elif not (isinstance(t, type) and isinstance(base, type) and issubclass(t, base)) and t != base:
            return hint(Any)
    return hint(base)


def type_matches(signature_type, argument_type):
    """Whether an argument of a type can be given where a signature has another."""
    origin = typing.get_origin(signature_type)
    if signature_type is argument_type:
        return True
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(t, argument_type) for t in typing.get_args(signature_type))
    if signature_type == List[int] and argument_type is int:
        return True
    if origin is list:
        of = typing.get_args(signature_type)[0]
        inner = typing.get_args(argument_type)[:1] if typing.get_origin(argument_type) is list else ()
        if inner:
            return type_matches(of, inner[0])
        if typing.get_origin(argument_type) is tuple:
            return all(a is ... or type_matches(of, a) for a in typing.get_args(argument_type))
        return False
    if signature_type is int and argument_type is torch.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return inspect.isclass(argument_type) and inspect.isclass(signature_type) and issubclass(argument_type, signature_type)


def _in_form(sig, args, kwargs, only_kwargs):
    """Arguments as a signature has them, with its defaults."""
    bound = sig.bind(*args, **kwargs)
    bound.apply_defaults()
    given_by_place = len(args)
    new_args, new_kwargs = [], collections.OrderedDict()
    for i, (name, p) in enumerate(sig.parameters.items()):
        value = bound.arguments[name]
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            new_args.extend(value)
        elif p.kind is inspect.Parameter.VAR_KEYWORD:
            new_kwargs.update(value)
        elif not only_kwargs and i < given_by_place and p.kind is not inspect.Parameter.KEYWORD_ONLY:
            new_args.append(value)
        else:
            new_kwargs[name] = value
    return ArgsKwargsPair(tuple(new_args), dict(new_kwargs))


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
    """The arguments of a call of a function of torch in the form of its signature; None for other functions."""
    kwargs = {} if kwargs is None else kwargs
    if isinstance(target, (types.BuiltinFunctionType, torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        signatures = get_signature_for_torch_op(target) or []
        fits = []
        for sig in signatures:
            try:
                sig.bind(*args, **kwargs)
            except TypeError:
                continue
            fits.append(sig)
        if len(fits) == 1:
            return _in_form(fits[0], args, kwargs, normalize_to_only_use_kwargs)
        if len(fits) == 0:
            return None
        if arg_types is not None or kwarg_types is not None:
            arg_types, kwarg_types = arg_types or (), kwarg_types or {}
            for sig in fits:
                bound = sig.bind(*arg_types, **kwarg_types)
                if all(type_matches(sig.parameters[n].annotation, t) for n, t in bound.arguments.items()):
                    return _in_form(sig, args, kwargs, normalize_to_only_use_kwargs)
            return None
        listed = "\n".join(str(s) for s in fits)
        raise RuntimeError(f"Tried to normalize arguments to {torch.typename(target)} but the schema match was ambiguous! Please provide argument types to the normalize_arguments() call. Available schemas:\n{listed}")
    if not callable(target) or getattr(target, "__module__", None) not in ("torch.nn.functional", "torch.functional"):
        return None
    return _in_form(inspect.signature(inspect.unwrap(target)), args, kwargs, normalize_to_only_use_kwargs)


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """The arguments of a call of a module of torch.nn in the form of its forward; None for other modules."""
    try:
        module = root.get_submodule(target)
    except AttributeError as e:
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have that target!") from e
    if getattr(torch.nn, type(module).__name__, None) is not type(module):
        return None
    sig = inspect.signature(module.forward)
    return _in_form(sig, args, {} if kwargs is None else kwargs, normalize_to_only_use_kwargs)


def normalized_arguments(node, root, arg_types=None, kwarg_types=None):
    """The arguments of a node in the form of what it calls; None where that is not known."""
    if node.op == "call_function":
        return normalize_function(node.target, node.args, node.kwargs, arg_types, kwarg_types)
    if node.op == "call_module":
        return normalize_module(root, node.target, node.args, node.kwargs)
    return None
