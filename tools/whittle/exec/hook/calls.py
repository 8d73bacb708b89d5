# Loaded into the user's process by sitecustomize.py when torch is imported, in the place of the recorder, for `whittle bisect --calls`.
#
# It writes a line for each call of something that torch.compile made, with checksums of what it returned, and for each step of an optimizer, with those of
# the gradients and the parameters that it starts from: calls.jsonl in the private folder. Two runs whose lines agree computed the same.
import functools
import gc
import json
import os
import sys

import torch

HOME = ""
EVERY, FROM, TO = 1, 0, None
_count = 0
_names = {}  # of parameters, by id
_out = None


def start(home, cwd):
    global HOME, EVERY, FROM, TO, _out
    HOME = home
    with open(os.path.join(home, "settings.json")) as f:
        s = json.load(f)["calls"]
    EVERY, FROM, TO = s["every"], s["from"], s["to"]
    try:
        _out = open(os.open(os.path.join(home, "calls.jsonl"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "w", buffering=1)
    except FileExistsError:  # another process of the program was first
        return
    if s["eager"]:
        torch.compiler.set_stance("force_eager")
    else:  # random numbers are eager's
        from torch._inductor import config
        config.fallback_random = True


def attach(module):
    if _out is None:
        return
    torch.compile = _around_compile(torch.compile)
    from torch.optim.optimizer import register_optimizer_step_pre_hook
    register_optimizer_step_pre_hook(_step)


def _around_compile(original):
    @functools.wraps(original)
    def compile(model=None, **kw):
        if model is None:
            return lambda m: compile(m, **kw)
        out = original(model, **kw)
        what = getattr(model, "__qualname__", None) or type(model).__name__
        if isinstance(out, torch.nn.Module):
            out.register_forward_hook(lambda m, args, result: _call(what, result))
            return out

        @functools.wraps(out)
        def watched(*args, **kwargs):
            result = out(*args, **kwargs)
            if not torch.compiler.is_compiling():
                _call(what, result)
            return result
        return watched
    return compile


def _wanted():
    global _count
    n = _count
    _count += 1
    return n, n >= FROM and (TO is None or n < TO) and (n - FROM) % EVERY == 0


def _call(what, result):
    n, wanted = _wanted()
    if not wanted:
        return
    from torch.utils._pytree import tree_leaves
    values = [("output %d" % i, x) for i, x in enumerate(tree_leaves(result)) if isinstance(x, torch.Tensor)]
    _write(n, "call", what, values)


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
    _write(n, "step", type(optimizer).__name__, values)


def _name(p):
    """What the outermost module calls a parameter."""
    if id(p) not in _names:
        for m in [x for x in gc.get_objects() if issubclass(type(x), torch.nn.Module)]:
            for name, q in m.named_parameters():
                name = name.replace("_orig_mod.", "")
                if len(name) > len(_names.get(id(q), "")):
                    _names[id(q)] = name
    return _names.get(id(p), "")


def _write(n, kind, what, values):
    frame, here, home = sys._getframe(1), os.path.abspath(__file__), os.path.dirname(torch.__file__) + os.sep
    while frame is not None and (frame.f_code.co_filename == here or frame.f_code.co_filename.startswith((home, "<"))):
        frame = frame.f_back
    at = "%s:%d" % (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ""
    with torch.no_grad():
        checks = [dict(_checksum(x), name=name) for name, x in values]
    _out.write(json.dumps({"n": n, "kind": kind, "what": what, "at": at, "values": checks}) + "\n")


def _checksum(x):
    """Sums over a tensor's finite elements, in float64: plain, of magnitudes, and weighted by place, so that elements that change places show."""
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
