"""User-defined differentiable functions."""
import functools
import inspect
import warnings

import torch


class FunctionCtx:
    def save_for_backward(self, *tensors):
        self.to_save = tensors

    @property
    def saved_tensors(self):
        kept = self.__dict__.get("_raw_saved_tensors")
        if kept is None:
            return tuple(getattr(self, "to_save", None) or ())
        return torch._C._autograd._unpack(kept)

    @property
    def saved_variables(self):
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def save_for_forward(self, *tensors):
        for t in tensors:
            if not isinstance(t, torch.Tensor) and t is not None:
                raise AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx.")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class BackwardCFunction(torch._C._FunctionBase, FunctionCtx):
    """The context of a call of a function, which is the node of that call once it is in the graph."""

    def apply(self, *grads):
        return self._forward_cls._gradient()(self, *grads)


class Function(FunctionCtx):
    def __init__(self, *args, **kwargs):
        if torch.compiler.is_compiling():
            return
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the class itself. "
                      "Instantiating an autograd function will raise an error in a future version of PyTorch.", DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. "
                           "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    @staticmethod
    def forward(ctx, *args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    generate_vmap_rule = False

    @staticmethod
    def setup_context(ctx, inputs, output):
        # Never called: a class that does not override it has forward fill the context. The words are those that PyTorch has here.
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def vmap(info, in_dims, *args):
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args, **kwargs):
        if cls.setup_context is not Function.setup_context:
            args, kwargs = _with_defaults(cls.forward, args, kwargs), {}
        elif kwargs and not torch._C._are_functorch_transforms_active():
            raise TypeError("apply() takes no keyword arguments")
        if torch._C._are_functorch_transforms_active() and not torch._C._functorch._traced():
            from torch._functorch.autograd_function import custom_function_call

            return custom_function_call(cls, lambda *operands: cls._applied(*operands, **kwargs), args)
        return cls._applied(*args, **kwargs)

    @classmethod
    def _gradient(cls):
        """What computes the gradients: backward, or vjp."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.")
        return cls.vjp

    @classmethod
    def _context(cls):
        """A context for a call, of a class that is named after this one."""
        made = cls.__dict__.get("_backward_cls")
        if made is None:
            made = cls._backward_cls = type(cls.__name__ + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": __name__})
        return made()

    @classmethod
    def _applied(cls, *args, **kwargs):
        gradient = cls._gradient()
        ctx = cls._context()
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        ctx.needs_input_grad = tuple(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
        with torch.no_grad():
            if cls.setup_context is not Function.setup_context:
                out = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, out)
            else:
                out = cls.forward(ctx, *args, **kwargs)
        results = out if isinstance(out, tuple) else (out,)
        places = [k for k, o in enumerate(results) if isinstance(o, torch.Tensor)]
        outs = [results[k] for k in places]
        skip = _ids(ctx, "non_differentiable", "mark_non_differentiable only accepts variable arguments, but got ")
        inputs = [id(t) for t in tensors]
        dirty = cls._written(ctx, inputs, outs)
        for i, t in enumerate(getattr(ctx, "to_save", None) or ()):
            if t is not None and not isinstance(t, torch.Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}")
        with torch.no_grad():
            fresh = [o.view_as(o) if id(o) in inputs and id(o) not in dirty else o for o in outs]
        which = [i for i, o in enumerate(fresh) if (o.is_floating_point() or o.is_complex()) and id(outs[i]) not in skip]
        recorded = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
        torch._C._autograd_made([f for f in fresh if id(f) not in dirty], recorded and len(which) > 1)

        if recorded and which:
            materialize = getattr(ctx, "materialize_grads", True)

            def run_backward(*grads):
                full = [None] * len(results)
                for i, g in zip(which, grads):
                    full[places[i]] = g
                if materialize:
                    for k, o in zip(places, fresh):
                        if full[k] is None:
                            full[k] = torch.zeros_like(o, requires_grad=False)
                return cls._checked(gradient(ctx, *full), args)

            torch._C._autograd_record(cls.__name__ + "Backward", tensors, [fresh[i] for i in which], run_backward, materialize, ctx)
        if not isinstance(out, tuple):
            return fresh[0] if places else out
        given = iter(fresh)
        return tuple(next(given) if isinstance(o, torch.Tensor) else o for o in out)

    @classmethod
    def _checked(cls, gs, args):
        """The gradients of the arguments that are tensors, of what backward gave for args."""
        name = cls.__name__ + "Backward"
        if not isinstance(gs, tuple):
            gs = (gs,)
        if len(gs) > len(args) and all(g is None for g in gs[len(args):]):
            gs = gs[:len(args)]
        if len(gs) != len(args):
            raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {len(args)}, got {len(gs)})")
        found = []
        for i, (g, a) in enumerate(zip(gs, args)):
            if isinstance(a, torch.Tensor):
                if g is not None and not isinstance(g, torch.Tensor):
                    raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
                found.append(g)
            elif g is not None:
                raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding forward input was not a Variable")
        return tuple(found)

    @staticmethod
    def _written(ctx, inputs, outs):
        """Which inputs were marked as written, by id; they become results themselves."""
        marked = getattr(ctx, "dirty_tensors", None) or ()
        results = [id(o) for o in outs]
        for i in _ids(ctx, "dirty_tensors", "mark_dirty can only accept variables, but argument "):
            if i not in results:
                raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function.")
        for t in marked:
            if id(t) in inputs and t.is_leaf and t.requires_grad:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            if id(t) in inputs and t._base is not None and len(outs) > 1:
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. This is not supported by the current autograd engine. "
                    "You should either make sure the input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). "
                    "You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
                )
            torch._C._autograd_bump(t)
        return [id(t) for t in marked]


def _ids(ctx, attr, refusal):
    """The identities of the tensors that a context was given as attr."""
    found = []
    for t in getattr(ctx, attr, None) or ():
        if not isinstance(t, torch.Tensor):
            raise RuntimeError(refusal)
        found.append(id(t))
    return found


def _with_defaults(forward, args, kwargs):
    """args with those given by name, and what forward has for those that were left out, as setup_context sees them."""
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


class InplaceFunction(Function):
    """A function that may write to its input."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def once_differentiable(fn):
    """For a backward that has no gradient of its own: nothing of it is recorded, and asking for that gradient is an error."""

    @functools.wraps(fn)
    def backward(ctx, *grads):
        with torch.no_grad():
            found = fn(ctx, *grads)
        if not torch.is_grad_enabled() or not any(isinstance(g, torch.Tensor) and g.requires_grad for g in grads):
            return found
        several = found if isinstance(found, tuple) else (found,)
        refuse = torch._C._functions.DelayedError("trying to differentiate twice a function that was marked with @once_differentiable", len(several))
        marked = refuse(*(None if g is None else g.detach().requires_grad_() for g in several))
        return marked if isinstance(marked, tuple) else (marked,)

    return backward


class _Refusing(torch._C._FunctionBase):
    """Passes tensors on; what comes back is in the hands of a subclass."""

    def __call__(self, *tensors):
        given = tuple(None if t is None else t.detach() for t in tensors)
        ins, outs = [t for t in tensors if t is not None], [t for t in given if t is not None]
        torch._C._autograd_record(self._name, ins, outs, self._back, False, None)
        return given if len(given) != 1 else given[0]


class DelayedError(_Refusing):
    """A backward pass that gets here fails with a message."""

    _name = "Error"

    def __init__(self, msg, num_inputs):
        self._msg = msg

    def _back(self, *grads):
        raise RuntimeError(self._msg)


class UndefinedGrad(_Refusing):
    """No gradient gets past here."""

    _name = "UndefinedGradBackward"

    def _back(self, *grads):
        return (None,) * len(grads)


torch._C._functions = type(torch)("torch._C._functions")
torch._C._functions.DelayedError, torch._C._functions.UndefinedGrad = DelayedError, UndefinedGrad
torch._C._functions.AccumulateGrad = torch._C._AccumulateGrad
DelayedError.__module__ = UndefinedGrad.__module__ = "torch._C._functions"
