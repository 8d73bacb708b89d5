import torch
from torch.optim.optimizer import _count, _PerParameter, _plus


class RAdam(_PerParameter):
    _state_lists = ("exp_avg", "exp_avg_sq", "step")
    _positive = (("eps", "epsilon value"), ("weight_decay", "weight_decay value"))

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def _start(self, p, group):
        return {"step": torch.tensor(0.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, exp_avg, exp_avg_sq = group["lr"], state["exp_avg"], state["exp_avg_sq"]
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step = _count(state, group)
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        first = exp_avg / correction1
        limit = 2 / (1 - beta2) - 1  # of the length of the approximated moving average
        length = limit - 2 * step * (beta2**step) / correction2
        adaptive = correction2**0.5 / _plus(exp_avg_sq.sqrt(), group["eps"], group)
        if isinstance(length, torch.Tensor):
            inner = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            rectified = torch.where(length > 5.0, inner.clamp(min=0).sqrt() * adaptive, 1.0)
            param.add_(first * lr * rectified, alpha=-1.0)
        elif length > 5.0:
            rectified = ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
            param.add_(first * lr * adaptive * rectified, alpha=-1.0)
        else:
            param.add_(first * lr, alpha=-1.0)
