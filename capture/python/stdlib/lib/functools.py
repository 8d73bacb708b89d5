"""Higher-order functions."""
from _whittle import native as _native
from types import MethodType, GenericAlias

WRAPPER_ASSIGNMENTS = ('__module__', '__name__', '__qualname__', '__doc__', '__annotations__')
WRAPPER_UPDATES = ('__dict__',)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for a in assigned:
        try:
            v = getattr(wrapped, a)
        except AttributeError:
            continue
        setattr(wrapper, a, v)
    for a in updated:
        getattr(wrapper, a).update(getattr(wrapped, a, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    return partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


@_native
class partial:
    def __new__(cls, func, /, *args, **keywords):
        if not callable(func):
            raise TypeError("the first argument must be callable")
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self = super().__new__(cls)
        self.func = func
        self.args = args
        self.keywords = keywords
        return self

    def __call__(self, /, *args, **keywords):
        if keywords:
            keywords = {**self.keywords, **keywords}
        else:
            keywords = self.keywords
        return self.func(*self.args, *args, **keywords)

    def __repr__(self):
        parts = [repr(self.func)] + [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in self.keywords.items()]
        return "functools.partial(" + ", ".join(parts) + ")"

    def __reduce__(self):
        return type(self), (self.func,) + self.args, self.keywords


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, obj, cls=None):
        f = self.func.__get__(obj, cls) if hasattr(self.func, '__get__') else self.func
        return partial(f, *self.args, **self.keywords)


_missing = object()


@_native
def reduce(function, sequence, initial=_missing):
    it = iter(sequence)
    if initial is _missing:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for x in it:
        value = function(value, x)
    return value


class _CacheInfo(tuple):
    hits = property(lambda s: s[0])
    misses = property(lambda s: s[1])
    maxsize = property(lambda s: s[2])
    currsize = property(lambda s: s[3])

    def __repr__(self):
        return "CacheInfo(hits=%r, misses=%r, maxsize=%r, currsize=%r)" % tuple(self)


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize) and isinstance(typed, bool):
        return update_wrapper(_lru(maxsize, 128, False), maxsize)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError('Expected first argument to be an integer, a callable, or None')
    return lambda f: update_wrapper(_lru(f, maxsize, typed), f)


@_native
class _lru:
    def __init__(self, f, maxsize, typed):
        self._f, self._maxsize, self._typed = f, maxsize, typed
        self._hits = self._misses = 0
        self._cache = {}

    def __call__(self, *args, **kw):
        key = args
        if kw:
            key = args + (_missing,) + tuple(kw.items())
        if self._typed:
            key = key + tuple(type(a) for a in args)
        c = self._cache
        v = c.get(key, _missing)
        if v is not _missing:
            self._hits += 1
            if self._maxsize is not None:
                del c[key]
                c[key] = v
            return v
        self._misses += 1
        v = self._f(*args, **kw)
        if self._maxsize is None or self._maxsize > 0:
            if self._maxsize is not None and len(c) >= self._maxsize and key not in c:
                del c[next(iter(c))]
            c[key] = v
        return v

    def __get__(self, obj, cls=None):
        return self if obj is None else MethodType(self, obj)

    def cache_info(self): return _CacheInfo((self._hits, self._misses, self._maxsize, len(self._cache)))
    def cache_parameters(self): return {'maxsize': self._maxsize, 'typed': self._typed}

    def cache_clear(self):
        self._cache.clear()
        self._hits = self._misses = 0


def cache(f):
    return lru_cache(maxsize=None)(f)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.attrname = None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner, name):
        if self.attrname is None:
            self.attrname = name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        d = obj.__dict__
        if self.attrname in d:
            return d[self.attrname]
        v = d[self.attrname] = self.func(obj)
        return v


