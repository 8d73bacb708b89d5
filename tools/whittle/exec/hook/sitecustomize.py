# Put in front of the module path by `whittle exec`. It runs the user's own sitecustomize, and has the recorder loaded once
# torch's compiler is imported. Until then it costs one file name in the private folder and nothing else.
import os
import sys

_WATCHED = ("torch._dynamo.repro.after_aot", "torch._dynamo.repro.after_dynamo", "torch._dynamo.debug_utils")
_COUNTED = ("torch", "torch.optim.optimizer", "torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")

try:
    _CWD = os.getcwd()
except OSError:
    _CWD = ""


class _Loader:
    """Runs a module as its own loader does, then lets the recorder change it."""

    def __init__(self, inner, home):
        self._inner, self._home = inner, home

    def create_module(self, spec):
        return self._inner.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = self._inner
        if getattr(module, "__spec__", None) is not None:
            module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        try:
            _recorder(self._home).attach(module)
        except Exception as e:  # the program must not notice
            _note(self._home, "attaching to %s: %r" % (module.__name__, e))


class _Finder:
    def __init__(self, home):
        self._home = home

    def find_spec(self, name, path=None, target=None):
        if name not in (_COUNTED if _counts(self._home) else _WATCHED):
            return None
        for f in sys.meta_path:
            if f is self or not hasattr(f, "find_spec"):
                continue
            spec = f.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self._home)
                return spec
        return None


def _note(home, text):
    try:
        with open(os.path.join(home, "trouble"), "a") as f:
            f.write(text + "\n")
    except OSError:
        pass


def _counts(home):
    """Whether calls are to be told, and not failures."""
    return os.path.exists(os.path.join(home, "hook", "calls.py"))


def _recorder(home):
    name = "_whittle_recorder"
    file = "calls.py" if _counts(home) else "recorder.py"
    m = sys.modules.get(name)
    if m is None:
        import importlib.util

        spec = importlib.util.spec_from_file_location(name, os.path.join(home, "hook", file))
        m = importlib.util.module_from_spec(spec)
        sys.modules[name] = m
        spec.loader.exec_module(m)
        m.start(home, _CWD)
    return m


def _start():
    here = os.path.dirname(os.path.abspath(__file__))
    home = os.path.dirname(here)
    try:
        os.close(os.open(os.path.join(home, "seen"), os.O_CREAT | os.O_WRONLY, 0o666))
        sys.meta_path.insert(0, _Finder(home))
        # PyTorch's own dumps are for a Python in which this file does not run; here they would only print.
        for k in os.environ.pop("WHITTLE_EXEC_FALLBACK", "").split():
            os.environ.pop(k, None)
    except OSError:
        pass  # a process that outlives the folder
    sys.path[:] = [p for p in sys.path if p != here]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  the user's own
    except ImportError as e:
        if e.name != "sitecustomize":
            raise
    finally:
        if "sitecustomize" not in sys.modules and mine is not None:
            sys.modules["sitecustomize"] = mine


_start()
