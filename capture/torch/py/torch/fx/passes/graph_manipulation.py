"""The sizes of nodes, and changes of what they call."""
from typing import NamedTuple, Optional

import torch
from torch.fx.node import map_arg
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = ["replace_target_nodes_with", "size_bytes", "get_size_of_all_nodes", "get_tensor_meta", "get_size_of_node"]


def replace_target_nodes_with(fx_module, old_op, old_target, new_op, new_target):
    """Has the nodes that call one thing call another, with the same arguments."""
    new, copies = torch.fx.Graph(), {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = map_arg(node.args, lambda n: copies[n]), map_arg(node.kwargs, lambda n: copies[n])
            copies[node] = new.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            copies[node] = new.node_copy(node, lambda n: copies[n])
    fx_module.graph = new


class size_bytes(NamedTuple):
    """The bytes of what a node gives, and of that with its parameters."""

    output_size: int
    total_size: int


def get_size_of_all_nodes(fx_module, args=None):
    """Gives each node its size_bytes; args are run through the module first, to know the shapes."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


def get_tensor_meta(node):
    meta = node.meta.get("tensor_meta")
    if not meta:
        raise RuntimeError(f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run.")
    return meta


def get_size_of_node(fx_module, node):
    """What a node gives, and with the parameters of the module that it calls."""

    def of(meta):
        return torch.tensor([], dtype=meta.dtype).element_size() * meta.shape.numel()

    parameters = 0
    if node.op == "call_module":
        for _, p in dict(fx_module.named_modules())[node.target].named_parameters():
            parameters += p.numel() * p.element_size()
    meta = get_tensor_meta(node)
    output = of(meta) if isinstance(meta, TensorMetadata) else sum(of(m) for m in meta if isinstance(m, TensorMetadata))
    return size_bytes(output, output + parameters)
