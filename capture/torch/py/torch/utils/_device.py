"""Factories on a device that a context names."""
import torch
from torch._C import _len_torch_function_stack
from torch.overrides import TorchFunctionMode, _pop_mode, _push_mode

CURRENT_DEVICE = None


_constructors = set()  # filled when it is first asked for: not all of torch is there before


def _device_constructors():
    """The functions that make tensors and take a device."""
    if _constructors:
        return _constructors
    names = ("empty", "empty_permuted", "empty_strided", "empty_quantized", "ones", "arange", "bartlett_window", "blackman_window", "eye", "fft.fftfreq", "fft.rfftfreq",
             "full", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace", "nested.nested_tensor", "rand", "randn", "randint", "randperm", "range",
             "sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor", "tril_indices",
             "triu_indices", "zeros", "asarray", "tensor", "as_tensor", "scalar_tensor")
    for name in names:
        o = torch
        for part in name.split("."):
            o = getattr(o, part, None)
        if o is not None:
            _constructors.add(o)
    return _constructors


_device_constructors._torchdynamo_ahead = True  # capture does not look into it


def _restack(change):
    """Puts in the place of the modes that are entered, the outermost first, what change makes of them."""
    modes = [_pop_mode() for _ in range(_len_torch_function_stack())]
    for mode in change(modes[::-1]):
        _push_mode(mode)


def _without_device(modes):
    if not modes:
        return modes
    assert isinstance(modes[0], DeviceContext)
    return modes[1:]


class DeviceContext(TorchFunctionMode):
    """Lies below all other modes while it is entered, and gives functions that make tensors its device."""

    def __init__(self, device):
        self.device = torch.device(device)

    def __enter__(self):
        global CURRENT_DEVICE
        self.old_device, CURRENT_DEVICE = CURRENT_DEVICE, self.device
        _restack(lambda modes: [self, *modes])

    def __exit__(self, exc_type, exc_val, exc_tb):
        global CURRENT_DEVICE
        CURRENT_DEVICE = self.old_device
        _restack(_without_device)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)


def set_device(device):
    """Has a function make its tensors on this device."""
    return lambda func: device_decorator(torch.device(device), func)


def device_decorator(device, func):
    from torch.utils._contextlib import context_decorator

    return context_decorator(lambda: device, func)


_entered = []  # contexts of devices that with statements entered


def _enter(device):
    """with torch.device(...)."""
    context = DeviceContext(device)
    context.__enter__()
    _entered.append(context)
    return device


def _leave(device, exc_type, exc_val, exc_tb):
    _entered.pop().__exit__(exc_type, exc_val, exc_tb)
