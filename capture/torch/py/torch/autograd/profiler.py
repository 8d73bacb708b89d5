"""The profiler of operators, and names for parts of the program that it shows."""
import functools
import sys

import torch
from torch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg, Interval, Kernel, MEMORY_EVENT_NAME, MemRecordsAcc, OUT_OF_MEMORY_EVENT_NAME, StringTable

__all__ = ["profile", "record_function", "emit_itt", "emit_nvtx", "load_nvprof", "EnforceUnique", "parse_nvprof_trace", "KinetoStepTracker", "EventList", "FunctionEvent", "MemRecordsAcc"]

_is_profiler_enabled = False


def _set_is_profiler_enabled(enable):
    global _is_profiler_enabled
    _is_profiler_enabled = enable


def _program_stack():
    """Where the program is, the innermost frame first."""
    frame, out = sys._getframe(1), []
    while frame is not None:
        name = frame.f_code.co_name
        out.append(f"{frame.f_code.co_filename}({frame.f_lineno}): {name}")
        frame = frame.f_back
    return out


def _numel(sizes):
    n = 1
    for s in sizes:
        n *= s
    return n


def _flops(name, noted):
    """How many operations a call does, for the operators that PyTorch counts them for; 0 for others."""
    sizes = [n[0] for n in noted]
    if name in ("aten::mm", "aten::addmm"):
        a, b = sizes[-4:-2] if name == "aten::addmm" else sizes[:2]
        return 2 * a[0] * a[1] * b[1] if len(a) == len(b) == 2 else 0
    if name in ("aten::bmm", "aten::baddbmm"):
        a, b = sizes[-4:-2] if name == "aten::baddbmm" else sizes[:2]
        return 2 * a[0] * a[1] * a[2] * b[2] if len(a) == len(b) == 3 else 0
    if name in ("aten::add", "aten::mul"):
        return _numel(sizes[0]) if noted[0][2] != "Scalar" else 0
    if name == "aten::conv2d":
        x, w = sizes[:2]
        if len(x) != 4 or len(w) != 4:
            return 0
        stride, padding, dilation, groups = (n[3] for n in noted[3:7])
        try:
            stride, padding, dilation = (_pair(v) for v in (stride, padding, dilation))
        except ValueError:
            return 0
        out = [(x[2 + i] + 2 * padding[i] - dilation[i] * (w[2 + i] - 1) - 1) // stride[i] + 1 for i in range(2)]
        return 2 * x[0] * w[0] * w[1] * w[2] * w[3] * out[0] * out[1]
    return 0


def _pair(text):
    values = [int(v) for v in text.strip("[]").split(",")]
    return values * 2 if len(values) == 1 else values


class profile:
    """Notes the operators that its block runs."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False,
                 with_modules=False, use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        self.enabled, self.use_cuda, self.use_device = enabled, use_cuda, "cuda" if use_cuda else use_device
        if not enabled:
            return
        self.function_events = None
        self.entered = False
        self.record_shapes, self.with_flops = record_shapes or with_flops, with_flops
        self._show_shapes = record_shapes
        self.profile_memory, self.with_stack, self.with_modules, self.use_cpu, self.acc_events = profile_memory, with_stack, with_modules, use_cpu, acc_events
        if not use_cpu and not use_kineto:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
        if self.use_device is not None and self.use_device != "cpu":
            raise RuntimeError(f"torch.autograd.profiler.profile: there is no device {self.use_device} here")

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._prepare_trace()
        self._start_trace()
        return self

    def _prepare_trace(self):
        self.entered = True

    def _start_trace(self):
        self.entered = True
        _set_is_profiler_enabled(True)
        self._noting = not torch.compiler.is_compiling()  # compiled code leaves profilers out
        if self._noting:
            self._started_ns = torch._C._autograd._profiler_start(self.record_shapes, self.with_stack)

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not self.enabled:
            return None
        _set_is_profiler_enabled(False)
        found = torch._C._autograd._profiler_stop() if self._noting else []
        events = self._made(found)
        if self.acc_events and self.function_events is not None:
            self.function_events.extend(events)
        else:
            self.function_events = events
        return False

    def _made(self, found):
        """What was noted, as events."""
        events, kept = EventList([], use_device=self.use_device, profile_memory=self.profile_memory, with_flops=self.with_flops), []
        for i, (name, start, end, parent, number, kind, noted, memory, stack) in enumerate(found):
            shown = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
            shapes, concrete = [], []
            if self._show_shapes and noted is not None:
                shapes, concrete = [n[0] for n in noted], [n[3] for n in noted]
            e = FunctionEvent(i + 1, shown, 1, start / 1000, end / 1000, 0, shapes, list(stack or []), kind, self.use_device, sequence_nr=number, trace_name=name, concrete_inputs=[],
                              kwinputs={}, is_user_annotation=kind == 7, flops=_flops(name, noted) if self.with_flops and noted else 0)
            e._noted = noted if self._show_shapes else None
            e._own_memory = memory if self.profile_memory else 0
            kept.append(e)
            if parent >= 0:
                e.set_cpu_parent(kept[parent])
                kept[parent].append_cpu_child(e)
            events.append(e)
        for e in reversed(kept):  # what is made within an operator is what that makes, where it is an operator at all
            within = sum(c.cpu_memory_usage for c in e.cpu_children)
            e.cpu_memory_usage = within if e.is_user_annotation or e.cpu_children else e._own_memory
            if e.cpu_children and e._own_memory > within:
                e.cpu_memory_usage = e._own_memory
        return events

    def __repr__(self):
        if self.function_events is None:
            return "<unfinished torch.autograd.profile>"
        return repr(self.function_events)

    def __str__(self):
        if self.function_events is None:
            return "<unfinished torch.autograd.profile>"
        return str(self.function_events)

    def _check_finish(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, top_level_events_only=False):
        self._check_finish()
        return self.function_events.table(sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header, top_level_events_only)

    def export_chrome_trace(self, path):
        self._check_finish()
        return self.function_events.export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        self._check_finish()
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        return self.function_events.export_stacks(path, metric)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        self._check_finish()
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self):
        self._check_finish()
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self):
        self._check_finish()
        return self.function_events.self_cpu_time_total

    def toggle_collection_dynamic(self, enabled, activities):
        raise NotImplementedError("torch.autograd.profiler.profile.toggle_collection_dynamic is not supported")


class record_function:
    """A name for a block of the program, or for the calls of a function, which a profiler shows."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args
        self.run_callbacks_on_exit = True
        self.record = -1

    def __enter__(self):
        self.record = torch._C._autograd._record_enter(self.name)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        torch._C._autograd._record_exit(self.record)

    def __call__(self, func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            with record_function(self.name, self.args):
                return func(*args, **kwargs)

        return wrapped


class _Emit:
    """What would tell a profiler of the hardware's vendor."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled, self.entered, self.record_shapes = enabled, False, record_shapes

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"{self._kind} annotation context manager is not reentrant")
        self._begin()

    def __exit__(self, exc_type, exc_val, exc_tb):
        return None if not self.enabled else False


class emit_itt(_Emit):
    _kind = "ITT"

    def _begin(self):
        raise RuntimeError("Can't use ITT profiler - PyTorch was compiled without ITT")


class emit_nvtx(_Emit):
    _kind = "NVTX"

    def _begin(self):
        raise AssertionError("Torch not compiled with CUDA enabled")


def load_nvprof(path):
    raise NotImplementedError("torch.autograd.profiler.load_nvprof is not supported")


def parse_nvprof_trace(path):
    raise NotImplementedError("torch.autograd.profiler.parse_nvprof_trace is not supported")


class EnforceUnique:
    """Raises when it sees a key for the second time."""

    def __init__(self):
        self.seen = set()

    def see(self, *key):
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class KinetoStepTracker:
    """Counts steps for several that make them: there is a step when the one that makes most made one."""

    _current_step = 0
    _step_dict = {}

    @classmethod
    def init_step_count(cls, requester):
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester):
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester):
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        most = max(cls._step_dict.values())
        if most > cls._current_step:
            cls._current_step = most
        return cls._current_step

    @classmethod
    def current_step(cls):
        return cls._current_step
