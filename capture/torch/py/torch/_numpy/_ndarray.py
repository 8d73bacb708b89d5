"""The array: a tensor that behaves as numpy.ndarray does."""

import builtins
import operator

import torch

from . import _dtypes, _dtypes_impl, _funcs, _ufuncs, _util
from ._normalizations import array as _tensor_of
from ._normalizations import normalizer, refused

newaxis = None

_flag_names = {
    "C_CONTIGUOUS": "C",
    "F_CONTIGUOUS": "F",
    "OWNDATA": "O",
    "WRITEABLE": "W",
    "ALIGNED": "A",
    "WRITEBACKIFCOPY": "X",
    "FNC": None,
    "FORC": None,
    "BEHAVED": "B",
    "CARRAY": "CA",
    "FARRAY": "FA",
}
_flag_letters = {letter: name for name, letter in _flag_names.items() if letter}


class Flags:
    """What an array tells of its memory: by names in capitals or their letters as items, by small names as attributes."""

    def __init__(self, flag_to_value):
        self.__dict__["_values"] = flag_to_value

    @staticmethod
    def _flag(attr):
        name = attr.upper()
        return name if attr.islower() and name in _flag_names else None

    def __getattr__(self, attr):
        if flag := self._flag(attr):
            return self[flag]
        raise AttributeError(f"No flag attribute '{attr}'")

    def __setattr__(self, attr, value):
        flag = self._flag(attr)
        if flag is None:
            object.__setattr__(self, attr, value)
        else:
            self[flag] = value

    def __getitem__(self, key):
        key = _named_flag(key)
        if key not in self._values:
            raise NotImplementedError(f"{key=}")
        return self._values[key]

    def __setitem__(self, key, value):
        _named_flag(key)
        # What the flags say follows from sizes and strides, and a tensor can always be written. The words are PyTorch's.
        raise NotImplementedError("Modifying flags is not implemented")


def _named_flag(key):
    name = _flag_letters.get(key, key)
    if name in _flag_names:
        return name
    raise KeyError(f"No flag key '{key}'")


_unset = object()


_short = {torch.uint8, torch.int8, torch.int16, torch.int32}


def _indices(index):
    """An index with tensors in the place of arrays, whole numbers as long as indexing wants them."""
    if isinstance(index, tuple):
        return tuple(map(_indices, index))
    t = index.tensor if isinstance(index, ndarray) else index
    return t.long() if isinstance(t, torch.Tensor) and t.dtype in _short else t


def _forwards(tensor, index):
    """An index whose slices go forwards, and the tensor flipped along the axes where they went backwards."""
    several = isinstance(index, (tuple, list))
    slices, flipped = list(index) if several else [index], []
    for axis, s in enumerate(slices):
        if isinstance(s, slice) and s.step is not None and s.step < 0:
            assert builtins.all(end is None or isinstance(end, int) for end in (s.start, s.stop))
            first, last = (end + 1 if end else None for end in (s.stop, s.start))
            slices[axis] = slice(first, last, -s.step)
            flipped.append(axis)
    for axis in flipped:
        tensor = torch.flip(tensor, (axis,))
    return tensor, type(index)(slices) if several else slices[0]


def _only(call, name, value, allowed):
    """Refuses a value of an argument that makes no difference to tensors. The words, with the bracket that they leave open, are PyTorch's."""
    if value != allowed:
        raise NotImplementedError(f"{call}(..., {name}={value} is not implemented.")


