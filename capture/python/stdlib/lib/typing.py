"""Type hints: names that subscript and print, and little more."""
import collections
import collections.abc
import contextlib
import functools
import operator
import sys
import types
from types import GenericAlias


def _name(t):
    if t is ...:
        return '...'
    if isinstance(t, type) and not isinstance(t, GenericAlias):
        return t.__qualname__ if t.__module__ == 'builtins' else f'{t.__module__}.{t.__qualname__}'
    if isinstance(t, (tuple, list)):
        return '[' + ', '.join(map(_name, t)) + ']'
    if isinstance(t, types.FunctionType):
        return t.__name__
    return repr(t)


class _Final:
    pass


class _SpecialForm(_Final):
    def __init__(self, name, getitem=None):
        self._name, self._getitem = name, getitem

    def __repr__(self): return 'typing.' + self._name

    def __getitem__(self, p):
        if self._getitem is None:
            raise TypeError(f"{self!r} is not subscriptable")
        return self._getitem(self, p)

    def __call__(self, *a, **k): raise TypeError(f"Cannot instantiate {self!r}")
    def __or__(self, o): return Union[self, o]
    def __ror__(self, o): return Union[o, self]
    def __mro_entries__(self, bases): raise TypeError(f"Cannot subclass {self!r}")
    def __reduce__(self): return self._name


class _GenericAlias(_Final):
    def __init__(self, origin, args, *, name=None, inst=True):
        if not isinstance(args, tuple):
            args = (args,)
        self.__origin__, self.__args__, self._name, self._inst = origin, args, name, inst
        ps = []
        for a in args:
            for p in ([a] if isinstance(a, TypeVar) else getattr(a, '__parameters__', ()) if not isinstance(a, type) else ()):
                if p not in ps:
                    ps.append(p)
        self.__parameters__ = tuple(ps)
        self.__module__ = 'typing' if name else getattr(origin, '__module__', 'typing')

    def __getitem__(self, params):
        if not isinstance(params, tuple):
            params = (params,)
        if not self.__parameters__:
            raise TypeError(f"{self} is not a generic class")
        sub = dict(zip(self.__parameters__, params))

        def s(a):
            if a in sub if isinstance(a, TypeVar) else False:
                return sub[a]
            if isinstance(a, _GenericAlias) and a.__parameters__:
                return a[tuple(sub.get(p, p) for p in a.__parameters__)]
            return a
        return type(self)(self.__origin__, tuple(s(a) for a in self.__args__), name=self._name, inst=self._inst)

    def __call__(self, *args, **kw):
        if not self._inst:
            raise TypeError(f"Type {self._name} cannot be instantiated; use {self.__origin__.__name__}() instead")
        r = self.__origin__(*args, **kw)
        try:
            r.__orig_class__ = self
        except AttributeError:
            pass
        return r

    def __getattr__(self, attr):
        if attr.startswith('__') and attr.endswith('__') or '__origin__' not in self.__dict__:
            raise AttributeError(attr)
        return getattr(self.__origin__, attr)

    def __mro_entries__(self, bases):
        if self.__origin__ is Generic:
            return (Generic,)
        if isinstance(self.__origin__, _SpecialForm):
            raise TypeError(f"Cannot subclass {self!r}")
        r = [self.__origin__]
        if isinstance(self.__origin__, type) and not issubclass(self.__origin__, Generic) and self.__parameters__ and not any(
                isinstance(b, _GenericAlias) and b.__origin__ is Generic for b in bases):
            i = bases.index(self)
            if not any(isinstance(b, _GenericAlias) or isinstance(b, type) and issubclass(b, Generic) for b in bases[i + 1:]):
                r.append(Generic)
        return tuple(r)

    def __eq__(self, o):
        return isinstance(o, _GenericAlias) and self.__origin__ == o.__origin__ and self.__args__ == o.__args__

    def __hash__(self): return hash((self.__origin__, self.__args__))
    def __or__(self, o): return Union[self, o]
    def __ror__(self, o): return Union[o, self]

    def __repr__(self):
        n = 'typing.' + self._name if self._name else _name(self.__origin__)
        if self.__origin__ is collections.abc.Callable:
            if self.__args__[0] is ...:
                return f'{n}[..., {_name(self.__args__[-1])}]'
            return f'{n}[[{", ".join(map(_name, self.__args__[:-1]))}], {_name(self.__args__[-1])}]'
        return f'{n}[{", ".join(map(_name, self.__args__)) or "()"}]'

    def __instancecheck__(self, obj): return self.__subclasscheck__(type(obj))
    def __subclasscheck__(self, cls): raise TypeError("Subscripted generics cannot be used with class and instance checks")


