"""Von Mises's distribution of angles."""
import math

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles are samples by rejection from a wrapped Cauchy distribution (Best and Fisher, 1979), in double precision."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, torch.Size(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=self.__dict__.get("_validate_args"))

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self):
        """The circular one."""
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)

    @lazy_property
    def _proposal(self):
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    @torch.no_grad()
    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        loc, kappa, r = self.loc.double(), self.concentration.double(), self._proposal.expand(shape)
        angle, done = torch.empty(shape, dtype=torch.double), torch.zeros(shape, dtype=torch.bool)
        while not done.all():
            u1, u2, u3 = torch.rand((3,) + shape, dtype=torch.double)
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            taken = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
            angle = torch.where(taken, (u3 - 0.5).sign() * f.acos(), angle)
            done = done | taken
        return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value):
        self._checked(value)
        norm = torch.special.i0e(self.concentration).log() + self.concentration
        return self.concentration * torch.cos(value - self.loc) - math.log(2 * math.pi) - norm
