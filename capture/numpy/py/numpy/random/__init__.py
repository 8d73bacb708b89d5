"""Random numbers: RandomState and its functions, default_rng and Generator."""
import math
import operator

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import asarray, ndarray
from numpy._core.numeric import full

_Stream = mu._Stream


def _drawn(stream, name, size, *params):
    """Numbers of a distribution whose parameters may be arrays."""
    if all(not isinstance(p, (ndarray, list, tuple)) for p in params):
        return getattr(stream, name)(size, *params)
    params = [asarray(p) for p in params]
    shape = mu._broadcast_shape(*[p.shape for p in params]) if size is None else _shape(size)
    f = getattr(stream, name)
    vals = [f(None, *x) for x in zip(*[mu._broadcast_to(p, shape).ravel().tolist() for p in params])]
    return asarray(vals, dtype=float).reshape(shape)


def _shape(size):
    return (operator.index(size),) if not hasattr(size, "__iter__") else tuple(size)


def _whole(x):
    return int(x) if isinstance(x, float) else x.astype(mu.int64)


class _Distributions:
    """What RandomState and Generator have in common, on uniform, normal, exponential and gamma numbers of a stream."""

    def _n(self, size):
        return self._stream.normals(size)

    def _u(self, size):
        return self._stream.doubles(size)

    def _size(self, size, *params):
        if size is not None:
            return size
        shape = mu._broadcast_shape(*[asarray(p).shape for p in params])
        return shape if shape else None

    def normal(self, loc=0.0, scale=1.0, size=None):
        if mu.signbit(asarray(scale, dtype=float)).any():
            raise ValueError("scale < 0")
        return _py(loc + asarray(scale, dtype=float) * self._n(self._size(size, loc, scale)), size, loc, scale)

    def uniform(self, low=0.0, high=1.0, size=None):
        low, high = asarray(low, dtype=float), asarray(high, dtype=float)
        span = high - low
        if not mu.isfinite(span).all():
            raise OverflowError("high - low range exceeds valid bounds" if not self._legacy else "Range exceeds valid bounds")
        return _py(low + span * self._u(self._size(size, low, high)), size, low, high)

    def exponential(self, scale=1.0, size=None):
        if mu.signbit(asarray(scale, dtype=float)).any():
            raise ValueError("scale < 0")
        return _py(asarray(scale) * self._stream.exponentials(self._size(size, scale)), size, scale)

    def gamma(self, shape, scale=1.0, size=None):
        return _py(_drawn(self._stream, "gammas", self._size(size, shape, scale), shape if not isinstance(shape, int) else float(shape)) * asarray(scale, dtype=float), size, shape, scale)

    def standard_gamma(self, shape, size=None):
        return _drawn(self._stream, "gammas", size, shape)

    def beta(self, a, b, size=None):
        return _drawn(self._stream, "betas", size, a, b)

    def chisquare(self, df, size=None):
        return 2.0 * _drawn(self._stream, "gammas", size, asarray(df) / 2.0 if isinstance(df, (list, ndarray)) else df / 2.0)

    def poisson(self, lam=1.0, size=None):
        if (asarray(lam) < 0).any():
            raise ValueError("lam < 0 or lam contains NaNs" if not self._legacy else "lam < 0")
        return _whole(_drawn(self._stream, "poissons", size, lam))

    def binomial(self, n, p, size=None):
        if (asarray(p) < 0).any() or (asarray(p) > 1).any():
            raise ValueError("p < 0, p > 1 or p is NaN")
        return _whole(_drawn(self._stream, "binomials", size, n, p))

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return _py(mu.exp(self.normal(mean, sigma, size)), size, mean, sigma)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        u = asarray(self._u(self._size(size, loc, scale)))
        with_half = mu.where(u >= 0.5, 2.0 - u - u, u + u)
        return _py(loc + scale * mu.where(u >= 0.5, -mu.log(with_half), mu.log(with_half)), size, loc, scale)

    def logistic(self, loc=0.0, scale=1.0, size=None):
        u = asarray(self._u(self._size(size, loc, scale)))
        return _py(loc + scale * mu.log(u / (1.0 - u)), size, loc, scale)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        u = 1.0 - asarray(self._u(self._size(size, loc, scale)))
        return _py(loc - scale * mu.log(-mu.log(u)), size, loc, scale)

    def rayleigh(self, scale=1.0, size=None):
        e = self._stream.exponentials(self._size(size, scale))
        return _py(scale * mu.sqrt(2.0 * asarray(e)), size, scale)

    def weibull(self, a, size=None):
        return _py(asarray(self._stream.exponentials(self._size(size, a))) ** (1.0 / asarray(a)), size, a)

    def pareto(self, a, size=None):
        return _py(mu.expm1(asarray(self._stream.exponentials(self._size(size, a))) / a), size, a)

    def triangular(self, left, mode, right, size=None):
        u = asarray(self._u(self._size(size, left, mode, right)))
        base, lb = right - left, mode - left
        r = right - mode
        return _py(mu.where(u <= lb / base, left + mu.sqrt(u * lb * base), right - mu.sqrt((1.0 - u) * r * base)), size, left, mode, right)

    def dirichlet(self, alpha, size=None):
        alpha = asarray(alpha, dtype=float)
        if (alpha <= 0).any():
            raise ValueError("alpha <= 0" if self._legacy else "alpha < 0")
        shape = () if size is None else _shape(size)
        rows = [[self._stream.gammas(None, a) for a in alpha.tolist()] for _ in range(_total(shape))]
        g = asarray(rows, dtype=float)
        return (g * (1 / g.sum(axis=-1, keepdims=True))).reshape(shape + alpha.shape)

    def multinomial(self, n, pvals, size=None):
        p = asarray(pvals, dtype=float).tolist()
        if sum(p[:-1]) > 1.0 + 1e-12:
            raise ValueError("sum(pvals[:-1]) > 1.0")
        shape = () if size is None else _shape(size)
        out = []
        for _ in range(_total(shape)):
            left, rest, row = n, 1.0, [0] * len(p)
            for j, q in enumerate(p[:-1]):
                row[j] = int(self._stream.binomials(None, left, q / rest))
                left -= row[j]
                if left <= 0:
                    break
                rest -= q
            if left > 0:
                row[-1] = left
            out.append(row)
        return asarray(out).reshape(shape + (len(p),))

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
        from numpy.linalg import cholesky, eigh, svd
        mean, cov = asarray(mean, dtype=float), asarray(cov, dtype=float)
        if mean.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        if mean.shape[0] != cov.shape[0]:
            raise ValueError("mean and cov must have same length")
        shape = (() if size is None else _shape(size)) + mean.shape
        x = self._n(shape).reshape(-1, mean.shape[0])
        if method == "cholesky":
            f = cholesky(cov).T
        elif method == "eigh":
            s, u = eigh(cov)
            f = (u * mu.sqrt(s)).T
        else:
            _, s, v = svd(cov)
            f = mu.sqrt(s)[:, None] * v
        return (mean + mu.matmul(x, f)).reshape(shape)

    def bytes(self, length):
        return self._stream.bytes(length)

    def _each(self, one, dtype, size, *params):
        """Samples by a function of one set of parameters."""
        params = [asarray(p, dtype=float) for p in params]
        shape = self._size(size, *params)
        if shape is None:
            return one(*[p.item() for p in params])
        shape = _shape(shape)
        if params:
            rows = zip(*[mu._broadcast_to(p, shape).ravel().tolist() for p in params])
        else:
            rows = ((),) * _total(shape)
        return asarray([one(*r) for r in rows], dtype=dtype).reshape(shape)

    def geometric(self, p, size=None):
        _check((p, lambda v: (v > 0) & (v <= 1), "p <= 0, p > 1 or p contains NaNs"))

        def one(p):
            if p < 0.333333333333333333333333:  # by inversion
                if self._legacy:
                    return math.ceil(math.log(1.0 - self._u(None)) / math.log(1.0 - p))
                return math.ceil(-self._stream.exponentials(None) / math.log1p(-p))
            u, total, left, n = self._u(None), p, p, 1
            while u > total:
                left *= 1.0 - p
                total += left
                n += 1
            return n

        return self._each(one, int, size, p)

    def negative_binomial(self, n, p, size=None):
        _check((n, lambda v: v > 0, "n <= 0"), (p, lambda v: (v > 0) & (v <= 1), "p <= 0, p > 1 or p contains NaNs"))
        draw = self._stream
        return self._each(lambda n, p: int(draw.poissons(None, (1 - p) / p * draw.gammas(None, n))), int, size, n, p)

    def logseries(self, p, size=None):
        _check((p, lambda v: (v >= 0) & (v < 1), "p < 0, p >= 1 or p is NaN"))

        def one(p):
            while True:
                v = self._u(None)
                if v >= p:
                    return 1
                q = -math.expm1(math.log1p(-p) * self._u(None))
                if v <= q * q:
                    n = math.floor(1 + math.log(v) / math.log(q)) if v > 0 else 0
                    if n >= 1:
                        return n
                else:
                    return 1 if v >= q else 2

        return self._each(one, int, size, p)

    def zipf(self, a, size=None):
        _check((a, lambda v: v > 1, "a <= 1 or a is NaN"))

        def one(a):
            most = 2.0**63
            least = 0.0 if self._legacy else most ** (1.0 - a)
            while True:
                u = self._u(None)
                u, v = u * least + (1.0 - u), self._u(None)
                x = math.floor(u ** (-1.0 / (a - 1.0)))
                if 1 <= x <= most:
                    t = (1.0 + 1.0 / x) ** (a - 1.0)
                    if v * x * (t - 1.0) / (2.0 ** (a - 1.0) - 1.0) <= t / 2.0 ** (a - 1.0):
                        return x

        return self._each(one, int, size, a)

    def _chi2(self, df):
        return 2.0 * self._stream.gammas(None, df / 2.0)

    def standard_t(self, df, size=None):
        _check((df, lambda v: v > 0, "df <= 0"))

        def one(df):
            n = self._n(None)
            return math.sqrt(df / 2.0) * n / math.sqrt(self._stream.gammas(None, df / 2.0))

        return self._each(one, float, size, df)

    def f(self, dfnum, dfden, size=None):
        _check((dfnum, lambda v: v > 0, "dfnum <= 0"), (dfden, lambda v: v > 0, "dfden <= 0"))

        def one(num, den):
            top = self._chi2(num) * den
            return top / (self._chi2(den) * num)

        return self._each(one, float, size, dfnum, dfden)

    def _away(self, df, nonc):
        if nonc == 0:
            return self._chi2(df)
        if df > 1:
            c = self._chi2(df - 1)
            n = self._n(None) + math.sqrt(nonc)
            return c + n * n
        return self._chi2(df + 2 * self._stream.poissons(None, nonc / 2.0))

    def noncentral_chisquare(self, df, nonc, size=None):
        _check((df, lambda v: v > 0, "df <= 0"), (nonc, lambda v: v >= 0, "nonc < 0"))
        return self._each(self._away, float, size, df, nonc)

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        _check((dfnum, lambda v: v > 0, "dfnum <= 0"), (dfden, lambda v: v > 0, "dfden <= 0"), (nonc, lambda v: v >= 0, "nonc < 0"))

        def one(num, den, nonc):
            top = self._away(num, nonc) * den
            return top / (self._chi2(den) * num)

        return self._each(one, float, size, dfnum, dfden, nonc)

    def standard_cauchy(self, size=None):
        def one():
            n = self._n(None)
            return n / self._n(None)

        return self._each(one, float, size)

    def power(self, a, size=None):
        _check((a, lambda v: v > 0, "a <= 0"))

        def one(a):
            e = self._stream.exponentials(None)
            return (1.0 - math.exp(-e) if self._legacy else -math.expm1(-e)) ** (1.0 / a)

        return self._each(one, float, size, a)

    def wald(self, mean, scale, size=None):
        _check((mean, lambda v: v > 0, "mean <= 0"), (scale, lambda v: v > 0, "scale <= 0"))

        def one(mean, scale):
            n = self._n(None)
            y = mean * n * n
            x = mean + mean / (2.0 * scale) * (y - math.sqrt(4.0 * scale * y + y * y))
            return x if self._u(None) <= mean / (mean + x) else mean * mean / x

        return self._each(one, float, size, mean, scale)

    def vonmises(self, mu, kappa, size=None):
        _check((kappa, lambda v: v >= 0, "kappa < 0"))

        def one(at, k):
            if k < 1e-8:
                return math.pi * (2.0 * self._u(None) - 1.0)
            if k < 1e-5:
                s = 1.0 / k + k
            else:
                r = 1.0 + math.sqrt(1.0 + 4.0 * k * k)
                rho = (r - math.sqrt(2.0 * r)) / (2.0 * k)
                s = (1.0 + rho * rho) / (2.0 * rho)
            while True:
                z = math.cos(math.pi * self._u(None))
                w = (1.0 + s * z) / (s + z)
                y, v = k * (s - w), self._u(None)
                if y * (2.0 - y) - v >= 0 or math.log(y / v) + 1.0 - y >= 0:
                    break
            angle = math.acos(w)
            angle = at + (-angle if self._u(None) < 0.5 else angle)
            turned = math.fmod(abs(angle) + math.pi, 2.0 * math.pi) - math.pi
            return -turned if angle < 0 else turned

        return self._each(one, float, size, mu, kappa)


