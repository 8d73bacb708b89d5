"""Weak references that are in fact strong: objects live until the interpreter ends."""
from _weak import ref, ReferenceType


class _Proxy:
    def __init__(self, o): object.__setattr__(self, '_o', o)
    def __getattr__(self, n): return getattr(object.__getattribute__(self, '_o'), n)
    def __setattr__(self, n, v): setattr(object.__getattribute__(self, '_o'), n, v)
    def __call__(self, *a, **k): return object.__getattribute__(self, '_o')(*a, **k)
    def __repr__(self): return repr(object.__getattribute__(self, '_o'))
    def __eq__(self, o): return object.__getattribute__(self, '_o') == o


def proxy(o, callback=None): return _Proxy(o)


class WeakMethod(ref):
    pass


class WeakValueDictionary(dict):
    def valuerefs(self): return [ref(v) for v in self.values()]


class WeakKeyDictionary:
    """Keys are told apart by identity where they have no hash of their own."""

    def __init__(self, d=None):
        self._d = {}
        if d is not None:
            self.update(d)

    def __getitem__(self, k): return self._d[k]
    def __setitem__(self, k, v): self._d[k] = v
    def __delitem__(self, k): del self._d[k]
    def __contains__(self, k): return k in self._d
    def __iter__(self): return iter(list(self._d))
    def __len__(self): return len(self._d)
    def keys(self): return self._d.keys()
    def values(self): return self._d.values()
    def items(self): return self._d.items()
    def get(self, k, d=None): return self._d.get(k, d)
    def setdefault(self, k, d=None): return self._d.setdefault(k, d)
    def pop(self, k, *d): return self._d.pop(k, *d)
    def clear(self): self._d.clear()
    def keyrefs(self): return [ref(k) for k in self._d]
    def copy(self): return WeakKeyDictionary(self._d)

    def update(self, d=(), **kw):
        for k, v in dict(d, **kw).items():
            self[k] = v


class WeakSet(set):
    pass


class finalize:
    def __init__(self, obj, func, /, *args, **kw): self._c = (obj, func, args, kw)
    alive = property(lambda self: self._c is not None)
    atexit = True

    def __call__(self, _=None):
        if self._c is not None:
            o, f, a, k = self._c
            self._c = None
            return f(*a, **k)

    def detach(self):
        c, self._c = self._c, None
        return c


def getweakrefcount(o): return 0
def getweakrefs(o): return []
ProxyType = CallableProxyType = _Proxy
ProxyTypes = (_Proxy,)
