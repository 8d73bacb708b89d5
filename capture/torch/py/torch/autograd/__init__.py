import torch
from torch.autograd.function import Function, once_differentiable
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled


_profiler_enabled = torch._C._autograd._profiler_enabled
_is_checkpoint_valid = torch._C._is_checkpoint_valid


class VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, torch.Tensor)


class _Engine:
    """What runs backward passes."""

    @staticmethod
    def queue_callback(callback):
        """Has a function called when the backward pass that runs is over."""
        torch._C._queue_callback(callback)

    @staticmethod
    def is_checkpoint_valid():
        return torch._C._is_checkpoint_valid()


class Variable(torch.Tensor, metaclass=VariableMeta):
    _execution_engine = _Engine()

    # Variables are tensors since long: making one gives a tensor that shares the data.
    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if volatile is not None:
            import warnings

            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2)
        if data is None:
            data = torch.empty(0)
        if not isinstance(data, torch.Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)


def _seq(x):
    return (x,) if isinstance(x, torch.Tensor) else tuple(x)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    outputs, inputs = _seq(outputs), _seq(inputs)
    if grad_outputs is not None:
        grad_outputs = _seq(grad_outputs)
    for i in inputs:
        if not i.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    result = torch._C._autograd_grad(outputs, grad_outputs, inputs, bool(create_graph if retain_graph is None else retain_graph), create_graph,
                                     bool(allow_unused) or materialize_grads, False)
    if materialize_grads:
        return tuple(torch.zeros_like(i) if g is None else g for g, i in zip(result, inputs))
    return result


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    tensors = _seq(tensors)
    torch._C._autograd_grad(tensors, None if grad_tensors is None else _seq(grad_tensors), None if inputs is None else _seq(inputs),
                            bool(create_graph if retain_graph is None else retain_graph), create_graph, True, True)


def __getattr__(name):
    if name in ("functional", "forward_ad", "variable"):  # imported when they are first named
        import importlib

        try:
            return importlib.import_module("torch.autograd." + name)
        except ModuleNotFoundError as e:
            if e.name != "torch.autograd." + name:
                raise
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


from torch.autograd import graph, profiler
from torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from torch.autograd.gradcheck import gradcheck, gradgradcheck
