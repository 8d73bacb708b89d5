"""The limits of types, as torch tells them."""

import torch

from . import _dtypes


def finfo(dtyp):
    return torch.finfo(_dtypes.dtype(dtyp).torch_dtype)


def iinfo(dtyp):
    return torch.iinfo(_dtypes.dtype(dtyp).torch_dtype)
