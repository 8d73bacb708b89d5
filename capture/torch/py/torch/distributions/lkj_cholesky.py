"""The distribution of Lewandowski, Kurowicka and Joe (2009) of correlation matrices, by their Cholesky factors."""
import math

import torch
from torch.distributions import constraints
from torch.distributions.beta import Beta
from torch.distributions.distribution import Distribution
from torch.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The squared length of each row's part below the diagonal (their onion method).
        marginal = self.concentration + 0.5 * (dim - 2)
        above = torch.cat([marginal.new_zeros((1,)), torch.arange(dim - 1, dtype=marginal.dtype, device=marginal.device)])
        self._beta = Beta(above + 0.5, marginal.unsqueeze(-1) - 0.5 * above)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(LKJCholesky, _instance)
        batch_shape = torch.Size(batch_shape)
        new.dim, new.concentration = self.dim, self.concentration.expand(batch_shape)
        new._beta = self._beta.expand(batch_shape + (self.dim,))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=torch.Size()):
        lengths = self._beta.sample(sample_shape).unsqueeze(-1)
        ways = torch.randn(self._extended_shape(sample_shape), dtype=lengths.dtype, device=lengths.device).tril(-1)
        ways = ways / ways.norm(dim=-1, keepdim=True)
        ways[..., 0, :].fill_(0.0)
        below = torch.sqrt(lengths) * ways
        rest = torch.clamp(1 - torch.sum(below**2, dim=-1), min=torch.finfo(below.dtype).tiny).sqrt()
        return below + torch.diag_embed(rest)

    def log_prob(self, value):
        self._checked(value)
        below = self.dim - 1
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1, device=self.concentration.device)
        density = torch.sum(order * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log(), dim=-1)
        alpha = self.concentration + 0.5 * below
        norm = 0.5 * below * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, below) - torch.lgamma(alpha) * below
        return density - norm
