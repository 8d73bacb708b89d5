"""What a profiler saw: events, their averages, and the tables that they make."""
import json
import os
import enum
from collections import defaultdict

__all__ = ["EventList", "FormattedTimesMixin", "Interval", "Kernel", "FunctionEvent", "FunctionEventAvg", "StringTable", "MemRecordsAcc"]

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"


class DeviceType(enum.Enum):
    """Where an event ran."""

    CPU = 0
    CUDA = 1

    def __str__(self):
        return f"DeviceType.{self.name}"

    __repr__ = __str__


def _format_time(time_us):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if time_us >= size:
            return f"{time_us / size:.3f}{unit}"
    return f"{time_us:.3f}us"


def _format_time_share(time_us, total_time_us):
    if total_time_us == 0:
        return "NaN"
    return f"{time_us * 100.0 / total_time_us:.2f}%"


def _format_memory(nbytes):
    for unit, size in (("Gb", 1 << 30), ("Mb", 1 << 20), ("Kb", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes * 1.0 / size:.2f} {unit}"
    return f"{nbytes} b"


def _attr_formatter(name):
    return property(lambda self: _format_time(getattr(self, name)))


class FormattedTimesMixin:
    """Times as text, and averages per call."""

    cpu_time_str = _attr_formatter("cpu_time")
    device_time_str = _attr_formatter("device_time")
    cpu_time_total_str = _attr_formatter("cpu_time_total")
    device_time_total_str = _attr_formatter("device_time_total")
    self_cpu_time_total_str = _attr_formatter("self_cpu_time_total")
    self_device_time_total_str = _attr_formatter("self_device_time_total")

    @property
    def cpu_time(self):
        return 0.0 if self.count == 0 else 1.0 * self.cpu_time_total / self.count

    @property
    def device_time(self):
        return 0.0 if self.count == 0 else 1.0 * self.device_time_total / self.count

    @property
    def cuda_time(self):
        return self.device_time


class Interval:
    """A time span, in microseconds."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class Kernel:
    """What ran on a device for an event."""

    def __init__(self, name, device, duration):
        self.name, self.device, self.duration = name, device, duration


class StringTable(defaultdict):
    """Names as they are shown."""

    def __missing__(self, key):
        self[key] = key
        return key


class MemRecordsAcc:
    """Records of memory, found by the time at which they were made."""

    def __init__(self, mem_records):
        self._mem_records = sorted(mem_records, key=lambda r: r[0].start_ns())

    def in_interval(self, start_us, end_us):
        for r in self._mem_records:
            if start_us <= r[0].start_ns() / 1000 <= end_us:
                yield r


class FunctionEvent(FormattedTimesMixin):
    """One call that was noted."""

    def __init__(self, id, name, thread, start_us, end_us, fwd_thread=None, input_shapes=None, stack=None, scope=0, use_device=None, cpu_memory_usage=0, device_memory_usage=0,
                 is_async=False, is_remote=False, sequence_nr=-1, node_id=-1, device_type=DeviceType.CPU, device_index=0, device_resource_id=None, is_legacy=False, flops=None,
                 trace_name=None, concrete_inputs=None, kwinputs=None, is_user_annotation=False):
        self.id, self.name, self.node_id, self.trace_name = id, name, node_id, trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread, self.fwd_thread = thread, fwd_thread
        self.kernels, self.count = [], 1
        self.cpu_children, self.cpu_parent = [], None
        self.input_shapes, self.concrete_inputs, self.kwinputs, self.stack, self.scope = input_shapes, concrete_inputs, kwinputs, stack, scope
        self.use_device, self.cpu_memory_usage, self.device_memory_usage = use_device, cpu_memory_usage, device_memory_usage
        self.is_async, self.is_remote, self.sequence_nr = is_async, is_remote, sequence_nr
        self.device_type, self.device_index, self.device_resource_id = device_type, device_index, thread if device_resource_id is None else device_resource_id
        self.is_legacy, self.flops, self.is_user_annotation = is_legacy, flops, is_user_annotation
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1

    def append_kernel(self, name, device, duration):
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child):
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self):
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    device_time_total = self_device_time_total = self_device_memory_usage = 0

    @property
    def cuda_time_total(self):
        return self.device_time_total

    @property
    def self_cuda_time_total(self):
        return self.self_device_time_total

    @property
    def self_cuda_memory_usage(self):
        return self.self_device_memory_usage

    @property
    def key(self):
        return self.name

    def __repr__(self):
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
            f"end_us={self.time_range.end} cpu_children={[c.id for c in self.cpu_children]} {device}_time={self.device_time_str} name={self.name} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage} is_async={self.is_async} "
            f"is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """Calls that are counted together."""

    def __init__(self):
        self.key = None
        self.count = self.node_id = 0
        self.is_async = self.is_remote = False
        self.use_device = None
        self.cpu_time_total = self.device_time_total = self.self_cpu_time_total = self.self_device_time_total = 0
        self.input_shapes = self.stack = self.scope = None
        self.cpu_memory_usage = self.device_memory_usage = self.self_cpu_memory_usage = self.self_device_memory_usage = 0
        self.cpu_children, self.cpu_parent = None, None
        self.device_type = DeviceType.CPU
        self.is_legacy, self.flops, self.is_user_annotation = False, 0, False
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1

    def add(self, other):
        if self.key is None:
            for name in ("key", "node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "input_shapes", "stack", "scope", "device_type", "is_legacy", "use_device", "is_user_annotation"):
                setattr(self, name, getattr(other, name))
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)) or other.key != self.key:
            raise AssertionError(f"{other} is no event of {self.key}")
        for name in ("cpu_time_total", "device_time_total", "self_cpu_time_total", "self_device_time_total", "cpu_memory_usage", "device_memory_usage", "self_cpu_memory_usage", "self_device_memory_usage", "count"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops = (self.flops or 0) + (other.flops or 0) if self.flops is not None or other.flops is not None else None
        return self

    def __iadd__(self, other):
        return self.add(other)

    def __repr__(self):
        device = "cuda" if not self.use_device else self.use_device
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={str(self.input_shapes)} cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )


class EventList(list):
    """Events, or averages of events."""

    def __init__(self, *args, **kwargs):
        self._use_device = kwargs.pop("use_device", None)
        self._profile_memory = kwargs.pop("profile_memory", False)
        self._with_flops = kwargs.pop("with_flops", False)
        super().__init__(*args, **kwargs)

    def __str__(self):
        return self.table()

    @property
    def self_cpu_time_total(self):
        return sum(e.self_cpu_time_total for e in self)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, top_level_events_only=False):
        """The events as rows of a table."""
        return _build_table(self, sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header, self._profile_memory, self._with_flops, top_level_events_only)

    def export_chrome_trace(self, path):
        """Writes the events in the trace event format."""
        with open(path, "w") as f:
            json.dump(_trace_events(self), f)

    def supported_export_stacks_metrics(self):
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path, metric):
        """Writes the stacks of the events, each with a time, as tools that draw flame graphs read them."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: " + str(self.supported_export_stacks_metrics()))
        table = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as f:
            for e in self:
                value = getattr(e, metric.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device"))
                if e.stack and int(value) > 0:
                    f.write(";".join(entry.translate(table) for entry in reversed(e.stack)) + f" {int(value)}\n")

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        """Averages of the events of one name; of one name and input shapes, or also of one place in the program."""
        found = {}
        for e in self:
            key = [str(e.key), str(e.node_id), str(e.device_type), str(e.is_legacy), str(e.is_user_annotation)]
            if group_by_input_shapes:
                key.append(str(e.input_shapes))
            if group_by_stack_n > 0:
                key += e.stack[:group_by_stack_n]
            key = tuple(key)
            if key not in found:
                found[key] = FunctionEventAvg()
            found[key].add(e)
        out = EventList(found.values(), use_device=self._use_device, profile_memory=self._profile_memory, with_flops=self._with_flops)
        for e in out:
            e.stack = e.stack[:group_by_stack_n] if e.stack else []
            if not group_by_input_shapes:
                e.input_shapes = ""
        return out

    def total_average(self):
        """The sum of all events."""
        total = FunctionEventAvg()
        for e in self:
            total += _As(e)
            total.key = None
        total.key = "Total"
        return total


def _As(e):
    """An event under no name, to be added to others."""
    copy = FunctionEventAvg()
    copy.add(e)
    copy.key = None
    return copy


def _trace_events(events):
    """Events as Chrome's trace viewer takes them."""
    pid = os.getpid()
    out = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": 0, "args": {"labels": "CPU"}},
    ]
    for i, e in enumerate(events):
        args = {"External id": e.id, "Record function id": 0, "Ev Idx": i}
        if e.sequence_nr >= 0:
            args["Sequence number"] = e.sequence_nr
            args["Fwd thread id"] = e.fwd_thread or 0
        noted = getattr(e, "_noted", None)
        if noted is not None:
            args["Concrete Inputs"] = [n[3] for n in noted]
            args["Input type"] = [n[2] for n in noted]
            args["Input Strides"] = [n[1] for n in noted]
            args["Input Dims"] = [n[0] for n in noted]
        if e.stack:
            args["Call stack"] = ";".join(reversed(e.stack))
        out.append({"ph": "X", "cat": "user_annotation" if e.is_user_annotation else "cpu_op", "name": e.trace_name or e.name, "pid": pid, "tid": pid,
                    "ts": e.time_range.start, "dur": e.time_range.elapsed_us(), "args": args})
    return out


