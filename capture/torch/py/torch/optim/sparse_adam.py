import torch
from torch.optim.optimizer import Optimizer


class SparseAdam(Optimizer):
    """Adam for sparse gradients: the averages of a row change where its gradient is given."""

    _takes_sparse = True
    _state_lists = ("exp_avg", "exp_avg_sq", "step")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if isinstance(lr, torch.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        sparse = [[i, j] for i, g in enumerate(self.param_groups) for j, p in enumerate(g["params"]) if p.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {[j for _, j in sparse]}: SparseAdam requires dense parameter tensors")

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if not p.grad.is_sparse:
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                state = self.state[p]
                if len(state) == 0:
                    state.update(step=0, exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
                state["step"] += 1
                self._update(p, p.grad.coalesce(), state, group)
        return loss

    def _update(self, param, grad, state, group):
        values = grad.values()
        if values.numel() == 0:
            return
        if group["maximize"]:
            values = -values
        beta1, beta2 = group["betas"]
        at = tuple(grad.indices())
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first[at] = first[at] + (values - first[at]) * (1 - beta1)
        second[at] = second[at] + (values * values - second[at]) * (1 - beta2)
        corrected = (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        param[at] = param[at] - group["lr"] * corrected * first[at] / (second[at].sqrt() + group["eps"])
