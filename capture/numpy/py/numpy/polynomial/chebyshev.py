"""Chebyshev polynomials of the first kind."""
import numpy as np
from numpy.polynomial import polyutils as pu
from numpy.polynomial._family import Family, publish
from numpy.polynomial._polybase import ABCPolyBase


def _derivative(n):
    return [(k, 2 * n if k else n) for k in range(n - 1, -1, -2)]


def _integral(n):
    if n == 0:
        return ((1, 1),)
    if n == 1:
        return ((2, 0.25),)
    return (n + 1, 0.5 / (n + 1)), (n - 1, -0.5 / (n - 1))


family = Family("cheb", up=lambda n: 0.5 if n else 1, mid=lambda n: 0, down=lambda n: 0.5 if n else 0, derivative=_derivative, integral=_integral,
                weight=lambda x: 1.0 / (np.sqrt(1.0 + x) * np.sqrt(1.0 - x)), mass=np.pi)


def chebgauss(deg):
    n = pu.as_int(deg, "deg")
    if n <= 0:
        raise ValueError("deg must be a positive integer")
    return np.cos(np.pi * np.arange(1, 2 * n, 2) / (2.0 * n)), np.ones(n) * (np.pi / n)


def _count(npts, least):
    n = int(npts)
    if n != npts:
        raise ValueError("npts must be integer")
    if n < least:
        raise ValueError("npts must be >= %d" % least)
    return n


def chebpts1(npts):
    n = _count(npts, 1)
    return np.sin(0.5 * np.pi / n * np.arange(-n + 1, n + 1, 2))


def chebpts2(npts):
    n = _count(npts, 2)
    return np.cos(np.linspace(-np.pi, 0, n))


def chebinterpolate(func, deg, args=()):
    deg = np.asarray(deg)
    if deg.ndim > 0 or deg.dtype.kind not in "iu" or deg.size == 0:
        raise TypeError("deg must be an int")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    n = int(deg) + 1
    x = chebpts1(n)
    c = np.dot(family.vander(x, n - 1).T, func(x, *args))
    c[0] /= n
    c[1:] /= 0.5 * n
    return c


class Chebyshev(ABCPolyBase):
    window = family.domain
    domain = family.domain
    basis_name = "T"

    @classmethod
    def interpolate(cls, func, deg, domain=None, args=()):
        domain = family.domain if domain is None else domain
        return cls(chebinterpolate(lambda x: func(pu.mapdomain(x, cls.window, domain), *args), deg), domain=domain)


publish(globals(), family, Chebyshev, "chebpts1", "chebpts2", "chebinterpolate")
