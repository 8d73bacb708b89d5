"""The nodes that came from one call of a module or function of the program."""
from dataclasses import dataclass, field
from typing import Any, List, Optional

from torch.fx.node import Node

__all__ = ["get_source_partitions", "check_subgraphs_connected", "SourcePartition"]


@dataclass
class SourcePartition:
    """The nodes of one call, with what they take and give."""

    nodes: List[Node]
    source: Any
    input_nodes: List[Node] = field(default_factory=list)
    output_nodes: List[Node] = field(default_factory=list)
    params: List[Node] = field(default_factory=list)


def get_source_partitions(graph, wanted_sources, filter_fn=None):
    """The calls of the wanted modules or functions, by what the nodes' source_fn_stack says; filter_fn looks at what they give."""
    calls = {}
    for node in graph.nodes:
        stack = node.meta.get("source_fn_stack")
        name, source = stack[-1] if stack else node.meta.get("torch_fn") or (None, None)
        if stack is None and source is not None:
            source = node.meta["torch_fn"][1]
        if source is not None and source in wanted_sources:
            calls.setdefault(source, {}).setdefault(name, []).append(node)

    def made(nodes, source):
        inside = set(nodes)
        inputs, outputs, params = {}, {}, {}
        for n in nodes:
            for x in n.all_input_nodes:
                if x not in inside:
                    inputs[x] = None
            if n.op == "get_attr":
                params[n] = None
            elif any(u not in inside for u in n.users):
                outputs[n] = None
        return SourcePartition(nodes, source, [n for n in inputs if n.op != "get_attr"], list(outputs), list(params) + [n for n in inputs if n.op == "get_attr"])

    out = {source: [made(nodes, source) for nodes in by_name.values()] for source, by_name in calls.items()}
    if filter_fn:
        out = {source: [p for p in parts if all(filter_fn(n) for n in p.output_nodes)] for source, parts in out.items()}
        out = {source: parts for source, parts in out.items() if parts}
    return out


def check_subgraphs_connected(subgraph1, subgraph2):
    """Whether the second one takes what the first one gives."""
    return any(x in subgraph1.nodes for n in reversed(subgraph2.nodes) for x in n.all_input_nodes)
