"""Changes of a module that make it faster when it infers."""
import copy

import torch.fx as fx
import torch.nn as nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["matches_module_pattern", "replace_node_module", "fuse", "remove_dropout", "extract_subgraph"]


def matches_module_pattern(pattern, node, modules):
    """Whether a node's first argument and the node itself call modules of these two types."""
    if len(node.args) == 0:
        return False
    for expected, n in zip(pattern, (node.args[0], node)):
        if not isinstance(n, fx.Node) or n.op != "call_module" or not isinstance(n.target, str) or type(modules.get(n.target)) is not expected:
            return False
    return True


def replace_node_module(node, modules, new_module):
    """Has the module under a node's target be another one."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


_FUSED = [
    ((nn.Conv1d, nn.BatchNorm1d), fuse_conv_bn_eval),
    ((nn.Conv2d, nn.BatchNorm2d), fuse_conv_bn_eval),
    ((nn.Conv3d, nn.BatchNorm3d), fuse_conv_bn_eval),
    ((nn.Linear, nn.BatchNorm1d), fuse_linear_bn_eval),
]


def fuse(model, inplace=False, no_trace=False):
    """Takes a batch norm behind a convolution or a linear layer into the weights of that, for evaluation."""
    if not inplace:
        model = copy.deepcopy(model)
    gm = model if no_trace and isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    modules = dict(gm.named_modules())
    graph = copy.deepcopy(gm.graph)
    for pattern, fused in _FUSED:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            before = node.args[0]
            if len(before.users) > 1:  # something else reads it
                continue
            layer, bn = modules[before.target], modules[node.target]
            if not bn.track_running_stats:
                continue
            replace_node_module(before, modules, fused(layer, bn))
            node.replace_all_uses_with(before)
            graph.erase_node(node)
    return fx.GraphModule(gm, graph)


def remove_dropout(model):
    """A module without the dropouts of this one."""

    class WithoutDropout(fx.Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], nn.Dropout):
                (x,) = args
                return x
            return super().call_module(target, args, kwargs)

    return WithoutDropout(fx.symbolic_trace(model)).transform()


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """A module of some nodes of a graph, from the values that it takes to those that it gives."""
    graph, copies = fx.Graph(), {}
    for n in inputs:
        copies[n] = graph.placeholder(n.name)
    for n in nodes:
        copies[n] = graph.node_copy(n, lambda x: copies[x])
    graph.output([copies[n] for n in outputs])
    graph.lint()
    return fx.GraphModule(orig_module, graph)
