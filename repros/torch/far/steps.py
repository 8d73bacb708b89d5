"""The steps at which a candidate can be stopped, and how far it got."""
import contextlib

from .outcome import outcome
from .syntax import told_by_syntax

STEPS = {"dynamo": ("backend", "C++", "built"), "aot": ("C++", "built")}  # by the stage of a repro, in their order


class Steps:
    """Tells the parent which steps the job comes to, and stops it at the one that it is to go until."""

    def __init__(self, job, mark):
        self.job, self.mark, self.seen = job, mark, set()
        with contextlib.suppress(Exception):
            self.watch()

    def come(self, step):
        if step in self.seen:
            return
        self.seen.add(step)
        if self.job.get("until") == step:
            self.mark.end(outcome("pass", "stopped, as it came to this step: " + step, before=step))
        self.mark.step(step)

    def watch(self):
        """Waits for the first code that a C++ compiler gets, whoever asks for it. Kernels that are in Inductor's cache are asked for, too."""
        from torch._inductor.codecache import CppCodeCache
        load = CppCodeCache.load_async.__func__

        def asked(cache, *a, **k):
            self.come("C++")
            return load(cache, *a, **k)

        CppCodeCache.load_async = classmethod(asked)


def before(job, steps, result):
    """The first step that a job, which failed, did not come to; "" where there is none, or nothing is saved by stopping there. steps are those that
    it came to."""
    step = next((s for s in STEPS.get(job.get("stage"), ()) if s not in steps), "")
    return "" if step == "built" and not told_by_syntax(result) else step
