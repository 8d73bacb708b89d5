"""Names of PyTorch's whose work is not done here: a program can import them, and is told so when it uses them."""
import sys


def _class(module, name):
    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{module}.{cls.__qualname__} is not supported")

    def with_args(cls, **kwargs):
        raise NotImplementedError(f"{module}.{cls.__qualname__} is not supported")

    return type(name, (), {"__new__": __new__, "with_args": classmethod(with_args), "__module__": module, "__doc__": "Not supported."})


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
