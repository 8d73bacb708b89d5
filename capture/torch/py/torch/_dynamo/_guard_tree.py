"""torch._C._dynamo.guards: guards and the trees that they stand in, for programs that build trees of their own.

Compiled code has its guards in native code. These are the same guards by the same names, over values that a program gives.
"""
import torch
from torch._C import _dynamo as _native


class GuardDebugInfo:
    """What a check found: whether all held, the first that did not in words, and how many were asked."""

    def __init__(self, result, verbose_code_parts=(), num_guards_executed=0):
        self.result, self.verbose_code_parts, self.num_guards_executed = result, list(verbose_code_parts), num_guards_executed

    def __bool__(self):
        return bool(self.result)

    def __str__(self):
        parts = ", ".join(repr(p) for p in self.verbose_code_parts)
        return f"GuardDebugInfo(\nresult={int(self.result)},\nverbose_code_parts=[{parts}],\nnum_guards_executed={self.num_guards_executed})\n"

    __repr__ = __str__


class LeafGuard:
    """One question about one value."""

    def __init__(self, verbose_code_parts):
        self._parts = [verbose_code_parts] if isinstance(verbose_code_parts, str) else list(verbose_code_parts)

    def holds(self, value):
        raise NotImplementedError

    def reasons(self, value):
        """Why it does not hold, in words."""
        return self._parts

    def reset(self):
        """Forgets what other values of the same check were."""

    def __call__(self, value):
        return bool(self.holds(value))

    check = __call__

    def check_verbose(self, value):
        if self.holds(value):
            return GuardDebugInfo(True)
        return GuardDebugInfo(False, self.reasons(value), 0)

    def verbose_code_parts(self):
        return list(self._parts)


class LAMBDA_GUARD(LeafGuard):
    def __init__(self, guard_check_fn, verbose_code_parts):
        super().__init__(verbose_code_parts)
        if not callable(guard_check_fn):
            raise TypeError("LAMBDA_GUARD expects (callable, str)")
        self._fn, self._error = guard_check_fn, None

    def holds(self, value):
        self._error = None
        try:
            return bool(self._fn(value))
        except Exception as e:
            self._error = e
            return False

    def reasons(self, value):
        return self._parts if self._error is None else [str(self._error), *self._parts]