def _check(*conditions):
    """The error for parameters that are out of range."""
    for p, good, message in conditions:
        if not good(asarray(p, dtype=float)).all():
            raise ValueError(message)


def _total(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def _py(v, size, *params):
    """A plain float where neither a size nor arrays were given."""
    if size is None and isinstance(v, mu.floating):
        return float(v)
    return v


def _bounds(low, high, dtype, endpoint, name="high"):
    """The range of integers that a draw has, checked against a dtype."""
    one = high is None
    if one:
        low, high = 0, low
    d = mu.dtype(dtype)
    if d.kind not in "iub":
        raise TypeError(f"Unsupported dtype {d!r} for " + ("integers" if endpoint is not None else "randint"))
    bits = 8 * d.itemsize
    least, most = (0, 2) if d.kind == "b" else (0, 2**bits) if d.kind == "u" else (-2**(bits - 1), 2**(bits - 1))
    low, high = int(low), int(high)
    if endpoint:
        high += 1
    if low < least:
        raise ValueError(f"low is out of bounds for {d.name}")
    if high > most:
        raise ValueError(f"high is out of bounds for {d.name}")
    if low >= high:
        raise ValueError("high <= 0" if one and not endpoint else "high < 0" if one else "low > high" if endpoint else "low >= high")
    return low, high - 1 - low, d


def _integers(stream, low, high, size, dtype, endpoint):
    arrays = [p for p in (low, high) if isinstance(p, (ndarray, list, tuple))]
    if arrays and any(asarray(p).ndim for p in arrays):
        lo, hi = (asarray(0), asarray(low)) if high is None else (asarray(low), asarray(high))
        shape = mu._broadcast_shape(lo.shape, hi.shape) if size is None else _shape(size)
        r = mu.empty(shape, dtype)
        r.flat[:] = asarray([int(stream.bounded(None, *_bounds(a, b, dtype, endpoint))) for a, b in zip(mu._broadcast_to(lo, shape).ravel().tolist(), mu._broadcast_to(hi, shape).ravel().tolist())])
        return r
    lo, top, d = _bounds(low, high, dtype, endpoint)
    r = stream.bounded(size, lo, top, d)
    if size is not None:
        return r
    if dtype in (int, bool):
        return r.item()
    return r[()]


class RandomState(_Distributions):
    _legacy = True

    def __init__(self, seed=None):
        if isinstance(seed, BitGenerator):
            self._stream = seed._legacy_stream()
            return
        self._stream = _Stream("MT19937", True)
        self.seed(seed)

    def seed(self, seed=None):
        if seed is None:
            self._stream.seed([int(x) for x in mu._seed_state(mu._entropy(), 624, False, 4).tolist()])
            return
        if isinstance(seed, int) and seed < 0:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        if not isinstance(seed, (list, tuple, ndarray)):
            try:
                seed = operator.index(seed)
            except TypeError:
                raise TypeError(f"Cannot cast array from {asarray(seed).dtype!r} to dtype('int64') according to the rule 'safe'") from None
        self._stream.seed(seed)

    def get_state(self, legacy=True):
        key, pos, has, gauss = self._stream.get_state()
        if legacy:
            return ("MT19937", key, pos, int(has), gauss)
        return {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}, "has_gauss": int(has), "gauss": gauss}

    def set_state(self, state):
        if isinstance(state, dict):
            s = state["state"]
            state = ("MT19937", s["key"], s["pos"], state.get("has_gauss", 0), state.get("gauss", 0.0))
        if state[0] != "MT19937":
            raise ValueError("set_state can only be used with legacy MT19937 state instances.")
        self._stream.set_state((state[1], state[2], *(tuple(state[3:]) or (0, 0.0))))

    def __getstate__(self):
        return self.get_state(legacy=False)

    def __setstate__(self, state):
        self._stream = _Stream("MT19937", True)
        self.set_state(state)

    def random_sample(self, size=None):
        return self._u(size)

    random = ranf = sample = random_sample

    def rand(self, *args):
        return self._u(args if args else None)

    def randn(self, *args):
        return self._n(args if args else None)

    def standard_normal(self, size=None):
        return self._n(size)

    def standard_exponential(self, size=None):
        return self._stream.exponentials(size)

    def randint(self, low, high=None, size=None, dtype=int):
        return _integers(self._stream, low, high, size, dtype, None)

    def random_integers(self, low, high=None, size=None):
        return self.randint(1 if high is None else low, int(low if high is None else high) + 1, size)

    def tomaxint(self, size=None):
        return self.randint(0, 2**63 - 1, size)

    def choice(self, a, size=None, replace=True, p=None):
        pop = _population(a)
        n = pop if isinstance(pop, int) else len(pop)
        p = _weights(p, n)
        if n == 0 and _total(() if size is None else _shape(size)):
            raise ValueError("a must be greater than 0 unless no samples are taken" if isinstance(pop, int) else "'a' cannot be empty unless no samples are taken")
        shape = None if size is None else _shape(size)
        count = 1 if shape is None else _total(shape)
        if replace:
            if p is not None:
                cdf = p.cumsum()
                cdf /= cdf[-1]
                idx = asarray(cdf.searchsorted(self._u(shape), side="right"))
            else:
                idx = asarray(self.randint(0, n, shape))
        else:
            if count > n:
                raise ValueError("Cannot take a larger sample than population when 'replace=False'")
            idx = self._unlike(n, count, p)
            idx = idx if shape is None else idx.reshape(shape)
        return _picked(pop, idx, shape)

    def _unlike(self, n, count, p):
        if p is None:
            return self.permutation(n)[:count]
        if int((p > 0).sum()) < count:
            raise ValueError("Fewer non-zero entries in p than size")
        p, found, k = p.copy(), mu.zeros(count, int), 0
        while k < count:
            x = self._u((count - k,))
            if k > 0:
                p[found[:k]] = 0
            cdf = p.cumsum()
            cdf /= cdf[-1]
            new = cdf.searchsorted(x, side="right")
            seen = []
            for i in new.tolist():
                if i not in seen:
                    seen.append(i)
            found[k:k + len(seen)] = seen
            k += len(seen)
        return found

    def shuffle(self, x):
        _shuffle(self._stream, x, 0)

    def permutation(self, x):
        if isinstance(x, (int, mu.integer)):
            return self._stream.permutation(x)
        x = asarray(x)
        if x.ndim < 1:
            raise IndexError("x must be an integer or at least 1-dimensional")
        return x[self._stream.permutation(len(x))]


