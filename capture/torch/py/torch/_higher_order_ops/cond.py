"""torch.cond: one of two functions, chosen by a number or a tensor of one element."""
import warnings

import torch
from torch._higher_order_ops.utils import UnsupportedAliasMutationException
from torch._ops import ops
from torch.utils import _pytree as pytree

cond_op = ops.higher_order.cond


def _check(pred, branches, operands):
    one = pred.numel() == 1 if isinstance(pred, torch.Tensor) else None
    if one is None and not isinstance(pred, torch.SymBool):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if one is False:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not all(callable(f) for f in branches):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or any(not isinstance(t, torch.Tensor) for t in pytree.tree_leaves(operands)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")


def cond(pred, true_fn, false_fn, operands=()):
    if torch.compiler.is_dynamo_compiling():
        return cond_op(pred, true_fn, false_fn, operands)
    if not isinstance(pred, (int, float)):
        _check(pred, (true_fn, false_fn), operands)
        if not torch._C._functorch._traced():
            return _captured(pred, true_fn, false_fn, operands)
    elif torch.compiler.is_compiling():
        warnings.warn("Pred is a Python constant. When used with torch.cond, it specializes on one of the branches. If you want torch.cond to preserve two branches, please make the "
                      "predicate a boolean tensor or a SymBool.", UserWarning)
    return true_fn(*operands) if pred else false_fn(*operands)


def _captured(*args):
    """cond as a graph, whose rules for what the branches do hold without a compiler, too."""
    import torch._dynamo

    def _cond_op_wrapper(*args):
        return cond_op(*args)

    with torch._dynamo.config.patch(cache_size_limit=torch._dynamo.config.accumulated_cache_size_limit):
        return torch.compile(_cond_op_wrapper, backend="eager", fullgraph=True)(*args)
