"""functorch's names of what torch.func has: each says so and calls that."""
import functools
import warnings

import torch.func


def get_warning(api, new_api=None, replace_newlines=False):
    new_api = f"torch.func.{api}" if new_api is None else new_api
    text = (f"We've integrated functorch into PyTorch. As the final step of the \nintegration, `functorch.{api}` is deprecated as of PyTorch \n2.0 and will be deleted in a future version of PyTorch >= 2.3. \n"
            f"Please use `{new_api}` instead; see the PyTorch 2.0 release notes \nand/or the `torch.func` migration guide for more details \nhttps://pytorch.org/docs/main/func.migrating.html")
    return text.replace("\n", "") if replace_newlines else text


def warn_deprecated(api, new_api=None):
    warnings.warn(get_warning(api, new_api, replace_newlines=True), FutureWarning, stacklevel=3)


def _deprecated(name):
    new = getattr(torch.func, name)

    @functools.wraps(new)
    def wrapper(*args, **kwargs):
        warn_deprecated(name)
        return new(*args, **kwargs)

    wrapper.__module__ = __name__
    return wrapper


vmap, grad, grad_and_value, vjp, jvp = _deprecated("vmap"), _deprecated("grad"), _deprecated("grad_and_value"), _deprecated("vjp"), _deprecated("jvp")
jacrev, jacfwd, hessian, functionalize = _deprecated("jacrev"), _deprecated("jacfwd"), _deprecated("hessian"), _deprecated("functionalize")


def make_functional(model, disable_autograd_tracking=False):
    warn_deprecated("make_functional", "torch.func.functional_call")
    raise NotImplementedError("functorch.make_functional is not supported; use torch.func.functional_call")


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    warn_deprecated("make_functional_with_buffers", "torch.func.functional_call")
    raise NotImplementedError("functorch.make_functional_with_buffers is not supported; use torch.func.functional_call")


def combine_state_for_ensemble(models):
    warn_deprecated("combine_state_for_ensemble", "torch.func.stack_module_state")
    return torch.func.stack_module_state(models)
