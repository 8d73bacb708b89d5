"""Exponential families: densities that are exp(<natural parameters, statistics> - log-normalizer) of a carrier."""
import torch
from torch.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A family says its natural parameters and the logarithm of its normalizer as a function of them; its entropy follows."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def _statistics(self):
        """The natural parameters, the log-normalizer, and its derivatives, which are the means of the statistics."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        return params, normalizer, torch.autograd.grad(normalizer.sum(), params, create_graph=True)

    def entropy(self):
        carrier = -self._mean_carrier_measure
        params, normalizer, means = self._statistics()
        result = carrier + normalizer
        for param, mean in zip(params, means):
            result = result - (param * mean).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
