# Loaded into the user's process by sitecustomize.py when torch's compiler is imported.
#
# It goes around two functions of torch: the wrapper that compiles a graph after aot, and the one that hands a graph to a
# backend after dynamo. Each graph is on disk as a runnable repro while it is compiled and while it runs for the first time;
# when that went well the folder is removed, and when it did not, it says what happened.
#
# Layout of the private folder:  records/PID-N/repro.py, record.json (state: compile, run, failed), checkpoints/storages/HASH;
# uncaught-PID: the exception that ended the program.
import ast
import base64
import ctypes
import functools
import hashlib
import json
import os
import re
import shutil
import sys
import threading
import time
import traceback
import warnings

import torch

HOME = ""
LEVEL = 2
STRICT = False  # level 4 compares with eager itself, and by eager's own noise
EAGER = False  # graphs after aot are not compiled
CRASH_DATA = 8 << 20  # bytes of inputs that are written before a first run
INLINE = 256  # elements of a constant that are written as a list
_state = threading.local()
_count = 0
_lock = threading.Lock()
_hooked = False
_cwd = ""  # where the program started
_uncompiled = False  # graphs after aot are run as they were before they were compiled: in all threads, as those of backward may be others


def start(home, cwd):
    global HOME, LEVEL, EAGER, CRASH_DATA, STRICT, _cwd
    HOME = home
    _cwd = cwd
    try:
        with open(os.path.join(home, "settings.json")) as f:
            s = json.load(f)
        LEVEL, EAGER, CRASH_DATA, STRICT = s.get("level", LEVEL), s.get("eager", EAGER), s.get("crash_data", CRASH_DATA), s.get("strict", STRICT)
    except (OSError, ValueError):
        pass


def trouble(what, e):
    try:
        with open(os.path.join(HOME, "trouble"), "a") as f:
            f.write("%s: %s: %s\n" % (what, type(e).__name__, e))
    except OSError:
        pass


def attach(module):
    """Changes one of torch's modules, right after it was made."""
    if hasattr(module, "wrap_compiler_debug") and not hasattr(module.wrap_compiler_debug, "_whittle"):
        module.wrap_compiler_debug = _around_aot(module.wrap_compiler_debug)
    cls = getattr(module, "WrapBackendDebug", None)
    if cls is not None and cls.__module__ == module.__name__ and not hasattr(cls.__call__, "_whittle"):
        cls.__call__ = _around_backend(cls.__call__)
    elif cls is None and hasattr(module, "wrap_backend_debug") and module.wrap_backend_debug.__module__ == module.__name__:
        module.wrap_backend_debug = _around_wrap(module.wrap_backend_debug)


# ---------------------------------------------------------------- records


