"""Noting the sizes of values with their nodes, by running the graph."""
import traceback
from typing import NamedTuple, Optional

import torch
from torch.fx.node import map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its data."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple
    memory_format: Optional[torch.memory_format]
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    memory_format = None
    if include_contiguity:
        for f in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d):
            if (f is torch.contiguous_format or result.dim() == (4 if f is torch.channels_last else 5)) and result.is_contiguous(memory_format=f):
                memory_format = f
                break
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {})


class ShapeProp(torch.fx.Interpreter):
    """Runs a graph, and gives its nodes tensor_meta and type."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp with a fake mode is not supported")

    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception as e:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from e
        found = []

        def look(obj):
            if isinstance(obj, torch.Tensor):
                found.append(obj)
                return _extract_tensor_metadata(obj)
            return obj

        meta = map_aggregate(result, look)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        return super().run(*args)