def _population(a):
    if isinstance(a, (int, mu.integer)):
        if a <= 0:
            if a == 0:
                return 0
            raise ValueError("a must be greater than 0 unless no samples are taken")
        return int(a)
    x = asarray(a)
    if x.ndim == 0:
        raise ValueError("a must be 1-dimensional or an integer")
    return x


def _weights(p, n):
    if p is None:
        return None
    p = asarray(p, dtype=float)
    if p.ndim != 1:
        raise ValueError("'p' must be 1-dimensional")
    if p.size != n:
        raise ValueError("'a' and 'p' must have same size")
    if mu.isnan(p).any():
        raise ValueError("probabilities contain NaN")
    if (p < 0).any():
        raise ValueError("probabilities are not non-negative")
    if abs(float(p.sum()) - 1.0) > 1.5e-8:
        raise ValueError("probabilities do not sum to 1")
    return p


def _picked(pop, idx, shape, axis=0):
    if shape is None and isinstance(idx, ndarray):
        idx = idx.reshape(-1)[0]
    if isinstance(pop, int):
        return int(idx) if shape is None else idx
    return pop.take(idx, axis=axis) if axis else pop[idx]


def _shuffle(stream, x, axis):
    if isinstance(x, ndarray):
        v = x.swapaxes(0, axis) if axis else x
        v[...] = v[stream.permutation(len(v), 1, True)]
        return
    order = stream.permutation(len(x), 1, True).tolist()
    x[:] = [x[i] for i in order]


