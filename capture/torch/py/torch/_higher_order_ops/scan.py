"""scan: a function along a dimension that carries something on from step to step.

Graphs name their nodes after the variables that tensors are stored in, hence `carry` and `combined`.
"""
import torch
from torch._higher_order_ops.utils import METADATA, difference, validate_subgraph_args_types
from torch._ops import HigherOrderOperator
from torch.utils import _pytree as pytree


class ScanOp(HigherOrderOperator):
    """scan on lists of tensors: combine_fn takes those carried, one slice of each of xs and the additional inputs, and returns one flat list."""

    def __init__(self):
        super().__init__("scan")

    def __call__(self, combine_fn, init, xs, dim, reverse, additional_inputs):
        assert isinstance(additional_inputs, list), "additional_inputs must be a list."
        validate_subgraph_args_types(additional_inputs)
        n, state, rows = len(init), list(init), []
        places = list(range(xs[0].shape[dim])) if xs else []
        for at in places[::-1] if reverse else places:
            flat = list(combine_fn(*state, *[x.select(dim, at) for x in xs], *additional_inputs))
            state = flat[:n]
            rows.append(flat[n:])
        in_order = rows[::-1] if reverse else rows
        return state + [torch.stack(column) for column in zip(*in_order)]


scan_op = ScanOp()


def _on_leaves(combine_fn, n, init_tree, xs_tree):
    """combine_fn on flat arguments, of which the first n are carried, with a flat list of results."""

    def flat_fn(*leaves):
        carry, xs = pytree.tree_unflatten(leaves[:n], init_tree), pytree.tree_unflatten(leaves[n:], xs_tree)
        carry, combined = combine_fn(carry, xs)
        state = pytree.tree_leaves(carry)
        assert len(state) == n
        return state + pytree.tree_leaves(combined)

    return flat_fn


def _check_carry(before, after):
    """What is carried on must look as what there was at the start."""
    if len(after) != len(before):
        raise RuntimeError(f"The number of leaves of the pytree of the new carry produced by the operator is {len(after)}doesn't match the length of the pytree of the init {len(before)}")
    for i, (init, new_carry) in enumerate(zip(before, after)):
        fact = difference(init, new_carry, ("shape", "stride", "dtype", "requires_grad"))
        if fact is not None:
            raise RuntimeError(f"The {fact} of the new_carry[{i}] {METADATA[fact](new_carry)} doesn't match that of the init[{i}] {METADATA[fact](init)}.")


def _check_tensors(label, leaves, dim=None):
    """Leaves must be tensors, with something along dim."""
    for x in leaves:
        if not isinstance(x, torch.Tensor):
            raise RuntimeError(f"All {label} leaves must be a Tensor but got {x}")
        if dim is not None and x.shape[dim] == 0:
            raise RuntimeError(f"All {label} leaves must have a scan dimension > 0 but got {x}")


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    if not callable(combine_fn):
        raise RuntimeError("Combine_fn must be a callable, but got {combine_fn}")
    for label, value, kind in (("Dim must be an int", dim, int), ("Reverse must be a bool", reverse, bool)):
        if not isinstance(value, kind):
            raise RuntimeError(f"{label}, but got {type(value)}")
    (start, init_tree), (rows, xs_tree) = pytree.tree_flatten(init), pytree.tree_flatten(xs)
    if not start:
        raise RuntimeError("Init tensors must be provided")
    _check_tensors("init", start)
    _check_tensors("xs", rows, dim)
    if not rows:
        return pytree.tree_unflatten(start, init_tree), xs
    if dim < 0:
        dim += rows[0].ndim
    # one step ahead of all tells the tree of the results
    first = combine_fn(pytree.tree_unflatten(start, init_tree), pytree.tree_unflatten([elem.select(dim, 0) for elem in rows], xs_tree))
    _check_carry(start, pytree.tree_leaves(first[0]))
    out_tree = pytree.tree_flatten(first[1])[1]
    n = len(start)
    flat = scan_op(_on_leaves(combine_fn, n, init_tree, xs_tree), start, rows, dim, reverse, additional_inputs=[])
    return pytree.tree_unflatten(flat[:n], init_tree), pytree.tree_unflatten(flat[n:], out_tree)
