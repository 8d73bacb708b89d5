"""Passes as plain functions from one value to the next, in an order that constraints allow."""
import inspect
from functools import wraps

__all__ = ["PassManager", "inplace_wrapper", "log_hook", "loop_pass", "this_before_that_pass_constraint", "these_before_those_pass_constraint"]


def inplace_wrapper(fn):
    """A function that changes its argument, as one that gives it back."""

    @wraps(fn)
    def wrapped(gm):
        fn(gm)
        return gm

    return wrapped


def log_hook(fn, level=20):
    """A pass that logs what it gives, too."""
    import logging

    @wraps(fn)
    def wrapped(gm):
        val = fn(gm)
        logging.getLogger(__name__).log(level, "Ran pass %s\t Return value: %s", fn, val)
        return val

    return wrapped


def loop_pass(base_pass, n_iter=None, predicate=None):
    """A pass that runs another one n_iter times, or as long as predicate agrees to what there is."""
    if (n_iter is not None) == (predicate is not None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def looped(source):
        if n_iter is not None and n_iter > 0:
            for _ in range(n_iter):
                source = base_pass(source)
            return source
        if predicate is None:
            raise RuntimeError(f"loop_pass must be given positive int n_iter (given {n_iter}) xor predicate (given {predicate})")
        while predicate(source):
            source = base_pass(source)
        return source

    return looped


def this_before_that_pass_constraint(this, that):
    """The constraint that one pass comes before another where both are there."""
    return lambda a, b: not (a == that and b == this)


def these_before_those_pass_constraint(these, those):
    """The same for passes that were wrapped: it looks at what is within."""
    return lambda a, b: not (inspect.unwrap(a) == those and inspect.unwrap(b) == these)


class PassManager:
    """Runs passes one after the other, once their order has been checked."""

    def __init__(self, passes=None, constraints=None):
        self.passes, self.constraints, self._validated = passes or [], constraints or [], False

    @classmethod
    def build_from_passlist(cls, passes):
        return cls(passes)

    def add_pass(self, _pass):
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes):
        if _passes is None:
            return
        self.passes = [p for p in self.passes if p.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target, _replacement):
        self.passes = [_replacement if p.__name__ == _target.__name__ else p for p in self.passes]
        self._validated = False

    def validate(self):
        if self._validated:
            return
        for c in self.constraints:
            for i, a in enumerate(self.passes):
                for j, b in enumerate(self.passes[i + 1:]):
                    if not c(a, b):
                        raise RuntimeError(f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at index{j} in pass list.")
        self._validated = True

    def __call__(self, source):
        self.validate()
        out = source
        for p in self.passes:
            out = p(out)
        return out
