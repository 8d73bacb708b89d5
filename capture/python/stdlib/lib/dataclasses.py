"""Data classes."""
import sys
import types
import copy
import keyword

__all__ = ['dataclass', 'field', 'Field', 'FrozenInstanceError', 'InitVar', 'KW_ONLY', 'MISSING', 'fields', 'asdict', 'astuple',
           'make_dataclass', 'replace', 'is_dataclass']


class FrozenInstanceError(AttributeError):
    pass


class _Default:
    def __repr__(self): return '<factory>'


_HAS_DEFAULT_FACTORY = _Default()


class _MISSING_TYPE:
    def __repr__(self): return '<dataclasses._MISSING_TYPE object>'


MISSING = _MISSING_TYPE()


class _KW_ONLY_TYPE:
    pass


KW_ONLY = _KW_ONLY_TYPE()
_FIELDS, _PARAMS, _POST_INIT = '__dataclass_fields__', '__dataclass_params__', '__post_init__'
_FIELD, _CLASSVAR, _INITVAR = 'field', 'classvar', 'initvar'


class InitVar:
    def __init__(self, type): self.type = type
    def __class_getitem__(cls, t): return InitVar(t)
    def __repr__(self): return f'dataclasses.InitVar[{getattr(self.type, "__name__", self.type)}]'


class Field:
    __slots__ = ('name', 'type', 'default', 'default_factory', 'repr', 'hash', 'init', 'compare', 'metadata', 'kw_only', '_field_type')

    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.type = None
        self.default, self.default_factory, self.init, self.repr, self.hash, self.compare = default, default_factory, init, repr, hash, compare
        self.metadata = types.MappingProxyType({} if metadata is None else metadata)
        self.kw_only = kw_only
        self._field_type = None

    def __repr__(self):
        return (f'Field(name={self.name!r},type={self.type!r},default={self.default!r},default_factory={self.default_factory!r},init={self.init!r},'
                f'repr={self.repr!r},hash={self.hash!r},compare={self.compare!r},metadata={self.metadata!r},kw_only={self.kw_only!r},_field_type={self._field_type})')

    def __set_name__(self, owner, name):
        f = getattr(type(self.default), '__set_name__', None)
        if f:
            f(self.default, owner, name)


class _DataclassParams:
    def __init__(self, init, repr, eq, order, unsafe_hash, frozen):
        self.init, self.repr, self.eq, self.order, self.unsafe_hash, self.frozen = init, repr, eq, order, unsafe_hash, frozen


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError('cannot specify both default and default_factory')
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _is_type(ann, names, cls):
    if isinstance(ann, str):
        s = ann.split('[')[0].strip().split('.')[-1]
        return s in names
    return False


def _get_field(cls, name, typ, kw_only):
    default = getattr(cls, name, MISSING)
    if isinstance(default, Field):
        f = default
    else:
        if isinstance(default, types.MemberDescriptorType):
            default = MISSING
        f = field(default=default)
    f.name, f.type = name, typ
    f._field_type = _FIELD
    typing = sys.modules.get('typing')
    if _is_type(typ, ('ClassVar',), cls) or typing and (typ is typing.ClassVar or getattr(typ, '__origin__', None) is typing.ClassVar):
        f._field_type = _CLASSVAR
    elif isinstance(typ, InitVar) or typ is InitVar or _is_type(typ, ('InitVar',), cls):
        f._field_type = _INITVAR
    if f._field_type in (_CLASSVAR, _INITVAR) and f.default_factory is not MISSING:
        raise TypeError(f'field {f.name} cannot have a default factory')
    if f._field_type in (_FIELD, _INITVAR):
        if f.kw_only is MISSING:
            f.kw_only = kw_only
    if f._field_type is _FIELD and f.default.__class__.__hash__ is None:
        raise ValueError(f'mutable default {type(f.default)} for field {f.name} is not allowed: use default_factory')
    return f


def _make(name, args, body, ns, qualname):
    src = f"def __create__({', '.join(ns)}):\n def {name}({', '.join(args)}):\n" + '\n'.join('  ' + b for b in body or ['pass']) + f"\n return {name}"
    env = {}
    exec(src, env)
    f = env['__create__'](**ns)
    f.__qualname__ = f"{qualname}.{name}"
    return f


