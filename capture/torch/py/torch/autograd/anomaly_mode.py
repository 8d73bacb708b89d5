"""Modes that say where a gradient went wrong."""
from torch.autograd import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
