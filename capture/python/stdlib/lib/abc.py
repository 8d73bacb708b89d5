"""Abstract base classes."""


def abstractmethod(f):
    f.__isabstractmethod__ = True
    return f


class abstractproperty(property):
    __isabstractmethod__ = True


class abstractclassmethod(classmethod):
    pass


class abstractstaticmethod(staticmethod):
    pass


class ABCMeta(type):
    def __new__(mcls, name, bases, namespace, /, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        abstract = {n for n, v in namespace.items() if getattr(v, '__isabstractmethod__', False)}
        for b in bases:
            for n in getattr(b, '__abstractmethods__', ()):
                if getattr(getattr(cls, n, None), '__isabstractmethod__', False):
                    abstract.add(n)
        cls.__abstractmethods__ = frozenset(abstract)
        cls._abc_registry = []
        return cls

    def register(cls, subclass):
        cls._abc_registry.append(subclass)
        return subclass

    def __instancecheck__(cls, instance):
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, sub):
        if not isinstance(sub, type):
            raise TypeError('issubclass() arg 1 must be a class')
        ok = cls.__subclasshook__(sub)
        if ok is not NotImplemented:
            return ok
        if cls in sub.__mro__:
            return True
        for r in cls.__dict__.get('_abc_registry', ()):
            if issubclass(sub, r):
                return True
        for s in type.__subclasses__(cls):
            if s is not sub and issubclass(sub, s):
                return True
        return False


class ABC(metaclass=ABCMeta):
    __slots__ = ()


def get_cache_token(): return 0
def update_abstractmethods(cls): return cls