class _UnionAlias(_GenericAlias):
    def __repr__(self):
        a = self.__args__
        if len(a) == 2 and type(None) in a:
            return f'typing.Optional[{_name(a[0] if a[1] is type(None) else a[1])}]'
        return f'typing.Union[{", ".join(map(_name, a))}]'

    def __eq__(self, o): return isinstance(o, (_UnionAlias, types.UnionType)) and set(self.__args__) == set(o.__args__)
    def __hash__(self): return hash(frozenset(self.__args__))
    def __instancecheck__(self, obj): return isinstance(obj, self.__args__)
    def __subclasscheck__(self, cls): return issubclass(cls, self.__args__)


_COUNTS = dict.fromkeys('List Set FrozenSet Type Counter Deque Hashable Sized Iterable Iterator Reversible Collection Container Sequence MutableSequence '
                        'MutableSet KeysView ValuesView MappingView Awaitable AsyncIterable AsyncIterator AbstractSet ContextManager Pattern Match'.split(), 1)
_COUNTS.update(dict.fromkeys('Dict DefaultDict OrderedDict ChainMap Mapping MutableMapping ItemsView AsyncGenerator'.split(), 2), Generator=3, Coroutine=3)


class _Alias(_SpecialForm):
    """List, Dict and their kind: the old names of types."""

    def __init__(self, origin, name=None, nparams=-1):
        self.__origin__ = origin
        super().__init__(name or origin.__name__)

    def __getitem__(self, p):
        if not isinstance(p, tuple):
            p = (p,)
        want = _COUNTS.get(self._name)
        if want is not None and len(p) != want:
            raise TypeError(f"Too {'many' if len(p) > want else 'few'} arguments for {self!r}; actual {len(p)}, expected {want}")
        if self.__origin__ is collections.abc.Callable:
            if len(p) != 2:
                raise TypeError("Callable must be used as Callable[[arg, ...], result].")
            a, r = p
            p = (tuple(a) if isinstance(a, list) else (a,)) + (r,)
        return _GenericAlias(self.__origin__, tuple(type(None) if x is None else ForwardRef(x) if isinstance(x, str) else x for x in p), name=self._name, inst=False)

    def __call__(self, *a, **k): return self.__origin__(*a, **k)
    def __mro_entries__(self, bases): return (self.__origin__,)
    def __instancecheck__(self, obj): return isinstance(obj, self.__origin__)
    def __subclasscheck__(self, cls): return issubclass(cls, self.__origin__)

    def __getattr__(self, attr):
        if attr.startswith('__'):
            raise AttributeError(attr)
        return getattr(self.__origin__, attr)


def _union(self, p):
    if p == ():
        raise TypeError("Cannot take a Union of no types.")
    if not isinstance(p, tuple):
        p = (p,)
    out = []
    for x in p:
        if x is None:
            x = type(None)
        if isinstance(x, str):
            x = ForwardRef(x)
        for y in (x.__args__ if isinstance(x, (_UnionAlias, types.UnionType)) else (x,)):
            if y not in out:
                out.append(y)
    return out[0] if len(out) == 1 else _UnionAlias(Union, tuple(out), name='Union')


def _plain(self, p): return _GenericAlias(self, p if isinstance(p, tuple) else (p,), name=self._name)


