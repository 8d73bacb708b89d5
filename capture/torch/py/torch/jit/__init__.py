"""TorchScript by name: nothing is compiled to it here. What is scripted or traced runs as the Python that it is, and a warning says so once."""
import contextlib as _contextlib
import functools as _functools
import typing as _typing
import warnings as _warnings
from collections import namedtuple as _namedtuple

import torch as _torch
from torch._jit_internal import Final, Future, _overload, _overload_method, export, ignore, is_scripting, unused
from torch.nn import Module as _Module

Error = RuntimeError


class TracerWarning(Warning):
    @staticmethod
    def ignore_lib_warnings():
        _warnings.filterwarnings("ignore", category=TracerWarning, module="torch.(?!jit)")


class TracingCheckError(Exception):
    pass


_said = False


def _say(what):
    global _said
    if not _said:
        _said = True
        _warnings.warn(f"torch.jit.{what}: TorchScript is not compiled here; the program runs as Python", UserWarning, stacklevel=3)


class ScriptFunction:
    """The class of scripted functions. Those are Python's own here, so that nothing is an instance of it."""


class ScriptModule(_Module):
    """A module that is meant to be scripted; its methods are Python's."""

    def save(self, f, _extra_files=None):
        save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        import io

        buffer = io.BytesIO()
        save(self, buffer, _extra_files)
        return buffer.getvalue()


class RecursiveScriptModule(ScriptModule):
    """What script and trace give for a module: it has the module's parameters, buffers and children, and calls it."""

    def __init__(self, original, run=None):
        super().__init__()
        # The tables are the module's own: what changes in one is changed in the other.
        for table in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
            self.__dict__[table] = original.__dict__[table]
        self.__dict__["_original"] = original
        self.__dict__["training"] = original.training

    @property
    def original_name(self):
        return type(self._original).__name__

    def train(self, mode=True):
        super().train(mode)
        self._original.training = mode
        return self

    def forward(self, *args, **kwargs):
        return self._original(*args, **kwargs)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            original = self.__dict__.get("_original")
            if original is None:
                raise
            return getattr(original, name)

    def extra_repr(self):
        return f"original_name={self.original_name}"


TopLevelTracedModule = RecursiveScriptModule


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """obj itself; for a module, a module that runs it."""
    _say("script")
    if isinstance(obj, ScriptModule):
        return obj
    if isinstance(obj, _Module):
        return RecursiveScriptModule(obj)
    if not callable(obj) and not isinstance(obj, (dict, list)):
        raise RuntimeError(f"Expected a function, class or module, got {type(obj).__name__}")
    return obj


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True, _force_outplace=False,
          _module_class=None, _compilation_unit=None, example_kwarg_inputs=None, _store_inputs=True):
    """Runs func once with its examples, as tracing does, and gives it back."""
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    _say("trace")
    if isinstance(func, ScriptModule):
        return func
    if isinstance(example_inputs, (_torch.Tensor, dict)):
        example_inputs = (example_inputs,)
    state = _torch.get_rng_state()
    func(*(example_inputs or ()), **(example_kwarg_inputs or {}))
    if check_trace:  # the check starts from where the trace did
        after = _torch.get_rng_state()
        _torch.set_rng_state(state)
        with _torch.no_grad():
            func(*(example_inputs or ()), **(example_kwarg_inputs or {}))
        _torch.set_rng_state(after)
    return RecursiveScriptModule(func) if isinstance(func, _Module) else func


def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True, **kwargs):
    if not isinstance(mod, _Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    _say("trace_module")
    for name, args in inputs.items():
        getattr(mod, name)(*(args if isinstance(args, tuple) else (args,)))
    return RecursiveScriptModule(mod)


def script_method(fn):
    return fn


def script_if_tracing(fn):
    return fn


def interface(obj):
    return obj


def is_tracing():
    return False


def annotate(the_type, the_value):
    return the_value


Attribute = _namedtuple("Attribute", ["value", "type"])


def isinstance(obj, target_type):  # shadows the builtin of this name below
    """isinstance that takes types with parameters, as List[int], and looks into containers for them."""
    builtin = __builtins__["isinstance"] if type(__builtins__) is dict else __builtins__.isinstance
    if type(target_type) is tuple:
        return any(isinstance(obj, t) for t in target_type)
    origin, args = _typing.get_origin(target_type), _typing.get_args(target_type)
    if origin is None:
        return builtin(obj, target_type)
    if origin is _typing.Union:
        return any(isinstance(obj, t) for t in args)
    if not builtin(obj, origin):
        return False
    if origin is dict and args:
        return all(isinstance(k, args[0]) and isinstance(v, args[1]) for k, v in obj.items())
    if origin is tuple and args:
        return len(obj) == len(args) and all(isinstance(v, t) for v, t in zip(obj, args))
    return all(isinstance(v, args[0]) for v in obj) if args else True


def fork(func, *args, **kwargs):
    """Runs func at once; its result waits in a future."""
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future):
    return future.wait()


def save(m, f, _extra_files=None):
    """Writes a module so that load reads it back: its classes have to be there then, as code is not stored."""
    _torch.save({"torch.jit": 1, "module": m, "extra_files": dict(_extra_files or {})}, f)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    stored = _torch.load(f, map_location=map_location, weights_only=False)
    if type(stored) is not dict or "torch.jit" not in stored:
        raise RuntimeError("torch.jit.load: the file was not written by torch.jit.save of this program; TorchScript archives are not supported")
    if _extra_files is not None:
        for k in _extra_files:
            if k in stored["extra_files"]:
                _extra_files[k] = stored["extra_files"][k]
    return stored["module"]


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before freezing.")
    return mod


def optimize_for_inference(mod, other_methods=None):
    return mod


def run_frozen_optimizations(mod, optimize_numerics=True, preserved_methods=None):
    pass


def set_fusion_strategy(strategy):
    return list(strategy)


def enable_onednn_fusion(enabled):
    pass


def onednn_fusion_enabled():
    return False


@_contextlib.contextmanager
def optimized_execution(should_optimize):
    yield


@_contextlib.contextmanager
def fuser(name):
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise Exception(f"unrecognized fuser option (name: {name})")  # noqa: PyTorch raises this class
    yield


class strict_fusion:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


def _unwrap_optional(x):
    """The value itself, which is not None."""
    assert x is not None, "Unwrapping null optional"
    return x
