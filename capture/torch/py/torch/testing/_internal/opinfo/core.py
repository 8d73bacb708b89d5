"""OpInfo: an operator with its dtypes, samples of its arguments, and how tests of it are decorated; op_db lists those that are described."""
import torch
from torch.testing._internal.common_dtype import floating_types

op_db = []


class SampleInput:
    """The arguments of one call: input is the first of them."""

    __slots__ = ["input", "args", "kwargs", "output_process_fn_grad", "broadcasts_input", "name"]

    def __init__(self, input, *var_args, args=None, kwargs=None, output_process_fn_grad=None, broadcasts_input=None, name=None, **var_kwargs):
        self.input = input
        # Arguments are given as args= and kwargs=, or as they are; not in both ways.
        if args is not None or kwargs is not None:
            assert not var_args and not var_kwargs, "A SampleInput can be constructed \"naturally\" with *args and **kwargs or by explicitly setting the \"args\" and \"kwargs\" parameters, but the two methods of construction cannot be mixed!"
        elif var_args or var_kwargs:
            assert output_process_fn_grad is None and broadcasts_input is None and name is None, "A SampleInput constructed \"naturally\" with *args and **kwargs cannot specify additional metadata in keyword arguments"
        self.args = tuple(args) if args is not None else var_args
        self.kwargs = kwargs if kwargs is not None else var_kwargs
        self.output_process_fn_grad = output_process_fn_grad or (lambda x: x)
        self.broadcasts_input = bool(broadcasts_input)
        self.name = name or ""

    def with_metadata(self, *, output_process_fn_grad=None, broadcasts_input=None, name=None):
        self.output_process_fn_grad = output_process_fn_grad or (lambda x: x)
        self.broadcasts_input, self.name = bool(broadcasts_input), name or ""
        return self

    def _repr_helper(self, formatter):
        fields = [f"input={formatter(self.input)}", f"args={formatter(self.args)}", f"kwargs={formatter(self.kwargs)}", f"broadcasts_input={self.broadcasts_input}", f"name={self.name!r}"]
        return f"SampleInput({', '.join(fields)})"

    def __repr__(self):
        return self._repr_helper(lambda x: x)

    def summary(self):
        def text(x):
            if isinstance(x, torch.Tensor):
                return f"Tensor[size={tuple(x.size())}, device=\"{x.device}\", dtype={x.dtype}]"
            if isinstance(x, dict):
                return "{" + ", ".join(f"{k!r}: {text(v)}" for k, v in x.items()) + "}"
            if isinstance(x, (list, tuple)):
                return "(" + ", ".join(map(text, x)) + ("," if len(x) == 1 else "") + ")"
            return repr(x)

        return self._repr_helper(text)

    def transform(self, f):
        """The sample with f's result for each tensor, dtype and device."""

        def walk(x):
            if isinstance(x, (torch.Tensor, torch.dtype, torch.device)):
                return f(x)
            if isinstance(x, (list, tuple)):
                return type(x)(map(walk, x))
            if isinstance(x, dict):
                return {k: walk(v) for k, v in x.items()}
            return x

        return SampleInput(walk(self.input), args=walk(self.args), kwargs=walk(self.kwargs), output_process_fn_grad=self.output_process_fn_grad,
                           broadcasts_input=self.broadcasts_input, name=self.name + "_transformed")

    def numpy(self):
        return self.transform(lambda x: x.detach().cpu().resolve_conj().resolve_neg().numpy() if isinstance(x, torch.Tensor) else x)

    def noncontiguous(self):
        from torch.testing._internal.common_utils import noncontiguous_like

        return self.transform(lambda x: noncontiguous_like(x) if isinstance(x, torch.Tensor) else x)


class ErrorInput:
    """A sample that has to raise."""

    __slots__ = ["sample_input", "error_type", "error_regex"]

    def __init__(self, sample_input, *, error_type=RuntimeError, error_regex):
        self.sample_input, self.error_type, self.error_regex = sample_input, error_type, error_regex


