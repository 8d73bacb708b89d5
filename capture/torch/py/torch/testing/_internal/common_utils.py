"""TestCase, its assertEqual, parametrised tests, and the facts and decorators by which tests are chosen.

The facts are those of this machine: a processor, no GPU, no distributed back ends.
"""
import argparse
import collections.abc
import contextlib
import copy
import errno
import functools
import gc
import inspect
import io
import itertools
import json
import logging
import math
import operator
import os
import pathlib
import platform
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce, wraps
from itertools import chain, product
from pathlib import Path
from statistics import mean
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Type, TypeVar, Union

import expecttest
import torch
import torch.backends.cudnn
import torch.backends.mkl
import torch.cuda
from torch.testing import make_tensor
from torch.testing._comparison import (BooleanPair, NonePair, NumberPair, Pair, TensorLikePair, default_tolerances, get_tolerances, not_close_error_metas,
                                       assert_allclose, assert_close)
from torch.testing._internal.common_dtype import get_all_dtypes

log = logging.getLogger(__name__)

SEED = 1234
MI300_ARCH = ("gfx940", "gfx941", "gfx942")
GRADCHECK_NONDET_TOL = 1e-12
FILE_SCHEMA = "file:///" if sys.platform == "win32" else "file://"
ADDRESS_IN_USE = "Address already in use"
CONNECT_TIMEOUT = "connect() timed out."

# ---- what is asked for by the environment


def _switch(name, default=False):
    value = os.getenv(name)
    return default if value is None else value == "1"


class TestEnvironment:
    """Switches that come from the environment; those that are not the default are repeated in the line that reruns a test."""

    repro_env_vars = {}

    @staticmethod
    def def_setting(name, env_var=None, default=None, include_in_repro=True, enabled_fn=lambda v, d: v != d, implied_by_fn=lambda: False, parse_fn=lambda v: v):
        value = default if env_var is None else os.getenv(env_var)
        value = parse_fn(value) if value is not None else default
        if not value and implied_by_fn():
            value = True
        globals()[name] = value
        if include_in_repro and env_var is not None and enabled_fn(value, default):
            TestEnvironment.repro_env_vars[env_var] = str(value)
        return value

    @staticmethod
    def def_flag(name, env_var=None, default=False, include_in_repro=True, enabled_fn=lambda v, d: bool(v), implied_by_fn=lambda: False):
        def parse(value):
            return value != "0" if default else value == "1"

        enabled = TestEnvironment.def_setting(name, env_var, default, include_in_repro=False, implied_by_fn=implied_by_fn, parse_fn=parse)
        if include_in_repro and env_var is not None and enabled != default:
            TestEnvironment.repro_env_vars[env_var] = "1" if enabled else "0"
        return enabled

    @staticmethod
    def repro_env_var_prefix():
        return " ".join(f"{k}={v}" for k, v in TestEnvironment.repro_env_vars.items())


def _flag(name, env_var=None, **kw):
    return TestEnvironment.def_flag(name, env_var=env_var, **kw)


_flag("IS_CI", "CI", include_in_repro=False)
_flag("IS_SANDCASTLE", "SANDCASTLE", include_in_repro=False)
_flag("IN_RE_WORKER", "INSIDE_RE_WORKER", include_in_repro=False)
_flag("IS_FBCODE", "PYTORCH_TEST_FBCODE", include_in_repro=False)
_flag("IS_REMOTE_GPU", "PYTORCH_TEST_REMOTE_GPU", include_in_repro=False)
_flag("DISABLE_RUNNING_SCRIPT_CHK", "PYTORCH_DISABLE_RUNNING_SCRIPT_CHK", include_in_repro=False)
_flag("PRINT_REPRO_ON_FAILURE", "PYTORCH_PRINT_REPRO_ON_FAILURE", default=True, include_in_repro=False)
_flag("TEST_WITH_TORCHINDUCTOR", "PYTORCH_TEST_WITH_INDUCTOR")
_flag("TEST_WITH_AOT_EAGER", "PYTORCH_TEST_WITH_AOT_EAGER")
_flag("TEST_WITH_TORCHDYNAMO", "PYTORCH_TEST_WITH_DYNAMO", implied_by_fn=lambda: TEST_WITH_TORCHINDUCTOR or TEST_WITH_AOT_EAGER)
_flag("TEST_WITH_ASAN", "PYTORCH_TEST_WITH_ASAN")
_flag("TEST_WITH_DEV_DBG_ASAN", "PYTORCH_TEST_WITH_DEV_DBG_ASAN")
_flag("TEST_WITH_TSAN", "PYTORCH_TEST_WITH_TSAN")
_flag("TEST_WITH_UBSAN", "PYTORCH_TEST_WITH_UBSAN")
_flag("TEST_WITH_ROCM", "PYTORCH_TEST_WITH_ROCM")
_flag("TEST_WITH_MIOPEN_SUGGEST_NHWC", "PYTORCH_MIOPEN_SUGGEST_NHWC")
_flag("TEST_WITH_TV", "PYTORCH_TEST_WITH_TV")
_flag("TEST_WITH_SLOW", "PYTORCH_TEST_WITH_SLOW")
_flag("TEST_SKIP_FAST", "PYTORCH_TEST_SKIP_FAST")
_flag("TEST_WITH_CROSSREF", "PYTORCH_TEST_WITH_CROSSREF")
_flag("TEST_SKIP_CUDAGRAPH", "PYTORCH_TEST_SKIP_CUDAGRAPH")
_flag("TEST_CUDA_MEM_LEAK_CHECK", "PYTORCH_TEST_CUDA_MEM_LEAK_CHECK")
_flag("TEST_WITH_SLOW_GRADCHECK", "PYTORCH_TEST_WITH_SLOW_GRADCHECK")
_flag("RERUN_DISABLED_TESTS", "PYTORCH_TEST_RERUN_DISABLED_TESTS", include_in_repro=False)
_flag("NO_MULTIPROCESSING_SPAWN", "NO_MULTIPROCESSING_SPAWN")
_flag("TEST_PRIVATEUSE1", "PYTORCH_TEST_PRIVATEUSE1")
TestEnvironment.def_setting("SLOW_TESTS_FILE", "PYTORCH_TEST_SLOW_TESTS_FILE", default="", include_in_repro=False)
TestEnvironment.def_setting("DISABLED_TESTS_FILE", "PYTORCH_TEST_DISABLED_TESTS_FILE", default="", include_in_repro=False)
TestEnvironment.def_setting("OPINFO_SAMPLE_INPUT_INDEX", "PYTORCH_OPINFO_SAMPLE_INPUT_INDEX", default=None, include_in_repro=False, parse_fn=lambda v: None if v is None else int(v))

DEFAULT_DISABLED_TESTS_FILE = ".pytorch-disabled-tests.json"
DEFAULT_SLOW_TESTS_FILE = "slow_tests.json"
disabled_tests_dict, slow_tests_dict = {}, {}
TEST_PRIVATEUSE1_DEVICE_TYPE = "privateuseone"
NATIVE_DEVICES = ("cpu", "cuda", "xpu", "meta", "privateuseone")
DEVICE_LIST_SUPPORT_PROFILING_TEST = ("cpu", "cuda", "xpu")
ALLOW_XPU_PROFILING_TEST = True
CI_TEST_PREFIX = CI_PT_ROOT = CI_FUNCTORCH_ROOT = ""

# ---- what the machine has

IS_WINDOWS = sys.platform == "win32"
IS_MACOS = sys.platform == "darwin"
IS_LINUX = sys.platform == "linux"
IS_PPC = platform.machine().startswith("ppc64")
IS_X86 = platform.machine() in ("x86_64", "i386", "AMD64")
IS_ARM64 = platform.machine() in ("arm64", "aarch64")
IS_S390X = platform.machine() == "s390x"
IS_JETSON = False
MACOS_VERSION = -1.0
IS_FILESYSTEM_UTF8_ENCODING = sys.getfilesystemencoding() == "utf-8"


def is_avx512_vnni_supported():
    if sys.platform != "linux":
        return False
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        return "vnni" in f.read()


IS_AVX512_VNNI_SUPPORTED = is_avx512_vnni_supported()


def _has_module(name):
    import importlib.util

    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


TEST_NUMPY = _has_module("numpy")
TEST_FAIRSEQ = _has_module("fairseq")
TEST_SCIPY = _has_module("scipy")
TEST_LIBROSA = False
TEST_OPT_EINSUM = _has_module("opt_einsum")
TEST_Z3 = _has_module("z3")
TEST_NUMBA = _has_module("numba")
TEST_DILL = _has_module("dill")
TEST_TRANSFORMERS = _has_module("transformers")
TEST_MKL = torch.backends.mkl.is_available()
TEST_ACL = False
TEST_MPS = TEST_XPU = TEST_HPU = TEST_CUDA = False
TEST_CUDA_GRAPH = TEST_CUDA_CUDSS = EXPANDABLE_SEGMENTS = False
TEST_IN_SUBPROCESS = TEST_DISCOVER = TEST_BAILOUTS = USE_PYTEST = SHOWLOCALS = has_pytest = False
PYTEST_SINGLE_TEST = TEST_SAVE_XML = None
REPEAT_COUNT, RUN_PARALLEL, LOG_SUFFIX = 1, 0, ""
UNITTEST_ARGS = list(sys.argv)
custom_device_mod = None
running_script_path = None
is_running_via_run_test = False


