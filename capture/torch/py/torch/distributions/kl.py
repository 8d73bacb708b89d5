"""Kullback-Leibler divergences, by the classes of two distributions."""
import math

import torch
from torch.distributions.distribution import Distribution
from torch.nn import functional as F


import itertools

from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.categorical import Categorical
from torch.distributions.dirichlet import Dirichlet
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.geometric import Geometric
from torch.distributions.independent import Independent
from torch.distributions.laplace import Laplace
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.normal import Normal
from torch.distributions.one_hot_categorical import OneHotCategorical
from torch.distributions.poisson import Poisson
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.uniform import Uniform

_REGISTRY = {}


def register_kl(type_p, type_q):
    for t in (type_p, type_q):
        if not isinstance(t, type) or not issubclass(t, Distribution):
            raise TypeError(f"Expected type_{'p' if t is type_p else 'q'} to be a Distribution subclass but got {t}")

    def decorator(fun):
        _REGISTRY[type_p, type_q] = fun
        return fun

    return decorator


def kl_divergence(p, q):
    for a, b in itertools.product(type(p).__mro__, type(q).__mro__):
        if (a, b) in _REGISTRY:
            return _REGISTRY[a, b](p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}")


@register_kl(Bernoulli, Bernoulli)
def _(p, q):
    t1 = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    t1 = torch.where(q.probs == 0, math.inf, t1)
    t1 = torch.where(p.probs == 0, 0.0, t1)
    t2 = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    t2 = torch.where(q.probs == 1, math.inf, t2)
    return t1 + torch.where(p.probs == 1, 0.0, t2)


@register_kl(Categorical, Categorical)
def _(p, q):
    t = p.probs * (p.logits - q.logits)
    t = torch.where(q.probs == 0, math.inf, t)
    return torch.where(p.probs == 0, 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p, q):
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Normal, Normal)
def _(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed")
    between = torch.linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-2, -1))
    distance = torch.linalg.solve_triangular(q.scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False).pow(2).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (between + distance - p.event_shape[0])


@register_kl(Exponential, Exponential)
def _(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _(p, q):
    return (q.concentration * (p.rate / q.rate).log() + torch.lgamma(q.concentration) - torch.lgamma(p.concentration) + (p.concentration - q.concentration) * torch.digamma(p.concentration)
            + (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(Dirichlet, Dirichlet)
def _(p, q):
    a, b = p.concentration, q.concentration
    t = (a - b) * (a.digamma() - a.sum(-1).digamma().unsqueeze(-1))
    return a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1) + t.sum(-1)


@register_kl(Beta, Beta)
def _(p, q):
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Geometric, Geometric)
def _(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Laplace, Laplace)
def _(p, q):
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * torch.exp(-away / p.scale) - 1


@register_kl(Poisson, Poisson)
def _(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, result)


@register_kl(Uniform, Normal)
def _(p, q):
    width = p.high - p.low
    return (math.sqrt(math.pi * 2) * q.scale / width).log() + 0.5 * (((p.high + p.low - 2 * q.loc) / 2).pow(2) + width.pow(2) / 12) / q.scale.pow(2)


@register_kl(Independent, Independent)
def _(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


def _infinite(p, q):
    return torch.full_like(p.mean, math.inf)


# What has mass where the other one has none is infinitely far from it.
for _p, _q in itertools.product((Normal, Laplace), (Exponential, Gamma, Uniform, Beta)):
    register_kl(_p, _q)(_infinite)
