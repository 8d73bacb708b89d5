"""Abstract base classes of containers."""
from abc import ABCMeta, abstractmethod
import types as _t
import _whittle


def _has(C, *names):
    for n in names:
        for B in C.__mro__:
            if n in B.__dict__:
                if B.__dict__[n] is None:
                    return NotImplemented
                break
        else:
            return NotImplemented
    return True


def _one(name, methods, bases=(), extra=None):
    def hook(cls, C):
        return _has(C, *methods) if cls is me else NotImplemented
    ns = {'__subclasshook__': classmethod(hook), '__slots__': (), '__module__': 'collections.abc', '__class_getitem__': classmethod(lambda c, k: _t.GenericAlias(c, k if isinstance(k, tuple) else (k,)))}
    for m in methods:
        def f(self, *a): raise NotImplementedError
        f.__name__ = m
        ns[m] = abstractmethod(f)
    ns.update(extra or {})
    me = ABCMeta(name, bases, ns)
    return me


Hashable = _one('Hashable', ['__hash__'])
Iterable = _one('Iterable', ['__iter__'])
Sized = _one('Sized', ['__len__'])
Container = _one('Container', ['__contains__'])
Callable = _one('Callable', ['__call__'])
Iterator = _one('Iterator', ['__next__', '__iter__'], (Iterable,), {'__iter__': lambda self: self})
Reversible = _one('Reversible', ['__reversed__', '__iter__'], (Iterable,))
Collection = _one('Collection', ['__len__', '__iter__', '__contains__'], (Sized, Iterable, Container))
Awaitable = _one('Awaitable', ['__await__'])
Coroutine = _one('Coroutine', ['__await__', 'send', 'throw', 'close'], (Awaitable,))
AsyncIterable = _one('AsyncIterable', ['__aiter__'])
AsyncIterator = _one('AsyncIterator', ['__anext__', '__aiter__'], (AsyncIterable,))
Generator = _one('Generator', ['__iter__', '__next__', 'send', 'throw', 'close'], (Iterator,))
Generator.register(_t.GeneratorType)


class Sequence(Reversible, Collection):
    __slots__ = ()
    __reversed__ = lambda self: (self[i] for i in reversed(range(len(self))))

    @abstractmethod
    def __getitem__(self, i): raise IndexError

    def __iter__(self):
        i = 0
        try:
            while True:
                yield self[i]
                i += 1
        except IndexError:
            return

    def __contains__(self, value):
        return any(v is value or v == value for v in self)

    def index(self, value, start=0, stop=None):
        for i in range(start, len(self) if stop is None else stop):
            if self[i] is value or self[i] == value:
                return i
        raise ValueError

    def count(self, value): return sum(1 for v in self if v is value or v == value)


