import sys


class _Spec:
    def __init__(self, name, loader=None, origin=None):
        self.name, self.loader, self.origin, self.submodule_search_locations, self.parent = name, loader, origin, None, name.rpartition('.')[0]


def find_spec(name, package=None):
    if name in sys.modules:
        return _Spec(name, origin=getattr(sys.modules[name], '__file__', None))
    try:
        __import__(name)
    except ModuleNotFoundError:
        return None
    return _Spec(name, origin=getattr(sys.modules[name], '__file__', None))


class _FileLoader:
    def __init__(self, path): self.path = path

    def exec_module(self, module):
        with open(self.path) as f:
            exec(compile(f.read(), self.path, 'exec'), module.__dict__)


def spec_from_file_location(name, location=None, *, loader=None, submodule_search_locations=None):
    import os
    return _Spec(name, loader or _FileLoader(os.fspath(location)), os.fspath(location))


def module_from_spec(spec):
    import types
    m = types.ModuleType(spec.name)
    m.__spec__, m.__file__, m.__loader__ = spec, spec.origin, spec.loader
    return m
