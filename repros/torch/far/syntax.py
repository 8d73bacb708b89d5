"""What a C++ compiler says of kernels without making anything of them: whether they compile, in a third of the time."""
import os
import shlex
import types

from . import said
from .said import TOLD


def told_by_syntax(result):
    """Whether a failure is one that the compiler finds without making anything: what only the assembler or the linker finds is none."""
    return (result.get("error") or {}).get("type") == "CppCompileError" and TOLD.search(result.get("detail", "") + result.get("message", "")) is not None


def only_look():
    """In a child: what has no errors is taken to be there from now on, and is not to be run. What has some fails as ever."""
    from torch._inductor import codecache, cpp_builder
    load = codecache.CppCodeCache._load_library.__func__

    def look(lock, builders, *more):
        for b in builders if isinstance(builders, (list, tuple)) else [builders]:
            words = shlex.split(b.get_command_line())
            if any(w.endswith(".cpp") for w in words) and not said.good(without_output(words)):
                cpp_builder._run_compile_cmd(shlex.join(without_output(words)), os.getcwd())
    codecache._worker_compile_cpp = look
    codecache.CppCodeCache._load_library = classmethod(lambda cache, path, *more: load(cache, path, *more) if os.path.exists(path) else Absent(path))


def without_output(words):
    """A compiler's command that makes nothing."""
    out, skip = [], False
    for w in words:
        if skip or w == "-o":
            skip = not skip
        elif w not in ("-shared", "-c") and not w.startswith("-l"):
            out.append(w)
    return out + ["-fsyntax-only"]


class Absent(types.ModuleType):
    """Stands for a library that was not made."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_: self
