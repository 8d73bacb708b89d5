"""The profiler: it measures its block as a whole, and labels are for one that keeps events."""
import enum

from torch._absent import declare
from torch.autograd.profiler import profile as _profile, record_function

declare("schedule", "tensorboard_trace_handler", "ExecutionTraceObserver")


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 2
    XPU = 1


class ProfilerAction(enum.Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    return {ProfilerActivity.CPU}


class profile(_profile):
    """The time that a block takes. Schedules and events are not there."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None, custom_trace_id_callback=None):
        if schedule is not None or on_trace_ready is not None or execution_trace_observer is not None:
            raise NotImplementedError("torch.profiler.profile: schedule, on_trace_ready and execution_trace_observer are not supported")
        super().__init__(record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack, with_flops=with_flops, with_modules=with_modules)
        self.activities = set(activities) if activities else supported_activities()

    def start(self):
        self.__enter__()

    def stop(self):
        self.__exit__(None, None, None)

    def events(self):
        raise NotImplementedError("torch.profiler.profile.events is not supported")

    def step(self):
        raise NotImplementedError("torch.profiler.profile.step is not supported")
