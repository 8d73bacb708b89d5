"""Gradients, products with Jacobians, and Jacobians, of functions: each on a level of its own.

A captured graph names a node after the variable that first held it, so the names of variables that hold
tensors here are part of what users see, and so is the order of the calls.
"""
import contextlib
from functools import partial, wraps

import torch
import torch.autograd.forward_ad as fwAD
from torch._C._functorch import (_func_decrement_nesting, _func_increment_nesting, _grad_decrement_nesting, _grad_increment_nesting, _jvp_decrement_nesting, _jvp_increment_nesting, _unwrap_for_grad,
                                 _wrap_for_grad, get_inplace_requires_grad_allowed, set_inplace_requires_grad_allowed)
from torch._functorch.utils import argnums_t, exposed_in
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_, tree_unflatten, treespec_pprint

from .apis import vmap
from .vmap import doesnt_support_saved_tensors_hooks, get_chunk_sizes

jvp_str = "jvp(f, primals, tangents)"


# Levels: entered, left, and what goes in and comes out.

@contextlib.contextmanager
def _between(enter, leave):
    number = enter()
    try:
        yield number
    finally:
        leave()


def enter_jvp_nesting():
    return _jvp_increment_nesting()


def exit_jvp_nesting():
    _jvp_decrement_nesting()


def grad_increment_nesting():
    return _between(_grad_increment_nesting, _grad_decrement_nesting)


def jvp_increment_nesting():
    return _between(enter_jvp_nesting, exit_jvp_nesting)


@contextlib.contextmanager
def enable_inplace_requires_grad(enabled):
    before = get_inplace_requires_grad_allowed()
    set_inplace_requires_grad_allowed(enabled)
    try:
        yield
    finally:
        set_inplace_requires_grad_allowed(before)


def _set_tensor_requires_grad(x):
    return x.requires_grad_()


def _is_differentiable(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


def _mark(leaf):
    if not isinstance(leaf, torch.Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
    with enable_inplace_requires_grad(True):
        return _set_tensor_requires_grad(leaf)


def _create_differentiable(inps, level=None):
    return tree_map(_mark, inps)


def _lowered(leaf, level):
    if isinstance(leaf, tuple):  # one that pytree takes for a leaf: a subclass
        return _undo_create_differentiable(tuple(leaf), level)
    if not isinstance(leaf, torch.Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return _unwrap_for_grad(leaf, level)


def _undo_create_differentiable(inps, level=None):
    return tree_map(partial(_lowered, level=level), inps)


def _wrap_tensor_for_grad(value, level):
    return _wrap_for_grad(value, level) if isinstance(value, torch.Tensor) else value


def _wrap_all_tensors(values, level):
    return tree_map(partial(_wrap_tensor_for_grad, level=level), values)


# Checks, each told the call that its message speaks of.

def _strangers(values):
    return [type(o) for o in values if not isinstance(o, torch.Tensor)]


def error_if_complex(func_name, args, is_input):
    side = "inputs" if is_input else "outputs"
    for place, leaf in enumerate(tree_leaves(args)):
        if isinstance(leaf, torch.Tensor) and leaf.dtype.is_complex:
            raise RuntimeError(f"{func_name}: Expected all {side} to be real but received complex tensor at flattened input idx: {place}")


def assert_flat_tuple_of_tensors(elts, api, argname):
    expected = f"{api}: Expected {argname} to be a"
    if not isinstance(elts, tuple):
        raise RuntimeError(f"{expected} tuple of Tensors, got {type(elts)}")
    if not elts:
        raise RuntimeError(f"{expected} non-empty tuple of Tensors.")
    for kind in _strangers(elts):
        raise RuntimeError(f"{expected} tuple of Tensors, got a tuple with an element of type {kind}")


def assert_non_empty_tensor_output(output, api):
    if len(output) == 0 or (len(output) == 1 and output[0] is None):
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {output})")
    for kind in _strangers(output):
        raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {kind}")


def assert_output_is_tensor_or_tensors(output, api):
    if isinstance(output, torch.Tensor):
        return
    expected = f"{api}: Expected output of f to be a"
    if not isinstance(output, tuple):
        raise RuntimeError(f"{expected} Tensor or Tensors, got {type(output)}")
    if not output:
        raise RuntimeError(f"{expected} non-empty tuple of Tensors.")
    for kind in _strangers(output):
        raise RuntimeError(f"{expected} Tensor or Tensors, got {kind} as an output")


def assert_non_empty_list_of_tensors(output, api, argname):
    if len(output) == 0:
        raise RuntimeError(f"{api}: Expected {argname} to contain at least one Tensor.")
    for kind in _strangers(output):
        raise RuntimeError(f"{api}: Expected {argname} to only contain Tensors, got {kind}")


def _output_and_aux(returned, api):
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned
    raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")


# Arguments that are differentiated, by their places.

def _place(argnum, count):
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def _argnums_type_error(argnums):
    return RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")


def _slice_argnums(args, argnums, as_tuple=True):
    if isinstance(argnums, int):
        picked = (args[_place(argnums, len(args))],)
        return picked if as_tuple else picked[0]
    if not isinstance(argnums, tuple):
        raise _argnums_type_error(argnums)
    places = [_place(n, len(args)) for n in argnums]
    if not places:
        raise RuntimeError("argnums must be non-empty")
    if len(set(places)) < len(places):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(places)}")
    return tuple([args[n] for n in places])


def _replace_args(old_args, new_args, argnums):
    if isinstance(argnums, int):
        if len(new_args) != 1:
            raise RuntimeError(f"new_args should be of size 1, was of size {len(new_args)}")
        argnums = (argnums,)
    elif not isinstance(argnums, tuple):
        raise _argnums_type_error(argnums)
    elif len(argnums) != len(new_args):
        raise RuntimeError(f"new_args should have the same size as argnums. Argnums size {len(argnums)}, new_args size {len(new_args)}")
    new = dict(zip(argnums, new_args))
    return tuple([new[n] if n in new else old_args[n] for n in range(len(old_args))])


# Reverse mode.

def _autograd_grad(outputs, inputs, grad_outputs=None, retain_graph=False, create_graph=True):
    """torch.autograd.grad, with zeros where nothing depends on an input."""
    found = [None] * len(inputs)
    if not torch._C._functorch._traced():
        weights = [None] * len(outputs) if grad_outputs is None else grad_outputs
        live = [pair for pair in zip(outputs, weights) if pair[0].requires_grad]
        if live:
            ends, weights = zip(*live)
            found = torch.autograd.grad(ends, inputs, None if grad_outputs is None else weights, retain_graph=retain_graph, create_graph=create_graph, allow_unused=True)
    return tuple(torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found))


