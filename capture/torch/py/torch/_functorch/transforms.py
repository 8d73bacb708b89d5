"""The transformations of torch.func: gradients by the engine that backward() has, and vmap by a call for each element of the batch."""
import functools

import torch
from torch._functorch import trees

_depth = 0  # how many gradients are being taken around the running function


class _Level:
    def __enter__(self):
        global _depth
        _depth += 1
        self.grad = torch.enable_grad()
        self.grad.__enter__()

    def __exit__(self, *exc):
        global _depth
        _depth -= 1
        return self.grad.__exit__(*exc)


def _fresh(x, name):
    """x as a variable of this level alone; what x depends on stays behind it."""
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"{name}: Expected every argument to be a Tensor, got {type(x).__name__}")
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


def _variables(tree, name):
    leaves, spec = trees.flatten(tree)
    fresh = [_fresh(x, name) for x in leaves]
    return fresh, trees.unflatten(fresh, spec), spec


def _own(node, known):
    """Whether nothing but the variables of this level is behind a node."""
    todo, seen = [node], set()
    while todo:
        n = todo.pop()
        if n is None or n in seen:
            continue
        seen.add(n)
        if hasattr(n, "variable"):
            if not any(n.variable is k for k in known):
                return False
        else:
            todo += [m for m, _ in n.next_functions]
    return True


def _settled(tree, fresh):
    """A result as it leaves its level. Outside of all levels it is a constant, unless tensors of the program's own that ask for gradients are behind it."""
    if _depth > 0 or any(not x.is_leaf for x in fresh):
        return tree
    return trees.map(lambda t: t.detach() if isinstance(t, torch.Tensor) and t.requires_grad and _own(t.grad_fn, fresh) else t, tree)


def _grads(outs, ins, weights, keep=True):
    """Gradients of outs; zeros where nothing of an input is in them."""
    live = [(o, w) for o, w in zip(outs, weights) if o.requires_grad]
    if not live:
        return [torch.zeros_like(x) for x in ins]
    found = torch.autograd.grad([o for o, _ in live], ins, [w for _, w in live], create_graph=True, retain_graph=keep, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, ins)]


def _picked(args, argnums, name):
    several = isinstance(argnums, tuple)
    for i in argnums if several else (argnums,):
        if type(i) is not int:
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {argnums}" if not several else f"argnums elements must be int, got {type(i)}")
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
    return tuple(args[i] for i in argnums) if several else args[argnums]


def _replaced(args, argnums, values):
    args = list(args)
    for i, v in zip(argnums if isinstance(argnums, tuple) else (argnums,), values if isinstance(argnums, tuple) else (values,)):
        args[i] = v
    return args


def grad_and_value(func, argnums=0, has_aux=False):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Level():
            fresh, chosen, spec = _variables(_picked(args, argnums, "grad"), "grad")
            out = func(*_replaced(args, argnums, chosen), **kwargs)
            aux = None
            if has_aux:
                if not (isinstance(out, tuple) and len(out) == 2):
                    raise RuntimeError("grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True")
                out, aux = out
            if not isinstance(out, torch.Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}")
            if out.dim() != 0:
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {out.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
            slopes = trees.unflatten(_grads([out], fresh, [torch.ones_like(out)]), spec)
        slopes, out, aux = _settled((slopes, out, aux), fresh)
        return (slopes, (out, aux)) if has_aux else (slopes, out)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        slopes, out = both(*args, **kwargs)
        return (slopes, out[1]) if has_aux else slopes

    return wrapper


def _tensors(tree, name):
    leaves, spec = trees.flatten(tree)
    if not leaves:
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got output = {tree})" if isinstance(tree, (tuple, list, dict)) else
                           f"{name}: Expected f(*args) to return only tensors, got unsupported type {type(tree)}")
    for x in leaves:
        if not isinstance(x, torch.Tensor):
            raise RuntimeError(f"{name}: Expected f(*args) to return only tensors, got unsupported type {type(x)}")
    return leaves, spec


def _split(out, has_aux, name):
    if not has_aux:
        return out, None
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{name}(f, *primals): output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


