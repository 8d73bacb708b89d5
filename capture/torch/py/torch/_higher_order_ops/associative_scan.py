"""associative_scan: running results of an associative function along a dimension.

Graphs name their nodes after the variables that tensors are stored in, hence `lhs`, `rhs`, `combined`, `b`, `stacked`, `interleaved` and the
variables of the loops over tensors.
"""
import torch
from torch._higher_order_ops.utils import METADATA, difference, first_slice_copy
from torch._ops import HigherOrderOperator
from torch.utils import _pytree as pytree

_FACTS = ("shape", "dtype", "device", "stride")
part = torch.ops.aten.slice


class AssociativeScanOp(HigherOrderOperator):
    """associative_scan on a list of tensors: combine_fn takes one slice of each twice, first those of before."""

    def __init__(self):
        super().__init__("associative_scan")

    def __call__(self, combine_fn, xs, dim):
        slices = [[x.select(dim, i) for x in xs] for i in range(xs[0].shape[dim])]
        rows = slices[:1]
        for row in slices[1:]:
            rows.append(tuple(combine_fn(*rows[-1], *row)))
        return tuple(torch.stack(column, dim) for column in zip(*rows))


associative_scan_op = AssociativeScanOp()


def _on_leaves(combine_fn, spec, n):
    """combine_fn on 2n flat arguments, with n flat results."""

    def flat_fn(*leaves):
        assert len(leaves) == 2 * n
        lhs, rhs = pytree.tree_unflatten(leaves[:n], spec), pytree.tree_unflatten(leaves[n:], spec)
        combined = combine_fn(lhs, rhs)
        flat = pytree.tree_leaves(combined)
        assert len(flat) == n
        return flat

    return flat_fn


def _check_leaves(leaves, dim, combine_mode):
    problem = ""
    if combine_mode == "pointwise" and any(l.device.type != "cuda" for l in leaves):
        problem = "For combine_mode='pointwise', all input tensors need to be on CUDA"
    elif not leaves:
        problem = "Expected at least 1 xs leaf"
    elif not all(isinstance(x, torch.Tensor) for x in leaves):
        problem = "xs leaves must be a Tensor"
    elif not all(x.ndim > dim for x in leaves) or any(x.shape[dim] == 0 for x in leaves):
        problem = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"
    if problem:
        raise ValueError(problem)


def _check_step(combine_fn, given, spec):
    """Combines first slices with themselves: what comes out must look as what went in."""
    out = combine_fn(*[pytree.tree_unflatten(given, spec) for _ in range(2)])
    made = pytree.tree_leaves(out)
    if len(made) != len(given):
        raise RuntimeError("The number of leaves of the pytree of the output of the operator needs to match the length of the pytree of the input")
    if any(difference(x, x_sliced, _FACTS) is not None for x, x_sliced in zip(made, given)):
        before, after = [[tuple(METADATA[fact](x) for fact in _FACTS) for x in leaves] for leaves in (given, made)]
        raise RuntimeError("The metadata of the output of the operator needs to match the meta data of the xs pytree"
                           f"\n  xs metadata             : {before}\n  operator output metadata: {after}")


def _turned(leaves, dim, reverse):
    return [torch.flip(elem, [dim]) for elem in leaves] if reverse else leaves


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    if not callable(combine_fn):
        raise ValueError("Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError("Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = pytree.tree_flatten(xs)
    _check_leaves(leaves, dim, combine_mode)

    leaves = _turned(leaves, dim, reverse)
    at = dim + leaves[0].ndim if dim < 0 else dim
    _check_step(combine_fn, [first_slice_copy(leaf, at) for leaf in leaves], spec)
    n = len(leaves)
    if combine_mode == "generic":
        along = pytree.tree_unflatten([at] * n, spec)
        result = generic_associative_scan(_on_leaves(torch.vmap(combine_fn, in_dims=(along, along), out_dims=at), spec, n), leaves, at)
    else:
        result = associative_scan_op(_on_leaves(combine_fn, spec, n), leaves, at)
    return pytree.tree_unflatten(_turned(result, at, reverse), spec)


def _interleave(a, b, dim):
    """a[0], b[0], a[1], b[1] and so on; a may have one more than b."""
    total = None
    if a.shape[dim] == b.shape[dim] + 1:
        at = 2 * (b.ndim - dim) - 1  # pad counts from the last dimension, two places for each
        b = torch.nn.functional.pad(b, [int(i == at) for i in range(2 * b.ndim)])
        total = b.shape[dim] + a.shape[dim] - 1
    stacked = torch.stack([a, b], dim=dim + 1)
    interleaved = torch.flatten(stacked, start_dim=dim, end_dim=dim + 1)
    if total is not None:
        interleaved = part(interleaved, dim, 0, total)
    return interleaved


def generic_associative_scan(operator, leaves, dim=0):
    """Combines neighbours in pairs, scans the half as many results, which are those at odd places, and fills in those between."""
    length = leaves[0].shape[dim]
    if length < 2:
        return leaves
    first = [part(elem, dim, 0, -1, 2) for elem in leaves]
    second = [part(elem, dim, 1, None, 2) for elem in leaves]
    odd = generic_associative_scan(operator, operator(*first, *second), dim)
    before = odd if length % 2 else [part(e, dim, 0, -1) for e in odd]
    third = [part(e, dim, 2, None, 2) for e in leaves]
    later = operator(*before, *third)
    even = []
    for elem, result in zip(leaves, later):
        if result.shape.numel() > 0:
            even.append(torch.cat([part(elem, dim, 0, 1), result], dim=dim))
        else:
            even.append(part(elem, dim, 0, 1))
    return [_interleave(even[i], odd[i], dim) for i in range(len(odd))]
