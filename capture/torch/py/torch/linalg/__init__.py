import torch


def __getattr__(name):
    try:
        f = getattr(torch._C._linalg, "linalg_" + name)
    except AttributeError:
        raise AttributeError(f"module 'torch.linalg' has no attribute '{name}'") from None
    globals()[name] = f
    return f
