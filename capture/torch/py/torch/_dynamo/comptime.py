"""Code that runs while a function is captured."""
import sys

from torch._C import _dynamo as _native


class ComptimeVar:
    def __init__(self, value):
        self._value = value

    def as_fake(self):
        return self._value

    def as_python_constant(self):
        return self._value

    def python_type(self):
        return type(self._value)

    def __repr__(self):
        return repr(self._value)


class ComptimeContext:
    """What a comptime function sees."""

    def get_local(self, name, *, stacklevel=0):
        return ComptimeVar(_native.trace_local(name))

    def graph(self):
        return _native.trace_graph()

    def graph_break(self, msg="ComptimeContext.graph_break"):
        raise NotImplementedError("comptime.graph_break() is called from captured code")

    def print(self, val, *, file=None):
        print(repr(val), file=file)

    def print_graph(self, *, verbose=True, file=None):
        print(self.graph().owning_code(), file=file)

    def print_locals(self, *, file=None, stacklevel=0):
        for k, v in _native.trace_locals():
            print(f"{k} = {v!r}", file=file)

    def print_bt(self, *, file=None, stacklevel=0):
        print(_native.trace_stack(), file=file)

    def sleep(self, sec):
        import time

        time.sleep(sec)


class _Comptime:
    @staticmethod
    def __call__(fn, fallback_fn=lambda: None):
        fallback_fn()

    @staticmethod
    def graph_break():
        pass

    @staticmethod
    def print(e):
        pass

    @staticmethod
    def print_graph():
        pass

    @staticmethod
    def print_locals(*, stacklevel=0):
        pass

    @staticmethod
    def print_bt(*, stacklevel=0):
        pass

    @staticmethod
    def breakpoint():
        pass


comptime = _Comptime()
