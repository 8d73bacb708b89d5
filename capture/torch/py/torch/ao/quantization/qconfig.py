"""What observes activations and weights."""
from collections import namedtuple

from torch._absent import declare


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """A pair of factories of observers."""

    __slots__ = ()

    def __new__(cls, activation, weight):
        return super().__new__(cls, activation, weight)


declare("get_default_qconfig", "get_default_qat_qconfig", "default_dynamic_qconfig", "default_qconfig")
