"""Settings as attributes of a module: unknown names are refused, patch() changes them for a while."""
import sys
import types

from torch._dynamo._unread_settings import DEFAULTS


class ConfigModule(types.ModuleType):
    def __init__(self, name, values):
        super().__init__(name)
        values = {**DEFAULTS.get(name, {}), **values}
        object.__setattr__(self, "_values", dict(values))
        object.__setattr__(self, "_defaults", dict(values))
        object.__setattr__(self, "_hidden", set())

    def __getattr__(self, name):
        values = object.__getattribute__(self, "_values")
        if name in values:
            return values[name]
        raise AttributeError(f"{self.__name__}.{name} does not exist")

    def __setattr__(self, name, value):
        values = object.__getattribute__(self, "_values")
        if name in values or name in object.__getattribute__(self, "_hidden"):
            values[name] = value
            object.__getattribute__(self, "_hidden").discard(name)
        elif isinstance(value, types.ModuleType) or name.startswith("__"):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"{self.__name__}.{name} does not exist")

    def __delattr__(self, name):
        # A setting that is deleted is not there until it is set again, which is what mock.patch does to put one back.
        values = object.__getattribute__(self, "_values")
        if name in values:
            del values[name]
        else:
            object.__delattr__(self, name)
            return
        object.__getattribute__(self, "_hidden").add(name)

    def get_config_copy(self):
        """All settings, those of the parts under dotted names."""
        out = dict(object.__getattribute__(self, "_values"))
        for part, config in self._parts():
            out.update((f"{part}.{k}", v) for k, v in config.get_config_copy().items())
        return out

    to_dict = shallow_copy_dict = get_config_copy

    def _parts(self):
        return [(k, v) for k, v in vars(self).items() if isinstance(v, ConfigModule)]

    def _own(self, name):
        """The part that has a setting of a dotted name, and its name in there."""
        config = self
        *parts, last = name.split(".")
        for p in parts:
            config = getattr(config, p)
        return config, last

    def get_hash(self):
        """A hash of the settings that can change what is compiled."""
        import hashlib

        ignored = self.to_dict().get("_compile_ignored_keys", ())
        text = repr(sorted((k, v) for k, v in self.to_dict().items() if k not in ignored and k != "_compile_ignored_keys"))
        return hashlib.md5(text.encode()).digest()

    def changed(self):
        """The settings that differ from their defaults."""
        defaults = object.__getattribute__(self, "_defaults")
        return {k: v for k, v in object.__getattribute__(self, "_values").items() if v != defaults[k]}

    def codegen_config(self):
        """Statements that set what differs from the defaults."""
        lines = []
        for k, v in self.changed().items():
            if isinstance(v, ConfigModule) or not isinstance(v, (bool, int, float, str, bytes, list, tuple, dict, set, type(None))):
                continue
            lines.append(f"{self.__name__}.{k} = {v!r}")
        for k, v in vars(self).items():
            if isinstance(v, ConfigModule):
                lines.append(v.codegen_config())
        return "\n".join(l for l in lines if l)

    def save_config(self):
        import pickle

        ignored = self.get_config_copy().get("_save_config_ignore", ())
        return pickle.dumps({k: v for k, v in self.get_config_copy().items() if k not in ignored}, protocol=2)

    def save_config_portable(self):
        prefixes = tuple(self.get_config_copy().get("_cache_config_ignore_prefix", ()))
        return {k: v for k, v in self.get_config_copy().items() if not k.startswith("_") and not (prefixes and k.startswith(prefixes))}

    def load_config(self, values):
        if isinstance(values, bytes):
            import pickle

            values = pickle.loads(values)
        for name, v in values.items():
            config, last = self._own(name)
            setattr(config, last, v)

    def patch(self, arg1=None, arg2=None, **kwargs):
        if arg1 is not None:
            changes = {arg1: arg2} if isinstance(arg1, str) else dict(arg1)
        else:
            changes = kwargs
        return _Patch(self, changes)


class _Patch:
    def __init__(self, config, changes):
        self.config, self.changes = config, changes

    def __enter__(self):
        self.prior = {k: self._get(k) for k in self.changes}
        for k, v in self.changes.items():
            self._set(k, v)

    def __exit__(self, *args):
        for k, v in self.prior.items():
            self._set(k, v)

    def _get(self, k):
        o = self.config
        for p in k.split("."):
            o = getattr(o, p)
        return o

    def _set(self, k, v):
        *path, last = k.split(".")
        o = self.config
        for p in path:
            o = getattr(o, p)
        setattr(o, last, v)

    def __call__(self, func):
        import functools

        if isinstance(func, type):
            return self._of_tests(func)

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with _Patch(self.config, self.changes):
                return func(*args, **kwargs)

        return wrapper

    def _of_tests(self, cls):
        """The class of tests with the settings from its set-up to its end."""
        import unittest

        if not issubclass(cls, unittest.TestCase):
            raise AssertionError(f"{cls} must be a unittest.TestCase subclass")
        patch = self

        class _Patched(cls):
            @classmethod
            def setUpClass(self):
                patch.__enter__()
                try:
                    super().setUpClass()
                except BaseException:
                    patch.__exit__(None, None, None)
                    raise

            @classmethod
            def tearDownClass(self):
                try:
                    super().tearDownClass()
                finally:
                    patch.__exit__(None, None, None)

        _Patched.__name__, _Patched.__qualname__, _Patched.__module__ = cls.__name__, cls.__qualname__, cls.__module__
        return _Patched


def install(name, values):
    """Puts a settings module in place of the module that defines it."""
    m = ConfigModule(name, values)
    m.__file__ = sys.modules[name].__file__
    sys.modules[name] = m
    return m