class LazyVal:
    """A fact that is found out when it is asked for."""

    def __init__(self, cb):
        self.cb, self.computed = cb, False

    def __bool__(self):
        if not self.computed:
            self.value, self.computed = self.cb(), True
        return bool(self.value)


def is_privateuse1_backend_available():
    return False


class ProfilingMode(Enum):
    LEGACY = 1
    SIMPLE = 2
    PROFILING = 3


GRAPH_EXECUTOR = ProfilingMode.PROFILING


def cppProfilingFlagsToProfilingMode():
    return GRAPH_EXECUTOR


@contextmanager
def enable_profiling_mode():
    yield


@contextmanager
def enable_profiling_mode_for_profiling_tests():
    yield


@contextmanager
def num_profiled_runs(num_runs):
    yield


# ---- dtypes

numpy_to_torch_dtype_dict = torch_to_numpy_dtype_dict = {}
if TEST_NUMPY:
    import numpy as np

    numpy_to_torch_dtype_dict = {getattr(np, n): getattr(torch, t) for n, t in
                                 [("bool_", "bool"), *((n, n) for n in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
                                                                        "float64", "complex64", "complex128"))] if hasattr(torch, t) and hasattr(np, n)}
    torch_to_numpy_dtype_dict = {v: k for k, v in numpy_to_torch_dtype_dict.items()}
    # NumPy has neither: the nearest that holds their values stands for them.
    torch_to_numpy_dtype_dict.update({torch.bfloat16: np.float32})
    if hasattr(torch, "complex32"):
        torch_to_numpy_dtype_dict[torch.complex32] = np.complex64


def numpy_to_torch_dtype(np_dtype):
    try:
        return numpy_to_torch_dtype_dict[np_dtype]
    except KeyError:
        return numpy_to_torch_dtype_dict[np_dtype.type]


def has_corresponding_torch_dtype(np_dtype):
    try:
        numpy_to_torch_dtype(np_dtype)
        return True
    except (KeyError, AttributeError):
        return False


dtype2prec_DONTUSE = {torch.float: 1e-5, torch.double: 1e-5, torch.half: 1e-2, torch.bfloat16: 1e-1}


def dtype_name(dtype):
    return str(dtype).split(".")[1]


dtype_abbrs = {getattr(torch, n): a for n, a in [("bfloat16", "bf16"), ("float64", "f64"), ("float32", "f32"), ("float16", "f16"), ("complex32", "c32"), ("complex64", "c64"),
                                                 ("complex128", "c128"), ("int8", "i8"), ("int16", "i16"), ("int32", "i32"), ("int64", "i64"), ("bool", "b8"), ("uint8", "u8"),
                                                 ("float8_e4m3fn", "f8e4m3fn"), ("float8_e5m2", "f8e5m2"), ("float8_e4m3fnuz", "f8e4m3fnuz"), ("float8_e5m2fnuz", "f8e5m2fnuz")]
               if hasattr(torch, n)}


def bytes_to_scalar(byte_list, dtype, device):
    """The number of this dtype that these bytes are, as a tensor."""
    buf = torch.tensor(byte_list, dtype=torch.uint8)
    assert len(byte_list) == dtype.itemsize
    return buf.view(dtype).reshape(()).to(device)


# ---- seeds and switches


