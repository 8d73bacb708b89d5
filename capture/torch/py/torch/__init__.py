"""Tensors, automatic differentiation, and the compiler, as PyTorch programs know them."""
# Operators join this namespace as they are first used, and some are called like builtins.
import builtins as _builtins
import sys as _sys

from torch import _C
from torch._C import Size, Tensor, device, dtype, layout, memory_format, SymInt, Generator

inf = _builtins.float("inf")
nan = _builtins.float("nan")
e = 2.718281828459045
pi = 3.141592653589793
newaxis = None

_C._install(_sys.modules["torch"])

from torch.version import __version__
from torch._ops import ops
from torch._tag import Tag
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch import autograd
from torch._limits import finfo, iinfo
from torch.functional import (_segment_reduce, atleast_1d, atleast_2d, atleast_3d, block_diag, broadcast_shapes, broadcast_tensors, cartesian_prod, cdist, chain_matmul, chunk, einsum,
                              gru_cell, is_complex, is_floating_point, lstm_cell, lu, meshgrid, norm, numel, rnn_relu_cell, rnn_tanh_cell, split, stft, tensordot,
                              unique, unique_consecutive, unravel_index)

from torch._rnn import gru, lstm, rnn_relu, rnn_tanh
from torch._lowrank import pca_lowrank, svd_lowrank
from torch._asarray import asarray
from torch._tensor import eig, lstsq, matrix_rank, solve, symeig

from torch import storage as storage
from torch.storage import TypedStorage, UntypedStorage

globals().update(storage._legacy_classes())

Storage = FloatStorage

from torch import _legacy

globals().update(_legacy._classes("torch", "cpu"))
from torch._legacy import set_default_tensor_type


from torch import _absent

for _name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4", "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric",
              "per_channel_affine_float_qparams"):
    globals()[_name] = _absent.Constant("torch." + _name)


class SymFloat:
    pass


class SymBool:
    pass


def typename(obj):
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    place = getattr(named, "__module__", None)
    return named.__qualname__ if place in (None, "", "builtins") else f"{place}.{named.__qualname__}"


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_storage(obj):
    return type(obj) in (TypedStorage, UntypedStorage)


def manual_seed(seed):
    return _C._manual_seed(_builtins.int(seed))


def seed():
    import random as _random

    n = _random.getrandbits(63)
    _C._manual_seed(n)
    return n


def initial_seed():
    return _C.default_generator.initial_seed()


def get_rng_state():
    return _C.default_generator.get_state()


def set_rng_state(state):
    _C.default_generator.set_state(state)


default_generator = _C.default_generator
is_grad_enabled = _C.is_grad_enabled
is_inference_mode_enabled = _C.is_inference_mode_enabled
is_anomaly_enabled = _C._is_anomaly_enabled
is_anomaly_check_nan_enabled = _C._is_anomaly_check_nan_enabled


def is_inference(input):
    return input.is_inference()


get_default_dtype = _C.get_default_dtype


def set_default_dtype(d):
    _C._set_default_dtype(d)


def get_default_device():
    """The device on which functions make tensors when they are told none."""
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._device import DeviceContext

    for mode in reversed(_get_current_function_mode_stack()):
        if isinstance(mode, DeviceContext):
            return mode.device
    return device("cpu")


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    if profile == "default":
        _C._set_printoptions(precision=4, threshold=1000, edgeitems=3, linewidth=80)
    elif profile == "short":
        _C._set_printoptions(precision=2, threshold=1000, edgeitems=2, linewidth=80)
    elif profile == "full":
        _C._set_printoptions(precision=4, threshold=1 << 62, edgeitems=3, linewidth=80)
    for k, v in dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth).items():
        if v is not None:
            _C._set_printoptions(**{k: _builtins.int(_builtins.min(v, 1 << 62))})
    _C._set_printoptions(sci_mode=sci_mode)


def set_num_threads(n):
    if type(n) is not _builtins.int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _C._set_num_threads(n)


def get_num_threads():
    return _C._get_num_threads()


def set_num_interop_threads(n):
    pass


def get_num_interop_threads():
    return 1


def get_device(input):
    return input.get_device()


def detach_(input):
    return input.detach_()


def from_dlpack(ext_tensor):
    from torch.utils import dlpack

    return dlpack.from_dlpack(ext_tensor)


def to_dlpack(tensor):
    from torch.utils import dlpack

    return dlpack.to_dlpack(tensor)


def get_device_module(device=None):
    """The module of a device's functions; of the default device where none is named."""
    name = get_default_device().type if device is None else _C.device(device).type if not isinstance(device, _C.device) else device.type
    module = getattr(_sys.modules["torch"], name, None)
    if module is None:
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    return module


def is_vulkan_available():
    return False


def compiled_with_cxx11_abi():
    return True


