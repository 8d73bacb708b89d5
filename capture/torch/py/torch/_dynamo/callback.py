"""Functions of the program that run when a compilation begins and when it ends."""
import dataclasses
from contextlib import contextmanager

from torch._C import _dynamo as _native


@dataclasses.dataclass
class CompilationCallbackHandler:
    """The functions that were registered, in order; each is called without arguments."""

    start_callbacks: list = dataclasses.field(default_factory=list)
    end_callbacks: list = dataclasses.field(default_factory=list)

    def register_start_callback(self, callback):
        self.start_callbacks.append(callback)
        return callback

    def register_end_callback(self, callback):
        self.end_callbacks.append(callback)
        return callback

    def remove_start_callback(self, callback):
        self.start_callbacks.remove(callback)

    def remove_end_callback(self, callback):
        self.end_callbacks.remove(callback)

    def run_start_callbacks(self):
        for callback in self.start_callbacks:
            callback()

    def run_end_callbacks(self):
        for callback in self.end_callbacks:
            callback()

    @contextmanager
    def install_callbacks(self):
        try:
            self.run_start_callbacks()
            yield
        finally:
            self.run_end_callbacks()

    def clear(self):
        self.start_callbacks.clear()
        self.end_callbacks.clear()


callback_handler = CompilationCallbackHandler()
_native.on_compile(callback_handler.run_start_callbacks, callback_handler.run_end_callbacks)


def on_compile_start(callback):
    """Registers a function that runs before each compilation; a decorator."""
    callback_handler.register_start_callback(callback)
    return callback


def on_compile_end(callback):
    """Registers a function that runs after each compilation; a decorator."""
    callback_handler.register_end_callback(callback)
    return callback
