"""Enumerations."""
import sys
from types import MappingProxyType, DynamicClassAttribute

__all__ = ['EnumMeta', 'EnumType', 'Enum', 'IntEnum', 'StrEnum', 'Flag', 'IntFlag', 'auto', 'unique', 'property', 'member', 'nonmember', 'verify', 'CONTINUOUS', 'UNIQUE', 'NAMED_FLAGS']

_property = property


class nonmember:
    def __init__(self, value): self.value = value


class member:
    def __init__(self, value): self.value = value


class auto:
    def __init__(self, value=None): self.value = value


class property(DynamicClassAttribute):
    pass


def _is_descriptor(o): return hasattr(o, '__get__') or hasattr(o, '__set__') or hasattr(o, '__delete__')
def _is_dunder(n): return len(n) > 4 and n[:2] == n[-2:] == '__' and n[2] != '_'
def _is_sunder(n): return len(n) > 2 and n[0] == n[-1] == '_' and n[1] != '_'
def _is_private(cls, n): return n.startswith('_%s__' % cls)


class _EnumDict(dict):
    def __init__(self, name=''):
        super().__init__()
        self._member_names = {}
        self._last = []
        self._cls_name = name
        self._ignore = []
        self._gen = None
        self._auto_called = False

    def __setitem__(self, key, value):
        if _is_private(self._cls_name, key):
            pass
        elif _is_sunder(key):
            if key == '_generate_next_value_':
                self._gen = value.__func__ if isinstance(value, staticmethod) else value
            elif key == '_ignore_':
                value = value.replace(',', ' ').split() if isinstance(value, str) else list(value)
                self._ignore = value
            elif key not in ('_order_', '_missing_', '_value_', '_name_', '_numeric_repr_'):
                raise ValueError(f'_sunder_ names, such as {key!r}, are reserved for future Enum use.')
        elif _is_dunder(key) or key in self._ignore:
            pass
        elif isinstance(value, nonmember):
            value = value.value
        elif key in self._member_names:
            raise TypeError('%r already defined as %r' % (key, self[key]))
        elif isinstance(value, member) or not _is_descriptor(value):
            if isinstance(value, member):
                value = value.value
            if key in self:
                raise TypeError('%r already defined as %r' % (key, self[key]))
            value = self._auto(key, value)
            self._member_names[key] = None
            self._last.append(value)
        super().__setitem__(key, value)

    def _auto(self, key, value):
        if isinstance(value, auto):
            if value.value is None:
                gen = self._gen or self._default_gen
                value.value = gen(key, 1, len(self._member_names), self._last[:])
            return value.value
        if type(value) is tuple and any(isinstance(v, auto) for v in value):
            return tuple(self._auto(key, v) for v in value)
        return value


