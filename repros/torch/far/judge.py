"""Whether a compiled graph's results are right."""
import contextlib
import copy

from .graphs import flat, intermediates
from .outcome import describe, failed, invalid, outcome, told
from .strict import far, is_strict, runs_of


def compare(gm, compiled, args, forward_only, job, mark, was_compiled=lambda: True, locate=None, place=lambda _: ""):
    """PyTorch's rule for accuracy: eager, compiled and a reference in float64. Where its settings want none, compiled is compared with
    eager; a strict repro, by the noise of eager too."""
    import torch
    from torch._dynamo import config
    from torch._dynamo.debug_utils import cast_to_fp64, clone_inputs_retaining_gradness, run_fwd_maybe_bwd
    from torch._dynamo.utils import same

    def seeded(f, inputs):
        torch.manual_seed(0)
        return run_fwd_maybe_bwd(f, inputs, forward_only)

    kept = gm
    with contextlib.suppress(Exception):
        kept = copy.deepcopy(gm)  # a backend may write to what it gets: parameters are shared
    try:
        ref = seeded(gm, args)
    except Exception as e:
        return invalid(e)
    exact, noise = None, None
    if config.same_two_models_use_fp64 or not is_strict(job):
        try:
            model, inputs = cast_to_fp64(copy.deepcopy(gm), clone_inputs_retaining_gradness(args))
            exact = seeded(model, inputs)
        except Exception as e:
            if job["accuracy"] == "strict":
                print("whittle: no float64 reference:", describe(e))
    try:
        got = seeded(compiled, args)
    except Exception as e:
        return failed(e, "run" if was_compiled() else "compile")
    if not was_compiled():
        return outcome("invalid", "nothing was compiled")
    mark("ran")
    said = []

    def differs(a, b, only_float, reference=None):
        del said[:]
        return not same(a, b, exact if reference is None else reference, tol=job.get("tolerance") or config.repro_tolerance, equal_nan=True, ignore_non_fp=only_float,
                        log_error=lambda m, *a, **k: said.append(m % a if a else m))

    if not differs(ref, got, False):
        return outcome("pass")
    text = "; ".join(said[:3])
    if is_strict(job):
        try:
            noise = noisy(kept, args, seeded)
        except Exception as e:
            return invalid(e)
        text = far(ref, got, noise, job.get("tolerance") or config.repro_tolerance)
        if not text:
            return outcome("pass", "it differs from eager by no more than rounding explains")
    if exact is not None and not differs(ref, got, True) and not settled(ref, exact):
        return outcome("pass", "an integer or boolean result differs where rounding decides it: " + text)
    with poisoned():
        again = seeded(kept, args)
    if differs(ref, again, False) and (noise is None or far(ref, again, noise)):
        return outcome("invalid", "eager does not agree with itself: random or uninitialised results")

    def wrong_outputs():
        """The positions of those of the graph's outputs that differ."""
        runs = [r if forward_only else r[0] for r in (ref, got, ref if exact is None else exact, *(noise or ()))]
        if not isinstance(runs[0], (list, tuple)):
            return
        for i, (a, b, c, *rounded) in enumerate(zip(*([[v] for v in r] for r in runs))):
            if differs(a, b, False, None if exact is None else c) and (noise is None or far(a, b, rounded)):
                yield i

    if job.get("locate"):
        mark.known()
    at = place(lambda: differs(ref, (third := seeded(compiled, args)), False) and (noise is None or bool(far(ref, third, noise))))
    result = outcome("fail", "AccuracyError: Bad accuracy detected (%s)" % text, error={"stage": "accuracy", "type": "AccuracyError", "message": "Bad accuracy detected", "frame": at}, detail=text)
    with contextlib.suppress(Exception):
        told(result, "outputs", list(wrong_outputs()))
    if locate is not None and job.get("locate") and not at.startswith("above"):
        with contextlib.suppress(Exception):
            locate.part(result, gm, compiled, args, job, result.get("outputs"))
    return result


def noisy(gm, args, run):
    """The results of run(graph, inputs) with everything rounded otherwise, several times."""
    from torch._dynamo.debug_utils import clone_inputs_retaining_gradness

    def once(rounding):
        model, inputs = copy.deepcopy(gm), clone_inputs_retaining_gradness(args)
        rounding.nudge_all([*inputs, *(model.parameters() if hasattr(model, "parameters") else ()), *(model.buffers() if hasattr(model, "buffers") else ())])
        with rounding.mode():
            return run(model, inputs)

    return runs_of(once)


def noisy_intermediates(gm, args, job):
    """Of each node, by name, its values with everything rounded otherwise; none for a repro that is not strict."""
    runs = noisy(gm, args, intermediates) if is_strict(job) else []
    return {name: [r[name] for r in runs if name in r] for name in (runs[0] if runs else ())}


def settled(ref, exact):
    """Whether float64 gives the same integers and booleans as eager does: else rounding decides them."""
    import torch
    a, b = flat(ref), flat(exact)
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b) if not (x.dtype.is_floating_point or x.dtype.is_complex) and x.shape == y.shape and x.dtype == y.dtype)


@contextlib.contextmanager
def poisoned():
    """Uninitialised memory is filled with NaN or the largest integer."""
    import torch
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
