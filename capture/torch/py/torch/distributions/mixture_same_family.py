"""A mixture of distributions of one kind."""
import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.categorical import Categorical


class MixtureSameFamily(Distribution):
    arg_constraints = {}

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        components = component_distribution.batch_shape
        mixed = mixture_distribution.batch_shape
        for a, b in zip(reversed(mixed), reversed(components[:-1])):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with `component_distribution.batch_shape`({components[:-1]})")
        weights = mixture_distribution.logits.shape[-1]
        if weights != components[-1]:
            raise ValueError(f"`mixture_distribution component` ({weights}) does not equal `component_distribution.batch_shape[-1]` ({components[-1]})")
        mixture_distribution.logits  # both forms of the weights are made, and shown, from here on
        self._num_component = component_distribution.batch_shape[-1]
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args=validate_args)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self):
        return self._component_distribution.support

    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(tuple(probs.shape) + (1,) * self._event_ndims)

    @property
    def mean(self):
        return torch.sum(self._weights() * self._component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self):
        dim = -1 - self._event_ndims
        inner = torch.sum(self._weights() * self._component_distribution.variance, dim=dim)
        return inner + torch.sum(self._weights() * (self._component_distribution.mean - self.mean.unsqueeze(dim)).pow(2.0), dim=dim)

    def log_prob(self, x):
        self._checked(x)
        log_prob = self._component_distribution.log_prob(self._pad(x))
        return torch.logsumexp(log_prob + torch.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def cdf(self, x):
        probs = self._component_distribution.cdf(self._pad(x))
        return torch.sum(probs * self._mixture_distribution.probs, dim=-1)

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = torch.Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, batch_shape, new._component_distribution.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            at = len(tuple(sample_shape)) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            event = tuple(self.event_shape)
            index = chosen.reshape(tuple(chosen.shape) + (1,) * (len(event) + 1)).expand(tuple(chosen.shape) + (1,) + event)
            return torch.gather(samples, at, index).squeeze(at)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
