"""Replacing what looks like one graph by another."""
import copy
from typing import Dict, List, NamedTuple

import torch
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher


class Match(NamedTuple):
    """Where the pattern was found: the last node of the pattern, and the node for each of the pattern's."""

    anchor: Node
    nodes_map: Dict[Node, Node]


class ReplacedPatterns(NamedTuple):
    """A match, with the nodes that were put in its place."""

    anchor: Node
    nodes_map: Dict[Node, Node]
    replacements: List[Node]


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


def _replace_pattern(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None):
    graph, pattern_graph = gm.graph, _graph(pattern)
    matcher = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals)
    fixed = None if replacement is None else _graph(replacement)
    places = [n for n in pattern_graph.nodes if n.op == "placeholder"]
    done, moved = [], {}
    for match in matcher.match(graph):
        nodes = match.nodes_map
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