class EnumType(type):
    @classmethod
    def __prepare__(metacls, cls, bases, **kwds):
        d = _EnumDict(cls)
        for b in bases:
            for k in b.__mro__:
                g = k.__dict__.get('_generate_next_value_')
                if g is not None:
                    d._default_gen = g.__func__ if isinstance(g, staticmethod) else g
                    break
            else:
                continue
            break
        return d

    def __new__(metacls, cls, bases, classdict, *, boundary=None, **kwds):
        if not isinstance(classdict, _EnumDict):
            return super().__new__(metacls, cls, bases, classdict, **kwds)
        names = list(classdict._member_names)
        members = {k: classdict[k] for k in names}
        ns = {k: v for k, v in classdict.items() if k not in members and k not in classdict._ignore and k != '_ignore_'}
        if '_generate_next_value_' in ns and not isinstance(ns['_generate_next_value_'], staticmethod):
            ns['_generate_next_value_'] = staticmethod(ns['_generate_next_value_'])
        first, member_type = None, object
        for b in bases:
            if isinstance(b, EnumType):
                first = b
                if b._member_names_:
                    raise TypeError("<enum %r> cannot extend %r" % (cls, b))
                if member_type is object:
                    member_type = b._member_type_
            else:
                for k in b.__mro__:
                    if k is not object and ('__new__' in k.__dict__ or k in (int, str, float, tuple, bytes)):
                        member_type = b
                        break
        saved_new = ns.get('__new__')
        ns['_member_names_'] = []
        ns['_member_map_'] = {}
        ns['_value2member_map_'] = {}
        ns['_unhashable_'] = []
        ns['_member_type_'] = member_type
        ns['_boundary_'] = boundary
        if '__reduce_ex__' not in ns:
            ns['__reduce_ex__'] = lambda self, proto: (self.__class__, (self._value_,))
        for n in ('__repr__', '__str__', '__format__', '__reduce_ex__'):
            pass
        enum_class = super().__new__(metacls, cls, bases, ns, **kwds)
        use_new = saved_new
        if use_new is None and first is not None:
            f = getattr(first, '__new_member__', None)
            use_new = f
        if first is not None and saved_new is not None:
            enum_class.__new_member__ = saved_new
        if first is not None and '__new__' in enum_class.__dict__:
            enum_class.__new__ = Enum.__new__
        if first is not None and member_type is not object and not issubclass(member_type, Enum):
            keep = 'ReprEnum' in globals() and issubclass(enum_class, ReprEnum) or cls == 'ReprEnum'
            for n in ('__repr__',) if keep else ('__repr__', '__str__', '__format__'):
                if n not in ns and getattr(enum_class, n) in (getattr(member_type, n), getattr(object, n)):
                    setattr(enum_class, n, getattr(Flag if 'Flag' in globals() and issubclass(enum_class, Flag) else Enum, n))
        is_flag = 'Flag' in globals() and issubclass(enum_class, Flag)
        for name, value in members.items():
            args = value if isinstance(value, tuple) else (value,)
            if member_type is tuple:
                args = (args,)
            if use_new is not None:
                m = use_new(enum_class, *args)
            elif member_type is object:
                m = object.__new__(enum_class)
            else:
                m = member_type.__new__(enum_class, *args)
            if not hasattr(m, '_value_'):
                if member_type is object:
                    m._value_ = value
                else:
                    try:
                        m._value_ = member_type(*args)
                    except Exception:
                        m._value_ = value
            value = m._value_
            m._name_ = name
            m.__objclass__ = enum_class
            m._sort_order_ = len(enum_class._member_names_)
            if type(m).__init__ is not object.__init__:
                m.__init__(*args)
                value = m._value_
            for other in enum_class._member_map_.values():
                if other._value_ == value and type(other._value_) is type(value) or other._value_ is value or other._value_ == value:
                    m = other
                    break
            else:
                if not is_flag or (isinstance(value, int) and value > 0 and value & (value - 1) == 0):
                    enum_class._member_names_.append(name)
            enum_class._member_map_[name] = m
            type.__setattr__(enum_class, name, m)
            try:
                enum_class._value2member_map_.setdefault(value, m)
            except TypeError:
                enum_class._unhashable_.append(value)
        if is_flag:
            mask = 0
            for m in enum_class._member_map_.values():
                mask |= m._value_
            enum_class._flag_mask_ = mask
        return enum_class

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if names is None:
            return Enum.__new__(cls, value)
        return cls._create_(value, names, module=module, type=type, start=start)

    def _create_(cls, class_name, names, *, module=None, type=None, start=1):
        bases = (cls,) if type is None else (type, cls)
        metacls = cls.__class__
        d = metacls.__prepare__(class_name, bases)
        if isinstance(names, str):
            names = names.replace(',', ' ').split()
        if isinstance(names, (tuple, list)) and names and isinstance(names[0], str):
            last = []
            pairs = []
            for i, n in enumerate(names):
                v = cls._generate_next_value_(n, start, i, last[:])
                last.append(v)
                pairs.append((n, v))
            names = pairs
        for item in names:
            k, v = (item, names[item]) if isinstance(item, str) else item
            d[k] = v
        if module is None:
            try:
                module = sys._getframe(2).f_globals['__name__']
            except Exception:
                module = None
        if module is not None:
            d['__module__'] = module
        return metacls.__new__(metacls, class_name, bases, d)

    def __contains__(cls, value):
        if isinstance(value, cls):
            return True
        if isinstance(value, Enum):
            return False
        return value in cls._value2member_map_ or value in cls._unhashable_

    def __iter__(cls): return (cls._member_map_[n] for n in cls._member_names_)
    def __reversed__(cls): return (cls._member_map_[n] for n in reversed(cls._member_names_))
    def __len__(cls): return len(cls._member_names_)
    def __getitem__(cls, name): return cls._member_map_[name]
    def __bool__(cls): return True
    def __dir__(cls): return ['__class__', '__doc__', '__members__', '__module__'] + cls._member_names_

    @_property
    def __members__(cls): return MappingProxyType(cls._member_map_)

    def __repr__(cls):
        if 'Flag' in globals() and issubclass(cls, Flag):
            return "<flag %r>" % cls.__name__
        return "<enum %r>" % cls.__name__

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get('_member_map_', {}):
            raise AttributeError('cannot reassign member %r' % (name,))
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        if name in cls.__dict__.get('_member_map_', {}):
            raise AttributeError("%r cannot delete member %r." % (cls.__name__, name))
        super().__delattr__(name)


EnumMeta = EnumType