class MutableSequence(Sequence):
    __slots__ = ()

    @abstractmethod
    def __setitem__(self, i, v): raise IndexError
    @abstractmethod
    def __delitem__(self, i): raise IndexError
    @abstractmethod
    def insert(self, i, v): raise IndexError

    def append(self, v): self.insert(len(self), v)

    def clear(self):
        while len(self):
            self.pop()

    def extend(self, vs):
        for v in (list(vs) if vs is self else vs):
            self.append(v)

    def pop(self, i=-1):
        v = self[i]
        del self[i]
        return v

    def remove(self, v): del self[self.index(v)]

    def reverse(self):
        n = len(self)
        for i in range(n // 2):
            self[i], self[n - i - 1] = self[n - i - 1], self[i]

    def __iadd__(self, vs):
        self.extend(vs)
        return self


class Set(Collection):
    __slots__ = ()

    @classmethod
    def _from_iterable(cls, it): return cls(it)

    def __le__(self, o): return len(self) <= len(o) and all(e in o for e in self) if isinstance(o, Set) else NotImplemented
    def __lt__(self, o): return len(self) < len(o) and self.__le__(o) if isinstance(o, Set) else NotImplemented
    def __ge__(self, o): return len(self) >= len(o) and all(e in self for e in o) if isinstance(o, Set) else NotImplemented
    def __gt__(self, o): return len(self) > len(o) and self.__ge__(o) if isinstance(o, Set) else NotImplemented
    def __eq__(self, o): return len(self) == len(o) and self.__le__(o) if isinstance(o, Set) else NotImplemented
    def __and__(self, o): return self._from_iterable(v for v in o if v in self)
    __rand__ = __and__
    def __or__(self, o): return self._from_iterable([e for s in (self, o) for e in s])
    __ror__ = __or__
    def __sub__(self, o): return self._from_iterable(v for v in self if v not in o)
    def __rsub__(self, o): return self._from_iterable(v for v in o if v not in self)
    def __xor__(self, o): return (self - o) | (self._from_iterable(o) - self)
    __rxor__ = __xor__
    def isdisjoint(self, o): return not any(v in self for v in o)


class MutableSet(Set):
    __slots__ = ()

    @abstractmethod
    def add(self, v): raise NotImplementedError
    @abstractmethod
    def discard(self, v): raise NotImplementedError

    def remove(self, v):
        if v not in self:
            raise KeyError(v)
        self.discard(v)

    def pop(self):
        for v in self:
            self.discard(v)
            return v
        raise KeyError

    def clear(self):
        while len(self):
            self.pop()

    def __ior__(self, it):
        for v in it:
            self.add(v)
        return self

    def __iand__(self, it):
        for v in list(self - it):
            self.discard(v)
        return self

    def __isub__(self, it):
        for v in list(it):
            self.discard(v)
        return self


class Mapping(Collection):
    __slots__ = ()
    __reversed__ = None

    @abstractmethod
    def __getitem__(self, k): raise KeyError

    def get(self, k, default=None):
        try:
            return self[k]
        except KeyError:
            return default

    def __contains__(self, k):
        try:
            self[k]
        except KeyError:
            return False
        return True

    def keys(self): return KeysView(self)
    def items(self): return ItemsView(self)
    def values(self): return ValuesView(self)
    def __eq__(self, o): return dict(self.items()) == dict(o.items()) if isinstance(o, Mapping) else NotImplemented


class MappingView(Sized):
    def __init__(self, m): self._mapping = m
    def __len__(self): return len(self._mapping)
    def __repr__(self): return f'{type(self).__name__}({self._mapping!r})'


class KeysView(MappingView, Set):
    @classmethod
    def _from_iterable(cls, it): return set(it)
    def __contains__(self, k): return k in self._mapping
    def __iter__(self): yield from self._mapping


class ItemsView(MappingView, Set):
    @classmethod
    def _from_iterable(cls, it): return set(it)

    def __contains__(self, it):
        k, v = it
        try:
            w = self._mapping[k]
        except KeyError:
            return False
        return w is v or w == v

    def __iter__(self):
        for k in self._mapping:
            yield (k, self._mapping[k])


class ValuesView(MappingView, Collection):
    def __contains__(self, value): return any(self._mapping[k] == value for k in self._mapping)

    def __iter__(self):
        for k in self._mapping:
            yield self._mapping[k]


class MutableMapping(Mapping):
    __slots__ = ()

    @abstractmethod
    def __setitem__(self, k, v): raise KeyError
    @abstractmethod
    def __delitem__(self, k): raise KeyError

    def pop(self, k, *d):
        try:
            v = self[k]
        except KeyError:
            if d:
                return d[0]
            raise
        del self[k]
        return v

    def popitem(self):
        for k in self:
            v = self[k]
            del self[k]
            return k, v
        raise KeyError

    def clear(self):
        while len(self):
            self.popitem()

    def update(self, other=(), /, **kw):
        if isinstance(other, Mapping) or hasattr(other, 'keys'):
            for k in other.keys():
                self[k] = other[k]
        else:
            for k, v in other:
                self[k] = v
        for k, v in kw.items():
            self[k] = v

    def setdefault(self, k, default=None):
        try:
            return self[k]
        except KeyError:
            self[k] = default
        return default


class ByteString(Sequence):
    __slots__ = ()


for _c in (tuple, str, range, bytes):
    Sequence.register(_c)
Sequence.register(memoryview)
MutableSequence.register(list)
MutableSequence.register(bytearray)
ByteString.register(bytes)
Set.register(frozenset)
MutableSet.register(set)
Mapping.register(_t.MappingProxyType)
MutableMapping.register(dict)
KeysView.register(_whittle.dict_keys)
ValuesView.register(_whittle.dict_values)
ItemsView.register(_whittle.dict_items)
