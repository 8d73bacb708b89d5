"""Decorators that PyTorch's tests of functorch share, for where their own file of this name does not lie beside them."""
import unittest
from collections import namedtuple

import torch
import torch.utils._pytree as pytree

DecorateMeta = namedtuple("DecorateMeta", ["op_name", "variant_name", "decorator", "device_type", "dtypes"])


def decorate(op_name, variant_name="", *, decorator=None, device_type=None, dtypes=None):
    assert decorator is not None
    return DecorateMeta(op_name, variant_name, decorator, device_type, dtypes)


def xfail(op_name, variant_name="", *, device_type=None, dtypes=None):
    return decorate(op_name, variant_name, decorator=unittest.expectedFailure, device_type=device_type, dtypes=dtypes)


def skip(op_name, variant_name="", *, device_type=None, dtypes=None):
    return decorate(op_name, variant_name, decorator=unittest.skip("Skipped!"), device_type=device_type, dtypes=dtypes)


def skipOps(test_case_name, base_test_name, to_skip):
    """Decorates one test for the operators of a list."""
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo.core import DecorateInfo

    for meta in to_skip:
        for info in op_db:
            if info.name == meta.op_name and info.variant_test_name == meta.variant_name:
                info.decorators = (*info.decorators, DecorateInfo(meta.decorator, test_case_name, base_test_name, device_type=meta.device_type, dtypes=meta.dtypes))

    def wrapped(fn):
        return fn

    return wrapped


def decorateForModules(decorator, module_classes, device_type=None, dtypes=None):
    """Decorates a test for these classes of modules."""

    def wrapped(fn, decorator=decorator, module_classes=module_classes, device_type=device_type, dtypes=dtypes):
        from torch.testing._internal.common_modules import module_db
        from torch.testing._internal.opinfo.core import DecorateInfo

        test_case_name, base_test_name = fn.__qualname__.split(".")[-2:]
        for cls in module_classes:
            for info in module_db:
                if info.module_cls is cls:
                    info.decorators = (*info.decorators, DecorateInfo(decorator, test_case_name, base_test_name, device_type=device_type, dtypes=dtypes))
        return fn

    return wrapped


def expectedFailureIf(condition):
    return unittest.expectedFailure if condition else lambda fn: fn


def tol2(op_name, variant_name, override_dct, *, device_type=None):
    from torch.testing._internal.common_device_type import toleranceOverride

    return (op_name, variant_name, override_dct, device_type)


def tol1(op_name, override_dct, *, device_type=None):
    return tol2(op_name, "", override_dct, device_type=device_type)
