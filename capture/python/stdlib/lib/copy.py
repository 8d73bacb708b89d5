"""Shallow and deep copies."""
import types


class Error(Exception):
    pass


error = Error
_atomic = (type(None), int, float, bool, complex, str, bytes, tuple, frozenset, type, range, slice, type(Ellipsis), type(NotImplemented),
           types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodDescriptorType, property, types.CodeType)


def copy(x):
    cls = type(x)
    if cls in _atomic or issubclass(cls, type):
        return x
    if cls in (list, dict, set, bytearray):
        return x.copy() if cls is not bytearray else bytearray(x)
    c = getattr(cls, "__copy__", None)
    if c is not None:
        return c(x)
    rv = x.__reduce_ex__(4)
    if isinstance(rv, str):
        return x
    return _reconstruct(x, None, *_native(x, rv))


def _native(x, rv):
    """Built-in content of a subclass of list, dict or set goes through the item iterators."""
    rv = tuple(rv)
    if isinstance(x, list) and len(rv) < 4:
        rv = rv + (None,) * (3 - len(rv)) + (iter(list.copy(x)),)
    elif isinstance(x, dict) and len(rv) < 4 and rv[0] is not type(x):
        rv = rv + (None,) * (3 - len(rv)) + (None, iter(list(dict.items(x))))
    elif isinstance(x, set) and len(rv) < 4:
        rv = (type(x), (list(x),)) + rv[2:]
    return rv


def deepcopy(x, memo=None, _nil=[]):
    if memo is None:
        memo = {}
    d = id(x)
    y = memo.get(d, _nil)
    if y is not _nil:
        return y
    cls = type(x)
    if cls is list:
        y = []
        memo[d] = y
        for a in x:
            y.append(deepcopy(a, memo))
    elif cls is dict:
        y = {}
        memo[d] = y
        for k, v in x.items():
            y[deepcopy(k, memo)] = deepcopy(v, memo)
    elif cls is tuple:
        y = [deepcopy(a, memo) for a in x]
        if d in memo:
            return memo[d]
        if all(a is b for a, b in zip(x, y)):
            y = x
        else:
            y = tuple(y)
    elif cls is set or cls is frozenset:
        y = cls([deepcopy(a, memo) for a in x])
    elif cls in _atomic or issubclass(cls, type):
        return x
    elif cls is types.MethodType:
        y = cls(x.__func__, deepcopy(x.__self__, memo))
    elif cls is bytearray:
        y = bytearray(x)
    else:
        c = getattr(x, "__deepcopy__", None)
        if c is not None:
            y = c(memo)
        else:
            rv = x.__reduce_ex__(4)
            y = x if isinstance(rv, str) else _reconstruct(x, memo, *_native(x, rv))
    if y is not x:
        memo[d] = y
        memo.setdefault(id(memo), []).append(x)
    return y


def _reconstruct(x, memo, func, args, state=None, listiter=None, dictiter=None):
    deep = memo is not None
    if deep and args:
        args = tuple(deepcopy(a, memo) if not isinstance(a, type) else a for a in args)
    y = func(*args)
    if deep:
        memo[id(x)] = y
    if state is not None:
        if deep:
            state = deepcopy(state, memo)
        if hasattr(y, '__setstate__'):
            y.__setstate__(state)
        else:
            slots = None
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            if state is not None:
                y.__dict__.update(state)
            if slots is not None:
                for k, v in slots.items():
                    setattr(y, k, v)
    if listiter is not None:
        for item in listiter:
            y.append(deepcopy(item, memo) if deep else item)
    if dictiter is not None:
        for k, v in dictiter:
            if deep:
                k, v = deepcopy(k, memo), deepcopy(v, memo)
            y[k] = v
    return y
