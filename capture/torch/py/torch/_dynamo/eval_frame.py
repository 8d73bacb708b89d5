"""Entering capture: optimize() and the wrappers it makes."""
import functools
import inspect
import linecache
import os
import sys
import types

import torch
from torch._C import _dynamo as _native
from torch._dynamo import config
from torch._dynamo.backends.registry import lookup_backend
from torch.fx import _symbolic_trace


def unsupported(x, y):
    """Gives back its second argument; capture cannot look into it."""
    return y


unsupported._torchdynamo_disable = True


def _optimize_catch_errors(compile_fn, hooks, backend_ctx_ctor=None, export=False, dynamic=None, compiler_config=None, rebuild_ctx=None):
    """A decorator under which each frame of Python is given to compile_fn(frame, cache_size, hooks, frame_state) before it runs. What that gives
    is a GuardedCode with other code for the frame, or None."""

    def callback(frame, cache_size, frame_state):
        guarded = compile_fn(frame, cache_size, hooks, frame_state)
        if guarded is None:
            return None
        return guarded.code, getattr(guarded.guard_manager, "check", None)

    def decorate(fn):
        rewriter = _native.rewriter(callback)

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            return _native.rewriting(rewriter, fn, args, kwargs)

        wrapper._torchdynamo_orig_callable = fn
        return wrapper

    return decorate


def innermost_fn(fn):
    while hasattr(fn, "_torchdynamo_orig_callable"):
        fn = fn._torchdynamo_orig_callable
    return fn


class DynamoStance:
    """What torch.compiler.set_stance asks for."""

    def __init__(self, stance="default", skip_guard_eval_unsafe=False, backend=None):
        self.stance, self.skip_guard_eval_unsafe, self.backend = stance, skip_guard_eval_unsafe, backend

    def __repr__(self):
        return f"DynamoStance(stance={self.stance!r}, skip_guard_eval_unsafe={self.skip_guard_eval_unsafe!r}, backend={self.backend!r})"


_stance = DynamoStance()


def _set_stance(stance):
    global _stance
    context = None
    if stance.backend is not None:
        context = _OptimizeContext(stance.backend, False, None).native
    _native.set_stance(stance.stance if isinstance(stance.stance, str) else repr(stance.stance), repr(stance), context)
    prior, _stance = _stance, stance
    return prior


_set_stance._dynamo_forbidden = True  # see decorators.forbid_in_graph


