"""Functions of torch by the name that its modules call them by."""
import sys
import types

import torch


class _Functions(types.ModuleType):
    def __getattr__(self, name):
        return getattr(torch, name)


sys.modules[__name__] = _Functions(__name__)
