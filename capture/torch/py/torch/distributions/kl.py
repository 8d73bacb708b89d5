"""Kullback-Leibler divergences, by the classes of two distributions."""
import itertools
import math
import warnings

import torch
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.binomial import Binomial
from torch.distributions.categorical import Categorical
from torch.distributions.cauchy import Cauchy
from torch.distributions.continuous_bernoulli import ContinuousBernoulli
from torch.distributions.dirichlet import Dirichlet
from torch.distributions.distribution import Distribution
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.geometric import Geometric
from torch.distributions.gumbel import Gumbel
from torch.distributions.half_normal import HalfNormal
from torch.distributions.independent import Independent
from torch.distributions.laplace import Laplace
from torch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.normal import Normal
from torch.distributions.one_hot_categorical import OneHotCategorical
from torch.distributions.pareto import Pareto
from torch.distributions.poisson import Poisson
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.uniform import Uniform
from torch.distributions.utils import euler_constant, sum_right
from torch.nn import functional as F

__all__ = ["register_kl", "kl_divergence"]

_KL_REGISTRY = {}
_KL_MEMOIZE = {}


def register_kl(type_p, type_q):
    for side, t in (("p", type_p), ("q", type_q)):
        if not isinstance(t, type):
            raise TypeError("issubclass() arg 1 must be a class")
        if not issubclass(t, Distribution):
            raise TypeError(f"Expected type_{side} to be a Distribution subclass but got {t}")

    def decorator(fun):
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return decorator


class _Nearness:
    """A pair of classes that two types are derived from, in order of how far away: the first counts before the second."""

    def __init__(self, type_a, type_b, a, b):
        self.pair = a, b
        self.distance = type_a.__mro__.index(a), type_b.__mro__.index(b)

    def __lt__(self, other):
        return self.distance < other.distance


