"""while_loop: a function as long as another says so, each time on what it gave before."""
import torch
from torch._higher_order_ops.utils import validate_subgraph_args_types
from torch._ops import HigherOrderOperator
from torch.utils import _pytree as pytree


def _goes_on(pred):
    if isinstance(pred, torch.Tensor) and pred.dim() == 0 and pred.dtype is torch.bool:
        return bool(pred)
    raise RuntimeError(f"cond_fn must return a boolean scalar tensor but got {pred}")


class WhileLoopOp(HigherOrderOperator):
    """while_loop on tuples of tensors."""

    def __init__(self):
        super().__init__("while_loop")

    def __call__(self, cond_fn, body_fn, carried_inputs, additional_inputs, /):
        for name, given in (("carried_inputs", carried_inputs), ("additional_inputs", additional_inputs)):
            if not isinstance(given, tuple):
                raise RuntimeError(f"{name} must be a tuple, got {type(given)}")
        for given in (carried_inputs, additional_inputs):
            validate_subgraph_args_types(given)
        values = carried_inputs
        while _goes_on(cond_fn(*values, *additional_inputs)):
            values = body_fn(*values, *additional_inputs)
            assert isinstance(values, tuple), f"body_fn should return a tuple but got {type(values)}"
            assert len(values) == len(carried_inputs), "body_fn should return the same number of elements as carried_inputs"
        return values


while_loop_op = WhileLoopOp()


def _on_leaves(fn, spec):
    """fn, which takes the values carried, on the leaves of all values."""

    def flat_fn(*leaves):
        values, more = pytree.tree_unflatten(leaves, spec)
        return fn(*values, *more)

    return flat_fn


def while_loop(cond_fn, body_fn, carried_inputs):
    leaves, spec = pytree.tree_flatten((carried_inputs, ()))
    goes_on, step = _on_leaves(cond_fn, spec), _on_leaves(body_fn, spec)
    if torch.compiler.is_dynamo_compiling():
        return while_loop_op(goes_on, step, tuple(leaves), ())
    if not (callable(cond_fn) and callable(body_fn)):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    validate_subgraph_args_types(leaves)
    if not all(isinstance(t, torch.Tensor) for t in pytree.tree_leaves(carried_inputs)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that onlyconsists of tensor leaves, but got {carried_inputs}.")
    trees = []

    def noted_step(*values):
        out, tree = pytree.tree_flatten(step(*values))
        trees.append(tree)
        return tuple(out)

    out = while_loop_op(goes_on, noted_step, tuple(leaves), ())
    return pytree.tree_unflatten(list(out), trees[-1]) if trees else carried_inputs
