import torch
from torch.optim.optimizer import Optimizer


def _cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum of the cubic through two points with their slopes, within bounds."""
    lowest, highest = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (lowest + highest) / 2.0
    d2 = square.sqrt() if isinstance(square, torch.Tensor) else square**0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, lowest), highest)


class _Point:
    """A place on the line that is searched: the step, the value, the gradient, and its slope along the line."""

    def __init__(self, t, f, g, slope):
        self.t, self.f, self.g, self.slope = t, f, g, slope


def _strong_wolfe(evaluate, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """A step along d for which the strong Wolfe conditions hold: the value, the gradient, the step, and how often the function was called."""
    d_norm = d.abs().max()
    start, g = _Point(0, f, g.clone(memory_format=torch.contiguous_format), gtd), g.clone(memory_format=torch.contiguous_format)

    def point(t):
        f, g = evaluate(t, d)
        return _Point(t, f, g.clone(memory_format=torch.contiguous_format), g.dot(d))

    new, calls, prev = point(t), 1, start
    done, bracket, rounds = False, None, 0
    while rounds < max_ls:
        if new.f > f + c1 * new.t * gtd or (rounds > 1 and new.f >= prev.f):
            bracket = [prev, new]
            break
        if abs(new.slope) <= -c2 * gtd:
            bracket, done = [new], True
            break
        if new.slope >= 0:
            bracket = [prev, new]
            break
        least, most = new.t + 0.01 * (new.t - prev.t), new.t * 10
        t = _cubic_interpolate(prev.t, prev.f, prev.slope, new.t, new.f, new.slope, bounds=(least, most))
        prev, new = new, point(t)
        calls += 1
        rounds += 1
    if rounds == max_ls:
        bracket = [start, new]

    stuck = False
    low, high = (0, 1) if bracket[0].f <= bracket[-1].f else (1, 0)
    while not done and rounds < max_ls:
        width = abs(bracket[1].t - bracket[0].t)
        if width * d_norm < tolerance_change:
            break
        a, b = bracket
        t = _cubic_interpolate(a.t, a.f, a.slope, b.t, b.f, b.slope)
        left, right = min(a.t, b.t), max(a.t, b.t)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = point(t)
        calls += 1
        rounds += 1
        if new.f > f + c1 * t * gtd or new.f >= bracket[low].f:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
        else:
            if abs(new.slope) <= -c2 * gtd:
                done = True
            elif new.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = new
    best = bracket[low] if len(bracket) > 1 else bracket[0]
    return best.f, best.g, best.t, calls


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        if isinstance(lr, torch.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gather_flat_grad(self):
        return torch.cat([p.new_zeros(p.numel()) if p.grad is None else p.grad.view(-1) if p.grad.is_contiguous() else p.grad.reshape(-1) for p in self._params])

    def _add_grad(self, step_size, direction):
        at = 0
        for p in self._params:
            p.add_(direction[at : at + p.numel()].view_as(p), alpha=step_size)
            at += p.numel()

    def _clone_param(self):
        return [p.clone(memory_format=torch.contiguous_format) for p in self._params]

    def _set_param(self, values):
        for p, v in zip(self._params, values):
            p.copy_(v)

    def _directional_evaluate(self, closure, x, t, d):
        self._add_grad(t, d)
        loss = float(closure())
        grad = self._gather_flat_grad()
        self._set_param(x)
        return loss, grad

    @staticmethod
    def _direction(grad, dirs, steps, ro, scale):
        """The step that the remembered curvature suggests: the two loops over it."""
        q = grad.neg()
        weights = [None] * len(dirs)
        for i in range(len(dirs) - 1, -1, -1):
            weights[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-weights[i])
        d = torch.mul(q, scale)
        for i in range(len(dirs)):
            d.add_(steps[i], alpha=weights[i] - dirs[i].dot(d) * ro[i])
        return d

    @torch.no_grad()
    def step(self, closure):
        closure = torch.enable_grad()(closure)
        group = self.param_groups[0]
        lr, tolerance_change, search = group["lr"], group["tolerance_change"], group["line_search_fn"]
        if search is not None and search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first = closure()
        loss, evals = float(first), 1
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        d, t, scale, prev, prev_loss = state.get("d"), state.get("t"), state.get("H_diag"), state.get("prev_flat_grad"), state.get("prev_loss")
        dirs, steps, ro = state.get("old_dirs"), state.get("old_stps"), state.get("ro")
        n = 0
        while n < group["max_iter"]:
            n += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, dirs, steps, ro, scale = grad.neg(), [], [], [], 1
            else:
                y, s = grad.sub(prev), d.mul(t)
                ys = y.dot(s)
                if ys > 1e-10:
                    if len(dirs) == group["history_size"]:
                        dirs.pop(0), steps.pop(0), ro.pop(0)
                    dirs.append(y)
                    steps.append(s)
                    ro.append(1.0 / ys)
                    scale = ys / y.dot(y)
                d = self._direction(grad, dirs, steps, ro, scale)
            if prev is None:
                prev = grad.clone(memory_format=torch.contiguous_format)
            else:
                prev.copy_(grad)
            prev_loss = loss
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            gtd = grad.dot(d)
            if gtd > -tolerance_change:
                break
            calls = 0
            if search is not None:
                x = self._clone_param()
                loss, grad, t, calls = _strong_wolfe(lambda t, d: self._directional_evaluate(closure, x, t, d), t, d, loss, grad, gtd)
                self._add_grad(t, d)
                small = grad.abs().max() <= group["tolerance_grad"]
            else:
                self._add_grad(t, d)
                small = False
                if n != group["max_iter"]:
                    with torch.enable_grad():
                        loss = float(closure())
                    grad = self._gather_flat_grad()
                    small = grad.abs().max() <= group["tolerance_grad"]
                    calls = 1
            evals += calls
            state["func_evals"] += calls
            if n == group["max_iter"] or evals >= group["max_eval"] or small:
                break
            if d.mul(t).abs().max() <= tolerance_change or abs(loss - prev_loss) < tolerance_change:
                break
        state.setdefault("al", [None] * group["history_size"])
        state.update(d=d, t=t, old_dirs=dirs, old_stps=steps, ro=ro, H_diag=scale, prev_flat_grad=prev, prev_loss=prev_loss)
        return first
