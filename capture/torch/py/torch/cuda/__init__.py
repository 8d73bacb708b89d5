"""What programs ask of CUDA where there is none."""
import contextlib
import sys
import types
from collections import OrderedDict

import torch
from torch import _legacy
from torch.cuda import amp

globals().update(_legacy._classes("torch.cuda", "cuda"))
has_half = True
_initialized = False
OutOfMemoryError = torch.OutOfMemoryError

default_generators = ()


def _nothing(value=None):
    """A function of whatever arguments that has nothing to tell or to do."""
    return lambda *args, **kwargs: value


def _refused(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


is_available = is_initialized = is_bf16_supported = is_current_stream_capturing = _nothing(False)
device_count = memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = _nothing(0)
empty_cache = seed = seed_all = _nothing()
(synchronize, current_device, get_device_name, get_device_properties, get_device_capability, initial_seed, get_rng_state, set_rng_state, ipc_collect, current_stream, default_stream, mem_get_info, init,
 set_device, reset_peak_memory_stats, reset_max_memory_allocated, memory_summary) = [_refused] * 17
_more = """caching_allocator_alloc caching_allocator_delete caching_allocator_enable can_device_access_peer change_current_allocator cudart current_blas_handle get_allocator_backend
 get_per_process_memory_fraction get_sync_debug_mode graph_pool_handle list_gpu_processes make_graphed_callables memory_snapshot reset_accumulated_memory_stats reset_max_memory_cached
 set_per_process_memory_fraction set_stream set_sync_debug_mode clock_rate device_memory_used memory_usage power_draw temperature utilization"""
globals().update(dict.fromkeys(_more.split(), _refused))
memory_stats_as_nested_dict = _nothing({})


def manual_seed(seed):
    int(seed)


def manual_seed_all(seed):
    int(seed)


def get_arch_list():
    return []


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    for state in new_states:
        set_rng_state(state)


def memory_stats(device=None):
    return OrderedDict()


class device:
    """A block on another device."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, *exc):
        return False


class Stream:
    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"Tried to instantiate dummy base class {type(self).__name__}")


class Event(Stream):
    pass


class device_of(device):
    """A block on the device of a tensor or of a storage."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class ExternalStream(Stream):
    pass


class CUDAGraph(Stream):
    pass


class MemPool(Stream):
    pass


class MemPoolContext(Stream):
    pass


class CUDAPluggableAllocator(Stream):
    pass


class graph:
    """A block whose kernels go into a graph."""

    def __init__(self, cuda_graph, *args, **kwargs):
        self.cuda_graph = cuda_graph
        _refused()


@contextlib.contextmanager
def use_mem_pool(pool, device=None):
    _refused()
    yield


class stream:
    """A block on a stream: on none, there is nothing to it."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            _refused()

    def __exit__(self, *exc):
        return False


StreamContext = stream


def _submodule(name, names=(), **own):
    """Makes a module of this package out of what the package has, and of what is its own."""
    module = types.ModuleType("torch.cuda." + name)
    module.__dict__.update({k: globals()[k] for k in names}, torch=torch, **own)
    sys.modules[module.__name__] = globals()[name] = module


def _no_marks(*args, **kwargs):
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


@contextlib.contextmanager
def _refused_block(*args, **kwargs):
    _refused()
    yield


@contextlib.contextmanager
def _no_range(*args, **kwargs):
    _no_marks()
    yield


_submodule("random", "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all".split())
_submodule("memory", [k for k in list(globals()) if "memory" in k or "alloc" in k.lower() or "MemPool" in k] + ["empty_cache", "list_gpu_processes", "mem_get_info", "use_mem_pool"])
_submodule("streams", ["Event", "ExternalStream", "Stream"])
_submodule("graphs", ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"])
_submodule("nvtx", mark=_no_marks, range=_no_range, range_end=_no_marks, range_pop=_no_marks, range_push=_no_marks, range_start=_no_marks)
_submodule("profiler", init=_refused, start=_refused, stop=_refused, profile=_refused_block)
_submodule("nccl", is_available=_nothing(False), **dict.fromkeys("all_gather all_reduce broadcast init_rank reduce reduce_scatter unique_id version".split(), _refused))
_submodule("comm", **dict.fromkeys("broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter".split(), _refused))
