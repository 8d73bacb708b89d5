"""Container types."""
from _whittle import native as _native
import sys as _sys
from operator import itemgetter as _itemgetter
from . import abc


@_native
class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        v = self[key]
        if last:
            dict.__delitem__(self, key)
            dict.__setitem__(self, key, v)
        else:
            rest = list(self.items())
            dict.clear(self)
            dict.__setitem__(self, key, v)
            for k, x in rest:
                if k != key:
                    dict.__setitem__(self, k, x)

    def popitem(self, last=True):
        if not self:
            raise KeyError('dictionary is empty')
        if last:
            return dict.popitem(self)
        k = next(iter(self))
        return k, self.pop(k)

    def copy(self): return self.__class__(self)

    def __repr__(self):
        if not self:
            return '%s()' % (self.__class__.__name__,)
        return '%s(%r)' % (self.__class__.__name__, list(self.items()))

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return dict.__eq__(self, other) and list(self) == list(other)
        return dict.__eq__(self, other)

    def __or__(self, other):
        new = self.__class__(self)
        new.update(other)
        return new

    def __reduce__(self):
        return self.__class__, (list(self.items()),)

    @classmethod
    def fromkeys(cls, iterable, value=None):
        self = cls()
        for k in iterable:
            self[k] = value
        return self


@_native
class defaultdict(dict):
    def __init__(self, default_factory=None, /, *args, **kw):
        if default_factory is not None and not callable(default_factory):
            raise TypeError('first argument must be callable or None')
        super().__init__(*args, **kw)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        v = self[key] = self.default_factory()
        return v

    def copy(self): return type(self)(self.default_factory, self)
    __copy__ = copy

    def __repr__(self):
        return 'defaultdict(%r, %s)' % (self.default_factory, dict.__repr__(self))

    def __reduce__(self):
        return type(self), (self.default_factory,), None, None, iter(self.items())


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(',', ' ').split()
    field_names = list(map(str, field_names))
    if rename:
        seen = set()
        for i, n in enumerate(field_names):
            if not n.isidentifier() or n.startswith('_') or n in seen:
                field_names[i] = f'_{i}'
            seen.add(n)
    import keyword
    for n in [typename] + field_names:
        if not n.isidentifier():
            raise ValueError('Type names and field names must be valid identifiers: ' + repr(n))
        if keyword.iskeyword(n):
            raise ValueError('Type names and field names cannot be a keyword: ' + repr(n))
    seen = set()
    for n in field_names:
        if n.startswith('_') and not rename:
            raise ValueError('Field names cannot start with an underscore: ' + repr(n))
        if n in seen:
            raise ValueError('Encountered duplicate field name: ' + repr(n))
        seen.add(n)
    field_defaults = {}
    if defaults is not None:
        defaults = tuple(defaults)
        if len(defaults) > len(field_names):
            raise TypeError('Got more default values than field names')
        field_defaults = dict(zip(field_names[len(field_names) - len(defaults):], defaults))
    args = ', '.join(field_names)
    ns = {'_tuple_new': tuple.__new__, '__name__': f'namedtuple_{typename}'}
    exec(f"def __new__(_cls, {args}{',' if args else ''}): return _tuple_new(_cls, ({args}{',' if args else ''}))" if args else
         "def __new__(_cls): return _tuple_new(_cls, ())", ns)
    __new__ = ns['__new__']
    __new__.__qualname__ = f'{typename}.__new__'
    if defaults is not None:
        __new__.__defaults__ = defaults
    fields = tuple(field_names)

    def _make(cls, iterable):
        result = tuple.__new__(cls, iterable)
        if len(result) != len(fields):
            raise TypeError(f'Expected {len(fields)} arguments, got {len(result)}')
        return result

    def _replace(self, /, **kwds):
        result = self._make(map(kwds.pop, fields, self))
        if kwds:
            raise ValueError(f'Got unexpected field names: {list(kwds)!r}')
        return result

    def __repr__(self):
        return self.__class__.__name__ + '(' + ', '.join(f'{n}={v!r}' for n, v in zip(fields, self)) + ')'

    def _asdict(self): return dict(zip(self._fields, self))
    def __getnewargs__(self): return tuple(self)

    cls_ns = {'__doc__': f'{typename}({args})', '__slots__': (), '_fields': fields, '_field_defaults': field_defaults, '__new__': __new__,
              '_make': classmethod(_make), '_replace': _replace, '__repr__': __repr__, '_asdict': _asdict, '__getnewargs__': __getnewargs__,
              '__match_args__': fields}
    for i, n in enumerate(field_names):
        cls_ns[n] = property(_itemgetter(i), doc=f'Alias for field number {i}')
    if module is None:
        try:
            module = _sys._getframe(1).f_globals.get('__name__', '__main__')
        except (AttributeError, ValueError):
            pass
    if module is not None:
        cls_ns['__module__'] = module
    return type(typename, (tuple,), cls_ns)


