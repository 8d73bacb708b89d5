"""Handles of hooks, and the hooks of modules on the backward pass."""
import warnings

import torch
from torch.nn.modules.module import RemovableHandle

__all__ = ["RemovableHandle", "BackwardHook", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Marks a hook that torch.save leaves behind."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    for k, hook in (tensor._backward_hooks or {}).items():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function with @torch.utils.hooks.unserializable_hook "
                          "to suppress this warning")


class BackwardHookFunction(torch.autograd.Function):
    """Gives its tensors on, and shows an owner their gradients on the way back."""

    @staticmethod
    def forward(ctx, seen, *tensors):
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.seen(grads))


class BackwardHook:
    """The hooks on the backward pass of one call of a module: its inputs and outputs go through functions that see their gradients."""

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs = None
        self.n_outputs, self.output_tensors_index = -1, None
        self.n_inputs, self.input_tensors_index = -1, None

    def _packed(self, grads, indices, size):
        """Gradients where the tensors stand, None elsewhere."""
        out = [None] * size
        for i, g in zip(indices, grads):
            out[i] = g
        return tuple(out)

    def _through(self, args, seen):
        """args with its tensors gone through a function, and where they are; None where none requires a gradient."""
        indices = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        if not (any(args[i].requires_grad for i in indices) and torch.is_grad_enabled()):
            return args, None
        new = BackwardHookFunction.apply(seen, *(args[i] for i in indices))
        out = list(args)
        for i, t in zip(indices, new):
            out[i] = t
        if type(args) is tuple:
            return tuple(out), indices
        return type(args)(*out) if hasattr(args, "_fields") else type(args)(out), indices

    def setup_input_hook(self, args):
        def seen(grads):
            if self.grad_outputs is None:
                raise RuntimeError("Module backward hook for grad_input is called before the grad_output one. This happens because the gradient in your nn.Module flows to the Module's "
                                   "input without passing through the Module's output. Make sure that the output depends on the input and that the loss is computed based on the output.")
            packed = self._packed(grads, self.input_tensors_index, self.n_inputs)
            for hook in self.user_hooks:
                result = hook(self.module, packed, self.grad_outputs)
                if result is None:
                    continue
                result = result if isinstance(result, tuple) else (result,)
                if len(result) != len(packed):
                    raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(result)}, but expected {len(packed)}")
                packed = result
            self.grad_outputs = None
            return tuple(packed[i] for i in self.input_tensors_index)

        args, self.input_tensors_index = self._through(args, seen)
        self.n_inputs = len(args)
        return args

    def setup_output_hook(self, args):
        def seen(grads):
            self.grad_outputs = self._packed(grads, self.output_tensors_index, self.n_outputs)
            for hook in self.user_pre_hooks:
                result = hook(self.module, self.grad_outputs)
                if result is None:
                    continue
                result = result if isinstance(result, tuple) else (result,)
                if len(result) != len(self.grad_outputs):
                    raise RuntimeError(f"Backward pre hook returned an invalid number of grad_output, got {len(result)}, but expected {len(self.grad_outputs)}")
                self.grad_outputs = result
            out = tuple(self.grad_outputs[i] for i in self.output_tensors_index)
            if self.input_tensors_index is None:
                nothing = self._packed([], [], self.n_inputs)
                for hook in self.user_hooks:
                    result = hook(self.module, nothing, self.grad_outputs)
                    if result is not None and not (isinstance(result, tuple) and all(r is None for r in result)):
                        raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None for all gradients.")
                self.grad_outputs = None
            return out

        if not isinstance(args, (torch.Tensor, tuple)):
            warnings.warn(f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {type(args)}")
        alone = isinstance(args, torch.Tensor)
        if alone:
            args = (args,)
        args, self.output_tensors_index = self._through(args, seen)
        self.n_outputs = len(args)
        return args[0] if alone else args