class SeedSequence:
    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        if pool_size < 4:
            raise ValueError("The size of the entropy pool should be at least 4")
        if isinstance(entropy, (str, float)) or not (entropy is None or hasattr(entropy, "__index__") or hasattr(entropy, "__iter__")):
            raise TypeError(f"SeedSequence expects int or sequence of ints for entropy not {entropy}")
        if n_children_spawned < 0:
            raise OverflowError("can't convert negative value to uint32_t")
        self.entropy = mu._entropy() if entropy is None else entropy
        self.spawn_key, self.pool_size, self.n_children_spawned = tuple(spawn_key), pool_size, n_children_spawned
        self.pool = mu._seed_pool(self._words(), pool_size)

    def _words(self):
        words = _words32(self.entropy)
        if self.spawn_key:
            words += [0] * max(0, self.pool_size - len(words))
            for k in self.spawn_key:
                words += _words32(k)
        return words

    @property
    def state(self):
        return {k: getattr(self, k) for k in ("entropy", "spawn_key", "pool_size", "n_children_spawned")}

    def generate_state(self, n_words, dtype=mu.uint32):
        dtype = mu.dtype(dtype)
        if dtype not in (mu.uint32, mu.uint64):
            raise ValueError("only support uint32 or uint64")
        if n_words < 0:
            raise ValueError("negative dimensions are not allowed")
        return mu._seed_state(self._words(), n_words, dtype == mu.uint64, self.pool_size)

    def spawn(self, n_children):
        if n_children < 0:
            raise OverflowError("can't convert negative value to uint32_t")
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [SeedSequence(self.entropy, spawn_key=self.spawn_key + (i,), pool_size=self.pool_size) for i in range(first, first + n_children)]

    def __repr__(self):
        said = [f"entropy={self.entropy!r}"]
        if self.spawn_key:
            said.append(f"spawn_key={self.spawn_key}")
        if self.pool_size != 4:
            said.append(f"pool_size={self.pool_size}")
        if self.n_children_spawned:
            said.append(f"n_children_spawned={self.n_children_spawned}")
        return "SeedSequence(\n" + "".join(f"    {line},\n" for line in said) + ")"