class OptimizedModule(torch.nn.Module):
    """A module whose forward calls another one, compiled. What is asked of it, other than what every module has, is asked of that one."""

    # Attributes of the wrapper itself; all others are the module's.
    _own = {"forward", "_forward", "dynamo_ctx", "_orig_mod", "__dict__"}

    def __init__(self, mod, dynamo_ctx):
        super().__init__()
        self._modules["_orig_mod"] = mod
        self.dynamo_ctx = dynamo_ctx
        self._initialize()

    def _initialize(self):
        mod = self._orig_mod
        self.forward = self.dynamo_ctx.of_module(mod)
        if hasattr(mod, "_initialize_hook"):
            self._forward = self.forward
            self.forward = self._call_lazy_check

    def _call_lazy_check(self, *args, **kwargs):
        """A call of a module whose parameters take their sizes from the first arguments."""
        if hasattr(self._orig_mod, "_initialize_hook"):
            self._orig_mod._infer_parameters(self._orig_mod, args, kwargs)
        return self._forward(*args, **kwargs)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, mode):
        self._orig_mod.training = mode

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name in self._own:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __getstate__(self):
        state = dict(self.__dict__)
        for name in ("forward", "_forward", "__call__"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._initialize()

    def __dir__(self):
        names = dir(self._orig_mod)
        return names + [n for n in super().__dir__() if n not in names]


def _backend_name(backend):
    if isinstance(backend, str):
        return backend
    return getattr(backend, "compiler_name", None) or getattr(backend, "__name__", type(backend).__name__)


arguments_unchecked = False  # said to torch.distributions, which is imported when it is first asked for


def _leave_arguments_unchecked():
    """Distributions check their arguments by values, which would break graphs: not by default from the first compiled function on."""
    global arguments_unchecked
    if not arguments_unchecked and (made := sys.modules.get("torch.distributions.distribution")):
        made.Distribution.set_default_validate_args(False)
    arguments_unchecked = True


class _OptimizeContext:
    def __init__(self, backend, nopython, dynamic, guard_fail_fn=None, export=None):
        _leave_arguments_unchecked()
        self._made_with = backend, nopython, dynamic, guard_fail_fn, export
        self.name = _backend_name(backend)
        from torch._dynamo.utils import CompileProfiler

        self.profiler = backend if isinstance(backend, CompileProfiler) else None  # which is a context, too
        self.native = _native.context(self.name, lookup_backend(backend), nopython, dynamic, guard_fail_fn, export)

    def __reduce__(self):
        return type(self), self._made_with

    def of_module(self, mod):
        """The calls of a module, compiled."""
        if isinstance(mod.forward, types.MethodType) and _of_library(mod.forward):
            from torch._dynamo.external_utils import wrap_inline

            return _wrap(self.native, wrap_inline(mod), mod.forward)  # frames of the library are not compiled by themselves
        return _wrap(self.native, mod.__call__, mod.forward)

    def __call__(self, fn):
        if fn is None:
            return self
        if isinstance(fn, torch.nn.Module):
            return OptimizedModule(fn, self)
        if isinstance(fn, type):
            cls = fn
            cls.__call__ = self(cls.__call__)
            return cls
        if not callable(fn):
            raise AssertionError
        names = fn = innermost_fn(fn)
        if _of_library(fn) and getattr(fn, "__name__", "") not in ("_call_impl", "_wrapped_call_impl"):
            from torch._dynamo.external_utils import wrap_inline

            fn = wrap_inline(fn)
        return _wrap(self.native, fn, names)

    # The old form: with torch._dynamo.optimize(...): statements.
    def __enter__(self):
        if self.profiler is not None:
            self.profiler.__enter__()
        self.prior = _native.enter(self.native)
        return self

    def __exit__(self, *args):
        _native.leave(self.prior)
        if self.profiler is not None:
            self.profiler.__exit__(*args)


def _of_library(fn):
    """Whether fn has no frame of its own that capture would enter: a function of torch, one that was made from a text, or no Python function at all."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is None or code.co_filename.startswith("torch/"):
        return True
    return code.co_filename.startswith("<") and code.co_filename not in linecache.cache


def _wrap(native, fn, names):
    def _fn(*args, **kwargs):
        if _symbolic_trace._is_fx_tracing_flag:
            if config.error_on_nested_fx_trace:
                raise RuntimeError("Detected that you are using FX to symbolically trace a dynamo-optimized function. This is not supported at the moment.")
            return fn(*args, **kwargs)
        return _native.call(native, fn, args, kwargs)

    try:
        functools.update_wrapper(_fn, names)
    except AttributeError:
        pass
    _fn._torchdynamo_orig_callable = fn
    _fn._torchdynamo_disable = True
    _fn._torchdynamo_inline = fn
    return _fn


class DisableContext:
    """In the place of an _OptimizeContext, for a module that is left alone."""

    def __init__(self, recursive=True):
        self.recursive = recursive

    def of_module(self, mod):
        from torch._dynamo.decorators import disable

        return disable(mod.__call__, self.recursive)


class _Null:
    def __call__(self, fn):
        return fn

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None


def optimize(backend="inductor", *, nopython=False, guard_export_fn=None, guard_fail_fn=None, disable=False, dynamic=None):
    if disable or config.disable or os.environ.get("TORCHDYNAMO_DISABLE", "") == "1":
        return _Null()
    if isinstance(backend, (list, tuple)):
        raise TypeError("backend must be a name or a callable")
    return _OptimizeContext(backend, nopython, dynamic, guard_fail_fn)


def optimize_assert(backend, *, hooks=None, export=False, export_constraints=None, dynamic=None, rebuild_ctx=None):
    """optimize(), where a break is an error. export: the graph is to stand for the whole program."""
    return _OptimizeContext(backend, True, dynamic, getattr(hooks, "guard_fail_fn", None), (export_constraints or []) if export else None)


def export(f, *extra_args, **extra_kwargs):
    """torch._dynamo.export, see _export.py: few programs need it."""
    from torch._dynamo._export import export

    return export(f, *extra_args, **extra_kwargs)


class ExplainOutput:
    def __init__(self, graphs, graph_count, graph_break_count, break_reasons, op_count, ops_per_graph=None, out_guards=None, compile_times=None):
        self.graphs, self.graph_count, self.graph_break_count = graphs, graph_count, graph_break_count
        self.break_reasons, self.op_count, self.ops_per_graph = break_reasons, op_count, ops_per_graph
        self.out_guards, self.compile_times = out_guards, compile_times

    def _short(self):
        return f"Graph Count: {self.graph_count}\nGraph Break Count: {self.graph_break_count}\nOp Count: {self.op_count}\n"

    def __str__(self):
        out = self._short()
        out += "Break Reasons:\n"
        for i, r in enumerate(self.break_reasons):
            out += f"  Break Reason {i + 1}:\n"
            out += f"    Reason: {r.reason}\n"
            out += "    User Stack:\n"
            for frame in r.user_stack:
                out += f"      {frame}\n"
        if self.ops_per_graph is not None:
            out += "Ops per Graph:\n"
            for i, ops in enumerate(self.ops_per_graph):
                out += f"  Ops {i + 1}:\n"
                for op in ops:
                    out += f"    {op}\n"
        if self.out_guards is not None:
            out += "Out Guards:\n"
            for i, g in enumerate(self.out_guards):
                out += f"  Guard {i + 1}:\n    {g}"
        if self.compile_times is not None:
            out += f"Compile Times: {self.compile_times}\n"
        return out

    def __iter__(self):
        """The older forms: as many values as the statement wants that takes them apart, four at first, then five, then six."""
        import dis
        import sys

        caller = sys._getframe(1)
        wanted = [i.arg for i in dis.get_instructions(caller.f_code) if i.offset == caller.f_lasti and i.opname == "UNPACK_SEQUENCE"] or [6]
        count = min(max(wanted[0], 4), 6)
        return iter((self._told(long=count < 6), self.out_guards, self.graphs, self.ops_per_graph, self.break_reasons, self._told(long=True))[:count])

    def _told(self, long):
        """The text of the older forms; the long one has the reasons with their places."""
        ops, breaks = (f"{n} {what}" + "s" * (n != 1) for n, what in ((self.op_count, "op"), (self.graph_break_count, "graph break")))
        graphs = f"{self.graph_count} graph" + "s" * (self.graph_count != 1)
        out = f"Dynamo produced {graphs}, with {breaks} and {ops}"
        if not long:
            return out
        out += ".\n Break reasons:"
        for i, r in enumerate(self.break_reasons):
            out += f"\n{i + 1}. {r.reason}\n"
            for frame in r.user_stack:
                out += f'   File "{frame.filename}", line {frame.lineno}, in {frame.name}\n    {frame.line}\n'
        return out


class FrameSummary:
    """One entry of a user stack, with the attributes of traceback.FrameSummary."""

    def __init__(self, filename, lineno, name):
        self.filename, self.lineno, self.name = filename, lineno, name

    @property
    def line(self):
        import linecache

        return linecache.getline(self.filename, self.lineno).strip()

    def __iter__(self):
        return iter((self.filename, self.lineno, self.name, self.line))

    def __repr__(self):
        return f"<FrameSummary file {self.filename}, line {self.lineno} in {self.name}>"


class GraphCompileReason:
    def __init__(self, reason, user_stack, graph_break=True):
        self.reason, self.user_stack, self.graph_break = reason, user_stack, graph_break

    def __repr__(self):
        return f"GraphCompileReason(reason={self.reason!r}, user_stack={self.user_stack!r}, graph_break={self.graph_break})"


def explain(f, *extra_args, **extra_kwargs):
    def inner(*args, **kwargs):
        import torch._dynamo as dynamo

        dynamo.reset()
        graphs = []

        def dynamo_graph_accumulating_compiler(gm, example_inputs):
            graphs.append(gm)
            return gm.forward

        from torch._guards import out_guards

        _native.keep_guards()
        _native.forget_times()
        optimize(dynamo_graph_accumulating_compiler)(f)(*args, **kwargs)
        reasons = [gm.compile_subgraph_reason for gm in graphs if gm.compile_subgraph_reason.graph_break]
        ops_per_graph = [[n.target for n in gm.graph.nodes if n.op == "call_function"] for gm in graphs]
        op_count = sum(len(ops) for ops in ops_per_graph)
        from torch._dynamo.utils import compile_times

        took = compile_times()
        dynamo.reset()
        return ExplainOutput(graphs, len(graphs), len(graphs) - 1, reasons, op_count, ops_per_graph, out_guards(), took)

    if extra_args or extra_kwargs:
        return inner(*extra_args, **extra_kwargs)
    return inner


def _log_traced_frames():
    """Logs the frames that were traced so far, as the end of the program does."""
    _native.log_traced_frames()


def _debug_get_cache_entry_list(code):
    """The compiled versions of a function's code, those that ran last before others."""
    if callable(code):
        code = code.__code__
    return _native.cache_entries(code)


def __getattr__(name):
    if name in ("ExportResult", "argument_names", "check_signature_rewritable", "check_user_input_output", "rewrite_signature", "_Exporter"):
        from torch._dynamo import _export

        return getattr(_export, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
