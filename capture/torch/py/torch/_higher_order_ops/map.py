"""map: a function for each of the first dimension of trees of tensors."""
import torch
from torch._ops import HigherOrderOperator
from torch.utils import _pytree as pytree


def _stack(rows):
    return [None if col[0] is None else torch.stack(col) for col in zip(*rows)]


def _map_impl(f, xs, pos_args):
    """The operator under map in graphs: xs and the results are flat."""
    return tuple(_stack([tuple(f(*[x[i] for x in xs], *pos_args)) for i in range(xs[0].shape[0])]))


def _map(f, xs, *args):
    flat_xs, spec = pytree.tree_flatten(xs)
    if not all(isinstance(t, torch.Tensor) for t in flat_xs):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {flat_xs}.")
    shapes = [t.shape for t in flat_xs]
    leading = shapes[0][0]
    if leading == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any(s[0] != leading for s in shapes):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    rows, out_spec = [], None
    for i in range(leading):
        flat, out_spec = pytree.tree_flatten(f(pytree.tree_unflatten([t[i] for t in flat_xs], spec), *args))
        if any(not isinstance(o, torch.Tensor) for o in flat if o is not None):
            raise RuntimeError(f"Expect outputs of map only contains tensors or None. Got types {[type(o) for o in flat]}.")
        rows.append(flat)
    return pytree.tree_unflatten(_stack(rows), out_spec)


class MapWrapper(HigherOrderOperator):
    def __init__(self):
        super().__init__("map")

    def __call__(self, xs, *args):
        from torch._dynamo import disable

        return disable(_map)(xs, *args)


map_impl = HigherOrderOperator("map_impl", _map_impl)
map = MapWrapper()