def _init_fn(cls, fields, std, kwo, frozen, has_post):
    seen = None
    for f in std:
        if f.init:
            if not (f.default is MISSING and f.default_factory is MISSING):
                seen = f
            elif seen is not None:
                raise TypeError(f'non-default argument {f.name!r} follows default argument')
    ns = {'_d_MISSING': MISSING, '_d_FACT': _HAS_DEFAULT_FACTORY, '_d_set': object.__setattr__}
    self_name = 'self' if not any(f.name == 'self' for f in fields) else '__dataclass_self__'

    def param(f):
        if f.default is MISSING and f.default_factory is MISSING:
            return f.name
        if f.default is not MISSING:
            ns[f'_d_dflt_{f.name}'] = f.default
            return f'{f.name}=_d_dflt_{f.name}'
        return f'{f.name}=_d_FACT'

    body = []

    def assign(name, value):
        if frozen:
            body.append(f'_d_set({self_name}, {name!r}, {value})')
        else:
            body.append(f'{self_name}.{name} = {value}')

    for f in fields:
        if f._field_type is _INITVAR:
            continue
        if f.default_factory is not MISSING:
            ns[f'_d_fac_{f.name}'] = f.default_factory
            if f.init:
                assign(f.name, f'_d_fac_{f.name}() if {f.name} is _d_FACT else {f.name}')
            else:
                assign(f.name, f'_d_fac_{f.name}()')
        elif f.init:
            assign(f.name, f.name)
        elif f.default is not MISSING and '__slots__' in cls.__dict__:
            ns[f'_d_dflt_{f.name}'] = f.default
            assign(f.name, f'_d_dflt_{f.name}')
    if has_post:
        body.append(f'{self_name}.__post_init__({", ".join(f.name for f in fields if f._field_type is _INITVAR)})')
    args = [self_name] + [param(f) for f in std if f.init]
    kw = [param(f) for f in kwo if f.init]
    if kw:
        args += ['*'] + kw
    fn = _make('__init__', args, body, ns, cls.__qualname__)
    fn.__annotations__ = {**{f.name: f.type for f in list(std) + list(kwo) if f.init}, 'return': None}
    return fn


_repr_running = set()


def _process(cls, init, repr_, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot=False):
    fields = {}
    any_frozen, has_bases = False, False
    for b in cls.__mro__[-1:0:-1]:
        base_fields = getattr(b, _FIELDS, None)
        if base_fields is not None:
            has_bases = True
            for f in base_fields.values():
                fields[f.name] = f
            any_frozen = any_frozen or getattr(b, _PARAMS).frozen
    cls_ann = cls.__dict__.get('__annotations__', {})
    cls_fields = []
    kw_seen = False
    for name, typ in cls_ann.items():
        if typ is KW_ONLY or _is_type(typ, ('KW_ONLY',), cls):
            if kw_seen:
                raise TypeError(f'{name!r} is KW_ONLY, but KW_ONLY has already been specified')
            kw_seen = kw_only = True
        else:
            cls_fields.append(_get_field(cls, name, typ, kw_only))
    for f in cls_fields:
        fields[f.name] = f
        if isinstance(getattr(cls, f.name, None), Field):
            if f.default is MISSING:
                delattr(cls, f.name)
            else:
                setattr(cls, f.name, f.default)
    for name, value in list(cls.__dict__.items()):
        if isinstance(value, Field) and name not in cls_ann:
            raise TypeError(f'{name!r} is a field but has no type annotation')
    if has_bases:
        if any_frozen and not frozen:
            raise TypeError('cannot inherit non-frozen dataclass from a frozen one')
        if not any_frozen and frozen:
            raise TypeError('cannot inherit frozen dataclass from a non-frozen one')
    setattr(cls, _FIELDS, fields)
    setattr(cls, _PARAMS, _DataclassParams(init, repr_, eq, order, unsafe_hash, frozen))
    if order and not eq:
        raise ValueError('eq must be true if order is true')
    all_init = [f for f in fields.values() if f._field_type in (_FIELD, _INITVAR)]
    std = tuple(f for f in all_init if f.init and not f.kw_only)
    kwo = tuple(f for f in all_init if f.init and f.kw_only)
    real = [f for f in fields.values() if f._field_type is _FIELD]

    def put(name, f):
        if name in cls.__dict__:
            return True
        f.__qualname__ = f'{cls.__qualname__}.{name}'
        setattr(cls, name, f)
        return False

    if init:
        put('__init__', _init_fn(cls, all_init, std, kwo, frozen, hasattr(cls, _POST_INIT)))
    if repr_:
        names = [f.name for f in real if f.repr]

        def __repr__(self):
            key = id(self)
            if key in _repr_running:
                return '...'
            _repr_running.add(key)
            try:
                return self.__class__.__qualname__ + '(' + ', '.join(f'{n}={getattr(self, n)!r}' for n in names) + ')'
            finally:
                _repr_running.discard(key)
        put('__repr__', __repr__)
    cmp_names = [f.name for f in real if f.compare]

    def as_tuple(o): return tuple([getattr(o, n) for n in cmp_names])

    has_hash = '__hash__' in cls.__dict__ and not (cls.__dict__['__hash__'] is None and '__eq__' in cls.__dict__)
    had_eq = '__eq__' in cls.__dict__
    if eq:
        def __eq__(self, other):
            if other.__class__ is self.__class__:
                return as_tuple(self) == as_tuple(other)
            return NotImplemented
        put('__eq__', __eq__)
    if order:
        def __lt__(self, other): return as_tuple(self) < as_tuple(other) if other.__class__ is self.__class__ else NotImplemented
        def __le__(self, other): return as_tuple(self) <= as_tuple(other) if other.__class__ is self.__class__ else NotImplemented
        def __gt__(self, other): return as_tuple(self) > as_tuple(other) if other.__class__ is self.__class__ else NotImplemented
        def __ge__(self, other): return as_tuple(self) >= as_tuple(other) if other.__class__ is self.__class__ else NotImplemented
        for f in (__lt__, __le__, __gt__, __ge__):
            if put(f.__name__, f):
                raise TypeError(f'Cannot overwrite attribute {f.__name__} in class {cls.__name__}. Consider using functools.total_ordering')
    if frozen:
        names_all = {f.name for f in real}

        def __setattr__(self, name, value):
            if type(self) is cls or name in names_all:
                raise FrozenInstanceError(f'cannot assign to field {name!r}')
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or name in names_all:
                raise FrozenInstanceError(f'cannot delete field {name!r}')
            super(cls, self).__delattr__(name)
        for f in (__setattr__, __delattr__):
            if put(f.__name__, f):
                raise TypeError(f'Cannot overwrite attribute {f.__name__} in class {cls.__name__}')
    if unsafe_hash or eq and frozen:
        if not has_hash:
            hash_names = [f.name for f in real if (f.compare if f.hash is None else f.hash)]

            def __hash__(self): return hash(tuple([getattr(self, n) for n in hash_names]))
            __hash__.__qualname__ = f'{cls.__qualname__}.__hash__'
            cls.__hash__ = __hash__
        elif unsafe_hash:
            raise TypeError(f'Cannot overwrite attribute __hash__ in class {cls.__name__}')
    elif eq and not has_hash:
        cls.__hash__ = None
    if not getattr(cls, '__doc__'):
        cls.__doc__ = cls.__name__
    if match_args and '__match_args__' not in cls.__dict__:
        cls.__match_args__ = tuple(f.name for f in std)
    if slots:
        if '__slots__' in cls.__dict__:
            raise TypeError(f'{cls.__name__} already specifies __slots__')
        ns = dict(cls.__dict__)
        names = tuple(f.name for f in real)
        inherited = set()
        for b in cls.__mro__[1:-1]:
            s = b.__dict__.get('__slots__', ())
            inherited.update((s,) if isinstance(s, str) else s)
        ns['__slots__'] = tuple(n for n in names if n not in inherited)
        for n in names:
            ns.pop(n, None)
        ns.pop('__dict__', None)
        ns.pop('__weakref__', None)
        qual = cls.__qualname__
        cls = type(cls)(cls.__name__, cls.__bases__, ns)
        cls.__qualname__ = qual
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True, kw_only=False,
              slots=False, weakref_slot=False):
    def wrap(cls):
        return _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot)
    return wrap if cls is None else wrap(cls)


