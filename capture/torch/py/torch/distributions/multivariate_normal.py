"""The normal distribution of vectors."""
import math

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import lazy_property, standard_normal


def _precision_to_scale_tril(precision):
    """The lower triangular factor of the inverse of a matrix."""
    flipped = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    upper = torch.transpose(torch.flip(flipped, (-2, -1)), -2, -1)
    eye = torch.eye(precision.shape[-1], dtype=precision.dtype)
    return torch.linalg.solve_triangular(upper, eye, upper=False)


class MultivariateNormal(Distribution):
    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {k: v for k, v in dict(scale_tril=scale_tril, covariance_matrix=covariance_matrix, precision_matrix=precision_matrix).items() if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} {'matrix ' if name == 'scale_tril' else ''}must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(tuple(batch_shape) + (-1, -1)))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(precision_matrix)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        new.loc, new._unbroadcasted_scale_tril = self.loc.expand(batch_shape + self.event_shape), self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(batch_shape + self.event_shape + self.event_shape))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _whole(self, matrix):
        n = tuple(self._event_shape)
        return matrix.expand(tuple(self._batch_shape) + n + n)

    @lazy_property
    def scale_tril(self):
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        return self._whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    variance = property(lambda self: self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(tuple(self._batch_shape) + tuple(self._event_shape)))

    def rsample(self, sample_shape=torch.Size()):
        eps = standard_normal(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + torch.matmul(self._unbroadcasted_scale_tril, eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        self._checked(value)
        difference = (value - self.loc).unsqueeze(-1)
        factor = self._unbroadcasted_scale_tril
        shape = torch.broadcast_shapes(difference.shape[:-2], factor.shape[:-2])
        solved = torch.linalg.solve_triangular(factor.expand(tuple(shape) + tuple(factor.shape[-2:])), difference.expand(tuple(shape) + tuple(difference.shape[-2:])), upper=False)
        distance = solved.squeeze(-1).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        h = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)
