import torch
from torch.optim.optimizer import Optimizer, _ahead_of_capture, _check_capturable, _plus, _use_grad_for_differentiable


class RMSprop(Optimizer):
    _state_lists = ("square_avg", "momentum_buffer", "grad_avg", "step")

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None, maximize=False, differentiable=False):
        if isinstance(lr, torch.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        for value, what in ((eps, "epsilon value"), (momentum, "momentum value"), (weight_decay, "weight_decay value"), (alpha, "alpha value")):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {what}: {value}")
        defaults = dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay, capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable)
        super().__init__(params, defaults)

    @_ahead_of_capture
    def _init_group(self, g):
        for p in g["params"]:
            state = self.state[p] if p.grad is not None else None
            if state is not None and len(state) == 0:
                state["step"] = torch.tensor(0.0)
                state["square_avg"] = torch.zeros_like(p)
                if g["momentum"] > 0:
                    state["momentum_buffer"] = torch.zeros_like(p)
                if g["centered"]:
                    state["grad_avg"] = torch.zeros_like(p)

    @_use_grad_for_differentiable
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for g in self.param_groups:
            self._init_group(g)
            _check_capturable(self, g)
            for p in g["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                step = state["step"]
                step += 1
                grad = -p.grad if g["maximize"] else p.grad
                if g["weight_decay"] != 0:
                    grad = grad.add(p, alpha=g["weight_decay"])
                sq = state["square_avg"]
                sq.mul_(g["alpha"]).addcmul_(grad, grad, value=1 - g["alpha"])
                if g["centered"]:
                    state["grad_avg"].lerp_(grad, 1 - g["alpha"])
                    avg = sq.addcmul(state["grad_avg"], state["grad_avg"], value=-1).sqrt_()
                else:
                    avg = sq.sqrt()
                avg = _plus(avg, g["eps"], g)
                if g["momentum"] > 0:
                    buf = state["momentum_buffer"]
                    buf.mul_(g["momentum"]).addcdiv_(grad, avg)
                    p.add_(buf, alpha=-g["lr"])
                else:
                    p.addcdiv_(grad, avg, value=-g["lr"])
        return loss