class _AnyMeta(type):
    def __instancecheck__(self, obj):
        if self is Any:
            raise TypeError("typing.Any cannot be used with isinstance()")
        return super().__instancecheck__(obj)

    def __repr__(self): return "typing.Any" if self is Any else super().__repr__()


class Any(metaclass=_AnyMeta):
    def __new__(cls, *args, **kwargs):
        if cls is Any:
            raise TypeError("Any cannot be instantiated")
        return super().__new__(cls)


Union = _SpecialForm('Union', _union)
def _optional(self, p):
    if isinstance(p, tuple):
        raise TypeError(f"typing.Optional requires a single type. Got {p!r:.100}.")
    return Union[p, None]


class _LiteralAlias(_GenericAlias):
    def __repr__(self): return f'typing.Literal[{", ".join(map(repr, self.__args__))}]'
    def __eq__(self, o): return isinstance(o, _LiteralAlias) and {(type(x), x) for x in self.__args__} == {(type(x), x) for x in o.__args__}
    def __hash__(self): return hash(frozenset((type(x), x) for x in self.__args__))


def _literal(self, p):
    out = []
    for x in p if isinstance(p, tuple) else (p,):
        for y in x.__args__ if isinstance(x, _LiteralAlias) else (x,):
            if not any(type(y) is type(z) and y == z for z in out):
                out.append(y)
    return _LiteralAlias(self, tuple(out), name='Literal')


Optional = _SpecialForm('Optional', _optional)
Literal = _SpecialForm('Literal', _literal)
ClassVar = _SpecialForm('ClassVar', _plain)
Final = _SpecialForm('Final', _plain)
Concatenate = _SpecialForm('Concatenate', _plain)
TypeGuard = _SpecialForm('TypeGuard', _plain)
Required = _SpecialForm('Required', _plain)
NotRequired = _SpecialForm('NotRequired', _plain)
Unpack = _SpecialForm('Unpack', _plain)
NoReturn = _SpecialForm('NoReturn')
Never = _SpecialForm('Never')
Self = _SpecialForm('Self')
LiteralString = _SpecialForm('LiteralString')
TypeAlias = _SpecialForm('TypeAlias')


class _Annotated(_GenericAlias):
    def __init__(self, origin, metadata):
        super().__init__(origin, (origin,), name='Annotated')
        self.__metadata__ = metadata

    def __repr__(self): return f"typing.Annotated[{_name(self.__origin__)}, {', '.join(map(repr, self.__metadata__))}]"


Annotated = _SpecialForm('Annotated', lambda self, p: _Annotated(p[0], tuple(p[1:])))


class ForwardRef(_Final):
    def __init__(self, arg, is_argument=True, module=None, *, is_class=False):
        self.__forward_arg__ = arg

    def __repr__(self): return f'ForwardRef({self.__forward_arg__!r})'
    def __eq__(self, o): return isinstance(o, ForwardRef) and self.__forward_arg__ == o.__forward_arg__
    def __hash__(self): return hash(self.__forward_arg__)


class TypeVar(_Final):
    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False):
        if covariant and contravariant:
            raise ValueError("Bivariant types are not supported.")
        if len(constraints) == 1:
            raise TypeError("A single constraint is not allowed")
        if constraints and bound is not None:
            raise TypeError("Constraints cannot be combined with bound=...")
        self.__name__, self.__constraints__, self.__bound__ = name, constraints, bound
        self.__covariant__, self.__contravariant__ = covariant, contravariant
        try:
            self.__module__ = sys._getframe(1).f_globals.get('__name__', '__main__')
        except ValueError:
            pass

    def __repr__(self): return ('+' if self.__covariant__ else '-' if self.__contravariant__ else '~') + self.__name__
    def __or__(self, o): return Union[self, o]
    def __ror__(self, o): return Union[o, self]


class ParamSpec(TypeVar):
    args = property(lambda self: self)
    kwargs = property(lambda self: self)


