"""Quantization: observers and fake quantization can be named, not used."""
from torch._absent import declare

declare("HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver", "NoopObserver", "ObserverBase", "PerChannelMinMaxObserver", "PlaceholderObserver",
        "MovingAveragePerChannelMinMaxObserver", "RecordingObserver", "QuantStub", "DeQuantStub", "QuantWrapper", "convert", "fuse_modules", "get_default_qat_qconfig",
        "get_default_qat_qconfig_mapping", "get_default_qconfig", "get_default_qconfig_mapping", "prepare", "prepare_qat", "quantize", "quantize_dynamic")
from torch.ao.quantization.fake_quantize import FakeQuantize, FakeQuantizeBase
from torch.ao.quantization.qconfig import QConfig
