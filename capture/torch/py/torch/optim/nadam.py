import torch
from torch.optim.optimizer import _count, _PerParameter, _plus, _value


class NAdam(_PerParameter):
    _captured = "params, mu_products and state_steps"
    _state_lists = ("exp_avg", "exp_avg_sq", "mu_product", "step")
    _positive = (("eps", "epsilon value"), ("weight_decay", "weight_decay value"), ("momentum_decay", "momentum_decay value"))

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay, maximize=maximize,
                                      foreach=foreach, capturable=capturable, differentiable=differentiable))

    def _start(self, p, group):
        return {"step": torch.tensor(0.0), "mu_product": torch.ones(()), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, decay = group["lr"], group["momentum_decay"]
        exp_avg, exp_avg_sq, product = state["exp_avg"], state["exp_avg_sq"], state["mu_product"]
        step = _count(state, group)
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        following = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        product *= mu
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denom = exp_avg_sq.div(1 - beta2**step).sqrt()
        denom = _plus(denom, group["eps"], group)
        if isinstance(step, torch.Tensor):
            param.addcdiv_(grad * (-lr * (1.0 - mu) / (1.0 - product)), denom)
            param.addcdiv_(exp_avg * (-lr * following / (1.0 - product * following)), denom)
        else:
            param.addcdiv_(grad, denom, value=-lr * (1.0 - mu) / (1.0 - _value(product)))
            param.addcdiv_(exp_avg, denom, value=(-lr * following) / (1.0 - _value(product) * following))
