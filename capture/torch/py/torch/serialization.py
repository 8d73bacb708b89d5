"""torch.save and torch.load: objects with their tensors in a zip archive, and in the stream that came before it."""
import io
import os
import pickle
import re
import struct
import sys
import zipfile
import zlib

import torch
from torch import _weights_only_unpickler
from torch._weights_only_unpickler import _safe_globals
from torch.storage import _STORAGES, TypedStorage, UntypedStorage

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_ALIGNMENT = 64

_DOCUMENTATION = "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only https://pytorch.org/docs/stable/generated/torch.load.html."
_CHANGED = ("In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` "
            "will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source.")
UNSAFE_MESSAGE = _CHANGED


class SourceChangeWarning(Warning):
    pass


def add_safe_globals(safe_globals):
    _weights_only_unpickler._add_safe_globals(safe_globals)


def get_safe_globals():
    return _weights_only_unpickler._get_safe_globals()


def clear_safe_globals():
    _weights_only_unpickler._clear_safe_globals()


class safe_globals(_safe_globals):
    """Allows some globals within a with block."""


def get_unsafe_globals_in_checkpoint(f):
    import pickletools

    with _opened(f, "rb") as file:
        if not _is_zip(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        archive = _Archive(file)
        names, known = [], _weights_only_unpickler._allowed_globals()
        for op, arg, _ in pickletools.genops(archive.read("data.pkl")):
            if op.name == "GLOBAL":
                name = ".".join(arg.split(" ", 1))
                if name not in known and name not in _weights_only_unpickler._user_allowed and name not in names:
                    names.append(name)
        return names


class StorageType:
    """A storage class as a file names it."""

    def __init__(self, name):
        self._dtype = getattr(torch, _STORAGES[name])

    @property
    def dtype(self):
        return self._dtype

    def __str__(self):
        return f"StorageType(dtype={self.dtype})"


# Where storages go.

_package_registry = []


def register_package(priority, tagger, deserializer):
    _package_registry.append((priority, tagger, deserializer))
    _package_registry.sort(key=lambda row: row[0])


def _cpu_tag(obj):
    return "cpu" if obj.device.type == "cpu" else None


def _cpu_deserialize(obj, location):
    return obj if location == "cpu" else None


def _cuda_deserialize(obj, location):
    if location.startswith("cuda"):
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with "
                           "map_location=torch.device('cpu') to map your storages to the CPU.")


register_package(10, _cpu_tag, _cpu_deserialize)
register_package(20, lambda obj: None, _cuda_deserialize)


def location_tag(storage):
    for _, tagger, _ in _package_registry:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError("don't know how to determine data location of " + torch.typename(storage))


def default_restore_location(storage, location):
    for _, _, restore in _package_registry:
        result = restore(storage, location)
        if result is not None:
            return result
    raise RuntimeError("don't know how to restore data location of " + torch.typename(storage) + " (tagged with " + location + ")")


def _get_restore_location(map_location):
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes)):
        return lambda storage, location: default_restore_location(storage, map_location)
    if isinstance(map_location, torch.device):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage, location):
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    return restore


def _get_layout(name):
    return {str(torch.strided): torch.strided}[name]


def _maybe_decode_ascii(s):
    return s.decode("ascii") if isinstance(s, bytes) else s


# Files.


def _is_path(f):
    return isinstance(f, (str, os.PathLike))


class _opened:
    """The file of a path, closed in the end; or a file that is the caller's."""

    def __init__(self, f, mode):
        self.close = _is_path(f)
        if not self.close:
            self.file = f
            return
        if mode == "wb":
            parent = os.path.dirname(os.fspath(f))
            if parent and not os.path.isdir(parent):
                raise RuntimeError(f"Parent directory {parent} does not exist.")
        self.file = open(f, mode)

    def __enter__(self):
        return self.file

    def __exit__(self, *exc):
        if self.close:
            self.file.close()
        else:
            getattr(self.file, "flush", lambda: None)()


def _check_seekable(f):
    for name in ("seek", "tell"):
        if not hasattr(f, name):
            raise AttributeError(f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load from a file that is seekable."
                                 " Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.")
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as e:
        raise type(e)(str(e) + ". You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.") from None


def _is_zip(f):
    start = f.tell()
    head = f.read(4)
    f.seek(start)
    return head == b"PK\x03\x04"


class _Archive:
    """A zip archive whose records lie below one folder."""

    def __init__(self, file):
        start = file.tell()
        self.zip = zipfile.ZipFile(io.BytesIO(file.read()))
        file.seek(start)
        names = self.zip.namelist()
        self.root = names[0].split("/", 1)[0] + "/" if names else ""
        self.names = set(names)

    def has(self, name):
        return self.root + name in self.names

    def read(self, name):
        try:
            return self.zip.read(self.root + name)
        except KeyError:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found") from None