class DecorateInfo:
    """Decorators of those tests whose class, name, device and dtype these are; None stands for any."""

    __slots__ = ["decorators", "cls_name", "test_name", "device_type", "dtypes", "active_if"]

    def __init__(self, decorators, cls_name=None, test_name=None, *, device_type=None, dtypes=None, active_if=True):
        self.decorators = list(decorators) if isinstance(decorators, (list, tuple)) else [decorators]
        self.cls_name, self.test_name, self.device_type, self.active_if = cls_name, test_name, device_type, active_if
        if dtypes is not None:
            for d in dtypes:
                assert isinstance(d, torch.dtype), f"Not a dtype: {d}"
        self.dtypes = dtypes

    def is_active(self, cls_name, test_name, device_type, dtype, param_kwargs):
        return (self.active_if and self.cls_name in (None, cls_name) and self.test_name in (None, test_name) and self.device_type in (None, device_type)
                and (self.dtypes is None or dtype in self.dtypes))


class OpInfo:
    """One operator."""

    def __init__(self, name, *, op=None, aliases=(), variant_test_name="", dtypes=None, dtypesIfCUDA=None, backward_dtypes=None, sample_inputs_func=None, error_inputs_func=None,
                 reference_inputs_func=None, ref=None, skips=(), decorators=(), supports_autograd=True, **facts):
        self.name, self.variant_test_name, self.aliases, self.ref = name, variant_test_name, aliases, ref
        self.op = op if op is not None else _by_name(name)
        self.dtypes = set(dtypes if dtypes is not None else floating_types())
        self.backward_dtypes = set(backward_dtypes) if backward_dtypes is not None else {d for d in self.dtypes if d.is_floating_point or d.is_complex}
        self.sample_inputs_func, self.error_inputs_func, self.reference_inputs_func = sample_inputs_func, error_inputs_func, reference_inputs_func
        self.skips, self.decorators = tuple(skips), (*decorators, *skips)
        self.supports_autograd = supports_autograd
        for k, v in facts.items():
            setattr(self, k, v)

    def __call__(self, *args, **kwargs):
        return self.op(*args, **kwargs)

    def __repr__(self):
        return f"OpInfo(name={self.full_name!r})"

    @property
    def full_name(self):
        return f"{self.name}.{self.variant_test_name}" if self.variant_test_name else self.name

    @property
    def formatted_name(self):
        return (self.name + (f"_{self.variant_test_name}" if self.variant_test_name else "")).replace(".", "_")

    def get_op(self):
        return self.op

    def sample_inputs(self, device, dtype, requires_grad=False, **kwargs):
        from torch.testing._internal.common_utils import OPINFO_SAMPLE_INPUT_INDEX, TrackedInputIter

        return TrackedInputIter(iter(self.sample_inputs_func(self, device, dtype, requires_grad, **kwargs)), "sample input", restrict_to_index=OPINFO_SAMPLE_INPUT_INDEX)

    def reference_inputs(self, device, dtype, requires_grad=False, **kwargs):
        if self.reference_inputs_func is None:
            return self.sample_inputs(device, dtype, requires_grad, **kwargs)
        return self.reference_inputs_func(self, device, dtype, requires_grad, **kwargs)

    def error_inputs(self, device, **kwargs):
        return self.error_inputs_func(self, device, **kwargs)

    def supported_dtypes(self, device_type):
        return set(self.dtypes)

    def supported_backward_dtypes(self, device_type):
        return set(self.backward_dtypes) if self.supports_autograd else set()

    def supports_dtype(self, dtype, device_type):
        return dtype in self.supported_dtypes(device_type)

    def get_decorators(self, test_class, test_name, device, dtype, param_kwargs):
        found = []
        for d in self.decorators:
            if not isinstance(d, DecorateInfo):
                found.append(d)
            elif d.is_active(test_class, test_name, device, dtype, param_kwargs):
                found += d.decorators
        return found


def _by_name(name):
    o = torch
    for part in name.split("."):
        o = getattr(o, part)
    return o


class UnaryUfuncInfo(OpInfo):
    pass


class BinaryUfuncInfo(OpInfo):
    pass


class ReductionOpInfo(OpInfo):
    pass