def _dispatch_kl(type_p, type_q):
    """The function of the nearest pair of classes. Where the nearest by p and the nearest by q differ, p's is taken, with a warning."""
    found = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not found:
        return NotImplemented

    by_p = min([_Nearness(type_p, type_q, p, q) for p, q in found]).pair
    by_q = tuple(reversed(min([_Nearness(type_q, type_p, q, p) for p, q in found]).pair))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({by_p[0].__name__}, {by_q[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[by_p]


def kl_divergence(p, q):
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    fun = _KL_MEMOIZE[key]
    if fun is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}")
    return fun(p, q)


# Pairs of one class.


@register_kl(Bernoulli, Bernoulli)
def _(p, q):
    t1 = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    t1[q.probs == 0] = math.inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    t2[q.probs == 1] = math.inf
    t2[p.probs == 1] = 0
    return t1 + t2


@register_kl(Beta, Beta)
def _(p, q):
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return torch.where(p.total_count > q.total_count, math.inf, kl)


@register_kl(Categorical, Categorical)
def _(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = math.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p, q):
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _(p, q):
    # Chyzak and Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions (2019).
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _(p, q):
    return p.mean * (p.logits - q.logits) + p._log_norm() + torch.log1p(-p.probs) - q._log_norm() - torch.log1p(-q.probs)


@register_kl(Dirichlet, Dirichlet)
def _(p, q):
    a, b = p.concentration, q.concentration
    t = (a - b) * (a.digamma() - a.sum(-1).digamma().unsqueeze(-1))
    return a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1) + t.sum(-1)


@register_kl(Exponential, Exponential)
def _(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _(p, q):
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot                             be computed using Bregman divergences")
    params, normalizer, means = p._statistics()
    result = q._log_normalizer(*q._natural_params) - normalizer
    for a, b, mean in zip(params, q._natural_params, means):
        result = result - sum_right((b - a) * mean, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _(p, q):
    return (q.concentration * (p.rate / q.rate).log() + torch.lgamma(q.concentration) - torch.lgamma(p.concentration) + (p.concentration - q.concentration) * torch.digamma(p.concentration)
            + (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(Geometric, Geometric)
def _(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + away + euler_constant * (ratio - 1) + torch.exp(-away + (1 + ratio).lgamma()) - 1


@register_kl(HalfNormal, HalfNormal)
def _(p, q):
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _(p, q):
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * torch.exp(-away / p.scale) - 1


@register_kl(Normal, Normal)
def _(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _factor(d):
    """A matrix whose product with its transpose is the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return torch.cat([d.cov_factor, torch.diag_embed(d.cov_diag.sqrt())], dim=-1)
    return d.scale_tril


def _log_det(d):
    return d._log_det() if isinstance(d, LowRankMultivariateNormal) else 2 * d._half_log_det()


def _gaussian(p, q):
    if p.event_shape != q.event_shape:
        low = isinstance(p, LowRankMultivariateNormal) + isinstance(q, LowRankMultivariateNormal)
        rank = ("", "(Low Rank) ", "Low Rank ")[low]
        raise ValueError(f"KL-divergence between two {rank}Multivariate Normals with                          different event shapes cannot be computed")
    root, f = q.scale_tril, _factor(p)
    batch = torch.broadcast_shapes(root.shape[:-2], f.shape[:-2])
    root = root.expand(batch + root.shape[-2:])
    between = torch.linalg.solve_triangular(root, f.expand(batch + f.shape[-2:]), upper=False).pow(2).sum((-2, -1))
    away = (q.loc - p.loc).unsqueeze(-1)
    distance = torch.linalg.solve_triangular(root, away.expand(batch + away.shape[-2:]), upper=False).pow(2).sum((-2, -1))
    return 0.5 * (_log_det(q) - _log_det(p) + between + distance - p.event_shape[0])


for _p, _q in itertools.product((LowRankMultivariateNormal, MultivariateNormal), repeat=2):
    register_kl(_p, _q)(_gaussian)


@register_kl(Pareto, Pareto)
def _(p, q):
    # A Pareto variable is scale times the exponential of an exponential one.
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return torch.where(p.support.lower_bound < q.support.lower_bound, math.inf, kl)


@register_kl(Poisson, Poisson)
def _(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, result)


@register_kl(Independent, Independent)
def _(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_right(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


# Pairs of two classes: minus the entropy of p, minus what p expects of the logarithm of q's density. That takes but a few expectations of p: _log_mean(p) is
# that of log x, _laplace_mean(p, t) that of exp(-t x), and the mean and the variance.


def _interval_log(low, high):
    """The mean of log x between two ends."""
    return (torch.xlogy(high, high) - torch.xlogy(low, low)) / (high - low) - 1


def _log_mean(p):
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _interval_log(p.low, p.high)


def _laplace_mean(p, t):
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    if isinstance(p, Normal):
        return torch.exp(-t * p.loc + 0.5 * (t * p.scale).pow(2))
    return (torch.exp(-t * p.low) - torch.exp(-t * p.high)) / (t * (p.high - p.low))


def _to_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


def _to_gamma(p, q):
    return -p.entropy() - q.concentration * q.rate.log() + q.concentration.lgamma() - (q.concentration - 1) * _log_mean(p) + q.rate * p.mean


def _to_gumbel(p, q):
    t = q.scale.reciprocal()
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) * t + torch.exp(q.loc * t) * _laplace_mean(p, t)


def _to_normal(p, q):
    square = q.scale.pow(2)
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + 0.5 * (p.variance + (p.mean - q.loc).pow(2)) / square


def _to_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._log_norm()


def _infinite(p, q):
    return torch.full_like(p.mean, math.inf)


for _p in (Beta, ContinuousBernoulli, Gamma, Pareto):
    register_kl(_p, Exponential)(_to_exponential)
for _p in (Beta, Exponential, Pareto):
    register_kl(_p, Gamma)(_to_gamma)
for _p in (Exponential, Gamma, Normal, Uniform):
    register_kl(_p, Gumbel)(_to_gumbel)
for _p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_p, Normal)(_to_normal)
register_kl(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)

# What has mass where the other one has none is infinitely far from it.
for _p, _qs in {(Beta, ContinuousBernoulli): (Pareto,), (Exponential, Gamma): (Beta, ContinuousBernoulli, Pareto, Uniform), (Pareto,): (Beta, ContinuousBernoulli, Uniform),
                (Gumbel, Laplace, Normal): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform), (Poisson,): (Bernoulli, Binomial)}.items():
    for _a, _b in itertools.product(_p, _qs):
        register_kl(_a, _b)(_infinite)


@register_kl(Pareto, Normal)
def _(p, q):
    return torch.where(p.alpha <= 2, math.inf, _to_normal(p, q))


@register_kl(Bernoulli, Poisson)
def _(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, Uniform)
def _(p, q):
    return torch.where((q.low > p.support.lower_bound) | (q.high < p.support.upper_bound), math.inf, -p.entropy() + (q.high - q.low).log())


@register_kl(ContinuousBernoulli, Uniform)
def _(p, q):
    inside = -p.entropy() + (q.high - q.low).log()
    return torch.where((q.low >= p.support.lower_bound) | (q.high <= p.support.upper_bound), math.inf, inside)  # the ends count as outside in PyTorch


@register_kl(Normal, Laplace)
def _(p, q):
    away = p.loc - q.loc
    mean = p.scale * math.sqrt(2 / math.pi) * torch.exp(-0.5 * (away / p.scale).pow(2)) + away * torch.erf(away / (math.sqrt(2) * p.scale))
    return -p.entropy() + (2 * q.scale).log() + mean / q.scale


@register_kl(Uniform, Beta)
def _(p, q):
    a, b = q.concentration1, q.concentration0
    norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    kl = -p.entropy() + norm - (a - 1) * _log_mean(p) - (b - 1) * _interval_log(1 - p.high, 1 - p.low)
    return torch.where((p.high > q.support.upper_bound) | (p.low < q.support.lower_bound), math.inf, kl)


@register_kl(Uniform, ContinuousBernoulli)
def _(p, q):
    return torch.where((p.high >= q.support.upper_bound) | (p.low <= q.support.lower_bound), math.inf, _to_continuous_bernoulli(p, q))


@register_kl(Uniform, Exponential)
def _(p, q):
    return torch.where(p.low < q.support.lower_bound, math.inf, _to_exponential(p, q))


@register_kl(Uniform, Gamma)
def _(p, q):
    return torch.where(p.low < q.support.lower_bound, math.inf, _to_gamma(p, q))


@register_kl(Uniform, Pareto)
def _(p, q):
    kl = -p.entropy() - (q.alpha * q.scale.pow(q.alpha)).log() + (q.alpha + 1) * _log_mean(p)
    return torch.where(p.low < q.support.lower_bound, math.inf, kl)
