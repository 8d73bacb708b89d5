import torch
from torch.optim.optimizer import Optimizer, _check_fused, _plus, _use_grad_for_differentiable, _value


class Adagrad(Optimizer):
    _state_lists = ("sum", "step")

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None):
        if isinstance(lr, torch.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        for value, what in ((lr_decay, "lr_decay value"), (weight_decay, "weight_decay value"), (initial_accumulator_value, "initial_accumulator_value value"), (eps, "epsilon value")):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {what}: {value}")
        defaults = dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize, differentiable=differentiable, fused=fused)
        super().__init__(params, defaults)
        _check_fused(fused, foreach, differentiable)
        for g in self.param_groups:
            for p in g["params"]:
                self.state[p] = {"step": torch.tensor(0.0), "sum": torch.full_like(p, initial_accumulator_value, memory_format=torch.preserve_format)}

    @_use_grad_for_differentiable
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for g in self.param_groups:
            self._init_group(g)
            for p in g["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                step_t = state["step"]
                step_t += 1
                step = step_t if torch.compiler.is_compiling() else _value(step_t)
                grad = -p.grad if g["maximize"] else p.grad
                if g["weight_decay"] != 0:
                    grad = grad.add(p, alpha=g["weight_decay"])
                clr = g["lr"] / (1 + (step - 1) * g["lr_decay"])
                state["sum"].addcmul_(grad, grad, value=1)
                p.addcdiv_(grad, _plus(state["sum"].sqrt(), g["eps"], g), value=-clr)
        return loss
