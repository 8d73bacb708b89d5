"""Tests for each device, dtype and operator. A generic class is instantiated once for each device that is here: the processor."""
import functools
import inspect
import os
import unittest
from collections import namedtuple
from enum import Enum
from functools import partial, wraps

import torch
from torch.testing._internal.common_dtype import all_types_and_complex, all_types_and_complex_and, get_all_dtypes
from torch.testing._internal.common_utils import (IS_FBCODE, IS_REMOTE_GPU, IS_SANDCASTLE, IS_WINDOWS, NATIVE_DEVICES, PRINT_REPRO_ON_FAILURE, TEST_HPU, TEST_MKL, TEST_MPS,
                                                  TEST_WITH_ASAN, TEST_WITH_MIOPEN_SUGGEST_NHWC, TEST_WITH_ROCM, TEST_WITH_TORCHINDUCTOR, TEST_WITH_TSAN, TEST_WITH_UBSAN,
                                                  TEST_XPU, TestCase, _dtype_test_suffix, _TestParametrizer, _update_param_kwargs, compose_parametrize_fns, dtype_name,
                                                  get_tracked_input, set_rng_seed, skipIfRocm, clear_tracked_input)

HAS_PSUTIL = False
GPU_TYPES = ["cuda", "xpu"]
TEST_CUSPARSE_GENERIC, TEST_HIPSPARSE_GENERIC = True, False
PYTORCH_CUDA_MEMCHECK = False
PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY = "PYTORCH_TESTING_DEVICE_ONLY_FOR"
PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY = "PYTORCH_TESTING_DEVICE_EXCEPT_FOR"
PYTORCH_TESTING_DEVICE_FOR_CUSTOM_KEY = "PYTORCH_TESTING_DEVICE_FOR_CUSTOM"
_TORCH_TEST_DEVICES = os.environ.get("TORCH_TEST_DEVICES", None)
lazy_ts_backend_init = False

