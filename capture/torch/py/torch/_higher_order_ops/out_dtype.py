"""out_dtype: an operator whose result has a dtype that is given."""
import functools

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.utils import _pytree as pytree

ALLOWABLE_OPS = [torch.ops.aten.linear.default, torch.ops.aten.mm.default, torch.ops.aten.conv2d.default, torch.ops.aten.convolution.default, torch.ops.aten.mul.Tensor,
                 torch.ops.aten.mul.Scalar, torch.ops.aten.div.Tensor, torch.ops.aten.div.Scalar]


class OutDtypeOperator(HigherOrderOperator):
    """Computes in the widest of the dtypes of the tensors and of the result."""

    def __init__(self):
        super().__init__("out_dtype")

    def __call__(self, op, output_dtype, *args):
        problem = None
        if not isinstance(op, OpOverload):
            problem = "out_dtype's first argument must be an OpOverload"
        elif op._schema.is_mutable:
            problem = "out_dtype's first argument needs to be a functional operator"
        elif op not in ALLOWABLE_OPS:
            problem = f"out_dtype only allows the following operators: {ALLOWABLE_OPS}."
        if problem is not None:
            raise ValueError(problem)
        tensors = [a for a in pytree.tree_leaves(args) if isinstance(a, torch.Tensor)]
        dtype = functools.reduce(torch.promote_types, [t.dtype for t in tensors], output_dtype)
        return op(*[a.to(dtype=dtype) if isinstance(a, torch.Tensor) else a for a in args]).to(dtype=output_dtype)


out_dtype = OutDtypeOperator()
