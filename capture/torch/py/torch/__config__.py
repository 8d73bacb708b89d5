"""How this torch was built, as text."""
import torch


def show():
    return f"PyTorch built with:\n  - whittle {torch.__version__}\n  - CPU capability usage: {torch.backends.cpu.get_cpu_capability()}\n"


def _cxx_flags():
    return ""


def parallel_info():
    n = torch.get_num_threads()
    return f"ATen/Parallel:\n\tat::get_num_threads() : {n}\n\tat::get_num_interop_threads() : {torch.get_num_interop_threads()}\nATen parallel backend: native thread pool\n"
