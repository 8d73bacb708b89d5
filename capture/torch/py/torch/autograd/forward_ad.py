"""Tensors with tangents: derivatives along a direction, computed beside the values."""
from collections import namedtuple
from contextlib import ContextDecorator

import torch

__all__ = ["UnpackedDualTensor", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual", "dual_level"]

_is_fwd_grad_enabled = torch._C._is_fwd_grad_enabled


def __getattr__(name):
    if name == "_current_level":
        return torch._C._dual_level()
    raise AttributeError(f"module 'torch.autograd.forward_ad' has no attribute '{name}'")


def _current(level):
    """The level that is meant: the one under way where none is given, -1 if there is none."""
    return torch._C._dual_level() if level is None else level


class UnpackedDualTensor(namedtuple("_UnpackedDualTensor", ("primal", "tangent"))):
    """What unpack_dual gives: in a tree, which looks into named tuples only, it is one leaf."""


def enter_dual_level():
    if _current(None) >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    return torch._C._enter_dual_level()


def exit_dual_level(*, level=None):
    ends = _current(level)
    if ends < 0 or ends != _current(None):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    torch._C._exit_dual_level(ends)


def _maybe_load_decompositions():
    """Where PyTorch takes operators apart for forward mode; here every formula serves both."""


def make_dual(tensor, tangent, *, level=None):
    _maybe_load_decompositions()
    on = _current(level)
    if on < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    _check_kind("primal", tensor)
    _check_kind("tangent", tangent)
    return torch._C._forward_ad._make_dual(tensor, tangent, level=on)


def _check_kind(part, t):
    if not t.is_floating_point() and not t.is_complex():
        raise ValueError(f"Expected {part} to be floating point or complex, but got: {t.dtype}")


def unpack_dual(tensor, *, level=None):
    on = _current(level)
    primal, dual = (tensor, None) if on < 0 else torch._C._forward_ad._unpack_dual(tensor, level=on)  # nodes of graphs have these names
    return UnpackedDualTensor(primal, dual)


class dual_level(ContextDecorator):
    """Within it tensors can have tangents, which are gone when it ends."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *error):
        exit_dual_level()


class _set_fwd_grad_enabled(ContextDecorator):
    """Sets the switch at once; the end of the block sets it back."""

    def __init__(self, mode):
        self.before = _is_fwd_grad_enabled()
        torch._C._set_fwd_grad_enabled(mode)

    def __enter__(self):
        """Nothing is left to do."""

    def __exit__(self, *error):
        torch._C._set_fwd_grad_enabled(self.before)
