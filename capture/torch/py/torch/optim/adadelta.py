import torch
from torch.optim.optimizer import _PerParameter


class Adadelta(_PerParameter):
    _state_lists = ("square_avg", "acc_delta", "step")
    _positive = (("eps", "epsilon value"), ("weight_decay", "weight_decay value"))

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False, differentiable=False):
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable, foreach=foreach, differentiable=differentiable))

    def _start(self, p, group):
        return {"step": torch.tensor(0.0), "square_avg": torch.zeros_like(p), "acc_delta": torch.zeros_like(p)}

    def _update(self, param, grad, state, group):
        rho, eps = group["rho"], group["eps"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square_avg, acc_delta = state["square_avg"], state["acc_delta"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        std = square_avg.add(eps).sqrt_()
        delta = acc_delta.add(eps).sqrt_().div_(std).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group["lr"])
