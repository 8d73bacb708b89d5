"""Counters and small helpers."""
from collections import Counter, OrderedDict, defaultdict

import torch
from torch._C import _dynamo as _native

counters = defaultdict(Counter)
compilation_time_metrics = OrderedDict()


def _take_counts():
    for table, key, n in _native.take_counts():
        counters[table][key] += n


_take_counts()


def reset_frame_count():
    pass


def compile_times(repr="str", aggregate=False):
    times = _native.compile_times()
    if repr == "str":
        rows = [(k, ", ".join(f"{t:.4f}" for t in ([sum(v)] if aggregate else v))) for k, v in times]
        width = max([len("Function")] + [len(k) for k, _ in rows])
        out = "TorchDynamo compilation metrics:\n"
        out += "Function".ljust(width) + "    Runtimes (s)\n" + "-" * width + "  --------------\n"
        out += "\n".join(k.ljust(width) + "  " + v for k, v in rows)
        return out
    headers = [k for k, _ in times]
    return headers, [sum(v) if aggregate else v for _, v in times]


def same(ref, res, fp64_ref=None, cos_similarity=False, tol=1e-4, equal_nan=False, exact_dtype=True, relax_numpy_equality=False, ignore_non_fp=False, log_error=None):
    if isinstance(ref, (list, tuple)):
        return len(ref) == len(res) and all(same(a, b, None, tol=tol, equal_nan=equal_nan) for a, b in zip(ref, res))
    if isinstance(ref, dict):
        return set(ref) == set(res) and all(same(ref[k], res[k], tol=tol, equal_nan=equal_nan) for k in ref)
    if isinstance(ref, torch.Tensor):
        return ref.shape == res.shape and torch.allclose(ref.float(), res.float(), atol=tol, rtol=tol, equal_nan=equal_nan)
    return ref == res


def _table(headers, rows):
    rows = [[str(c).partition("\n")[0] for c in r] for r in rows]
    widths = [max(len(r[i]) for r in [headers] + rows) for i in range(len(headers))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in [headers, ["-" * w for w in widths]] + rows]
    return "\n".join(lines) + "\n"


class CompileProfiler:
    """A backend that compiles nothing and watches: with it as a context the cache limit is 1, so that each code is compiled once,
    and report() says which graphs broke and why, and which guards failed."""

    def __init__(self):
        self.frame_count = 0
        self.op_count = 0

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += sum(n.op.startswith("call_") for n in gm.graph.nodes)
        return gm.forward

    def __enter__(self):
        self._limit = torch._dynamo.config.cache_size_limit
        torch._dynamo.config.cache_size_limit = 1
        self._breaks, self._failures = _native.breaks_seen(), _native.failures_seen()
        return self

    def __exit__(self, *exc):
        torch._dynamo.config.cache_size_limit = self._limit

    def get_metrics(self):
        failures = defaultdict(list)
        for function, file, line, reasons in _native.failures_since(self._failures):
            failures[f"{function} ({file}:{line})"] += reasons
        return {"graph_breaks": Counter(reason for reason, _ in _native.breaks_since(self._breaks)), "guard_failures": failures}

    def report(self):
        found = self.get_metrics()
        out = "\nTorchdynamo Profiler Report\n===========================\n\nGraph Breaks\n------------\n"
        if found["graph_breaks"]:
            out += "Code that could not be part of a graph ended it; a graph break costs speed.\n\n"
            out += _table(["Graph Break Reason", "Count"], [[k, v] for k, v in found["graph_breaks"].items()])
        else:
            out += "No graph breaks detected.\n"
        out += "\nRecompilation\n-------------\n"
        if found["guard_failures"]:
            out += "These were compiled already when a guard failed. With the default cache limit they are compiled again.\n\n"
            rows = [[name, len(why), why[0]] for name, why in found["guard_failures"].items()]
            out += _table(["Function", "Failures", "First failing guard"], rows)
            out += f"\nSet torch._dynamo.config.cache_size_limit to {max(r[1] for r in rows) + 1} to keep all of them.\n"
        else:
            out += "No recompilation detected.\n"
        return out