class Counter(dict):
    def __init__(self, iterable=None, /, **kwds):
        super().__init__()
        self.update(iterable, **kwds)

    def __missing__(self, key): return 0

    def total(self): return sum(self.values())

    def most_common(self, n=None):
        items = sorted(self.items(), key=_itemgetter(1), reverse=True)
        return items if n is None else items[:n]

    def elements(self):
        for k, n in self.items():
            for _ in range(n):
                yield k

    def update(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, dict) or hasattr(iterable, 'items'):
                for k, n in iterable.items():
                    self[k] = n + self.get(k, 0)
            else:
                for k in iterable:
                    self[k] = self.get(k, 0) + 1
        for k, n in kwds.items():
            self[k] = n + self.get(k, 0)

    def subtract(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, dict) or hasattr(iterable, 'items'):
                for k, n in iterable.items():
                    self[k] = self.get(k, 0) - n
            else:
                for k in iterable:
                    self[k] = self.get(k, 0) - 1
        if kwds:
            self.subtract(kwds)

    def copy(self): return self.__class__(self)

    def __pos__(self):
        return self.__class__({k: n for k, n in self.items() if n > 0})

    def __neg__(self):
        return self.__class__({k: -n for k, n in self.items() if n < 0})

    def __delitem__(self, k):
        if k in self:
            dict.__delitem__(self, k)

    def __repr__(self):
        if not self:
            return f'{self.__class__.__name__}()'
        return f'{self.__class__.__name__}({{' + ', '.join(f'{k!r}: {n!r}' for k, n in self.most_common()) + '})'

    def __add__(self, o): return self._merge(o, lambda a, b: a + b)
    def __sub__(self, o): return self._merge(o, lambda a, b: a - b)
    def __or__(self, o): return self._merge(o, max)
    def __and__(self, o): return self._merge(o, min)

    def _merge(self, o, f):
        if not isinstance(o, Counter):
            return NotImplemented
        r = Counter()
        for k in list(self) + [k for k in o if k not in self]:
            n = f(self[k], o[k])
            if n > 0:
                r[k] = n
        return r

    def __iadd__(self, o):
        for k, n in o.items():
            self[k] += n
        return self._keep()

    def __isub__(self, o):
        for k, n in o.items():
            self[k] -= n
        return self._keep()

    def _keep(self):
        for k in [k for k, n in self.items() if n <= 0]:
            del self[k]
        return self

    def __pos__(self): return self._merge(Counter(), lambda a, b: a)
    def __reduce__(self): return self.__class__, (dict(self),)


