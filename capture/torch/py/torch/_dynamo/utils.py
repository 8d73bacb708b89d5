"""Counters and small helpers."""
import dataclasses
import enum
import functools
import logging
import math
import sys
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
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


# What is told of a compilation, by type; None stands for what is not measured.
_metrics = [
    (str, "compile_id frame_key co_name co_filename"),
    (int, "co_firstlineno cache_size accumulated_cache_size guard_count shape_env_guard_count graph_op_count graph_node_count graph_input_count"),
    (float, "start_time entire_frame_compile_time_s backend_compile_time_s inductor_compile_time_s code_gen_time_s"),
    (str, "fail_type fail_reason fail_user_frame_filename"),
    (int, "fail_user_frame_lineno"),
    (set, "non_compliant_ops compliant_custom_ops restart_reasons"),
    (float, "dynamo_time_before_restart_s"),
    (bool, "has_guarded_code"),
    (float, "remote_cache_time_saved_s structured_logging_overhead_s"),
    (bool, "config_suppress_errors config_inline_inbuilt_nn_modules specialize_float"),
    (str, "dynamo_config"),
    (bool, "is_forward"),
    (int, "start_time_us duration_us dynamo_cumulative_compile_time_us aot_autograd_cumulative_compile_time_us"),
    (int, "dynamo_compile_time_before_restart_us end_time_us"),
]
CompilationMetrics = dataclasses.make_dataclass(
    "CompilationMetrics",
    [(name, Optional[kind], None) for kind, names in _metrics for name in names.split()] + [("log_format_version", int, 3)],
    namespace={"__doc__": "What one compilation was about, what it took, and why it failed, if it did.", "__module__": __name__},
)


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
    several = isinstance(allowed_types, (tuple, list, set))
    return type(obj) in (allowed_types if several else (allowed_types,))


def disable_cache_limit():
    """No limit of recompilations for a while."""
    limits = "cache_size_limit", "accumulated_cache_size_limit"
    return torch._dynamo.config.patch(dict.fromkeys(limits, sys.maxsize))


def _with_gradient(copy, x, copied):
    """copy, with a copy of the gradient of x."""
    if x.is_leaf and x.grad is not None:
        copy.grad = copied(x.grad)
    return copy


def clone_tensor(x):
    return _with_gradient(x.clone().requires_grad_(x.requires_grad), x, torch.clone)


@torch.no_grad()
def clone_input(x, *, dtype=None):
    """A tensor with the values, strides and gradient of x in memory of its own."""
    if x.device.type == "meta":
        return x
    copy = torch.empty_strided(x.size(), x.stride(), dtype=dtype or x.dtype, device=x.device).copy_(x.clone())
    if x.is_leaf:
        copy.requires_grad_(x.requires_grad)
    return _with_gradient(copy, x, lambda grad: clone_input(grad, dtype=dtype))


def clone_inputs(example_inputs):
    """Copies of the tensors in a list, or in a dictionary of tensors and lists; of a dictionary of another class, its keys."""
    if type(example_inputs) is not dict:
        return [clone_input(x) if isinstance(x, torch.Tensor) else x for x in example_inputs]
    return {k: (clone_inputs if isinstance(v, (tuple, list)) else clone_input)(v) for k, v in example_inputs.items()}


def compile_times(repr="str", aggregate=False):
    """What each part of the compiler took: as a text, or for repr="csv" as two lists, names and texts of seconds."""
    times = [(k, [sum(v)] if aggregate else v) for k, v in _native.compile_times()]

    def seconds(v, digits):
        return ", ".join(f"{t:.{digits}f}" for t in v)

    if repr == "str":
        rows = [(k, seconds(v, 4)) for k, v in times]
        width = max([len("Function")] + [len(k) for k, _ in rows])
        out = "TorchDynamo compilation metrics:\n"
        out += "Function".ljust(width) + "    Runtimes (s)\n" + "-" * width + "  --------------\n"
        return out + "\n".join(k.ljust(width) + "  " + v for k, v in rows)
    if repr == "csv":
        return [k for k, _ in times], [seconds(v, 6) for _, v in times]
    return None


def dump_compile_times():
    """Logs what compilations took."""
    log.info(compile_times(aggregate=True))


