"""Noting the values of nodes with them, as fake tensors."""
from typing import Optional

import torch.fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.node import map_aggregate

__all__ = ["FakeTensorProp"]


class FakeTensorProp(torch.fx.Interpreter):
    """Runs a graph in a FakeTensorMode; what a node gives is its meta["val"]."""

    def __init__(self, module, mode: Optional[FakeTensorMode] = None):
        super().__init__(module)
        self._mode = FakeTensorMode() if mode is None else mode

    def run_node(self, n):
        result = super().run_node(n)
        seen = []

        def of(obj):
            if isinstance(obj, FakeTensor):
                seen.append(obj)
                return obj.detach()
            if isinstance(obj, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                seen.append(obj)
                return obj
            return None

        value = map_aggregate(result, of)
        if seen:
            n.meta["val"] = value
        return result

    def propagate(self, *args):
        return self.propagate_dont_convert_inputs(*[self._mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in args])

    def propagate_dont_convert_inputs(self, *args):
        with self._mode:
            return super().run(*args)
