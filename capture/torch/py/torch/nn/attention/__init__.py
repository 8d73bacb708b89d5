"""Which kernel computes attention. There is one here, so that a choice changes no result; programs see what they chose."""
import contextlib
import enum

import torch

__all__ = ["SDPBackend", "sdpa_kernel", "WARN_FOR_UNFUSED_KERNELS"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """A way to compute attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self):
        return f"SDPBackend.{self.name}"


# The switches in torch.backends.cuda, in the order in which they are reported.
_switches = {SDPBackend.CUDNN_ATTENTION: "cudnn", SDPBackend.FLASH_ATTENTION: "flash", SDPBackend.EFFICIENT_ATTENTION: "mem_efficient", SDPBackend.MATH: "math"}
_backend_names = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION", "mem_efficient": "EFFICIENT_ATTENTION", "math": "MATH"}


def _backend_from_string(name):
    return getattr(SDPBackend, name)


def _cur_sdpa_kernel_backends(with_priority=False):
    """The ways that are allowed now."""
    return [b for b, switch in _switches.items() if getattr(torch.backends.cuda, f"{switch}_sdp_enabled")()]


def _sdpa_kernel(backends, set_priority=False):
    for b, switch in _switches.items():
        getattr(torch.backends.cuda, f"enable_{switch}_sdp")(b in backends)


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Allows these ways to compute attention and no others, within a with block."""
    assert isinstance(backends, (list, SDPBackend)), "Backend must be an instance of SDPBackend or a list of SDPBackend instances"
    backends = list(dict.fromkeys([backends] if isinstance(backends, SDPBackend) else backends))
    before = _cur_sdpa_kernel_backends()
    try:
        _sdpa_kernel(backends)
        yield {}
    finally:
        _sdpa_kernel(before)


@contextlib.contextmanager
def _sdpa_kernel_variadic(*backends):
    with sdpa_kernel(list(backends)):
        yield


def can_use_flash_attention(params, debug=False):
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention
