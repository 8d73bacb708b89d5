"""torch.ops: namespaces of operators."""
from torch import _C
from torch._C import _OpOverload as OpOverload, _OpOverloadPacket as OpOverloadPacket


class _OpNamespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        custom = _custom.get((self._name, name))
        op = custom if custom is not None else _C._packet(self._name, name)
        self.__dict__[name] = op
        return op

    def __repr__(self):
        return f"<module 'torch.ops.{self._name}'>"


class _Ops:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        ns = _OpNamespace(name)
        self.__dict__[name] = ns
        return ns

    def load_library(self, path):
        raise NotImplementedError("torch.ops.load_library is not supported")


class HigherOrderOperator:
    """An operator some of whose arguments are graphs."""

    def __init__(self, name, run):
        self.__name__, self._run = name, run

    def __call__(self, *args, **kwargs):
        return self._run(*args, **kwargs)

    def name(self):
        return self.__name__

    def __repr__(self):
        return self.__name__


def _cond(pred, true_fn, false_fn, operands):
    """The operator under torch.cond, in graphs: the branches are graph modules."""
    return _C._cond(pred, true_fn, false_fn, tuple(operands))


def _tag_activation_checkpoint(body, *operands, **settings):
    """The operator under torch.utils.checkpoint in graphs: the body is a graph module."""
    return _C._checkpoint_region(body, *operands)


def _wrap(body, *operands, **settings):
    """A body that is traced as a graph of its own, and is nothing else."""
    return body(*operands, **settings)


def _autograd_function_apply(fwd, bwd, *args, args_tensor_mask, non_differentiable_idx):
    """The operator under torch.autograd.Function.apply in graphs: forward gives its results and what backward gets after their gradients."""
    on = _C.is_grad_enabled()
    _C._set_grad_enabled(False)
    try:
        out, saved = fwd(None, *args)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        # A result that is an argument is a new view of it.
        outs = [o.view_as(o) if any(o is a for a in args) else o for o in outs]
    finally:
        _C._set_grad_enabled(on)
    inputs = args[: sum(args_tensor_mask)]
    which = [i for i, o in enumerate(outs) if i not in non_differentiable_idx and hasattr(o, "is_floating_point") and o.is_floating_point()]

    def backward(*grads):
        full = [None] * len(outs)
        for i, g in zip(which, grads):
            full[i] = g
        for i, o in enumerate(outs):
            if i not in which and o is not None:
                full[i] = o.new_zeros(o.shape)
        was = _C.is_grad_enabled()
        try:
            gs = bwd(None, *full, *saved)
        finally:
            _C._set_grad_enabled(was)
        gs = gs if isinstance(gs, (tuple, list)) else (gs,)
        return tuple(g if hasattr(x, "is_floating_point") else None for g, x in zip(gs, inputs))

    if on:
        _C._autograd_record("AutogradFunctionApplyBackward", inputs, [outs[i] for i in which], backward, True)
    return tuple(outs) if isinstance(out, (tuple, list)) else outs[0]


_custom = {
    ("higher_order", "autograd_function_apply"): HigherOrderOperator("autograd_function_apply", _autograd_function_apply),
    ("higher_order", "cond"): HigherOrderOperator("cond", _cond),
    ("higher_order", "tag_activation_checkpoint"): HigherOrderOperator("tag_activation_checkpoint", _tag_activation_checkpoint),
    ("higher_order", "wrap"): HigherOrderOperator("wrap", _wrap),
    ("higher_order", "wrap_activation_checkpoint"): HigherOrderOperator("wrap_activation_checkpoint", _tag_activation_checkpoint),
}
ops = _Ops()
