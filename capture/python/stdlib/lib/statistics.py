import math


class StatisticsError(ValueError): pass


def _data(d):
    d = list(d)
    if not d:
        raise StatisticsError('mean requires at least one data point')
    return d


def mean(data):
    d = _data(data)
    from fractions import Fraction
    if all(isinstance(x, (int, Fraction)) or isinstance(x, float) and math.isfinite(x) for x in d):
        m = sum(map(Fraction, d)) / len(d)
        return m if any(isinstance(x, Fraction) for x in d) else _number(m, d)
    return sum(d) / len(d)


def fmean(data, weights=None):
    d = _data(data)
    return math.fsum(d) / len(d) if weights is None else math.fsum(a * b for a, b in zip(d, weights)) / math.fsum(weights)


def median(data):
    d = sorted(data)
    n = len(d)
    if n == 0:
        raise StatisticsError("no median for empty data")
    return d[n // 2] if n % 2 else (d[n // 2 - 1] + d[n // 2]) / 2


def median_low(data): d = sorted(data); return d[(len(d) - 1) // 2]
def median_high(data): d = sorted(data); return d[len(d) // 2]


def mode(data):
    from collections import Counter
    return Counter(data).most_common(1)[0][0]


def multimode(data):
    from collections import Counter
    c = Counter(data)
    m = max(c.values(), default=0)
    return [k for k, n in c.items() if n == m]


def _spread(data, center):
    """The sum of squared distances from the mean, exact."""
    from fractions import Fraction
    xs = [Fraction(x) for x in data]
    m = sum(xs) / len(xs) if center is None else Fraction(center)
    return sum((x - m) ** 2 for x in xs)


def _number(v, data):
    """An exact value in the type of the data."""
    return v.numerator if v.denominator == 1 and all(isinstance(x, int) for x in data) else float(v)


def _root(v):
    """The float next to the square root of a fraction."""
    n, d = v.numerator, v.denominator
    if n == 0:
        return 0.0
    k = max(0, 130 - n.bit_length() + d.bit_length()) // 2 + 1
    q, rest = divmod(n << 2 * k, d)
    r = math.isqrt(q)
    if r * r != q or rest: # what was cut off counts when a tie is rounded
        r, k = 2 * r + 1, k + 1
    return r / (1 << k)


def _sample(data, xbar, name):
    d = list(data)
    if len(d) < 2:
        raise StatisticsError(name + ' requires at least two data points')
    return d, _spread(d, xbar) / (len(d) - 1)


def variance(data, xbar=None):
    d, v = _sample(data, xbar, 'variance')
    return _number(v, d)


def pvariance(data, mu=None):
    d = _data(data)
    return _number(_spread(d, mu) / len(d), d)


def stdev(data, xbar=None): return _root(_sample(data, xbar, 'stdev')[1])


def pstdev(data, mu=None):
    d = _data(data)
    return _root(_spread(d, mu) / len(d))


def geometric_mean(data): d = _data(data); return math.exp(math.fsum(map(math.log, d)) / len(d))
def harmonic_mean(data): d = _data(data); return len(d) / math.fsum(1 / x for x in d)


def quantiles(data, *, n=4, method='exclusive'):
    d = sorted(data)
    m = len(d) + 1 if method == 'exclusive' else len(d) - 1
    out = []
    for i in range(1, n):
        if method == 'exclusive':
            j = min(max(i * m // n, 1), len(d) - 1)
            delta = i * m - j * n
            out.append((d[j - 1] * (n - delta) + d[j] * delta) / n)
        else:
            j, delta = divmod(i * m, n)
            out.append((d[j] * (n - delta) + d[j + 1] * delta) / n)
    return out
