"""Caches of compiled code, and helpers of tests."""
import contextlib
import logging
import os
import shutil
import tempfile
from unittest import mock

import torch

log = logging.getLogger(__name__)
GPU_TYPES = ["cuda", "xpu"]


def clear_inductor_caches():
    """Forgets what was compiled in this process."""
    torch._dynamo.reset()


@contextlib.contextmanager
def fresh_inductor_cache(cache_entries=None, dir=None, delete=True):
    """An empty TORCHINDUCTOR_CACHE_DIR for a while; cache_entries gets the sizes of the files that were written."""
    clear_inductor_caches()
    where = tempfile.mkdtemp(dir=dir)
    try:
        with mock.patch.dict(os.environ, {"TORCHINDUCTOR_CACHE_DIR": where}):
            yield
            if isinstance(cache_entries, dict):
                assert len(cache_entries) == 0, "expected empty cache_entries dict"
                for path, _, files in os.walk(where):
                    for f in files:
                        full = os.path.join(path, f)
                        cache_entries[os.path.relpath(full, where)] = os.path.getsize(full)
        if delete:
            shutil.rmtree(where, ignore_errors=True)
    except Exception:
        log.warning("on error, temporary cache dir kept at %s", where)
        raise
    finally:
        clear_inductor_caches()


fresh_cache = fresh_inductor_cache


def run_and_get_code(fn, *args, **kwargs):
    raise NotImplementedError("run_and_get_code: inductor's Python wrapper code is not there; generated C++ is shown by TORCH_LOGS=output_code")


def is_big_gpu(index=0):
    return False


def do_bench(*args, **kwargs):
    raise NotImplementedError("do_bench needs Triton")
