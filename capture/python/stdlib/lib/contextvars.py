"""Variables whose value depends on the context that runs."""
from _whittle import native as _native

_missing = object()


@_native
class Token:
    MISSING = type('Missing', (), {'__repr__': lambda self: '<Token.MISSING>'})()

    def __init__(self, context, var, old): self._context, self.var, self.old_value, self._used = context, var, old, False


@_native
class ContextVar:
    def __init__(self, name, *, default=_missing):
        if not isinstance(name, str):
            raise TypeError("context variable name must be a str")
        self.name, self._default = name, default

    def get(self, default=_missing):
        v = _stack[-1]._data.get(self, _missing)
        if v is not _missing:
            return v
        if default is not _missing:
            return default
        if self._default is not _missing:
            return self._default
        raise LookupError(self)

    def set(self, value):
        data = _stack[-1]._data
        t = Token(_stack[-1], self, data.get(self, Token.MISSING))
        data[self] = value
        return t

    def reset(self, token):
        if token._used:
            raise RuntimeError(f"{token!r} has already been used once")
        if token.var is not self:
            raise ValueError(f"{token!r} was created by a different ContextVar")
        if token._context is not _stack[-1]:
            raise ValueError(f"{token!r} was created in a different Context")
        token._used = True
        if token.old_value is Token.MISSING:
            del _stack[-1]._data[self]
        else:
            _stack[-1]._data[self] = token.old_value

    def __class_getitem__(cls, item): return cls


@_native
class Context:
    def __init__(self): self._data, self._entered = {}, False

    def run(self, callable, /, *args, **kwargs):
        if self._entered:
            raise RuntimeError(f"cannot enter context: {self!r} is already entered")
        self._entered = True
        _stack.append(self)
        try:
            return callable(*args, **kwargs)
        finally:
            _stack.pop()
            self._entered = False

    def copy(self):
        c = Context()
        c._data.update(self._data)
        return c

    def get(self, var, default=None): return self._data.get(var, default)
    def __getitem__(self, var): return self._data[var]
    def __contains__(self, var): return var in self._data
    def __iter__(self): return iter(self._data)
    def __len__(self): return len(self._data)
    def keys(self): return self._data.keys()
    def values(self): return self._data.values()
    def items(self): return self._data.items()


_stack = [Context()]
def copy_context(): return _stack[-1].copy()