has_lapack, has_mkl, has_openmp, has_spectral = True, False, True, True


def use_deterministic_algorithms(mode, *, warn_only=False):
    _C._set_deterministic_algorithms(mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled():
    return _C._get_deterministic_algorithms()


def is_deterministic_algorithms_warn_only_enabled():
    return _C._get_deterministic_algorithms_warn_only()


def set_deterministic_debug_mode(debug_mode):
    names = {"default": 0, "warn": 1, "error": 2}
    named = isinstance(debug_mode, str)
    if not named and not isinstance(debug_mode, _builtins.int):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (names if named else names.values()):
        expected = "one of `default`, `warn`, `error`" if named else "0, 1, or 2"
        raise RuntimeError(f"invalid value of debug_mode, expected {expected}, but got {debug_mode}")
    level = names.get(debug_mode, debug_mode)
    _C._set_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode():
    if are_deterministic_algorithms_enabled():
        return 1 if is_deterministic_algorithms_warn_only_enabled() else 2
    return 0


_warn_always = False


def set_warn_always(b):
    """Whether warnings that are given once are given each time."""
    global _warn_always
    if not isinstance(b, _builtins.bool):
        raise TypeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _warn_always = b


def is_warn_always_enabled():
    return _warn_always


def set_float32_matmul_precision(precision):
    if precision in ("highest", "high", "medium"):
        _C._set_float32_matmul_precision(precision)
        return
    import warnings

    warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect.", stacklevel=2)


def get_float32_matmul_precision():
    return _C._get_float32_matmul_precision()


_default_devices = []  # the context of set_default_device, if there is one


def set_default_device(device):
    """Functions that make tensors make them on this device from now on; None takes the last one back."""
    if _default_devices:
        _default_devices.pop().__exit__(None, None, None)
    if device is not None:
        from torch.utils._device import DeviceContext

        _default_devices.append(DeviceContext(device))
        _default_devices[0].__enter__()


def _assert(condition, message):
    if type(condition) is not Tensor and hasattr(type(condition), "__torch_function__"):
        from torch.overrides import handle_torch_function, has_torch_function

        if has_torch_function((condition,)):
            return handle_torch_function(_assert, (condition,), condition, message)
    assert condition, message


def sym_sum(args):
    total = 0
    for a in args:
        total = total + a
    return total


def sym_max(a, b):
    return _builtins.max(a, b)


def sym_min(a, b):
    return _builtins.min(a, b)


def sym_float(a):
    return _builtins.float(a)


def sym_int(a):
    return _builtins.int(a)


def sym_not(a):
    return not a


def sym_ite(b, t, f):
    return t if b else f


def _sym_function(name):
    import math

    of_number = getattr(math, name)

    def f(a):
        return of_number(a)

    f.__name__ = f.__qualname__ = "_sym_" + name
    return f


for _name in ("sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan"):
    globals()["_sym_" + _name] = _sym_function(_name)


def _check(cond, message=None):
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.)" if message is None else message())


def _check_is_size(i, message=None):
    _check(i >= 0, message)


def _disable_dynamo(fn=None, recursive=True):
    """Keeps a library function out of capture."""
    if fn is None:
        return lambda f: _disable_dynamo(f, recursive)
    import functools

    @functools.wraps(fn)
    def inner(*args, **kwargs):
        from torch._C import _dynamo as native

        return native.disabled(fn, args, kwargs)

    inner._torchdynamo_disable = True
    inner._torchdynamo_library = True
    return inner


class _TorchCompileInductorWrapper:
    compiler_name = "inductor"

    def __init__(self, mode, options, dynamic):
        from torch import _inductor

        self.mode = mode
        if mode is not None and mode not in _inductor.list_mode_options():
            known = "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(known)}")
        self.config = {} if mode is None else dict(_inductor.list_mode_options(mode))
        for option, value in (options or {}).items():
            name = option.replace("-", "_")
            try:
                now = _inductor.config
                for part in name.split("."):  # triton.cudagraphs
                    now = getattr(now, part)
            except AttributeError:
                raise RuntimeError(f"Unexpected optimization option {option}, known options are {list(_inductor.config.to_dict())}") from None
            # bool, int and float are dtypes here.
            if type(now) in (type(True), type(0), type(0.0), type("")) and type(value) is not type(now):
                raise RuntimeError(f"Unexpected type of attr {option}, got {type(value).__name__} should be {type(now).__name__}")
            self.config[name] = value

    def __eq__(self, other):
        return isinstance(other, _TorchCompileInductorWrapper) and self.config == other.config

    def __call__(self, model_, inputs_):
        from torch._inductor.compile_fx import compile_fx

        return compile_fx(model_, inputs_, config_patches=self.config)