def _words32(x):
    if isinstance(x, (list, tuple, ndarray)):
        if isinstance(x, ndarray) and x.dtype.kind == "f" or any(isinstance(y, float) for y in x):
            raise TypeError("seed must be integer")
        return [w for y in x for w in _words32(int(y))]
    x = operator.index(x)
    if x < 0:
        raise ValueError("expected non-negative integer")
    out = []
    while True:
        out.append(x & 0xFFFFFFFF)
        x >>= 32
        if not x:
            return out


class BitGenerator:
    _kind = None

    def __init__(self, seed=None):
        self.seed_seq = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
        self._stream = _Stream(self._kind, False)
        self._begin()

    def random_raw(self, size=None):
        return self._stream.bounded(size, 0, 2**64 - 1, mu.uint64)[()] if size is not None else int(self._stream.bounded(None, 0, 2**64 - 1, mu.uint64))

    def _legacy_stream(self):
        s = _Stream(self._kind, True)
        s.set_state(self._stream.get_state())
        return s


class PCG64(BitGenerator):
    _kind = "PCG64"

    def _begin(self):
        self._stream.seed(self.seed_seq._words(), self.seed_seq.pool_size)

    @property
    def state(self):
        s, inc, has, left = self._stream.get_state()
        return {"bit_generator": "PCG64", "state": {"state": s, "inc": inc}, "has_uint32": int(has), "uinteger": left}

    @state.setter
    def state(self, value):
        s = value["state"]
        self._stream.set_state((s["state"], s["inc"], value["has_uint32"], value["uinteger"]))


