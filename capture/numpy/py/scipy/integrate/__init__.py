"""Initial value problems: solve_ivp by explicit Runge-Kutta methods."""
from inspect import isclass
from warnings import warn

import numpy as np

from scipy._absent import names_of

__all__ = ["solve_ivp", "OdeSolution", "OdeSolver", "RK23", "RK45"]
__getattr__ = names_of(__name__)

# How far a step may grow or shrink, and how much of the estimated best step is taken: Hairer, Norsett, Wanner, Solving Ordinary Differential
# Equations I, II.4.
_SAFETY, _LEAST, _MOST = 0.9, 0.2, 10
_EPS = np.finfo(float).eps


def _norm(x):
    return np.linalg.norm(x) / x.size ** 0.5


class OdeResult(dict):
    """What solve_ivp found, by name."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(name) from e

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __repr__(self):
        width = max(map(len, self), default=0) + 1
        return "\n".join(f"{k:>{width}}: {v!r}" for k, v in self.items())

    def __dir__(self):
        return list(self)


class OdeSolver:
    """A solver that makes one step after the other from t0 towards t_bound. fun(t, y) gives the slopes."""

    def __init__(self, fun, t0, y0, t_bound, vectorized, support_complex=True):
        y0 = np.asarray(y0)
        if y0.ndim != 1:
            raise ValueError("`y0` must be 1-dimensional.")
        if not np.isfinite(y0).all():
            raise ValueError("All components of the initial state `y0` must be finite.")
        dtype = complex if np.issubdtype(y0.dtype, np.complexfloating) else float
        self.y, self.t, self.t_old, self.t_bound, self.n = y0.astype(dtype, copy=False), t0, None, t_bound, y0.size
        self.direction = np.sign(t_bound - t0) if t_bound != t0 else 1
        self.status, self.nfev, self.njev, self.nlu = "running", 0, 0, 0

        def counted(t, y):
            self.nfev += 1
            if vectorized:
                return np.asarray(fun(t, y[:, None]), dtype=dtype).ravel()
            return np.asarray(fun(t, y), dtype=dtype)
        self.fun = counted

    @property
    def step_size(self):
        return None if self.t_old is None else np.abs(self.t - self.t_old)

    def step(self):
        """Makes a step. The result says why there is none, or is None."""
        if self.status != "running":
            raise RuntimeError("Attempt to step on a failed or finished solver.")
        if self.n == 0 or self.t == self.t_bound:
            self.t_old, self.t, self.status = self.t, self.t_bound, "finished"
            return None
        t = self.t
        success, message = self._step_impl()
        if not success:
            self.status = "failed"
            return message
        self.t_old = t
        if self.direction * (self.t - self.t_bound) >= 0:
            self.status = "finished"
        return None


class DenseOutput:
    """The solution between the ends of a step, as a polynomial: t, a number or an array of shape (m,), gives shape (n,) or (n, m)."""

    def __init__(self, t_old, t, y_old, q):
        self.t_old, self.t, self.t_min, self.t_max, self.h, self.y_old, self.q = t_old, t, min(t, t_old), max(t, t_old), t - t_old, y_old, q

    def __call__(self, t):
        t = np.asarray(t)
        if t.ndim > 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        x = (t - self.t_old) / self.h
        powers = np.cumprod(np.broadcast_to(x, (self.q.shape[1], *np.shape(x))), axis=0)
        y = self.h * np.dot(self.q, powers)
        return y + (self.y_old[:, None] if y.ndim == 2 else self.y_old)


class RungeKutta(OdeSolver):
    """Explicit methods with an estimate of the error: a, b, c, and e of the tableau, and p of the polynomial between steps."""

    def __init__(self, fun, t0, y0, t_bound, max_step=np.inf, rtol=1e-3, atol=1e-6, vectorized=False, first_step=None, **extraneous):
        if extraneous:
            warn("The following arguments have no effect for a chosen solver: {}.".format(", ".join(f"`{x}`" for x in extraneous)), stacklevel=3)
        super().__init__(fun, t0, y0, t_bound, vectorized)
        if max_step <= 0:
            raise ValueError("`max_step` must be positive.")
        if np.any(rtol < 100 * _EPS):
            warn(f"At least one element of `rtol` is too small. Setting `rtol = np.maximum(rtol, {100 * _EPS})`.", stacklevel=3)
            rtol = np.maximum(rtol, 100 * _EPS)
        atol = np.asarray(atol)
        if atol.ndim > 0 and atol.shape != (self.n,):
            raise ValueError("`atol` has wrong shape.")
        if np.any(atol < 0):
            raise ValueError("`atol` must be positive.")
        self.max_step, self.rtol, self.atol, self.y_old = max_step, rtol, atol, None
        self.f = self.fun(self.t, self.y)
        if first_step is None:
            self.h_abs = self._first()
        elif first_step <= 0:
            raise ValueError("`first_step` must be positive.")
        elif first_step > np.abs(t_bound - t0):
            raise ValueError("`first_step` exceeds bounds.")
        else:
            self.h_abs = first_step
        self.k = np.empty((self.stages + 1, self.n), dtype=self.y.dtype)

    def _first(self):
        """A first step of which the error is about what is allowed (Hairer, Norsett, Wanner, II.4)."""
        if self.y.size == 0:
            return np.inf
        length = abs(self.t_bound - self.t)
        if length == 0.0:
            return 0.0
        scale = self.atol + np.abs(self.y) * self.rtol
        d0, d1 = _norm(self.y / scale), _norm(self.f / scale)
        h0 = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, length)
        d2 = _norm((self.fun(self.t + h0 * self.direction, self.y + h0 * self.direction * self.f) - self.f) / scale) / h0
        h1 = max(1e-6, h0 * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** (1 / (self.error_order + 1))
        return min(100 * h0, h1, length, self.max_step)

    def _step_impl(self):
        t, y = self.t, self.y
        least = 10 * np.abs(np.nextafter(t, self.direction * np.inf) - t)
        h_abs, rejected = max(least, min(self.h_abs, self.max_step)), False
        while True:
            if h_abs < least:
                return False, "Required step size is less than spacing between numbers."
            t_new = t + h_abs * self.direction
            if self.direction * (t_new - self.t_bound) > 0:
                t_new = self.t_bound
            h = t_new - t
            h_abs = np.abs(h)
            self.k[0] = self.f
            for s, (a, c) in enumerate(zip(self.a[1:], self.c[1:]), start=1):
                self.k[s] = self.fun(t + c * h, y + np.dot(self.k[:s].T, a[:s]) * h)
            y_new = y + h * np.dot(self.k[:-1].T, self.b)
            self.k[-1] = f_new = self.fun(t + h, y_new)
            scale = self.atol + np.maximum(np.abs(y), np.abs(y_new)) * self.rtol
            error = _norm(np.dot(self.k.T, self.e) * h / scale)
            power = -1 / (self.error_order + 1)
            if error < 1:
                factor = _MOST if error == 0 else min(_MOST, _SAFETY * error ** power)
                self.h_abs = h_abs * (min(1, factor) if rejected else factor)
                break
            h_abs *= max(_LEAST, _SAFETY * error ** power)
            rejected = True
        self.y_old, self.t, self.y, self.f = y, t_new, y_new, f_new
        return True, None

    def dense_output(self):
        return DenseOutput(self.t_old, self.t, self.y_old, self.k.T.dot(self.p))


class RK23(RungeKutta):
    """Bogacki and Shampine, A 3(2) pair of Runge-Kutta formulas, 1989."""

    order, error_order, stages = 3, 2, 3
    c = np.array([0, 1 / 2, 3 / 4])
    a = np.array([[0, 0, 0], [1 / 2, 0, 0], [0, 3 / 4, 0]])
    b = np.array([2 / 9, 1 / 3, 4 / 9])
    e = np.array([5 / 72, -1 / 12, -1 / 9, 1 / 8])
    p = np.array([[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]])


class RK45(RungeKutta):
    """Dormand and Prince, A family of embedded Runge-Kutta formulae, 1980; between steps as in Shampine, Some practical Runge-Kutta formulas, 1986."""

    order, error_order, stages = 5, 4, 6
    c = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1])
    a = np.array([[0, 0, 0, 0, 0], [1 / 5, 0, 0, 0, 0], [3 / 40, 9 / 40, 0, 0, 0], [44 / 45, -56 / 15, 32 / 9, 0, 0],
                  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0], [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]])
    b = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
    e = np.array([-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40])
    p = np.array([[1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432], [0, 0, 0, 0],
                  [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
                  [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
                  [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
                  [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844], [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423]])


class OdeSolution:
    """A solution between the ends of all steps: t, a number or an array of shape (m,), gives shape (n,) or (n, m)."""

    def __init__(self, ts, interpolants, alt_segment=False):
        self.ts, self.interpolants = np.asarray(ts), interpolants
        self.ascending = bool(self.ts[-1] >= self.ts[0])
        self.t_min, self.t_max = min(self.ts[0], self.ts[-1]), max(self.ts[0], self.ts[-1])
        self._sorted = self.ts if self.ascending else self.ts[::-1]
        self._side = "right" if alt_segment or not self.ascending else "left"

    def _at(self, t):
        i = int(np.clip(np.searchsorted(self._sorted, t, side=self._side) - 1, 0, len(self.interpolants) - 1))
        return self.interpolants[i if self.ascending else len(self.interpolants) - 1 - i]

    def __call__(self, t):
        t = np.asarray(t)
        if t.ndim == 0:
            return self._at(t)(t)
        return np.stack([self._at(x)(x) for x in t], axis=1)


def _root(f, a, b):
    """Where f, of which the signs at a and b differ, is zero, by halving."""
    fa = f(a)
    if fa == 0:
        return a
    while True:
        m = (a + b) / 2
        if m in (a, b) or abs(b - a) <= 4 * _EPS * max(1, abs(m)):
            return m
        fm = f(m)
        if fm == 0:
            return m
        if (fm > 0) == (fa > 0):
            a, fa = m, fm
        else:
            b = m


_methods = {"RK23": RK23, "RK45": RK45}


def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, **options):
    """Solves y' = fun(t, y), y(t_span[0]) = y0 of shape (n,), up to t_span[1]. The result has the times t, of shape (m,), and y, of shape (n, m)."""
    if method not in _methods and not (isclass(method) and issubclass(method, OdeSolver)):
        if method in ("DOP853", "Radau", "BDF", "LSODA"):
            raise NotImplementedError(f"solve_ivp(): method {method!r} is not supported, RK45 and RK23 are")
        raise ValueError(f"`method` must be one of {['RK23', 'RK45', 'DOP853', 'Radau', 'BDF', 'LSODA']} or OdeSolver class.")
    t0, tf = map(float, t_span)
    if args is not None:
        try:
            len(args)
        except TypeError as e:
            raise TypeError("Supplied 'args' cannot be unpacked. Please supply `args` as a tuple (e.g. `args=(5,)`)") from e
        plain = fun

        def fun(t, y):
            return plain(t, y, *args)
    if t_eval is not None:
        t_eval = np.asarray(t_eval)
        if t_eval.ndim != 1:
            raise ValueError("`t_eval` must be 1-dimensional.")
        if np.any(t_eval < min(t0, tf)) or np.any(t_eval > max(t0, tf)):
            raise ValueError("Values in `t_eval` are not within `t_span`.")
        step = np.diff(t_eval)
        if tf > t0 and np.any(step <= 0) or tf < t0 and np.any(step >= 0):
            raise ValueError("Values in `t_eval` are not properly sorted.")
    solver = _methods.get(method, method)(fun, t0, y0, tf, vectorized=vectorized, **options)
    watched = [] if events is None else [events] if callable(events) else list(events)
    values = [(lambda t, y, e=e: e(t, y, *(args or ()))) for e in watched]
    left = [getattr(e, "terminal", None) for e in watched]
    left = [np.inf if n is None or n == 0 else int(n) for n in left]
    direction = [getattr(e, "direction", 0) for e in watched]
    found = [[] for _ in watched]
    before = [v(t0, solver.y) for v in values]
    ts, ys, pieces, ends, next_t = ([t0], [solver.y], [], [t0], 0) if t_eval is None else ([], [], [], [t0], 0)
    status = message = None
    while status is None:
        message = solver.step()
        if solver.status == "finished":
            status = 0
        elif solver.status == "failed":
            status = -1
            break
        t_old, t, y = solver.t_old, solver.t, solver.y
        sol = solver.dense_output() if solver.n and t != t_old and (dense_output or watched or t_eval is not None) else None
        if watched and sol is not None:
            after = [v(t, y) for v in values]
            hits = []
            for i, (g0, g1) in enumerate(zip(before, after)):
                up, down = g0 <= 0 <= g1 and g0 != g1, g0 >= 0 >= g1 and g0 != g1
                if up and direction[i] >= 0 or down and direction[i] <= 0:
                    hits.append((_root(lambda x, v=values[i]: v(x, sol(x)), t_old, t), i))
            for at, i in sorted(hits, reverse=solver.direction < 0):
                found[i].append((at, sol(at)))
                left[i] -= 1
                if left[i] <= 0:
                    status, t, y = 1, at, sol(at)
                    break
            before = after
        if dense_output and sol is not None:
            pieces.append(sol)
            ends.append(t)
        if t_eval is None:
            ts.append(t)
            ys.append(y)
            continue
        upto = int(np.searchsorted(t_eval, t, side="right")) if solver.direction > 0 else len(t_eval) - int(np.searchsorted(t_eval[::-1], t, side="left"))
        if upto > next_t:
            some = t_eval[next_t:upto]
            ts.append(some)
            ys.append(sol(some) if sol is not None else np.repeat(y[:, None], len(some), 1))
            next_t = upto
    texts = {0: "The solver successfully reached the end of the integration interval.", 1: "A termination event occurred."}
    if t_eval is None:
        ts, ys = np.array(ts), np.vstack(ys).T
    elif ts:
        ts, ys = np.hstack(ts), np.hstack(ys)
    return OdeResult(t=ts, y=ys, sol=OdeSolution(ends, pieces) if dense_output else None,
                     t_events=[np.asarray([t for t, _ in f]) for f in found] if events is not None else None,
                     y_events=[np.asarray([y for _, y in f]) for f in found] if events is not None else None,
                     nfev=solver.nfev, njev=solver.njev, nlu=solver.nlu, status=status, message=texts.get(status, message), success=status >= 0)