def total_ordering(cls):
    def le(self, o): return self < o or self == o
    def gt(self, o): return not (self < o or self == o)
    def ge(self, o): return not self < o
    def _neg(f):
        def g(self, o):
            r = f(self, o)
            return r if r is NotImplemented else not r
        return g
    have = {n for n in ('__lt__', '__le__', '__gt__', '__ge__') if getattr(cls, n, None) is not getattr(object, n, None)}
    if not have:
        raise ValueError('must define at least one ordering operation: < > <= >=')
    root = max(have)
    if root == '__lt__':
        ops = {'__gt__': lambda s, o: NotImplemented if (r := cls.__lt__(s, o)) is NotImplemented else not r and s != o,
               '__le__': lambda s, o: NotImplemented if (r := cls.__lt__(s, o)) is NotImplemented else r or s == o,
               '__ge__': lambda s, o: NotImplemented if (r := cls.__lt__(s, o)) is NotImplemented else not r}
    elif root == '__le__':
        ops = {'__ge__': lambda s, o: NotImplemented if (r := cls.__le__(s, o)) is NotImplemented else not r or s == o,
               '__lt__': lambda s, o: NotImplemented if (r := cls.__le__(s, o)) is NotImplemented else r and s != o,
               '__gt__': lambda s, o: NotImplemented if (r := cls.__le__(s, o)) is NotImplemented else not r}
    elif root == '__gt__':
        ops = {'__lt__': lambda s, o: NotImplemented if (r := cls.__gt__(s, o)) is NotImplemented else not r and s != o,
               '__ge__': lambda s, o: NotImplemented if (r := cls.__gt__(s, o)) is NotImplemented else r or s == o,
               '__le__': lambda s, o: NotImplemented if (r := cls.__gt__(s, o)) is NotImplemented else not r}
    else:
        ops = {'__le__': lambda s, o: NotImplemented if (r := cls.__ge__(s, o)) is NotImplemented else not r or s == o,
               '__gt__': lambda s, o: NotImplemented if (r := cls.__ge__(s, o)) is NotImplemented else r and s != o,
               '__lt__': lambda s, o: NotImplemented if (r := cls.__ge__(s, o)) is NotImplemented else not r}
    for n, f in ops.items():
        if n not in have:
            f.__name__ = n
            setattr(cls, n, f)
    return cls


def cmp_to_key(mycmp):
    class K:
        __slots__ = ['obj']
        def __init__(self, obj): self.obj = obj
        def __lt__(self, o): return mycmp(self.obj, o.obj) < 0
        def __gt__(self, o): return mycmp(self.obj, o.obj) > 0
        def __eq__(self, o): return mycmp(self.obj, o.obj) == 0
        def __le__(self, o): return mycmp(self.obj, o.obj) <= 0
        def __ge__(self, o): return mycmp(self.obj, o.obj) >= 0
        __hash__ = None
    return K


def singledispatch(func):
    registry = {object: func}

    def dispatch(cls):
        for c in cls.__mro__:
            if c in registry:
                return registry[c]
        for c, f in registry.items():
            if c is not object and issubclass(cls, c):
                return f
        return func

    def register(cls, f=None):
        if f is None:
            if isinstance(cls, type):
                return lambda f: register(cls, f)
            ann = getattr(cls, '__annotations__', {})
            if not ann:
                raise TypeError("Invalid first argument to `register()`: %r. Use either `@register(some_class)` or plain `@register` on an annotated function." % (cls,))
            f = cls
            cls = next(iter(ann.values()))
            if isinstance(cls, str):
                cls = eval(cls, f.__globals__)
        registry[cls] = f
        return f

    def wrapper(*args, **kw):
        if not args:
            raise TypeError(f'{getattr(func, "__name__", "singledispatch function")} requires at least 1 positional argument')
        return dispatch(args[0].__class__)(*args, **kw)

    wrapper.register, wrapper.dispatch, wrapper.registry = register, dispatch, registry
    update_wrapper(wrapper, func)
    return wrapper


class singledispatchmethod:
    def __init__(self, func):
        self.dispatcher = singledispatch(func)
        self.func = func

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method) if False else self.dispatcher.register(cls, method)

    def __get__(self, obj, cls=None):
        def _method(*args, **kwargs):
            return self.dispatcher.dispatch(args[0].__class__).__get__(obj, cls)(*args, **kwargs)
        _method.register = self.register
        return _method
