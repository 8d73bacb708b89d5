"""The memory of tensors: untyped, and as the legacy typed classes see it."""
import warnings

import torch
from torch import _C

# The class of each dtype's storage, by the name that files give it.
_STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16", "LongStorage": "int64", "IntStorage": "int32",
    "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexDoubleStorage": "complex128", "ComplexFloatStorage": "complex64",
}


_ORDERS = ("big", "little", "native")


def _view(buffer):
    try:
        return memoryview(buffer).cast("B")
    except TypeError:
        raise TypeError(f"a bytes-like object is required, not '{type(buffer).__name__}'") from None


class UntypedStorage:
    """Bytes that tensors lie in."""

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    def __init__(self, *args, device=None):
        if len(args) > 1:
            raise TypeError(f"torch.storage.UntypedStorage() received an invalid combination of arguments")
        what = args[0] if args else 0
        if isinstance(what, int):
            self._bytes = torch.empty(what, dtype=torch.uint8)
        else:
            self._bytes = torch.tensor(list(what), dtype=torch.uint8)

    @classmethod
    def _over(cls, bytes):
        self = cls.__new__(cls)
        self._bytes = bytes
        return self

    @classmethod
    def _from_buffer(cls, data):
        return cls._over(_C._storage_bytes(torch.frombuffer(bytearray(data), dtype=torch.uint8)) if len(data) else torch.empty(0, dtype=torch.uint8))

    @classmethod
    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, *, dtype=None):
        """Storage of the elements of a dtype that a buffer holds, in the order of bytes that this machine has."""
        size = (dtype or torch.uint8).itemsize
        view = _view(buffer)
        if byte_order is None:
            if size > 1:
                raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        elif byte_order not in _ORDERS:
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        if not 0 <= offset <= len(view):
            raise ValueError(f"offset must be non-negative and no greater than buffer length ({offset}) , but got {len(view)}")
        if count < 0:
            if (len(view) - offset) % size:
                raise ValueError(f"buffer size ({len(view)}) must be a multiple of element size ({size})")
            count = (len(view) - offset) // size
        if offset + count * size > len(view):
            raise ValueError(f"buffer has only {len(view) - offset} elements after offset {offset}, but specified a size of {count}")
        data = bytes(view[offset:offset + count * size])
        part = size // 2 if dtype in (torch.complex64, torch.complex128) else size
        if byte_order == "big" and part > 1:
            data = b"".join(data[i:i + part][::-1] for i in range(0, len(data), part))
        if dtype == torch.bool:
            data = bytes(map(bool, data))
        return cls._from_buffer(data)

    @property
    def device(self):
        return torch.device("cpu")

    @property
    def _cdata(self):
        return _C._storage_id(self._bytes)

    def nbytes(self):
        return self._bytes.numel()

    def size(self):
        return self.nbytes()

    def element_size(self):
        return 1

    def data_ptr(self):
        return self._bytes.data_ptr()

    def get_device(self):
        return -1

    def is_pinned(self, device="cuda"):
        return False

    def is_shared(self):
        return False

    def share_memory_(self):
        return self

    def untyped(self):
        return self

    def cpu(self):
        return self

    def clone(self):
        return UntypedStorage._over(self._bytes.clone())

    def copy_(self, source, non_blocking=None):
        self._bytes.copy_(source.untyped()._bytes)
        return self

    def fill_(self, value):
        self._bytes.fill_(value)
        return self

    def resize_(self, size):
        self._bytes.resize_(size)
        return self

    def tolist(self):
        return self._bytes.tolist()

    def __len__(self):
        return self.nbytes()

    def __getitem__(self, i):
        if isinstance(i, slice):
            return UntypedStorage._over(self._bytes[i])
        return self._bytes[i].item()

    def __setitem__(self, i, value):
        self._bytes[i] = value

    def __iter__(self):
        return iter(self.tolist())

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        memo = memo.setdefault("torch", {})
        if self._cdata not in memo:
            memo[self._cdata] = self.clone()
        return memo[self._cdata]

    def __reduce__(self):
        return _reduced(self)

    def __repr__(self):
        return "".join(f" {x}\n" for x in self.tolist()) + f"[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    def __hash__(self):
        return self._cdata


