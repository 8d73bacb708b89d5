"""The profiler with a schedule: which steps of a program it looks at."""
import enum
import gzip
import json
import os
import socket
import time
import uuid
from warnings import warn

import torch
import torch.autograd.profiler as prof
from torch._absent import declare

__all__ = ["supported_activities", "ProfilerAction", "schedule", "tensorboard_trace_handler", "profile", "ExecutionTraceObserver"]
PROFILER_STEP_NAME = "ProfilerStep"

declare("ExecutionTraceObserver")


class ProfilerActivity(enum.Enum):
    """What a profiler looks at."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    PrivateUse1 = 4


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities():
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """What is done in a step, by its number: skip_first steps nothing, and then cycles of waiting, warming up and recording."""
    if wait < 0 or warmup < 0 or active < 1 or repeat < 0 or skip_first < 0:
        raise AssertionError("Invalid profiler schedule arguments")
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    length = wait + warmup + active

    def action(step):
        if step < 0:
            raise AssertionError
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD

    return action


def _default_schedule_fn(_):
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """Writes a trace into a folder when there is one, under a name of its own."""

    def handler(prof):
        if not os.path.isdir(dir_name):
            try:
                os.makedirs(dir_name, exist_ok=True)
            except Exception as e:
                raise RuntimeError("Can't create directory: " + dir_name) from e
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


class _KinetoProfile:
    """A profiler that is started and stopped by hand."""

    def __init__(self, *, activities=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, with_modules=False, experimental_config=None,
                 execution_trace_observer=None, acc_events=False, custom_trace_id_callback=None):
        self.activities = set(activities) if activities else supported_activities()
        self.record_shapes, self.with_flops, self.profile_memory, self.with_stack, self.with_modules = record_shapes, with_flops, profile_memory, with_stack, with_modules
        self.experimental_config, self.execution_trace_observer, self.acc_events, self.custom_trace_id_callback = experimental_config, execution_trace_observer, acc_events, custom_trace_id_callback
        self.profiler = None
        self.use_device = None
        self.preset_metadata, self._metadata = {}, {}
        if execution_trace_observer is not None:
            raise NotImplementedError("torch.profiler.profile: execution_trace_observer is not supported")

    def start(self):
        self.prepare_trace()
        self.start_trace()

    def stop(self):
        self.stop_trace()

    def prepare_trace(self):
        if self.profiler is None or not self.acc_events:
            self.profiler = prof.profile(use_cpu=ProfilerActivity.CPU in self.activities, use_device=None, record_shapes=self.record_shapes, with_flops=self.with_flops,
                                         profile_memory=self.profile_memory, with_stack=self.with_stack, with_modules=self.with_modules, use_kineto=True, acc_events=self.acc_events)
        self._trace_id = self.custom_trace_id_callback() if self.custom_trace_id_callback else uuid.uuid4().hex.upper()
        self.profiler._prepare_trace()

    def start_trace(self):
        if self.profiler is None:
            raise AssertionError
        self.profiler._start_trace()
        self._metadata = dict(self.preset_metadata)

    def stop_trace(self):
        if self.profiler is None:
            raise AssertionError
        self.profiler.__exit__(None, None, None)

    def _finished(self):
        if self.profiler is None:
            raise AssertionError
        return self.profiler

    def export_chrome_trace(self, path):
        """Writes what was noted in the trace event format, compressed where the name ends in .gz."""
        p = self._finished()
        p._check_finish()
        out = {"schemaVersion": 1, "deviceProperties": []}
        for name, on in (("record_shapes", self.record_shapes), ("with_flops", self.with_flops), ("profile_memory", self.profile_memory), ("with_stack", self.with_stack), ("with_modules", self.with_modules)):
            if on:
                out[name] = 1
        out["trace_id"] = self.get_trace_id()
        for k, v in self._metadata.items():
            out[k] = json.loads(v)
        out["traceEvents"] = torch.autograd.profiler_util._trace_events(p.function_events)
        out["traceName"], out["displayTimeUnit"], out["baseTimeNanoseconds"] = str(path), "ms", p._started_ns
        if str(path).endswith(".gz"):
            with gzip.open(path, "wt") as f:
                f.write(json.dumps(out))
            return
        with open(path, "w") as f:
            json.dump(out, f, indent=2)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        return self._finished().export_stacks(path, metric)

    def export_memory_timeline(self, path, device=None):
        raise NotImplementedError("torch.profiler.profile.export_memory_timeline is not supported")

    def toggle_collection_dynamic(self, enable, activities):
        return self.profiler.toggle_collection_dynamic(enable, activities) if self.profiler is not None else None

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    def events(self):
        return self._finished().function_events

    def add_metadata(self, key, value):
        self._metadata[key] = json.dumps(value)

    def add_metadata_json(self, key, value):
        self._metadata[key] = value

    def preset_metadata_json(self, key, value):
        self.preset_metadata[key] = value

    def set_custom_trace_id_callback(self, callback):
        self.custom_trace_id_callback = callback

    def get_trace_id(self):
        return None if self.profiler is None else self._trace_id


class profile(_KinetoProfile):
    """A profiler of a block, in steps that step() counts. schedule says what is done in each, and on_trace_ready gets the profiler when something has been recorded."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None, custom_trace_id_callback=None):
        activities_set = set(activities) if activities else supported_activities()
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
            activities_set = (activities_set | {ProfilerActivity.CUDA}) if use_cuda else activities_set - {ProfilerActivity.CUDA}
        if len(activities_set) == 0:
            raise AssertionError("No valid profiler activities found")
        super().__init__(activities=activities_set, record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack, with_flops=with_flops, with_modules=with_modules,
                         experimental_config=experimental_config, execution_trace_observer=execution_trace_observer, acc_events=acc_events, custom_trace_id_callback=custom_trace_id_callback)
        self.schedule = schedule or _default_schedule_fn
        self.record_steps = bool(schedule)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(self.step_num)
        self.step_rec_fn = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.stop()
        prof.KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    def start(self):
        self._go(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self):
        self._end_step()
        self._go(self.current_action, None)

    def step(self):
        """The program has done a step."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._go(before, self.current_action)
        prof.KinetoStepTracker.increment_step(PROFILER_STEP_NAME)
        self._begin_step()

    def _begin_step(self):
        if self.record_steps:
            self.step_rec_fn = prof.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self):
        if self.record_steps and self.step_rec_fn:
            self.step_rec_fn.__exit__(None, None, None)

    def _trace_ready(self):
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def _go(self, before, now):
        """From what was done in a step to what is done in the next one; now is None at the end."""
        if before in _RECORDING:
            if before is ProfilerAction.RECORD and now in (ProfilerAction.NONE, ProfilerAction.WARMUP):
                warn(f"Incorrect schedule: RECORD followed by {now.name}")
            if before is ProfilerAction.RECORD and now in _RECORDING:
                return
            self.stop_trace()
            if before is ProfilerAction.RECORD_AND_SAVE or now is None:
                self._trace_ready()
        elif before is ProfilerAction.WARMUP:
            if now in (ProfilerAction.NONE, None):
                if now is ProfilerAction.NONE:
                    warn("Incorrect schedule: WARMUP followed by NONE")
                self.start_trace()
                self.stop_trace()
                return
            if now in _RECORDING:
                self.start_trace()
            return
        if now is ProfilerAction.WARMUP:
            self.prepare_trace()
        elif now in _RECORDING:
            self.prepare_trace()
            self.start_trace()
