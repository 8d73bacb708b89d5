"""What became of a candidate, as it is told to whittle."""
import os
import re
import traceback

STAGES = ("load", "eager", "compile", "run", "compare")
MARKS = ("loaded", "eager", "compiled", "ran")


def out_of_memory(text):
    return re.search(r"MemoryError|std::bad_alloc|can't allocate memory|[Cc]annot allocate memory", text) is not None


def outcome(status, message="", **more):
    return {"status": status, "message": message, **more}


def stopped(child, status, kind, message):
    """The outcome of an end from outside, with the calls that the child was at, by its last mark. Where eager was not through, it says nothing
    about the compiler."""
    if len(child.marks) == 0:
        return outcome("infrastructure", "while loading: " + message)
    if len(child.marks) == 1:
        return outcome("invalid", "in eager: " + message)
    result = outcome(status, message, signature={"stage": child.stage(), "type": kind})
    last = child.page.read() if child.stage() in ("compile", "run") else None
    if last is not None:
        result["message"] = "%s, in %s" % (message, last["at"])
        near = last["views"] + last["calls"]
        told(result, "suspects", last["calls"] if len(last["calls"]) == 1 else [])
        told(result, "region", near if len(near) > 1 else [])
    return result


def failed(e, stage):
    """The outcome of an exception that the compiler, or what it made, raised."""
    inner = innermost(e)
    if isinstance(inner, MemoryError) or isinstance(inner, RuntimeError) and out_of_memory(str(inner)):
        return outcome("oom", describe(e), signature={"stage": stage, "type": "oom"})
    frames = []
    for x in (e, inner):
        for f, _ in traceback.walk_tb(x.__traceback__):
            frames.append((f.f_code.co_filename, f.f_code.co_qualname if hasattr(f.f_code, "co_qualname") else f.f_code.co_name))
    if any(name.rpartition(".")[2] in COMPILING for _, name in frames):
        stage = "compile"
    import torch
    home = os.path.dirname(torch.__file__) + os.sep
    inside = [(f, n) for f, n in frames if f.startswith(home)]
    frame = "%s in torch/%s" % (inside[-1][1], inside[-1][0][len(home):]) if inside else ""
    # A backend of the user's own that raises is called by torch, and is the culprit: what comes after torch's last frame counts.
    last = max((i for i, (f, _) in enumerate(frames) if f.startswith(home)), default=-1)
    caller = frames[last][1] if last >= 0 else ""
    for f, name in reversed(frames[last + 1:]):
        if theirs(f, name, caller):
            frame = "%s in %s" % (name, os.path.basename(f))
            break
    return outcome("fail", describe(e), error={"stage": stage, "type": type(inner).__name__, "message": str(inner), "frame": frame},
                   detail="".join(traceback.format_exception(e))[-12000:])


def innermost(e):
    """The exception that torch's own ones, which pass it on, are about."""
    while getattr(e, "inner_exception", None) is not None:
        e = e.inner_exception
    return e


def theirs(file, name, caller):
    """Whether a frame is of a backend that is not torch's: in the repro, outside of its graphs, or in another installed package that torch calls
    as a backend and not as a library."""
    if os.path.basename(file) == "repro.py":
        return name != "<module>" and not name.endswith(".forward")
    return caller.rpartition(".")[2] == "_call_user_compiler" or caller == "WrapBackendDebug.__call__"


# Functions that are only on the stack while something is compiled.
COMPILING = {"compile_fx_inner", "_compile_fx_inner", "compile_fx", "call_user_compiler", "_call_user_compiler", "aot_dispatch_base", "aot_dispatch_autograd"}


def describe(e):
    return "%s: %s" % (type(e).__name__, e)


def told(result, key, names):
    if names:
        result[key] = result.get(key, []) + [n for n in names if n not in result.get(key, [])]


def invalid(e):
    return outcome("invalid", "eager: " + describe(e), detail=traceback.format_exc()[-4000:])
