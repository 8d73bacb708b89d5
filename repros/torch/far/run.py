"""The job "run": one candidate through eager, compiler and kernels."""
import traceback

from .batch import compile_together
from .blame import Graphs, Kernels
from .choices import Choices
from .graphs import clones, text_names, twin
from .headers import share_headers
from .judge import compare
from .load import arguments, draws, run_text, settle
from .marks import Watch
from .outcome import describe, failed, invalid, outcome
from .pool import ask_for_libraries
from .said import remember
from .steps import Steps
from .syntax import only_look


def query(server):
    def work(job, mark):
        import torch
        settle(job)
        share_headers(server.tmp)
        remember()
        if job.get("until") == "built":
            only_look()
        else:
            if not job.get("idle"):
                ask_for_libraries(mark)
            if (job.get("compile_threads") or 1) > 1:
                compile_together(mark, job["compile_threads"])
        try:
            ns = run_text(job)
            args = arguments(server, ns, job)
        except Exception as e:
            return outcome("invalid", "loading: " + describe(e), detail=traceback.format_exc()[-4000:])
        mark("loaded")
        if job.get("accuracy") and draws(job["text"]):
            torch._inductor.config.fallback_random = True
        if job.get("choose") is not None:
            Choices(job["choose"], mark).install()
        return (after_aot if job["stage"] == "aot" else after_dynamo)(ns, args, job, mark, Steps(job, mark))
    return work


def after_aot(ns, args, job, mark, steps):
    import torch
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx
    with torch.no_grad():
        try:
            gm = make_fx(ns["mod"], tracing_mode=job.get("tracing") or "real")(*args)
            if job.get("tracing", "real") != "real":
                ns["mod"](*clones(args))
        except Exception as e:
            return invalid(e)
        mark("eager")
        torch._inductor.config.generate_intermediate_hooks = True
        kernels = Kernels(gm, text_names(gm, job["text"]))
        if job.get("locate"):
            Watch(mark.page).begin(kernels)
        eager = twin(gm) if job.get("accuracy") else None  # the compiler edits the graph that it gets
        try:
            compiled = compile_fx_inner(gm, args)
        except Exception as e:
            return kernels.blame(failed(e, "compile"), e)
        steps.come("built")
        mark("compiled")
        if job.get("accuracy"):
            return compare(eager, compiled, args, True, job, mark, locate=kernels)
        try:
            compiled(list(args))
        except Exception as e:
            return kernels.blame(failed(e, "run"), e)
        mark("ran")
        return outcome("pass")


def after_dynamo(ns, args, job, mark, steps):
    import torch
    from torch._dynamo.debug_utils import run_fwd_maybe_bwd
    mod, forward_only = ns["mod"], bool(job.get("only_fwd"))
    graphs = Graphs(job)
    try:
        backend = find_backend(job["backend"], ns)
    except Exception as e:
        return invalid(e)
    if job["backend"] == "inductor" and (job.get("locate") or job.get("accuracy")):
        backend = graphs.compile
        torch._inductor.config.generate_intermediate_hooks = bool(job.get("locate") and job.get("accuracy"))

    def marked(gm, inputs, **kwargs):
        steps.come("backend")
        f = backend(gm, inputs, **kwargs)
        steps.come("built")
        if not marked.compiled:
            marked.compiled = True
            mark("compiled")
        return f
    marked.compiled = False
    with torch.amp.autocast("cuda", enabled=bool(job.get("autocast"))):
        try:
            if job.get("accuracy"):
                mod.eval()
            torch.manual_seed(0)
            run_fwd_maybe_bwd(mod, args, forward_only)
        except Exception as e:
            return invalid(e)
        mark("eager")
        if job.get("locate"):
            graphs.watch = Watch(mark.page, graphs.lines)
        compiles = graphs.compiles = Nested(mark.compiling)
        torch._dynamo.callback.on_compile_start(lambda *_: compiles(True))
        torch._dynamo.callback.on_compile_end(lambda *_: compiles(False))
        opt = torch._dynamo.optimize(marked)(mod)
        if job.get("accuracy"):
            opt.eval()
            return compare(mod, opt, args, torch._dynamo.config.repro_forward_only, job, mark, lambda: marked.compiled, graphs, graphs.place)
        try:
            run_fwd_maybe_bwd(opt, args, forward_only, disable_clone=True)
        except Exception as e:
            return graphs.blame(failed(e, "run" if marked.compiled else "compile"), e)
        if not marked.compiled:
            return outcome("invalid", "nothing was compiled")
        mark("ran")
        return outcome("pass")


class Nested:
    """Passes on that something begins and ends, but not what begins while it lasts."""

    def __init__(self, say):
        self.say, self.depth = say, 0

    def __call__(self, begins):
        self.depth += 1 if begins else -1
        if self.depth == int(begins):
            self.say(begins)


def find_backend(name, ns):
    from torch._dynamo.backends.registry import lookup_backend
    try:
        return lookup_backend(name)
    except Exception:
        if callable(ns.get(name)):
            return ns[name]
        raise
