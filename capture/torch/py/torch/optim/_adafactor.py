import torch
from torch.optim.optimizer import _PerParameter, _value


class Adafactor(_PerParameter):
    _state_lists = ("row_var", "col_var", "variance", "step")

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False):
        if isinstance(lr, torch.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach, maximize=maximize))

    @torch.no_grad()
    def step(self, closure=None):
        return self._steps(closure)

    def _start(self, p, group):
        state = {"step": torch.tensor(0.0)}
        shape = list(p.grad.shape)
        if len(shape) > 1:
            state["row_var"] = p.grad.new_zeros(shape[:-1] + [1])
            state["col_var"] = p.grad.new_zeros(shape[:-2] + [1, shape[-1]])
        else:
            state["variance"] = torch.zeros_like(p.grad)
        return state

    def _update(self, param, grad, state, group):
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = torch.finfo(param.dtype).eps
        step, lr = _value(state["step"]), _value(group["lr"])
        weight = step ** group["beta2_decay"]
        alpha = max(eps2, param.norm(2).item() / (param.numel() ** 0.5)) * min(lr, 1 / (step**0.5))
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            row, col = state["row_var"], state["col_var"]
            row.lerp_(torch.norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1)), weight)
            col.lerp_(torch.norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2)), weight)
            variance = (row @ col).div_(row.mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            state["variance"].lerp_(grad.square(), weight)
            variance = state["variance"].clone()
        update = variance.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        clip = max(1.0, update.norm(2).item() / ((update.numel() ** 0.5) * group["d"]))
        param.add_(update, alpha=-alpha / clip)
