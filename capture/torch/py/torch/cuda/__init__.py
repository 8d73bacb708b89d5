"""What programs ask of CUDA where there is none."""
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


class stream:
    """A block on a stream: on none, there is nothing to it."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            _refused()

    def __exit__(self, *exc):
        return False
