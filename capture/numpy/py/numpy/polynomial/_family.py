"""Families of polynomials P_0, P_1, ..., each known by its three terms: x P_n = up(n) P_n+1 + mid(n) P_n + down(n) P_n-1.

Products, values, roots, quadratures and changes of basis follow from these; derivatives and integrals of P_n are a row of their own.
"""
import inspect

import numpy as np
from numpy._core.numeric import normalize_axis_index
from numpy.polynomial import polyutils as pu


def _floats(c):
    c = np.array(c, ndmin=1)
    return c + 0.0 if c.dtype.kind in "biu" else c


class Family:
    def __init__(self, prefix, up, mid, down, derivative, integral, domain=(-1.0, 1.0), weight=None, mass=None):
        self.prefix, self.up, self.mid, self.down = prefix, up, mid, down
        self.derivative, self.integral = derivative, integral  # of n: (k, factor) of the P_k that it is made of
        self.domain, self.weight_of, self.mass = np.array(domain), weight, mass

    # sums and products of series

    def add(self, c1, c2):
        return self._sum(c1, c2, 1)

    def sub(self, c1, c2):
        return self._sum(c1, c2, -1)

    def _sum(self, c1, c2, sign):
        [c1, c2] = pu.as_series([c1, c2])
        out = np.zeros(max(len(c1), len(c2)), np.result_type(c1, c2))
        out[:len(c1)] += c1
        out[:len(c2)] += sign * c2
        return pu.trimseq(out)

    def mulx(self, c):
        [c] = pu.as_series([c])
        if len(c) == 1 and c[0] == 0:
            return c
        out = np.zeros(len(c) + 1, c.dtype)
        for n, k in enumerate(c):
            out[n + 1] += k * self.up(n)
            out[n] += k * self.mid(n)
            if n:
                out[n - 1] += k * self.down(n)
        return out

    def mul(self, c1, c2):
        [c1, c2] = pu.as_series([c1, c2])
        long, short = (c1, c2) if len(c1) > len(c2) else (c2, c1)
        b1 = b2 = long[:1] * 0
        for n in range(len(short) - 1, 0, -1):
            b1, b2 = self.add(short[n] * long, self.sub(self._over(b1, n), b2 * (self.down(n + 1) / self.up(n + 1)))), b1
        return self.add(short[0] * long, self.sub(self._over(b1, 0), b2 * (self.down(1) / self.up(1))))

    def _over(self, c, n):
        """(x - mid) / up times a series."""
        out = self.mulx(c) / self.up(n)
        return self.sub(out, c * (self.mid(n) / self.up(n))) if self.mid(n) else out

    def div(self, c1, c2):
        return pu.divide(self.mul, c1, c2)

    def pow(self, c, pow, maxpower=16):
        return pu.power(self.mul, c, pow, maxpower)

    def line(self, off, scl):
        return np.array([off + scl * self.mid(0), scl * self.up(0)]) if scl != 0 else np.array([off])

    def fromroots(self, roots):
        if len(roots) == 0:
            return np.ones(1)
        [roots] = pu.as_series([roots], trim=False)
        return pu.product([self.line(-r, 1) for r in np.sort(roots)], self.mul)

    def topoly(self, c):
        from numpy.polynomial.polynomial import family as powers
        [c] = pu.as_series([c])
        values = [np.ones(1, c.dtype), powers.line(-self.mid(0) / self.up(0), 1 / self.up(0))]
        out = c[:1]
        for n in range(1, len(c)):
            if n > 1:
                m = n - 1
                p = powers.sub(powers.sub(powers.mulx(values[m]), values[m] * self.mid(m)), values[m - 1] * self.down(m)) / self.up(m)
                values.append(p)
            out = powers.add(out, c[n] * values[n])
        return out if len(out) == len(c) else np.concatenate((out, np.zeros(len(c) - len(out), out.dtype)))

    def frompoly(self, pol):
        [pol] = pu.as_series([pol])
        out = pol[:1] * 0
        for c in pol[::-1]:
            out = self.add(self.mulx(out), c)
        return out

    # values

    def val(self, x, c, tensor=True):
        c = _floats(c)
        if isinstance(x, (tuple, list)):
            x = np.asarray(x)
        if isinstance(x, np.ndarray) and tensor:
            c = c.reshape(c.shape + (1,) * x.ndim)
        b1, b2 = c[-1] + x * 0, 0
        if len(c) == 1:
            return b1
        for n in range(len(c) - 2, -1, -1):
            up, mid, down = self.up(n), self.mid(n), self.down(n + 1)
            step = (x - mid) / up if mid or up != 1 else x
            b1, b2 = (c[n] + step * b1 - (down / self.up(n + 1)) * b2 if down else c[n] + step * b1), b1
        return b1

    def _valnd(self, c, *points):
        points = [np.asanyarray(p) for p in points]
        if any(p.shape != points[0].shape for p in points):
            raise ValueError({2: "x, y are incompatible", 3: "x, y, z are incompatible"}[len(points)])
        c = self.val(points[0], c)
        for p in points[1:]:
            c = self.val(p, c, tensor=False)
        return c

    def val2d(self, x, y, c):
        return self._valnd(c, x, y)

    def val3d(self, x, y, z, c):
        return self._valnd(c, x, y, z)

    def grid2d(self, x, y, c):
        return self.val(y, self.val(x, c))

    def grid3d(self, x, y, z, c):
        return self.val(z, self.val(y, self.val(x, c)))

    def vander(self, x, deg):
        n = pu.as_int(deg, "deg")
        if n < 0:
            raise ValueError("deg must be non-negative")
        x = _floats(x)
        v = np.empty((n + 1,) + x.shape, x.dtype)
        v[0] = x * 0 + 1
        for k in range(n):
            up, mid, down = self.up(k), self.mid(k), self.down(k)
            v[k + 1] = ((x - mid) * v[k] - (down * v[k - 1] if k else 0)) / up
        return np.moveaxis(v, 0, -1)

    def _vandernd(self, deg, *points):
        if len(deg) != len(points):
            raise ValueError(f"Expected {len(points)} dimensions of degrees, got {len(deg)}")
        points = [p + 0.0 for p in np.broadcast_arrays(*points)]
        parts = [self.vander(p, d) for p, d in zip(points, deg)]
        out = 1
        for i, part in enumerate(parts):
            out = out * part[(...,) + tuple(slice(None) if k == i else None for k in range(len(parts)))]
        return out.reshape(out.shape[:-len(deg)] + (-1,))

    def vander2d(self, x, y, deg):
        return self._vandernd(deg, x, y)

    def vander3d(self, x, y, z, deg):
        return self._vandernd(deg, x, y, z)

    def fit(self, x, y, deg, rcond=None, full=False, w=None):
        return pu.least_squares(self.vander, x, y, deg, rcond, full, w)

    # derivatives and integrals

    def _along(self, c, axis, name):
        c = _floats(c)
        return np.moveaxis(c, normalize_axis_index(pu.as_int(axis, "the axis"), c.ndim), 0)

    def der(self, c, m=1, scl=1, axis=0):
        times = pu.as_int(m, "the order of derivation")
        if times < 0:
            raise ValueError("The order of derivation must be non-negative")
        c = self._along(c, axis, "der")
        if times >= len(c):
            c, times = c[:1] * 0, 0
        for _ in range(times):
            c = c * scl
            out = np.zeros((len(c) - 1,) + c.shape[1:], c.dtype)
            for n in range(1, len(c)):
                for k, factor in self.derivative(n):
                    out[k] += factor * c[n]
            c = out
        return np.moveaxis(c, 0, axis)

    def int(self, c, m=1, k=[], lbnd=0, scl=1, axis=0):
        k = list(k) if np.iterable(k) else [k]
        times = pu.as_int(m, "the order of integration")
        if times < 0:
            raise ValueError("The order of integration must be non-negative")
        if len(k) > times:
            raise ValueError("Too many integration constants")
        if np.ndim(lbnd) != 0:
            raise ValueError("lbnd must be a scalar.")
        if np.ndim(scl) != 0:
            raise ValueError("scl must be a scalar.")
        c = self._along(c, axis, "int")
        for i in range(times):
            c = c * scl
            const = k[i] if i < len(k) else 0
            if len(c) == 1 and np.all(c[0] == 0):
                c = c + const
                continue
            out = np.zeros((len(c) + 1,) + c.shape[1:], c.dtype)
            for n in range(len(c)):
                for at, factor in self.integral(n):
                    out[at] += factor * c[n]
            out[0] += const - self.val(lbnd, out)
            c = out
        return np.moveaxis(c, 0, axis)

    # roots and quadratures

    def _scales(self, n):
        """By what P_0 ... P_n-1 are to be multiplied so that multiplication by x is a symmetric matrix."""
        s = np.ones(n)
        for k in range(1, n):
            if self.down(k):
                s[k] = s[k - 1] * np.sqrt(self.up(k - 1) / self.down(k))
        return s

    def companion(self, c):
        [c] = pu.as_series([c])
        if len(c) < 2:
            raise ValueError("Series must have maximum degree of at least 1.")
        if len(c) == 2:
            return np.array([[self.mid(0) - self.up(0) * c[0] / c[1]]])
        n = len(c) - 1
        mat = np.zeros((n, n), c.dtype)
        for k in range(n):
            mat[k, k] = self.mid(k)
            if k + 1 < n:
                below, above = self.up(k), self.down(k + 1)
                mat[k + 1, k] = np.sign(below) * np.sqrt(below * above) if above else below
                mat[k, k + 1] = mat[k + 1, k] if above else 0
        s = self._scales(n)
        mat[:, -1] -= (c[:-1] / c[-1]) * (s[-1] / s if self.down(1) else 1) * self.up(n - 1)
        return mat

    def roots(self, c):
        [c] = pu.as_series([c])
        if len(c) < 2:
            return np.array([], dtype=c.dtype)
        if len(c) == 2:
            return np.array([self.mid(0) - self.up(0) * c[0] / c[1]])
        return np.sort(np.linalg.eigvals(self.companion(c)[::-1, ::-1]))

    def gauss(self, deg):
        n = pu.as_int(deg, "deg")
        if n <= 0:
            raise ValueError("deg must be a positive integer")
        x = np.linalg.eigvalsh(self.companion([0] * n + [1]))
        value, before, slope = self._normed(x, n)
        x = x - value / slope
        value, before, slope = self._normed(x, n)
        before = before / np.abs(before).max()
        slope = slope / np.abs(slope).max()
        w = 1 / (before * slope)
        if self.mid(0) == 0:
            w, x = (w + w[::-1]) / 2, (x - x[::-1]) / 2
        return x, w * (self.mass / w.sum())

    def _normed(self, x, n):
        """P_n, P_n-1 and the slope of P_n at x, as multiples that do not overflow: of norm 1."""
        p0, p1, d0, d1, left = x * 0, x * 0 + 1, x * 0, x * 0, 0.0
        for k in range(n):
            right = np.sqrt(self.up(k) * self.down(k + 1)) * np.sign(self.up(k))
            p0, p1, d0, d1 = p1, ((x - self.mid(k)) * p1 - left * p0) / right, d1, ((x - self.mid(k)) * d1 + p1 - left * d0) / right
            left = right
        return p1, p0, d1

    def weight(self, x):
        return self.weight_of(np.asarray(x) if isinstance(x, (list, tuple)) else x)


