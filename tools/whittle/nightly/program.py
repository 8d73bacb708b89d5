"""Runs a program in one of the bot's modes, and says at its end what torch.compile did. What stands before this text are JOB and SOURCE."""
import atexit
import json
import linecache
import os
import sys


def told(job=JOB, json=json, os=os, sys=sys):
    """One line on standard output, behind all that the program printed."""
    dynamo = sys.modules.get("torch._dynamo")
    figures = {}
    if dynamo is not None:
        try:
            from torch._dynamo.convert_frame import FRAME_COMPILE_COUNTER
            from torch._dynamo.utils import compilation_time_metrics, counters
            figures["graph_breaks"] = [float(sum(counters["graph_break"].values()))]
            figures["recompiles"] = [float(sum(max(n - 1, 0) for n in FRAME_COMPILE_COUNTER.values()))]
            for name in ("_compile.compile_inner", "_compile", "entire_frame_compile"):
                if compilation_time_metrics.get(name):
                    figures["compile_s"] = [float(sum(compilation_time_metrics[name]))]
                    break
        except Exception as e:
            print("whittle: no counters:", repr(e), file=sys.stderr)
    import resource
    figures["peak_memory"] = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0]
    sys.stdout.flush()
    os.write(1, ("\n%s%s\n" % (job["nonce"], json.dumps(figures))).encode())


def choose(job=JOB):
    """torch.compile, and the dtype of new tensors, as the mode says."""
    import torch
    if job["dtype"]:
        torch.set_default_dtype(getattr(torch, job["dtype"]))
    options = {k: job[k] for k in ("backend", "dynamic", "mode") if job[k] not in (None, "")}
    if not options:
        return
    plain = torch.compile

    def compile(model=None, **given):
        given.update(options)
        return plain(model, **given)
    torch.compile = compile


atexit.register(told)
if JOB["backend"] or JOB["dynamic"] is not None or JOB["mode"] or JOB["dtype"]:
    choose()
linecache.cache["program.py"] = (len(SOURCE), None, SOURCE.splitlines(True), "program.py")
sys.argv = ["program.py"]
program = compile(SOURCE, "program.py", "exec")
__doc__ = None
exec(program, {k: v for k, v in globals().items() if k.startswith("__")})