class _ArchiveWriter:
    """Writes records, stored, each at a multiple of 64 bytes, so that they can be mapped into memory."""

    def __init__(self, file, name):
        self.zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self.name, self.sums, self.infos = name, [], []

    def write(self, record, data):
        info = zipfile.ZipInfo(f"{self.name}/{record}")
        info.date_time = (1980, 0, 0, 0, 0, 0)
        at = self.zip.start_dir + 30 + len(info.filename.encode()) + 4
        pad = -at % _ALIGNMENT
        info.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
        self.zip.writestr(info, data)
        self.sums.append(zlib.crc32(data))
        self.infos.append(info)

    def close(self):
        text = "\n".join(i.filename for i in self.infos).encode()
        digest = f"{zlib.crc32(text) * 2654435761 % 10**20:020d}{sum(s * 1000003**i for i, s in enumerate(self.sums)) % 10**20:020d}"
        self.write(".data/serialization_id", digest.encode())
        for info in self.infos:  # the padding is of use in front of the data alone
            info.extra = b""
        self.zip.close()


# Saving.


def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Writes an object to a path or a file."""
    if not _is_path(f) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if not _use_new_zipfile_serialization:
        with _opened(f, "wb") as file:
            return _legacy_save(obj, file, pickle_module, pickle_protocol)
    data, storages = _pickled(obj, pickle_module, pickle_protocol)
    with _opened(f, "wb") as file:
        name = "archive"
        if _is_path(f):
            name = os.path.basename(os.fspath(f))
            name = name[:name.rfind(".")] if "." in name else name
        out = io.BytesIO()
        archive = _ArchiveWriter(out, name)
        archive.write("data.pkl", data)
        if not _disable_byteorder_record:
            archive.write("byteorder", sys.byteorder.encode())
        for key, storage in storages.items():
            archive.write(f"data/{key}", _bytes(storage))
        archive.write("version", b"3\n")
        archive.close()
        file.write(out.getvalue())


def _bytes(storage):
    return torch._C._bytes_of(storage._bytes)


def _described(obj):
    """The class name, untyped storage and number of elements of a storage; None for all else."""
    if isinstance(obj, TypedStorage):
        return getattr(torch, obj.pickle_storage_type()), obj._untyped_storage, obj._size()
    if isinstance(obj, UntypedStorage):
        return UntypedStorage, obj, obj.nbytes()
    return None


def _pickled(obj, pickle_module, protocol):
    """The pickle of an object, and the storages that it names, by key."""
    keys, storages, dtypes = {}, {}, {}

    class Pickler(pickle_module.Pickler):
        def persistent_id(self, obj):
            what = _described(obj)
            if what is None:
                return None
            kind, storage, numel = what
            if storage.data_ptr() != 0:
                dtype = getattr(kind, "dtype", torch.uint8)
                if dtypes.setdefault(storage.data_ptr(), dtype) != dtype:
                    raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
            key = keys.setdefault(storage._cdata, str(len(keys)))
            storages[key] = storage
            return ("storage", kind, key, location_tag(storage), numel)

    out = io.BytesIO()
    Pickler(out, protocol=protocol).dump(obj)
    return out.getvalue(), storages


def _legacy_save(obj, f, pickle_module, protocol):
    storages, dtypes = {}, {}

    def persistent_id(obj):
        what = _described(obj)
        if what is None:
            return None
        kind, storage, numel = what
        key = str(storage._cdata)
        dtype = getattr(kind, "dtype", torch.uint8)
        if key in dtypes and dtypes[key] != dtype and storage.data_ptr() != 0:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        dtypes[key] = dtype
        storages[key] = (storage, dtype)
        return ("storage", kind, key, location_tag(storage), numel, None)

    system = dict(protocol_version=PROTOCOL_VERSION, little_endian=sys.byteorder == "little", type_sizes=dict(short=2, int=4, long=4))
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle_module.dump(head, f, protocol=protocol)

    class Pickler(pickle_module.Pickler):
        def persistent_id(self, obj):
            return persistent_id(obj)

    Pickler(f, protocol=protocol).dump(obj)
    names = sorted(storages)
    pickle_module.dump(names, f, protocol=protocol)
    f.flush()
    for key in names:
        storage, dtype = storages[key]
        f.write(struct.pack("<q", storage.nbytes() // dtype.itemsize) + _bytes(storage))


# Loading.


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what save wrote."""
    forced_off = os.getenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0") in ("1", "y", "yes", "true")
    forced_on = os.getenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0") in ("1", "y", "yes", "true")
    if forced_off and forced_on:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were set.")
    default = weights_only is None
    if default:
        weights_only = pickle_module is None
    if forced_on:
        weights_only = True
    elif forced_off and default:
        weights_only = False
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap and not _is_path(f):
        raise ValueError("f must be a file path in order to use the mmap argument")
    pickle_load_args.setdefault("encoding", "utf-8")
    module = _weights_only_unpickler if weights_only else pickle_module or pickle
    with _opened(f, "rb") as file:
        if not _is_path(f):
            _check_seekable(file)
        try:
            if _is_zip(file):
                return _load(_Archive(file), map_location, module, pickle_load_args)
            if mmap:
                raise RuntimeError("mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True), please torch.save your checkpoint with this option in order to use mmap.")
            return _legacy_load(file, map_location, module, pickle_load_args)
        except pickle.UnpicklingError as e:
            if not weights_only:
                raise
            raise pickle.UnpicklingError(_refusal(str(e))) from None