class Enum(metaclass=EnumType):
    def __new__(cls, value):
        if type(value) is cls:
            return value
        try:
            return cls._value2member_map_[value]
        except KeyError:
            pass
        except TypeError:
            for m in cls._member_map_.values():
                if m._value_ == value:
                    return m
        try:
            r = cls._missing_(value)
        except Exception as e:
            r, exc = None, e
        else:
            exc = None
        if isinstance(r, cls):
            return r
        ve = ValueError("%r is not a valid %s" % (value, cls.__qualname__))
        if r is None and exc is None:
            raise ve
        if exc is None:
            exc = TypeError('error in %s._missing_: returned %r instead of None or a valid member' % (cls.__name__, r))
        if not isinstance(exc, ValueError):
            exc.__context__ = ve
        raise exc

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        try:
            return sorted(last_values)[-1] + 1
        except TypeError:
            for v in reversed(last_values):
                try:
                    return v + 1
                except TypeError:
                    pass
            return start

    @classmethod
    def _missing_(cls, value): return None

    name = _property(lambda self: self._name_)
    value = _property(lambda self: self._value_)

    def __repr__(self): return "<%s.%s: %s>" % (self.__class__.__name__, self._name_, repr(self._value_))
    def __str__(self): return "%s.%s" % (self.__class__.__name__, self._name_)
    def __format__(self, spec): return str.__format__(str(self), spec)
    def __hash__(self): return hash(self._name_)
    def __reduce_ex__(self, proto): return self.__class__, (self._value_,)
    def __copy__(self): return self
    def __deepcopy__(self, memo): return self
    def __dir__(self): return ['__class__', '__doc__', '__module__', 'name', 'value']


class ReprEnum(Enum):
    pass


class IntEnum(int, ReprEnum):
    __str__ = int.__repr__
    __format__ = int.__format__
    __repr__ = Enum.__repr__
    __hash__ = int.__hash__


class StrEnum(str, ReprEnum):
    __str__ = str.__str__
    __format__ = str.__format__
    __repr__ = Enum.__repr__
    __hash__ = str.__hash__

    @staticmethod
    def _generate_next_value_(name, start, count, last_values): return name.lower()


def _bits(n):
    while n:
        b = n & -n
        yield b
        n ^= b


class Flag(Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start if start is not None else 1
        return 2 ** max(last_values).bit_length()

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            raise ValueError("%r is not a valid %s" % (value, cls.__qualname__))
        mask = cls._flag_mask_
        if value < 0:
            value = value & mask if issubclass(cls, int) is False else (max(mask, 0) + 1 + value if -value <= mask + 1 else value)
            if value in cls._value2member_map_:
                return cls._value2member_map_[value]
        extra = value & ~mask
        if extra and not issubclass(cls, int):
            raise ValueError("%r invalid value %r\n    given %s\n  allowed %s" % (cls, value, bin(value), bin(mask)))
        m = int.__new__(cls, value) if issubclass(cls, int) else object.__new__(cls)
        m._value_ = value
        names = [x._name_ for x in cls if x._value_ & value and x._value_]
        m._name_ = '|'.join(names) + ('|0x%x' % extra if extra and names else '') or None
        cls._value2member_map_.setdefault(value, m)
        return m

    def __contains__(self, other): return other._value_ & self._value_ == other._value_

    def __iter__(self):
        for b in _bits(self._value_):
            yield self.__class__(b)

    def __len__(self): return bin(self._value_).count('1')

    def __repr__(self):
        n = self.__class__.__name__
        if self._name_ is None:
            return "<%s: %r>" % (n, self._value_)
        return "<%s.%s: %r>" % (n, self._name_, self._value_)

    def __str__(self):
        n = self.__class__.__name__
        return "%s(%r)" % (n, self._value_) if self._name_ is None else "%s.%s" % (n, self._name_)

    def __bool__(self): return bool(self._value_)

    def _val(self, o):
        if isinstance(o, self.__class__):
            return o._value_
        if isinstance(self, int) and isinstance(o, int):
            return o
        return None

    def __or__(self, o):
        v = self._val(o)
        return NotImplemented if v is None else self.__class__(self._value_ | v)

    def __and__(self, o):
        v = self._val(o)
        return NotImplemented if v is None else self.__class__(self._value_ & v)

    def __xor__(self, o):
        v = self._val(o)
        return NotImplemented if v is None else self.__class__(self._value_ ^ v)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__
    def __invert__(self): return self.__class__(self._flag_mask_ & ~self._value_)
    __hash__ = Enum.__hash__


class IntFlag(int, ReprEnum, Flag):
    __str__ = int.__repr__
    __format__ = int.__format__
    __repr__ = Flag.__repr__
    __or__, __and__, __xor__, __ror__, __rand__, __rxor__ = Flag.__or__, Flag.__and__, Flag.__xor__, Flag.__or__, Flag.__and__, Flag.__xor__
    __invert__ = Flag.__invert__
    __contains__, __iter__, __len__, __bool__ = Flag.__contains__, Flag.__iter__, Flag.__len__, Flag.__bool__
    __hash__ = int.__hash__


class FlagBoundary(StrEnum):
    STRICT = 'strict'
    CONFORM = 'conform'
    EJECT = 'eject'
    KEEP = 'keep'


STRICT, CONFORM, EJECT, KEEP = FlagBoundary
CONTINUOUS, UNIQUE, NAMED_FLAGS = 'continuous', 'unique', 'named flags'


def unique(enumeration):
    dup = [(n, m.name) for n, m in enumeration.__members__.items() if n != m.name]
    if dup:
        raise ValueError('duplicate values found in %r: %s' % (enumeration, ', '.join("%s -> %s" % p for p in dup)))
    return enumeration


def verify(*checks): return lambda e: unique(e) if UNIQUE in checks else e
def global_enum(cls): return cls
