"""Metrics that are gathered while a context is open, and handed over as a whole when the outermost one closes."""
import time


class MetricsContext:
    """on_exit is called with the begin and end in nanoseconds, the metrics, and the exception's type and value, or None."""

    def __init__(self, on_exit):
        self._on_exit = on_exit
        self._metrics = {}
        self._start_time_ns = 0
        self._level = 0

    def __enter__(self):
        # Only the outermost of nested contexts begins anew.
        if self._level == 0:
            self._metrics = {}
            self._start_time_ns = time.time_ns()
        self._level += 1
        return self

    def __exit__(self, exc_type, exc_value, _traceback):
        self._level -= 1
        assert self._level >= 0
        if self._level == 0:
            self._on_exit(self._start_time_ns, time.time_ns(), self._metrics, exc_type, exc_value)

    def in_progress(self):
        return self._level > 0

    def _must_be_open(self, doing, metric=None):
        if self._level == 0:
            raise RuntimeError(f"Cannot {doing} outside of a MetricsContext" if metric is None else f"Cannot {doing} {metric} outside of a MetricsContext")

    def increment(self, metric, value):
        self._must_be_open("increment", metric)
        self._metrics[metric] = self._metrics.get(metric, 0) + value

    def set(self, metric, value):
        self._must_be_open("set", metric)
        if metric in self._metrics:
            raise RuntimeError(f"Metric '{metric}' has already been set in the current context")
        self._metrics[metric] = value

    def set_key_value(self, metric, key, value):
        """Sets one entry of a metric that is a dict; it may be there already."""
        self._must_be_open("set", metric)
        self._metrics.setdefault(metric, {})[key] = value

    def update(self, values):
        self._must_be_open("update metrics")
        twice = self._metrics.keys() & values.keys()
        if twice:
            raise RuntimeError(f"Metric(s) {twice} have already been set in the current context")
        self._metrics.update(values)

    def update_outer(self, values):
        self._must_be_open("update metrics")
        if self._level == 1:
            self.update(values)

    def add_to_set(self, metric, value):
        self._must_be_open("add", metric)
        self._metrics.setdefault(metric, set()).add(value)
