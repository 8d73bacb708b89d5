"""The continuous Bernoulli distribution: the density of the Bernoulli distribution on all of the unit interval."""
import math

import torch
from torch.distributions import constraints
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.utils import binary_cross_entropy, broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ExponentialFamily):
    """Between the two limits the formulas lose their digits, and Taylor's around one half take their place."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
            self._param = self.probs
        else:
            (self.logits,) = broadcast_all(logits)
            self._param = self.logits
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    param_shape = property(lambda self: self._param.size())

    def _regular(self):
        """Where the formulas hold, and probabilities that they can be given everywhere."""
        low, high = self._lims
        regular = (self.probs <= low) | (self.probs > high)
        return regular, torch.where(regular, self.probs, torch.full_like(self.probs, low))

    def _log_norm(self):
        regular, p = self._regular()
        below = torch.where(p <= 0.5, p, torch.zeros_like(p))
        above = torch.where(p >= 0.5, p, torch.ones_like(p))
        width = torch.where(p <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        exact = torch.log(torch.abs(torch.log1p(-p) - torch.log(p))) - width
        x = (self.probs - 0.5) ** 2
        return torch.where(regular, exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        regular, p = self._regular()
        exact = p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p))
        x = self.probs - 0.5
        return torch.where(regular, exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    stddev = property(lambda self: torch.sqrt(self.variance))

    @property
    def variance(self):
        regular, p = self._regular()
        exact = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (torch.log1p(-p) - torch.log(p)) ** 2
        x = (self.probs - 0.5) ** 2
        return torch.where(regular, exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy(logits, value) + self._log_norm()

    def cdf(self, value):
        self._checked(value)
        regular, p = self._regular()
        exact = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = torch.where(regular, exact, value)
        return torch.where(value <= 0.0, torch.zeros_like(value), torch.where(value >= 1.0, torch.ones_like(value), inside))

    def icdf(self, value):
        regular, p = self._regular()
        exact = (torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)) / (torch.log(p) - torch.log1p(-p))
        return torch.where(regular, exact, value)

    def entropy(self):
        none, one = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (none - one) - self._log_norm() - none

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        """log((exp(x) - 1) / x), by Taylor's formula near zero."""
        low, high = self._lims
        far = (x <= low - 0.5) | (x > high - 0.5)
        safe = torch.where(far, x, torch.full_like(x, low - 0.5))
        exact = torch.log(torch.abs(torch.special.expm1(safe))) - torch.log(torch.abs(safe))
        return torch.where(far, exact, 0.5 * x + x**2 / 24.0 - x**4 / 2880.0)
