"""Calls of modules with other tensors in the place of their parameters: see torch.func."""
import contextlib


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    from torch.func import functional_call

    return functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    from torch._functorch.functional_call import swap_in, swap_out

    given, changed = swap_in(module, parameters_and_buffers, tie_weights, strict)
    try:
        yield
    finally:
        swap_out(parameters_and_buffers, given, changed)
