"""The operators behind record_function, for graphs that hold them: torch.ops.profiler."""
import torch
from torch import library

_lib = library.Library("profiler", "DEF")
_lib.define("_record_function_enter(str name, str? args=None) -> Tensor")
_lib.define("_record_function_exit(Tensor _0) -> ()")


def _enter(name, args=None):
    """The handle is the number of the range, in a tensor, as graphs carry tensors."""
    return torch.tensor(torch._C._autograd._record_enter(name))


def _exit(handle):
    torch._C._autograd._record_exit(handle)


_lib.impl("_record_function_enter", _enter, "CompositeExplicitAutograd")
_lib.impl("_record_function_exit", _exit, "CompositeExplicitAutograd")
