"""Counters and small helpers."""
from collections import Counter, OrderedDict, defaultdict

import torch
from torch._C import _dynamo as _native

counters = defaultdict(Counter)
compilation_time_metrics = OrderedDict()


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