METHODS = ("add", "sub", "mulx", "mul", "div", "pow", "val", "val2d", "val3d", "grid2d", "grid3d", "vander", "vander2d", "vander3d", "fit", "der", "int", "line",
           "fromroots", "companion", "roots")


def publish(names, family, cls, *more):
    """Gives a module the functions of a family under its prefix."""
    def public(method, name):
        def f(*args, **kw):
            return method(*args, **kw)
        f.__name__ = f.__qualname__ = name
        f.__signature__ = inspect.signature(method)
        f.__module__ = names["__name__"]
        return f

    p = family.prefix
    made = {p + m: public(getattr(family, m), p + m) for m in METHODS}
    if p != "poly":
        made[f"{p}2poly"], made[f"poly2{p}"] = public(family.topoly, f"{p}2poly"), public(family.frompoly, f"poly2{p}")
    if family.mass is not None:
        made[p + "gauss"], made[p + "weight"] = public(family.gauss, p + "gauss"), public(family.weight, p + "weight")
    made[p + "trim"] = pu.trimcoef
    made[p + "domain"], made[p + "zero"], made[p + "one"] = family.domain, np.array([0]), np.array([1])
    x = family.line(0, 1)
    made[p + "x"] = x.astype(int) if (x == x.astype(int)).all() else x
    for name, v in made.items():
        names.setdefault(name, v)
    cls.family = family
    names[cls.__name__] = cls
    names["__all__"] = [*made, cls.__name__, *more]
