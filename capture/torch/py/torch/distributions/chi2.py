"""The chi-squared distribution."""
import torch
from torch.distributions import constraints
from torch.distributions.gamma import Gamma


class Chi2(Gamma):
    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2)