class TYPE_MATCH(LeafGuard):
    def __init__(self, type_id, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._id = type_id

    def holds(self, value):
        return id(type(value)) == self._id


class ID_MATCH(LeafGuard):
    def __init__(self, object_id, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._id = object_id

    def holds(self, value):
        return id(value) == self._id


class EQUALS_MATCH(LeafGuard):
    def __init__(self, value, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._value = value

    def holds(self, value):
        if type(value) is not type(self._value):
            return False
        try:
            return value is self._value or bool(value == self._value)
        except Exception:
            return False


class LENGTH_CHECK(LeafGuard):
    def __init__(self, value, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._length = value

    def holds(self, value):
        try:
            return len(value) == self._length
        except TypeError:
            return False


class DICT_LENGTH(LENGTH_CHECK):
    def holds(self, value):
        return isinstance(value, dict) and super().holds(value)


class TUPLE_ITERATOR_LEN(LeafGuard):
    def __init__(self, length, type_id, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._length, self._type_id = length, type_id

    def holds(self, value):
        return id(type(value)) == self._type_id and value.__length_hint__() == self._length


class NOT_NONE(LeafGuard):
    def holds(self, value):
        return value is not None


class NONE_MATCH(LeafGuard):
    def holds(self, value):
        return value is None


class TRUE_MATCH(LeafGuard):
    def holds(self, value):
        return value is True


class FALSE_MATCH(LeafGuard):
    def holds(self, value):
        return value is False


class NO_HASATTR(LeafGuard):
    def __init__(self, attr, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._attr = attr

    def holds(self, value):
        return not hasattr(value, self._attr)


class DICT_CONTAINS(LeafGuard):
    def __init__(self, contains, key, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._contains, self._key = contains, key

    def holds(self, value):
        return isinstance(value, dict) and (self._key in value) == bool(self._contains)


class DICT_VERSION(LeafGuard):
    """The very dict, with the very keys and values that it has now."""

    def __init__(self, value, verbose_code_parts):
        super().__init__(verbose_code_parts)
        if not isinstance(value, dict):
            raise TypeError("DICT_VERSION expects a dict")
        self._dict, self._items = value, list(value.items())

    def holds(self, value):
        now = list(value.items()) if value is self._dict else []
        return value is self._dict and len(now) == len(self._items) and all(a is c and b is d for (a, b), (c, d) in zip(now, self._items))


class DATA_PTR_MATCH(LeafGuard):
    def __init__(self, tensor, verbose_code_parts):
        super().__init__(verbose_code_parts)
        if not isinstance(tensor, torch.Tensor):
            raise TypeError("DATA_PTR_MATCH guard requires a tensor")
        self._ptr = tensor.data_ptr()

    def holds(self, value):
        return isinstance(value, torch.Tensor) and value.data_ptr() == self._ptr


class DYNAMIC_INDICES(LeafGuard):
    """No dimension is marked as dynamic but those of a set."""

    def __init__(self, dynamic_indices, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._indices = set(dynamic_indices)

    def holds(self, value):
        return set(getattr(value, "_dynamo_dynamic_indices", ())) <= self._indices


class DEFAULT_DEVICE(LeafGuard):
    """torch.set_default_device has what it has now."""

    def __init__(self, verbose_code_parts):
        super().__init__(verbose_code_parts)
        from torch.utils import _device

        self._module = _device
        self._device = _device.CURRENT_DEVICE

    def holds(self, value):
        return self._module.CURRENT_DEVICE == self._device


class GLOBAL_STATE(LeafGuard):
    """The modes of the process are as they are now."""

    def __init__(self, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._state = _native.global_state()

    def holds(self, value):
        return not _native.global_state_changed(self._state)

    def reasons(self, value):
        return ["GLOBAL_STATE changed: " + _native.global_state_changed(self._state)]


class TORCH_FUNCTION_MODE_STACK(LeafGuard):
    def __init__(self, initial_stack, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._types = [type(m) for m in initial_stack]

    def holds(self, value):
        from torch.overrides import _get_current_function_mode_stack

        return [type(m) for m in _get_current_function_mode_stack()] == self._types


class TENSOR_MATCH(LeafGuard):
    """The class, dtype, device, gradients, sizes and strides of a tensor. None among the sizes and strides stands for any."""

    def __init__(self, value, sizes, strides, name, verbose_code_parts, pytype=None, dispatch_keys=None):
        super().__init__(verbose_code_parts)
        self._name, self._class = name, type(value)
        self._dtype, self._device, self._grad = value.dtype, value.device, value.requires_grad
        self._sizes, self._strides = list(sizes), list(strides)

    def _why(self, value):
        what = f"tensor '{self._name}'"
        if type(value) is not self._class:
            return f"expected type of '{self._name}' to be a tensor type, ' but found {type(value)}"
        if value.dtype != self._dtype:
            return f"{what} dtype mismatch. expected {_dtype_name(self._dtype)}, actual {_dtype_name(value.dtype)}"
        if value.device != self._device:
            return f"{what} device mismatch. expected {self._device}, actual {value.device}"
        if value.requires_grad != self._grad:
            return f"{what} requires_grad mismatch. expected requires_grad={int(self._grad)}"
        if value.dim() != len(self._sizes):
            return f"{what} rank mismatch. expected {len(self._sizes)}, actual {value.dim()}"
        for kind, wanted, has in (("size", self._sizes, value.size()), ("stride", self._strides, value.stride())):
            for i, (w, h) in enumerate(zip(wanted, has)):
                if w is not None and w != h:
                    return f"{what} {kind} mismatch at index {i}. expected {w}, actual {h}"
        return None

    def holds(self, value):
        return self._why(value) is None

    def reasons(self, value):
        return [self._why(value)]


def _dtype_name(dtype):
    names = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
             "bool": "Bool"}
    name = str(dtype).removeprefix("torch.")
    return names.get(name, name)


class RelationalGuard(LeafGuard):
    """A question about the values of several managers, each of which has the same guard: it is asked once for each of them."""


class OBJECT_ALIASING(RelationalGuard):
    def __init__(self, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self.reset()

    def reset(self):
        self._seen = []

    def holds(self, value):
        self._seen.append(value)
        return all(v is self._seen[0] for v in self._seen)


class NO_TENSOR_ALIASING(RelationalGuard):
    def __init__(self, tensor_names, verbose_code_parts):
        super().__init__(verbose_code_parts)
        self._names = list(tensor_names)
        self.reset()

    def reset(self):
        self._seen = []

    def holds(self, value):
        if any(v is value for v in self._seen):
            return False
        self._seen.append(value)
        return True


class STORAGE_OVERLAPPING(RelationalGuard):
    def __init__(self, *args):
        raise NotImplementedError("torch._C._dynamo.guards.STORAGE_OVERLAPPING is not supported")


class _Missing(Exception):
    """There is nothing to go on with."""


class GuardAccessor:
    """How a manager gets from its value to that of another manager."""

    def __init__(self, root, key, source, manager):
        self._root, self.key, self._source, self.manager = root, key, source, manager

    def get(self, value):
        raise NotImplementedError

    def get_source(self):
        return self._source

    def __repr__(self):
        return f"{type(self).__name__}({self.key!r})"

    repr = __repr__


def _accessor(name, get, keyed=True):
    def method(self, value):
        try:
            return get(value, self.key)
        except Exception as e:
            raise _Missing(f"{self!r}: {e}") from None

    return type(name, (GuardAccessor,), {"get": method, "__module__": "torch._C._dynamo.guards"})


def _tuple_iterator_item(it, index):
    _, (items,), at = it.__reduce__()
    return items[at + index]


GetAttrGuardAccessor = _accessor("GetAttrGuardAccessor", getattr)
GenericGetAttrGuardAccessor = _accessor("GenericGetAttrGuardAccessor", object.__getattribute__)
GetGenericDictGuardAccessor = _accessor("GetGenericDictGuardAccessor", lambda v, _: v.__dict__)
GetItemGuardAccessor = _accessor("GetItemGuardAccessor", lambda v, k: v[k])
DictGetItemGuardAccessor = _accessor("DictGetItemGuardAccessor", lambda v, k: dict.__getitem__(v, k))
ListGetItemGuardAccessor = _accessor("ListGetItemGuardAccessor", lambda v, k: list.__getitem__(v, k))
TupleGetItemGuardAccessor = _accessor("TupleGetItemGuardAccessor", lambda v, k: tuple.__getitem__(v, k))
TypeGuardAccessor = _accessor("TypeGuardAccessor", lambda v, _: type(v))
GlobalsGuardAccessor = _accessor("GlobalsGuardAccessor", lambda _, scope: scope)
GlobalWeakRefGuardAccessor = _accessor("GlobalWeakRefGuardAccessor", lambda scope, name: scope[name]())
WeakRefCallGuardAccessor = _accessor("WeakRefCallGuardAccessor", lambda ref, _: ref())
CallFunctionNoArgsGuardAccessor = _accessor("CallFunctionNoArgsGuardAccessor", lambda f, _: f())
TupleIteratorGetItemAccessor = _accessor("TupleIteratorGetItemAccessor", _tuple_iterator_item)
PythonLambdaGuardAccessor = _accessor("PythonLambdaGuardAccessor", lambda v, fn: fn(v))
FuncDefaultsGuardAccessor = _accessor("FuncDefaultsGuardAccessor", lambda f, _: f.__defaults__)
FuncKwDefaultsGuardAccessor = _accessor("FuncKwDefaultsGuardAccessor", lambda f, _: f.__kwdefaults__)


def _manager_kind(example_value, kind):
    from torch._dynamo.guards import GuardManagerType

    if kind is GuardManagerType.DICT_GUARD_MANAGER:
        return DictGuardManager
    if kind is GuardManagerType.DICT_SUBCLASS_GUARD_MANAGER:
        return DictSubclassGuardManager
    return GuardManager


class GuardManager:
    """The guards on one value, and the way to the managers of what is reached from it."""

    def __init__(self, root=None, source="", example_value=None):
        self._root, self._source, self._leafs, self._accessors, self.fail_count = root, source, [], [], 0

    def get_source(self):
        return self._source

    def get_root(self):
        return self._root or self

    def get_leaf_guards(self):
        return list(self._leafs)

    def get_accessors(self):
        return list(self._accessors)

    def get_child_managers(self):
        return [a.manager for a in self._accessors]

    def has_no_accessors(self):
        return not self._accessors

    def __repr__(self):
        return f"{type(self).__name__}(source={self._source})"

    def _child(self, kind, key, source, example_value, guard_manager_enum):
        for a in self._accessors:
            if type(a) is kind and (a.key is key or type(a.key) is type(key) and a.key == key):
                return a.manager
        manager = _manager_kind(example_value, guard_manager_enum)(self.get_root(), source, example_value)
        self._accessors.append(kind(self.get_root(), key, source, manager))
        return manager

    def _add(self, guard):
        self._leafs.append(guard)
        if isinstance(guard, RelationalGuard):
            self.get_root()._relational.append(guard)

    def _run(self, value, info):
        """Whether all holds from here on; info counts, and has the words for what does not."""
        for guard in self._leafs:
            info.num_guards_executed += 1
            if not guard.holds(value):
                info.verbose_code_parts = list(guard.reasons(value))
                return False
        # What failed most often is asked first.
        for a in list(self._accessors):
            info.num_guards_executed += 1
            try:
                inner = a.get(value)
            except _Missing as e:
                info.verbose_code_parts = [str(e)]
                return self._failed(a)
            if not a.manager._run(inner, info):
                return self._failed(a)
        return True

    def _failed(self, accessor):
        accessor.manager.fail_count += 1
        self._accessors.sort(key=lambda a: -a.manager.fail_count)
        return False

    def _clone_into(self, other, root, keep):
        other.fail_count = self.fail_count
        for guard in self._leafs:
            other._add(guard)
        for a in self._accessors:
            if not keep(a.manager):
                continue
            manager = type(a.manager)(root, a.manager._source)
            a.manager._clone_into(manager, root, keep)
            other._accessors.append(type(a)(root, a.key, a._source, manager))


def _leaf(cls):
    def add(self, *args):
        self._add(cls(*args))

    return add


def _manager(kind, fixed=None, key_name=None):
    if key_name is None:
        def get(self, source="", example_value=None, guard_manager_enum=None):
            return self._child(kind, fixed, source, example_value, guard_manager_enum)
    else:
        def get(self, *args, **kwargs):
            names = (key_name, "source", "example_value", "guard_manager_enum")
            given = {**dict(zip(names, args)), **kwargs}
            return self._child(kind, given[key_name], given.get("source", ""), given.get("example_value"), given.get("guard_manager_enum"))

    return get


for _name, _cls in {"lambda": LAMBDA_GUARD, "type_match": TYPE_MATCH, "id_match": ID_MATCH, "equals_match": EQUALS_MATCH, "length_check": LENGTH_CHECK,
                    "dict_length_check": DICT_LENGTH, "tuple_iterator_length": TUPLE_ITERATOR_LEN, "not_none": NOT_NONE, "none_match": NONE_MATCH, "true_match": TRUE_MATCH,
                    "false_match": FALSE_MATCH, "no_hasattr": NO_HASATTR, "dict_contains": DICT_CONTAINS, "dict_version": DICT_VERSION, "data_ptr": DATA_PTR_MATCH,
                    "dynamic_indices": DYNAMIC_INDICES, "default_device": DEFAULT_DEVICE, "global_state": GLOBAL_STATE, "torch_function_mode_stack": TORCH_FUNCTION_MODE_STACK,
                    "tensor_match": TENSOR_MATCH}.items():
    setattr(GuardManager, f"add_{_name}_guard", _leaf(_cls))

for _name, _args in {"getattr": (GetAttrGuardAccessor, None, "attr"), "generic_getattr": (GenericGetAttrGuardAccessor, None, "attr"),
                     "get_generic_dict": (GetGenericDictGuardAccessor,), "getitem": (GetItemGuardAccessor, None, "key"), "dict_getitem": (DictGetItemGuardAccessor, None, "key"),
                     "list_getitem": (ListGetItemGuardAccessor, None, "key"), "tuple_getitem": (TupleGetItemGuardAccessor, None, "key"),
                     "indexed": (TupleGetItemGuardAccessor, None, "idx"), "type": (TypeGuardAccessor,), "globals_dict": (GlobalsGuardAccessor, None, "f_globals"),
                     "global_weakref": (GlobalWeakRefGuardAccessor, None, "global_name"), "weakref_call": (WeakRefCallGuardAccessor,),
                     "call_function_no_args": (CallFunctionNoArgsGuardAccessor,), "tuple_iterator_getitem": (TupleIteratorGetItemAccessor, None, "index"),
                     "lambda": (PythonLambdaGuardAccessor, None, "python_lambda"), "func_defaults": (FuncDefaultsGuardAccessor,),
                     "func_kwdefaults": (FuncKwDefaultsGuardAccessor,)}.items():
    setattr(GuardManager, f"{_name}_manager", _manager(*_args))


class RootGuardManager(GuardManager):
    """The manager that a check starts at."""

    def __init__(self, *args):
        super().__init__(None, "")
        self._relational, self._epilogue = [], []

    def check(self, value):
        return self.check_verbose(value).result

    def check_verbose(self, value):
        info = GuardDebugInfo(True)
        try:
            info.result = self._run(value, info)
            for guard in self._epilogue:
                if info.result and not guard.holds(value):
                    info.result, info.verbose_code_parts = False, list(guard.reasons(value))
        finally:
            for guard in self._relational:
                guard.reset()
        return info

    def add_epilogue_lambda_guard(self, fn, verbose_code_parts):
        self._epilogue.append(LAMBDA_GUARD(fn, verbose_code_parts))

    def get_epilogue_lambda_guards(self):
        return list(self._epilogue)

    def clone_manager(self, clone_filter_fn):
        """A tree with the guards of those managers for which the function holds."""
        root = RootGuardManager()
        root._epilogue = list(self._epilogue)
        self._clone_into(root, root, clone_filter_fn)
        return root


class KeyValueManager:
    """The managers of one key of a dict and of its value; either may be missing."""

    def __init__(self):
        self.key, self.value = None, None


class DictGuardManager(GuardManager):
    """The manager of a dict: its guards are on the keys and values by their order."""

    _exact = True

    def __init__(self, root=None, source="", example_value=None):
        super().__init__(root, source, example_value)
        self._pairs = {}
        self._length = None if example_value is None else len(example_value)
        self._type = type(example_value)

    def _refuse(self, what):
        raise RuntimeError(f"DictGuardManager does not support {what}")

    def _child(self, kind, key, source, example_value, guard_manager_enum):
        if self._exact or kind is not GetAttrGuardAccessor and kind is not GetGenericDictGuardAccessor and kind is not TypeGuardAccessor:
            self._refuse(f"a {kind.__name__}")
        return super()._child(kind, key, source, example_value, guard_manager_enum)

    def _add(self, guard):
        if not isinstance(guard, (DICT_CONTAINS, DICT_VERSION, RelationalGuard, NO_HASATTR)) and not (not self._exact and isinstance(guard, TYPE_MATCH)):
            self._refuse(f"a guard {type(guard).__name__}")
        super()._add(guard)

    def _pair(self, index):
        return self._pairs.setdefault(index, KeyValueManager())

    def get_key_manager(self, index, source="", example_value=None, guard_manager_enum=None):
        pair = self._pair(index)
        if pair.key is None:
            pair.key = _manager_kind(example_value, guard_manager_enum)(self.get_root(), source, example_value)
        return pair.key

    def get_value_manager(self, index, source="", example_value=None, guard_manager_enum=None):
        pair = self._pair(index)
        if pair.value is None:
            pair.value = _manager_kind(example_value, guard_manager_enum)(self.get_root(), source, example_value)
        return pair.value

    def get_key_value_managers(self):
        return {i: (p.key, p.value) for i, p in self._pairs.items()}

    def _run(self, value, info):
        info.num_guards_executed += 1
        if type(value) is not self._type or len(value) != self._length:
            info.verbose_code_parts = [f"len({self._source}) != {self._length}" if isinstance(value, dict) else f"{self._source} is no dict"]
            return False
        if not super()._run(value, info):
            return False
        for i, (k, v) in enumerate(dict.items(value)):
            pair = self._pairs.get(i)
            if pair is None:
                continue
            for manager, what in ((pair.key, k), (pair.value, v)):
                if manager is not None and not manager._run(what, info):
                    self.fail_count += 1
                    return False
        return True

    def _clone_into(self, other, root, keep):
        super()._clone_into(other, root, keep)
        other._length, other._type = self._length, self._type
        for i, pair in self._pairs.items():
            for name in ("key", "value"):
                manager = getattr(pair, name)
                if manager is None or not keep(manager):
                    continue
                new = type(manager)(root, manager._source)
                manager._clone_into(new, root, keep)
                setattr(other._pair(i), name, new)


class DictSubclassGuardManager(DictGuardManager):
    """The manager of an instance of a class that derives from dict."""

    _exact = False


def install_object_aliasing_guard(x, y, verbose_code_parts):
    guard = OBJECT_ALIASING(verbose_code_parts)
    x._add(guard)
    y._leafs.append(guard)


def install_no_tensor_aliasing_guard(managers, tensor_names, verbose_code_parts):
    guard = NO_TENSOR_ALIASING(tensor_names, verbose_code_parts)
    for i, m in enumerate(managers):
        if i == 0:
            m._add(guard)
        else:
            m._leafs.append(guard)


def install_storage_overlapping_guard(*args):
    raise NotImplementedError("torch._C._dynamo.guards.install_storage_overlapping_guard is not supported")


def check_type_id(obj, type_id):
    return id(type(obj)) == type_id


def check_obj_id(obj, obj_id):
    return id(obj) == obj_id


def dict_version(d):
    raise NotImplementedError("torch._C._dynamo.guards.dict_version is not supported")


def assert_size_stride(item, size, stride, op_name=None):
    """Fails unless a tensor has these sizes and strides; strides of dimensions of one element do not count."""
    if not isinstance(item, torch.Tensor):
        raise TypeError("expected Tensor()")
    if item.dim() != len(size) or len(size) != len(stride):
        raise AssertionError("wrong number of dimensions")
    bad = []
    for i, (want, s, have, h) in enumerate(zip(size, stride, item.size(), item.stride())):
        if want != have or s != h and have > 1:
            bad.append(f"expected size {have}=={want}, stride {h}=={s} at dim={i}")
    if bad and item.numel() > 0 or any(w != h for w, h in zip(size, item.size())):
        raise AssertionError("; ".join(bad))


def check_overlapping(*args):
    raise NotImplementedError("torch._C._dynamo.guards.check_overlapping is not supported")


class GlobalStateGuard:
    """The modes of the process as they are now."""

    def __init__(self):
        self._state = _native.global_state()

    def check(self):
        return not self.reason()

    def reason(self):
        return _native.global_state_changed(self._state)
