"""Names of PyTorch's whose work is not done here: a program can import them, and is told so when it uses them."""
import ast
import re
import sys


class _Partial:
    """What with_args of a class gives: the class with some of its arguments."""

    def __init__(self, cls, **kwargs):
        self.cls, self.kwargs = cls, kwargs

    def with_args(self, **kwargs):
        return _Partial(self.cls, **{**self.kwargs, **kwargs})

    def __call__(self, *args, **kwargs):
        return self.cls(*args, **{**self.kwargs, **kwargs})


class Constant:
    """A value that can be passed on and is of no use."""

    __absent__ = True

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name

    def __reduce__(self):
        return self._name.rpartition(".")[2]


def _class(module, name):
    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{module}.{cls.__qualname__} is not supported")

    return type(name, (), {"__new__": __new__, "with_args": classmethod(_Partial), "__module__": module, "__doc__": "Not supported.", "__absent__": True})


def _function(module, name):
    def absent(*args, **kwargs):
        raise NotImplementedError(f"{module}.{name} is not supported")

    absent.__name__ = absent.__qualname__ = name
    absent.__module__ = module
    absent.__absent__ = True
    return absent


class _Names:
    """Names that a module lacks: name() is a function, name a class, name=value a constant that is plain, and name= any other."""

    def __init__(self, module, names):
        self.module = module
        self.kinds = {n[:re.match(r"\w+", n).end()]: n[re.match(r"\w+", n).end():] for n in names.split()}

    def find(self, name):
        """What stands for a name, which the module has from now on; None for a name that is not among these."""
        kind = self.kinds.get(name)
        if kind is None:
            return None
        of = self.module.__name__
        if kind == "":
            v = _class(of, name)
        elif kind == "()":
            v = _function(of, name)
        else:
            v = ast.literal_eval(kind[1:]) if kind[1:] else Constant(f"{of}.{name}")
        setattr(self.module, name, v)
        return v


def module(name, names=""):
    """Makes a module of that name one of which nothing is here but its names."""
    m = sys.modules[name]
    m.__absent__ = True
    absent = _Names(m, names)
    for n in absent.kinds:
        absent.find(n)


def declare(*names):
    """Puts these names into the module that calls: classes by an upper-case letter, functions else."""
    scope = sys._getframe(1).f_globals
    for name in names:
        make = _class if name.lstrip("_")[:1].isupper() else _function
        scope[name] = make(scope["__name__"], name)