def rmse(ref, res):
    """The root of the mean squared difference."""
    return (ref - res).square().mean().sqrt()


def same(
    ref, res, fp64_ref=None, cos_similarity=False, tol=1e-4, equal_nan=False, exact_dtype=True, relax_numpy_equality=False, ignore_non_fp=False,
    log_error=log.error, use_larger_multiplier_for_smaller_tensor=False,
):
    """Whether res is what ref is, tensors to a tolerance. fp64_ref is ref computed in doubles: res may be as far from it as a few times what ref is.
    Values of different kinds raise an AssertionError, those of a kind that is not known a RuntimeError."""
    if fp64_ref is None:
        fp64_ref = ref
    opts = dict(
        cos_similarity=cos_similarity, tol=tol, equal_nan=equal_nan, exact_dtype=exact_dtype, relax_numpy_equality=relax_numpy_equality,
        ignore_non_fp=ignore_non_fp, log_error=log_error, use_larger_multiplier_for_smaller_tensor=use_larger_multiplier_for_smaller_tensor,
    )
    if isinstance(ref, (list, tuple, deque, torch.nn.ParameterList, torch.Size)):
        assert isinstance(res, (list, tuple, deque)), f"type mismatch {type(ref)} {type(res)}"
        if len(ref) != len(res):
            log_error("Length mismatch")
            return False
        return all(same(*three, **opts) for three in zip(ref, res, fp64_ref))
    if type(ref).__name__ == "QuestionAnsweringModelOutput":
        return same(ref.loss, res.loss, fp64_ref.loss, **opts)
    if isinstance(ref, dict):
        assert isinstance(res, dict)
        assert set(ref) == set(res), f"keys mismatch {set(ref.keys())} == {set(res.keys())}"
        for k in sorted(ref):
            if not same(ref[k], res[k], fp64_ref[k], **opts):
                log_error("Accuracy failed for key name %s", k)
                return False
        return True
    if isinstance(ref, set):
        assert isinstance(res, set)
        assert ref == res, f"elements mismatch {ref} == {res}"
        return True
    if isinstance(ref, (torch.Tensor, float)):
        assert not isinstance(ref, torch._subclasses.FakeTensor)
        assert not isinstance(res, torch._subclasses.FakeTensor)
        return _same_tensors(*(t if isinstance(t, torch.Tensor) else torch.tensor(t) for t in (ref, res, fp64_ref)), opts)
    if isinstance(ref, (str, int, type(None), bool, torch.device)):
        if ignore_non_fp:
            return True
        if not ref == res:
            log_error("Accuracy failed (%s): %s != %s", type(ref), ref, res)
        return ref == res
    if type(ref).__name__ == "ndarray" and _is_numpy(ref):
        return type(ref) is type(res) and same(torch.as_tensor(ref), torch.as_tensor(res), fp64_ref, **opts)
    if _is_numpy(ref):
        if relax_numpy_equality and not _is_numpy(res):
            ref = ref.item()
        equal = type(ref) is type(res) and ref == res
        if not equal:
            log_error("Accuracy failed (numpy): %s != %s", ref, res)
        return equal
    if type(ref).__name__ in _records:
        assert type(ref) is type(res)
        return all(same(getattr(ref, k), getattr(res, k), getattr(fp64_ref, k), **opts) for k in ref.__dict__)
    raise RuntimeError(f"unsupported type: {type(ref).__name__}")


# Classes of models' results that are compared attribute by attribute.
_records = ("MaskedLMOutput", "Seq2SeqLMOutput", "CausalLMOutputWithCrossAttentions", "LongformerMaskedLMOutput", "Instances", "SquashedNormal", "Boxes", "Normal",
            "TanhTransform", "Foo", "Variable")