def vjp(func, *primals, has_aux=False):
    with _Level():
        fresh, chosen, spec = _variables(primals, "vjp")
        out, aux = _split(func(*chosen), has_aux, "vjp")
        outs, out_spec = _tensors(out, "vjp(f, *primals)")

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        weights, given = trees.flatten(cotangents)
        if given != out_spec:
            raise RuntimeError(f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: {given}, primal output: {out_spec}")
        with _Level():
            found = _grads(outs, fresh, weights)
        slopes = trees.unflatten(_settled(found, fresh), spec)
        return slopes if len(primals) != 1 else slopes[0]

    result = _settled(out, fresh)
    return (result, vjp_fn, _settled(aux, fresh)) if has_aux else (result, vjp_fn)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The product of a Jacobian with a vector, as the derivative, by weights, of the product with weights from the other side."""
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if not isinstance(tangents, tuple) or len(primals) == 0 or trees.flatten(primals)[1] != trees.flatten(tangents)[1]:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, tangents also must be.")
    with _Level():
        fresh, chosen, spec = _variables(primals, "jvp")
        out, aux = _split(func(*chosen), has_aux, "jvp")
        outs, out_spec = _tensors(out, "jvp(f, primals, tangents)")
        weights = [torch.zeros_like(o).requires_grad_() for o in outs]
        slopes = _grads(outs, fresh, weights)
        found = _grads(slopes, weights, trees.flatten(tangents)[0])
        found = [f.view_as(o) for f, o in zip(found, outs)]
    own = fresh + weights
    result = _settled((out, trees.unflatten(found, out_spec)), own)
    return (*result, _settled(aux, own)) if has_aux else result


def linearize(func, *primals):
    out = _settled(func(*primals), [])

    def jvp_fn(*tangents):
        return jvp(func, primals, tangents)[1]

    return out, jvp_fn


def _jacobian(name, func, argnums, has_aux):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Level():
            fresh, chosen, spec = _variables(_picked(args, argnums, name), name)
            out, aux = _split(func(*_replaced(args, argnums, chosen), **kwargs), has_aux, name)
            outs, out_spec = _tensors(out, name)
            blocks = []
            for o in outs:
                rows = []
                for k in range(o.numel()):
                    pick = torch.zeros(o.numel(), dtype=o.dtype)
                    pick[k] = 1
                    rows.append(_grads([o], fresh, [pick.view(o.shape)]))
                block = [torch.stack([r[i] for r in rows]).view(o.shape + x.shape) if rows else o.new_zeros(o.shape + x.shape) for i, x in enumerate(fresh)]
                blocks.append(trees.unflatten(block, spec))
        result = _settled(trees.unflatten(blocks, out_spec), fresh)
        return (result, _settled(aux, fresh)) if has_aux else result

    return wrapper


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian("jacrev", func, argnums, has_aux)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    return _jacobian("jacfwd", func, argnums, has_aux)


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func, *, remove="mutations"):
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError("functionalize(f, remove='mutations'): received invalid argument for remove= argument. Only 'mutations' and 'mutations_and_views' are supported.")
    return func  # what a function computes is the same with and without its writes to temporaries


def _dims(in_dims, args, func):
    """The batch dimension of each leaf of the arguments."""
    leaves, spec = trees.flatten(args)
    dims = trees.spread(in_dims, args)
    if dims is None:
        raise ValueError(f"vmap({func}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of inputs. in_dims has structure "
                         f"{trees.flatten(in_dims)[1]} but inputs has structure {spec}.")
    sizes = []
    for i, (x, d) in enumerate(zip(leaves, dims)):
        if d is None:
            continue
        if type(d) is not int:
            raise ValueError(f"vmap({func}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(x, torch.Tensor):
            raise ValueError(f"vmap({func}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, "
                             "please use None as the respective in_dim")
        if not -x.dim() <= d < x.dim():
            raise ValueError(f"vmap({func}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected in_dim to satisfy "
                             f"-{x.dim()} <= in_dim < {x.dim()}.")
        sizes.append(x.size(d))
    if not sizes:
        raise ValueError(f"vmap({func}, in_dims={in_dims}, ...)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. The latter is "
                         "unsupported." if not leaves else "vmap: at least one input must have a batch dimension")
    if any(n != sizes[0] for n in sizes):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return leaves, dims, spec, sizes[0]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Calls func for each element of the batch and puts the results together."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    name = getattr(func, "__name__", func)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        if not args:
            raise ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. "
                             "The latter is unsupported.")
        leaves, dims, spec, n = _dims(in_dims, args, name)
        named, named_spec = trees.flatten(kwargs)
        before = torch.get_rng_state() if randomness != "different" else None
        parts = [x.unbind(d) if d is not None else None for x, d in zip(leaves, dims)]
        each = []
        for i in range(n):
            if randomness == "same":
                torch.set_rng_state(before)
            one = trees.unflatten([x if p is None else p[i] for x, p in zip(leaves, parts)], spec)
            own = trees.unflatten([x[i] if isinstance(x, torch.Tensor) else x for x in named], named_spec)
            each.append(trees.flatten(func(*one, **own)))
            if randomness == "error" and i == 0 and not torch.equal(before, torch.get_rng_state()):
                raise RuntimeError("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness "
                                   "operation out of vmap")
        if not each:
            raise RuntimeError("vmap over an empty batch is not supported")
        out_spec = each[0][1]
        for x in each[0][0]:
            if not isinstance(x, torch.Tensor):
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to set out_dims= to None for output?")
        sample = trees.unflatten(each[0][0], out_spec)
        places = trees.spread(out_dims, sample)
        if places is None:
            raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of outputs. out_dims has structure "
                             f"{trees.flatten(out_dims)[1]} but outputs has structure {out_spec}.")
        return trees.unflatten([each[0][0][k] if d is None else torch.stack([e[0][k] for e in each], d) for k, d in enumerate(places)], out_spec)

    return wrapped


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    given = parameter_and_buffer_dicts
    if isinstance(given, (list, tuple)):
        given = {k: v for d in given for k, v in d.items()}
    if not isinstance(given, dict):
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    own = {}
    for prefix, m in module.named_modules(remove_duplicate=False):
        for table in (m._parameters, m._buffers):
            for k, v in table.items():
                own[prefix + ("." if prefix else "") + k] = (table, k, v)
    if tie_weights:
        named = {id(own[k][2]): v for k, v in given.items() if k in own and own[k][2] is not None}
        for k, (_, _, v) in own.items():
            if k not in given and id(v) in named:
                given = {**given, k: named[id(v)]}
    if strict:
        missing, unexpected = [k for k in own if k not in given], [k for k in given if k not in own]
        if missing or unexpected:
            parts = []
            if unexpected:
                parts.append(f"Unexpected key(s): {', '.join(unexpected)}.")
            if missing:
                parts.append(f"Missing key(s): {', '.join(missing)}.")
            raise RuntimeError(" ".join(parts))
    changed = [(own[k][0], own[k][1], own[k][2], v) for k, v in given.items() if k in own]
    for table, k, _, v in changed:
        table[k] = v
    try:
        return module(*args, **(kwargs or {}))
    finally:
        for (table, k, old, v) in changed:
            if table[k] is not v:  # the call has put something else there, as running statistics: the caller's dict gets it
                for name, x in list(given.items()):
                    if x is v and isinstance(parameter_and_buffer_dicts, dict) and name in parameter_and_buffer_dicts:
                        parameter_and_buffer_dicts[name] = table[k]
            table[k] = old


def stack_module_state(models):
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not all(m.training == models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(all_named, differentiable):
        names = [dict(x) for x in all_named]
        out = {}
        for k in names[0]:
            values = [n[k] for n in names]
            t = torch.stack([v.detach() for v in values])
            out[k] = t.requires_grad_() if differentiable and values[0].requires_grad else t
        return out

    return stacked([m.named_parameters() for m in models], True), stacked([m.named_buffers() for m in models], False)


def make_functional(model, disable_autograd_tracking=False):
    names = [k for k, _ in model.named_parameters()]
    params = tuple(p.detach() if disable_autograd_tracking else p for p in model.parameters())

    def fmodel(params, *args, **kwargs):
        return functional_call(model, dict(zip(names, params)), args, kwargs)

    return fmodel, params


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    names, kept = [k for k, _ in model.named_parameters()], [k for k, _ in model.named_buffers()]
    params = tuple(p.detach() if disable_autograd_tracking else p for p in model.parameters())

    def fmodel(params, buffers, *args, **kwargs):
        return functional_call(model, {**dict(zip(names, params)), **dict(zip(kept, buffers))}, args, kwargs)

    return fmodel, params, tuple(model.buffers())


def combine_state_for_ensemble(models):
    made = [make_functional_with_buffers(m) for m in models]
    params = tuple(torch.stack([p.detach() for p in ps]).requires_grad_() for ps in zip(*(m[1] for m in made)))
    buffers = tuple(torch.stack(bs) for bs in zip(*(m[2] for m in made)))
    return made[0][0], params, buffers