class ndarray:
    """An array. It is made by functions, or of a tensor that becomes its memory."""

    def __init__(self, t=None):
        if t is not None and not isinstance(t, torch.Tensor):
            raise ValueError("ndarray constructor is not recommended; prefereither array(...) or zeros/empty(...)")
        self.tensor = torch.Tensor() if t is None else t

    @property
    def flags(self):
        t = self.tensor
        told = t.is_contiguous(), self.T.tensor.is_contiguous(), t._base is None, True
        return Flags(dict(zip(("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE"), told)))

    T = property(lambda self: self.transpose())

    # Copies and views.

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        for name, value, allowed in ("order", order, "K"), ("casting", casting, "unsafe"), ("subok", subok, True), ("copy", copy, True):
            _only("astype", name, value, allowed)
        return ndarray(self.tensor.to(_dtypes.dtype(dtype).torch_dtype))

    @normalizer
    def copy(self: _tensor_of, order: refused = "C"):
        return self.clone()

    @normalizer
    def flatten(self: _tensor_of, order: refused = "C"):
        return self.flatten()

    def view(self, dtype=_unset, type=_unset):
        _only("view", "type", type, _unset)
        return ndarray(self.tensor.view(self.tensor.dtype if dtype is _unset else _dtypes.dtype(dtype).torch_dtype))

    def transpose(self, *axes):
        return _funcs.transpose(self, axes)

    def reshape(self, *shape, order="C"):
        return _funcs.reshape(self, shape, order=order)

    # Changes in place.

    def resize(self, *new_shape, refcheck=False):
        _only("resize", "refcheck", refcheck, False)
        shape = new_shape[0] if len(new_shape) == 1 else new_shape
        if shape is None or new_shape == ():
            return
        shape = (shape,) if isinstance(shape, int) else shape
        if min(shape, default=0) < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        t, before = self.tensor, self.tensor.numel()
        t.resize_(shape)
        if t.numel() >= before:
            t.flatten()[before:].zero_()

    @normalizer
    def fill(self, value: _tensor_of):
        self.tensor.fill_(value)

    def sort(self, axis=-1, kind=None, order=None):
        _funcs.copyto(self, _funcs.sort(self, axis, kind, order))

    # As other objects.

    def item(self, *args):
        if args:
            return self.ravel()[args[0]] if len(args) == 1 else self[args]
        return self.tensor.item()

    def __iter__(self):
        return (ndarray(x) for x in iter(self.tensor))

    def __str__(self):
        return str(self.tensor).replace("tensor", "torch.ndarray").replace("dtype=torch.", "dtype=")

    __repr__ = __str__

    def __eq__(self, other):
        try:
            return _ufuncs.equal(self, other)
        except (RuntimeError, TypeError):  # of other shapes or types: nothing is equal
            return _funcs.full(self.shape, False)

    def __ne__(self, other):
        return ~(self == other)

    __hash__ = None

    def __index__(self):
        try:
            return operator.index(self.tensor.item())
        except Exception:
            raise TypeError("only integer scalar arrays can be converted to a scalar index") from None

    def is_integer(self):
        try:
            return self.tensor.item() % 1 == 0
        except Exception:
            return False

    # Items.

    def __getitem__(self, at):
        t, at = _forwards(self.tensor, at)
        return ndarray(t[_indices(at)])

    def __setitem__(self, at, value):
        plain = _dtypes_impl.is_scalar(value)
        self.tensor[_indices(at)] = value if plain else _util.cast_if_needed(_tensor_of(value), self.tensor.dtype)


# What an array is like, by its tensor.
_attributes = {
    "shape": lambda t: tuple(t.shape),
    "size": torch.Tensor.numel,
    "ndim": torch.Tensor.dim,
    "dtype": lambda t: _dtypes.dtype(t.dtype),
    "strides": lambda t: tuple(step * t.element_size() for step in t.stride()),
    "itemsize": torch.Tensor.element_size,
    "nbytes": lambda t: t.storage().nbytes(),
    "data": torch.Tensor.data_ptr,
}

# As other objects: functions of the tensor.
_conversions = {
    "__bool__": bool,
    "__int__": int,
    "__float__": float,
    "__complex__": lambda t: complex(t.item()),
    "__len__": lambda t: t.shape[0],
}


def _attribute(f):
    return property(lambda self: f(self.tensor))


def _part(name):
    """The real or the imaginary part, that can be stored in."""

    def store(self, value):
        getattr(self.tensor, name).copy_(asarray(value).tensor)

    return property(getattr(_funcs, name), store)


for _name, _f in _attributes.items():
    setattr(ndarray, _name, _attribute(_f))
for _name in ("real", "imag"):
    setattr(ndarray, _name, _part(_name))


