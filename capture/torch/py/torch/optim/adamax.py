import torch
from torch.optim.optimizer import _count, _PerParameter


class Adamax(_PerParameter):
    _state_lists = ("exp_avg", "exp_inf", "step")
    _positive = (("eps", "epsilon value"), ("weight_decay", "weight_decay value"))

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False, differentiable=False, capturable=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _start(self, p, group):
        return {"step": torch.tensor(0.0), "exp_avg": torch.zeros_like(p), "exp_inf": torch.zeros_like(p)}

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        exp_avg, exp_inf = state["exp_avg"], state["exp_inf"]
        exp_avg.lerp_(grad, 1 - beta1)
        if group["differentiable"]:
            exp_inf.copy_(torch.maximum(exp_inf * beta2, grad.abs().add_(group["eps"])))
        else:
            torch.maximum(exp_inf.mul_(beta2), grad.abs().add_(group["eps"]), out=exp_inf)
        correction = 1 - beta1 ** _count(state, group)
        if isinstance(correction, torch.Tensor):
            param.addcdiv_(exp_avg, exp_inf * (-correction / group["lr"]))
        else:
            param.addcdiv_(exp_avg, exp_inf, value=-group["lr"] / correction)
