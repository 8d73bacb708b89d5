"""The Dirichlet distribution."""
import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.nn import functional as F


class Dirichlet(Distribution):
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        low = (self.concentration < 1).all(dim=-1)
        mode[low] = F.one_hot(mode[low].argmax(dim=-1), self.concentration.shape[-1]).to(mode)
        return mode

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        parts = torch._standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        return parts / parts.sum(-1, True)

    def log_prob(self, value):
        self._checked(value)
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self):
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return torch.lgamma(a).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)