def _refusal(text):
    """What is said when a file holds more than weights."""
    blocked = re.search(r"whose module .* is blocked", text)
    if "Unsupported global" in text or "must be imported to load nested jagged tensors" in text:
        return ("Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m. "
                f"\n\t(1) {_CHANGED}\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following error message.\n\tWeightsUnpickler error: {text}{_DOCUMENTATION}")
    if blocked:
        return f"Weights only load failed. {_CHANGED}\nWeightsUnpickler error: {text}{_DOCUMENTATION}"
    return (f"Weights only load failed. {_CHANGED}\nPlease file an issue with the following so that we can make `weights_only=True` compatible with your use case: WeightsUnpickler error: {text}{_DOCUMENTATION}")


def _unpickler(module, file, persistent_load, pickle_load_args):
    class Unpickler(module.Unpickler):
        def find_class(self, mod_name, name):
            if mod_name in ("torch", "torch.storage") and name in _STORAGES:
                return StorageType(name)
            return super().find_class({"torch.tensor": "torch._tensor"}.get(mod_name, mod_name), name)

    unpickler = Unpickler(file, **pickle_load_args)
    unpickler.persistent_load = persistent_load
    return unpickler


def _dtype_of(storage_type):
    return torch.uint8 if storage_type is UntypedStorage else storage_type.dtype


def _swapped(data, dtype):
    """Bytes of elements in the other byte order."""
    size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    return b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))


def _load(archive, map_location, module, pickle_load_args):
    restore = _get_restore_location(map_location)
    loaded = {}
    order = archive.read("byteorder") if archive.has("byteorder") else sys.byteorder.encode()
    if order not in (b"little", b"big"):
        raise ValueError("Unknown endianness type: " + order.decode())
    swap = order.decode() != sys.byteorder

    def persistent_load(saved_id):
        assert isinstance(saved_id, tuple)
        typename = _maybe_decode_ascii(saved_id[0])
        assert typename == "storage", f"Unknown typename for persistent_load, expected 'storage' but got '{typename}'"
        storage_type, key, location, numel = saved_id[1:]
        dtype = _dtype_of(storage_type)
        if key not in loaded:
            data = archive.read(f"data/{key}")
            if swap:
                data = _swapped(data, dtype)
            storage = restore(UntypedStorage._from_buffer(data), _maybe_decode_ascii(location))
            loaded[key] = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype, _internal=True)
        return loaded[key]

    return _unpickler(module, io.BytesIO(archive.read("data.pkl")), persistent_load, pickle_load_args).load()


def _legacy_load(f, map_location, module, pickle_load_args):
    restore = _get_restore_location(map_location)
    loaded = {}
    magic = module.load(f, **pickle_load_args)
    if magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = module.load(f, **pickle_load_args)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    module.load(f, **pickle_load_args)

    def persistent_load(saved_id):
        assert isinstance(saved_id, tuple)
        typename = _maybe_decode_ascii(saved_id[0])
        if typename == "module":  # a class with its source, which is not needed
            return saved_id[1]
        if typename != "storage":
            raise RuntimeError(f"Unknown saved id type: {saved_id[0]}")
        storage_type, key, location, numel, view = saved_id[1:]
        dtype = _dtype_of(storage_type)
        key = _maybe_decode_ascii(key)
        if key not in loaded:
            storage = restore(UntypedStorage(numel * dtype.itemsize), _maybe_decode_ascii(location))
            loaded[key] = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype, _internal=True)
        whole = loaded[key]
        if view is not None:
            view_key, offset, size = view
            if view_key not in loaded:
                part = whole._untyped_storage[offset * dtype.itemsize : (offset + size) * dtype.itemsize]
                loaded[view_key] = TypedStorage(wrap_storage=part, dtype=dtype, _internal=True)
            return loaded[view_key]
        return whole

    result = _unpickler(module, f, persistent_load, pickle_load_args).load()
    for key in module.load(f, **pickle_load_args):
        key = _maybe_decode_ascii(key)
        storage = loaded[key]
        (numel,) = struct.unpack("<q", f.read(8))
        data = f.read(numel * storage.dtype.itemsize)
        if data:
            storage._untyped_storage._bytes.copy_(UntypedStorage._from_buffer(data)._bytes)
    return result
