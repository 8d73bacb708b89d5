import sys
from . import util


def import_module(name, package=None):
    if name.startswith('.'):
        if not package:
            raise TypeError("the 'package' argument is required to perform a relative import for %r" % name)
        n = len(name) - len(name.lstrip('.'))
        base = package.split('.')
        base = base[:len(base) - (n - 1)]
        name = '.'.join(base + ([name[n:]] if name[n:] else []))
    __import__(name)
    return sys.modules[name]


def reload(module):
    name = module.__name__
    file = getattr(module, '__file__', None)
    if file is None:
        return module
    import _whittle
    exec(compile(_whittle.source_text(file), file, 'exec'), module.__dict__)
    return module


def invalidate_caches(): pass
__import__ = __import__
