# Loaded into the user's process by sitecustomize.py while torch is imported, in the place of the recorder, for `whittle bisect --calls` and `whittle ablate`.
#
# It writes a line for each call of something that torch.compile made, with checksums of what it returned, and for each step of an optimizer, with those of
# the gradients and the parameters that it starts from: calls.jsonl in the private folder. Two runs whose lines agree computed the same.
#
# For ablate, torch.compile gets other arguments than the program's, settings are put in place of the program's, and notes.jsonl says what became of it: what
# torch.compile was given, which settings the program changed, when a call began, what it raised, what ended the program. Gradients at the end are a line of
# calls.jsonl, too.
import atexit
import functools
import gc
import importlib
import json
import os
import sys
import time
import weakref

import torch

HOME = ""
CONFIGS = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")
EVERY, FROM, TO = 1, 0, None
EAGER = False  # what torch.compile made runs as it was before
REPLACED = None  # arguments of torch.compile by name
SETTINGS = []  # (name, value)
NOTES = False
_count = 0
_depth = 0  # of watched calls
_names = {}  # of parameters, by id
_leaves = []  # tensors that were given to a watched call and may get gradients: (name, whether a module may know a better one, reference)
_seen = {}  # the last of them with an id: its reference
_defaults = {}  # of settings, by the module's name: what it had when it was imported
_out = _notes = None


