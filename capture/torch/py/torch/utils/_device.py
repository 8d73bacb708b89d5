"""Factories on a device that a context names."""
from torch.overrides import TorchFunctionMode


class DeviceContext(TorchFunctionMode):
    def __init__(self, device):
        import torch

        self.device = torch.device(device)
