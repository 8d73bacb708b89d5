"""User-defined differentiable functions."""
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


class Function(FunctionCtx):
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
        if torch._C._are_functorch_transforms_active() and not torch._C._functorch._traced():
            from torch._functorch.autograd_function import custom_function_call

            return custom_function_call(cls, lambda *operands: cls._applied(*operands, **kwargs), args)
        return cls._applied(*args, **kwargs)

    @classmethod
    def _applied(cls, *args, **kwargs):
        gradient = cls.backward
        if cls.vjp is not Function.vjp:
            if cls.backward is not Function.backward:
                raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.")
            gradient = cls.vjp
        ctx = FunctionCtx()
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        ctx.needs_input_grad = tuple(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
        with torch.no_grad():
            if cls.setup_context is not Function.setup_context:
                out = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, out)
            else:
                out = cls.forward(ctx, *args, **kwargs)
        if not torch.is_grad_enabled() or not any(t.requires_grad for t in tensors):
            return out
        outs = (out,) if isinstance(out, torch.Tensor) else tuple(o for o in out if isinstance(o, torch.Tensor))
        skip = [id(t) for t in getattr(ctx, "non_differentiable", ())]
        inputs = [id(t) for t in tensors]
        dirty = cls._written(ctx, inputs, outs)
        fresh = tuple(o.view_as(o) if id(o) in inputs and id(o) not in dirty else o for o in outs)
        which = [i for i, o in enumerate(fresh) if o.is_floating_point() and id(outs[i]) not in skip]

        def run_backward(*grads):
            full = [None] * len(fresh)
            for i, g in zip(which, grads):
                full[i] = g
            gs = gradient(ctx, *full)
            if not isinstance(gs, tuple):
                gs = (gs,)
            if len(gs) < len(args):
                raise RuntimeError(f"function {cls.__name__}Backward returned an incorrect number of gradients (expected {len(args)}, got {len(gs)})")
            return tuple(g for g, a in zip(gs, args) if isinstance(a, torch.Tensor))

        torch._C._autograd_record(cls.__name__ + "Backward", tensors, [fresh[i] for i in which], run_backward, getattr(ctx, "materialize_grads", True), ctx)
        if isinstance(out, torch.Tensor):
            return fresh[0]
        it = iter(fresh)
        return tuple(next(it) if isinstance(o, torch.Tensor) else o for o in out)


    @staticmethod
    def _written(ctx, inputs, outs):
        """Which inputs were marked as written, by id; they become results themselves."""
        marked = [t for t in getattr(ctx, "dirty_tensors", ()) if isinstance(t, torch.Tensor)]
        results = [id(o) for o in outs]
        for t in marked:
            if id(t) not in results:
                raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function.")
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


def once_differentiable(fn):
    return fn