class TypeVarTuple(TypeVar):
    def __iter__(self): yield self


T, KT, VT, T_co, T_contra = TypeVar('T'), TypeVar('KT'), TypeVar('VT'), TypeVar('T_co', covariant=True), TypeVar('T_contra', contravariant=True)
AnyStr = TypeVar('AnyStr', bytes, str)


class Generic:
    __slots__ = ()

    @classmethod
    def __class_getitem__(cls, params):
        if not isinstance(params, tuple):
            params = (params,)
        if cls in (Generic, Protocol) and not all(isinstance(p, TypeVar) for p in params):
            raise TypeError(f"Parameters to {cls.__name__}[...] must all be type variables or parameter specification variables.")
        if cls not in (Generic, Protocol):
            want = getattr(cls, '__parameters__', ())
            if not want:
                raise TypeError(f"{cls} is not a generic class")
            if len(want) != len(params) and not any(isinstance(p, (ParamSpec, TypeVarTuple)) for p in want):
                raise TypeError(f"Too {'many' if len(params) > len(want) else 'few'} arguments for {cls}; actual {len(params)}, expected {len(want)}")
        return _GenericAlias(cls, tuple(type(None) if p is None else p for p in params))

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        ps = []
        for b in cls.__dict__.get('__orig_bases__', ()):
            for p in getattr(b, '__parameters__', ()):
                if p not in ps:
                    ps.append(p)
        cls.__parameters__ = tuple(ps)


import abc as _abc


class _ProtocolMeta(_abc.ABCMeta):
    def __instancecheck__(cls, instance):
        if cls.__dict__.get('_is_protocol', False):
            if not getattr(cls, '_is_runtime', False):
                raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
            return all(hasattr(instance, a) for a in _members(cls))
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, sub):
        if cls.__dict__.get('_is_protocol', False) and cls is not Protocol:
            if not getattr(cls, '_is_runtime', False):
                raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
            if not all(callable(getattr(cls, a, None)) for a in _members(cls)):
                raise TypeError("Protocols with non-method members don't support issubclass()")
            return all(hasattr(sub, a) for a in _members(cls))
        return super().__subclasscheck__(sub)


def _members(cls):
    out = set()
    for b in cls.__mro__[:-1]:
        if b.__name__ in ('Protocol', 'Generic'):
            continue
        for a in list(b.__dict__) + list(b.__dict__.get('__annotations__', {})):
            if not a.startswith('_abc_') and a not in ('__abstractmethods__', '__annotations__', '__dict__', '__doc__', '__init__', '__module__', '__new__',
                                                       '__slots__', '__subclasshook__', '__weakref__', '__class_getitem__', '__parameters__', '_is_protocol', '_is_runtime',
                                                       '__orig_bases__', '__qualname__', '__hash__', '__match_args__', '__init_subclass__'):
                out.add(a)
    return out


def _no_init(self, *args, **kwargs):
    if type(self)._is_protocol:
        raise TypeError('Protocols cannot be instantiated')


def _next_init(cls):
    for b in cls.__mro__[1:]:
        init = b.__dict__.get('__init__', _no_init)
        if init is not _no_init:
            return init
    return object.__init__


class Protocol(Generic, metaclass=_ProtocolMeta):
    __slots__ = ()
    _is_protocol = True

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        cls._is_protocol = any(b is Protocol for b in cls.__bases__)
        if cls._is_protocol and cls.__init__ is object.__init__ or cls.__init__ is _no_init:
            cls.__init__ = _no_init if cls._is_protocol else _next_init(cls)


def runtime_checkable(cls):
    if not (isinstance(cls, type) and issubclass(cls, Generic)) or not getattr(cls, '_is_protocol', False):
        raise TypeError(f'@runtime_checkable can be only applied to protocol classes, got {cls!r}')
    cls._is_runtime = True
    return cls


runtime = runtime_checkable


@runtime_checkable
class SupportsInt(Protocol):
    def __int__(self): ...


