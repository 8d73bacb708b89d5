"""Decorators of tests that need Triton; none of its kernels is here, as there is no GPU."""
import functools
import unittest

from torch.testing._internal.inductor_utils import GPU_TYPE, HAS_CUDA, HAS_GPU, has_triton

requires_cuda = unittest.skipUnless(HAS_CUDA, "requires cuda")
requires_gpu = unittest.skipUnless(HAS_GPU, "requires gpu")
