"""What the inductor's tests ask of the machine."""
import contextlib
import functools
import logging
import os
import unittest

import torch
from torch.testing._internal.common_utils import IS_CI, IS_FBCODE, IS_WINDOWS, LazyVal, TestCase

log = logging.getLogger(__name__)


def test_cpu():
    """Whether C++ can be compiled."""
    import shutil

    return any(shutil.which(c) for c in ([os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]))


HAS_CPU = LazyVal(test_cpu)
HAS_TRITON = False
TRITON_HAS_CPU = False
HAS_CUDA = False
HAS_XPU = False
HAS_GPU = False
HAS_MULTIGPU = False
GPU_TYPES = ["cuda", "xpu"]
GPU_TYPE = "cuda"
IS_A100 = LazyVal(lambda: False)
IS_H100 = LazyVal(lambda: False)
IS_BIG_GPU = LazyVal(lambda: False)


def has_triton():
    return HAS_TRITON


@functools.lru_cache(None)
def get_gpu_type():
    return GPU_TYPE


@functools.lru_cache(None)
def is_big_gpu(index=0):
    return False


def _check_has_dynamic_shape(self, code):
    """Fails if no kernel of the code has a size that is known only when it runs."""
    for_loops = any(line.strip().startswith("for(") and "ks" in line for line in code.splitlines())
    self.assertTrue(for_loops, msg=f"Failed to find dynamic for loop variable\n{code}")


def skipDeviceIf(cond, msg, *, device):
    """Skips a test of this device, whose class says by its attribute device which that is."""
    if not cond:
        return lambda fn: fn

    def decorate(fn):
        @functools.wraps(fn)
        def inner(self, *args, **kwargs):
            on = getattr(self, "device", None)
            if on == device:
                raise unittest.SkipTest(msg)
            return fn(self, *args, **kwargs)

        return inner

    return decorate


skipCUDAIf = functools.partial(skipDeviceIf, device="cuda")
skipXPUIf = functools.partial(skipDeviceIf, device="xpu")
skipCPUIf = functools.partial(skipDeviceIf, device="cpu")
requires_gpu = functools.partial(unittest.skipIf, not HAS_GPU, "requires gpu")
requires_triton = functools.partial(unittest.skipIf, not HAS_TRITON, "requires triton")


def skip_windows_ci(name, file):
    if IS_WINDOWS and IS_CI:
        raise unittest.SkipTest(f"Windows CI does not have necessary dependencies for {os.path.basename(file).strip('.py')} yet\n")
