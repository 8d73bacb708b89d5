"""Cutting a module into submodules, by the tags that its nodes carry."""
import operator
from dataclasses import dataclass, field
from typing import Dict, List, Optional

import torch
import torch.fx
from torch.fx.graph import map_arg


def getattr_recursive(obj, name):
    """What obj has under a name with dots; None where a part is missing."""
    for part in name.split("."):
        if not hasattr(obj, part):
            return None
        obj = getattr(obj, part)
    return obj


def setattr_recursive(obj, attr, value):
    """Puts a value under a name with dots."""
    *path, last = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, last, value)


@dataclass
class Component:
    """A part of a split graph."""

    graph: torch.fx.Graph
    order: int
    name: str
    input_placeholders: List = field(default_factory=list)
    orig_inputs: List = field(default_factory=list)
    orig_outputs: List = field(default_factory=list)
    getattr_maps: Dict[torch.fx.Node, torch.fx.Node] = field(default_factory=dict)
    constructor_args: List[str] = field(default_factory=list)
    gm: Optional[torch.fx.GraphModule] = None


def split_by_tags(gm, tags, return_fqn_mapping=False, return_tuple=False, GraphModuleCls=torch.fx.GraphModule):
    """A module with one submodule for each tag, in the order of tags; nodes of one tag must not need what a later one makes."""
    parts = {tag: Component(torch.fx.Graph(), i, tag) for i, tag in enumerate(tags)}
    made_in, copies = {}, {}  # from nodes to their component, and to what they are there
    main, outer, fqns = torch.fx.Graph(), {}, {}
    output = None

    for node in gm.graph.nodes:
        if node.op == "output":
            output = node
            continue
        if node.op == "placeholder":
            outer[node] = main.placeholder(node.name, type_expr=node.type)
            outer[node].meta = node.meta.copy()
            continue
        if not hasattr(node, "tag"):
            if node.op == "get_attr":
                continue  # copied where it is used
            raise AssertionError(f"Node {node} has no tag")
        part = parts[node.tag]

        def there(x):
            """A value as the component has it: made in it, read in it, or an input."""
            if made_in.get(x) is part:
                return copies[x]
            if x.op == "get_attr":
                if x not in part.getattr_maps:
                    part.getattr_maps[x] = part.graph.node_copy(x)
                return part.getattr_maps[x]
            if x.op != "placeholder" and made_in[x].order >= part.order:
                raise AssertionError(f"Component {part.name} needs {x}, which the later component {made_in[x].name} makes")
            if x not in part.orig_inputs:
                part.orig_inputs.append(x)
                new = part.graph.placeholder(x.name, type_expr=x.type)
                new.meta = x.meta.copy()
                part.input_placeholders.append(new)
            return part.input_placeholders[part.orig_inputs.index(x)]

        made_in[node] = part
        copies[node] = part.graph.node_copy(node, there)
        if node.op == "get_attr":
            part.getattr_maps[node] = copies[node]
        if node.op in ("get_attr", "call_module"):
            fqns[node.target] = f"{part.name}.{node.target}"

    for node in gm.graph.nodes:
        for x in node.all_input_nodes:
            maker = made_in.get(x)
            if maker is not None and x.op != "get_attr" and made_in.get(node) is not maker and x not in maker.orig_outputs:
                maker.orig_outputs.append(x)

    root = torch.nn.Module()
    for part in parts.values():
        outs = tuple(copies[x] for x in part.orig_outputs)
        part.graph.output(outs if return_tuple or len(outs) != 1 else outs[0])
        part.gm = GraphModuleCls(gm, part.graph)
        call = main.call_module(part.name, tuple(outer[x] for x in part.orig_inputs))
        setattr(root, part.name, part.gm)
        for i, x in enumerate(part.orig_outputs):
            if return_tuple or len(outs) != 1:
                outer[x] = main.call_function(operator.getitem, (call, i))
                outer[x].meta = x.meta.copy()
            else:
                outer[x] = call

    def out(x):
        if x.op == "get_attr" and x not in outer:
            outer[x] = main.get_attr(x.target)
            setattr(root, x.name, getattr_recursive(gm, x.target))
            outer[x].target = x.name
        return outer[x]

    main.output(map_arg(output.args[0], out)).meta = output.meta.copy()
    main._codegen = gm.graph._codegen
    result = GraphModuleCls(root, main)
    return (result, fqns) if return_fqn_mapping else result
