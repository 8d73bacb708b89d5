"""torch.func's vmap, grad and grad_and_value."""
import functools

from torch._functorch.utils import argnums_t, exposed_in
from torch._functorch.vmap import batch_size_of, check_out_dims, check_randomness, flat_inputs, in_dims_t, out_dims_t, run_in_chunks, vmap_impl


def _named_after(func, call):
    """call with func's name and more; what is made within a trace has none."""
    from torch._dynamo import is_compiling

    return call if is_compiling() else functools.wraps(func)(call)


@exposed_in("torch.func")
def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    return _named_after(func, _on_batches(func, in_dims, out_dims, randomness, chunk_size))


def _on_batches(func, in_dims, out_dims, randomness, chunk_size):
    def wrapped(*args, **kwargs):
        return vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs)

    return wrapped


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    if chunks == 1:
        return vmap(func, in_dims, out_dims, randomness)
    check_randomness(randomness)

    @functools.wraps(func)
    def on_chunks(*args, **kwargs):
        check_out_dims(func, out_dims)
        leaves, dims, spec = flat_inputs(func, in_dims, args)
        batch_size_of(leaves, dims)
        return run_in_chunks(func, chunks, lambda t, dim: t.chunk(chunks, dim=dim), leaves, dims, spec, out_dims, randomness, kwargs)

    return on_chunks


def _differentiated(step, func, argnums, has_aux):
    """A call of step, the transformation's own work, with the arguments that the result is called with."""
    def wrapper(*args, **kwargs):
        return step(func, argnums, has_aux, args, kwargs)

    return _named_after(func, wrapper)


@exposed_in("torch.func")
def grad(func, argnums=0, has_aux=False):
    from torch._functorch import eager_transforms

    return _differentiated(eager_transforms.grad_impl, func, argnums, has_aux)


@exposed_in("torch.func")
def grad_and_value(func, argnums=0, has_aux=False):
    from torch._functorch import eager_transforms

    return _differentiated(eager_transforms.grad_and_value_impl, func, argnums, has_aux)
