"""The categorical distribution over unit vectors."""
import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.nn import functional as F
from torch.distributions.categorical import Categorical


class OneHotCategorical(Distribution):
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    mode = property(lambda self: F.one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs))

    def sample(self, sample_shape=torch.Size()):
        return F.one_hot(self._categorical.sample(sample_shape), self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        self._checked(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self.probs.dtype).view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + tuple(self.batch_shape) + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
