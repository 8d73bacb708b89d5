"""hints_wrapper: a function with hints for whoever compiles it."""
import torch
from torch._ops import HigherOrderOperator

_NUMBERS = (int, float, bool)


def _problems(args, kwargs, hints):
    """What is wrong with the arguments, in the order in which it is said."""
    for name, given, kind in (("args", args, tuple), ("kwargs", kwargs, dict), ("hints", hints, dict)):
        if not isinstance(given, kind):
            yield f"{name} must be a {kind.__name__}, got {type(given)}"
        elif given is args and any(not isinstance(t, (torch.Tensor, *_NUMBERS)) for t in args):
            yield f"args must be a tuple of tensors, ints, floats, or bools, got {args}"
        elif given is kwargs and kwargs:
            yield f"kwargs except for hints are not supported, got {kwargs}"
    for k, v in hints.items():
        if not isinstance(k, str):
            yield f"hints key must be a str, got {k}."
        if not isinstance(v, (str, *_NUMBERS)):
            yield f"hints must be a dict containing int, float, bool or str value, got value {v} for key {k}."


class HintsWrapper(HigherOrderOperator):
    def __init__(self):
        super().__init__("hints_wrapper")

    def __call__(self, body_fn, args, kwargs, hints):
        problem = next(_problems(args, kwargs, hints), None)
        if problem is not None:
            raise RuntimeError(problem)
        return body_fn(*args)


hints_wrapper = HintsWrapper()
