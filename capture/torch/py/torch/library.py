"""Operators that programs define."""
import contextlib
import inspect

import torch
from torch import _C
from torch._ops import ops

_defined = {}  # "ns::name" -> _Op


class _Op:
    """The Python half of an operator of the program: what its kernels are."""

    def __init__(self, qualname, schema):
        self.qualname = qualname
        self.schema = schema
        self.kernels = {}
        self.fake_fn = None
        self.backward_fn = None
        self.setup_fn = None
        self.composite = False
        self.tags = ()
        self.returns_nothing = schema.rstrip().endswith("-> ()")

    def run(self, *args, **kwargs):
        fn = self.kernels.get("cpu") or self.kernels.get(None)
        if fn is None:
            raise NotImplementedError(f"Could not run '{self.qualname}' with arguments from the 'CPU' backend.")
        return fn(*args, **kwargs)

    def fake(self, *args, **kwargs):
        fn = self.fake_fn
        if fn is None and self.composite:
            fn = self.kernels.get(None)
        if fn is None:
            if self.returns_nothing:
                return None
            raise RuntimeError(
                f"There was no fake impl registered for <CustomOpDef({self.qualname})>. This is necessary for torch.compile/export/fx tracing to work. "
                f"Please use `{self.qualname.split('::')[1]}.register_fake` to add an fake impl."
            )
        return fn(*args, **kwargs)

    def backward(self, args, kwargs, output, grads):
        if self.backward_fn is None:
            raise RuntimeError(
                f"Trying to backward through {self.qualname.replace('::', '.')}.default but no autograd formula was registered. Please use register_autograd to add one."
            )
        ctx = _Context()
        ctx.needs_input_grad = tuple(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
        if self.setup_fn is not None:
            if kwargs:
                self.setup_fn(ctx=ctx, inputs=args, keyword_only_inputs=kwargs, output=output)
            else:
                self.setup_fn(ctx=ctx, inputs=args, output=output)
        out = self.backward_fn(ctx, *grads)
        out = out if isinstance(out, tuple) else (out,)
        if len(out) != len(args):
            raise RuntimeError(f"Expected the return from backward to be of the same structure as the inputs. Got: {len(out)} gradients for {len(args)} inputs")
        return out + (None,) * len(kwargs)


class _Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def set_materialize_grads(self, value):
        pass

    def mark_non_differentiable(self, *args):
        pass


def _define(qualname, schema, tags=()):
    op = _Op(qualname, schema)
    op.tags = tuple(tags) if isinstance(tags, (list, tuple)) else (tags,)
    _defined[qualname] = op
    _C._define_op(schema, op)
    return op


def _restore(qualname, schema, op):
    """Defines an operator again, as another process had it."""
    _defined[qualname] = op
    _C._define_op(schema, op)
    ns, name = qualname.split("::")
    getattr(ops, ns).__dict__.pop(name, None)


def _lookup(op):
    if isinstance(op, CustomOpDef):
        return op._op
    name = op if isinstance(op, str) else str(op).replace(".", "::", 1)
    if name.endswith(".default"):
        name = name[: -len(".default")]
    if name not in _defined:
        raise RuntimeError(f"operator {name} does not exist")
    return _defined[name]


def _parameter_types():
    """What a parameter may be annotated with, and how a schema says so."""
    from typing import List, Optional, Sequence

    types = {}
    lists, of_optional, optional = range(3)  # which lists there are of a type
    for t, text, has in [
        (torch.Tensor, "Tensor", {lists, of_optional}), (int, "SymInt", {lists, optional}), (float, "float", {lists, optional}),
        (bool, "bool", {lists, optional}), (str, "str", ()), (torch.types.Number, "Scalar", {lists}), (torch.dtype, "ScalarType", ()),
        (torch.device, "Device", ()),
    ]:
        types.update({t: text, Optional[t]: text + "?"})
        for kind, of, wrap, mark in ((lists, t, lambda x: x, "[]"), (of_optional, Optional[t], lambda x: x, "?[]"), (optional, t, lambda x: Optional[x], "[]?")):
            if kind in has:
                types.update({wrap(Sequence[of]): text + mark, wrap(List[of]): text + mark})
    return types


def _schema_type(t, name, wrong):
    """The annotation of a parameter as the type of a schema."""
    types = _parameter_types()
    if t in types:
        return types[t]
    said = f"Parameter {name} has unsupported type {t}. "
    if t.__origin__ is tuple:
        from typing import List

        said += "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
        items = [a for a in t.__args__ if a is not Ellipsis]
        if len(set(items)) == 1 and List[items[0]] in types:
            said += f"\n\nFor example, {List[items[0]]}.\n\n"
        else:
            said += "\n\n"
    wrong(said + f"The valid types are: {types.keys()}.")


def _return_types():
    """What a result may be annotated with, and how a schema says so."""
    from typing import List

    return {torch.Tensor: "Tensor", List[torch.Tensor]: "Tensor[]", int: "SymInt", float: "float", bool: "bool", torch.types.Number: "Scalar"}


def _return_type(t, wrong):
    if t is None:
        return "()"
    if t is inspect.Parameter.empty:
        wrong("No return type annotation was provided. Please add one.")
    types = _return_types()
    if t in types:
        return types[t]
    parts = t.__args__ if getattr(t, "__origin__", None) is tuple else ()
    if not parts or any(a not in types for a in parts):
        wrong(f"Return has unsupported type {t}. The valid types are: {types}.")
    return "(" + ", ".join(types[a] for a in parts) + ")"


def _default(v, name, wrong):
    if v is None or isinstance(v, (int, float)):
        return str(v)
    if isinstance(v, (str, torch.device)):
        return f'"{v}"'
    if isinstance(v, torch.dtype):
        return str(v).removeprefix("torch.")
    wrong(f"Parameter {name} has an unsupported default value type {type(v)}. Please file an issue on GitHub so we can prioritize this.")


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema of a function by its annotations."""
    sig = inspect.signature(prototype_function)

    def wrong(what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {sig})")

    def annotation(t):
        if not isinstance(t, str):
            return t
        try:
            import typing

            return eval(t, {**vars(typing), **getattr(prototype_function, "__globals__", {})})
        except Exception:
            wrong(f"Unsupported type annotation {t}. It is not a type.")

    params, star = [], False
    for at, (name, p) in enumerate(sig.parameters.items()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            wrong("We do not support positional-only args, varargs, or varkwargs.")
        if p.kind == p.KEYWORD_ONLY and not star:
            params.append("*")
            star = True
        if p.annotation is p.empty:
            wrong(f"Parameter {name} must have a type annotation.")
        typ = _schema_type(annotation(p.annotation), name, wrong)
        if isinstance(mutates_args, str):
            if mutates_args != "unknown":
                raise ValueError("mutates_args must either be a sequence of the names of the arguments that are mutated or the string 'unknown'. ")
            written = typ.startswith("Tensor")
        else:
            written = name in mutates_args
            if written and not typ.startswith("Tensor"):
                wrong(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        if written:
            typ = f"Tensor(a{at}!)" + typ.removeprefix("Tensor")
        params.append(f"{typ} {name}" if p.default is p.empty else f"{typ} {name}={_default(p.default, name, wrong)}")
    if mutates_args != "unknown" and (missing := set(mutates_args) - set(sig.parameters)):
        wrong(f"{missing} in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all args that "
              "the custom op mutates, or just the string 'unknown' if you don't know.")
    return f"{op_name or ''}({', '.join(params)}) -> {_return_type(annotation(sig.return_annotation), wrong)}"


class CustomOpDef:
    """What custom_op gives: the operator as a callable, with its registrations."""

    def __init__(self, namespace, name, schema, fn):
        self._namespace, self._name, self._schema = namespace, name, schema
        self._init_fn = fn
        self._qualname = f"{namespace}::{name}"
        self._op = _define(self._qualname, f"{namespace}::{name}{schema}", (torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order))
        ns = getattr(ops, namespace)
        ns.__dict__.pop(name, None)
        self._opoverload = getattr(ns, name).default

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        def inner(fn):
            kinds = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
            for k in kinds:
                self._op.kernels[k] = fn
            return fn

        return inner if fn is None else inner(fn)

    def register_fake(self, fn, /):
        self._op.fake_fn = fn
        return fn

    register_abstract = register_fake

    def register_autograd(self, backward, /, *, setup_context=None):
        if "!" in self._schema:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self} with schema {self._schema}. Please create a functional operator and register an autograd formula for that.")
        self._op.backward_fn = backward
        self._op.setup_fn = setup_context

    def register_vmap(self, func=None):
        return (lambda f: f) if func is None else func

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        return (lambda f: f) if fn is None else fn

    def set_kernel_enabled(self, device_type, enabled=True):
        raise NotImplementedError("CustomOpDef.set_kernel_enabled is not supported")


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None):
    def inner(fn):
        text = schema if schema is not None else infer_schema(fn, mutates_args=mutates_args)
        if name.count("::") != 1:
            raise ValueError(f"Expected `name` to be of the form `namespace::name`, got {name}")
        namespace, opname = name.split("::")
        result = CustomOpDef(namespace, opname, text, fn)
        result.register_kernel(device_types)(fn)
        return result

    return inner if fn is None else inner(fn)


class Library:
    """Definitions and implementations of the operators of one namespace."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in ("prim", "aten", "prims") and kind in ("DEF",):
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._names = set()  # of the operators that were defined through it

    def define(self, schema, alias_analysis="", *, tags=()):
        name = schema.split("(")[0].strip()
        _define(f"{self.ns}::{name}", f"{self.ns}::{schema}", tags)
        self._names.add(f"{self.ns}::{name}")
        getattr(ops, self.ns).__dict__.pop(name, None)
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False):
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = op_name if isinstance(op_name, str) else str(op_name)
        name = name.split("::")[-1].split(".")[-2 if name.endswith(".default") else -1]
        op = _lookup(f"{self.ns}::{name}")
        if key == "Meta":
            op.fake_fn = fn
        elif key in ("CompositeExplicitAutograd", "CompositeImplicitAutograd"):
            op.kernels[None] = fn
            op.composite = True
        elif key.startswith("Autograd"):
            raise NotImplementedError("Library.impl: autograd kernels are not supported; use torch.library.register_autograd")
        else:
            op.kernels[key.lower()] = fn

    def _register_fake(self, op_name, fn, _stacklevel=1):
        _lookup(f"{self.ns}::{op_name.split('::')[-1]}").fake_fn = fn

    def _destroy(self):
        """Takes back the definitions that were made through this library."""
        for name in self._names:
            _defined.pop(name, None)
            ns, _, op = name.partition("::")
            getattr(ops, ns).__dict__.pop(op, None)
            _C._undefine_op(name)
        self._names.clear()


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    """A library whose definitions go when the block ends."""
    lib = Library(*args, **kwargs)
    try:
        yield lib
    finally:
        lib._destroy()