def _method(f, name):
    def method(*args, **kwargs):
        return f(*args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"ndarray.{name}"
    setattr(ndarray, name, method)


def _conversion(f):
    return lambda self: f(self.tensor)


def _of_tensor(name):
    return lambda self, *args, **kwargs: getattr(self.tensor, name)(*args, **kwargs)


for _name, _f in _conversions.items():
    _method(_conversion(_f), _name)
for _name in "tolist __contains__ __dlpack__ __dlpack_device__".split():
    _method(_of_tensor(_name), _name)


def _operators(name, f):
    """An operator with its reflected form and the one that stores in its left operand."""
    _method(f, f"__{name}__")
    _method(lambda self, other: f(other, self), f"__r{name}__")
    _method(lambda self, other: f(self, other, out=self), f"__i{name}__")


for _name in (
    "clip nonzero repeat round squeeze swapaxes ravel diagonal dot trace argsort searchsorted argmax argmin any all max min ptp sum prod mean var std "
    "cumsum cumprod take choose put"
).split():
    _method(getattr(_funcs, _name), _name)
for _name in ("conj", "conjugate"):
    _method(_ufuncs.conjugate, _name)
for _name, _ufunc in (
    ("abs", _ufuncs.absolute),
    ("invert", _ufuncs.invert),
    ("pos", _ufuncs.positive),
    ("neg", _ufuncs.negative),
    ("gt", _ufuncs.greater),
    ("lt", _ufuncs.less),
    ("ge", _ufuncs.greater_equal),
    ("le", _ufuncs.less_equal),
    ("divmod", _ufuncs.divmod),
    ("rdivmod", lambda self, other: _ufuncs.divmod(other, self)),
):
    _method(_ufunc, f"__{_name}__")
for _name, _ufunc in (
    ("add", _ufuncs.add),
    ("sub", _ufuncs.subtract),
    ("mul", _ufuncs.multiply),
    ("truediv", _ufuncs.divide),
    ("floordiv", _ufuncs.floor_divide),
    ("pow", _ufuncs.power),
    ("mod", _ufuncs.remainder),
    ("and", _ufuncs.bitwise_and),
    ("or", _ufuncs.bitwise_or),
    ("xor", _ufuncs.bitwise_xor),
    ("lshift", _ufuncs.left_shift),
    ("rshift", _ufuncs.right_shift),
    ("matmul", _ufuncs.matmul),
):
    _operators(_name, _ufunc)


def _plain(obj):
    """A list with lists in the place of the arrays in it."""
    items = []
    for x in obj:
        if isinstance(x, (list, tuple)):
            x = _plain(x)
        items.append(x.tensor.tolist() if isinstance(x, ndarray) else x)
    return items


def array(obj, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    for name, given in ("subok", subok is not False), ("like", like is not None):
        if given:
            raise NotImplementedError(f"'{name}' parameter is not supported.")
    if order != "K":
        raise NotImplementedError()
    own = isinstance(obj, ndarray)
    if own and copy is False and dtype is None and ndmin <= obj.ndim:
        return obj
    if own:
        obj = obj.tensor
    elif isinstance(obj, (list, tuple)):
        tensors = obj and builtins.all(isinstance(x, torch.Tensor) for x in obj)
        obj = torch.stack(obj) if tensors else _plain(obj)
    wanted = None if dtype is None else _dtypes.dtype(dtype).torch_dtype
    return ndarray(_util._coerce_to_tensor(obj, wanted, copy, ndmin))


def asarray(a, dtype=None, order="K", *, like=None):
    return array(a, dtype, copy=False, order=order, like=like)


def ascontiguousarray(a, dtype=None, *, like=None):
    made = asarray(a, dtype, like=like)
    made.tensor = made.tensor.contiguous()
    return made


def from_dlpack(x, /):
    return ndarray(torch.from_dlpack(x))


def can_cast(from_, to, casting="safe"):
    def type_of(x):
        try:
            return _dtypes.dtype(x).torch_dtype
        except Exception:
            return asarray(x).tensor.dtype

    return _dtypes_impl.can_cast_impl(type_of(from_), type_of(to), casting)


def result_type(*arrays_and_dtypes):
    def example(x):
        """A tensor of the type of x, which is an array or names a type."""
        try:
            return asarray(x).tensor
        except (TypeError, ValueError, RuntimeError):
            return torch.empty(1, dtype=_dtypes.dtype(x).torch_dtype)

    return _dtypes.dtype(_dtypes_impl.result_type_impl(*map(example, arrays_and_dtypes)))
