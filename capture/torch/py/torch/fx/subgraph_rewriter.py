"""Replacing what looks like one graph by another."""
import copy
from typing import Any, Dict, List, NamedTuple

import torch
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node


class Match(NamedTuple):
    """Where the pattern was found: the last node, and the node for each of the pattern's."""

    anchor: Node
    nodes_map: Dict[Node, Node]


class ReplacedPatterns(NamedTuple):
    """A match, with the nodes that were put in its place."""

    anchor: Node
    nodes_map: Dict[Node, Node]
    replacements: List[Node]


class _Matcher:
    """Finds the nodes of a graph that do what a pattern does."""

    def __init__(self, pattern, ignore_literals=False):
        self.pattern, self.ignore_literals = pattern, ignore_literals
        (self.output,) = (n for n in pattern.nodes if n.op == "output")
        returned = self.output.all_input_nodes
        if not returned:
            raise AssertionError("the pattern gives back nothing")
        self.anchors = [n for n in returned if set(n.users) == {self.output}] or returned

    def same(self, pn, gn):
        if pn.op == "placeholder":
            return True
        if pn.op != gn.op:
            return False
        if pn.op == "call_module":
            a, b = pn.graph.owning_module, gn.graph.owning_module
            return type(a.get_submodule(pn.target)) is type(b.get_submodule(gn.target)) if a is not None and b is not None else pn.target == gn.target
        return pn.target == gn.target

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
        if pn.op == "placeholder":
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
        found = []
        for gn in graph.nodes:
            nodes = {}
            if not self.match_node(self.anchors[0], gn, nodes):
                continue
            if all(a in nodes or any(self.match_node(a, other, nodes) for other in graph.nodes if self.same(a, other)) for a in self.anchors[1:]) and self.whole(nodes):
                found.append(nodes)
        taken, out = set(), []
        for nodes in found:  # the first of those that have nodes in common
            own = {g for p, g in nodes.items() if p.op not in ("placeholder", "get_attr")}
            if not own & taken:
                taken |= own
                out.append(nodes)
        return out


def _graph(m):
    if isinstance(m, GraphModule):
        return m.graph
    if isinstance(m, Graph):
        return m
    return symbolic_trace(m).graph


def replace_pattern(gm, pattern, replacement):
    """Replaces each place of gm.graph that does what pattern does by what replacement does; gives the places."""
    return [Match(anchor=m.anchor, nodes_map=m.nodes_map) for m in _replace_pattern(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None):
    """replace_pattern for the places that all filters (match, original graph, pattern graph) agree to."""
    return _replace_pattern(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback)


class _InternalMatch(NamedTuple):
    """What filters get to see of a match."""

    anchors: List[Node]
    nodes_map: Dict[Node, Any]
    placeholder_nodes: List[Node]
    returning_nodes: List[Node]


def _replace_pattern(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None):
    graph, pattern_graph = gm.graph, _graph(pattern)
    matcher = _Matcher(pattern_graph, ignore_literals)
    fixed = None if replacement is None else _graph(replacement)
    places = [n for n in pattern_graph.nodes if n.op == "placeholder"]
    returned = matcher.output.all_input_nodes
    done, moved = [], {}
    for nodes in matcher.match(graph):
        match = _InternalMatch([nodes[a] for a in matcher.anchors], nodes, [nodes[p] for p in places if p in nodes], [nodes[r] for r in returned])
        if not all(f(match, graph, pattern_graph) for f in match_filters or []):
            continue
        new_graph = fixed if replacement_callback is None else replacement_callback(match, graph, pattern_graph)
        if new_graph is None:
            raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
        ins = [n for n in new_graph.nodes if n.op == "placeholder"]
        if len(ins) != len(places):
            raise AssertionError(f"the replacement takes {len(ins)} inputs, the pattern {len(places)}")
        val_map = {}
        for r, p in zip(ins, places):
            given = nodes.get(p)
            while isinstance(given, Node) and given in moved:
                given = moved[given]
            val_map[r] = given
        own = [g for p, g in nodes.items() if p.op not in ("placeholder", "output") and isinstance(g, Node)]
        users = [u for g in match.returning_nodes for u in g.users if u not in own]
        first = min(users, default=None)
        with graph.inserting_before(first if first is not None else max(own).next):
            before = set(graph.nodes)
            result = graph.graph_copy(new_graph, val_map)
        made = [n for n in graph.nodes if n not in before]
        results = (result,) if isinstance(result, Node) else tuple(result)
        if len(results) != len(match.returning_nodes):
            raise AssertionError(f"the replacement gives {len(results)} values, the pattern {len(match.returning_nodes)}")
        for g, r in zip(match.returning_nodes, results):
            g.replace_all_uses_with(r)
            moved[g] = r
        for p in reversed(pattern_graph.nodes):
            if p.op not in ("placeholder", "output") and len(nodes[p].users) == 0:
                graph.erase_node(nodes[p])
        done.append(ReplacedPatterns(anchor=match.anchors[0], nodes_map=nodes, replacements=made))
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _take_attributes(gm, replacement)
    gm.graph.lint()
    return done


def _take_attributes(gm, replacement):
    """Gives gm the modules and tensors of the replacement that its graph names now."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        try:
            at = gm
            for part in node.target.split("."):
                at = getattr(at, part)
        except AttributeError:
            from torch.fx.graph_module import _assign_attr

            value = replacement
            for part in node.target.split("."):
                value = getattr(value, part)
            _assign_attr(copy.deepcopy(value), gm, node.target)
