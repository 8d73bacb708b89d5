import torch
from torch.optim.optimizer import Optimizer, _ahead_of_capture, _check_capturable, _check_fused, _use_grad_for_differentiable, _value


class Adam(Optimizer):
    decoupled = False
    _state_lists = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False, capturable=False, differentiable=False, fused=None):
        if isinstance(lr, torch.Tensor):
            if foreach and not capturable:
                raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused)
        super().__init__(params, defaults)
        _check_fused(fused, foreach, differentiable)

    @_ahead_of_capture
    def _init_group(self, group):
        for p in group["params"]:
            if p.grad is not None and p.grad.is_sparse:
                raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
            state = self.state[p] if p.grad is not None else None
            if state is not None and len(state) == 0:
                state["step"] = torch.tensor(0.0, dtype=torch.float32)
                state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                state["exp_avg_sq"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = torch.zeros_like(p, memory_format=torch.preserve_format)

    @_use_grad_for_differentiable
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._init_group(group)
            _check_capturable(self, group)
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, p.grad, self.state[p], group)
        return loss

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, wd = group["lr"], group["weight_decay"]
        if group["maximize"]:
            grad = -grad
        step_t, exp_avg, exp_avg_sq = state["step"], state["exp_avg"], state["exp_avg_sq"]
        step_t += 1
        if wd != 0:
            if self.decoupled:
                param.mul_(1 - lr * wd)
            else:
                grad = grad.add(param, alpha=wd)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad if self.decoupled else grad.conj(), value=1 - beta2)
        if torch.compiler.is_compiling() or group["capturable"]:
            step = step_t
            correction1 = 1 - beta1**step
            correction2 = 1 - beta2**step
            step_size = (lr / correction1).neg()
            root = correction2.sqrt()
            if group["amsgrad"]:
                torch.maximum(state["max_exp_avg_sq"], exp_avg_sq, out=state["max_exp_avg_sq"])
                exp_avg_sq = state["max_exp_avg_sq"]
            denom = (exp_avg_sq.sqrt() / (root * step_size)).add_(group["eps"] / step_size)
            param.addcdiv_(exp_avg, denom)
        else:
            step = _value(step_t)
            step_size = lr / (1 - beta1**step)
            root = (1 - beta2**step) ** 0.5
            if group["amsgrad"]:
                torch.maximum(state["max_exp_avg_sq"], exp_avg_sq, out=state["max_exp_avg_sq"])
                exp_avg_sq = state["max_exp_avg_sq"]
            denom = (exp_avg_sq.sqrt() / root).add_(group["eps"])
            param.addcdiv_(exp_avg, denom, value=-_value(step_size))
