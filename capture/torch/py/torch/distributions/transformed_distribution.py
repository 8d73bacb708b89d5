"""The distribution of a function of what another distribution gives."""
import math

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.transforms import ComposeTransform, Transform


class TransformedDistribution(Distribution):
    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list) or not all(isinstance(t, Transform) for t in transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        self.transforms, self.base_dist = transforms, base_distribution
        event = max([len(base_distribution.event_shape)] + [t.codomain.event_dim for t in transforms])
        shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        at = len(shape) - event
        super().__init__(shape[:at], shape[at:], validate_args=validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @constraints.dependent_property
    def support(self):
        return self.transforms[-1].codomain if self.transforms else self.base_dist.support

    def _through(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=torch.Size()):
        return self._through(self.base_dist.rsample(sample_shape))

    def _summed(self, x, n):
        return x.reshape(tuple(x.shape)[: x.dim() - n] + (-1,)).sum(-1) if n > 0 else x

    def log_prob(self, value):
        self._checked(value)
        event, total, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            total = total - self._summed(transform.log_abs_det_jacobian(x, y), event - transform.domain.event_dim)
            y = x
        return total + self._summed(self.base_dist.log_prob(y), event - len(self.base_dist.event_shape))

    def _signed(self, value):
        sign = math.prod([t.sign for t in self.transforms], start=1)
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        self._checked(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._signed(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._through(self.base_dist.icdf(self._signed(value)))
