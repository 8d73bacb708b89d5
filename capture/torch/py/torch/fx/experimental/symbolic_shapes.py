"""Errors and small questions about symbolic sizes."""
import torch


class ConstraintViolationError(RuntimeError):
    pass


class GuardOnDataDependentSymNode(RuntimeError):
    pass


def is_symbolic(val):
    return isinstance(val, (torch.SymInt, torch.SymFloat, torch.SymBool))


def guard_int(a):
    return int(a)


def guard_size_oblivious(expr):
    return bool(expr)


def statically_known_true(x):
    return x is True
