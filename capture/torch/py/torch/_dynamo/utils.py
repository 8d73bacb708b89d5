"""Counters and small helpers."""
import dataclasses
import logging
import sys
from collections import Counter, OrderedDict, defaultdict
from typing import Optional

import torch
from torch._C import _dynamo as _native

log = logging.getLogger(__name__)
counters = defaultdict(Counter)
compilation_time_metrics = OrderedDict()


def _take_counts():
    for table, key, n in _native.take_counts():
        counters[table][key] += n


_take_counts()


curr_frame = 0
op_count = 0


def increment_frame():
    global curr_frame
    curr_frame += 1


def reset_frame_count():
    global curr_frame
    curr_frame = 0


def increment_op_count(cnt):
    global op_count
    op_count += cnt


DEFAULT_COMPILATION_METRICS_LIMIT = 64


@dataclasses.dataclass
class CompilationMetrics:
    """What one compilation was about, what it took, and why it failed, if it did. None stands for what is not measured."""

    compile_id: Optional[str] = None
    frame_key: Optional[str] = None
    co_name: Optional[str] = None
    co_filename: Optional[str] = None
    co_firstlineno: Optional[int] = None
    cache_size: Optional[int] = None
    accumulated_cache_size: Optional[int] = None
    guard_count: Optional[int] = None
    shape_env_guard_count: Optional[int] = None
    graph_op_count: Optional[int] = None
    graph_node_count: Optional[int] = None
    graph_input_count: Optional[int] = None
    start_time: Optional[float] = None
    entire_frame_compile_time_s: Optional[float] = None
    backend_compile_time_s: Optional[float] = None
    inductor_compile_time_s: Optional[float] = None
    code_gen_time_s: Optional[float] = None
    fail_type: Optional[str] = None
    fail_reason: Optional[str] = None
    fail_user_frame_filename: Optional[str] = None
    fail_user_frame_lineno: Optional[int] = None
    non_compliant_ops: Optional[set] = None
    compliant_custom_ops: Optional[set] = None
    restart_reasons: Optional[set] = None
    dynamo_time_before_restart_s: Optional[float] = None
    has_guarded_code: Optional[bool] = None
    remote_cache_time_saved_s: Optional[float] = None
    structured_logging_overhead_s: Optional[float] = None
    config_suppress_errors: Optional[bool] = None
    config_inline_inbuilt_nn_modules: Optional[bool] = None
    specialize_float: Optional[bool] = None
    dynamo_config: Optional[str] = None
    is_forward: Optional[bool] = None
    start_time_us: Optional[int] = None
    duration_us: Optional[int] = None
    dynamo_cumulative_compile_time_us: Optional[int] = None
    aot_autograd_cumulative_compile_time_us: Optional[int] = None
    dynamo_compile_time_before_restart_us: Optional[int] = None
    end_time_us: Optional[int] = None
    log_format_version: int = 3


def _compilation_metrics_of(facts):
    from torch._dynamo import config

    m = CompilationMetrics(**facts)
    m.restart_reasons, m.non_compliant_ops, m.compliant_custom_ops = set(m.restart_reasons), set(), set()
    m.frame_key = str(int(m.compile_id.partition("/")[0]) + 1)
    m.config_suppress_errors, m.config_inline_inbuilt_nn_modules = config.suppress_errors, config.inline_inbuilt_nn_modules
    m.specialize_float, m.is_forward = config.specialize_float, True
    m.start_time_us = int(m.start_time * 1e6)
    m.duration_us = m.dynamo_cumulative_compile_time_us = int(m.entire_frame_compile_time_s * 1e6)
    m.aot_autograd_cumulative_compile_time_us = int(m.backend_compile_time_s * 1e6)
    m.dynamo_compile_time_before_restart_us = int(m.dynamo_time_before_restart_s * 1e6)
    m.end_time_us = m.start_time_us + m.duration_us
    return m


def get_compilation_metrics():
    """The compilations since the last clear_compilation_metrics(), as many as set_compilation_metrics_limit() allows."""
    return [_compilation_metrics_of(m) for m in _native.metrics()]


def set_compilation_metrics_limit(new_size):
    _native.limit_metrics(new_size)


def clear_compilation_metrics():
    _native.clear_metrics()


class LazyString:
    """A text that is made when it is printed."""

    def __init__(self, func, *args, **kwargs):
        self.func, self.args, self.kwargs = func, args, kwargs

    def __str__(self):
        return self.func(*self.args, **self.kwargs)


def ifdynstaticdefault(count1, count2):
    """count1 where sizes are static unless marked, count2 where they are dynamic from the start."""
    return count1 if torch._dynamo.config.assume_static_by_default else count2


def hashable(x):
    try:
        hash(x)
        return True
    except TypeError:
        return False
    except Exception:
        return False


def istype(obj, allowed_types):
    """isinstance without subclasses."""
    if isinstance(allowed_types, (tuple, list, set)):
        return type(obj) in allowed_types
    return type(obj) is allowed_types


def disable_cache_limit():
    """No limit of recompilations for a while."""
    import contextlib

    @contextlib.contextmanager
    def unlimited():
        with torch._dynamo.config.patch(cache_size_limit=sys.maxsize, accumulated_cache_size_limit=sys.maxsize):
            yield

    return unlimited()


def clone_tensor(x):
    y = x.clone().requires_grad_(x.requires_grad)
    if x.is_leaf and x.grad is not None:
        y.grad = x.grad.clone()
    return y


def clone_input(x, *, dtype=None):
    """A tensor with the values, strides and gradient of x in memory of its own."""
    with torch.no_grad():
        if x.device.type == "meta":
            return x
        result = torch.empty_strided(x.size(), x.stride(), dtype=dtype or x.dtype, device=x.device)
        result.copy_(x.clone())
        if x.is_leaf:
            result.requires_grad_(x.requires_grad)
        if x.is_leaf and x.grad is not None:
            result.grad = clone_input(x.grad, dtype=dtype)
        return result


def clone_inputs(example_inputs):
    if isinstance(example_inputs, dict):
        return {k: clone_inputs(v) if isinstance(v, (tuple, list)) else clone_input(v) for k, v in example_inputs.items()}
    return [clone_input(x) if isinstance(x, torch.Tensor) else x for x in example_inputs]


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


def dump_compile_times():
    """Logs what compilations took."""
    log.info(compile_times(repr="str", aggregate=True))


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


class ExactWeakKeyDictionary:
    """A dictionary by identity whose entries go when their keys do."""

    def __init__(self):
        self.values, self.refs = {}, {}

    def __getitem__(self, key):
        return self.values[id(key)]

    def get(self, key, default=None):
        return self.values.get(id(key), default)

    def __contains__(self, key):
        return id(key) in self.values

    def __setitem__(self, key, value):
        import weakref

        idx = id(key)
        if idx not in self.refs:
            self.refs[idx] = weakref.ref(key, lambda ref: self._remove_id(idx))
        self.values[idx] = value

    def _remove_id(self, idx):
        self.values.pop(idx, None)
        self.refs.pop(idx, None)

    def clear(self):
        self.refs.clear()
        self.values.clear()


def is_safe_constant(v):
    """Whether a value can stand in code as it is."""
    if istype(v, (tuple, frozenset)):
        return all(map(is_safe_constant, v))
    import enum

    return isinstance(v, (enum.Enum, type, torch.Size)) or istype(v, (type(Ellipsis), int, float, bool, str, bytes, complex, type(None), slice, torch.device, torch.dtype))


def get_instruction_source_311(code, inst):
    raise NotImplementedError("get_instruction_source_311 is not supported")
