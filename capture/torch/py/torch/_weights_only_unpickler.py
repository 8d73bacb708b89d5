"""Reads pickles that hold nothing but data: what torch.load uses unless it is told that a file can be trusted."""
import _codecs
import pickle
import warnings
from collections import Counter, OrderedDict

import torch
from torch import _tensor, _utils

# The instructions that are carried out; whatever else a pickle holds is refused.
_ALLOWED = ("PROTO STOP MARK POP NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINSTRING BINSTRING EMPTY_LIST EMPTY_TUPLE EMPTY_DICT EMPTY_SET "
            "TUPLE TUPLE1 TUPLE2 TUPLE3 APPEND APPENDS SETITEM SETITEMS ADDITEMS BINPUT LONG_BINPUT BINGET LONG_BINGET GLOBAL REDUCE NEWOBJ BUILD BINPERSID LIST DICT").split()

# Modules of which nothing is ever read.
_BLOCKED = ("sys", "os", "posix", "nt")

_user_allowed = {}


def _name_of(obj):
    return f"{obj.__module__}.{obj.__qualname__}"


def _add_safe_globals(safe_globals):
    for one in safe_globals:
        if isinstance(one, tuple):
            if len(one) != 2 or not isinstance(one[1], str):
                raise ValueError(f"Expected tuple of (global, str name), got {one}")
            _user_allowed[one[1]] = one[0]
        else:
            _user_allowed[_name_of(one)] = one


def _get_safe_globals():
    return list(_user_allowed.values())


def _clear_safe_globals():
    _user_allowed.clear()


def _remove_safe_globals(globals_to_remove):
    for one in globals_to_remove:
        _user_allowed.pop(one[1] if isinstance(one, tuple) else _name_of(one), None)


class _safe_globals:
    """Allows some globals within a with block."""

    def __init__(self, safe_globals):
        self.safe_globals = safe_globals

    def __enter__(self):
        self.before = dict(_user_allowed)
        _add_safe_globals(self.safe_globals)

    def __exit__(self, *exc):
        _user_allowed.clear()
        _user_allowed.update(self.before)


