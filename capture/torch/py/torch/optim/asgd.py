import torch
from torch.optim.optimizer import _count, _PerParameter, _value


class ASGD(_PerParameter):
    _captured = "params, mus, etas, and state_steps"
    _state_lists = ("ax", "mu", "eta", "step")
    _positive = (("weight_decay", "weight_decay value"),)

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, differentiable=False, capturable=False):
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _start(self, p, group):
        return {"step": torch.tensor(0.0), "eta": torch.as_tensor(float(_value(group["lr"]))), "mu": torch.ones(()), "ax": torch.zeros_like(p)}

    def _update(self, param, grad, state, group):
        ax, mu, eta = state["ax"], state["mu"], state["eta"]
        lambd, lr = group["lambd"], group["lr"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        step = _count(state, group)
        if isinstance(step, torch.Tensor):
            param.mul_(1 - lambd * eta)
            param.addcmul_(grad, eta, value=-1)
            ax.add_(param.sub(ax).mul_(mu))
            eta.copy_(lr / ((1 + lambd * lr * step) ** group["alpha"]))
            mu.copy_(1 / torch.maximum(step - group["t0"], torch.ones_like(step)))
            return
        at = _value(eta)
        param.mul_(1 - lambd * at)
        param.add_(grad, alpha=-at)
        if mu.item() != 1:
            ax.add_(param.sub(ax).mul_(mu))
        else:
            ax.copy_(param)
        eta.copy_(torch.as_tensor(lr / ((1 + lambd * lr * step) ** group["alpha"])))
        mu.copy_(torch.as_tensor(1 / max(1, step - group["t0"])))
