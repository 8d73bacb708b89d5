"""Operators that leave out the elements whose mask is False."""
from torch.masked._ops import (amax, amin, argmax, argmin, cumprod, cumsum, log_softmax, logaddexp, logsumexp, mean, median, norm, normalize, prod, softmax,
                               softmin, std, sum, var)

__all__ = ["amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm", "normalize", "prod",
           "softmax", "softmin", "std", "sum", "var"]
