import torch


def __getattr__(name):
    try:
        f = getattr(torch._C._special, "special_" + name)
    except AttributeError:
        raise AttributeError(f"module 'torch.special' has no attribute '{name}'") from None
    globals()[name] = f
    return f


def __dir__():
    return sorted({*globals(), *torch._C._function_names("special_")})