class _TorchCompileWrapper:
    """A backend that is given the mode and the options, whatever it makes of them."""

    def __init__(self, backend, mode, options, dynamic):
        from torch._dynamo.backends.registry import lookup_backend

        self.compiler_name = backend if isinstance(backend, str) else getattr(backend, "__name__", str(backend))
        self.named = isinstance(backend, str)
        self.dynamic = dynamic
        self.compiler_fn = lookup_backend(backend)
        self.kwargs = {}
        if mode and mode != "default":
            self.kwargs["mode"] = mode
        if options:
            self.kwargs["options"] = options

    def __eq__(self, other):
        return isinstance(other, _TorchCompileWrapper) and (self.compiler_fn, self.kwargs, self.dynamic) == (other.compiler_fn, other.kwargs, other.dynamic)

    def __call__(self, model_, inputs_):
        from torch._dynamo.backends.registry import takes_no_options

        if self.named and takes_no_options(self.compiler_name, self.kwargs):
            return self.compiler_fn(model_, inputs_)
        return self.compiler_fn(model_, inputs_, **self.kwargs)

    def reset(self):
        if hasattr(self.compiler_fn, "reset"):
            self.compiler_fn.reset()


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    if model is None:
        def fn(model):
            if model is None:
                raise RuntimeError("Model can't be None")
            return compile(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable)

        return fn
    if None not in (mode, options):
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    mode = "default" if mode is None and options is None else mode
    if backend == "inductor" and (options or (mode and mode != "default")):
        backend = _TorchCompileInductorWrapper(mode, options, dynamic)
    elif options or (mode and mode != "default"):
        backend = _TorchCompileWrapper(backend, mode, options, dynamic)
    import torch._dynamo

    return torch._dynamo.optimize(backend=backend, nopython=fullgraph, dynamic=dynamic, disable=disable)(model)


from torch._higher_order_ops.cond import cond


def is_autocast_enabled(device_type="cuda"):
    return device_type == "cpu" and _C._autocast_state()[0]


def is_autocast_cpu_enabled():
    return _C._autocast_state()[0]


def set_autocast_enabled(device_type, enabled=None):
    # With one argument it speaks of CUDA, which is not there.
    if device_type == "cpu":
        _C._set_autocast_enabled(enabled)


def set_autocast_dtype(device_type, dtype):
    if device_type == "cpu":
        _C._set_autocast_dtype(dtype)


def set_autocast_cpu_enabled(enabled):
    _C._set_autocast_enabled(enabled)


def set_autocast_cpu_dtype(dtype):
    _C._set_autocast_dtype(dtype)


def clear_autocast_cache():
    pass


set_autocast_cache_enabled = _C.set_autocast_cache_enabled


def get_autocast_dtype(device_type):
    return _C._autocast_state()[1] if device_type == "cpu" else float16


def get_autocast_cpu_dtype():
    return _C._autocast_state()[1]


def get_autocast_gpu_dtype():
    return get_autocast_dtype("cuda")


def get_autocast_xla_dtype():
    return bfloat16


def get_autocast_ipu_dtype():
    return float16


def is_autocast_xla_enabled():
    return False


def is_autocast_ipu_enabled():
    return False


def is_autocast_cache_enabled():
    return _C._autocast_state()[2]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    from torch import func as transforms

    return transforms.vmap(func, in_dims, out_dims, randomness, chunk_size=chunk_size)


_PARTS = ("__config__", "_tensor_str", "distributed", "export", "func", "futures", "fx", "hub", "jit", "multiprocessing", "nested", "overrides", "profiler", "types", "return_types", "_VF", "_jit_internal", "quasirandom", "_refs")


class OutOfMemoryError(RuntimeError):
    """Exception raised when device is out of memory"""


torch = _sys.modules[__name__]  # as PyTorch's own package has itself as an attribute


def __getattr__(name):
    if name in ("GradScaler", "Future"):
        import importlib

        return getattr(importlib.import_module("torch.amp" if name == "GradScaler" else "torch.futures"), name)
    if name in _PARTS:  # imported when they are first named
        import importlib

        try:
            return importlib.import_module("torch." + name)
        except ModuleNotFoundError as e:
            if e.name != "torch." + name:
                raise
    raise AttributeError(f"module 'torch' has no attribute '{name}'")


def __dir__():
    return _builtins.sorted({*globals(), *_PARTS, *_C._function_names("")})


from torch.amp.autocast_mode import autocast
from torch import amp
from torch import nn
from torch import backends
from torch import _utils, random, serialization, utils
from torch.serialization import load, save
from torch.random import fork_rng
from torch import sparse
from torch.sparse import sparse_coo_tensor, sparse_csr_tensor


def spmm(input, mat2):
    return sparse.mm(input, mat2)

_make_dual, _unpack_dual = _C._forward_ad._make_dual, _C._forward_ad._unpack_dual