def _late(register, args, func):
    if func is None:
        return lambda f: register(f) or f
    return register(func)


def define(qualname, schema=None, *, lib=None, tags=()):
    if schema is None:
        raise TypeError("define() needs a schema")
    _define(qualname, qualname + schema, tags)
    if lib is not None:
        lib._names.add(qualname)
    ns, name = qualname.split("::")
    getattr(ops, ns).__dict__.pop(name, None)


def impl(qualname, types="", func=None, *, lib=None):
    if isinstance(qualname, Library):  # the older form: (lib, name, dispatch_key)
        library, name, key = qualname, types, func or ""

        def wrap(f):
            library.impl(name, f, key)
            return f

        return wrap

    def register(f):
        op = _lookup(qualname)
        for k in [types] if isinstance(types, str) else list(types):
            if k in ("default", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
                op.kernels[None] = f
                op.composite = k != "default"
            elif k == "Meta":
                op.fake_fn = f
            else:
                op.kernels[k.lower()] = f

    return _late(register, types, func)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    def register(f):
        o = _lookup(op)
        for k in [device_types] if device_types is None or isinstance(device_types, str) else list(device_types):
            o.kernels[k] = f

    return _late(register, device_types, func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1):
    def register(f):
        _lookup(op).fake_fn = f

    return _late(register, None, func)


impl_abstract = register_fake


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    o = _lookup(op)
    if "!" in o.schema:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {op} with schema {o.schema}. Please create a functional operator and register an autograd formula for that.")
    o.backward_fn, o.setup_fn = backward, setup_context


def register_vmap(op, func=None, /, *, lib=None):
    return (lambda f: f) if func is None else func


def get_ctx():
    raise NotImplementedError("torch.library.get_ctx is not supported")


def opcheck(op, args, kwargs=None, *, test_utils=(), raise_exception=True):
    """Compares the fake kernel with the real one on these arguments."""
    o = _lookup(op)
    real = o.run(*args, **(kwargs or {}))
    fake = o.fake(*args, **(kwargs or {}))
    if isinstance(real, torch.Tensor) and (real.shape != fake.shape or real.dtype != fake.dtype):
        raise RuntimeError(f"opcheck: {o.qualname} gives {tuple(real.shape)} {real.dtype}, its fake kernel {tuple(fake.shape)} {fake.dtype}")
    return {"test_schema": "SUCCESS", "test_autograd_registration": "SUCCESS", "test_faketensor": "SUCCESS", "test_aot_dispatch_dynamic": "SUCCESS"}
