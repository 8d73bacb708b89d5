"""Graphs as modules of their own, and the comparison of graphs."""
import torch
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.nn import Module

__all__ = ["HolderModule", "lift_subgraph_as_module", "compare_graphs"]


class HolderModule(Module):
    """Holds modules under the names that a graph calls them by."""

    def __init__(self, d):
        super().__init__()
        for k, v in d.items():
            self.add_module(k, v)


def lift_subgraph_as_module(gm, subgraph, comp_name="", class_name="GraphModule"):
    """A module for a graph whose nodes name what gm has, and where its attributes come from."""
    holder, origin = HolderModule({}), {}
    for n in subgraph.nodes:
        if n.op not in ("call_module", "get_attr"):
            continue
        *path, name = n.target.split(".")
        src, dst = gm, holder
        for part in path:
            src = getattr(src, part)
            if not hasattr(dst, part):
                dst.add_module(part, Module())
            dst = getattr(dst, part)
        value = getattr(src, name)
        if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
            dst.register_buffer(name, value)
        else:
            setattr(dst, name, value)
        origin[f"{comp_name}.{n.target}"] = n.target
    return GraphModule(holder, subgraph, class_name), origin


def compare_graphs(left, right):
    """Whether two graphs are alike."""
    return bool(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right))
