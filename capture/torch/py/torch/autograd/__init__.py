import torch
from torch.autograd.function import Function, once_differentiable
from torch.autograd.grad_mode import _force_original_view_tracking, _unsafe_preserve_version_counter, enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled


_profiler_enabled = torch._C._autograd._profiler_enabled
is_multithreading_enabled = set_multithreading_enabled.is_on
is_view_replay_enabled = _force_original_view_tracking.is_on
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


class _LegacyVariableBase:
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


_LegacyVariableBase.__module__ = "torch._C"
torch._C._LegacyVariableBase = _LegacyVariableBase


class Variable(_LegacyVariableBase, metaclass=VariableMeta):
    _execution_engine = _Engine()


SavedTensor = torch._C._autograd.SavedTensor


def kineto_available():
    return True


def _is_edge(x):
    return isinstance(x, graph.GradientEdge)


def _seq(x):
    return (x,) if isinstance(x, torch.Tensor) or _is_edge(x) else tuple(x)


def _shape_of(output):
    return torch.Size(output.node._input_metadata[output.output_nr].shape) if _is_edge(output) else output.shape


def _calculate_shape(output, grad, is_grads_batched):
    """The shapes of an output and of its gradient, which may have a row for each pass."""
    return _shape_of(output), grad.shape[1:] if is_grads_batched else grad.shape


def _fit_edges(outputs, grads):
    """What is wrong with the gradients of outputs that are edges."""
    for i, (out, g) in enumerate(zip(outputs, grads or ())):
        if _is_edge(out) and g is not None and g.shape != _shape_of(out):
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {_shape_of(out)}.")


def _check_inputs(inputs):
    for i in inputs:
        if not isinstance(i, torch.Tensor) and not _is_edge(i):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(i).__name__}")


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    if materialize_grads and allow_unused is False:
        raise ValueError(f"Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused={allow_unused}.")
    if not only_inputs:
        _deprecated("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, "
                    "please use torch.autograd.backward.")
    outputs, inputs = _seq(outputs), _seq(inputs)
    if not inputs:
        raise ValueError("grad requires non-empty inputs.")
    if grad_outputs is not None:
        grad_outputs = _seq(grad_outputs)
    _fit_edges(outputs, grad_outputs)
    _check_inputs(inputs)
    for i in inputs:
        if isinstance(i, torch.Tensor) and not i.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = bool(create_graph if retain_graph is None else retain_graph)
    if not is_grads_batched and not materialize_grads:  # returned at once: where the caller drops them, nobody has had them
        return torch._C._autograd_grad(outputs, grad_outputs, inputs, keep, create_graph, bool(allow_unused), False)

    def one(seeds, keep):
        return torch._C._autograd_grad(outputs, seeds, inputs, keep, create_graph, bool(allow_unused) or materialize_grads, False)

    result = _row_by_row(one, outputs, grad_outputs, keep) if is_grads_batched else one(grad_outputs, keep)
    if materialize_grads:
        if any(g is None and _is_edge(i) for g, i in zip(result, inputs)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        return tuple(torch.zeros_like(i, requires_grad=True) if g is None else g for g, i in zip(result, inputs))
    return result


def _row_by_row(one, outputs, seeds, keep):
    """A pass for each row of the gradients of the outputs; their results are stacked."""
    rows = set()
    for i, (out, seed) in enumerate(zip(outputs, seeds or [None] * len(outputs))):
        if seed is None or seed.ndim == 0:
            raise ValueError("vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0 "
                             "so expected in_dim to satisfy 0 <= in_dim < 0.")
        if seed.shape[1:] != out.shape:
            raise RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
                               "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
                               f"detected: grad_output[{i}] has a shape of {torch.Size(seed.shape[2:])} and output[{i}] has a shape of {out.shape}. "
                               "If you only want some tensors in `grad_output` to be considered batched, consider using vmap.")
        rows.add(seed.shape[0])
    if len(rows) > 1:
        sizes = [seed.shape[0] for seed in seeds]
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    (n,) = rows
    found = [one([seed[r] for seed in seeds], keep or r < n - 1) for r in range(n)]
    return tuple(None if parts[0] is None else torch.stack(parts) for parts in zip(*found))


def _deprecated(text):
    import warnings

    warnings.warn(text, FutureWarning, stacklevel=3)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    if grad_variables is not None:
        _deprecated("`grad_variables` is deprecated. Use `grad_tensors` instead.")
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None:
        if (inputs := _seq(inputs)) == ():
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        _check_inputs(inputs)
        if any(isinstance(i, torch.Tensor) and not i.requires_grad for i in inputs):
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    tensors = _seq(tensors)
    assert all(isinstance(x, torch.Tensor) or _is_edge(x) for x in tensors)
    if grad_tensors is not None:
        grad_tensors = _seq(grad_tensors)
        _fit_edges(tensors, grad_tensors)
    torch._C._autograd_grad(tensors, grad_tensors, inputs,
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


from torch.autograd import _functions, graph, profiler
from torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from torch.autograd.gradcheck import gradcheck, gradgradcheck
