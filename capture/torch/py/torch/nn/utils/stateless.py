"""Calls of modules with other tensors in the place of their parameters: see torch.func."""


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    from torch.func import functional_call

    return functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
