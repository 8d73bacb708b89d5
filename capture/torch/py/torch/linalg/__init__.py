import torch


class LinAlgError(RuntimeError):
    """A matrix that an algorithm cannot take: singular, not positive definite, or one where an iteration does not end."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


def __getattr__(name):
    try:
        f = getattr(torch._C._linalg, "linalg_" + name)
    except AttributeError:
        raise AttributeError(f"module 'torch.linalg' has no attribute '{name}'") from None
    globals()[name] = f
    return f


def __dir__():
    return sorted({*globals(), *torch._C._function_names("linalg_")})