def fields(class_or_instance):
    try:
        fs = getattr(class_or_instance, _FIELDS)
    except AttributeError:
        raise TypeError('must be called with a dataclass type or instance') from None
    return tuple(f for f in fs.values() if f._field_type is _FIELD)


def is_dataclass(obj):
    return hasattr(obj if isinstance(obj, type) else type(obj), _FIELDS)


def _is_instance(obj): return hasattr(type(obj), _FIELDS)


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _conv(obj, lambda o, items: dict_factory(items))


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _conv(obj, lambda o, items: tuple_factory([v for _, v in items]))


def _conv(obj, f):
    if _is_instance(obj):
        return f(obj, [(x.name, _conv(getattr(obj, x.name), f)) for x in fields(obj)])
    if isinstance(obj, tuple) and hasattr(obj, '_fields'):
        return type(obj)(*[_conv(v, f) for v in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)(_conv(v, f) for v in obj)
    if isinstance(obj, dict):
        if hasattr(type(obj), 'default_factory'):
            r = type(obj)(getattr(obj, 'default_factory'))
            for k, v in obj.items():
                r[_conv(k, f)] = _conv(v, f)
            return r
        return type(obj)((_conv(k, f), _conv(v, f)) for k, v in obj.items())
    return copy.deepcopy(obj)


def replace(obj, /, **changes):
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in getattr(obj, _FIELDS).values():
        if f._field_type is _CLASSVAR:
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f'field {f.name} is declared with init=False, it cannot be specified with replace()')
            continue
        if f.name not in changes:
            if f._field_type is _INITVAR and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **kw):
    ns = dict(namespace or {})
    ann = {}
    for item in fields:
        if isinstance(item, str):
            name, tp = item, 'typing.Any'
        elif len(item) == 2:
            name, tp = item
        else:
            name, tp, spec = item
            ns[name] = spec
        if not name.isidentifier():
            raise TypeError(f'Field names must be valid identifiers: {name!r}')
        if keyword.iskeyword(name):
            raise TypeError(f'Field names must not be keywords: {name!r}')
        if name in ann:
            raise TypeError(f'Field name duplicated: {name!r}')
        ann[name] = tp
    ns['__annotations__'] = ann
    return dataclass(type(cls_name, bases, ns), **kw)
