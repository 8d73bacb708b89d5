"""A timer of statements."""
import enum
import textwrap
import timeit

import torch
from torch.utils.benchmark.utils import common

__all__ = ["Timer", "timer", "Language"]

timer = timeit.default_timer


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a statement, with that many threads, behind a setup that is not counted."""

    _timer_cls = timeit.Timer

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None, description=None, env=None, num_threads=1, language=Language.PYTHON):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "c++", "C++", "cpp"):
            raise NotImplementedError("torch.utils.benchmark.Timer: statements in C++ are not supported")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        stmt, setup = textwrap.dedent(stmt), textwrap.dedent(setup)
        stmt = (stmt[1:] if stmt[:1] == "\n" else stmt).rstrip()
        setup = (setup[1:] if setup[:1] == "\n" else setup).rstrip()
        self._globals = dict(globals or {})
        self._globals.setdefault("torch", torch)
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = common.TaskSpec(stmt=stmt, setup=setup, global_setup=global_setup, label=label, sub_label=sub_label, description=description, env=env, num_threads=num_threads)

    def _timeit(self, number):
        return max(self._timer.timeit(number), 1e-9)  # a clock may stand still

    def timeit(self, number=1000000):
        """The time of that many runs, behind some that are not counted."""
        with common.set_torch_threads(self._task_spec.num_threads):
            self._timeit(number=max(int(number // 100), 2))
            return common.Measurement(number_per_run=number, raw_times=[self._timeit(number=number)], task_spec=self._task_spec)

    def repeat(self, repeat=-1, number=-1):
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None):
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block(self, min_run_time):
        """How many runs take so long that measuring them costs next to nothing."""
        overhead = sorted(self._timeit(0) for _ in range(5))[2]
        number = 1
        while True:
            taken = self._timeit(number)
            if overhead / taken <= 1e-4 and taken >= min_run_time / 1000 or taken > min_run_time:
                return number
            number *= 10

    def _measured(self, number, min_run_time, max_run_time, callback, enough):
        times, total = [], 0.0
        with common.set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or not enough(times) and total < max_run_time:
                t = self._timeit(number)
                total += t
                times.append(t)
                if callback is not None:
                    callback(number, t)
        return common.Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Measures blocks of runs until they took min_run_time in all."""
        with common.set_torch_threads(self._task_spec.num_threads):
            number = self._block(min_run_time)
        return self._measured(number, min_run_time, min_run_time, callback, lambda times: True)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Measures blocks of runs until the times in the middle differ by less than a share of the median, or max_run_time is over."""
        with common.set_torch_threads(self._task_spec.num_threads):
            number = self._block(0.05)

        def enough(times):
            return len(times) > 3 and common.Measurement(number, times, self._task_spec).meets_confidence(threshold)

        return self._measured(number, min_run_time, max_run_time, callback, enough)

    def collect_callgrind(self, number=100, *, repeats=None, collect_baseline=True, retain_out_file=False):
        raise NotImplementedError("torch.utils.benchmark.Timer.collect_callgrind is not supported")