@runtime_checkable
class SupportsFloat(Protocol):
    def __float__(self): ...


@runtime_checkable
class SupportsIndex(Protocol):
    def __index__(self): ...


@runtime_checkable
class SupportsAbs(Protocol[T_co]):
    def __abs__(self): ...


@runtime_checkable
class SupportsBytes(Protocol):
    def __bytes__(self): ...


@runtime_checkable
class SupportsRound(Protocol[T_co]):
    def __round__(self, n=0): ...


List = _Alias(list, 'List')
Dict = _Alias(dict, 'Dict')
Set = _Alias(set, 'Set')
FrozenSet = _Alias(frozenset, 'FrozenSet')
Tuple = _Alias(tuple, 'Tuple')
Type = _Alias(type, 'Type')
DefaultDict = _Alias(collections.defaultdict, 'DefaultDict')
OrderedDict = _Alias(collections.OrderedDict, 'OrderedDict')
Counter = _Alias(collections.Counter, 'Counter')
Deque = _Alias(collections.deque, 'Deque')
ChainMap = _Alias(collections.ChainMap, 'ChainMap')
Callable = _Alias(collections.abc.Callable, 'Callable')
for _n in ('Hashable Sized Iterable Iterator Reversible Collection Container Sequence MutableSequence Mapping MutableMapping MutableSet KeysView '
           'ItemsView ValuesView MappingView Generator Awaitable Coroutine AsyncIterable AsyncIterator ByteString').split():
    globals()[_n] = _Alias(getattr(collections.abc, _n), _n)
AbstractSet = _Alias(collections.abc.Set, 'AbstractSet')
ContextManager = _Alias(contextlib.AbstractContextManager, 'ContextManager')
AsyncContextManager = _Alias(contextlib.AbstractContextManager, 'AsyncContextManager')
AsyncGenerator = _SpecialForm('AsyncGenerator', _plain)
import re as _re
Pattern = _Alias(_re.Pattern, 'Pattern')
Match = _Alias(_re.Match, 'Match')
Text = str
TYPE_CHECKING = False


class IO(Generic[AnyStr]):
    pass


class TextIO(IO[str]):
    pass


class BinaryIO(IO[bytes]):
    pass


def cast(typ, val): return val
def no_type_check(arg): return arg
def no_type_check_decorator(d): return d
def final(f):
    try:
        f.__final__ = True
    except (AttributeError, TypeError):
        pass
    return f


_overloads = {}


def overload(func):
    def _overload_dummy(*args, **kwds):
        raise NotImplementedError("You should not call an overloaded function. A series of @overload-decorated functions outside a stub module should always be followed by an implementation that is not @overload-ed.")
    return _overload_dummy


def get_overloads(func): return []
def clear_overloads(): pass
def assert_type(val, typ): return val
def reveal_type(obj):
    print(f"Runtime type is {type(obj).__name__!r}", file=sys.stderr)
    return obj


def assert_never(arg):
    raise AssertionError(f"Expected code to be unreachable, but got: {arg!r}")


def dataclass_transform(**kw): return lambda c: c
def override(f): return f


def NewType(name, tp):
    class _New:
        def __init__(self): self.__name__, self.__supertype__ = name, tp
        def __call__(self, x): return x
        def __repr__(self): return f'{self.__module__}.{name}'
        def __or__(self, o): return Union[self, o]
    return _New()


def get_origin(tp):
    if isinstance(tp, _Annotated):
        return Annotated
    if tp is Generic:
        return Generic
    if isinstance(tp, types.UnionType):
        return types.UnionType
    if isinstance(tp, _Alias):
        return tp.__origin__
    if isinstance(tp, (_GenericAlias, GenericAlias)):
        return tp.__origin__
    return None