class Record:
    """One graph's folder. Nothing here may raise into the program."""

    def __init__(self, stage, gm, name, backend):
        global _count
        with _lock:
            _count += 1
            self.id = "%d-%d" % (os.getpid(), _count)
        self.dir = os.path.join(HOME, "records", self.id)
        self.info = {"id": self.id, "pid": os.getpid(), "stage": stage, "compiler": name, "python": sys.executable, "argv": sys.argv[:],
                     "cwd": os.getcwd(), "torch": torch.__version__, "git": getattr(torch.version, "git_version", None), "version": sys.version.split()[0]}
        if backend:
            self.info["backend"] = backend
        self.stage, self.name = stage, name
        self.graph = graph_text(gm)
        self.config = config_text()
        self.names = placeholder_names(gm)
        # run_repro traces such a graph anew and compares its outputs alone: the graph around it is the surer repro.
        if stage == "aot" and any(n.op == "call_function" and getattr(n.target, "__name__", "") == "copy_.default" and n.args and getattr(n.args[0], "op", "") == "placeholder" for n in gm.graph.nodes):
            self.info["writes"] = True
        self.autocast = torch.is_autocast_enabled()
        self.closed = False
        self.lines = (False, [])
        self.digests = {}  # of the storages that the step under way began with: it may write to them
        self.state = ""

    def put(self, state, inputs, data, exc=None, accuracy=False):
        """Writes the repro with what is known now. data bounds the bytes of inputs that are stored; None is no bound. Without inputs
        they stay what they were, random."""
        try:
            os.makedirs(self.dir, exist_ok=True)
            if state != "failed":
                self.digests = {}
            if inputs is not None:
                self.lines = input_lines(self.names, inputs, os.path.join(self.dir, "checkpoints"), data, self.digests)
            symbolic, lines = self.lines
            if any("reader.symint(torch." in l for l in lines):
                self.info["unstored"] = True
            text = self.text(lines, symbolic, accuracy)
            _write(os.path.join(self.dir, "repro.py"), text)
            info = dict(self.info, state=state, time=time.time())
            if exc is not None:
                info["exception"] = describe(exc)
            if accuracy:
                info["accuracy"] = True
            _write(os.path.join(self.dir, "record.json"), json.dumps(info))
            self.state = state
        except Exception as e:
            trouble("writing %s" % self.id, e)

    def mark(self, state):
        """Says which step is under way; the repro stays as it is."""
        try:
            _write(os.path.join(self.dir, "record.json"), json.dumps(dict(self.info, state=state, time=time.time())))
            self.state = state
        except Exception as e:
            trouble("marking %s" % self.id, e)

    def done(self):
        self.closed = True
        self.state = ""
        self.lines = (self.lines[0], [_HASH.sub("reader.storage(None,", l) for l in self.lines[1]])  # the data goes with the folder
        shutil.rmtree(self.dir, ignore_errors=True)

    def text(self, lines, symbolic, accuracy):
        imports, classes = self.graph
        if self.stage == "aot":
            head = "import torch\nfrom torch import tensor, device\nimport torch.fx as fx\nfrom torch._dynamo.testing import rand_strided\nfrom math import inf\nimport torch._inductor.inductor_prims\n"
            tail = ("mod = Repro()\nif __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n"
                    "        run_repro(mod, load_args, accuracy=%r, command='run', save_dir='checkpoints', tracing_mode=%r, check_str=None)\n" % (accuracy, "symbolic" if symbolic else "real"))
        else:
            head = "from math import inf\nimport torch\nfrom torch import tensor, device\nimport torch.fx as fx\nimport torch._dynamo\nfrom torch._dynamo.testing import rand_strided\nfrom torch._dynamo.debug_utils import run_fwd_maybe_bwd\n"
            tail = ("mod = Repro()\nif __name__ == '__main__':\n    from torch._dynamo.repro.after_dynamo import run_repro\n"
                    "    run_repro(mod, load_args, accuracy=%r, command='run',\n        save_dir='checkpoints', autocast=%r, backend=%r)\n" % (accuracy, self.autocast, self.name))
        return head + "\n" + self.config + "\n" + imports + "from torch.nn import *\n" + classes + "\ndef load_args(reader):\n" + "".join("    %s\n" % l for l in lines or ["pass"]) + "load_args._version = 0\n" + tail


_HASH = re.compile(r"reader\.storage\('\w+',")


def _write(path, text):
    tmp = path + ".tmp"
    with open(tmp, "w") as f:
        f.write(text)
    os.replace(tmp, path)


def describe(exc):
    inner = exc
    for _ in range(10):
        n = getattr(inner, "inner_exception", None)
        if n is None:
            break
        inner = n
    t = type(inner)
    return {"type": t.__name__, "module": t.__module__, "message": str(inner), "traceback": "".join(traceback.format_exception(t, inner, inner.__traceback__))[-20000:]}


def failed(record, exc, inputs, data=None):
    """Keeps what went wrong, unless an inner record has it already; then this one stays behind as the second choice."""
    if record.state == "failed":  # it failed before, as in a comparison: the first time has the inputs
        try:
            exc._whittle_record = record.id
        except Exception:
            pass
        return
    if data is None:  # all of it, unless the disk would be full then
        try:
            data = shutil.disk_usage(HOME).free // 2
        except OSError:
            data = CRASH_DATA
    inner = seen(exc)
    if inner:
        record.info["inner"] = inner
    record.put("failed", inputs, data, exc)
    record.closed = True
    try:
        if not inner:
            exc._whittle_record = record.id
    except Exception:
        pass
    _watch_exit()


def seen(exc):
    for e in chain(exc):
        r = getattr(e, "_whittle_record", None)
        if r:
            return r
    return None


