"""The profiler: what a program runs, how often and for how long."""
from torch.autograd.profiler import KinetoStepTracker, record_function
from torch.autograd.profiler_util import DeviceType
from torch.profiler import itt
from torch.profiler.profiler import ExecutionTraceObserver, ProfilerAction, ProfilerActivity, _KinetoProfile, profile, schedule, supported_activities, tensorboard_trace_handler

__all__ = ["profile", "schedule", "supported_activities", "tensorboard_trace_handler", "ProfilerAction", "ProfilerActivity", "kineto_available", "DeviceType", "record_function", "ExecutionTraceObserver"]


def kineto_available():
    return True
