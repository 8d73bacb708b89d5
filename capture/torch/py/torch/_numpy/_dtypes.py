"""The scalar types and dtypes of NumPy that tensors have."""

import builtins

import torch

from . import _dtypes_impl


class generic:
    """A scalar type. There are no scalars: calling one makes an array without axes."""

    name = "generic"

    def __new__(cls, value):
        from ._ndarray import asarray, ndarray

        if isinstance(value, str) and value in ("inf", "nan"):
            value = float(value)
        return value.astype(cls) if isinstance(value, ndarray) else asarray(value, dtype=cls)


# The classes without types of their own, by the class that they are part of.
_abstract = [
    (generic, "number"), ("number", "integer"), ("integer", "signedinteger"), ("integer", "unsignedinteger"), ("number", "inexact"),
    ("inexact", "floating"), ("inexact", "complexfloating"),
]
# The others: the class, the name, the letter.
_plain = [
    ("signedinteger", "int8", "b"), ("signedinteger", "int16", "h"), ("signedinteger", "int32", "i"), ("signedinteger", "int64", "l"),
    ("unsignedinteger", "uint8", "B"), ("floating", "float16", "e"), ("floating", "float32", "f"), ("floating", "float64", "d"),
    ("complexfloating", "complex64", "F"), ("complexfloating", "complex128", "D"), ("generic", "bool_", "?"),
]


def _scalar_type(base, name, **facts):
    base = globals()[base] if isinstance(base, str) else base
    made = globals()[name] = type(name, (base,), {"name": name, "__module__": __name__, **facts})
    return made


for _base, _name in _abstract:
    _scalar_type(_base, _name)
_abstract_dtypes = ["generic", *(name for _, name in _abstract)]
for _base, _name, _typecode in _plain:
    _scalar_type(_base, _name, typecode=_typecode, torch_dtype=getattr(torch, _name.rstrip("_")))

_wide = {}
for _base, _name, _typecode in ("unsignedinteger", "uint16", "H"), ("signedinteger", "uint32", "I"), ("signedinteger", "uint64", "L"):
    if hasattr(torch, _name):  # these are not in every torch
        _wide[_name] = _scalar_type(_base, _name, typecode=_typecode, torch_dtype=getattr(torch, _name))

_names_of = {
    "int8": "byte", "int16": "short", "int32": "intc", "int64": "intp int_ longlong", "uint8": "ubyte", "float16": "half", "float32": "single",
    "float64": "double float_", "complex64": "csingle singlecomplex", "complex128": "cdouble cfloat complex_",
}
_name_aliases = {alias: globals()[name] for name, aliases in _names_of.items() for alias in aliases.split()}
globals().update(_name_aliases)

if "uint64" in _wide:
    ulonglong = _name_aliases["ulonglong"] = _wide["uint64"]

_groups = {"int": "bhil", "uint": "B", "float": "efd", "complex": "FD", "others": "?"}
_by_letter = {letter: globals()[name] for _, name, letter in _plain}
sctypes = {group: [_by_letter[letter] for letter in letters] for group, letters in _groups.items()}
sctypes["uint"] += _wide.values()

typecodes = dict(zip(("Integer", "UnsignedInteger", "Float", "Complex"), _groups.values()))
typecodes.update(All="efdFDBbhil?", AllFloat=typecodes["Float"] + typecodes["Complex"], AllInteger=typecodes["UnsignedInteger"] + typecodes["Integer"])

_all = [c for group in sctypes.values() for c in group]
_names = {c.name: c for c in _all}
_torch_dtypes = {c.torch_dtype: c for c in _all}
_sized = {"u1": uint8, "i1": int8, "i2": int16, "i4": int32, "i8": int64, "f2": float16, "f4": float32, "f8": float64, "c8": complex64, "c16": complex128}
_python = {int: int64, float: float64, complex: complex128, builtins.bool: bool_}

# Whatever stands for a scalar type, the first to claim a name keeps it.
_by_key = {}
for _table in (_names, _name_aliases, {c.typecode: c for c in _all}, _sized, _python, {c.__name__: t for c, t in _python.items()}):
    for _key, _class in _table.items():
        _by_key.setdefault(_key, _class)


def sctype_from_string(s):
    try:
        return _by_key[s]
    except (KeyError, TypeError):
        raise TypeError(f"data type {s!r} not understood") from None


def sctype_from_torch_dtype(torch_dtype):
    return _torch_dtypes[torch_dtype]


def issubclass_(arg, klass):
    return isinstance(arg, type) and issubclass(arg, klass)


def _type_of(x):
    """The scalar type that a dtype, a tensor, an array, a type or a name stands for."""
    if issubclass_(x, generic):
        return x
    if isinstance(x, DType):
        return x.type
    own = x if isinstance(x, torch.dtype) else getattr(x, "dtype", None)
    if own is None:
        return sctype_from_string(x)
    return _torch_dtypes[own] if isinstance(own, torch.dtype) else own.type


class DType:
    """One of NumPy's dtypes: its scalar type with the facts of that."""

    def __init__(self, arg):
        self.type = _type_of(arg)

    name, typecode, torch_dtype = (property(lambda self, fact=fact: getattr(self.type, fact)) for fact in ("name", "typecode", "torch_dtype"))
    kind = property(lambda self: _torch_dtypes[self.torch_dtype].name[0])
    itemsize = property(lambda self: self.torch_dtype.itemsize)

    def __eq__(self, other):
        try:
            return self.type is _type_of(other)
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f'dtype("{self.name}")'

    __str__ = __repr__

    def __reduce__(self):
        return DType, (self.type,)


def dtype(arg):
    return DType(_dtypes_impl.default_dtypes().float_dtype if arg is None else arg)


def set_default_dtype(fp_dtype="numpy", int_dtype="numpy"):
    """Set the types of results where nothing says which: NumPy's, PyTorch's, or ones of one's own."""
    named = {"numpy": torch.float64, "pytorch": torch.float32}
    real = named[fp_dtype] if fp_dtype in ("numpy", "pytorch") else dtype(fp_dtype).torch_dtype
    whole = torch.int64 if int_dtype in ("numpy", "pytorch") else dtype(int_dtype).torch_dtype
    pair = {torch.float64: torch.complex128, torch.float32: torch.complex64, torch.float16: torch.complex64}[real]
    old = _dtypes_impl.default_dtypes
    _dtypes_impl._default_dtypes = _dtypes_impl.DefaultDTypes(float_dtype=real, complex_dtype=pair, int_dtype=whole)
    return old


def issubdtype(arg1, arg2):
    def scalar_type(arg):
        if isinstance(arg, str) and arg in _abstract_dtypes:  # graphs have types by name
            return globals()[arg]
        return arg if issubclass_(arg, generic) else dtype(arg).type

    return issubclass(scalar_type(arg1), scalar_type(arg2))


__all__ = ["dtype", "DType", "typecodes", "issubdtype", "set_default_dtype", "sctypes"]
__all__ += [*_names, *_name_aliases, *_abstract_dtypes]
