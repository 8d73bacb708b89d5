"""vmap: a function of single elements, called once for a whole batch on tensors that hide the batch dimension.

Everything here works on leaves: the arguments are flattened into a list beside a list of dimensions, where None is an argument that every element
of the batch gets whole. A call is `_run`; with chunks there are several, of which each has a part of the batch.

Graphs of traced calls name their nodes after the variables that tensors are stored in, hence `arg`, `batched_outputs`, `batched_output`, `output`.
"""
import contextlib
import functools
import itertools
from typing import Tuple, Union

import torch
from torch._C import _functorch as levels
from torch.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_unflatten

in_dims_t = Union[int, Tuple]
out_dims_t = Union[int, Tuple[int, ...]]

_NO_HOOKS = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."


def doesnt_support_saved_tensors_hooks(f):
    @functools.wraps(f)
    def without_hooks(*args, **kwargs):
        with torch.autograd.graph.disable_saved_tensors_hooks(_NO_HOOKS):
            return f(*args, **kwargs)

    return without_hooks


def lazy_load_decompositions():
    """Where operators are taken apart for vmap in PyTorch; here that is the levels' own work."""


def _called(func):
    return func.__name__ if hasattr(func, "__name__") else repr(func)


def _bad_in_dims(func, in_dims, problem):
    raise ValueError(f"vmap({_called(func)}, in_dims={in_dims}, ...)(<inputs>): {problem}")


def check_randomness(randomness):
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def check_out_dims(func, out_dims):
    if not all(x is None or isinstance(x, int) for x in tree_leaves(out_dims)):
        raise ValueError(f"vmap({_called(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints representing where in the outputs the vmapped dimension should "
                         "appear.")


def batch_size_of(leaves, dims):
    sizes = [arg.size(dim) for arg, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(n != sizes[0] for n in sizes[1:]):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0]