class TypedStorage:
    """Elements of one dtype in an untyped storage."""

    is_cuda = is_hpu = is_sparse = False

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if not _internal:
            _deprecated()
        self.dtype = dtype if dtype is not None else torch.get_default_dtype()
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage
        elif args and not isinstance(args[0], int):
            self._untyped_storage = torch.tensor(list(args[0]), dtype=self.dtype).untyped_storage()
        else:
            self._untyped_storage = UntypedStorage((args[0] if args else 0) * self.dtype.itemsize)

    @classmethod
    def from_buffer(cls, *args, dtype=None, device=None, **kwargs):
        """Storage of the elements that a buffer holds: see UntypedStorage.from_buffer."""
        _deprecated()
        dtype = cls._element() or dtype or torch.get_default_dtype()
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(*args, dtype=dtype, **kwargs), dtype=dtype, _internal=True)

    @classmethod
    def _element(cls):
        return None

    @property
    def device(self):
        return self._untyped_storage.device

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    def _flat(self):
        return _tensor(self._untyped_storage, self.dtype, 0, (self._size(),), (1,))

    def _size(self):
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    size = __len__ = _size

    def untyped(self):
        return self._untyped_storage

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    _data_ptr = data_ptr

    def pickle_storage_type(self):
        return next(n for n, d in _STORAGES.items() if getattr(torch, d) == self.dtype)

    def tolist(self):
        return self._flat().tolist()

    def clone(self):
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype, _internal=True)

    def cpu(self):
        return self

    def share_memory_(self):
        return self

    def is_shared(self):
        return False

    def fill_(self, value):
        self._flat().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        self._flat().copy_(source._flat())
        return self

    def resize_(self, size):
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def type(self, dtype=None, non_blocking=False):
        if dtype is None:
            return "torch." + self.pickle_storage_type()
        return TypedStorage(wrap_storage=self._flat().to(dtype).untyped_storage(), dtype=dtype, _internal=True)

    def __getitem__(self, i):
        if isinstance(i, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._flat()[i].item()

    def __setitem__(self, i, value):
        self._flat()[i] = value

    def __iter__(self):
        return iter(self.tolist())

    def __deepcopy__(self, memo):
        from copy import deepcopy

        return TypedStorage(wrap_storage=deepcopy(self._untyped_storage, memo), dtype=self.dtype, _internal=True)

    def __reduce__(self):
        return _reduced(self)

    def __str__(self):
        lines = "".join(f" {x}\n" for x in self.tolist())
        return lines + f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    __repr__ = __str__


class _LegacyMeta(type):
    def __instancecheck__(cls, instance):
        return type(instance) is TypedStorage and (cls.dtype is None or instance.dtype == cls.dtype)


class _LegacyStorage(TypedStorage, metaclass=_LegacyMeta):
    dtype = None

    def __new__(cls, *args, wrap_storage=None):
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, _internal=True)

    @classmethod
    def _element(cls):
        return cls.dtype


def _legacy_classes():
    """The classes torch.FloatStorage and so on, by their names."""
    return {n: _LegacyMeta(n, (_LegacyStorage,), {"dtype": getattr(torch, d), "__module__": "torch", "__qualname__": n}) for n, d in _STORAGES.items()}


def _deprecated():
    warnings.warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter to you if you are using storages directly.  "
                  "To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()", UserWarning, stacklevel=3)


def _reduced(storage):
    from io import BytesIO

    b = BytesIO()
    torch.save(storage, b, _use_new_zipfile_serialization=False)
    return (_load_from_bytes, (b.getvalue(),))


def _load_from_bytes(b):
    from io import BytesIO

    return torch.load(BytesIO(b), weights_only=False)


def _tensor(storage, dtype, offset, size, stride):
    return _C._tensor_over(storage.untyped()._bytes, dtype, offset, size, stride)


# Methods of Tensor.


def _set(self, source, storage_offset=0, size=None, stride=None):
    """Tensor.set_ of a storage."""
    if isinstance(source, TypedStorage):
        if source.dtype != self.dtype:
            raise RuntimeError("Expected a Storage of type " + str(self.dtype) + " or an UntypedStorage, but got type " + str(source.dtype) + " for argument 1 'storage'")
        source = source._untyped_storage
    elif not isinstance(source, UntypedStorage):
        raise TypeError(f"set_() received an invalid combination of arguments - got ({type(source).__name__})")
    if size is None:
        size = (source.nbytes() // self.element_size(),)
    if not stride:
        stride = torch.empty(tuple(size), device="meta").stride()
    return self.set_(_tensor(source, self.dtype, storage_offset, tuple(size), tuple(stride)))


def _untyped(t):
    return UntypedStorage._over(_C._storage_bytes(t))


def _typed_quietly(t):
    return TypedStorage(wrap_storage=_untyped(t), dtype=t.dtype, _internal=True)


def _typed(t):
    _deprecated()
    return _typed_quietly(t)


def _storage_type(t):
    return type(_typed_quietly(t))


def _share(t):
    return t


def _is_shared(t):
    return False
