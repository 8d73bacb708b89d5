"""Samples of operators' arguments."""
import torch
from torch.testing import make_tensor
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo, ReductionOpInfo, SampleInput, UnaryUfuncInfo, op_db


def sample_inputs_take_along_dim(op_info, device, dtype, requires_grad, **kwargs):
    def tensor(*shape):
        return make_tensor(shape, dtype=dtype, device=device, low=None, high=None, requires_grad=requires_grad)

    def indices(n, *shape):
        return torch.randint(0, n, shape, device=device)

    # As many indices as there are elements, a shape that is broadcast, no dimension, and none to choose from.
    yield SampleInput(tensor(5, 10), args=(indices(10, 5, 10), 1))
    yield SampleInput(tensor(5, 10), args=(indices(5, 5, 1), 1))
    yield SampleInput(tensor(5, 10), args=(indices(5, 1, 10), 0))
    yield SampleInput(tensor(5, 10), args=(indices(50, 60),))