_FLOPS_NAMES = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def _flops_unit(smallest):
    """The unit in which a number of operations reads best, and its size."""
    i = 0
    while i < len(_FLOPS_NAMES) - 1 and smallest >= 1000 ** (i + 1):
        i += 1
    return 1000.0 ** -i, "Total " + _FLOPS_NAMES[i]


class _Column:
    """A column of a table: its head, its width, and the text for an event."""

    def __init__(self, head, width, text):
        self.head, self.width, self.text = head, width, text


def _build_table(events, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, profile_memory=False, with_flops=False, top_level_events_only=False):
    if len(events) == 0:
        return ""
    if sort_by is not None:
        by = sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
        events = EventList(sorted(events, key=lambda e: getattr(e, by), reverse=True), use_device=events._use_device, profile_memory=profile_memory, with_flops=with_flops)

    def width(texts, most):
        w = max(len(t) for t in texts) + 4
        return w if most is None else min(w, most)

    def shortened(text, most):
        return text[: most - 3] + "..." if most is not None and len(text) > most else text

    total = sum(e.self_cpu_time_total for e in events)
    columns = [
        _Column("Name", width([e.key for e in events], max_name_column_width), lambda e: shortened(e.key, max_name_column_width)),
        _Column("Self CPU %", 12, lambda e: _format_time_share(e.self_cpu_time_total, total)),
        _Column("Self CPU", 12, lambda e: e.self_cpu_time_total_str),
        _Column("CPU total %", 12, lambda e: _format_time_share(e.cpu_time_total, total) if not e.is_async else 0),
        _Column("CPU total", 12, lambda e: e.cpu_time_total_str),
        _Column("CPU time avg", 12, lambda e: e.cpu_time_str),
    ]
    if profile_memory:
        columns += [_Column("CPU Mem", 12, lambda e: _format_memory(e.cpu_memory_usage)), _Column("Self CPU Mem", 12, lambda e: _format_memory(e.self_cpu_memory_usage))]
    columns.append(_Column("# of Calls", 12, lambda e: e.count))
    if any(e.node_id != -1 for e in events):
        columns.append(_Column("Node ID", 12, lambda e: e.node_id))
    if any(e.input_shapes is not None and len(e.input_shapes) > 0 for e in events):
        columns.append(_Column("Input Shapes", width([str(e.input_shapes) for e in events], max_shapes_column_width), lambda e: str(e.input_shapes)[:max_shapes_column_width]))
    stacks = [e.stack for e in events if e.stack is not None and len(e.stack) > 0]
    source = None
    if stacks:
        most = max_src_column_width
        source = _Column("Source Location", width([line for s in stacks for line in s], most), lambda e: _end_of(e.stack[0], most) if e.stack else "")
        columns.append(source)
    if with_flops:
        counted = [e.flops for e in events if e.flops is not None and e.flops > 0]
        if counted:
            scale, head = _flops_unit(min(counted))
            columns.append(_Column(head, max(12, len(head)), lambda e: f"{e.flops * scale:8.3f}" if e.flops is not None and e.flops > 0 else "--"))

    def row(texts):
        return "".join(f"{t: >{c.width}}  " for c, t in zip(columns, texts)) + "\n"

    rule = row(["-" * c.width for c in columns])
    line = "=" * (sum(c.width + 2 for c in columns) - 2) + "\n"
    out = []
    if header is not None:
        out += [line, header, "\n"]
    if top_level_events_only:
        out += [line, "This report only display top-level ops statistics\n"]
    out += [rule, row([c.head for c in columns]), rule]
    rows = 0
    for e in events:
        if rows == row_limit:
            break
        if top_level_events_only and e.cpu_parent is not None:
            continue
        rows += 1
        out.append(row([c.text(e) for c in columns]))
        if source is not None:
            for entry in (e.stack or [])[1:]:
                out.append(row([_end_of(entry, max_src_column_width) if c is source else "" for c in columns]))
            out.append(row([""] * len(columns)))
    out += [rule, f"Self CPU time total: {_format_time(total)}\n"]
    return "".join(out)


def _end_of(path, most):
    """The end of a path, where that is too long."""
    return "..." + path[3 - most:] if most is not None and len(path) > most else path
