"""Whether gradients are right: those that autograd computes beside differences of values."""
import torch


class GradcheckError(RuntimeError):
    """Gradients that are not right."""


def _tensors(x):
    return [t for t in ((x,) if isinstance(x, torch.Tensor) else x) if isinstance(t, torch.Tensor)]


def _differentiable(x):
    return [t for t in _tensors(x) if t.requires_grad and (t.is_floating_point() or t.is_complex())]


def _numerical_jacobian(fn, inputs, x, eps):
    """The derivatives of the outputs with respect to x, a list of matrices (numel of x, numel of the output), by central differences."""
    flat = x.data.view(-1) if x.is_contiguous() else None
    if flat is None:
        raise ValueError("gradcheck expects contiguous inputs")

    def outputs():
        with torch.no_grad():
            return [o.detach().clone() for o in _tensors(fn(*inputs))]

    rows = []
    for i in range(flat.numel()):
        old = flat[i].item()
        flat[i] = old + eps
        up = outputs()
        flat[i] = old - eps
        down = outputs()
        flat[i] = old
        rows.append([((u - d) / (2 * eps)).view(-1) for u, d in zip(up, down)])
    if not rows:
        return [torch.zeros(0, o.numel(), dtype=o.dtype) for o in outputs()]
    return [torch.stack([r[k] for r in rows]) for k in range(len(rows[0]))]


def _analytical_jacobian(x, out):
    """The same for one output, by backward passes."""
    columns = []
    flat = out.reshape(-1)
    for j in range(out.numel()):
        seed = torch.zeros_like(flat)
        seed[j] = 1
        (g,) = torch.autograd.grad(flat, x, seed, retain_graph=True, allow_unused=True)
        columns.append(torch.zeros(x.numel(), dtype=x.dtype) if g is None else g.reshape(-1))
    return torch.stack(columns, dim=1) if columns else torch.zeros(x.numel(), 0, dtype=x.dtype)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    """Compares the gradients of func at inputs with differences of its values. True where they agree; else an error, or False.

    Inputs of real numbers only, in double precision to be of use."""
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    try:
        wanted = _differentiable(inputs)
        if not wanted:
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
        if any(t.is_complex() for t in wanted):
            raise NotImplementedError("gradcheck of complex inputs is not supported")
        outs = func(*inputs)
        results = _differentiable(outs)
        for i, x in enumerate(inputs):
            if not any(x is w for w in wanted):
                continue
            numerical = _numerical_jacobian(func, inputs, x, eps)
            places = [k for k, o in enumerate(_tensors(outs)) if any(o is r for r in results)]
            for j, (k, out) in enumerate(zip(places, results)):
                analytical = _analytical_jacobian(x, out)
                again = _analytical_jacobian(x, out)
                if not torch.allclose(analytical, again, rtol=0, atol=nondet_tol):
                    raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although analytical "
                                         f"gradient matches numerical gradient.The tolerance for nondeterminism was {nondet_tol}.")
                if not torch.allclose(analytical, numerical[k], rtol=rtol, atol=atol):
                    raise GradcheckError(f"Jacobian mismatch for output {j} with respect to input {i},\nnumerical:{numerical[k]}\nanalytical:{analytical}\n")
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """gradcheck of the gradients themselves."""
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    if grad_outputs is None:
        grad_outputs = tuple(torch.randn_like(o).requires_grad_() for o in _differentiable(func(*inputs)))
    else:
        grad_outputs = (grad_outputs,) if isinstance(grad_outputs, torch.Tensor) else tuple(grad_outputs)
    n = len(grad_outputs)

    def first(*args):
        given, seeds = args[:-n], args[-n:]
        with torch.enable_grad():
            outs = _differentiable(func(*given))
            wanted = _differentiable(given)
            grads = torch.autograd.grad(outs, wanted, seeds, create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(first, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol)
