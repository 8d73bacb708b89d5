"""Labels for a profiler. The profiler itself measures the time of its block as a whole; it keeps no events."""
import functools
import time

import torch


def _no_events(name):
    def absent(self, *args, **kwargs):
        raise NotImplementedError(f"torch.autograd.profiler.profile.{name} is not supported")

    absent.__name__ = name
    return absent


class profile:
    """The time that a block takes. Events are not kept: what asks for them says so."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False,
                 with_modules=False, use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False
        self.use_device, self.profile_memory, self.with_stack, self.with_flops = use_device, profile_memory, with_stack, with_flops

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._start = time.perf_counter()
        self._counted = not torch.compiler.is_compiling()  # compiled code leaves profilers out
        if self._counted:
            torch._C._autograd._profiler_switch(True)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if self.enabled:
            self.elapsed_s = time.perf_counter() - self._start
            if self._counted:
                torch._C._autograd._profiler_switch(False)
        return False

    export_chrome_trace = _no_events("export_chrome_trace")
    export_stacks = _no_events("export_stacks")
    key_averages = _no_events("key_averages")
    table = _no_events("table")
    total_average = _no_events("total_average")


class record_function:
    """A label for a block of code, for a profiler that keeps events."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None

    def __call__(self, func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            with record_function(self.name, self.args):
                return func(*args, **kwargs)

        return wrapped


class emit_nvtx:
    def __init__(self, enabled=True, record_shapes=False):
        raise NotImplementedError("torch.autograd.profiler.emit_nvtx is not supported")


class emit_itt:
    def __init__(self, enabled=True, record_shapes=False):
        raise NotImplementedError("torch.autograd.profiler.emit_itt is not supported")
