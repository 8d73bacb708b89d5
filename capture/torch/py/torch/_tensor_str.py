"""How tensors are written: the options, and the parts of the text."""
import contextlib
import math

import torch
from torch import _C, set_printoptions

_NAMES = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
_ALL = 1 << 62  # what no threshold is to the printer


def get_printoptions():
    values = dict(zip(_NAMES, _C._get_printoptions()))
    if values["threshold"] >= _ALL:
        values["threshold"] = math.inf
    return values


class __PrinterOptions:
    """The options that are in force; what is written to it holds at once."""

    def __getattr__(self, name):
        if name in _NAMES:
            return get_printoptions()[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if name in _NAMES:
            _C._set_printoptions(**{name: _ALL if name == "threshold" and value == math.inf else value})
        else:
            object.__setattr__(self, name, value)

    def __repr__(self):
        return "__PrinterOptions(" + ", ".join(f"{k}={v}" for k, v in get_printoptions().items()) + ")"


PRINT_OPTS = __PrinterOptions()


@contextlib.contextmanager
def printoptions(**kwargs):
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def _str(self, *, tensor_contents=None):
    if tensor_contents is None:
        return torch.Tensor.__repr__(self)
    return torch.Tensor.__repr__(self, tensor_contents=tensor_contents)


def _tensor_str(self, indent):
    """The numbers alone, as they stand behind a prefix of so many characters."""
    prefix = "tensor("
    width = PRINT_OPTS.linewidth
    PRINT_OPTS.linewidth = max(width + len(prefix) - indent, 1)  # lines break where those behind the other prefix do
    try:
        text = torch.Tensor.__repr__(self.detach().as_subclass(torch.Tensor))[len(prefix):-1]
    finally:
        PRINT_OPTS.linewidth = width
    text = text[:text.rindex("]") + 1] if self.dim() else text.split(",")[0]
    return text.replace("\n" + " " * len(prefix), "\n" + " " * indent)