def set_rng_seed(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    if TEST_NUMPY:
        np.random.seed(seed)


@contextmanager
def freeze_rng_state(*args, **kwargs):
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


@contextmanager
def set_default_dtype(dtype):
    saved = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(saved)


@contextmanager
def set_default_tensor_type(tensor_type):
    saved = torch.tensor([]).type()
    torch.set_default_tensor_type(tensor_type)
    try:
        yield
    finally:
        torch.set_default_tensor_type(saved)


@contextmanager
def set_warn_always_context(new_val):
    old = torch.is_warn_always_enabled()
    torch.set_warn_always(new_val)
    try:
        yield
    finally:
        torch.set_warn_always(old)


class AlwaysWarnTypedStorageRemoval:
    def __init__(self, always_warn):
        assert isinstance(always_warn, bool)
        self.always_warn = always_warn

    def __enter__(self):
        self.saved = torch.storage._get_always_warn_typed_storage_removal()
        torch.storage._set_always_warn_typed_storage_removal(self.always_warn)

    def __exit__(self, *exc):
        torch.storage._set_always_warn_typed_storage_removal(self.saved)


class DeterministicGuard:
    """Deterministic algorithms for a while; the state before comes back."""

    def __init__(self, deterministic, *, warn_only=False, fill_uninitialized_memory=True):
        self.deterministic, self.warn_only, self.fill_uninitialized_memory = deterministic, warn_only, fill_uninitialized_memory

    @classmethod
    def _current_state(cls):
        return cls(torch.are_deterministic_algorithms_enabled(), warn_only=torch.is_deterministic_algorithms_warn_only_enabled())

    def _update(self):
        torch.use_deterministic_algorithms(self.deterministic, warn_only=self.warn_only)

    def __enter__(self):
        self._restore = self._current_state()
        self._update()

    def __exit__(self, *exc):
        self._restore._update()


class SwapTensorsGuard:
    """torch.__future__.set_swap_module_params_on_conversion for a while; None leaves it."""

    def __init__(self, use_swap_tensors):
        self.use_swap_tensors = use_swap_tensors

    def __enter__(self):
        self.saved = torch.__future__.get_swap_module_params_on_conversion()
        if self.use_swap_tensors is not None:
            torch.__future__.set_swap_module_params_on_conversion(self.use_swap_tensors)

    def __exit__(self, *exc):
        torch.__future__.set_swap_module_params_on_conversion(self.saved)


class swap:
    """Parametrises a test, or each test of a class, by whether modules swap their tensors."""

    def __init__(self, swap_values):
        self.swap_values = set(swap_values)

    def __call__(self, fn):
        return parametrize("swap", sorted(self.swap_values))(fn)


def wrapSwapTensorsTest(swap=None):
    def outer(fn):
        @wraps(fn)
        def wrapper(*args, **kwargs):
            with SwapTensorsGuard(swap):
                fn(*args, **kwargs)

        return wrapper

    return outer


def wrapDeterministicFlagAPITest(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        with DeterministicGuard(torch.are_deterministic_algorithms_enabled(), warn_only=torch.is_deterministic_algorithms_warn_only_enabled()):
            fn(*args, **kwargs)

    return wrapper


@contextmanager
def disable_gc():
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def set_cwd(path):
    old = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(old)


def suppress_warnings(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fn(*args, **kwargs)

    return wrapper


def gcIfJetson(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        fn(*args, **kwargs)

    return wrapper


def setLinalgBackendsToDefaultFinally(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        fn(*args, **kwargs)

    return wrapper


setBlasBackendsToDefaultFinally = setLinalgBackendsToDefaultFinally


# ---- parametrised tests


def _update_param_kwargs(param_kwargs, name, value):
    plural = f"{name}s"
    # A parametriser may name one value or several: a test asks for either.
    if isinstance(value, (list, tuple)):
        param_kwargs[name if name.endswith("s") else plural] = value
    else:
        param_kwargs[name] = value
    return param_kwargs


def _dtype_test_suffix(dtypes):
    if isinstance(dtypes, (list, tuple)):
        return "_" + "_".join(dtype_name(d) for d in dtypes) if dtypes else ""
    return f"_{dtype_name(dtypes)}" if dtypes else ""


class _TestParametrizer:
    """A decorator that makes several tests of one; its class says by _parametrize_test which.

    The tests come into being when the class is instantiated, by instantiate_parametrized_tests or for a device.
    """

    def _parametrize_test(self, test, generic_cls, device_cls):
        raise NotImplementedError

    def __call__(self, fn):
        if hasattr(fn, "parametrize_fn"):
            fn.parametrize_fn = compose_parametrize_fns(fn.parametrize_fn, self._parametrize_test)
        else:
            fn.parametrize_fn = self._parametrize_test
        return fn


def compose_parametrize_fns(old_parametrize_fn, new_parametrize_fn):
    """A parametriser of all combinations of two."""

    def composite(test, generic_cls, device_cls):
        for old_test, old_suffix, old_kwargs, old_decorators in list(old_parametrize_fn(test, generic_cls, device_cls)):
            for new_test, new_suffix, new_kwargs, new_decorators in new_parametrize_fn(old_test, generic_cls, device_cls):
                twice = set(old_kwargs) & set(new_kwargs)
                if twice:
                    raise RuntimeError(f"Parametrization over the same parameter by multiple parametrization decorators: {', '.join(sorted(twice))}")

                def decorators(param_kwargs, old=old_decorators, new=new_decorators):
                    return list(old(param_kwargs)) + list(new(param_kwargs))

                # The newer decorator is the outer one, and its name comes first.
                yield new_test, f"{new_suffix}{'_' if old_suffix and new_suffix else ''}{old_suffix}", {**old_kwargs, **new_kwargs}, decorators

    return composite


def instantiate_parametrized_tests(generic_cls):
    """Puts the tests that parametrised ones stand for into their class. A class decorator, too."""
    for name in tuple(dir(generic_cls)):
        test = getattr(generic_cls, name)
        if not hasattr(test, "parametrize_fn"):
            continue
        delattr(generic_cls, name)

        def instantiate(cls, name, test, param_kwargs):
            @wraps(test)
            def instantiated(self, param_kwargs=param_kwargs):
                test(self, **param_kwargs)

            # It is one test and no longer several.
            instantiated.__dict__.pop("parametrize_fn", None)
            assert not hasattr(generic_cls, name), f"Redefinition of test {name}"
            setattr(generic_cls, name, instantiated)

        for test, suffix, param_kwargs, decorators in test.parametrize_fn(test, generic_cls=generic_cls, device_cls=None):
            decorated = _clone_test(test)
            for decorator in decorators(param_kwargs):
                decorated = decorator(decorated)
            instantiate(generic_cls, f"{name}_{suffix}" if suffix else name, decorated, param_kwargs)
    return generic_cls


def _clone_test(test):
    @wraps(test)
    def clone(*args, **kwargs):
        return test(*args, **kwargs)

    return clone


class subtest:
    """One point of a parametrisation, with a name and decorators of its own."""

    __slots__ = ["arg_values", "name", "decorators"]

    def __init__(self, arg_values, name=None, decorators=None):
        self.arg_values, self.name, self.decorators = arg_values, name, decorators if decorators else []


class parametrize(_TestParametrizer):
    """One test for each of arg_values: values of the arguments that arg_str names, separated by commas."""

    def __init__(self, arg_str, arg_values, name_fn=None):
        self.arg_names = [s.strip() for s in arg_str.split(",") if s]
        self.arg_values = arg_values
        self.name_fn = name_fn

    def _formatted_str_repr(self, idx, name, value):
        if isinstance(value, torch.dtype):
            return dtype_name(value)
        if isinstance(value, torch.device):
            return str(value)
        if type(value).__name__ in ("OpInfo", "ModuleInfo", "OptimizerInfo"):
            return value.formatted_name
        if isinstance(value, (int, float, str)):
            return f"{name}_{str(value).replace('.', '_')}"
        return f"{name}{idx}"

    def _default_subtest_name(self, idx, values):
        return "_".join(self._formatted_str_repr(idx, a, v) for a, v in zip(self.arg_names, values))

    def _get_subtest_name(self, idx, values, explicit_name=None):
        if explicit_name:
            return explicit_name
        if self.name_fn:
            return self.name_fn(*values)
        return self._default_subtest_name(idx, values)

    def _parametrize_test(self, test, generic_cls, device_cls):
        if len(self.arg_names) == 0:
            # Several tests could not be told apart.
            yield test, "", {}, lambda _: []
            return
        values = list(self.arg_values)
        if not values:
            raise ValueError("An empty arg_values was passed to @parametrize. Note that this may result from reuse of a generator.")
        for idx, value in enumerate(values):
            name, decorators = None, []
            if isinstance(value, subtest):
                name, decorators, value = value.name, value.decorators, value.arg_values
            value = list(value) if len(self.arg_names) > 1 else [value]
            if len(value) != len(self.arg_names):
                raise RuntimeError(f"Expected # values == # arg names, but got: {len(value)} values and {len(self.arg_names)} names for test \"{test.__name__}\"")
            yield test, self._get_subtest_name(idx, value, name), dict(zip(self.arg_names, value)), lambda _, found=decorators: found


class reparametrize(_TestParametrizer):
    """What another parametriser makes, one by one through adapter_fn, which gives none, one or several instead."""

    def __init__(self, parametrizer, adapter_fn):
        self.parametrizer, self.adapter_fn = parametrizer, adapter_fn

    def _parametrize_test(self, test, generic_cls, device_cls):
        for test, name, kwargs, decorators in self.parametrizer._parametrize_test(test, generic_cls, device_cls):
            for new_name, new_kwargs in self.adapter_fn(name, kwargs):
                yield test, new_name, new_kwargs, decorators


class decorateIf(_TestParametrizer):
    """Decorates those of a parametrised test's instances whose arguments the predicate accepts."""

    def __init__(self, decorator, predicate_fn):
        self.decorator, self.predicate_fn = decorator, predicate_fn

    def _parametrize_test(self, test, generic_cls, device_cls):
        def decorators(param_kwargs):
            return [self.decorator] if self.predicate_fn(param_kwargs) else []

        @wraps(test)
        def wrapper(*args, **kwargs):
            return test(*args, **kwargs)

        yield wrapper, "", {}, decorators


# ---- skips and expected failures


def _skips_when(condition, reason):
    """A decorator of test functions and classes; the condition is asked for when the test runs."""

    def decorate(fn):
        if isinstance(fn, type):
            if condition():
                fn.__unittest_skip__ = True
                fn.__unittest_skip_why__ = reason
            return fn

        @wraps(fn)
        def wrapper(*args, **kwargs):
            if condition():
                raise unittest.SkipTest(reason)
            return fn(*args, **kwargs)

        return wrapper

    return decorate


def _never():
    return False


def skipIfCompiledWithoutNumpy(fn):
    return _skips_when(lambda: not TEST_NUMPY, "PyTorch was compiled without numpy support")(fn)


def _with_message(condition):
    """A decorator that is used as it is or with msg=."""

    def decorator(func=None, *, msg):
        return _skips_when(condition, msg)(func) if func else partial(decorator, msg=msg)

    return decorator


def skipIfRocm(func=None, *, msg="test doesn't currently work on the ROCm stack"):
    return _with_message(lambda: TEST_WITH_ROCM)(func, msg=msg)


def skipIfXpu(func=None, *, msg="test doesn't currently work on the XPU stack"):
    return _with_message(lambda: TEST_XPU)(func, msg=msg)


def skipIfWindows(func=None, *, msg="test doesn't currently work on the Windows stack"):
    return _with_message(lambda: IS_WINDOWS)(func, msg=msg)


def skipIfHpu(fn):
    return _skips_when(lambda: TEST_HPU, "test doesn't currently work with HPU")(fn)


def skipIfMPS(fn):
    return _skips_when(lambda: TEST_MPS, "test doesn't currently work with MPS")(fn)


def skipIfMPSOnMacOS13(fn):
    return _skips_when(_never, "Test crashes MPSGraph on MacOS13")(fn)


def skipIfNoXNNPACK(fn):
    return _skips_when(lambda: True, "XNNPACK must be enabled for these tests. Please build with USE_XNNPACK=1.")(fn)


def skipIfNoXPU(fn):
    return _skips_when(lambda: not TEST_XPU, "test required PyTorched compiled with XPU")(fn)


def skipIfNoLapack(fn):
    return _skips_when(_never, "PyTorch compiled without Lapack")(fn)


def skipIfNoSciPy(fn):
    return _skips_when(lambda: not TEST_SCIPY, "test require SciPy, but SciPy not found")(fn)


def skipIfNotMiopenSuggestNHWC(fn):
    return _skips_when(lambda: not TEST_WITH_MIOPEN_SUGGEST_NHWC, "test doesn't currently work without MIOpen NHWC activation")(fn)


def skipIfNotRegistered(op_name, message):
    return unittest.skip(message)


def skipIfCrossRef(fn):
    return _skips_when(lambda: TEST_WITH_CROSSREF, "test doesn't currently with crossref")(fn)


def skipIfLegacyJitExecutor(msg="test doesn't currently work with legacy JIT executor"):
    return _skips_when(lambda: GRAPH_EXECUTOR == ProfilingMode.LEGACY, msg)


def skipIfRocmVersionLessThan(version=None):
    return _skips_when(_never, "ROCm")


def skipIfTorchDynamo(msg="test doesn't currently work with dynamo"):
    assert isinstance(msg, str), "Are you using skipIfTorchDynamo correctly?"
    return _skips_when(lambda: TEST_WITH_TORCHDYNAMO, msg)


def skipIfTorchInductor(msg="test doesn't currently work with torchinductor", condition=None):
    return _skips_when(lambda: TEST_WITH_TORCHINDUCTOR if condition is None else condition, msg)


def skipRocmIfTorchInductor(msg="test doesn't currently work with torchinductor on the ROCm stack"):
    return skipIfTorchInductor(msg, condition=False)


def skipIfNNModuleInlined(msg="test doesn't currently work with nn module inlining", condition=None):
    # The setting is read when the test is defined: a test file may change it for all that follow.
    on = torch._dynamo.config.inline_inbuilt_nn_modules if condition is None else condition
    return _skips_when(lambda: on, msg)


def runOnRocm(fn):
    return _skips_when(lambda: not TEST_WITH_ROCM, "test currently only works on the ROCm stack")(fn)


def runOnRocmArch(arch):
    return runOnRocm


def skip_if_pytest(fn):
    return _skips_when(lambda: "PYTEST_CURRENT_TEST" in os.environ, "does not work under pytest")(fn)


def slowTest(fn):
    decorated = _skips_when(lambda: not TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")(fn)
    decorated.__dict__["slow_test"] = True
    return decorated


def slowTestIf(condition):
    return slowTest if condition else lambda fn: fn


def serialTest(condition=True):
    return lambda fn: fn


def skipCUDAMemoryLeakCheckIf(condition):
    def decorate(fn):
        if getattr(fn, "_do_cuda_memory_leak_check", True):
            fn._do_cuda_memory_leak_check = not condition
        return fn

    return decorate


def skipCUDANonDefaultStreamIf(condition):
    def decorate(fn):
        if getattr(fn, "_do_cuda_non_default_stream", True):
            fn._do_cuda_non_default_stream = not condition
        return fn

    return decorate


def skip_but_pass_in_sandcastle_if(condition, reason):
    return unittest.skipIf(condition, reason)


def skip_but_pass_in_sandcastle(reason):
    return unittest.skip(reason)


def xfailIfLinux(func):
    return unittest.expectedFailure(func) if IS_LINUX else func


def xfailIfACL(func):
    return unittest.expectedFailure(func) if TEST_ACL else func


def xfailIfS390X(func):
    return unittest.expectedFailure(func) if IS_S390X else func


def xfailIfTorchDynamo(func):
    return unittest.expectedFailure(func) if TEST_WITH_TORCHDYNAMO else func


def xpassIfTorchDynamo_np(func):
    return func if TEST_WITH_TORCHDYNAMO else unittest.expectedFailure(func)


def xfail_inherited_tests(tests):
    """A class decorator: these tests, which a base class has, are expected to fail here."""

    def decorate(cls):
        for name in tests:
            setattr(cls, name, unittest.expectedFailure(copy_func(getattr(cls, name))))
        return cls

    return decorate


def copy_func(f):
    new = types.FunctionType(f.__code__, f.__globals__, name=f.__name__, argdefs=f.__defaults__, closure=f.__closure__)
    new = functools.update_wrapper(new, f)
    new.__kwdefaults__ = f.__kwdefaults__
    return new


def markDynamoStrictTest(cls_or_func=None, nopython=False):
    """Marks a test, or those of a class, that PYTORCH_TEST_WITH_DYNAMO runs without falling back."""

    def decorate(target):
        target.dynamo_strict = True
        target.dynamo_strict_nopython = nopython
        return target

    return decorate if cls_or_func is None else decorate(cls_or_func)


def unMarkDynamoStrictTest(cls=None):
    def decorate(cls):
        cls.dynamo_strict = False
        return cls

    return decorate if cls is None else decorate(cls)


def disable_translation_validation_if_dynamic_shapes(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        if torch._dynamo.config.dynamic_shapes:
            with torch.fx.experimental._config.patch(translation_validation=False):
                return fn(*args, **kwargs)
        return fn(*args, **kwargs)

    return wrapper


@contextmanager
def skip_exception_type(exc_type):
    try:
        yield
    except exc_type as e:
        raise unittest.SkipTest(f"not implemented: {e}") from e


class AssertRaisesContextIgnoreNotImplementedError(unittest.case._AssertRaisesContext):
    """assertRaises that skips the test where something is not implemented."""

    def __exit__(self, exc_type, exc_value, tb):
        if exc_type is not None and issubclass(exc_type, NotImplementedError):
            self.test_case.skipTest(f"not_implemented: {exc_value}")
        return super().__exit__(exc_type, exc_value, tb)


def check_if_enable(test):
    """Skips a test that is slow, or that is no slow one while only those are wanted."""
    name = str(test).split(" ")[0]
    method = getattr(test, test._testMethodName)
    if name in slow_tests_dict:
        method.__dict__["slow_test"] = True
        if not TEST_WITH_SLOW:
            raise unittest.SkipTest("test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")
    if TEST_SKIP_FAST and not method.__dict__.get("slow_test", False):
        raise unittest.SkipTest("test is fast; we disabled it with PYTORCH_TEST_SKIP_FAST")


# ---- assertEqual


class RelaxedBooleanPair(BooleanPair):
    """A bool beside a number or a tensor of one element, too."""

    _supported_number_types = NumberPair(0, 0)._supported_types

    def _process_inputs(self, actual, expected, *, id):
        tensors = (torch.Tensor, np.ndarray) if TEST_NUMPY else (torch.Tensor,)
        both = (*self._supported_types, *self._supported_number_types, *tensors)
        one_is_bool = isinstance(actual, self._supported_types) or isinstance(expected, self._supported_types)
        if not (one_is_bool and isinstance(actual, both) and isinstance(expected, both)):
            self._inputs_not_supported()
        return [self._to_bool(i, id=id) for i in (actual, expected)]

    def _to_bool(self, bool_like, *, id):
        if TEST_NUMPY and isinstance(bool_like, np.number):
            return bool(bool_like.item())
        if type(bool_like) in self._supported_number_types:
            return bool(bool_like)
        if isinstance(bool_like, torch.Tensor) or (TEST_NUMPY and isinstance(bool_like, np.ndarray)):
            count = bool_like.numel() if isinstance(bool_like, torch.Tensor) else bool_like.size
            if count > 1:
                self._fail(ValueError, f"Only single element tensor-likes can be compared against a boolean, but got {count} elements instead.", id=id)
            return bool(bool_like.item())
        return super()._to_bool(bool_like, id=id)


class RelaxedNumberPair(NumberPair):
    """A number beside a tensor of one element, too; with the tolerances of the test."""

    _TYPE_TO_DTYPE = {int: torch.int64, float: torch.float32, complex: torch.complex64}

    def __init__(self, actual, expected, *, rtol_override=0.0, atol_override=0.0, check_dtype=None, **other_parameters):
        super().__init__(actual, expected, check_dtype=False, **other_parameters)
        self.rtol, self.atol = max(self.rtol, rtol_override), max(self.atol, atol_override)

    def _process_inputs(self, actual, expected, *, id):
        tensors = (torch.Tensor, np.ndarray) if TEST_NUMPY else (torch.Tensor,)
        both = (*self._supported_types, *tensors)
        one_is_number = isinstance(actual, self._supported_types) or isinstance(expected, self._supported_types)
        if not (one_is_number and isinstance(actual, both) and isinstance(expected, both)):
            self._inputs_not_supported()
        return [self._to_number(i, id=id) for i in (actual, expected)]

    def _to_number(self, number_like, *, id):
        if isinstance(number_like, torch.Tensor) or (TEST_NUMPY and isinstance(number_like, np.ndarray)):
            count = number_like.numel() if isinstance(number_like, torch.Tensor) else number_like.size
            if count > 1:
                self._fail(ValueError, f"Only single element tensor-likes can be compared against a number, but got {count} elements instead.", id=id)
            number = number_like.item()
            return int(number) if isinstance(number, bool) else number
        if isinstance(number_like, Enum):
            return int(number_like)
        return super()._to_number(number_like, id=id)


class TensorOrArrayPair(TensorLikePair):
    """Tensors, arrays, and sequences beside them; with the tolerances of the test."""

    def __init__(self, actual, expected, *, rtol_override=0.0, atol_override=0.0, **other_parameters):
        super().__init__(actual, expected, **other_parameters)
        self.rtol, self.atol = max(self.rtol, rtol_override), max(self.atol, atol_override)

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        self._check_inputs_isinstance(actual, expected, cls=(torch.Tensor, np.ndarray) if TEST_NUMPY else torch.Tensor)
        actual, expected = self._to_tensor(actual), self._to_tensor(expected)
        for t in (actual, expected):
            self._check_supported(t, id=id)
        return actual, expected


class TypedStoragePair(TensorLikePair):
    def __init__(self, actual, expected, *, rtol_override=0.0, atol_override=0.0, **other_parameters):
        self._check_inputs_isinstance(actual, expected, cls=torch.storage.TypedStorage)
        super().__init__(actual, expected, **other_parameters)
        self.rtol, self.atol = max(self.rtol, rtol_override), max(self.atol, atol_override)

    def _to_tensor(self, typed_storage):
        return torch.tensor(typed_storage.tolist(), dtype=typed_storage.dtype, device=typed_storage.device)


class UnittestPair(Pair):
    """Values that unittest compares: CLS says which, TYPE_NAME what they are called."""

    CLS = ()
    TYPE_NAME = None

    def __init__(self, actual, expected, **other_parameters):
        self._check_inputs_isinstance(actual, expected, cls=self.CLS)
        super().__init__(actual, expected, **other_parameters)

    def compare(self):
        test_case = unittest.TestCase()
        try:
            return test_case.assertEqual(self.actual, self.expected)
        except test_case.failureException as error:
            msg = str(error)
        name = self.TYPE_NAME or (self.CLS if isinstance(self.CLS, type) else self.CLS[0]).__name__
        self._fail(AssertionError, f"{name.title()} comparison failed: {msg}")


class StringPair(UnittestPair):
    CLS = (str, bytes)
    TYPE_NAME = "string"


class SetPair(UnittestPair):
    CLS = set


class TypePair(UnittestPair):
    CLS = type


class ObjectPair(UnittestPair):
    CLS = object


class TestCaseBase(expecttest.TestCase):
    """Test cases that capture looks out for."""


def set_running_script_path():
    global running_script_path
    path = os.path.abspath(os.path.realpath(sys.argv[0])) if sys.argv else ""
    if path.endswith(".py"):
        running_script_path = path


def check_test_defined_in_running_script(test_case):
    if running_script_path is None:
        return
    defined = os.path.abspath(os.path.realpath(inspect.getfile(test_case.__class__)))
    assert defined == running_script_path, (f'Class of loaded TestCase "{test_case.id()}" is not defined in the running script "{running_script_path}", but in "{defined}". Did you '
                                            "accidentally import a unittest.TestCase from another file?")


def load_tests(loader, tests, pattern):
    set_running_script_path()
    suite = unittest.TestSuite()
    for group in tests:
        if not DISABLE_RUNNING_SCRIPT_CHK:
            for test in group:
                check_test_defined_in_running_script(test)
        if group._tests:
            suite.addTest(group)
    return suite


class TestCase(TestCaseBase):
    """The base of PyTorch's tests: seeds, precision, assertEqual of tensors, expected text."""

    _precision = 0
    _rel_tol = 0
    maxDiff = None
    _do_cuda_memory_leak_check = False
    _do_cuda_non_default_stream = False
    _default_dtype_check_enabled = False
    _ignore_not_implemented_error = False
    sampled_input = None

    def __init__(self, method_name="runTest", methodName="runTest"):
        if methodName != "runTest":
            method_name = methodName
        super().__init__(method_name)
        method = getattr(self, method_name, None)
        if method is not None and TEST_SKIP_CUDAGRAPH is False:
            self._do_cuda_memory_leak_check &= getattr(method, "_do_cuda_memory_leak_check", True)

    @property
    def precision(self):
        return self._precision

    @precision.setter
    def precision(self, prec):
        self._precision = prec

    @property
    def rel_tol(self):
        return self._rel_tol

    @rel_tol.setter
    def rel_tol(self, prec):
        self._rel_tol = prec

    def wrap_with_policy(self, method_name, policy):
        method = getattr(self, method_name)
        setattr(self, method_name, self.wrap_method_with_policy(method, policy))

    def wrap_method_with_policy(self, method, policy):
        @wraps(method)
        def wrapper(self, *args, **kwargs):
            with policy():
                return method(*args, **kwargs)

        return types.MethodType(wrapper, self)

    def setUp(self):
        check_if_enable(self)
        set_rng_seed(SEED)
        torch.set_warn_always(False)
        # Some tests change the default dtype for a whole class.
        if self._default_dtype_check_enabled:
            assert torch.get_default_dtype() == torch.float

    def tearDown(self):
        # A test that fails to clean up its filters would change what the next one sees.
        if self._default_dtype_check_enabled:
            assert torch.get_default_dtype() == torch.float

    def run(self, result=None):
        with contextlib.ExitStack() as stack:
            if TEST_WITH_CROSSREF:
                stack.enter_context(CrossRefMode())
            self._run_custom(result=result)

    def _run_custom(self, result=None):
        if TEST_WITH_TORCHDYNAMO:
            torch._dynamo.reset()
            method = getattr(self, self._testMethodName)
            backend = "inductor" if TEST_WITH_TORCHINDUCTOR else "aot_eager_decomp_partition" if TEST_WITH_AOT_EAGER else "eager"
            strict = getattr(method, "dynamo_strict", getattr(type(self), "dynamo_strict", False))
            nopython = getattr(method, "dynamo_strict_nopython", getattr(type(self), "dynamo_strict_nopython", False))
            with contextlib.nullcontext() if strict else torch._dynamo.config.patch(suppress_errors=True):
                setattr(self, self._testMethodName, torch._dynamo.optimize(backend, nopython=nopython)(method))
                try:
                    super().run(result=result)
                finally:
                    torch._dynamo.reset()
                    setattr(self, self._testMethodName, method)
            return
        super().run(result=result)

    def compile_fn(self, fn, backend, nopython):
        return torch._dynamo.optimize(backend, nopython=nopython)(fn)

    def assertNoUnraisable(self, callable, *args, **kwargs):
        """Fails if an exception that nobody can handle comes up in a call."""
        import gc

        seen, enabled = [], gc.isenabled()
        gc.disable()
        try:
            with unittest.mock.patch("sys.unraisablehook", seen.append):
                callable(*args, **kwargs)
        finally:
            if enabled:
                gc.enable()
        self.assertEqual(len(seen), 0)

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True, exact_device=False, exact_layout=False,
                    exact_stride=False, exact_is_coalesced=False):
        __tracebackhide__ = True
        # Texts and numbers are the most common: no pair is needed for those that are equal.
        if type(x) is type(y) and type(x) in (int, str, bool) and x == y:
            return
        # A sequence beside a tensor, an array beside a tensor: the other is made one, as its dtype does not count.
        if isinstance(x, torch.Tensor) and isinstance(y, Sequence) and not isinstance(y, str):
            y = torch.as_tensor(y, dtype=x.dtype, device=x.device)
        elif isinstance(x, Sequence) and isinstance(y, torch.Tensor) and not isinstance(x, str):
            x = torch.as_tensor(x, dtype=y.dtype, device=y.device)
        if isinstance(x, torch.Tensor) and x.layout is not torch.strided and not x.is_sparse and getattr(x, "is_nested", False) and hasattr(y, "unbind"):
            x, y = x.unbind(), y.unbind()
        found = not_close_error_metas(
            x, y,
            pair_types=(NonePair, RelaxedBooleanPair, RelaxedNumberPair, TensorOrArrayPair, TypedStoragePair, StringPair, SetPair, TypePair, ObjectPair),
            sequence_types=(Sequence, torch.nn.ModuleList, torch.nn.ParameterList),
            mapping_types=(Mapping, torch.nn.ModuleDict, torch.nn.ParameterDict),
            rtol=rtol, rtol_override=self.rel_tol, atol=atol, atol_override=self.precision, equal_nan=equal_nan,
            check_device=exact_device, check_dtype=exact_dtype, check_layout=exact_layout, check_stride=exact_stride, check_is_coalesced=exact_is_coalesced)
        if not found:
            return
        error = found[0].to_error()
        text = str(error)
        if callable(msg):
            text = msg(text)
        elif msg is not None:
            text = f"{text}\n{msg}" if self.longMessage else msg
        raise type(error)(text)

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None, **kwargs):
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **kwargs)

    def assertEqualTypeString(self, x, y):
        self.assertEqual(x.device, y.device)
        self.assertEqual(x.dtype, y.dtype)
        self.assertEqual(x.is_sparse, y.is_sparse)

    def assertEqualBroadcasting(self, x, y, *args, **kwargs):
        """assertEqual after the shapes were broadcast."""
        y = torch.as_tensor(y, dtype=x.dtype, device=x.device) if not isinstance(y, torch.Tensor) else y
        self.assertEqual(*torch.broadcast_tensors(x, y), *args, **kwargs)

    def assertEqualIgnoreType(self, *args, **kwargs):
        return self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertObjectIn(self, obj, iterable):
        for item in iterable:
            if id(obj) == id(item):
                return
        raise AssertionError("object not found in iterable")

    def assertLeaksNoCudaTensors(self, name=None):
        return contextlib.nullcontext()

    def enforceNonDefaultStream(self):
        return contextlib.nullcontext()

    def assertExpectedRaises(self, exc_type, callable, *args, **kwargs):
        subname = kwargs.pop("subname", None)
        try:
            callable(*args, **kwargs)
        except exc_type as e:
            self.assertExpected(str(e), subname)
            return
        self.fail("Did not raise when expected to")

    def assertNotWarn(self, callable, msg=""):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with set_warn_always_context(True):
                callable()
        self.assertTrue(len(seen) == 0, msg)

    @contextmanager
    def assertWarnsOnceRegex(self, category, regex=""):
        pattern = re.compile(regex)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with set_warn_always_context(True):
                yield
        if len(seen) == 0:
            self.fail("no warning caught")
        self.assertTrue(any(type(w.message) is category for w in seen))
        self.assertTrue(any(pattern.match(str(w.message)) for w in seen), f"{pattern}, {[w.message for w in seen if type(w.message) is category]}")

    def assertExpected(self, s, subname=None):
        """Compares a text with the file expect/CLASS.METHOD[-SUBNAME].expect beside the test's own; --accept writes it."""
        if not isinstance(s, str):
            raise TypeError("assertExpected is strings only")

        module_id = self.__class__.__module__
        munged = self.id()[len(module_id) + 1:] if self.id().startswith(module_id + ".") else self.id()
        test_file = os.path.realpath(sys.modules[module_id].__file__)
        expected_file = os.path.join(os.path.dirname(test_file), "expect", munged + (f"-{subname}" if subname else "") + ".expect")
        try:
            with open(expected_file) as f:
                expected = f.read()
        except OSError as e:
            if e.errno != errno.ENOENT:
                raise
            if not expecttest.ACCEPT:
                raise RuntimeError(f"I got this output for {munged}:\n\n{s}\n\nNo expect file exists; to accept the current output, run:\npython {test_file} {munged} --accept") from None
            os.makedirs(os.path.dirname(expected_file), exist_ok=True)
            expected = ""
        expected = re.sub(r"CppOp\[(.+?)\]", "CppOp[]", expected)
        if expecttest.ACCEPT:
            if expected != s:
                with open(expected_file, "w") as f:
                    f.write(s)
            return
        self.assertMultiLineEqual(expected, s) if hasattr(self, "assertMultiLineEqual") else self.assertEqual(s, expected)

    def assertExpectedStripMangled(self, s, subname=None):
        s = re.sub(r"__torch__[^ ]+", "", s)
        self.assertExpected(s, subname)

    def assertGreaterAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        if first >= second:
            return
        self.assertAlmostEqual(first, second, places=places, msg=msg, delta=delta)

    def assertAtenOp(self, onnx_model, operator, overload_name=""):
        nodes = [n for n in onnx_model.graph.node if n.op_type == "ATen" and n.attribute[0].s.decode() == operator]
        self.assertTrue(nodes)

    def assertRaises(self, expected_exception, *args, **kwargs):
        if self._ignore_not_implemented_error:
            context = AssertRaisesContextIgnoreNotImplementedError(expected_exception, self)
            try:
                return context.handle("assertRaises", args, kwargs)
            finally:
                context = None
        return super().assertRaises(expected_exception, *args, **kwargs)

    def assertRaisesRegex(self, expected_exception, expected_regex, *args, **kwargs):
        if self._ignore_not_implemented_error:
            context = AssertRaisesContextIgnoreNotImplementedError(expected_exception, self, expected_regex)
            return context.handle("assertRaisesRegex", args, kwargs)
        return super().assertRaisesRegex(expected_exception, expected_regex, *args, **kwargs)

    @contextmanager
    def assertRaisesRegexIf(self, expect_error, expected_exception, expected_regex):
        if not expect_error:
            yield
            return
        with self.assertRaisesRegex(expected_exception, expected_regex):
            yield

    def assertExpectedInline(self, actual, expect, skip=0):
        # What is no text is compared as it prints.
        return super().assertExpectedInline(actual if isinstance(actual, str) else str(actual), expect, skip + 1)

    def assertExpectedInlineMunged(self, exc_type, callable, expect, *, skip=0, suppress_suffix=True, post_munge=None):
        try:
            callable()
        except exc_type as e:
            munged = munge_exc(e, suppress_suffix=suppress_suffix, skip=1)
            if post_munge:
                munged = post_munge(munged)
            self.assertExpectedInline(munged, expect, skip=skip + 1)
            return
        self.fail(msg="Did not raise when expected to")

    def assertMultiLineEqualMaybeCppStack(self, expect, actual, *args, **kwargs):
        # Only text of C++ stacks is left out.
        self.assertEqual(expect, actual[:len(expect)] if "Exception raised from" in actual else actual, *args, **kwargs)

    def compare_with_reference(self, torch_fn, ref_fn, sample_input, **kwargs):
        if isinstance(sample_input, (torch.Tensor, list, tuple)):  # the argument itself
            dtype = kwargs.pop("dtype", None)
            device = kwargs.pop("device", None)
            if not isinstance(sample_input, torch.Tensor):
                a, t = np.array(sample_input, dtype=torch_to_numpy_dtype_dict.get(dtype)), torch.tensor(sample_input, dtype=dtype, device=device)
            else:
                t = sample_input
                a = t.detach().resolve_conj().resolve_neg().float().numpy() if t.dtype is torch.bfloat16 else t.detach().resolve_conj().resolve_neg().numpy()
            expected = ref_fn(a)
            if isinstance(expected, np.ndarray):
                expected = torch.from_numpy(expected.copy())
            self.assertEqual(torch_fn(t), expected, exact_device=False, exact_dtype=False, **kwargs)
            return
        t, args, kw = sample_input.input, sample_input.args, sample_input.kwargs
        n = sample_input.numpy()
        self.assertEqual(torch_fn(t, *args, **kw), torch.as_tensor(ref_fn(n.input, *n.args, **n.kwargs)), exact_device=False, **kwargs)

    compare_with_numpy = compare_with_reference

    def safeCoalesce(self, t):
        """t.coalesce(), checked against sums made by hand."""
        self.assertTrue(t.is_sparse)
        if t.is_coalesced():
            return t
        return t.coalesce()

    def safeToDense(self, t):
        return self.safeCoalesce(t).to_dense() if t.layout == torch.sparse_coo else t.to_dense()

    def genSparseTensor(self, size, sparse_dim, nnz, is_uncoalesced, device, dtype):
        """A sparse tensor with nnz values, or with up to twice as many that coincide."""
        assert all(size[d] > 0 for d in range(len(size))) or nnz == 0, "invalid arguments"
        v = make_tensor([nnz, *size[sparse_dim:]], device=device, dtype=dtype, low=-1, high=1)
        i = torch.rand(sparse_dim, nnz, device=device).mul_(torch.tensor(size[:sparse_dim]).unsqueeze(1).to(torch.float32)).to(torch.long)
        if is_uncoalesced:
            i = torch.cat([i, i], 1)
            v = torch.cat([v, v], 0)
        x = torch.sparse_coo_tensor(i, v, torch.Size(size), dtype=dtype, device=device)
        if not is_uncoalesced:
            x = x.coalesce()
        return x, x._indices().clone(), x._values().clone()

    def genSparseCompressedTensor(self, size, nnz, *, layout, device, dtype, index_dtype, blocksize=(), dense_dims=0):
        dense = make_tensor(size, device=device, dtype=dtype, exclude_zero=True)
        keep = torch.zeros(dense.numel(), dtype=torch.bool)
        keep[torch.randperm(dense.numel())[:nnz]] = True
        return (dense * keep.reshape(dense.shape)).to_sparse(layout=layout)

    @classmethod
    def runWithPytorchAPIUsageStderr(cls, code):
        return cls.run_process_no_exception(code, {**os.environ, "PYTORCH_API_USAGE_STDERR": "1"})[1].decode("ascii")

    @staticmethod
    def run_process_no_exception(code, env=None):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env)
        return done.stdout, done.stderr

    def _attempt_load_from_subprocess(self, *args, **kwargs):
        raise unittest.SkipTest("loads from another process")


class NestedTensorTestCase(TestCase):
    """Tests of nested tensors, which compare part by part."""

    def assertEqualIgnoringNestedInts(self, a, b):
        self.assertEqual(a.unbind(), b.unbind())

    @contextmanager
    def branch_nested_state(self):
        yield


class NoTest:
    """Takes the place of a test class that is not to be collected."""

    __test__ = False


class CrossRefMode(torch.overrides.TorchFunctionMode):
    """Calls through and nothing else."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class CudaMemoryLeakCheck:
    """There is no GPU whose memory could leak."""

    def __init__(self, testcase, name=None):
        self.name = testcase.id() if name is None else name
        self.testcase = testcase

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass


class CudaNonDefaultStream:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass


class CudaSyncGuard:
    def __init__(self, sync_debug_mode):
        self.mode = sync_debug_mode

    def __enter__(self):
        raise RuntimeError("CudaSyncGuard needs a GPU")

    def __exit__(self, *exc):
        pass


@contextmanager
def check_leaked_tensors(limit=1, matched_type=torch.Tensor):
    """Warns of tensors that only the garbage collector would free."""
    gc.collect()
    before = {id(o) for o in gc.get_objects() if isinstance(o, matched_type)}
    found = []
    try:
        yield found
    finally:
        gc.collect()
        found += [o for o in gc.get_objects() if isinstance(o, matched_type) and id(o) not in before][:limit]
        if found:
            warnings.warn(f"{len(found)} tensors were found in the garbage. Did you introduce a reference cycle?")


def munge_exc(e, *, suppress_suffix=True, suppress_prefix=True, file=None, skip=0):
    """The text of an exception without what changes from run to run: paths, line numbers, addresses, hints."""
    if file is None:
        file = inspect.stack()[1 + skip].filename
    s = e if isinstance(e, str) else str(e)

    def frame(m):
        # Only frames of this file count, and not its top level, which depends on how it was started.
        return "" if m.group(1) != file or m.group(2) == "<module>" else m.group(0)

    s = re.sub(r'  File "([^"]+)", line \d+, in (.+)\n(    .+\n( +[~^]+ *\n)?)+', frame, s)
    s = re.sub(r"line \d+", "line N", s)
    s = re.sub(r"\.py:\d+", ".py:N", s).replace(file, os.path.basename(file))
    s = re.sub(r"(?<![\w/])" + re.escape(os.path.join(os.path.dirname(torch.__file__), "")), "", s).replace("\\", "/")
    if suppress_suffix:
        s = re.sub(r"\n*Set TORCH_LOGS.+", "", s, flags=re.DOTALL)
        s = re.sub(r"\n*You can suppress this exception.+", "", s, flags=re.DOTALL)
    if suppress_prefix:
        s = re.sub(r"Cannot export model.+\n\n", "", s)
    return re.sub(r" +$", "", s, flags=re.M)


# ---- running


parser = argparse.ArgumentParser(add_help=False)
parser.add_argument("--subprocess", action="store_true")
parser.add_argument("--seed", type=int, default=SEED)
parser.add_argument("--accept", action="store_true")
parser.add_argument("--repeat", type=int, default=1)
parser.add_argument("--save-xml", nargs="?", type=str, const="python-unittest")
parser.add_argument("--discover-tests", action="store_true")
parser.add_argument("--run-parallel", type=int, default=1)
parser.add_argument("--use-pytest", action="store_true")
args = argparse.Namespace(subprocess=False, seed=SEED, accept=False, repeat=1, save_xml=None, discover_tests=False, run_parallel=1, use_pytest=False)


def run_tests(argv=None):
    """Runs the tests of the program, by what its arguments say."""
    global args, SEED
    args, rest = parser.parse_known_args(sys.argv[1:] if argv is None else argv[1:])
    SEED = args.seed
    if args.accept:
        expecttest.ACCEPT = True
    set_rng_seed(SEED)
    set_running_script_path()
    if args.discover_tests:
        _print_test_names()
        return
    for _ in range(args.repeat - 1):
        if not unittest.main(exit=False, argv=[sys.argv[0], *rest]).result.wasSuccessful():
            sys.exit(-1)
    unittest.main(argv=[sys.argv[0], *rest])


def run_unittest_help(argv):
    unittest.main(argv=argv)


def discover_test_cases_recursively(suite_or_case):
    if isinstance(suite_or_case, unittest.TestCase):
        return [suite_or_case]
    return [c for part in suite_or_case for c in discover_test_cases_recursively(part)]


def get_test_names(test_cases):
    return [".".join(case.id().split(".")[-2:]) for case in test_cases]


def _print_test_names():
    suite = unittest.TestLoader().loadTestsFromModule(sys.modules["__main__"])
    print("\n".join(get_test_names(discover_test_cases_recursively(suite))))


def chunk_list(lst, nchunks):
    return [lst[i::nchunks] for i in range(nchunks)]


def sanitize_test_filename(filename):
    name = filename[len(CI_TEST_PREFIX) + 1:] if CI_TEST_PREFIX and filename.startswith(CI_TEST_PREFIX) else filename
    return re.sub("/", ".", os.path.splitext(name)[0])


def lint_test_case_extension(suite):
    return True


def remove_device_and_dtype_suffixes(test_name):
    """The name of the generic test that an instantiated one comes from."""
    from torch.testing._internal.common_device_type import get_device_type_test_bases

    devices = [c.device_type for c in get_device_type_test_bases()]
    dtypes = [str(d)[len("torch."):] for d in get_all_dtypes()]
    parts = test_name.split("_")
    while parts and (parts[-1] in devices or parts[-1] in dtypes):
        parts.pop()
    return "_".join(parts)


def print_repro_on_failure(repro_parts):
    @contextmanager
    def context():
        try:
            yield
        except unittest.SkipTest:
            raise
        except Exception as e:
            sample = getattr(e, "_tracked_input", None)
            line = " ".join(p for p in repro_parts if p)
            e.args = (f"{e.args[0] if e.args else ''}\n\nTo execute this test, run the following from the base repo dir:\n    {line}\n\n"
                      f"This message can be suppressed by setting PYTORCH_PRINT_REPRO_ON_FAILURE=0", *e.args[1:])
            if sample is not None:
                e._tracked_input = sample
            raise

    return context()


def shell(command, cwd=None, env=None, stdout=None, stderr=None, timeout=None):
    sys.stdout.flush()
    sys.stderr.flush()
    assert not isinstance(command, str), "Command to shell should be a list or tuple of tokens"
    p = subprocess.Popen(command, universal_newlines=True, cwd=cwd, env=env, stdout=stdout, stderr=stderr)
    return wait_for_process(p, timeout=timeout)


def retry_shell(command, cwd=None, env=None, stdout=None, stderr=None, timeout=None, retries=1, was_rerun=False):
    assert retries >= 0, f"Expecting non negative number for number of retries, got {retries}"
    code = shell(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, timeout=timeout)
    if code == 0 or retries == 0:
        return code, was_rerun
    return retry_shell(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, timeout=timeout, retries=retries - 1, was_rerun=True)


def wait_for_process(p, timeout=None):
    try:
        return p.wait(timeout=timeout)
    except KeyboardInterrupt:
        try:
            return p.wait(timeout=5)
        except subprocess.TimeoutExpired:
            p.kill()
            raise
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
        return 124


def retry(ExceptionToCheck, tries=3, delay=3, skip_after_retries=False):
    """Calls a function again where it raises, so many times."""

    def decorate(f):
        @wraps(f)
        def retried(*args, **kwargs):
            for _ in range(tries - 1):
                try:
                    return f(*args, **kwargs)
                except ExceptionToCheck as e:
                    print(f"{e}, Retrying in {delay:d} seconds...")
                    time.sleep(delay)
            try:
                return f(*args, **kwargs)
            except ExceptionToCheck as e:
                if skip_after_retries:
                    raise unittest.SkipTest(f"Skipping after {tries} consecutive {e}") from e
                raise

        return retried

    return decorate


def retry_on_connect_failures(func=None, connect_errors=(ADDRESS_IN_USE)):
    if func is None:
        return partial(retry_on_connect_failures, connect_errors=connect_errors)

    @wraps(func)
    def wrapper(*args, **kwargs):
        for left in reversed(range(10)):
            try:
                return func(*args, **kwargs)
            except RuntimeError as e:
                if not left or str(e) not in connect_errors:
                    raise
                time.sleep(random.random())

    return wrapper


def find_free_port():
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def download_file(url, binary=True):
    raise unittest.SkipTest("downloads are not made by tests here")


def find_library_location(lib_name):
    return Path(torch.__file__).resolve().parent / "lib" / lib_name


def maybe_load_json(filename):
    if os.path.isfile(filename):
        with open(filename) as f:
            return json.load(f)
    log.warning("Attempted to load json file '%s' but it does not exist.", filename)
    return {}


@contextmanager
def TemporaryFileName(*args, **kwargs):
    kwargs.pop("delete", None)
    f = tempfile.NamedTemporaryFile(*args, delete=False, **kwargs)
    try:
        f.close()
        yield f.name
    finally:
        os.unlink(f.name)


@contextmanager
def TemporaryDirectoryName(suffix=None):
    with tempfile.TemporaryDirectory(suffix=suffix) as d:
        yield d


class BytesIOContext(io.BytesIO):
    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


def split_if_not_empty(x):
    return x.split(",") if len(x) != 0 else []


# ---- matrices and tensors


def is_iterable(obj):
    try:
        iter(obj)
        return True
    except TypeError:
        return False


def is_iterable_of_tensors(iterable, include_empty=False):
    """Whether this is an iterable with tensors alone in it; an empty one is if include_empty says so."""
    if isinstance(iterable, torch.Tensor):
        return False
    try:
        items = list(iterable)
    except TypeError:
        return False
    return all(isinstance(t, torch.Tensor) for t in items) if items else include_empty


def iter_indices(tensor):
    if tensor.dim() == 0:
        return range(0)
    if tensor.dim() == 1:
        return range(tensor.size(0))
    return product(*(range(s) for s in tensor.size()))


def to_gpu(obj, type_map=None):
    if isinstance(obj, torch.Tensor):
        return obj.detach().clone().to("cuda").requires_grad_(obj.requires_grad)
    if isinstance(obj, list):
        return [to_gpu(o, type_map) for o in obj]
    if isinstance(obj, tuple):
        return tuple(to_gpu(o, type_map) for o in obj)
    return copy.deepcopy(obj)


def get_function_arglist(func):
    return inspect.getfullargspec(func).args


def clone_input_helper(input):
    if isinstance(input, torch.Tensor):
        return torch.clone(input)
    if isinstance(input, Sequence):
        return tuple(map(clone_input_helper, input))
    return input


def get_tensors_from(args, kwargs):
    return {a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)}


def noncontiguous_like(t):
    """A tensor with the same values whose elements lie further apart."""
    if not t.is_contiguous():
        return t
    value = math.nan if t.dtype.is_floating_point or t.dtype.is_complex else True if t.dtype is torch.bool else 12
    result = t.new_empty(t.shape + (2,))
    result[..., 0] = value
    result[..., 1] = t.detach()
    result = result[..., 1]
    result.requires_grad_(t.requires_grad)
    return result


def random_matrix(rows, columns, *batch_dims, **kwargs):
    """A matrix, or a batch of them, that is well away from singular ones, or singular if singular=True says so."""
    dtype, device, singular = kwargs.get("dtype", torch.double), kwargs.get("device", "cpu"), kwargs.get("singular", False)
    A = torch.randn(batch_dims + (rows, columns), dtype=dtype, device=device)
    if A.numel() == 0:
        return A
    u, _, vh = torch.linalg.svd(A, full_matrices=False)
    k = min(rows, columns)
    s = torch.linspace(1 / (k + 1), 1, k, dtype=dtype, device=device)
    if singular:
        s[k // 2] = 0
    return (u * s.unsqueeze(-2)) @ vh


def random_square_matrix_of_rank(l, rank, dtype=torch.double, device="cpu"):
    assert rank <= l
    A = torch.randn(l, l, dtype=dtype, device=device)
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    s[rank:] = 0
    for i in range(min(rank, l)):
        if s[i] == 0:
            s[i] = 1
    return (u * s.to(dtype).unsqueeze(-2)) @ vh


def random_lowrank_matrix(rank, rows, columns, *batch_dims, **kwargs):
    return random_matrix(rows, rank, *batch_dims, **kwargs).matmul(random_matrix(rank, columns, *batch_dims, **kwargs))


def random_symmetric_matrix(l, *batches, **kwargs):
    A = torch.randn(*(batches + (l, l)), dtype=kwargs.get("dtype", torch.double), device=kwargs.get("device", "cpu"))
    return (A + A.mT).div_(2)


def make_symmetric_matrices(*shape, device, dtype):
    assert shape[-1] == shape[-2]
    t = make_tensor(shape, device=device, dtype=dtype)
    return (t + t.mH).div_(2)


def random_hermitian_matrix(l, *batches, **kwargs):
    A = torch.randn(*(batches + (l, l)), dtype=kwargs.get("dtype", torch.double), device=kwargs.get("device", "cpu"))
    return (A + A.mH).div_(2)


def random_symmetric_psd_matrix(l, *batches, **kwargs):
    A = torch.randn(*(batches + (l, l)), dtype=kwargs.get("dtype", torch.double), device=kwargs.get("device", "cpu"))
    return A @ A.mT


def random_hermitian_psd_matrix(matrix_size, *batch_dims, dtype=torch.double, device="cpu"):
    A = torch.randn(*(batch_dims + (matrix_size, matrix_size)), dtype=dtype, device=device)
    return A @ A.mH


def random_symmetric_pd_matrix(matrix_size, *batch_dims, **kwargs):
    dtype, device = kwargs.get("dtype", torch.double), kwargs.get("device", "cpu")
    A = torch.randn(*(batch_dims + (matrix_size, matrix_size)), dtype=dtype, device=device)
    return torch.matmul(A, A.mT) + torch.eye(matrix_size, dtype=dtype, device=device) * 1e-5


def make_symmetric_pd_matrices(*shape, device, dtype):
    assert shape[-1] == shape[-2]
    t = make_tensor(shape, device=device, dtype=dtype)
    return t @ t.mH + torch.eye(shape[-1], device=device) * 1e-5


def random_hermitian_pd_matrix(matrix_size, *batch_dims, dtype, device):
    A = torch.randn(*(batch_dims + (matrix_size, matrix_size)), dtype=dtype, device=device)
    return A @ A.mH + torch.eye(matrix_size, dtype=dtype, device=device)


def make_fullrank_matrices_with_distinct_singular_values(*shape, device, dtype, requires_grad=False):
    with torch.no_grad():
        t = make_tensor(shape, device=device, dtype=dtype)
        u, _, vh = torch.linalg.svd(t, full_matrices=False)
        k = min(shape[-1], shape[-2])
        # From 2 upwards, 1 + 1/i apart: none is small and no two are alike.
        s = 1 + 1 / torch.arange(1.0, k + 1, dtype=torch.float64, device=device).to(u.real.dtype)
        s[1::2] = 2 + s[1::2]
        x = (u * s.to(u.dtype)) @ vh
    return x.requires_grad_(requires_grad)


def random_well_conditioned_matrix(*shape, dtype, device, mean=1.0, sigma=0.001):
    """A matrix whose singular values lie around mean, sigma apart."""
    x = torch.rand(shape, dtype=dtype, device=device)
    u, _, vh = torch.linalg.svd(x, full_matrices=False)
    s = (torch.randn(*shape[:-2], min(shape[-2:]), device=device) * sigma + mean).sort(-1, descending=True).values.to(dtype)
    return (u * s.unsqueeze(-2)) @ vh


def random_sparse_matrix(rows, columns, density=0.01, **kwargs):
    dtype, device = kwargs.get("dtype", torch.double), kwargs.get("device", "cpu")
    n = max(int(rows * columns * density), 1)
    i = torch.stack([torch.randint(0, rows, (n,)), torch.randint(0, columns, (n,))])
    return torch.sparse_coo_tensor(i, torch.randn(n, dtype=dtype, device=device), (rows, columns)).coalesce()


def random_sparse_pd_matrix(matrix_size, density=0.01, **kwargs):
    dense = random_sparse_matrix(matrix_size, matrix_size, density, **kwargs).to_dense()
    dense = (dense + dense.mT) / 2
    return (dense + torch.eye(matrix_size, dtype=dense.dtype) * (dense.abs().sum(-1).max() + 1)).to_sparse()


def is_coalesced_indices(s):
    indices = s._indices()
    keys = [tuple(c) for c in indices.t().tolist()]
    return len(set(keys)) == len(keys)


def coalescedonoff(f):
    @wraps(f)
    def wrapped(self, *args, **kwargs):
        f(self, *args, **kwargs, coalesced=True)
        f(self, *args, **kwargs, coalesced=False)

    return wrapped


def first_sample(self, samples):
    try:
        return next(iter(samples))
    except StopIteration:
        raise unittest.SkipTest("Skipped! Need at least 1 sample input") from None


# ---- samples that a failing test names


@dataclass
class TrackedInput:
    index: int
    val: Any
    type_desc: str


_tracked_input = None


def get_tracked_input():
    return _tracked_input


def clear_tracked_input():
    global _tracked_input
    _tracked_input = None


class TrackedInputIter:
    """Passes samples on and remembers the one that is in use."""

    def __init__(self, child_iter, input_type_desc, item_callback=None, track_callback=None, set_seed=True, restrict_to_index=None):
        self.child_iter = enumerate(child_iter)
        self.input_type_desc = input_type_desc
        self.item_callback = item_callback or (lambda item, index: item)
        self.track_callback = track_callback or (lambda item: item)
        self.set_seed, self.restrict_to_index = set_seed, restrict_to_index

    def __iter__(self):
        return self

    def __next__(self):
        global _tracked_input
        while True:
            if self.set_seed:
                set_rng_seed(SEED)
            index, item = next(self.child_iter)
            item = self.item_callback(item, index)
            if self.restrict_to_index is None or index == self.restrict_to_index:
                break
        _tracked_input = TrackedInput(index, self.track_callback(item), self.input_type_desc)
        return item


# ---- gradients and results of two functions


def gradcheck(fn, inputs, **kwargs):
    """torch.autograd.gradcheck with the settings of tests: gradients of batches are checked, and quickly unless slow ones are wanted."""
    settings = {"check_batched_grad": True, "fast_mode": not TEST_WITH_SLOW_GRADCHECK, **{k: v for k, v in kwargs.items() if v is not None}}
    return torch.autograd.gradcheck(fn, inputs, **settings)


def gradgradcheck(fn, inputs, grad_outputs=None, **kwargs):
    settings = {"check_batched_grad": True, "fast_mode": not TEST_WITH_SLOW_GRADCHECK, **{k: v for k, v in kwargs.items() if v is not None}}
    return torch.autograd.gradgradcheck(fn, inputs, grad_outputs, **settings)


def _assertGradAndGradgradChecks(test_case, apply_fn, inputs, **kwargs):
    test_case.assertTrue(gradcheck(apply_fn, inputs, **kwargs))
    test_case.assertTrue(gradgradcheck(apply_fn, inputs, **kwargs))


class TestGradients(TestCase):
    exact_dtype = True


def outs_and_grads(fn, graph_inps, inps):
    """The results of a function, and the gradients of inps, from the sum of all results that have one."""
    outs = fn(*graph_inps)
    for out in torch.utils._pytree.tree_leaves(outs):
        if isinstance(out, torch.Tensor) and out.requires_grad:
            out.sum().backward(retain_graph=True)
    grads = [inp.grad for inp in torch.utils._pytree.tree_leaves(inps) if isinstance(inp, torch.Tensor)]
    for inp in torch.utils._pytree.tree_leaves(inps):
        if isinstance(inp, torch.Tensor):
            inp.grad = None
    return outs, grads


def compare_equal_outs_and_grads(test, m1, m2, inps):
    """Fails unless two functions have the same results and gradients."""
    r1, g1 = outs_and_grads(m1, inps, inps)
    r2, g2 = outs_and_grads(m2, inps, inps)
    test.assertEqual(r1, r2)
    test.assertEqual(g1, g2)


def scoped_load_inline(func):
    """Passes a load_inline that builds into a folder of the test's own."""

    @wraps(func)
    def wrapper(*args, **kwargs):
        import torch.utils.cpp_extension as cpp_extension

        with tempfile.TemporaryDirectory() as d:
            return func(*args, load_inline=partial(cpp_extension.load_inline, build_directory=d), **kwargs)

    return wrapper


def remove_cpp_extensions_build_root():
    pass


def make_lazy_class(cls):
    """A class whose instances come into being when they are first used."""

    class Lazy:
        def __init__(self, cb):
            object.__setattr__(self, "_cb", cb)
            object.__setattr__(self, "_made", None)

        def _get(self):
            if self._made is None:
                object.__setattr__(self, "_made", self._cb())
            return self._made

        def __getattr__(self, name):
            return getattr(self._get(), name)

    for op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge", "bool", "int", "index", "str"):
        name = f"__{op}__"
        if hasattr(cls, name):
            setattr(Lazy, name, lambda self, *a, _n=name: getattr(self._get(), _n)(*a))
    Lazy.__name__ = f"Lazy{cls.__name__}"
    return Lazy


LazyInt = make_lazy_class(int)


def settings(*args, **kwargs):
    """A decorator of tests that hypothesis would drive, which is not here."""
    return lambda fn: fn


def mock_wrapper(method):
    """Calls an attribute's method, and counts the calls in .mock."""
    from unittest.mock import MagicMock

    mock = MagicMock()

    @wraps(method)
    def wrapper(self, *args, **kwargs):
        mock(*args, **kwargs)
        return method(self, *args, **kwargs)

    wrapper.mock = mock
    return wrapper


def allocator_option_enabled_fn(allocator_config, _, option):
    if allocator_config is None:
        return False
    allocator_config = allocator_config.split(",") if "," in allocator_config else [allocator_config]
    return any(f"{option}:True" in o for o in allocator_config)


def custom_op(opname, symbolic_fn, opset_version):
    raise NotImplementedError("ONNX export is not supported")


def scoped_tempdir():
    return tempfile.TemporaryDirectory()


def get_cycles_per_ms():
    raise RuntimeError("get_cycles_per_ms needs a GPU")


def dtype_to_bytes(dtype):
    return dtype.itemsize
