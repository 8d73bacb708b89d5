"""The name that tensors had in old programs."""
from torch.autograd import Variable, VariableMeta

__all__ = ["Variable", "VariableMeta"]