def _same_tensors(ref, res, fp64_ref, opts):
    """same for tensors; opts are its other arguments."""
    tol, equal_nan, log_error = opts["tol"], opts["equal_nan"], opts["log_error"]
    close = dict(atol=tol, rtol=tol, equal_nan=equal_nan)
    if ref.is_sparse:
        assert res.is_sparse
        ref, res = ref.to_dense(), res.to_dense()
    if opts["exact_dtype"]:
        if ref.dtype != res.dtype:
            log_error("dtype mismatch %s, %s", ref.dtype, res.dtype)
            return False
        if ref.dtype == torch.bool:
            equal = opts["ignore_non_fp"] or torch.allclose(ref.to(torch.uint8), res.to(torch.uint8), **close)
            if not equal:
                log_error("Accuracy failed: uint8 tensor did not match")
            return equal
    if opts["cos_similarity"]:
        ref, res = (t.flatten().to(torch.float32) for t in (ref, res))
        if torch.allclose(ref, res, atol=tol, rtol=tol, equal_nan=True):
            return True
        score = torch.nn.functional.cosine_similarity(ref, res, dim=0, eps=1e-6)
        if score < 0.99:
            log.warning("Similarity score=%s", score.detach().item())
        return score >= 0.99
    if not opts["exact_dtype"]:
        ref = ref.to(res.dtype)
    if torch.allclose(ref, res, **close):
        return True
    if fp64_ref.dtype == torch.float64:
        return _same_to_doubles(ref, res, fp64_ref, opts)
    if opts["ignore_non_fp"]:
        return True
    log_error("Accuracy failed: allclose not within tol=%s", tol)
    return False


def _same_to_doubles(ref, res, fp64_ref, opts):
    """Whether res is about as near to what doubles give as ref is."""
    tol, equal_nan = opts["tol"], opts["equal_nan"]
    if ref.isnan().any() and not fp64_ref.isnan().any() and not res.isnan().any():
        if torch.allclose(fp64_ref.to(res.dtype), res, atol=4e-2, rtol=4e-2, equal_nan=equal_nan):
            return True  # better than ref
    ref_error, res_error = rmse(fp64_ref, ref).item(), rmse(fp64_ref, res).item()
    if math.isnan(ref_error):
        log.warning("Found nan in reference. Consider running in higher precision.")
    few, times = fp64_ref.numel(), 3.0 if res.dtype in (torch.float16, torch.bfloat16) else 2.0
    if opts["use_larger_multiplier_for_smaller_tensor"] and few <= 500 and tol >= 4e-2:
        times = 10.0 if few <= 10 else 5.0
    elif few < 1000 or ref.ndim == 4 and ref.shape[-1] == ref.shape[-2] == 1 or tol >= 2e-2:
        times = 3.0
    if res_error <= times * ref_error + tol / 10 or equal_nan and math.isnan(ref_error) and math.isnan(res_error):
        return True
    opts["log_error"]("RMSE (res-fp64): %.5f, (ref-fp64): %.5f and shape=%s. res.dtype: %s, multiplier: %f, tol: %f, use_larger_multiplier_for_smaller_tensor: %d",
                      res_error, ref_error, res.size(), res.dtype, times, tol, opts["use_larger_multiplier_for_smaller_tensor"])
    return False


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
        self._since()

    def _since(self):
        self._breaks, self._failures = _native.breaks_seen(), _native.failures_seen()

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += sum(n.op.startswith("call_") for n in gm.graph.nodes)
        return gm.forward

    def __enter__(self):
        self._limit = torch._dynamo.config.cache_size_limit
        torch._dynamo.config.cache_size_limit = 1
        self._since()
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


CompilationProfiler = CompileProfiler  # its first name


class ExactWeakKeyDictionary:
    """A dictionary by identity whose entries go when their keys do."""

    def __init__(self):
        self.values, self.refs = {}, {}  # by the identity of the key

    def get(self, key, default=None):
        return self.values.get(id(key), default)

    def __getitem__(self, key):
        found = self.get(key, _missing)
        if found is _missing:
            raise KeyError(id(key))
        return found

    def __contains__(self, key):
        return self.get(key, _missing) is not _missing

    def __setitem__(self, key, value):
        at = id(key)
        self.values[at] = value
        if at not in self.refs:
            self.refs[at] = weakref.ref(key, functools.partial(self._forget, at))

    def _forget(self, at, _):
        for table in self.values, self.refs:
            table.pop(at, None)

    def clear(self):
        self.refs.clear()
        self.values.clear()


_missing = object()

_constant_types = {type(Ellipsis), type(None), bool, int, float, complex, str, bytes, slice, torch.device, torch.dtype}


