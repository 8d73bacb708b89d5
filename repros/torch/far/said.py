"""What the C++ compiler says of a source, remembered: candidates that differ only in their values have the same kernels."""
import contextlib
import hashlib
import json
import os
import re
import subprocess

TOLD = re.compile(r"\.cpp:\d+:\d+: (?:fatal )?error: ")


def remember():
    """In a child: has PyTorch hear the errors in a source again that the same compiler, with the same flags, found in it before. Its sources are named by what
    is in them. What is no error in the source, as a compiler that was killed, is not remembered."""
    from torch._inductor import cpp_builder
    cpp_builder.subprocess = Subprocess()


class Subprocess:
    """Stands for the module of that name."""

    def __getattr__(self, name):
        return getattr(subprocess, name)

    def check_output(self, args, **options):
        return told(args, lambda: subprocess.check_output(args, **options))

    def run(self, args, **options):
        return told(args, lambda: subprocess.run(args, **options))


def told(words, call):
    """The result of a run of the compiler."""
    note = note_of(words)
    errors = read(note)
    if errors:
        raise subprocess.CalledProcessError(1, words, errors.encode())
    try:
        result = call()
    except subprocess.CalledProcessError as e:
        text = (e.output or b"").decode(errors="replace")
        if e.returncode == 1 and TOLD.search(text):
            write(note, text)
        raise
    write(note, "")
    return result


def good(words):
    """Whether a command's source is known to have no errors."""
    return read(note_of(words)) == ""


def note_of(words):
    """The file that remembers a command, beside its one source; "" for commands with more. Where the result goes says nothing."""
    sources = [w for w in words if w.endswith(".cpp")] if isinstance(words, list) else []
    if len(sources) != 1:
        return ""
    key, skip = [], False
    for w in words:
        if skip or w == "-o":
            skip = not skip
        else:
            key.append(w)
    return "%s.said-%s" % (sources[0], hashlib.sha1("\n".join(key).encode()).hexdigest()[:16])


def read(note):
    if note:
        with contextlib.suppress(OSError, ValueError), open(note) as f:
            return json.load(f)


def write(note, text):
    if note:
        part = "%s.%d" % (note, os.getpid())
        with contextlib.suppress(OSError):
            with open(part, "w") as f:
                json.dump(text, f)
            os.rename(part, note)
