import math

import torch
from torch.autograd.function import Function


class Type(Function):
    """A tensor with elements of another type, given by its name."""

    @staticmethod
    def forward(ctx, i, dest_type):
        ctx.came = i.dtype
        return i.type(dest_type)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.to(ctx.came), None


class Resize(Function):
    """The elements of a tensor in another shape, a view where it is contiguous."""

    @staticmethod
    def forward(ctx, tensor, sizes):
        had, wanted = tensor.numel(), math.prod(sizes)
        if wanted != had:
            raise RuntimeError(f"requested resize to {'x'.join(map(str, sizes))} ({wanted} elements in total), but the given tensor has a size of "
                               f"{'x'.join(map(str, tensor.size()))} ({had} elements). autograd's resize can only change the shape of a given tensor, while preserving the number of elements. ")
        ctx.came = tensor.size()
        if tensor.is_contiguous():
            return tensor.contiguous().view(*sizes)
        return tensor.reshape(*sizes)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.contiguous().view(ctx.came), None