def flat_inputs(func, in_dims, args):
    """The leaves of the arguments, the dimension of each that is mapped over, and the arguments' tree."""
    if not isinstance(in_dims, (int, tuple)):
        _bad_in_dims(func, in_dims, f"expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({_called(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. The latter is unsupported.")
    leaves, spec = tree_flatten(args)
    given = _broadcast_to_and_flatten(in_dims, spec)
    if given is None:
        _bad_in_dims(func, in_dims, f"in_dims is not compatible with the structure of `inputs`. in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}.")
    dims = []
    for arg, dim in zip(leaves, given):
        if dim is not None:
            if not isinstance(dim, int):
                _bad_in_dims(func, in_dims, f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
            if not isinstance(arg, torch.Tensor):
                _bad_in_dims(func, in_dims, f"Got in_dim={dim} for an input but the input is of type {type(arg)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim")
            n = arg.dim()
            if not -n <= dim < n:
                _bad_in_dims(func, in_dims, f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so expected in_dim to satisfy -{n} <= in_dim < {n}.")
            dim %= n
        dims.append(dim)
    return leaves, dims, spec


def _hide(leaves, dims, spec, level):
    """The arguments as the function sees them on a level."""
    return tree_unflatten([arg if dim is None else levels._add_batch_dim(arg, dim, level) for arg, dim in zip(leaves, dims)], spec)


def _spread_out_dims(func, out_dims, outputs, spec):
    """The dimension for each leaf of the results. A single tensor takes no tree of dimensions, but for a tuple of one."""
    if not isinstance(outputs, torch.Tensor):
        dims = _broadcast_to_and_flatten(out_dims, spec)
    elif isinstance(out_dims, tuple):
        dims = out_dims if len(out_dims) == 1 else None
    else:
        dims = [out_dims] if out_dims is None or isinstance(out_dims, int) else None
    if dims is None:
        raise ValueError(f"vmap({_called(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} "
                         f"but outputs has structure {spec}.")
    return dims


def _show(func, value, dim, level, size):
    """A result with the batch at dimension dim, or as it is where that is None."""
    is_tensor = isinstance(value, torch.Tensor)
    if dim is not None and is_tensor:
        return levels._remove_batch_dim(value, level, size, dim)
    if dim is not None:
        raise ValueError(f"vmap({_called(func)}, ...): `{_called(func)}` must only return Tensors, got type {type(value)}. Did you mean to set out_dims= to None for output?")
    if is_tensor and levels.is_batchedtensor(value):
        raise ValueError(f"vmap({_called(func)}, ...): `{_called(func)}` can not return a BatchedTensor when out_dim is None")
    return value


@contextlib.contextmanager
def vmap_increment_nesting(batch_size, randomness):
    try:
        yield levels._vmap_increment_nesting(batch_size, randomness)
    finally:
        levels._vmap_decrement_nesting()


def _run(func, size, leaves, dims, spec, out_dims, randomness, kwargs):
    """One call of the function, for size elements."""
    with vmap_increment_nesting(size, randomness) as level:
        batched_outputs = func(*_hide(leaves, dims, spec, level), **kwargs)
        flat, out_spec = tree_flatten(batched_outputs)
        where = _spread_out_dims(func, out_dims, batched_outputs, out_spec)
        return tree_unflatten([_show(func, batched_output, dim, level, size) for batched_output, dim in zip(flat, where)], out_spec)


def run_in_chunks(func, count, split, leaves, dims, spec, out_dims, randomness, kwargs):
    """Calls of the function with count parts of the batch, which split cuts a tensor into along a dimension; the results are put together again."""
    outputs, seed = [], None
    if randomness == "same":
        seed = torch.get_rng_state()
    for part in zip(*[[t] * count if dim is None else split(t, dim) for t, dim in zip(leaves, dims)]):
        size = batch_size_of(part, dims)
        if size == 0:  # what is behind the last place of a split
            continue
        if seed is not None:  # each part draws the same numbers
            torch.set_rng_state(seed)
        outputs.append(_run(func, size, part, dims, spec, out_dims, randomness, kwargs))
    flat = [tree_flatten(output) for output in outputs]
    out_spec = flat[0][1] if flat else None
    columns, where = list(zip(*[row for row, _ in flat])), _broadcast_to_and_flatten(out_dims, out_spec)
    assert len(where) == len(columns)
    return tree_unflatten([torch.cat(column, dim=dim) for column, dim in zip(columns, where)], out_spec)


def get_chunk_sizes(total_elems, chunk_size):
    sizes = [chunk_size] * (total_elems // chunk_size)
    left = total_elems % chunk_size
    return sizes + [left] if left else sizes


def vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs):
    lazy_load_decompositions()
    check_out_dims(func, out_dims)
    leaves, dims, spec = flat_inputs(func, in_dims, args)
    size = batch_size_of(leaves, dims)
    if chunk_size is None:
        return _run(func, size, leaves, dims, spec, out_dims, randomness, kwargs)
    ends = tuple(itertools.accumulate(get_chunk_sizes(size, chunk_size)))
    return run_in_chunks(func, len(ends), lambda t, dim: t.tensor_split(ends, dim=dim), leaves, dims, spec, out_dims, randomness, kwargs)


def wrap_batched(args, bdims, level):
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(bdims, spec)
    assert dims is not None
    return _hide(leaves, dims, spec, level)


def unwrap_batched(args, level):
    """The tensors beneath a level, and where the batch is in each: None for what has none."""
    leaves, spec = tree_flatten(args)
    if not leaves:
        return args, ()
    pairs = [levels._unwrap_batched(arg, level) if isinstance(arg, torch.Tensor) else (arg, None) for arg in leaves]
    return tuple(tree_unflatten(side, spec) for side in zip(*pairs))


def restore_vmap(func, in_dims, batch_size, randomness):
    """vmap that says where the batch dimension of each result is, and takes and gives whatever there is."""

    def on_level(*args, **kwargs):
        with vmap_increment_nesting(batch_size, randomness) as level:
            batched_outputs = func(*wrap_batched(args, in_dims, level), **kwargs)
            return unwrap_batched(batched_outputs, level)

    return on_level