ANY_DTYPE_ORDER = (torch.float32, torch.float64, torch.complex64, torch.complex128, torch.float16, torch.bfloat16, torch.long, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


class tol(namedtuple("tol", ["atol", "rtol"])):
    pass


class DeviceTypeTestBase(TestCase):
    """The tests of one device."""

    device_type = "generic_device_type"
    _stop_test_suite = False
    _tls = None

    @property
    def precision(self):
        return self._precision

    @precision.setter
    def precision(self, prec):
        self._precision = prec

    @classmethod
    def get_primary_device(cls):
        return cls.device_type

    @classmethod
    def _init_and_get_primary_device(cls):
        return cls.get_primary_device()

    @classmethod
    def get_all_devices(cls):
        return [cls.get_primary_device()]

    @classmethod
    def _get_dtypes(cls, test):
        return test.dtypes.get(cls.device_type, test.dtypes.get("all", None)) if hasattr(test, "dtypes") else None

    def _get_precision_override(self, test, dtype):
        return getattr(test, "precision_overrides", {}).get(dtype, self.precision)

    def _get_tolerance_override(self, test, dtype):
        return getattr(test, "tolerance_overrides", {}).get(dtype, tol(self.precision, self.rel_tol))

    def _apply_precision_override_for_test(self, test, param_kwargs):
        dtype = param_kwargs.get("dtype", param_kwargs.get("dtypes"))
        if dtype is None or isinstance(dtype, (list, tuple)):
            return
        self.precision = self._get_precision_override(test, dtype)
        self.precision, self.rel_tol = self._get_tolerance_override(test, dtype)

    @classmethod
    def instantiate_test(cls, name, test, *, generic_cls=None):
        """Puts the tests that a generic one stands for into this class."""

        def put(name, test, param_kwargs, decorators):
            def no_op_decorators(_):
                return []

            test_wrapper = test
            for decorator in (decorators or no_op_decorators)(param_kwargs):
                test_wrapper = decorator(test_wrapper)

            @wraps(test)
            def instantiated(self, param_kwargs=param_kwargs, test=test_wrapper):
                saved = self.precision, self.rel_tol
                self._apply_precision_override_for_test(test, param_kwargs)
                try:
                    result = test(self, **param_kwargs)
                except RuntimeError:
                    self._stop_test_suite = self._should_stop_test_suite()
                    raise
                except unittest.SkipTest:
                    raise
                except Exception as e:
                    sample = get_tracked_input()
                    if sample is None:
                        raise
                    raise Exception(f"Caused by {sample.type_desc} at index {sample.index}: {sample.val}") from e
                finally:
                    self.precision, self.rel_tol = saved
                    clear_tracked_input()
                return result

            instantiated.__dict__.pop("parametrize_fn", None)
            assert not hasattr(cls, name), f"Redefinition of test {name}"
            setattr(cls, name, instantiated)

        def default_parametrize_fn(test, generic_cls, device_cls):
            yield test, "", {}, lambda _: []

        parametrize_fn = getattr(test, "parametrize_fn", default_parametrize_fn)
        dtypes = cls._get_dtypes(test)
        if dtypes is not None:
            def by_dtype(test, generic_cls, device_cls, dtypes=dtypes):
                for dtype in dtypes:
                    yield test, _dtype_test_suffix(dtype)[1:], _update_param_kwargs({}, "dtype", dtype), lambda _: []

            parametrize_fn = compose_parametrize_fns(by_dtype, parametrize_fn)
        wants_devices = hasattr(test, "num_required_devices")
        for made, suffix, param_kwargs, decorators in parametrize_fn(test, generic_cls, cls):
            param_kwargs = dict(param_kwargs)
            if {"device", "devices"} & set(inspect.signature(made).parameters):
                _update_param_kwargs(param_kwargs, "device", cls.get_all_devices() if wants_devices else cls._init_and_get_primary_device())
            # The name is what is generic, then what @parametrize says, the device, and the dtype.
            dtype_suffix = ""
            dtype = param_kwargs.get("dtype", param_kwargs.get("dtypes"))
            if dtype is not None and not isinstance(dtype, str):
                dtype_suffix = _dtype_test_suffix(dtype)
                if suffix.endswith(dtype_suffix[1:]):
                    suffix = suffix[:len(suffix) - len(dtype_suffix) + 1].rstrip("_")
            middle = f"_{suffix}" if suffix else ""
            put(f"{name}{middle}_{cls.device_type}{dtype_suffix}", made, param_kwargs, decorators)

    def run(self, result=None):
        super().run(result=result)
        if self._stop_test_suite:
            result.stop()

    def _should_stop_test_suite(self):
        return False


class CPUTestBase(DeviceTypeTestBase):
    device_type = "cpu"


class CUDATestBase(DeviceTypeTestBase):
    device_type = "cuda"
    _do_cuda_memory_leak_check = _do_cuda_non_default_stream = True


class LazyTestBase(DeviceTypeTestBase):
    device_type = "lazy"


class MPSTestBase(DeviceTypeTestBase):
    device_type = "mps"


class XPUTestBase(DeviceTypeTestBase):
    device_type = "xpu"


class HPUTestBase(DeviceTypeTestBase):
    device_type = "hpu"


class PrivateUse1TestBase(DeviceTypeTestBase):
    device_type = "privateuse1"


def get_device_type_test_bases():
    return [CPUTestBase]


device_type_test_bases = get_device_type_test_bases()


def filter_desired_device_types(device_type_test_bases, except_for=None, only_for=None):
    intersect = set(except_for or []) & set(only_for or [])
    assert not intersect, f"device ({intersect}) appeared in both except_for and only_for"
    return [b for b in device_type_test_bases if b.device_type not in (except_for or ()) and (not only_for or b.device_type in only_for)]


def get_desired_device_type_test_bases(except_for=None, only_for=None, include_lazy=False, allow_mps=False, allow_xpu=False):
    found = filter_desired_device_types(device_type_test_bases, except_for, only_for)

    def listed(key):
        value = os.getenv(key, "")
        return value.split(",") if value else None

    return filter_desired_device_types(found, listed(PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY), listed(PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY))


def instantiate_device_type_tests(generic_test_class, scope, except_for=None, only_for=None, include_lazy=False, allow_mps=False, allow_xpu=False):
    """Replaces a generic class in scope by one for each device."""
    del scope[generic_test_class.__name__]
    generic_members = set(generic_test_class.__dict__)
    generic_tests = [n for n in generic_test_class.__dict__ if n.startswith("test")]
    for base in get_desired_device_type_test_bases(except_for, only_for, include_lazy, allow_mps, allow_xpu):
        class_name = generic_test_class.__name__ + base.device_type.upper()
        device_type_test_class = type(class_name, (base, _without_tests(generic_test_class)), {})
        for name in sorted(generic_members):
            if name not in generic_tests:
                continue
            test = getattr(generic_test_class, name)
            device_type_test_class.instantiate_test(name, test, generic_cls=generic_test_class)
        for name in dir(generic_test_class):
            # Tests of its bases are generic, too.
            if name.startswith("test") and name not in generic_members and not hasattr(TestCase, name):
                device_type_test_class.instantiate_test(name, getattr(generic_test_class, name), generic_cls=generic_test_class)
        device_type_test_class.__module__ = generic_test_class.__module__
        scope[class_name] = device_type_test_class


def _without_tests(generic):
    """The generic class with all but its tests."""
    members = {k: v for k, v in generic.__dict__.items() if not k.startswith("test") and k not in ("__dict__", "__weakref__")}
    bases = tuple(b if not any(n.startswith("test") for n in dir(b)) else _without_tests(b) for b in generic.__bases__)
    made = type(generic)(generic.__name__, bases, members)
    # super() of a method looks at the class by the cell __class__, which has to be a base of self's.
    for f in members.values():
        f = getattr(f, "__func__", f)
        for cell in getattr(f, "__closure__", None) or ():
            try:
                if cell.cell_contents is generic:
                    cell.cell_contents = made
            except ValueError:
                pass
    return made


class OpDTypes(Enum):
    supported = 0
    unsupported = 1
    supported_backward = 2
    unsupported_backward = 3
    any_one = 4
    none = 5
    any_common_cpu_cuda_one = 6


class ops(_TestParametrizer):
    """One test for each operator of a list, and for each of its dtypes."""

    def __init__(self, op_list, *, dtypes=OpDTypes.supported, allowed_dtypes=None, skip_if_dynamo=True):
        self.op_list = list(op_list)
        self.opinfo_dtypes = dtypes
        self.allowed_dtypes = set(allowed_dtypes) if allowed_dtypes is not None else None
        self.skip_if_dynamo = skip_if_dynamo

    def _parametrize_test(self, test, generic_cls, device_cls):
        if device_cls is None:
            raise RuntimeError("The @ops decorator is only intended to be used in a device-specific context; use it with instantiate_device_type_tests() instead of "
                               "instantiate_parametrized_tests()")
        device_type = device_cls.device_type
        for op in self.op_list:
            op.check = getattr(op, "check", None)
            for dtype in self._dtypes(op, device_type):
                if self.allowed_dtypes is not None and dtype not in self.allowed_dtypes and dtype is not None:
                    continue

                @wraps(test)
                def test_wrapper(*args, **kwargs):
                    return test(*args, **kwargs)

                kwargs = {"op": op}
                _update_param_kwargs(kwargs, "dtype", dtype)
                yield (test_wrapper, op.formatted_name, kwargs,
                       partial(op.get_decorators, generic_cls.__name__, test.__name__, device_cls.device_type, dtype))

    def _dtypes(self, op, device_type):
        want = self.opinfo_dtypes
        if not isinstance(want, OpDTypes):
            return set(want)
        if want == OpDTypes.none:
            return {None}
        supported = op.supported_dtypes(device_type)
        if want == OpDTypes.unsupported:
            return set(get_all_dtypes()) - set(supported)
        if want == OpDTypes.supported_backward:
            return op.supported_backward_dtypes(device_type)
        if want == OpDTypes.unsupported_backward:
            return set(supported) - set(op.supported_backward_dtypes(device_type))
        if want == OpDTypes.any_one or want == OpDTypes.any_common_cpu_cuda_one:
            return {next(d for d in ANY_DTYPE_ORDER if d in supported)} if supported else {}
        return set(supported)


class skipIf:
    """Skips a test on a device; dep is a condition, or the name of an attribute that is one."""

    def __init__(self, dep, reason, device_type=None):
        self.dep, self.reason, self.device_type = dep, reason, device_type

    def __call__(self, fn):
        if isinstance(fn, type):
            if self.dep if not isinstance(self.dep, str) else getattr(fn, self.dep, True):
                fn.__unittest_skip__ = True
                fn.__unittest_skip_why__ = self.reason
            return fn

        @wraps(fn)
        def dep_fn(slf, *args, **kwargs):
            if self.device_type is None or self.device_type == slf.device_type or (self.device_type == "gpu" and slf.device_type in GPU_TYPES):
                if (isinstance(self.dep, str) and getattr(slf, self.dep, True)) or (not isinstance(self.dep, str) and self.dep):
                    raise unittest.SkipTest(self.reason)
            return fn(slf, *args, **kwargs)

        return dep_fn


def _skip_class(name, device_type):
    def init(self, dep, reason):
        skipIf.__init__(self, dep, reason, device_type=device_type)

    return type(name, (skipIf,), {"__init__": init, "__module__": __name__})


skipCPUIf, skipCUDAIf, skipXPUIf, skipHPUIf = _skip_class("skipCPUIf", "cpu"), _skip_class("skipCUDAIf", "cuda"), _skip_class("skipXPUIf", "xpu"), _skip_class("skipHPUIf", "hpu")
skipGPUIf, skipLazyIf, skipMetaIf, skipMPSIf = _skip_class("skipGPUIf", "gpu"), _skip_class("skipLazyIf", "lazy"), _skip_class("skipMetaIf", "meta"), _skip_class("skipMPSIf", "mps")
skipXLAIf, skipPRIVATEUSE1If = _skip_class("skipXLAIf", "xla"), _skip_class("skipPRIVATEUSE1If", "privateuse1")


def _has_sufficient_memory(device, size):
    return torch.device(device).type == "cpu" and size <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def largeTensorTest(size, device=None):
    """Skips a test where the machine lacks so many bytes."""
    if isinstance(size, str):
        assert size.endswith(("GB", "gb")), "only bytes or GB supported"
        size = 1024**3 * int(size[:-2])

    def inner(fn):
        @wraps(fn)
        def dep_fn(self, *args, **kwargs):
            bytes_ = size(self, *args, **kwargs) if callable(size) else size
            on = device if device is not None else self.get_primary_device()
            if not _has_sufficient_memory(on, bytes_):
                raise unittest.SkipTest(f"Insufficient {on} memory")
            return fn(self, *args, **kwargs)

        return dep_fn

    return inner


class expectedFailure:
    """A test that fails on this device, or on all for None."""

    def __init__(self, device_type):
        self.device_type = device_type

    def __call__(self, fn):
        @wraps(fn)
        def efail_fn(slf, *args, **kwargs):
            if self.device_type is not None and self.device_type != getattr(slf, "device_type", None):
                return fn(slf, *args, **kwargs)
            try:
                fn(slf, *args, **kwargs)
            except Exception:
                return
            slf.fail("expected test to fail, but it passed")

        return efail_fn


class onlyOn:
    def __init__(self, device_type):
        self.device_type = device_type

    def __call__(self, fn):
        @wraps(fn)
        def only_fn(slf, *args, **kwargs):
            if slf.device_type not in ([self.device_type] if isinstance(self.device_type, str) else self.device_type):
                raise unittest.SkipTest(f"Only runs on {self.device_type}")
            return fn(slf, *args, **kwargs)

        return only_fn


class deviceCountAtLeast:
    """A test of so many devices of one kind: it gets them all, as devices."""

    def __init__(self, num_required_devices):
        self.num_required_devices = num_required_devices

    def __call__(self, fn):
        assert not hasattr(fn, "num_required_devices"), f"deviceCountAtLeast redefinition for {fn.__name__}"
        fn.num_required_devices = self.num_required_devices

        @wraps(fn)
        def multi_fn(slf, devices, *args, **kwargs):
            if len(devices) < self.num_required_devices:
                raise unittest.SkipTest(f"fewer than {self.num_required_devices} devices detected")
            return fn(slf, devices, *args, **kwargs)

        return multi_fn


def onlyNativeDeviceTypes(fn):
    @wraps(fn)
    def only_fn(self, *args, **kwargs):
        if self.device_type not in NATIVE_DEVICES:
            raise unittest.SkipTest(f"onlyNativeDeviceTypes: doesn't run on {self.device_type}")
        return fn(self, *args, **kwargs)

    return only_fn


def onlyNativeDeviceTypesAnd(devices=None):
    return lambda fn: onlyOn([*NATIVE_DEVICES, *([devices] if isinstance(devices, str) else devices or [])])(fn)


class precisionOverride:
    """The absolute tolerance of a test, by dtype."""

    def __init__(self, d):
        assert isinstance(d, dict), "precisionOverride not given a dtype : precision dict!"
        self.d = d

    def __call__(self, fn):
        fn.precision_overrides = self.d
        return fn


class toleranceOverride:
    """The tolerances of a test, by dtype."""

    def __init__(self, d):
        assert isinstance(d, dict), "toleranceOverride not given a dtype : tol dict!"
        for dtype, prec in d.items():
            assert isinstance(dtype, torch.dtype) and isinstance(prec, tol), "toleranceOverride not given a dtype : tol dict!"
        self.d = d

    def __call__(self, fn):
        fn.tolerance_overrides = self.d
        return fn


class dtypes:
    """One test for each of these dtypes, or tuples of them."""

    def __init__(self, *args, device_type="all"):
        if len(args) > 0 and isinstance(args[0], (list, tuple)):
            assert all(isinstance(a, (list, tuple)) for a in args), "When one dtype variant is a tuple or list, all dtype variants must be."
        else:
            assert all(isinstance(a, (torch.dtype, torch._absent.Constant)) for a in args), f"Unknown dtype in {args}"
        self.args, self.device_type = args, device_type

    def __call__(self, fn):
        d = getattr(fn, "dtypes", {})
        assert self.device_type not in d, f"dtypes redefinition for {self.device_type}"
        d[self.device_type] = self.args
        fn.dtypes = d
        return fn


def _dtypes_class(name, device_type):
    def init(self, *args):
        dtypes.__init__(self, *args, device_type=device_type)

    return type(name, (dtypes,), {"__init__": init, "__module__": __name__})


dtypesIfCPU, dtypesIfCUDA, dtypesIfMPS = _dtypes_class("dtypesIfCPU", "cpu"), _dtypes_class("dtypesIfCUDA", "cuda"), _dtypes_class("dtypesIfMPS", "mps")
dtypesIfHPU, dtypesIfXPU, dtypesIfPRIVATEUSE1 = _dtypes_class("dtypesIfHPU", "hpu"), _dtypes_class("dtypesIfXPU", "xpu"), _dtypes_class("dtypesIfPRIVATEUSE1", "privateuse1")


def onlyCPU(fn):
    return onlyOn("cpu")(fn)


def onlyCUDA(fn):
    return onlyOn("cuda")(fn)


def onlyMPS(fn):
    return onlyOn("mps")(fn)


def onlyXPU(fn):
    return onlyOn("xpu")(fn)


def onlyHPU(fn):
    return onlyOn("hpu")(fn)


def onlyPRIVATEUSE1(fn):
    return onlyOn("privateuse1")(fn)


def onlyCUDAAndPRIVATEUSE1(fn):
    return onlyOn(["cuda", "privateuse1"])(fn)


def disablecuDNN(fn):
    return _as_it_is(fn)


def disableMkldnn(fn):
    return _as_it_is(fn)


def _as_it_is(fn):
    @wraps(fn)
    def wrapper(self, *args, **kwargs):
        return fn(self, *args, **kwargs)

    return wrapper


def expectedFailureCPU(fn):
    return expectedFailure("cpu")(fn)


def expectedFailureCUDA(fn):
    return expectedFailure("cuda")(fn)


def expectedFailureXPU(fn):
    return expectedFailure("xpu")(fn)


def expectedFailureMeta(fn):
    return expectedFailure("meta")(fn)


def expectedFailureXLA(fn):
    return expectedFailure("xla")(fn)


def expectedFailureHPU(fn):
    return expectedFailure("hpu")(fn)


def expectedFailureMPS(fn):
    return expectedFailure("mps")(fn)


expectedFailureMPSPre14 = expectedFailureMPSPre15 = expectedFailureMPS


def skipCPUIfNoLapack(fn):
    return skipCPUIf(False, "PyTorch compiled without Lapack")(fn)


def skipCPUIfNoFFT(fn):
    return skipCPUIf(False, "PyTorch is built without FFT support")(fn)


def skipCPUIfNoMkl(fn):
    return skipCPUIf(not TEST_MKL, "PyTorch is built without MKL support")(fn)


def skipCPUIfNoMklSparse(fn):
    return skipCPUIf(IS_WINDOWS or not TEST_MKL, "PyTorch is built without MKL support")(fn)


def skipCPUIfNoMkldnn(fn):
    return skipCPUIf(not torch.backends.mkldnn.is_available(), "PyTorch is built without mkldnn support")(fn)


def _no_gpu_part(reason):
    def decorate(fn):
        return skipCUDAIf(True, reason)(fn)

    return decorate


skipCUDAIfNoMagma = _no_gpu_part("no MAGMA library detected")
skipCUDAIfNoCusolver = _no_gpu_part("cuSOLVER not available")
skipCUDAIfNoMagmaAndNoCusolver = skipCUDAIfNoMagmaAndNoLinalgsolver = _no_gpu_part("no MAGMA library or cuSOLVER detected")
skipCUDAIfNoCusparseGeneric = skipCUDAIfNoHipsparseGeneric = skipCUDAIfNoSparseGeneric = _no_gpu_part("cuSparse Generic API not available")
skipCUDAIfNoCudnn = _no_gpu_part("cuDNN not available")
skipCUDAIfMiopen = skipCUDAIfNoMiopen = skipCUDAIfNotMiopenSuggestNHWC = skipCUDAIfNotRocm = _no_gpu_part("no ROCm")


def skipCUDAIfRocm(func=None, *, msg="test doesn't currently work on the ROCm stack"):
    def decorate(fn):
        return skipCUDAIf(TEST_WITH_ROCM, msg)(fn)

    return decorate(func) if func else decorate


def skipCUDAIfRocmVersionLessThan(version=None):
    return _as_it_is


def skipCUDAIfVersionLessThan(versions=None):
    return _as_it_is


def skipCUDAVersionIn(versions=None):
    return _as_it_is


def skipCUDAIfCudnnVersionLessThan(version=0):
    return _no_gpu_part("cuDNN not available")


def has_cusolver():
    return False


def has_hipsolver():
    return False


def skipMeta(fn):
    return skipMetaIf(True, "test doesn't work with meta tensors")(fn)


def skipXLA(fn):
    return skipXLAIf(True, "Marked as skipped for XLA")(fn)


def skipLazy(fn):
    return skipLazyIf(True, "test doesn't work with lazy tensors")(fn)


def skipMPS(fn):
    return skipMPSIf(True, "test doesn't work on MPS backend")(fn)


def skipHPU(fn):
    return skipHPUIf(True, "test doesn't work on HPU backend")(fn)


def skipPRIVATEUSE1(fn):
    return skipPRIVATEUSE1If(True, "test doesn't work on privateuse1 backend")(fn)


def get_all_device_types():
    return ["cpu"]
