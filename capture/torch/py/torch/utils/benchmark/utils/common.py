"""Measurements, and the numbers that describe them."""
import collections
import contextlib
import dataclasses
import math
import textwrap

import torch

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique", "set_torch_threads"]

_MAX_SIGNIFICANT_FIGURES = 4
_MIN_CONFIDENCE_INTERVAL = 25e-9  # the clock's own precision
_IQR_WARN_THRESHOLD = 0.1
_IQR_GROSS_WARN_THRESHOLD = 0.25


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What is measured."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: "str | None" = None
    sub_label: "str | None" = None
    description: "str | None" = None
    env: "str | None" = None
    num_threads: int = 1

    @property
    def title(self):
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return "stmt:" + (f" ({self.sub_label})" if self.sub_label else "") + "\n" + textwrap.indent(self.stmt, "  ")

    def setup_str(self):
        if not self.setup or self.setup == "pass":
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self):
        """The task in some lines; what takes several is followed by an empty one."""
        parts = [p for p in (self.title, self.description or "", self.setup_str()) if p]
        return "\n".join(f"{p}\n" if "\n" in p else p for p in parts)


def _quantile(values, q):
    at = (len(values) - 1) * q
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


class _Known:
    """A number that is found when it is first asked for."""

    def __init__(self, name):
        self.name = name

    def __get__(self, m, owner=None):
        m._look()
        return getattr(m, self.name)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """The times of a task: raw_times has those of number_per_run runs each."""

    number_per_run: int
    raw_times: "list[float]"
    task_spec: TaskSpec
    metadata: "dict | None" = None

    def __post_init__(self):
        self._sorted_times, self._warnings, self._looked = (), (), False
        self._median = self._mean = self._p25 = self._p75 = -1.0

    def __getattr__(self, name):
        if hasattr(TaskSpec, name) or name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    def _look(self):
        if self.raw_times and not self._looked:
            self._looked = True
            times = self._sorted_times = tuple(sorted(self.times))
            self._median, self._mean = _quantile(times, 0.5), sum(times) / len(times)
            self._p25, self._p75 = _quantile(times, 0.25), _quantile(times, 0.75)
            self._warnings = ()
            if len(times) > 3 and self.iqr / self._median > _IQR_WARN_THRESHOLD:
                self._warnings = (self.iqr / self._median,)

    @property
    def times(self):
        return [t / self.number_per_run for t in self.raw_times]

    median = _Known("_median")
    mean = _Known("_mean")

    @property
    def iqr(self):
        self._look()
        return self._p75 - self._p25

    @property
    def significant_figures(self):
        """How many digits of the median can be relied on, by how the times in the middle differ."""
        self._look()
        n = len(self._sorted_times)
        middle = self._sorted_times[int(n // 4): int(math.ceil(3 * n / 4))]
        average = sum(middle) / len(middle)
        deviation = math.sqrt(sum((t - average) ** 2 for t in middle) / len(middle))
        interval = max(1.645 * deviation / math.sqrt(len(middle)), _MIN_CONFIDENCE_INTERVAL)
        return min(max(math.floor(math.log10(self._median / interval)), 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self):
        self._look()
        return bool(self._warnings)

    def meets_confidence(self, threshold=_IQR_WARN_THRESHOLD):
        return self.iqr / self.median < threshold

    @property
    def title(self):
        return self.task_spec.title

    @property
    def env(self):
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self):
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self):
        self._look()
        lines = [object.__repr__(self), self.task_spec.summarize()]
        n = len(self._sorted_times)
        unit, size = select_unit(self._median) if n else ("s", 1.0)
        if n > 1:
            lines.append(f"  Median: {self._median / size:.2f} {unit}")
        elif n == 1:
            lines.append(f"  {self._median / size:.2f} {unit}")
        if n > 3:
            lines.append(f"  IQR:    {self.iqr / size:.2f} {unit} ({self._p25 / size:.2f} to {self._p75 / size:.2f})")
        threads = f"{self.task_spec.num_threads} thread{'s' if self.task_spec.num_threads > 1 else ''}"
        lines.append(f"  {n} measurement{'s' if n > 1 else ''}, {self.number_per_run} runs {'per measurement' if n > 1 else ''}, {threads}")
        if self.has_warnings:
            share = self._warnings[0]
            lines.append(f"  WARNING: Interquartile range is {share * 100:.1f}% of the median measurement.")
            lines.append("           This suggests significant environmental influence." if share > _IQR_GROSS_WARN_THRESHOLD else "           This could indicate system fluctuation.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements):
        """One measurement for each task, of all times per run."""
        by_task = collections.defaultdict(list)
        for m in measurements:
            by_task[m.task_spec].append(m)
        return [Measurement(1, [t for m in ms for t in m.times], task, None) for task, ms in by_task.items()]


_UNITS = {"ns": ("nanosecond", 1e-9), "us": ("microsecond", 1e-6), "ms": ("millisecond", 1e-3), "s": ("second", 1)}


def select_unit(t):
    """The unit in which a time is at least 1, and its length in seconds."""
    name = {-3: "ns", -2: "us", -1: "ms"}.get(int(math.log10(t) // 3), "s")
    return name, _UNITS[name][1]


def unit_to_english(u):
    return _UNITS[u][0]


def trim_sigfig(x, n):
    """x with n significant figures."""
    if n != int(n):
        raise AssertionError(f"{n} is no number of figures")
    scale = 10 ** (int(torch.tensor(x).abs().log10().ceil().item()) - n)
    return float((torch.tensor(x) / scale).round() * scale)


def ordered_unique(elements):
    return list(collections.OrderedDict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n):
    """Has torch use that many threads in a block."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(n)
        yield
    finally:
        torch.set_num_threads(before)
