"""Finding what looks like one graph in another."""
from dataclasses import dataclass, field
from typing import Any, Dict, List


from torch.fx.node import Node

__all__ = ["SubgraphMatcher", "InternalMatch"]


@dataclass
class InternalMatch:
    """Where a pattern was found: the last nodes of the pattern, the value for each of its nodes, its inputs, and what it gives."""

    anchors: List[Node]
    nodes_map: Dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: List[Node] = field(default_factory=list)
    returning_nodes: List[Node] = field(default_factory=list)
    name_node_map: Dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Finds the nodes of a graph that do what a pattern does."""

    def __init__(self, pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True, ignore_literals=False):
        self.pattern, self.ignore_literals = pattern, ignore_literals
        self.match_output, self.match_placeholder, self.remove_overlapping_matches = match_output, match_placeholder, remove_overlapping_matches
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for n in pattern.nodes:
            if n.op != "output" and len(n.users) == 0 and not n.is_impure():
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        (self.output,) = (n for n in pattern.nodes if n.op == "output")
        self.returned = self.output.all_input_nodes
        if not self.returned and not match_output:
            raise AssertionError("the pattern gives back nothing")
        self.anchors = [self.output] if match_output else [n for n in self.returned if set(n.users) == {self.output}] or self.returned

    def same(self, pn, gn):
        if pn.op == "placeholder" and not self.match_placeholder:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        if pn.op == "get_attr":
            return self._attribute(pn) == self._attribute(gn) if pn.graph.owning_module is None or gn.graph.owning_module is None else type(self._attribute(pn)) is type(self._attribute(gn))
        if pn.op == "call_module":
            a, b = pn.graph.owning_module, gn.graph.owning_module
            return type(a.get_submodule(pn.target)) is type(b.get_submodule(gn.target)) if a is not None and b is not None else pn.target == gn.target
        return pn.target == gn.target

    @staticmethod
    def _attribute(n):
        """What a node reads; its name where the graph is of no module."""
        at = n.graph.owning_module
        if at is None:
            return n.target
        for part in n.target.split("."):
            at = getattr(at, part)
        return at

    def match_arg(self, p, g, nodes):
        if isinstance(p, Node):
            return self.match_node(p, g, nodes)
        if isinstance(p, (list, tuple)):
            return isinstance(g, (list, tuple)) and len(p) == len(g) and all(self.match_arg(a, b, nodes) for a, b in zip(p, g))
        if isinstance(p, dict):
            return isinstance(g, dict) and p.keys() == g.keys() and all(self.match_arg(p[k], g[k], nodes) for k in p)
        if isinstance(p, slice):
            return isinstance(g, slice) and all(self.match_arg(getattr(p, f), getattr(g, f), nodes) for f in ("start", "stop", "step"))
        if isinstance(g, Node):
            return False
        return self.ignore_literals or type(p) is type(g) and p == g

    def match_node(self, pn, gn, nodes):
        if pn in nodes:
            return nodes[pn] is gn or nodes[pn] == gn and not isinstance(gn, Node)
        if pn.op == "placeholder" and not self.match_placeholder:
            nodes[pn] = gn
            return True
        if not isinstance(gn, Node) or gn in nodes.values() or not self.same(pn, gn):
            return False
        nodes[pn] = gn
        return self.match_arg(pn.args, gn.args, nodes) and self.match_arg(pn.kwargs, gn.kwargs, nodes)

    def whole(self, nodes):
        """Whether nobody outside of the match uses what the pattern keeps to itself."""
        inside = {g for g in nodes.values() if isinstance(g, Node)}
        for pn, gn in nodes.items():
            if pn.op in ("placeholder", "output", "get_attr") or self.output in pn.users:
                continue
            if any(u not in inside for u in gn.users):
                return False
        return True

    def match(self, graph):
        """The places of a graph that do what the pattern does; of those that have nodes in common the first one, unless all are wanted."""
        found = []
        for gn in graph.nodes:
            nodes = {}
            if not self.match_node(self.anchors[0], gn, nodes):
                continue
            if all(a in nodes or any(self.match_node(a, other, nodes) for other in graph.nodes if self.same(a, other)) for a in self.anchors[1:]) and self.whole(nodes):
                found.append(nodes)
        taken, out = set(), []
        for nodes in found:
            own = {g for p, g in nodes.items() if p.op not in ("placeholder", "get_attr")}
            if self.remove_overlapping_matches and own & taken:
                continue
            taken |= own
            places = [nodes[p] for p in self.pattern.nodes if p.op == "placeholder" and p in nodes]
            out.append(InternalMatch(list(self.anchors), nodes, places, [nodes[r] for r in self.returned]))
        return out
