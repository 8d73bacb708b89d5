import torch
from torch.optim.optimizer import _PerParameter, _value


class Rprop(_PerParameter):
    _state_lists = ("prev", "step_size", "step")

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False, differentiable=False):
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _start(self, p, group):
        return {"step": torch.tensor(0.0), "prev": torch.zeros_like(p), "step_size": torch.full_like(p.grad, _value(group["lr"]))}

    def _update(self, param, grad, state, group):
        less, more = group["etas"]
        least, most = group["step_sizes"]
        prev, size = state["prev"], state["step_size"]
        agreement = grad.mul(prev).sign()
        factor = torch.where(agreement > 0, more, torch.where(agreement < 0, less, 1.0)).to(size.dtype)
        size.mul_(factor).clamp_(least, most)
        grad = torch.where(agreement < 0, 0.0, grad).to(grad.dtype)
        param.addcmul_(grad.sign(), size, value=-1)
        prev.copy_(grad)