@doesnt_support_saved_tensors_hooks
def grad_and_value_impl(func, argnums, has_aux, args, kwargs):
    api, aux = "grad_and_value(f)(*args)", None
    with grad_increment_nesting() as level, torch.enable_grad():
        args, kwargs = _wrap_all_tensors(args, level), _wrap_all_tensors(kwargs, level)
        diff_args = _slice_argnums(args, argnums, as_tuple=False)
        tree_map_(_create_differentiable, diff_args)

        output = func(*args, **kwargs)
        if has_aux:
            output, aux = _output_and_aux(output, api)
        if not isinstance(output, torch.Tensor):
            raise RuntimeError(f"{api}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output.dim() > 0:
            raise RuntimeError(f"{api}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")

        leaves, spec = tree_flatten(diff_args)
        grad_input = tree_unflatten(_autograd_grad((output,), leaves, create_graph=True), spec)
        grad_input = _undo_create_differentiable(grad_input, level)
        output = _undo_create_differentiable(output, level)
        if has_aux:
            aux = _undo_create_differentiable(aux, level)
    return grad_input, (output, aux) if has_aux else output


def grad_impl(func, argnums, has_aux, args, kwargs):
    gradient, value = grad_and_value_impl(func, argnums, has_aux, args, kwargs)
    return (gradient, value[1]) if has_aux else gradient


@exposed_in("torch.func")
def vjp(func, *primals, has_aux=False):
    return _vjp_with_argnums(func, *primals, has_aux=has_aux)


@doesnt_support_saved_tensors_hooks
def _vjp_with_argnums(func, *primals, argnums=None, has_aux=False):
    api, extra = "vjp(f, *primals)", ()
    with grad_increment_nesting() as level, torch.enable_grad():
        primals = _wrap_all_tensors(primals, level)
        if argnums is not None:
            diff_primals = _slice_argnums(primals, argnums, as_tuple=False)
            tree_map_(_create_differentiable, diff_primals)
        else:
            diff_primals = _create_differentiable(primals, level)

        primals_out = func(*primals)
        if has_aux:
            primals_out, aux = _output_and_aux(primals_out, api)
            aux = _undo_create_differentiable(aux, level)
            extra = (aux,)

        ends, out_spec = tree_flatten(primals_out)
        assert_non_empty_tensor_output(ends, api)
        starts, in_spec = tree_flatten(diff_primals)
        results = _undo_create_differentiable(primals_out, level)
        for end in ends:
            if not (end.is_floating_point() or end.is_complex()):
                raise RuntimeError(f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {end.dtype}")

    def wrapper(cotangents, retain_graph=True, create_graph=None):
        weights, spec = tree_flatten(cotangents)
        if spec != out_spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                               f"cotangents: {treespec_pprint(spec)}, primal output: {treespec_pprint(out_spec)}")
        again = torch.is_grad_enabled() if create_graph is None else create_graph
        return tree_unflatten(_autograd_grad(ends, starts, weights, retain_graph=retain_graph, create_graph=again), in_spec)

    return (results, wrapper, *extra)


# Forward mode.

def safe_unpack_dual(dual, strict):
    if not isinstance(dual, torch.Tensor):
        raise RuntimeError(f"{jvp_str}: expected f(*args) to return only tensors, got unsupported type {type(dual)}")
    value, slope = fwAD.unpack_dual(dual)
    if slope is not None:
        return value, slope
    if strict:
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.")
    return value, torch.zeros_like(value)


@contextlib.contextmanager
def _forward_level():
    """A level of jvp; the outermost holds the level of dual tensors that all of them use."""
    with jvp_increment_nesting() as level, fwAD._set_fwd_grad_enabled(True):
        outermost = torch._C._functorch._jvp_depth() == 1
        with fwAD.dual_level() if outermost else contextlib.nullcontext():
            yield level


@exposed_in("torch.func")
def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    return _jvp_with_argnums(func, primals, tangents, argnums=None, strict=strict, has_aux=has_aux)


def _jvp_with_argnums(func, primals, tangents, argnums, *, strict=False, has_aux):
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{jvp_str}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    points, spec = tree_flatten(primals if argnums is None else _slice_argnums(primals, argnums))
    slopes, slopes_spec = tree_flatten(tangents)
    if spec != slopes_spec:
        raise RuntimeError(f"{jvp_str}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
                           f"Got primals with structure {spec} and tangents with structure {slopes_spec}")
    for name, leaves in (("primals", points), ("tangents", slopes)):
        assert_non_empty_list_of_tensors(leaves, jvp_str, name)

    with _forward_level() as level:
        args = tree_unflatten([fwAD.make_dual(p, t) for p, t in zip(points, slopes)], spec)
        if argnums is not None:
            args = _replace_args(_wrap_all_tensors(primals, level), args, argnums)

        extra = ()
        result_duals = func(*args)
        if has_aux:
            result_duals, aux = _output_and_aux(result_duals, jvp_str)
            aux = _undo_create_differentiable(aux, level)
            extra = (aux,)

        leaves, out_spec = tree_flatten(result_duals)
        assert_non_empty_tensor_output(leaves, jvp_str)
        pairs = [safe_unpack_dual(leaf, strict) for leaf in leaves]
        primals_out_unflatten = tree_unflatten(_undo_create_differentiable(tuple([p for p, _ in pairs]), level), out_spec)
        tangents_out_unflatten = tree_unflatten(_undo_create_differentiable(tuple([t for _, t in pairs]), level), out_spec)
        return (primals_out_unflatten, tangents_out_unflatten, *extra)


@exposed_in("torch.func")
def linearize(func, *primals):
    output = func(*primals)
    points, spec = tree_flatten(primals)

    def jvp_fn(*tangents):
        slopes, slopes_spec = tree_flatten(tangents)
        if slopes_spec != spec:
            raise RuntimeError(f"Expected the tangents {slopes_spec} to have the same argspec as the primals {spec}")
        for idx, (slope, point) in enumerate(zip(slopes, points)):
            for what in ("shape", "dtype"):
                got, want = getattr(slope, what), getattr(point, what)
                if got != want:
                    raise RuntimeError(f"tangent:{idx} with {what} {got} in flattened pytree doesn't match the {what} {want} of the corresponding primal.")
        return jvp(func, primals, tangents)[1]

    return output, jvp_fn


# Jacobians: one product for each row of an identity matrix.

def _chunked_standard_basis_for_(tensors, tensor_numels, chunk_size=None):
    """Rows of identity matrices, in parts of chunk_size rows, as tensors shaped like those given."""
    assert 0 < len(tensors) == len(tensor_numels)
    assert chunk_size is None or chunk_size > 0
    total = sum(tensor_numels)
    parts = get_chunk_sizes(total, chunk_size) if chunk_size and chunk_size < total else [total]

    # a tensor's diagonal begins below those of the tensors before it, and above the rows of earlier parts
    offsets = (0, *torch.tensor(tensor_numels).cumsum(dim=0)[:-1].neg().unbind())
    done = 0
    for rows in parts:
        blocks = [tensor.new_zeros(rows, columns) for tensor, columns in zip(tensors, tensor_numels)]
        for chunk, diag_start_idx in zip(blocks, offsets):
            chunk.diagonal(diag_start_idx + done).fill_(1)
        yield tuple([chunk.view(rows, *tensor.shape) for chunk, tensor in zip(blocks, tensors)])
        done += rows


def _construct_standard_basis_for(tensors, tensor_numels):
    return next(iter(_chunked_standard_basis_for_(tensors, tensor_numels)))


def safe_unflatten(tensor, dim, shape):
    if shape:
        return tensor.unflatten(dim, shape)
    assert tensor.shape[dim] == 1
    return tensor.squeeze(dim)


def _by_argument(blocks, spec, argnums):
    """One output's blocks, as a caller of jacrev or jacfwd gets them."""
    return blocks[0] if isinstance(argnums, int) else tree_unflatten(blocks, spec)


@exposed_in("torch.func")
def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    def pulled_back(rows, spec, vjp_fn):
        if chunk_size != 1:
            basis = tree_unflatten(rows, spec)
            chunked_result = vmap(vjp_fn)(basis)
        else:
            basis = tree_unflatten([torch.squeeze(t, 0) for t in rows], spec)
            chunked_result = vjp_fn(basis)
        return tree_leaves(chunked_result)

    def jacobians(inputs, outputs, sizes, spec, vjp_fn):
        total = sum(sizes)
        copied = _preallocate_and_copy and chunk_size is not None and chunk_size < total
        if copied:
            whole = [primal.new_zeros(total, *primal.shape) for primal in inputs]
        parts = []
        for n, rows in enumerate(_chunked_standard_basis_for_(outputs, sizes, chunk_size=chunk_size)):
            part = pulled_back(rows, spec, vjp_fn)
            if copied:
                for sr, r in zip(whole, part):
                    sr[n * chunk_size:(n + 1) * chunk_size].copy_(r)
            elif chunk_size == 1:
                parts.append(tree_map(lambda t: torch.unsqueeze(t, 0), part))
            else:
                parts.append(part)
        if copied:
            return whole
        return parts[0] if len(parts) == 1 else [torch.cat(column, 0) for column in zip(*parts)]

    @wraps(func)
    def wrapper_fn(*args):
        error_if_complex("jacrev", args, is_input=True)
        output, vjp_fn, *extra = _vjp_with_argnums(func, *args, argnums=argnums, has_aux=has_aux)
        outputs, out_spec = tree_flatten(output)
        error_if_complex("jacrev", outputs, is_input=False)
        sizes = tuple([out.numel() for out in outputs])
        inputs, in_spec = tree_flatten(_slice_argnums(args, argnums))

        # a Jacobian's rows go to the outputs that they belong to
        columns = [result.split(sizes, dim=0) for result in jacobians(inputs, outputs, sizes, out_spec, vjp_fn)]
        columns = [[split.view(out.shape + primal.shape) for split, out in zip(column, outputs)] for column, primal in zip(columns, inputs)]
        output_input = tree_unflatten([_by_argument(blocks, in_spec, argnums) for blocks in zip(*columns)], out_spec)
        return (output_input, *extra) if has_aux else output_input

    return wrapper_fn


@exposed_in("torch.func")
def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    @wraps(func)
    def wrapper_fn(*args):
        error_if_complex("jacfwd", args, is_input=True)
        inputs, in_spec = tree_flatten(args if argnums is None else _slice_argnums(args, argnums))
        sizes = tuple([p.numel() for p in inputs])
        basis = tree_unflatten(_construct_standard_basis_for(inputs, sizes), in_spec)

        def push_jvp(basis):
            pushed = _jvp_with_argnums(func, args, basis, argnums=argnums, has_aux=has_aux)
            error_if_complex("jacfwd", pushed[0], is_input=False)
            return pushed[1:] if has_aux else pushed[1]

        results = vmap(push_jvp, randomness=randomness)(basis)
        if has_aux:
            results, aux = results
            leaves, aux_spec = tree_flatten(aux)
            aux = tree_unflatten([value[0] for value in leaves], aux_spec)

        outputs, out_spec = tree_flatten(results)
        rows = [[safe_unflatten(jac_out_in, -1, primal.shape) for primal, jac_out_in in zip(inputs, jac_out.movedim(0, -1).split(sizes, dim=-1))]
                for jac_out in outputs]
        rows = [_by_argument(blocks, in_spec, argnums) for blocks in rows]
        return (tree_unflatten(rows, out_spec), aux) if has_aux else tree_unflatten(rows, out_spec)

    return wrapper_fn


@exposed_in("torch.func")
def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)


_removable = {
    "mutations": "all inplace and out= operators will be removed from the program, and replaced with their out-of-place equivalents.",
    "mutations_and_views": "In addition to the above, all aliasing operators {view} will be replaced with their non-aliasing counterparts, {view}_copy.",
}


@exposed_in("torch.func")
def functionalize(func, *, remove="mutations"):
    if remove not in _removable:
        options = "".join(f"     remove='{name}': {what}\n" for name, what in _removable.items())
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n{options}")

    @wraps(func)
    def wrapped(*args, **kwargs):
        # What a function computes is the same with and without its writes to temporaries.
        with _between(partial(_func_increment_nesting, remove == "mutations"), _func_decrement_nesting):
            return func(*args, **kwargs)

    return wrapped