def get_args(tp):
    if isinstance(tp, _Annotated):
        return (tp.__origin__,) + tp.__metadata__
    if isinstance(tp, (_GenericAlias, GenericAlias, types.UnionType)):
        r = tp.__args__
        if get_origin(tp) is collections.abc.Callable and not (len(r) == 2 and r[0] is ...):
            return (list(r[:-1]), r[-1])
        return r
    return ()


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    def ev(v, g):
        if v is None:
            return type(None)
        if isinstance(v, ForwardRef):
            v = v.__forward_arg__
        if isinstance(v, str):
            v = eval(v, g, localns if localns is not None else g)
        if isinstance(v, _Annotated) and not include_extras:
            v = v.__origin__
        return v
    if isinstance(obj, type):
        h = {}
        for b in reversed(obj.__mro__):
            g = globalns if globalns is not None else getattr(sys.modules.get(b.__module__), '__dict__', {})
            for n, v in b.__dict__.get('__annotations__', {}).items():
                h[n] = ev(v, g)
        return h
    while hasattr(obj, '__wrapped__'):
        obj = obj.__wrapped__
    g = globalns if globalns is not None else getattr(obj, '__globals__', getattr(obj, '__dict__', {}))
    return {k: ev(v, g) for k, v in getattr(obj, '__annotations__', {}).items()}


def is_typeddict(tp): return isinstance(tp, _TypedDictMeta)


class NamedTupleMeta(type):
    def __new__(cls, typename, bases, ns):
        if ns.get('_root', False):
            return super().__new__(cls, typename, bases, ns)
        ann = ns.get('__annotations__', {})
        defaults = []
        for n in ann:
            if n in ns:
                defaults.append(ns[n])
            elif defaults:
                raise TypeError(f"Non-default namedtuple field {n} cannot follow default field")
        nt = collections.namedtuple(typename, list(ann), defaults=defaults, module=ns['__module__'])
        nt.__annotations__ = dict(ann)
        for k, v in ns.items():
            if k not in ('__new__', '__init__', '__slots__', '__getnewargs__', '_fields', '_field_defaults', '_make', '_replace', '_asdict', '__annotations__', '__module__', '__qualname__') and k not in nt._fields:
                setattr(nt, k, v)
        return nt


def NamedTuple(typename, fields=None, /, **kwargs):
    items = list(fields) if fields is not None else list(kwargs.items())
    nt = collections.namedtuple(typename, [n for n, _ in items], module=sys._getframe(1).f_globals.get('__name__'))
    nt.__annotations__ = dict(items)
    return nt


_NT = type.__new__(NamedTupleMeta, 'NamedTuple', (), {'_root': True})
NamedTuple.__mro_entries__ = lambda bases: (_NT,)


class _TypedDictMeta(type):
    def __new__(cls, name, bases, ns, total=True):
        t = type.__new__(_TypedDictMeta, name, (dict,), ns)
        ann, required, optional = {}, set(), set()
        for b in bases:
            ann.update(b.__dict__.get('__annotations__', {}))
            required |= b.__dict__.get('__required_keys__', set())
            optional |= b.__dict__.get('__optional_keys__', set())
        for k, v in ns.get('__annotations__', {}).items():
            if isinstance(v, str):
                v = ForwardRef(v)
            elif v is None:
                v = type(None)
            ann[k] = v
            form = get_origin(v.__origin__ if isinstance(v, _Annotated) else v)
            must = form is Required or form is not NotRequired and total
            (required if must else optional).add(k)
            (optional if must else required).discard(k)
        t.__annotations__ = ann
        t.__required_keys__, t.__optional_keys__ = frozenset(required), frozenset(optional)
        t.__total__ = total
        return t

    def __call__(cls, *a, **k): return dict(*a, **k)
    def __instancecheck__(cls, o): raise TypeError('TypedDict does not support instance and class checks')
    __subclasscheck__ = __instancecheck__


def TypedDict(typename, fields=None, /, *, total=True, **kwargs):
    return _TypedDictMeta(typename, (), {'__annotations__': dict(fields or kwargs)}, total=total)


_TD = type.__new__(_TypedDictMeta, 'TypedDict', (), {})
TypedDict.__mro_entries__ = lambda bases: (_TD,)
