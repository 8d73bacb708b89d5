"""Descriptions of modules for tests, and one test for each: module_db lists those that are described."""
from functools import partial, wraps

import torch
from torch.testing._internal.common_utils import _TestParametrizer, _update_param_kwargs

module_db = []


class ModuleInfo:
    """One class of modules, with samples of what it is made of and called with."""

    def __init__(self, module_cls, *, module_inputs_func, skips=(), decorators=None, dtypes=(torch.float32, torch.float64), **facts):
        self.module_cls, self.module_inputs_func, self.dtypes = module_cls, module_inputs_func, dtypes
        self.decorators = (*(decorators or ()), *(skips or ()))
        for k, v in facts.items():
            setattr(self, k, v)

    @property
    def name(self):
        return self.module_cls.__name__

    @property
    def formatted_name(self):
        return self.name.replace(".", "_")

    def get_decorators(self, test_class, test_name, device, dtype, param_kwargs):
        found = []
        for d in self.decorators:
            if not hasattr(d, "is_active"):
                found.append(d)
            elif d.is_active(test_class, test_name, device, dtype, param_kwargs):
                found += d.decorators
        return found

    def supported_dtypes(self, device_type):
        return self.dtypes


class FunctionInput:
    __slots__ = ["args", "kwargs"]

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs


class ModuleInput:
    __slots__ = ["constructor_input", "forward_input", "desc", "reference_fn"]

    def __init__(self, constructor_input, forward_input=None, desc="", reference_fn=None):
        self.constructor_input, self.forward_input, self.desc, self.reference_fn = constructor_input, forward_input, desc, reference_fn


class modules(_TestParametrizer):
    """One test for each module of a list and each of its dtypes."""

    def __init__(self, module_info_iterable, allowed_dtypes=None, train_eval_mode=None, skip_if_dynamo=True):
        self.module_info_list = list(module_info_iterable)
        self.allowed_dtypes = set(allowed_dtypes) if allowed_dtypes is not None else None

    def _parametrize_test(self, test, generic_cls, device_cls):
        if device_cls is None:
            raise RuntimeError("The @modules decorator is only intended to be used in a device-specific context; use it with instantiate_device_type_tests() instead of "
                               "instantiate_parametrized_tests()")
        for info in self.module_info_list:
            for dtype in info.supported_dtypes(device_cls.device_type):
                if self.allowed_dtypes is not None and dtype not in self.allowed_dtypes:
                    continue
                for training in (False, True):

                    @wraps(test)
                    def test_wrapper(*args, **kwargs):
                        return test(*args, **kwargs)

                    kwargs = {"module_info": info, "training": training}
                    _update_param_kwargs(kwargs, "dtype", dtype)
                    yield (test_wrapper, f"{info.formatted_name}_{'train' if training else 'eval'}_mode", kwargs,
                           partial(info.get_decorators, generic_cls.__name__, test.__name__, device_cls.device_type, dtype))