def is_safe_constant(v):
    """Whether a value can stand in code as it is."""
    if type(v) in (tuple, frozenset):
        return False not in [is_safe_constant(x) for x in v]
    return type(v) in _constant_types or isinstance(v, (enum.Enum, type, torch.Size))


def get_instruction_source_311(code, inst):
    raise NotImplementedError("get_instruction_source_311 is not supported")


def _is_numpy(value):
    """Whether a value is an array or a scalar of NumPy's."""
    return type(value).__module__ == "numpy" and hasattr(value, "__array__")


def _tensor_in(value):
    """The tensor of an array of torch._numpy; anything else as it is."""
    import torch._numpy as tnp

    return value.tensor if isinstance(value, tnp.ndarray) else value


def _array_of(value):
    """The array of torch._numpy that a tensor makes; anything else as it is."""
    import torch._numpy as tnp

    return tnp.ndarray(value) if isinstance(value, torch.Tensor) else value


def to_numpy_helper(value):
    """value with numpy's arrays in the place of tensors and of torch._numpy's arrays."""
    if is_fake(value):
        return value
    plain = _tensor_in(value)
    if isinstance(plain, torch.Tensor):
        return plain.numpy(force=True)
    return type(plain)(map(to_numpy_helper, plain)) if isinstance(plain, (tuple, list)) else plain


def is_fake(value):
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(value, FakeTensor)


def numpy_to_tensor(value):
    """value with tensors in the place of arrays."""
    if isinstance(value, (tuple, list)):
        items = [numpy_to_tensor(x) for x in value]
        return items if type(value) is list else tuple(items) if type(value) is tuple else type(value)(items)
    return torch.as_tensor(value) if _is_numpy(value) else _tensor_in(value)


class _Wrapper:
    """What of arrays a graph calls: it gives tensors. Subclasses say what is wrapped, and how it is called."""

    def _wrap(self, name):
        self.__name__ = "wrapped_" + name

    def __repr__(self):
        return f"<Wrapped {self._kind} <original {self._original()}>>"

    def __call__(self, *args, **kwargs):
        return numpy_to_tensor(self._call(*args, **kwargs))


class numpy_to_tensor_wrapper(_Wrapper):
    """A function of torch._numpy as graphs call it."""

    _kind = "function"

    def __init__(self, function):
        self.f = self._call = function
        self._wrap(function.__name__)

    def _original(self):
        return self.f.__name__


class numpy_method_wrapper(_Wrapper):
    """A method of arrays as graphs call it: it takes a tensor."""

    _kind = "method"

    def __init__(self, name):
        self.method = name
        self._wrap(name)

    def _original(self):
        return self.method

    def _call(self, obj, *args, **kwargs):
        return getattr(_array_of(obj), self.method)(*args, **kwargs)


class numpy_operator_wrapper(_Wrapper):
    """An operator of Python on arrays as graphs call it."""

    _kind = "operator"

    def __init__(self, operator):
        self.op = operator
        self._wrap(operator.__name__)

    def _original(self):
        return self.__name__

    def _call(self, *operands):
        return self.op(*map(_array_of, operands))


def numpy_attr_wrapper(obj, name):
    """An attribute that the array of a tensor has."""
    return numpy_to_tensor(getattr(_array_of(obj), name))


def _numpy_pairs():
    """The modules of numpy that are traced with those that stand for them in graphs."""
    import numpy as np
    import torch._numpy as tnp

    return [(np, tnp), (np.fft, tnp.fft), (np.linalg, tnp.linalg), (np.random, tnp.random)]


def get_np_to_tnp_map():
    """The function of torch._numpy for each of numpy's."""
    return {f: g for f, g, _ in _numpy_functions()[0]}


def _numpy_functions():
    """What of numpy has a counterpart, with that and the way to it, and what has none."""
    known, unknown = [], []
    for module, own in _numpy_pairs():
        for name, f in vars(module).items():
            if not callable(f) or name.startswith("_"):
                continue
            g = vars(own).get(name)
            if callable(g):
                known.append((f, g, f"{own.__name__}.{name}"))
            elif (getattr(f, "__module__", None) or "numpy").split(".")[0] == "numpy" and not (isinstance(f, type) and issubclass(f, BaseException)):
                unknown.append(f)
    return known, unknown


np_constant_functions = ("dtype", "finfo", "iinfo")  # what they give is a constant
