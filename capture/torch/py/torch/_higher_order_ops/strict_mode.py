"""strict_mode: a function that is captured whole, or not at all."""
import torch
from torch._ops import HigherOrderOperator

strict_mode_op = HigherOrderOperator("strict_mode", lambda callable, operands: callable(*operands))


def strict_mode(callable, operands):
    return strict_mode_op(callable, operands)
