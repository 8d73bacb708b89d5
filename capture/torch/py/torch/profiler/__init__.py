"""The profiler, which is not there."""
from torch._absent import declare

declare("ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler")
