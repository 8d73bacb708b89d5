"""Running passes in an order that constraints allow, until nothing changes."""
import inspect
import logging
from collections import deque

import torch.nn as nn
from torch.fx.passes.infra.pass_base import PassResult

logger = logging.getLogger(__name__)

__all__ = ["pass_result_wrapper", "this_before_that_pass_constraint", "PassManager"]


def pass_result_wrapper(fn):
    """A function that changes a module in place, as a pass. One that gives something else than a PassResult is taken to have changed it."""
    if fn is None:
        return None

    def wrapped(gm):
        res = fn(gm)
        if res is None:
            return PassResult(gm, True)
        if isinstance(res, PassResult):
            return res
        if isinstance(res, nn.Module):
            return PassResult(res, True)
        raise TypeError(f"the pass {fn} gave {type(res)}")

    wrapped.__name__ = fn.__name__ if inspect.isfunction(fn) else type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this, that):
    """The constraint that one pass comes before another where both are there."""
    return lambda a, b: not (a == that and b == this)


class PassManager:
    """Runs passes one after the other, steps times or until no pass changes anything."""

    steps = 1

    def __init__(self, passes=None, constraints=None, steps=None, run_checks_after_each_pass=False, suppress_check_failures=False):
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = steps or 1
        self._validated = False
        self.run_checks_after_each_pass, self.suppress_check_failures = run_checks_after_each_pass, suppress_check_failures

    def add_pass(self, _pass):
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self):
        """Raises where the order of the passes breaks a constraint."""
        if self._validated:
            return
        for c in self.constraints:
            for i, a in enumerate(self.passes):
                for j, b in enumerate(self.passes[i + 1:], i + 1):
                    if not c(a, b):
                        raise RuntimeError(f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at index{j} in pass list.")
        self._validated = True

    def solve_constraints(self):
        """Brings the passes into an order that breaks no constraint, by their order now where that leaves a choice."""
        after = {p: [q for q in self.passes if q is not p and any(not c(q, p) for c in self.constraints)] for p in self.passes}
        waits = {p: sum(p in qs for qs in after.values()) for p in self.passes}
        ready, out = deque(p for p in self.passes if waits[p] == 0), []
        while ready:
            p = ready.popleft()
            out.append(p)
            for q in after[p]:
                waits[q] -= 1
                if waits[q] == 0:
                    ready.append(q)
        if len(out) != len(self.passes):
            raise RuntimeError(f"Circular dependency detected within the following passes: {[p for p in self.passes if p not in out]}")
        self.passes = out
        self._validated = True

    def add_checks(self, check):
        sig = inspect.signature(check)
        if len(sig.parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    def check(self, module):
        """What is checked of the module; nothing, until add_checks."""

    def __call__(self, module):
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed_at_all = False
        for _ in range(self.steps):
            changed = False
            for i, fn in enumerate(self.passes):
                name = fn.__name__ if inspect.isfunction(fn) else type(fn).__name__
                logger.debug("Running pass '%s'", name)
                try:
                    res = fn(module)
                    if not isinstance(res, PassResult) and not hasattr(res, "graph_module"):
                        raise TypeError(f"The result of the pass {name} should be type PassResult.Please wrap it with pass_result_wrapper()")
                    module, changed = res.graph_module, changed or res.modified
                    if isinstance(module, nn.Module) and hasattr(module, "recompile"):
                        module.recompile()
                    if self.run_checks_after_each_pass:
                        self.check(module)
                except Exception as e:
                    before = [p.__name__ if inspect.isfunction(p) else type(p).__name__ for p in self.passes[:i]]
                    raise Exception(f"An error occurred when running the '{name}' pass after the following passes: {before}") from e
            changed_at_all = changed_at_all or changed
            if not changed:
                break
        return PassResult(module, changed_at_all)
