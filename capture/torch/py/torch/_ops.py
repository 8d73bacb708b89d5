"""torch.ops: namespaces of operators."""
import importlib

from torch import _C
from torch._C import _OpOverload as OpOverload, _OpOverloadPacket as OpOverloadPacket

# The modules that define the operators of a namespace, imported when one is first asked for.
_defined_in = {"higher_order": "torch._higher_order_ops", "profiler": "torch.profiler._ranges"}


class _OpNamespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if (self._name, name) not in _custom and self._name in _defined_in:
            importlib.import_module(_defined_in[self._name])
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
    """An operator some of whose arguments are functions: run is what it does, given here or by __call__ of a subclass."""

    def __init__(self, name, run=None, *, cacheable=False):
        self.__name__ = self._name = name
        self._run = run
        self._cacheable = cacheable
        _custom[("higher_order", name)] = self

    def __call__(self, *args, **kwargs):
        if self._run is None:
            raise NotImplementedError(f"the operator {self.__name__} is not supported")
        return self._run(*args, **kwargs)

    def py_impl(self, key):
        """Registers what the operator does for a dispatch key; that of plain tensors is what runs here."""

        def register(fn):
            if str(key).endswith("CompositeExplicitAutograd") or self._run is None and str(key).endswith("CPU"):
                self._run = fn
            return fn

        return register

    def py_functionalize_impl(self, fn):
        return fn

    @property
    def namespace(self):
        return "higher_order"

    def cacheable(self):
        return self._cacheable

    def name(self):
        return self.__name__

    def __str__(self):
        return self.__name__

    def __repr__(self):
        return self.__name__


_custom = {}


def _cond(pred, true_fn, false_fn, operands):
    """The operator under torch.cond, in graphs: the branches are graph modules."""
    return _C._cond(pred, true_fn, false_fn, tuple(operands))


def _tag_activation_checkpoint(body, *operands, **settings):
    """The operator under torch.utils.checkpoint in graphs: the body is a graph module."""
    return _C._checkpoint_region(body, *operands)


def _wrap(body, *operands, **settings):
    """A body that is traced as a graph of its own, and is nothing else."""
    from torch._dynamo import disable

    return disable(body)(*operands, **settings)


def _autograd_function_apply(fwd, bwd, *args, args_tensor_mask, non_differentiable_idx):
    """The operator under torch.autograd.Function.apply in graphs: forward gives its results and what backward gets after their gradients."""
    if _C._are_functorch_transforms_active() and not _C._functorch._traced():
        from torch._functorch.autograd_function import applied_on_level

        return applied_on_level(lambda *operands: _function_applied(fwd, bwd, *operands, args_tensor_mask=args_tensor_mask, non_differentiable_idx=non_differentiable_idx), args)
    return _function_applied(fwd, bwd, *args, args_tensor_mask=args_tensor_mask, non_differentiable_idx=non_differentiable_idx)


def _function_applied(fwd, bwd, *args, args_tensor_mask, non_differentiable_idx):
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
        _C._autograd_record("AutogradFunctionApplyBackward", inputs, [outs[i] for i in which], backward, True, None)
    return tuple(outs) if isinstance(out, (tuple, list)) else outs[0]


for _name, _body in (("autograd_function_apply", _autograd_function_apply), ("cond", _cond), ("tag_activation_checkpoint", _tag_activation_checkpoint), ("wrap", _wrap),
                     ("wrap_activation_checkpoint", _tag_activation_checkpoint)):
    HigherOrderOperator(_name, _body)
ops = _Ops()