def chain(exc):
    out = []
    todo = [exc]
    while todo and len(out) < 50:
        e = todo.pop()
        if e is None or any(e is o for o in out):
            continue
        out.append(e)
        todo += [e.__context__, e.__cause__, getattr(e, "inner_exception", None)]
    return out


def _watch_exit():
    """From now on, note which exception ends the program."""
    global _hooked
    if _hooked:
        return
    _hooked = True
    before = sys.excepthook

    def hook(t, e, tb):
        try:
            _write(os.path.join(HOME, "uncaught-%d" % os.getpid()), json.dumps({"record": seen(e), "exception": describe(e)}))
        except Exception:
            pass
        return before(t, e, tb)

    sys.excepthook = hook


def control_flow(exc):
    """Exceptions by which dynamo steers itself."""
    import torch._dynamo.exc as ex

    kinds = tuple(k for k in (getattr(ex, n, None) for n in ("RestartAnalysis", "SkipFrame", "TensorifyScalarRestartAnalysis", "UnspecializeRestartAnalysis", "Unsupported")) if isinstance(k, type))
    return isinstance(exc, kinds)


# ---------------------------------------------------------------- after aot


def _around_aot(original):
    @functools.wraps(original)
    def wrap_compiler_debug(compiler_fn, compiler_name, *args, **kw):
        wrapped = original(compiler_fn, compiler_name, *args, **kw)

        @functools.wraps(wrapped)
        def compile_graph(gm, example_inputs, *a, **k):
            if EAGER:
                outer = getattr(_state, "backend", None)
                if outer is not None:
                    outer.inner += 1
                return _boxed(_copy(gm))
            try:
                rec = Record("aot", gm, compiler_name, None)
                real = _real_inputs(example_inputs)
                rec.put("compile", real or example_inputs, 0)
                reference = _copy(gm) if LEVEL >= 4 else None
                outer = getattr(_state, "backend", None)
                if outer is not None:
                    outer.inner += 1
                kept = real or list(example_inputs)
            except Exception as e:
                trouble("before a compile", e)
                return wrapped(gm, example_inputs, *a, **k)
            try:
                out = wrapped(gm, example_inputs, *a, **k)
            except Exception as e:
                if control_flow(e):
                    rec.done()
                else:
                    failed(rec, e, kept)
                raise
            except BaseException:
                rec.done()
                raise
            del kept, real
            try:
                return _watch_run(rec, out, reference)
            except Exception as e:
                trouble("after a compile", e)
                rec.done()
                return out

        return compile_graph

    wrap_compiler_debug._whittle = True
    return wrap_compiler_debug


