"""The job "diverge": where compiled values part from eager's, as a table."""
import contextlib
import copy
import traceback

from .graphs import all_values, clones, flat, intermediates, text_names, twin
from .judge import noisy
from .load import arguments, draws, run_text, settle
from .outcome import describe, outcome
from .run import find_backend
from .strict import far


def diverge(server):
    """Rows of a table: how far eager and compiled values are from float64, buffer by buffer as Inductor makes them, then the outputs."""
    def work(job, mark):
        import torch
        settle(job)
        try:
            ns = run_text(job)
            args = arguments(server, ns, job)
        except Exception as e:
            return outcome("invalid", "loading: " + describe(e), detail=traceback.format_exc()[-4000:])
        torch._inductor.config.generate_intermediate_hooks = True
        if draws(job["text"]):
            torch._inductor.config.fallback_random = True
        rows = []
        try:
            if job["stage"] == "aot":
                from torch._inductor.compile_fx import compile_fx_inner
                from torch.fx.experimental.proxy_tensor import make_fx
                with torch.no_grad():
                    gm = make_fx(ns["mod"], tracing_mode=job.get("tracing") or "real")(*args)
                    eager = twin(gm)
                    table(rows, eager, compile_fx_inner(gm, args), args, job, text_names(gm, job["text"]))
            else:
                try:
                    observed(rows, ns, args, job)
                except Exception:  # some graphs do not compile with hooks in them
                    del rows[:]
                    torch._dynamo.reset()
                    torch._inductor.config.generate_intermediate_hooks = False
                    observed(rows, ns, args, job)
        except Exception as e:
            return {"rows": rows, "error": describe(e)}
        return {"rows": rows, "error": ""}
    return work


def observed(rows, ns, args, job):
    """Rows of the graphs that Inductor gets for an after-dynamo graph, and of its outputs for any backend."""
    import torch
    from torch._dynamo.debug_utils import run_fwd_maybe_bwd
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner
    backend = find_backend(job["backend"], ns)
    if job["backend"] == "inductor":
        def inner(gm, inputs, **options):
            eager = twin(gm)
            compiled = compile_fx_inner(gm, inputs, **options)

            def run(real):
                kept = clones(real)
                out = compiled(list(real))
                real.clear()
                with torch.no_grad():
                    table(rows, eager, compiled, kept, job, {})
                return out
            run._boxed_call = True
            return run

        def backend(gm, inputs):
            return compile_fx(gm, inputs, inner_compile=inner)
    torch.manual_seed(0)
    ref = run_fwd_maybe_bwd(ns["mod"], args, bool(job.get("only_fwd")))
    torch.manual_seed(0)
    got = run_fwd_maybe_bwd(torch._dynamo.optimize(backend)(ns["mod"]), args, bool(job.get("only_fwd")))
    exact = None

    def seeded(model, inputs):
        torch.manual_seed(0)
        return run_fwd_maybe_bwd(model, inputs, bool(job.get("only_fwd")))

    with contextlib.suppress(Exception):
        from torch._dynamo.debug_utils import cast_to_fp64, clone_inputs_retaining_gradness
        exact = seeded(*cast_to_fp64(copy.deepcopy(ns["mod"]), clone_inputs_retaining_gradness(args)))
    compared(rows, ref, got, exact, job, noise=noisy(ns["mod"], args, seeded) if job.get("strict") else ())


def table(rows, gm, compiled, args, job, names):
    import torch
    from torch._dynamo.debug_utils import cast_to_fp64, clone_inputs_retaining_gradness
    from torch._inductor.hooks import intermediate_hook
    eager, double, exact, noise = intermediates(gm, clones(args)), {}, None, noisy(gm, args, all_values) if job.get("strict") else ()
    with contextlib.suppress(Exception):
        model, inputs = cast_to_fp64(copy.deepcopy(gm), clone_inputs_retaining_gradness(args))
        double = intermediates(model, clones(inputs))
        torch.manual_seed(0)
        exact = model(*inputs)
    targets = {n.name: str(n.target) for n in gm.graph.nodes}

    def look(name, value):
        if name in eager:
            rows.append(row(names.get(name, name), targets.get(name, ""), eager[name], value, double.get(name), job, [r[0].get(name) for r in noise]))

    torch.manual_seed(0)
    with intermediate_hook(look):
        got = compiled(clones(args))
    torch.manual_seed(0)
    returned = [names.get(n.name, n.name) for n in torch.utils._pytree.tree_leaves(gm.graph.output_node().args[0]) if isinstance(n, torch.fx.Node)]
    compared(rows, gm(*clones(args)), got, exact, job, returned, [r[1] for r in noise])


def compared(rows, ref, got, exact, job, returned=(), noise=()):
    exact = flat(exact) if exact is not None else []
    noise = [flat(r) for r in noise]
    for i, (a, b) in enumerate(zip(flat(ref), flat(got))):
        rows.append(row("output[%d]" % i, returned[i] if i < len(returned) else "", a, b, exact[i] if i < len(exact) else None, job, [r[i] for r in noise]))


def row(name, target, ref, got, exact, job, noise=()):
    from torch._dynamo import config
    from torch._dynamo.utils import same
    said = []
    if job.get("strict"):
        said = far(ref, got, noise, job.get("tolerance") or 0.0)
        return {"node": name, "target": target, "eager": error(ref, exact), "compiled": error(got, exact), "same": not said, "note": said}
    ok = same(ref, got, exact, tol=job.get("tolerance") or config.repro_tolerance, equal_nan=True, ignore_non_fp=bool(job.get("ignore_non_fp")),
              log_error=lambda m, *a, **k: said.append(m % a if a else m))
    return {"node": name, "target": target, "eager": error(ref, exact), "compiled": error(got, exact), "same": bool(ok), "note": "; ".join(said[:1]) if not ok else ""}


def error(v, exact):
    """Root mean square of the difference, relative to that of the exact value; null where that means nothing."""
    import math
    import torch
    if exact is None or v.shape != exact.shape or v.dtype.is_complex or not v.numel():
        return None
    a, b = v.detach().double(), exact.detach().double()
    norm = b.square().mean().sqrt().item()
    x = (a - b).square().mean().sqrt().item() / (norm or 1.0)
    return x if math.isfinite(x) else ("inf" if x == x else None)