def _allowed_globals():
    from torch.nn.parameter import Buffer, Parameter
    from torch.storage import _STORAGES

    table = {
        "collections.OrderedDict": OrderedDict, "collections.Counter": Counter, "torch.nn.parameter.Parameter": Parameter, "torch.nn.parameter.Buffer": Buffer,
        "torch.serialization._get_layout": torch.serialization._get_layout, "torch.Size": torch.Size, "torch.Tensor": torch.Tensor, "torch.device": torch.device,
        "_codecs.encode": _codecs.encode, "builtins.bytearray": bytearray, "builtins.set": set, "builtins.complex": complex, "torch._tensor._rebuild_from_type_v2": _tensor._rebuild_from_type_v2,
    }
    for f in ("_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3"):
        table["torch._utils." + f] = getattr(_utils, f)
    for name, dtype in _STORAGES.items():
        table["torch." + name] = table["torch.storage." + name] = torch.serialization.StorageType(name)
        table[str(getattr(torch, dtype))] = getattr(torch, dtype)
    table["torch.storage.UntypedStorage"] = table["torch.UntypedStorage"] = torch.storage.UntypedStorage
    table["torch.storage.TypedStorage"] = table["torch.TypedStorage"] = torch.storage.TypedStorage
    for name in ("uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "complex32", "qint8", "quint8", "qint32"):
        if hasattr(torch, name):
            table["torch." + name] = getattr(torch, name)
    return table


class Unpickler(pickle._Unpickler):
    """An unpickler of a list of instructions and globals."""

    dispatch = {}

    def __init__(self, file, *, encoding="bytes"):
        super().__init__(file, encoding=encoding)
        self.globals = _allowed_globals()

    def _safe(self, callable):
        return any(callable is g for g in self.globals.values()) or any(callable is g for g in _user_allowed.values())

    def find_class(self, module, name):
        full = f"{module}.{name}"
        if module in _BLOCKED:
            raise pickle.UnpicklingError(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        full = _renamed(module, name)
        if full in self.globals:
            return self.globals[full]
        if full in _user_allowed:
            return _user_allowed[full]
        if full in ("torch.nested._internal.nested_tensor.NestedTensor", "torch._dynamo.decorators._DimRange"):
            raise pickle.UnpicklingError("``torch.nested`` and ``torch._dynamo`` must be imported to load nested jagged tensors (NJTs)")
        raise pickle.UnpicklingError(f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{name}])` or the "
                                     f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust this class/function.")

    def load_proto(self):
        proto = self.read(1)[0]
        if proto != 2:
            warnings.warn(f"Detected pickle protocol {proto} in the checkpoint, which was not the default pickle protocol used by `torch.load` (2). The weights_only Unpickler might not support all "
                          "instructions implemented by this protocol, please file an issue for adding support if you encounter this.")
        self.proto = proto

    def load_reduce(self):
        args = self.stack.pop()
        func = self.stack[-1]
        if not self._safe(func):
            raise pickle.UnpicklingError(f"Trying to call reduce for unrecognized function {func}")
        self.stack[-1] = func(*args)

    def load_newobj(self):
        args = self.stack.pop()
        cls = self.stack.pop()
        if cls is torch.nn.Parameter or cls in _user_allowed.values():
            self.append(cls.__new__(cls, *args))
        else:
            raise pickle.UnpicklingError("Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` " f"but got {cls}")

    def load_build(self):
        state = self.stack.pop()
        inst = self.stack[-1]
        cls = type(inst)
        if cls is torch.Tensor:
            inst.set_(*state)
        elif cls is torch.nn.Parameter:
            inst.__setstate__(state)
        elif cls is OrderedDict:
            inst.__dict__.update(state)
        elif cls in _user_allowed.values():
            if hasattr(inst, "__setstate__"):
                inst.__setstate__(state)
            elif isinstance(state, tuple) and len(state) == 2:
                _utils._set_obj_state(inst, state)
            else:
                inst.__dict__.update(state)
        else:
            raise pickle.UnpicklingError(f"Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got {cls}")

    def load_append(self):
        item = self.stack.pop()
        self._list().append(item)

    def load_appends(self):
        items = self.pop_mark()
        self._list().extend(items)

    def _list(self):
        if type(self.stack[-1]) is not list:
            raise pickle.UnpicklingError(f"Can only append to lists, but got {type(self.stack[-1])}")
        return self.stack[-1]

    def load_binpersid(self):
        pid = self.stack.pop()
        if type(pid) is not tuple and type(pid) is not int:
            raise pickle.UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
        if type(pid) is tuple and len(pid) > 0 and torch.serialization._maybe_decode_ascii(pid[0]) != "storage":
            raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {pid[0]}")
        self.append(self.persistent_load(pid))

    def _refused(code):
        def refuse(self):
            raise pickle.UnpicklingError(f"Unsupported operand {code}")

        return refuse

    for _code in range(256):
        dispatch[_code] = _refused(_code)
    for _name in _ALLOWED:
        _code = getattr(pickle, _name)[0]
        dispatch[_code] = pickle._Unpickler.dispatch[_code]
    for _name in ("PROTO", "REDUCE", "NEWOBJ", "BUILD", "APPEND", "APPENDS", "BINPERSID"):
        dispatch[getattr(pickle, _name)[0]] = locals()["load_" + _name.lower()]
    del _code, _name


def _renamed(module, name):
    """The full name of a global, as Python 3 has it where an old file does not."""
    import _compat_pickle as compat

    if (module, name) in compat.NAME_MAPPING:
        module, name = compat.NAME_MAPPING[(module, name)]
    elif module in compat.IMPORT_MAPPING:
        module = compat.IMPORT_MAPPING[module]
    return f"{module}.{name}"


def load(file, *, encoding="ASCII"):
    return Unpickler(file, encoding=encoding).load()