def _watch_run(rec, out, reference):
    """Has the compiled graph's first run recorded. The object that torch gets stays the one that it made."""
    rec.done()
    if isinstance(out, str) or not callable(out):
        return out
    holder = out if hasattr(out, "current_callable") and callable(out.current_callable) else None
    inner = holder.current_callable if holder is not None else out
    todo = [reference]  # emptied by the first run
    eager = _boxed(reference) if reference is not None else None

    def run(inputs):
        if _uncompiled and eager is not None:
            return eager(inputs)
        held = None
        try:
            ref, first = todo.pop(), True
        except IndexError:
            first = False
        if first:
            # A boxed call gives its inputs away. Only the first run holds on to them.
            held = list(inputs)
            rec.put("run", held, CRASH_DATA)
            if ref is not None and _diverges(ref, inner, held):
                rec.put("failed", held, shutil.disk_usage(HOME).free // 2, None, accuracy=True)
                _state.diverged = rec.id
        try:
            out = inner(inputs)
        except Exception as e:
            failed(rec, e, held)
            raise
        except BaseException:
            if rec.state == "run":
                rec.done()
            raise
        if rec.state == "run":
            rec.done()
        return out

    if holder is not None:
        holder.current_callable = run
        return holder
    for k, v in getattr(out, "__dict__", {}).items():
        setattr(run, k, v)
    run._boxed_call = True
    return run


def _boxed(gm):
    """A graph as it is, called as compiled ones are: with a list of inputs, which it empties."""

    def run(inputs):
        args = list(inputs)
        inputs.clear()
        with torch.no_grad():
            return list(gm(*args))

    run._boxed_call = True
    return run


def _copy(gm):
    import copy

    return torch.fx.GraphModule(gm, copy.deepcopy(gm.graph))


def _real_inputs(fakes):
    """The backend's real inputs, where the graph after aot takes them one by one."""
    outer = getattr(_state, "backend", None)
    if outer is None or len(outer.inputs) != len(fakes):
        return None
    for a, b in zip(outer.inputs, fakes):
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
            return None
        if isinstance(a, torch.Tensor) and (a.dtype != b.dtype or [hint(x) for x in a.shape] != [hint(x) for x in b.shape] or is_fake(a)):
            return None
        if isinstance(a, torch.Tensor) and [hint(x) for x in a.stride()] != [hint(x) for x in b.stride()]:
            return None
    return list(outer.inputs)


def _diverges(reference, compiled, inputs, plain=False):
    """PyTorch's comparison of a graph with its compiled form, without a trace of it: no output, the same random numbers after."""
    import logging

    from torch._dynamo import debug_utils

    draws = random_nodes(reference)
    if draws:
        import torch._inductor.config as c

        if not c.fallback_random:  # eager and compiled draw other numbers by design
            trouble("not compared", ValueError("%s draws random numbers; torch._inductor.config.fallback_random makes that comparable" % draws[0]))
            return False
    state = torch.random.get_rng_state()

    def again(*a):
        torch.random.set_rng_state(state)  # the numbers that eager drew
        return compiled(*a)

    if not plain:
        again._boxed_call = True
    again.named_parameters, again.named_buffers, again.zero_grad = reference.named_parameters, reference.named_buffers, lambda *_: None
    quiet = [logging.getLogger(n) for n in ("torch._dynamo.debug_utils", "torch._dynamo.utils")]
    was = [l.disabled for l in quiet]
    rng = torch.random.get_rng_state()
    try:
        for l in quiet:
            l.disabled = True
        forward_only = not plain or torch._dynamo.config.repro_forward_only
        if STRICT:
            return _strictly_apart(reference, again, inputs, forward_only, state)
        return not debug_utils.same_two_models(reference, again, inputs, only_fwd=forward_only)
    except Exception as e:
        trouble("comparing", e)
        return False
    finally:
        torch.random.set_rng_state(rng)
        for l, w in zip(quiet, was):
            l.disabled = w


def _beside(name):
    """What a file defines that lies beside this one. It is no module: the program may have one of that name."""
    names = {"__name__": "whittle_" + name}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")) as f:
        exec(compile(f.read(), f.name, "exec"), names)
    return names


def _strictly_apart(reference, compiled, inputs, forward_only, state):
    """Whether what is compiled is further from eager than rounding explains."""
    import copy

    from torch._dynamo.debug_utils import clone_inputs_retaining_gradness, run_fwd_maybe_bwd

    strict = _beside("strict")

    def eager(gm, args):
        torch.random.set_rng_state(state)
        return run_fwd_maybe_bwd(gm, args, forward_only)

    def otherwise(rounding):
        gm, args = copy.deepcopy(reference), clone_inputs_retaining_gradness(inputs)
        rounding.nudge_all([*args, *gm.parameters(), *gm.buffers()])
        with rounding.mode():
            return eager(gm, args)

    ref = eager(reference, inputs)
    got = run_fwd_maybe_bwd(compiled, inputs, forward_only)
    if not strict["far"](ref, got, []):  # equal but for some ulps: no noise has to be known
        return False
    return bool(strict["far"](ref, got, strict["runs_of"](otherwise)))


# ---------------------------------------------------------------- after dynamo


class _Backend:
    def __init__(self, inputs):
        self.inputs, self.inner = list(inputs), 0


def _around_backend(original):
    @functools.wraps(original)
    def __call__(self, gm, example_inputs, *a, **k):
        fn = getattr(self, "_torchdynamo_orig_callable", None) or getattr(self, "_torchdynamo_orig_backend", None)
        return _backend_call(lambda *x, **y: original(self, *x, **y), fn, getattr(self, "_compiler_name", None), gm, example_inputs, a, k)

    __call__._whittle = True
    return __call__


def _around_wrap(original):
    @functools.wraps(original)
    def wrap_backend_debug(fn, name, *args, **kw):
        wrapped = original(fn, name, *args, **kw)

        @functools.wraps(wrapped)
        def call(gm, example_inputs, *a, **k):
            return _backend_call(wrapped, fn, name, gm, example_inputs, a, k)

        return call

    return wrap_backend_debug


def _backend_call(call, fn, name, gm, inputs, a, k):
    try:
        who = backend_of(fn, name)
        rec = Record("dynamo", gm, who["name"], who)
        rec.put("compile", inputs, CRASH_DATA)
        reference = _copy(gm) if LEVEL >= 4 else None
        before = getattr(_state, "backend", None)
        _state.backend = mine = _Backend(inputs)
    except Exception as e:
        trouble("before a backend", e)
        return call(gm, inputs, *a, **k)
    kept = list(inputs)
    try:
        out = call(gm, inputs, *a, **k)
    except Exception as e:
        if control_flow(e):
            rec.done()
        else:
            failed(rec, e, kept)
        raise
    except BaseException:
        rec.done()
        raise
    finally:
        _state.backend = before
    try:
        rec.mark("idle")
        return _watch_backend_run(rec, out, reference, mine.inner)
    except Exception as e:
        trouble("after a backend", e)
        return out


def _watch_backend_run(rec, out, reference, inner):
    if not callable(out):
        return out
    todo = [reference]

    def run(*args):
        try:
            ref, first = todo.pop(), True
        except IndexError:
            first = False
        if first:
            if inner == 0:
                rec.put("run", args, CRASH_DATA)
            else:  # the graphs inside of it record themselves
                rec.mark("run")
            if ref is not None:
                _state.diverged = None
                if _diverges_backend(ref, out, args):
                    # After aot it is the smaller repro, but not every such graph fails again on its own.
                    if _state.diverged:
                        rec.info["inner"] = _state.diverged
                    # Where the graphs after aot differ without being compiled, something went wrong before they were compiled. What
                    # compiling does to them, if anything, is another failure.
                    if inner > 0 and _diverges_eagerly(ref, out, args):
                        rec.info["above"] = True
                    rec.put("failed", args, shutil.disk_usage(HOME).free // 2, None, accuracy=True)
        try:
            r = out(*args)
        except Exception as e:
            failed(rec, e, args)
            raise
        except BaseException:
            if rec.state == "run":
                rec.done()
            raise
        if rec.state == "run":
            rec.done()
        return r

    for k, v in getattr(out, "__dict__", {}).items():
        if k not in ("_torchdynamo_orig_callable", "_torchdynamo_orig_backend", "__wrapped__") and isinstance(k, str):
            try:
                setattr(run, k, v)
            except Exception:
                pass
    return run


def random_nodes(gm):
    """The calls of a graph, sub-graphs included, that draw random numbers."""
    may_draw = _beside("draws")["may_draw"]
    out = []
    for m in gm.modules():
        if isinstance(m, torch.fx.GraphModule):
            for n in m.graph.nodes:
                if n.op not in ("call_function", "call_method"):
                    continue
                t = n.target
                name = t if isinstance(t, str) else getattr(t, "_opname", None) or getattr(t, "__name__", "")
                draws = may_draw(name, n.args, n.kwargs)
                if draws or draws is None and torch.Tag.nondeterministic_seeded in (getattr(t, "tags", None) or ()):
                    out.append(n.name)
        elif m.training and "Dropout" in type(m).__name__ or "RReLU" in type(m).__name__ and m.training:
            out.append(type(m).__name__)
    return out


def _diverges_backend(reference, out, args):
    # With gradients, PyTorch runs backward too; the graph's own calling form stays the plain one.
    return _diverges(reference, out, list(args), plain=True)


def _diverges_eagerly(reference, out, args):
    """The same comparison, with the graphs after aot as they were before the compiler had them."""
    global _uncompiled
    _uncompiled = True
    try:
        return _diverges_backend(reference, out, args)
    finally:
        _uncompiled = False


def backend_of(fn, name):
    """Says what a backend is: a name that torch knows, or an object with a name at the top of a file that defines it."""
    layers = []
    while fn is not None and len(layers) < 10 and not any(fn is l for l in layers):
        layers.append(fn)
        if isinstance(fn, functools.partial):
            fn = fn.func
            continue
        nxt = getattr(fn, "compiler_fn", None) or getattr(fn, "_torchdynamo_orig_callable", None) or getattr(fn, "_torchdynamo_orig_backend", None)
        if nxt is None or not callable(nxt):
            break
        fn = nxt
    inner = layers[-1] if layers else fn
    mod = getattr(inner, "__module__", None) or type(inner).__module__
    who = {"name": name or getattr(inner, "__name__", None) or type(inner).__name__, "module": mod}
    if (mod or "").split(".")[0] in ("torch", "functorch", "torch_tensorrt", "torch_xla", "builtins"):
        who["known"] = True
        return who
    file = None
    # A function, an instance, a partial or a lambda: what counts is that a module's variable holds it.
    for m in [sys.modules.get("__main__"), sys.modules.get(mod)]:
        for l in layers:
            if m is not None and file is None:
                for k, v in list(vars(m).items()):
                    if v is l:
                        who["function"], who["module"], file = k, m.__name__, getattr(m, "__file__", None)
                        break
    if not who["name"].isidentifier():
        who["name"] = who["function"] if "function" in who else re.sub(r"\W", "_", who["name"])
    code = getattr(inner, "__code__", None)
    if code is not None:
        file, who["line"] = file or code.co_filename, code.co_firstlineno
    nested = lifted(inner) if "function" not in who else None
    if nested:
        who["function"], who["source"], who["file"] = inner.__name__, nested, os.path.join(_cwd, file or "")
        return who
    if "function" not in who:
        who["function"] = getattr(inner, "__qualname__", None) or "an instance of " + type(inner).__qualname__
        if "." not in who["function"] and "<" not in who["function"]:
            who["function"] += " (not a variable of its module)"
    if not file:
        return who
    who["installed"] = "site-packages" in file or "dist-packages" in file
    who["file"] = os.path.join(_cwd, file)
    try:
        with open(who["file"], encoding="utf-8") as f:
            who["source"] = f.read()
    except (OSError, ValueError):
        pass
    return who


def lifted(fn):
    """The source of a module with a function of it that is defined inside of another one appended, and what that closes over. None
    where that cannot be written."""
    import inspect
    import textwrap
    import types

    done = set()

    def lift(f):
        if f.__name__ in done:
            return ""
        done.add(f.__name__)
        text = textwrap.dedent(inspect.getsource(f))
        if not text.startswith(("def ", "@")):
            raise TypeError("%s is no function statement" % f.__name__)
        before = ""
        for k, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            v = cell.cell_contents
            if isinstance(v, types.ModuleType):
                before += "import %s as %s\n" % (v.__name__, k)
            elif isinstance(v, types.FunctionType):
                before += lift(v)
                if v.__name__ != k:
                    before += "%s = %s\n" % (k, v.__name__)
            else:
                if ast.literal_eval(repr(v)) != v:
                    raise TypeError("the value of %s" % k)
                before += "%s = %r\n" % (k, v)
        return before + text.rstrip() + "\n"

    try:
        added = lift(fn)
        with open(os.path.join(_cwd, fn.__code__.co_filename), encoding="utf-8") as f:
            return f.read().rstrip() + "\n" + added
    except Exception as e:
        trouble("the source of backend %s" % getattr(fn, "__name__", fn), e)
        return None


# ---------------------------------------------------------------- text


def placeholder_names(gm):
    return [n.target for n in gm.graph.nodes if n.op == "placeholder"]


def config_text():
    """The settings that differ from the default, one a line, in so far as they can be written."""
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    mods = [torch._dynamo.config, torch._inductor.config, torch._functorch.config]
    out = ["import torch._dynamo.config", "import torch._inductor.config", "import torch._functorch.config"]
    try:
        import torch.fx.experimental._config

        mods.append(torch.fx.experimental._config)
        out.append("import torch.fx.experimental._config")
    except ImportError:
        pass
    for m in mods:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about settings that cannot be written
                lines = m.codegen_config().split("\n")
        except Exception as e:
            trouble("settings", e)
            continue
        out += [l for l in lines if _is_python(l)]
    return "\n".join(out) + "\n"


@functools.lru_cache(None)
def _is_python(line):
    try:
        compile(line, "settings", "exec")
        return bool(line)
    except (SyntaxError, ValueError):
        return False


def graph_text(gm):
    """Imports that the code needs, and the classes: sub-graphs first, each under a name of its own."""
    imports = {}
    out = []
    _class(gm, "Repro", out, imports)
    return "".join("%s\n" % l for l in imports), "\n".join(out)


def _class(gm, name, out, imports):
    lines = []
    done = set()
    for n in gm.graph.nodes:
        if n.op not in ("get_attr", "call_module") or n.target in done:
            continue
        done.add(n.target)
        parts = n.target.split(".")
        value = gm
        for i, p in enumerate(parts):
            value = getattr(value, p)
            if i + 1 < len(parts):
                path = ".".join(parts[: i + 1])
                if path not in done:
                    done.add(path)
                    lines.append("self.%s = torch.nn.Module()" % path)
        where = "self." + n.target
        if isinstance(value, torch.fx.GraphModule):
            sub = name + "_" + "".join(c if c.isalnum() else "_" for c in n.target)
            _class(value, sub, out, imports)
            lines.append("%s = %s()" % (where, sub))
        elif isinstance(value, torch.nn.Parameter):
            lines.append("%s = torch.nn.Parameter(%s, requires_grad=%r)" % (where, constant(value), value.requires_grad))
        elif isinstance(value, torch.Tensor):
            if len(parts) == 1:
                lines.append("self.register_buffer(%r, %s)" % (n.target, constant(value)))
            else:
                lines.append("%s = %s" % (where, constant(value)))
        elif isinstance(value, torch.nn.Module):
            lines.append("%s = %s" % (where, module_text(value)))
        else:
            lines.append('%s = _unread_("""%s""")' % (where, str(type(value))))
    code = gm.graph.python_code("self")
    for key, obj in code.globals.items():
        mod, qual = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
        if mod in ("operator", "_operator", "math") and qual and key != qual:
            imports["from %s import %s as %s" % (mod.lstrip("_"), qual, key)] = True
    text = "class %s(torch.nn.Module):\n    def __init__(self) -> None:\n        super().__init__()\n" % name
    text += "".join("        %s\n" % l for l in lines)
    text += "\n" + "\n".join("    " + l if l.strip() else "" for l in code.src.strip("\n").split("\n")) + "\n"
    out.append(text)


def module_text(m):
    r = repr(m)
    if "\n" not in r:
        return r
    if type(m) in (torch.nn.Sequential, torch.nn.ModuleList) and list(m._modules) == [str(i) for i in range(len(m))]:
        parts = [module_text(c) for c in m]
        if not any("_unread_" in p for p in parts):
            inside = ", ".join(parts)
            return "Sequential(%s)" % inside if type(m) is torch.nn.Sequential else "ModuleList([%s])" % inside
    return '_unread_("""%s""")' % r.replace('"""', "'''")


def constant(t):
    """An expression with a tensor's true values."""
    t = t.detach()
    if is_fake(t) or t.layout != torch.strided:
        shape = [hint(s) for s in t.shape]
        return "torch.randn(%s, dtype=%s)" % (shape, t.dtype) if t.dtype.is_floating_point else "torch.randint(1, size=%s, dtype=%s)" % (shape, t.dtype)
    where = "" if t.device.type == "cpu" else ", device=%r" % str(t.device)
    cpu = t.cpu().resolve_conj().resolve_neg()
    if t.numel() <= INLINE:
        wide = cpu.to(torch.float32) if cpu.dtype.is_floating_point and cpu.dtype.itemsize == 1 else cpu
        e = "torch.tensor(%s, dtype=%s%s)" % (numbers(wide.tolist()), t.dtype, where)
    else:
        c = cpu.contiguous()
        raw = base64.b64encode(raw_bytes(c.data_ptr(), c.numel() * c.element_size())).decode()
        e = "torch.frombuffer(bytearray(__import__('base64').b64decode('%s')), dtype=%s).reshape(%s)" % (raw, t.dtype, list(t.shape))
        if where:
            e += ".to(%r)" % str(t.device)
    if not t.is_contiguous():
        e = "torch.empty_strided(%s, %s, dtype=%s%s).copy_(%s)" % (tuple(t.shape), t.stride(), t.dtype, where, e)
    return e


def numbers(v):
    if isinstance(v, list):
        return "[" + ", ".join(numbers(x) for x in v) + "]"
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        return "float('%r')" % v
    if isinstance(v, complex) and not (abs(v.real) < float("inf") and abs(v.imag) < float("inf")):
        return "complex(%s, %s)" % (numbers(v.real), numbers(v.imag))
    return repr(v)


def raw_bytes(ptr, n):
    return bytes((ctypes.c_ubyte * n).from_address(ptr)) if n else b""


def is_fake(t):
    return t.device.type == "meta" or hasattr(t, "fake_mode") or type(t).__name__ == "FakeTensor"


def hint(x):
    if isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        h = getattr(x.node, "hint", None)
        return h if h is not None else 2
    return x


def input_lines(names, args, save_dir, bound, digests):
    """The statements of load_args, and whether a size is symbolic. digests has the storages that were written before, and gets the others."""
    lines, bufs, left, symbolic = [], {}, [bound], False
    for name, a in zip(names, list(args) + [None] * (len(names) - len(args))):
        if isinstance(a, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            symbolic = True
            lines.append("reader.symint(%r)  # %s" % (hint(a), name))
        elif a is None or isinstance(a, (bool, int, float)):
            lines.append("reader.symint(%r)  # %s" % (a, name))
        elif isinstance(a, torch.Tensor):
            if any(isinstance(s, torch.SymInt) for s in tuple(a.shape)):
                symbolic = True
            try:
                lines += tensor_lines(name, a, bufs, save_dir, left, digests)
            except Exception as e:
                lines.append("# %s was unsupported type for dumping: %s (%s)" % (name, type(a), str(e).split("\n")[0]))
        else:
            lines.append("# %s was unsupported type for dumping: %s" % (name, type(a)))
    return symbolic, lines


def tensor_lines(name, t, bufs, save_dir, left, digests):
    shape, dev = tuple(hint(s) for s in t.shape), t.device
    where = "" if dev.type == "cpu" else ", device=%r" % str(dev)
    if not is_fake(t) and torch._is_zerotensor(t):
        return ["reader.symint(torch._efficientzerotensor(%s, dtype=%s%s))  # %s" % (shape, t.dtype, where, name)]
    if t.layout != torch.strided:
        if t.layout == torch.sparse_coo and not is_fake(t) and t._nnz() <= INLINE:
            return ["reader.symint(torch.sparse_coo_tensor(%s, %s, %s))  # %s" % (numbers(t._indices().tolist()), constant(t._values()), shape, name)]
        raise TypeError("layout %s" % t.layout)
    out = []
    st = t.untyped_storage()
    key = st._cdata
    if key not in bufs:
        bufs[key] = "buf%d" % len(bufs)
        n = hint(st.nbytes())
        extra = "" if dev.type == "cpu" else ", device=%r" % dev
        if t.dtype != torch.float32:
            extra += ", dtype_hint=%r" % t.dtype
        digest = digests.get(key)
        if digest is None and not is_fake(t) and (left[0] is None or n <= left[0]):
            digest = digests[key] = store(st, n, save_dir)
            if left[0] is not None:
                left[0] -= n
        out.append("%s = reader.storage(%r, %d%s)" % (bufs[key], digest, n, extra))
    args = [bufs[key], str(shape)]
    stride = tuple(hint(s) for s in t.stride())
    if stride != contiguous(shape):
        args.append(str(stride))
    if t.dtype != torch.float32:
        args.append("dtype=%r" % t.dtype)
    if hint(t.storage_offset()):
        args.append("storage_offset=%d" % hint(t.storage_offset()))
    if not is_fake(t):
        args += ["%s=%r" % kv for kv in (torch._utils.get_tensor_metadata(t) or {}).items()]
    if t.requires_grad:
        args.append("requires_grad=True")
    if t.is_leaf:
        args.append("is_leaf=True")
    return out + ["reader.tensor(%s)  # %s" % (", ".join(args), name)]


def contiguous(shape):
    out, n = [], 1
    for s in reversed(shape):
        out.append(n)
        n *= max(s, 1)
    return tuple(reversed(out))


def store(st, n, save_dir):
    cpu = st if st.device.type == "cpu" else st.cpu()
    digest = hashlib.sha1((ctypes.c_ubyte * n).from_address(cpu.data_ptr()) if n else b"").hexdigest()
    folder = os.path.join(save_dir, "storages")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, digest)
    if not os.path.exists(path):
        torch.save(st, path + ".tmp")
        os.replace(path + ".tmp", path)
    return digest
