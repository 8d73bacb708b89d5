"""What tests ask of a GPU. There is none."""
import contextlib
import functools
import unittest

import torch
from torch.testing._internal.common_utils import IS_JETSON, IS_WINDOWS, TEST_CUDA, TEST_NUMBA, TEST_WITH_ROCM, LazyVal

CUDA_ALREADY_INITIALIZED_ON_IMPORT = torch.cuda.is_initialized() if hasattr(torch.cuda, "is_initialized") else False
TEST_MULTIGPU = TEST_CUDA and torch.cuda.device_count() >= 2
CUDA_DEVICE = torch.device("cuda:0") if TEST_CUDA else None
TEST_CUDNN = LazyVal(lambda: False)
TEST_CUDNN_VERSION = LazyVal(lambda: 0)
TEST_MAGMA = False
TEST_NUMBA_CUDA = False
TEST_CUSPARSE_GENERIC = True
TEST_HIPSPARSE_GENERIC = False
ROCM_VERSION = (0, 0)


def _or_later(major, minor):
    return LazyVal(lambda: torch.cuda.is_available() and torch.cuda.get_device_capability() >= (major, minor))


SM53OrLater, SM60OrLater, SM70OrLater, SM75OrLater = _or_later(5, 3), _or_later(6, 0), _or_later(7, 0), _or_later(7, 5)
SM80OrLater, SM89OrLater, SM90OrLater, SM100OrLater = _or_later(8, 0), _or_later(8, 9), _or_later(9, 0), _or_later(10, 0)
IS_SM89 = LazyVal(lambda: torch.cuda.is_available() and torch.cuda.get_device_capability() == (8, 9))


def evaluate_gfx_arch_exact(matching_arch):
    return False


GFX90A_Exact = LazyVal(lambda: evaluate_gfx_arch_exact("gfx90a:sramecc+:xnack-"))
GFX942_Exact = LazyVal(lambda: evaluate_gfx_arch_exact("gfx942:sramecc+:xnack-"))


def CDNA2OrLater():
    return False


def evaluate_platform_supports_flash_attention():
    return bool(TEST_CUDA and not IS_WINDOWS and SM80OrLater)


def evaluate_platform_supports_efficient_attention():
    return bool(TEST_CUDA)


def evaluate_platform_supports_cudnn_attention():
    return bool(TEST_CUDA and SM80OrLater)


def evaluate_platform_supports_fp8():
    return bool(TEST_CUDA and SM89OrLater)


PLATFORM_SUPPORTS_FLASH_ATTENTION = LazyVal(evaluate_platform_supports_flash_attention)
PLATFORM_SUPPORTS_MEM_EFF_ATTENTION = LazyVal(evaluate_platform_supports_efficient_attention)
PLATFORM_SUPPORTS_CUDNN_ATTENTION = LazyVal(evaluate_platform_supports_cudnn_attention)
PLATFORM_SUPPORTS_FUSED_ATTENTION = LazyVal(lambda: bool(PLATFORM_SUPPORTS_FLASH_ATTENTION or PLATFORM_SUPPORTS_MEM_EFF_ATTENTION))
PLATFORM_SUPPORTS_FUSED_SDPA = TEST_CUDA and not TEST_WITH_ROCM
PLATFORM_SUPPORTS_BF16 = LazyVal(lambda: bool(TEST_CUDA and SM80OrLater))
PLATFORM_SUPPORTS_FP8 = LazyVal(evaluate_platform_supports_fp8)


def initialize_cuda_context_rng():
    assert TEST_CUDA, "CUDA must be available when calling initialize_cuda_context_rng"


def tf32_is_not_fp32():
    return bool(TEST_CUDA and torch.cuda.get_device_capability()[0] >= 8)


def tf32_enabled():
    return contextlib.nullcontext()


def tf32_off():
    return contextlib.nullcontext()


def tf32_on(self, tf32_precision=1e-5):
    return contextlib.nullcontext()


def tf32_on_and_off(tf32_precision=1e-5):
    """Runs a test with TF32 and without; where no device has it, once."""

    def wrapper(f):
        @functools.wraps(f)
        def wrapped(*args, **kwargs):
            return f(*args, **kwargs)

        return wrapped

    return wrapper


def with_tf32_off(f):
    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapped


def _get_magma_version():
    return (0, 0)


def _get_torch_cuda_version():
    return (0, 0)


def _get_torch_rocm_version():
    return (0, 0)


def _check_cusparse_generic_available():
    return True


def _check_hipsparse_generic_available():
    return False


def xfailIfSM89(func):
    return func if not IS_SM89 else unittest.expectedFailure(func)
