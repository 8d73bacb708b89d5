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


_scalars = {int: "SymInt", float: "float", bool: "bool", str: "str", complex: "Scalar"}


def _schema_type(t, where):
    """An annotation as the type of a schema."""
    if t is torch.Tensor or t is torch.nn.Parameter:
        return "Tensor"
    if t in _scalars:
        return _scalars[t]
    if t is torch.dtype:
        return "ScalarType"
    if t is torch.device:
        return "Device"
    origin, args = getattr(t, "__origin__", None), getattr(t, "__args__", ())
    if origin is None:
        args = getattr(t, "__args__", None)
        if args is None:
            raise ValueError(f"infer_schema(func): {where} has unsupported type {t}. The valid types are: Tensor, int, float, bool, str, dtype, device, their Optional and Sequence forms.")
    rest = [a for a in args if a is not type(None)]
    if len(rest) < len(args):  # Optional
        if len(rest) == 1:
            return _schema_type(rest[0], where) + "?"
    if set(rest) == {int, float, bool} or set(rest) == {int, float}:
        return "Scalar"
    if len(rest) == 1 or len(rest) == 2 and rest[1] is Ellipsis:
        return _schema_type(rest[0], where) + "[]"
    raise ValueError(f"infer_schema(func): {where} has unsupported type {t}.")


def _return_type(t):
    if t is None or t is type(None):
        return "()"
    if t is inspect.Signature.empty:
        raise ValueError("infer_schema(func): Return type annotation was missing. Please add a return type annotation for the function.")
    origin = getattr(t, "__origin__", None)
    if origin is tuple:
        return "(" + ", ".join(_schema_type(a, "return") for a in t.__args__) + ")"
    return _schema_type(t, "return")


def _default(v):
    if isinstance(v, str):
        return f'"{v}"'
    if isinstance(v, torch.dtype):
        return str(v).split(".")[-1]
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(map(str, v)) + "]"
    return str(v)


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema of a function by its annotations."""
    sig = inspect.signature(prototype_function)
    names = set(sig.parameters)
    if mutates_args != "unknown":
        for n in mutates_args:
            if n not in names:
                raise ValueError(f"infer_schema(func): `mutates_args` contains names that do not exist in the function signature: {n}")
    scope = getattr(prototype_function, "__globals__", {})
    params, star, written = [], False, 0
    for name, p in sig.parameters.items():
        if p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise ValueError("infer_schema(func): We do not support *args or **kwargs parameters.")
        if p.kind == inspect.Parameter.KEYWORD_ONLY and not star:
            params.append("*")
            star = True
        ann = p.annotation
        if ann is inspect.Parameter.empty:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature {sig})")
        if isinstance(ann, str):
            ann = eval(ann, scope)
        typ = _schema_type(ann, f"Parameter {name}")
        if mutates_args == "unknown" and typ.startswith("Tensor") or mutates_args != "unknown" and name in mutates_args:
            if not typ.startswith("Tensor"):
                raise ValueError(f"infer_schema(func): Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            typ = f"Tensor(a{written}!)" + typ[len("Tensor"):]
            written += 1
        text = f"{typ} {name}"
        if p.default is not inspect.Parameter.empty:
            text += "=" + _default(p.default)
        params.append(text)
    ret = sig.return_annotation
    if isinstance(ret, str):
        ret = eval(ret, scope)
    return f"{op_name or ''}({', '.join(params)}) -> {_return_type(ret)}"


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
