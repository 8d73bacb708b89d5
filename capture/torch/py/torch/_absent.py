"""Names of PyTorch's whose work is not done here: a program can import them, and is told so when it uses them."""
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

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name

    def __reduce__(self):
        return self._name.rpartition(".")[2]


def _class(module, name):
    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{module}.{cls.__qualname__} is not supported")

    return type(name, (), {"__new__": __new__, "with_args": classmethod(_Partial), "__module__": module, "__doc__": "Not supported."})


def _function(module, name):
    def absent(*args, **kwargs):
        raise NotImplementedError(f"{module}.{name} is not supported")

    absent.__name__ = absent.__qualname__ = name
    absent.__module__ = module
    return absent


def declare(*names):
    """Puts these names into the module that calls: classes by an upper-case letter, functions else."""
    scope = sys._getframe(1).f_globals
    for name in names:
        make = _class if name.lstrip("_")[:1].isupper() else _function
        scope[name] = make(scope["__name__"], name)
