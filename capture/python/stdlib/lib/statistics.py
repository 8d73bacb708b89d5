import math


class StatisticsError(ValueError): pass


def _data(d):
    d = list(d)
    if not d:
        raise StatisticsError('mean requires at least one data point')
    return d


def mean(data):
    d = _data(data)
    s = math.fsum(d) / len(d)
    if all(isinstance(x, int) for x in d):
        t = sum(d)
        return t // len(d) if t % len(d) == 0 else t / len(d)
    return s


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


def _ss(d, m): return math.fsum((x - m) ** 2 for x in d)


def variance(data, xbar=None):
    d = list(data)
    if len(d) < 2:
        raise StatisticsError('variance requires at least two data points')
    v = _ss(d, mean(d) if xbar is None else xbar) / (len(d) - 1)
    return int(v) if v == int(v) and all(isinstance(x, int) for x in d) else v


def pvariance(data, mu=None):
    d = _data(data)
    v = _ss(d, mean(d) if mu is None else mu) / len(d)
    return int(v) if v == int(v) and all(isinstance(x, int) for x in d) else v


def stdev(data, xbar=None): return math.sqrt(variance(data, xbar))
def pstdev(data, mu=None): return math.sqrt(pvariance(data, mu))
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
