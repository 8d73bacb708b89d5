import torch


def cond(pred, true_fn, false_fn, operands=()):
    if not isinstance(operands, (list, tuple)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")
    return true_fn(*operands) if pred else false_fn(*operands)
