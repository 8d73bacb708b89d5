"""Products with Jacobians and Hessians, and these whole, of functions of tensors."""
import torch


def _tupled(x, what, fn):
    """The tensors of an argument or a result, and whether there were several."""
    several = isinstance(x, (tuple, list))
    for i, t in enumerate(x if several else (x,)):
        if not isinstance(t, torch.Tensor):
            raise TypeError(f"The {what} given to {fn} must be either a Tensor or a tuple of Tensors but the value at index {i} has type {type(t)}." if several else
                            f"The {what} given to {fn} must be either a Tensor or a tuple of Tensors but the given {what} has type {type(t)}.")
    return (tuple(x) if several else (x,)), several


def _fresh(inputs, create_graph, needed=True):
    """Inputs that this computation alone differentiates by."""
    return tuple(i.view_as(i) if create_graph and i.requires_grad else i.detach().requires_grad_(needed) for i in inputs)


def _given(xs, several):
    return tuple(xs) if several else xs[0]


def _cut(xs, create_graph):
    return tuple(xs) if create_graph else tuple(x.detach() for x in xs)


def _vector(v, like, fn, what):
    if v is None:
        if len(like) != 1 or like[0].nelement() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what}.")
        return (torch.ones_like(like[0]),)
    v, _ = _tupled(v, "v", fn)
    if len(v) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
    for i, (a, b) in enumerate(zip(v, like)):
        if a.size() != b.size():
            prepend = f"Entry {i} in " if len(v) > 1 else ""
            raise RuntimeError(f"{prepend}v has invalid size: should be {b.size()} but got {a.size()}.")
    return v


def _gradients(outputs, inputs, grads, create_graph, strict, retain=None):
    reached = [(o, g) for o, g in zip(outputs, grads) if o.requires_grad]
    if strict and len(reached) < len(outputs):
        raise RuntimeError("The output of the user-provided function is independent of the input. This is not allowed in strict mode.")
    if not reached:
        return tuple(torch.zeros_like(i) for i in inputs)
    found = torch.autograd.grad([o for o, _ in reached], inputs, [g for _, g in reached], allow_unused=True, create_graph=create_graph, retain_graph=retain)
    if strict and any(g is None for g in found):
        raise RuntimeError("The output of the user-provided function is independent of an input. This is not allowed in strict mode.")
    return tuple(torch.zeros_like(i) if g is None else g for g, i in zip(found, inputs))


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        inputs, several = _tupled(inputs, "inputs", "vjp")
        inputs = _fresh(inputs, create_graph)
        outputs, many = _tupled(func(*inputs), "outputs of the user-provided function", "vjp")
        v = _vector(v, outputs, "vjp", "user-provided function returns a single Tensor with a single element")
        found = _gradients(outputs, inputs, v, create_graph, strict)
    return _given(_cut(outputs, create_graph), many), _given(_cut(found, create_graph), several)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        inputs, several = _tupled(inputs, "inputs", "jvp")
        inputs = _fresh(inputs, create_graph)
        v = _vector(v, inputs, "jvp", "input to the user-provided function is a single Tensor with a single element")
        outputs, many = _tupled(func(*inputs), "outputs of the user-provided function", "jvp")
        # The product with the transposed Jacobian is linear in its vector: its derivative by that is the Jacobian.
        weights = tuple(torch.zeros_like(o, requires_grad=True) for o in outputs)
        back = _gradients(outputs, inputs, weights, True, strict)
        found = _gradients(back, weights, v, create_graph, False)
    return _given(_cut(outputs, create_graph), many), _given(_cut(found, create_graph), many)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    with torch.enable_grad():
        inputs, several = _tupled(inputs, "inputs", "jacobian")
        inputs = _fresh(inputs, create_graph)
        outputs, many = _tupled(func(*inputs), "outputs of the user-provided function", "jacobian")
        blocks = []
        for out in outputs:
            rows = []
            for k in range(out.nelement()):
                pick = torch.zeros_like(out).reshape(-1)
                pick[k] = 1
                rows.append(_gradients((out,), inputs, (pick.view_as(out),), create_graph, strict, retain=True))
            blocks.append(tuple(torch.stack([r[i] for r in rows]).view(tuple(out.size()) + tuple(inp.size())) if rows else out.new_zeros(tuple(out.size()) + tuple(inp.size()))
                                for i, inp in enumerate(inputs)))
    blocks = [_cut(b, create_graph) for b in blocks]
    blocks = [_given(b, several) for b in blocks]
    return _given(blocks, many)


def _scalar(func, fn):
    """func, which has to give one number."""

    def checked(*inputs):
        out = func(*inputs)
        (one,), several = _tupled(out, "outputs of the user-provided function", fn)
        if several or one.nelement() != 1:
            raise RuntimeError(f"The Tensor returned by the function given to {fn} should contain a single element")
        return one.reshape(())

    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    inputs, several = _tupled(inputs, "inputs", "hessian")

    def slopes(*xs):
        return jacobian(_scalar(func, "hessian"), xs, create_graph=True, strict=strict)

    result = jacobian(slopes, inputs, create_graph=create_graph, strict=strict)
    return result if several else result[0][0]


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        inputs, several = _tupled(inputs, "inputs", "vhp")
        inputs = _fresh(inputs, create_graph)
        v = _vector(v, inputs, "vhp", "input to the user-provided function is a single Tensor with a single element")
        out = _scalar(func, "vhp")(*inputs)
        slopes = _gradients((out,), inputs, (torch.ones_like(out),), True, strict)
        found = _gradients(slopes, inputs, v, create_graph, strict)
    return _cut((out,), create_graph)[0], _given(_cut(found, create_graph), several)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    return vhp(func, inputs, v, create_graph, strict)
