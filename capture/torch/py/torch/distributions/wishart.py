"""Wishart's distribution of positive-definite matrices."""
import math
import warnings
from numbers import Number

import torch
from torch.distributions import constraints
from torch.distributions.chi2 import Chi2
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.distribution import Distribution
from torch.distributions.multivariate_normal import _precision_to_scale_tril
from torch.distributions.utils import lazy_property

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {k: v for k, v in dict(scale_tril=scale_tril, covariance_matrix=covariance_matrix, precision_matrix=precision_matrix).items() if v is not None}
        assert len(given) == 1, "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = matrix.shape[:-2] if isinstance(df, Number) else torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        event_shape = matrix.shape[-2:]
        df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device) if isinstance(df, Number) else df
        self.df = df.expand(batch_shape)
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if self.df.lt(event_shape[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._batch_dims = [-(i + 1) for i in range(len(batch_shape))]
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = scale_tril
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(precision_matrix)
        self._dist_chi2 = self._lengths()

    def _lengths(self):
        """The squared diagonal of Bartlett's factor."""
        n = self._event_shape[-1]
        return Chi2(df=self.df.unsqueeze(-1) - torch.arange(n, dtype=self._unbroadcasted_scale_tril.dtype, device=self._unbroadcasted_scale_tril.device).expand(self._batch_shape + (-1,)))

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Wishart, _instance)
        batch_shape = torch.Size(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(batch_shape + self.event_shape)
        new.df = self.df.expand(batch_shape)
        new._batch_dims = [-(i + 1) for i in range(len(batch_shape))]
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(batch_shape + self.event_shape))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._dist_chi2 = new._lengths()
        new._validate_args = self._validate_args
        return new

    def _whole(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        eye = torch.eye(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype, device=self._unbroadcasted_scale_tril.device)
        return self._whole(torch.cholesky_solve(eye, self._unbroadcasted_scale_tril))

    def _df(self):
        return self.df.reshape(self._batch_shape + (1, 1))

    mean = property(lambda self: self._df() * self.covariance_matrix)

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return torch.where(factor > 0, factor, torch.nan).reshape(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        return self._df() * (v.pow(2) + d.unsqueeze(-1) * d.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape=torch.Size()):
        n = self._event_shape[-1]
        factor = self._dist_chi2.rsample(sample_shape).clamp_min(torch.finfo(self._unbroadcasted_scale_tril.dtype).tiny).sqrt().diag_embed(dim1=-2, dim2=-1)
        rows, columns = torch.tril_indices(n, n, offset=-1)
        below = torch.randn(torch.Size(sample_shape) + self._batch_shape + (n * (n - 1) // 2,), dtype=self._unbroadcasted_scale_tril.dtype, device=self._unbroadcasted_scale_tril.device)
        factor[..., rows, columns] = below
        root = self._unbroadcasted_scale_tril @ factor
        return root @ root.mT

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):
        """Singular samples are drawn anew, as often as max_try_correction says. PyTorch 2.6 takes all that are not for singular at first: samples are its ones if all are drawn twice."""
        if max_try_correction is None:
            max_try_correction = 3
        sample_shape = torch.Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        singular = self.support.check(sample)
        if self._batch_shape:
            singular = singular.amax(self._batch_dims)
        if singular.any():
            warnings.warn("Singular sample detected.")
            for _ in range(max_try_correction):
                again = self._bartlett_sampling(singular[singular].shape)
                sample = sample.masked_scatter(singular.reshape(singular.shape + (1,) * (sample.dim() - singular.dim())).expand_as(sample), again)
                bad = ~self.support.check(again)
                if self._batch_shape:
                    bad = bad.amax(self._batch_dims)
                singular = singular.masked_scatter(singular, bad)
                if not singular.any():
                    break
        return sample

    def _log_root_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        self._checked(value)
        n, p = self.df, self._event_shape[-1]
        norm = n * (p * math.log(2) / 2 + self._log_root_det()) + torch.mvlgamma(n / 2, p=p)
        trace = torch.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (n - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - trace / 2 - norm

    def _digamma(self):
        """The derivative of the multivariate log-gamma function at half of df."""
        p = self._event_shape[-1]
        return torch.digamma((self.df / 2).unsqueeze(-1) - torch.arange(p, dtype=self.df.dtype, device=self.df.device).div(2)).sum(-1)

    def entropy(self):
        n, p = self.df, self._event_shape[-1]
        return (p + 1) * (p * math.log(2) / 2 + self._log_root_det()) + torch.mvlgamma(n / 2, p=p) - (n - p - 1) / 2 * self._digamma() + n * p / 2

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (-torch.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + torch.mvlgamma(y + (p + 1) / 2, p=p)