def start(home, cwd):
    global HOME, EVERY, FROM, TO, EAGER, REPLACED, SETTINGS, NOTES, _out, _notes
    HOME = home
    with open(os.path.join(home, "settings.json")) as f:
        s = json.load(f)["calls"]
    EVERY, FROM, TO = s["every"], s["from"], s["to"]
    REPLACED, SETTINGS, NOTES = s.get("compile"), s.get("settings") or [], bool(s.get("notes"))
    try:
        _out = open(os.open(os.path.join(home, "calls.jsonl"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "w", buffering=1)
    except FileExistsError:  # another process of the program was first
        return
    if NOTES:
        _notes = open(os.path.join(home, "notes.jsonl"), "w", buffering=1)
        atexit.register(_end)
        _watch_ending()
    EAGER = s["eager"]
    if not EAGER:  # random numbers are eager's
        SETTINGS = SETTINGS + [["torch._inductor.config.fallback_random", True]]


def attach(module):
    if _out is None:
        return
    if module.__name__ in CONFIGS:
        _defaults[module.__name__] = dict(sys.modules[module.__name__].get_config_copy())
    elif module.__name__ == "torch":
        torch.compile = _around_compile(torch.compile)
    else:
        module.register_optimizer_step_pre_hook(_step)


def _around_compile(original):
    @functools.wraps(original)
    def compile(model=None, **kw):
        if model is None:
            return lambda m: compile(m, **kw)
        if EAGER:
            torch.compiler.set_stance("force_eager")
        what = getattr(model, "__qualname__", None) or type(model).__name__
        _note("compile", what=what, arguments={k: v if _plain(v) else getattr(v, "__name__", type(v).__name__) for k, v in kw.items()})
        out = original(model, **_arguments(kw))
        if isinstance(out, torch.nn.Module):
            out.forward = _watched(out.forward, what, out)
            return out
        return functools.wraps(out)(_watched(out, what, model))
    return compile


def _arguments(kw):
    """What torch.compile gets in the place of the program's arguments. A mode and options are for one backend: they go where another one comes."""
    if not REPLACED:
        return kw
    kw = dict(kw)
    if "backend" in REPLACED or "mode" in REPLACED:
        kw.pop("mode", None)
        kw.pop("options", None)
    kw.update(REPLACED)
    return kw


def _watched(fn, what, model):
    def watched(*args, **kwargs):
        global _depth
        if torch.compiler.is_compiling():
            return fn(*args, **kwargs)
        if _depth == 0:
            _prepare(what, model, args, kwargs)
        _depth += 1
        begin = time.perf_counter()
        try:
            result = fn(*args, **kwargs)
        except Exception as e:
            if _depth == 1:
                _note("raised", what=what, **_told(e))
            raise
        finally:
            _depth -= 1
        _call(what, result, time.perf_counter() - begin)
        return result
    return watched


def _prepare(what, model, args, kwargs):
    for name, value in SETTINGS:
        module, at = _place(name)
        if _get(module, at) != value:
            _set(module, at, value)
    if not NOTES:
        return
    _note("begin", what=what, n=_count)
    if _count == 0:
        _note("settings", changed=_changed())
    from torch.utils._pytree import tree_leaves
    for i, x in enumerate(tree_leaves((args, kwargs))):
        _leaf("input %d of call %d" % (i, _count), False, x)
    if isinstance(model, torch.nn.Module):
        for i, p in enumerate(model.parameters()):
            _leaf("parameter %d of call %d" % (i, _count), True, p)


def _leaf(name, parameter, x):
    if not (isinstance(x, torch.Tensor) and x.requires_grad and x.is_leaf):
        return
    before = _seen.get(id(x))
    if before is None or before() is not x:
        _seen[id(x)] = weakref.ref(x)
        _leaves.append((name, parameter, _seen[id(x)]))


def _place(name):
    """The module of a setting, and its name in there."""
    for m in CONFIGS:
        if name.startswith(m + "."):
            return importlib.import_module(m), name[len(m) + 1:].split(".")
    raise ValueError("a setting of no configuration: " + name)


def _get(module, at):
    for a in at:
        module = getattr(module, a)
    return module


def _set(module, at, value):
    setattr(_get(module, at[:-1]), at[-1], value)


def _changed():
    """The settings that the program has changed: (name, what it was, what it is)."""
    out = []
    for m, before in sorted(_defaults.items()):
        for k, v in sorted(importlib.import_module(m).get_config_copy().items()):
            name = m + "." + k
            if k in before and v != before[k] and _plain(v) and _plain(before[k]) and not any(name == s[0] for s in SETTINGS):
                out.append((name, before[k], v))
    return out


def _plain(v):
    if isinstance(v, (list, tuple)):
        return all(_plain(x) for x in v)
    if isinstance(v, dict):
        return all(isinstance(k, str) and _plain(x) for k, x in v.items())
    return v is None or isinstance(v, (bool, int, float, str))


def _note(kind, **fields):
    if _notes is not None:
        _notes.write(json.dumps(dict(fields, kind=kind, at=_at())) + "\n")


def _told(e):
    return {"type": type(e).__name__, "message": str(e)[:4000]}


def _watch_ending():
    """Notes what ends the program. A program that has a hook of its own keeps it."""
    before = sys.excepthook

    def hook(kind, e, tb):
        _note("ended", **_told(e))
        before(kind, e, tb)
    sys.excepthook = hook


def _end():
    values = []  # of the tensors that are still there: how long one lives is not for a layer to keep
    for name, parameter, ref in _leaves:
        x = ref()
        if x is not None:
            values.append(("gradient of " + (parameter and _name(x) or name), x.grad))
    if any(x is not None for _, x in values):
        _write(_count, "end", "the program", values, 0)
    _note("end", n=_count)


def _wanted():
    global _count
    n = _count
    _count += 1
    return n, n >= FROM and (TO is None or n < TO) and (n - FROM) % EVERY == 0


def _call(what, result, seconds):
    n, wanted = _wanted()
    if not wanted:
        return
    from torch.utils._pytree import tree_leaves
    values = [("output %d" % i, x) for i, x in enumerate(tree_leaves(result)) if isinstance(x, torch.Tensor)]
    _write(n, "call", what, values, seconds)


def _step(optimizer, args, kwargs):
    n, wanted = _wanted()
    if not wanted:
        return
    values = []
    for g, group in enumerate(optimizer.param_groups):
        for i, p in enumerate(group["params"]):
            name = _name(p) or "parameter %d of group %d" % (i, g)
            if p.grad is not None:
                values.append(("gradient of " + name, p.grad))
            values.append((name, p))
    _write(n, "step", type(optimizer).__name__, values, 0)


def _name(p):
    """What the outermost module calls a parameter."""
    if id(p) not in _names:
        for m in [x for x in gc.get_objects() if issubclass(type(x), torch.nn.Module)]:
            for name, q in m.named_parameters():
                name = name.replace("_orig_mod.", "")
                if len(name) > len(_names.get(id(q), "")):
                    _names[id(q)] = name
    return _names.get(id(p), "")


def _at():
    """Where in the program this is."""
    frame, here, home = sys._getframe(1), os.path.abspath(__file__), os.path.dirname(torch.__file__) + os.sep
    while frame is not None and (frame.f_code.co_filename == here or frame.f_code.co_filename.startswith((home, "<"))):
        frame = frame.f_back
    return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ""


def _write(n, kind, what, values, seconds):
    with torch.no_grad():
        checks = [dict(_checksum(x), name=name) for name, x in values]
    _out.write(json.dumps({"n": n, "kind": kind, "what": what, "at": _at(), "values": checks, "seconds": seconds}) + "\n")


def _checksum(x):
    """Sums over a tensor's finite elements, in float64: plain, of magnitudes, and weighted by place, so that elements that change places show."""
    if x is None:
        return {"shape": [], "dtype": "none", "sum": 0, "abs": 0, "mix": 0, "odd": 0}
    x = x.detach()
    if x.layout is not torch.strided:
        x = x.to_dense()
    if x.is_complex():
        x = torch.view_as_real(x)
    d = x.double().flatten()
    finite = torch.isfinite(d)
    d = torch.where(finite, d, 0.0)
    weights = torch.cos(torch.arange(d.numel(), dtype=torch.float64, device=d.device) * 0.7)
    return {"shape": list(x.shape), "dtype": str(x.dtype)[6:], "sum": d.sum().item(), "abs": d.abs().sum().item(), "mix": (d * weights).sum().item(), "odd": int((~finite).sum())}
