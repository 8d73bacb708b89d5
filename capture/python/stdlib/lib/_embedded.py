"""What importlib needs to find and load the modules that are part of this program."""
import _frozen_importlib as _bootstrap
import _frozen_importlib_external as _external
import _imp
import sys

import _whittle


class EmbeddedLoader(_external.SourceLoader):
    """Loads a file of the embedded library."""

    def __init__(self, fullname, path):
        self.name, self.path = fullname, path

    def __eq__(self, other):
        return self.__class__ == other.__class__ and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash(self.name) ^ hash(self.path)

    def get_filename(self, fullname=None):
        return self.path

    def get_data(self, path):
        text = _whittle.source_text(path)
        if text is None:
            raise OSError(2, "No such file or directory", path)
        return text.encode()

    def get_code(self, fullname):
        code = _whittle.embedded_code(self.path)
        return super().get_code(fullname) if code is None else code

    def path_stats(self, path):
        raise OSError

    def get_resource_reader(self, module):
        import _embedded_resources

        return _embedded_resources.Reader(self.path.rpartition("/")[0])


def _spec(name, file, loader, places):
    if file.startswith("/"):
        return _external.spec_from_file_location(name, file, loader=loader, submodule_search_locations=places)
    spec = _bootstrap.ModuleSpec(name, loader, origin=file)  # part of the program, under no folder
    spec._set_fileattr = True
    spec.submodule_search_locations = places
    return spec


class EmbeddedFinder:
    """A path entry finder for the folders of the embedded library."""

    def __init__(self, path):
        if not _whittle.embedded_dir(path):
            raise ImportError("not a folder of the embedded library", path=path)
        self.path = path

    def find_spec(self, fullname, target=None):
        base = (self.path + "/" if self.path else "") + fullname.rpartition(".")[2]
        for file, places in ((base + "/__init__.py", [base]), (base + ".py", None)):
            if _whittle.embedded_file(file):
                return _spec(fullname, file, EmbeddedLoader(fullname, file), places)
        return None

    def invalidate_caches(self):
        pass

    def iter_modules(self, prefix=""):
        for name, package in _whittle.embedded_modules(self.path):
            yield prefix + name, package


class NativeLoader:
    """Loads the modules of packages that are not written in Python."""

    @staticmethod
    def create_module(spec):
        return _imp.create_builtin(spec)

    @staticmethod
    def exec_module(module):
        _imp.exec_builtin(module)


class PackageFinder:
    """Finds the packages that are part of this program beside the library: a finder for sys.meta_path that comes last."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if "." in fullname and _whittle.native_module(fullname):
            return _bootstrap.ModuleSpec(fullname, NativeLoader, origin="built-in")
        if path is not None:
            return None
        finder = EmbeddedFinder.__new__(EmbeddedFinder)
        finder.path = ""
        return finder.find_spec(fullname)


def spec_of(module):
    """Gives a module that was imported without importlib the __spec__ and __loader__ that importlib would have given it."""
    name, file = module.__name__, getattr(module, "__file__", None)
    places = getattr(module, "__path__", None)
    if file is None:
        if name not in sys.builtin_module_names:
            return None
        spec = _bootstrap.spec_from_loader(name, _bootstrap.BuiltinImporter, origin="built-in")
    else:
        loader = (EmbeddedLoader if _whittle.embedded_dir(file.rpartition("/")[0]) else _external.SourceFileLoader)(name, file)
        spec = _spec(name, file, loader, None if places is None else list(places))
    module.__spec__, module.__loader__ = spec, spec.loader
    return spec
