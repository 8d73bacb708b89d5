"""Graphs of programs: how they are made by tracing, run, edited and printed as Python."""
from torch.fx.graph import CodeGen, Graph
from torch.fx.graph_module import GraphModule
from torch.fx.interpreter import Interpreter, Transformer
from torch.fx.node import Node, has_side_effect, map_arg
from torch.fx.proxy import Proxy
from torch.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from torch.fx import experimental


def __getattr__(name):
    import importlib

    if name == "replace_pattern":
        from torch.fx.subgraph_rewriter import replace_pattern

        return replace_pattern
    try:
        return importlib.import_module("torch.fx." + name)
    except ModuleNotFoundError:
        raise AttributeError(f"module 'torch.fx' has no attribute '{name}'") from None
