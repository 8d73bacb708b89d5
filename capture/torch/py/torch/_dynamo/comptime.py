"""Code that runs while a function is captured.

Capture recognises the functions of `comptime` and runs the matching method of a ComptimeContext; the bodies
here are what they do in plain Python.
"""
import builtins
import time

from torch._C import _dynamo as _native


class ComptimeVar:
    """A value of the captured function: tensors are shown by their fakes."""

    def __init__(self, value):
        self._value = value

    def as_proxy(self):
        return self._value

    def is_proxy(self):
        import torch

        return isinstance(self._value, torch.Tensor)

    def as_fake(self):
        return self._value

    def size(self, dim=None):
        return self._value.size() if dim is None else self._value.size(dim)

    def python_type(self):
        return type(self._value)

    def as_python_constant(self):
        import torch

        if isinstance(self._value, torch.Tensor):
            raise NotImplementedError("TensorVariable() is not a constant")
        return self._value

    def is_python_constant(self):
        return not self.is_proxy()

    def force_static(self):
        pass

    def is_dynamic(self):
        import torch

        return isinstance(self._value, torch.SymInt)

    def __repr__(self):
        return repr(self._value)


class ComptimeContext:
    """What a comptime function sees."""

    def get_local(self, name, *, stacklevel=0):
        return ComptimeVar(_native.trace_local(name, stacklevel))

    def graph_break(self, msg="ComptimeContext.graph_break"):
        _native.trace_break(msg)

    def graph(self):
        return _native.trace_graph()

    def assert_static(self, val):
        assert not val.is_dynamic(), f"expected static but got dynamic (run with TORCH_LOGS=dynamic for more info)"

    def force_static(self, val):
        val.force_static()

    def print_graph(self, *, verbose=True, file=None):
        print(_native.trace_graph_text(verbose), file=file)

    def parent(self):
        return self

    def print(self, val, *, file=None):
        print(repr(val), file=file)

    def print_disas(self, *, file=None, stacklevel=0):
        print(_native.trace_code(stacklevel), file=file)

    def print_value_stack(self, *, file=None, stacklevel=0):
        for v in _native.trace_values(stacklevel):
            print(f"- {v}", file=file)

    def print_locals(self, *, file=None, stacklevel=0):
        for k, v in _native.trace_locals(stacklevel):
            print(f"{k} = {v}", file=file)

    def print_bt(self, *, file=None, stacklevel=0):
        print(_native.trace_stack(stacklevel), file=file)

    def print_guards(self, *, file=None):
        from torch._guards import Guard

        print("\n".join(repr(Guard(*g)) for g in _native.trace_guards()), file=file)

    def breakpoint(self):
        """A prompt in a frame that has this context as ctx."""

        def inner(ctx):
            builtins.breakpoint()

        inner(self)

    disas = print_disas  # what guides call it

    def sleep(self, sec):
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
        print(e)

    @staticmethod
    def print_graph():
        pass

    @staticmethod
    def print_disas(*, stacklevel=0):
        pass

    @staticmethod
    def print_value_stack(*, stacklevel=0):
        pass

    @staticmethod
    def print_value_stack_and_return(e, *, stacklevel=0):
        return e

    @staticmethod
    def print_locals(*, stacklevel=0):
        pass

    @staticmethod
    def print_bt(*, stacklevel=0):
        pass

    @staticmethod
    def print_guards():
        pass

    @staticmethod
    def assert_static(val):
        pass

    @staticmethod
    def force_static(val):
        pass

    @staticmethod
    def breakpoint():
        pass

    @staticmethod
    def sleep(sec):
        pass


comptime = _Comptime()