class MT19937(BitGenerator):
    _kind = "MT19937"

    def _begin(self):
        key = self.seed_seq.generate_state(624)
        key[0] = 0x80000000
        self._stream.set_state((key, 623, False, 0.0))

    @property
    def state(self):
        key, pos, _, _ = self._stream.get_state()
        return {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}}

    @state.setter
    def state(self, value):
        self._stream.set_state((value["state"]["key"], value["state"]["pos"], False, 0.0))


class Generator(_Distributions):
    _legacy = False

    def __init__(self, bit_generator):
        self._bits = bit_generator
        self._stream = bit_generator._stream

    @property
    def bit_generator(self):
        return self._bits

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __str__(self):
        return f"Generator({type(self._bits).__name__})"

    def spawn(self, n_children):
        return [Generator(type(self._bits)(s)) for s in self._bits.seed_seq.spawn(n_children)]

    def random(self, size=None, dtype=mu.float64, out=None):
        if out is not None:
            out[...] = self.random(out.shape, out.dtype)
            return out
        if mu.dtype(dtype) == mu.float32:
            return self._stream.floats(() if size is None else size)[()]
        return self._u(size)

    def standard_normal(self, size=None, dtype=mu.float64, out=None):
        if out is not None:
            out[...] = self.standard_normal(out.shape, out.dtype)
            return out
        if mu.dtype(dtype) == mu.float32:
            raise NotImplementedError("Generator.standard_normal: dtype float32 is missing")
        return self._n(size)

    def standard_exponential(self, size=None, dtype=mu.float64, method="zig", out=None):
        return self._stream.exponentials(size)

    def integers(self, low, high=None, size=None, dtype=mu.int64, endpoint=False):
        return _integers(self._stream, low, high, size, dtype, bool(endpoint))

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        pop = _population(a)
        n = pop if isinstance(pop, int) else pop.shape[axis]
        p = _weights(p, n)
        shape = None if size is None else _shape(size)
        count = 1 if shape is None else _total(shape)
        if n == 0 and count:
            raise ValueError("a must be a positive integer unless no samples are taken" if isinstance(pop, int) else "a cannot be empty unless no samples are taken")
        if replace:
            if p is not None:
                cdf = p.cumsum()
                cdf /= cdf[-1]
                idx = asarray(cdf.searchsorted(self._u(shape), side="right"))
            else:
                idx = asarray(self.integers(0, n, shape))
        else:
            if count > n:
                raise ValueError("Cannot take a larger sample than population when replace is False")
            if p is not None:
                idx = RandomState._unlike(self, n, count, p)
            else:
                idx = self._tail(n, count, shuffle)
            idx = idx if shape is None else idx.reshape(shape)
        return _picked(pop, idx, shape, axis)

    def _tail(self, n, count, shuffle):
        """Different numbers: from the end of a shuffle where they are many of a large range, else by Floyd's method."""
        if n > 10000 and count > n // (50 if shuffle else 20):
            return self._stream.permutation(n, max(n - count, 1))[n - count:]
        seen, out = set(), []
        for j in range(n - count, n):
            v = int(self._stream.bounded(None, 0, j, mu.int64))
            v = j if v in seen else v
            seen.add(v)
            out.append(v)
        r = asarray(out, dtype=int)
        return r[self._stream.permutation(count)] if shuffle else r

    def shuffle(self, x, axis=0):
        _shuffle(self._stream, x, axis)

    def permutation(self, x, axis=0):
        if isinstance(x, (int, mu.integer)):
            return self._stream.permutation(x, 1, True)
        x = asarray(x)
        return x.take(self._stream.permutation(x.shape[axis], 1, True), axis=axis)

    def permuted(self, x, *, axis=None, out=None):
        x = mu.array(x)
        if axis is None:
            r = x.ravel()[self._stream.permutation(x.size, 1, True)].reshape(x.shape)
        else:
            v = x.swapaxes(axis, -1).copy()
            for line in v.reshape(-1, v.shape[-1]):
                line[...] = line[self._stream.permutation(len(line), 1, True)]
            r = v.swapaxes(axis, -1)
        if out is not None:
            out[...] = r
            return out
        return r


def default_rng(seed=None):
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, BitGenerator):
        return Generator(seed)
    return Generator(PCG64(seed))


_rand = RandomState()
for _name in ("seed get_state set_state random_sample random ranf sample rand randn standard_normal standard_exponential randint random_integers tomaxint choice shuffle permutation normal uniform exponential gamma standard_gamma "
              "geometric negative_binomial logseries zipf standard_t f noncentral_chisquare noncentral_f standard_cauchy power wald vonmises "
              "beta chisquare poisson binomial lognormal laplace logistic gumbel rayleigh weibull pareto triangular dirichlet multinomial multivariate_normal bytes").split():
    globals()[_name] = getattr(_rand, _name)
del _name
