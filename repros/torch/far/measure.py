"""The job "measure": how fast and how accurate a compiled graph is, in numbers."""
import copy
import time
import traceback

from .graphs import clones, flat, twin
from .load import arguments, draws, run_text, settle
from .outcome import describe, outcome
from .run import find_backend

WARM = 3  # runs before any is timed
SAMPLE, MOST, COPIES = 0.02, 500, 256 << 20  # seconds of a sample, runs in it, and bytes of inputs made for it, at most
ACCEPTED, SMALL = 2, 0.1  # PyTorch accepts so many times eager's own error against float64, and that share of its tolerance besides


def measure(server):
    """Samples by name. Times are in seconds, memory in bytes; errors are shares of what PyTorch's rule for accuracy allows."""
    def work(job, mark):
        import torch
        settle(job)
        try:
            ns = run_text(job)
            args = arguments(server, ns, job)
        except Exception as e:
            return outcome("invalid", "loading: " + describe(e), detail=traceback.format_exc()[-4000:])
        mark("loaded")
        if draws(job["text"]):
            torch._inductor.config.fallback_random = True
        try:
            return {"figures": (after_aot if job["stage"] == "aot" else after_dynamo)(ns, args, job, mark)}
        except Exception as e:
            return outcome("invalid", "measuring: " + describe(e), detail=traceback.format_exc()[-4000:])
    return work


def after_aot(ns, args, job, mark):
    import torch
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx
    with torch.no_grad():
        gm = make_fx(ns["mod"], tracing_mode=job.get("tracing") or "real")(*args)
        eager = twin(gm)
        before = memory(True)
        begin = time.perf_counter()
        inner = compile_fx_inner(gm, clones(args))
        took = time.perf_counter() - begin
        figures = compared(eager, lambda *a: inner(list(a)), args, job, mark, lambda: took)
    figures["peak_memory"] = [memory(False) - before]
    return figures


def after_dynamo(ns, args, job, mark):
    import torch
    from torch._dynamo.convert_frame import FRAME_COMPILE_COUNTER
    from torch._dynamo.utils import counters
    mod = ns["mod"]
    backend = find_backend(job["backend"], ns)
    took = [0.0]

    def timed(gm, inputs, **kwargs):
        begin = time.perf_counter()
        try:
            return backend(gm, inputs, **kwargs)
        finally:
            took[0] += time.perf_counter() - begin
    counters.clear()
    before = memory(True)
    with torch.no_grad(), torch.amp.autocast("cuda", enabled=bool(job.get("autocast"))):
        figures = compared(mod, torch._dynamo.optimize(timed)(mod), args, job, mark, lambda: took[0])
    figures["peak_memory"] = [memory(False) - before]
    figures["graph_breaks"] = [float(sum(counters["graph_break"].values()))]
    figures["recompiles"] = [float(sum(max(n - 1, 0) for n in FRAME_COMPILE_COUNTER.values()))]
    return figures


def compared(eager, compiled, args, job, mark, compile_s):
    """Runs both side by side, so that what disturbs the machine disturbs both."""
    import torch

    def once(f):
        given = clones(args)
        torch.manual_seed(0)
        begin = time.perf_counter()
        result = f(*given)
        return time.perf_counter() - begin, result

    _, ref = once(eager)
    mark("eager")
    _, got = once(compiled)
    mark("compiled")
    mark("ran")
    figures = {"compile_s": [compile_s()], **errors(eager, ref, got, args)}
    for _ in range(WARM):
        slower = max(once(eager)[0], once(compiled)[0])
    # What is shorter than a tick of the machine's noise is run many times for one sample.
    size = sum(x.numel() * x.element_size() for x in flat(args))
    n = max(1, min(int(SAMPLE / max(slower, 1e-7)), MOST, COPIES // max(size, 1)))

    def sample(f):
        given = [clones(args) for _ in range(n)]
        torch.manual_seed(0)
        begin = time.perf_counter()
        for g in given:
            f(*g)
        return (time.perf_counter() - begin) / n
    figures["speedup"] = []
    for _ in range(max(job.get("repeats") or 0, 1)):
        before, compiled_s, after = sample(eager), sample(compiled), sample(eager)
        figures["speedup"].append((before + after) / 2 / max(compiled_s, 1e-9))
    return figures


def errors(eager, ref, got, args):
    """How far the results are from float64, and from eager's."""
    import torch
    from torch._dynamo import config
    from torch._dynamo.debug_utils import cast_to_fp64
    tolerance = config.repro_tolerance or 1e-3
    try:
        model, inputs = cast_to_fp64(copy.deepcopy(eager), clones(args))
        torch.manual_seed(0)
        exact = flat(model(*inputs))
    except Exception as e:
        print("whittle: no float64 reference:", describe(e))
        exact = flat(ref)
    worst, rmse, gap, any_float = 0.0, 0.0, 0.0, False
    for a, b, c in zip(flat(ref), flat(got), exact):
        if not a.dtype.is_floating_point or a.numel() == 0 or not (a.shape == b.shape == c.shape):
            continue
        a, b, c = a.double(), b.double(), c.double()
        fine = torch.isfinite(a) & torch.isfinite(b) & torch.isfinite(c)
        if not fine.any():
            continue
        any_float = True
        a, b, c = a[fine], b[fine], c[fine]
        worst = max(worst, float(((b - a).abs() / (tolerance + tolerance * a.abs())).max()))
        rmse = max(rmse, float(deviation(b, c) / (ACCEPTED * deviation(a, c) + SMALL * tolerance)))
        size = float(b.norm() * c.norm())
        if size > 0:
            gap = max(gap, 1 - min(float(b @ c) / size, 1.0))
    return {"worst": [worst], "rmse": [rmse], "cosine_gap": [gap]} if any_float else {}


def deviation(a, b):
    """The root of the mean square of a difference."""
    return (a - b).square().mean().sqrt()


def memory(reset):
    """The most memory that this process has held since it was last told to forget, in bytes; told to forget, what it holds now."""
    if reset:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    with open("/proc/self/status") as f:
        return float(next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) * 1024)
