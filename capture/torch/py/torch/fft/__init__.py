import torch


def __getattr__(name):
    try:
        f = getattr(torch._C._fft, "fft_" + name)
    except AttributeError:
        raise AttributeError(f"module 'torch.fft' has no attribute '{name}'") from None
    globals()[name] = f
    return f


def __dir__():
    return sorted({*globals(), *torch._C._function_names("fft_")})
