"""Devices behind one interface: which is current, their streams, their properties."""
import torch
from torch._absent import declare

device_interfaces = {}


class DeviceInterface:
    """What a device offers; each method is one that a device's own class overrides."""

    class device:
        def __new__(cls, device):
            raise NotImplementedError

    class Event:
        def __new__(cls, *args, **kwargs):
            raise NotImplementedError("Event should be inherited by device-specific classes")

    class Stream:
        def __new__(cls, *args, **kwargs):
            raise NotImplementedError("Stream should be inherited by device-specific classes")

    class Worker:
        @staticmethod
        def set_device(device):
            raise NotImplementedError

        @staticmethod
        def current_device():
            raise NotImplementedError

        @staticmethod
        def get_device_properties(device=None):
            raise NotImplementedError

    @staticmethod
    def current_device():
        raise NotImplementedError

    @staticmethod
    def set_device(device):
        raise NotImplementedError

    @staticmethod
    def maybe_exchange_device(device):
        raise NotImplementedError

    @staticmethod
    def exchange_device(device):
        raise NotImplementedError

    @staticmethod
    def device_count():
        raise NotImplementedError

    @staticmethod
    def is_available():
        raise NotImplementedError

    @staticmethod
    def stream(stream):
        raise NotImplementedError

    @staticmethod
    def current_stream():
        raise NotImplementedError

    @staticmethod
    def set_stream(stream):
        raise NotImplementedError

    @staticmethod
    def get_raw_stream(device_idx):
        raise NotImplementedError

    @staticmethod
    def synchronize(device):
        raise NotImplementedError

    @classmethod
    def get_device_properties(cls, device=None):
        return cls.Worker.get_device_properties(device)

    @staticmethod
    def get_compute_capability(device):
        raise NotImplementedError

    @staticmethod
    def is_bf16_supported(including_emulation=False):
        raise NotImplementedError


class DeviceGuard:
    """Makes a device the current one for a while; None leaves it."""

    def __init__(self, device_interface, index):
        self.device_interface, self.idx, self.prev_idx = device_interface, index, -1

    def __enter__(self):
        if self.idx is not None:
            self.prev_idx = self.device_interface.exchange_device(self.idx)

    def __exit__(self, type, value, traceback):
        if self.idx is not None:
            self.idx = self.device_interface.maybe_exchange_device(self.prev_idx)
        return False


class CpuInterface(DeviceInterface):
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def get_compute_capability(device=None):
        return ""

    @staticmethod
    def get_raw_stream(device_idx):
        return 0

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def synchronize(device=None):
        pass

    @staticmethod
    def is_bf16_supported(including_emulation=False):
        return True


class CudaInterface(DeviceInterface):
    @staticmethod
    def is_available():
        return False


class XpuInterface(DeviceInterface):
    @staticmethod
    def is_available():
        return False


def register_interface_for_device(device, device_interface):
    device_interfaces[device.type if isinstance(device, torch.device) else device] = device_interface


def get_interface_for_device(device):
    device = device.type if isinstance(device, torch.device) else device
    init_device_reg()
    if device in device_interfaces:
        return device_interfaces[device]
    raise NotImplementedError(f"No interface for device {device}")


def get_registered_device_interfaces():
    init_device_reg()
    return device_interfaces.items()


def init_device_reg():
    for name, interface in (("cpu", CpuInterface), ("cuda", CudaInterface), ("xpu", XpuInterface)):
        device_interfaces.setdefault(name, interface)