@_native
class deque:
    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self._m = maxlen
        self._l = []
        self._r = []  # the left part, reversed
        self.extend(iterable)

    maxlen = property(lambda self: self._m)

    def _flat(self):
        if self._r:
            self._l = self._r[::-1] + self._l
            self._r = []
        return self._l

    def append(self, x):
        self._l.append(x)
        if self._m is not None and len(self) > self._m:
            self.popleft()

    def appendleft(self, x):
        self._r.append(x)
        if self._m is not None and len(self) > self._m:
            self.pop()

    def extend(self, it):
        for x in (list(it) if it is self else it):
            self.append(x)

    def extendleft(self, it):
        for x in (list(it) if it is self else it):
            self.appendleft(x)

    def pop(self):
        if self._l:
            return self._l.pop()
        if not self._r:
            raise IndexError('pop from an empty deque')
        self._l = self._r[::-1]
        self._r = []
        return self._l.pop()

    def popleft(self):
        if not self._r:
            if not self._l:
                raise IndexError('pop from an empty deque')
            h = (len(self._l) + 1) // 2
            self._r = self._l[:h][::-1]
            self._l = self._l[h:]
        return self._r.pop()

    def clear(self): self._l, self._r = [], []
    def copy(self): return type(self)(self, self._m)
    __copy__ = copy
    def __len__(self): return len(self._l) + len(self._r)

    def __getitem__(self, i):
        try:
            return self._flat()[i]
        except IndexError:
            raise IndexError('deque index out of range') from None

    def __setitem__(self, i, v): self._flat()[i] = v
    def __delitem__(self, i): del self._flat()[i]

    def __iter__(self):
        n = len(self)
        for x in self._flat():
            if len(self) != n:
                raise RuntimeError('deque mutated during iteration')
            yield x

    def __reversed__(self): return iter(self._flat()[::-1])
    def __contains__(self, x): return x in self._flat()
    def index(self, x, *a): return self._flat().index(x, *a)
    def count(self, x): return self._flat().count(x)
    def insert(self, i, x): self._flat().insert(i, x)

    def remove(self, x):
        try:
            self._flat().remove(x)
        except ValueError:
            raise ValueError('deque.remove(x): x not in deque') from None

    def reverse(self): self._flat().reverse()

    def rotate(self, n=1):
        l = self._flat()
        if l:
            n %= len(l)
            self._l = l[len(l) - n:] + l[:len(l) - n]

    def __eq__(self, o): return self._flat() == o._flat() if isinstance(o, deque) else NotImplemented
    def __lt__(self, o): return self._flat() < o._flat() if isinstance(o, deque) else NotImplemented
    def __add__(self, o): return type(self)(self._flat() + list(o), self._m)

    def __iadd__(self, o):
        self.extend(o)
        return self

    def __bool__(self): return len(self) > 0
    __hash__ = None

    def __repr__(self):
        m = '' if self._m is None else f', maxlen={self._m}'
        return f'deque({self._flat()!r}{m})'

    def __reduce__(self): return type(self), (list(self), self._m)


class ChainMap(abc.MutableMapping):
    def __init__(self, *maps): self.maps = list(maps) or [{}]
    def __missing__(self, key): raise KeyError(key)

    def __getitem__(self, key):
        for m in self.maps:
            try:
                return m[key]
            except KeyError:
                pass
        return self.__missing__(key)

    def get(self, key, default=None): return self[key] if key in self else default
    def __len__(self): return len(set().union(*self.maps))

    def __iter__(self):
        d = {}
        for m in reversed(self.maps):
            d.update(dict.fromkeys(m))
        return iter(d)

    def __contains__(self, key): return any(key in m for m in self.maps)
    def __bool__(self): return any(self.maps)
    def __repr__(self): return f'{self.__class__.__name__}({", ".join(map(repr, self.maps))})'
    def new_child(self, m=None, **kw): return self.__class__({**(m or {}), **kw} if m is None or kw else m, *self.maps)
    parents = property(lambda self: self.__class__(*self.maps[1:]))
    def __setitem__(self, k, v): self.maps[0][k] = v

    def __delitem__(self, k):
        try:
            del self.maps[0][k]
        except KeyError:
            raise KeyError(f'Key not found in the first mapping: {k!r}')


class UserDict(abc.MutableMapping):
    def __init__(self, d=None, /, **kw):
        self.data = {}
        if d is not None:
            self.update(d)
        if kw:
            self.update(kw)

    def __len__(self): return len(self.data)

    def __getitem__(self, k):
        if k in self.data:
            return self.data[k]
        if hasattr(self.__class__, '__missing__'):
            return self.__class__.__missing__(self, k)
        raise KeyError(k)

    def __setitem__(self, k, v): self.data[k] = v
    def __delitem__(self, k): del self.data[k]
    def __iter__(self): return iter(self.data)
    def __contains__(self, k): return k in self.data
    def __repr__(self): return repr(self.data)
    def copy(self): return type(self)(self.data)


class UserList(abc.MutableSequence):
    def __init__(self, init=None): self.data = list(init) if init is not None else []
    def __len__(self): return len(self.data)
    def __getitem__(self, i): return self.__class__(self.data[i]) if isinstance(i, slice) else self.data[i]
    def __setitem__(self, i, v): self.data[i] = v
    def __delitem__(self, i): del self.data[i]
    def insert(self, i, v): self.data.insert(i, v)
    def __repr__(self): return repr(self.data)
    def __eq__(self, o): return self.data == (o.data if isinstance(o, UserList) else o)


UserString = str


abc.MutableSequence.register(deque)
