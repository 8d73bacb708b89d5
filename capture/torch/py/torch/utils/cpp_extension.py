"""C++ extensions, which need PyTorch's own headers and libraries."""
import os
import shutil

from torch._absent import declare

declare("BuildExtension", "CppExtension", "CUDAExtension", "load", "load_inline", "include_paths", "library_paths")
CUDA_HOME = ROCM_HOME = None


def is_ninja_available():
    return shutil.which("ninja") is not None


def verify_ninja_availability():
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions")


def get_cxx_compiler():
    return os.environ.get("CXX", "c++")
