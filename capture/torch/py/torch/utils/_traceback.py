"""Code that a program compiles itself, in its tracebacks."""
import contextlib
import inspect
import os
import sys
import tempfile
import traceback


@contextlib.contextmanager
def report_compile_source_on_error():
    """Adds to a traceback the text of frames that exec ran: their globals name it by __compile_source__."""
    try:
        yield
    except Exception as exc:
        for frame, line in traceback.walk_tb(exc.__traceback__):
            source = frame.f_globals.get("__compile_source__")
            if frame.f_code.co_filename == "<string>" and source is not None:
                fd, path = tempfile.mkstemp(suffix=".py")
                with os.fdopen(fd, "w") as f:
                    f.write(source)
                exc.add_note(f'  File "{path}", line {line}, in {frame.f_code.co_name}\n    {(source.splitlines() + [""] * line)[line - 1].strip()}')
        raise


def shorten_filename(fn, *, base=None):
    """A file's path from the folder on that torch lies in."""
    import torch

    base = os.path.dirname(os.path.dirname(torch.__file__)) if base is None else base
    try:
        prefix = os.path.commonpath([fn, base])
    except ValueError:
        return fn
    return fn[len(prefix) + 1:] if prefix else fn


def format_frame(frame, *, base=None, line=False):
    text = f"{frame.line}  # " if line else ""
    return f"{text}{shorten_filename(frame.filename, base=base)}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb):
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """The stack at one point, kept to be shown later."""

    __slots__ = ["tb", "skip"]

    def __init__(self, tb, skip=0):
        self.tb, self.skip = tb, skip

    @staticmethod
    def extract(*, script=False, cpp=False, skip=0):
        return CapturedTraceback(traceback.extract_stack(sys._getframe(1 + skip)))

    def summary(self):
        return self.tb if self.tb is not None else traceback.StackSummary()

    def cleanup(self):
        self.tb = None

    def format(self):
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs):
        return [t.format() if t is not None else None for t in tbs]
