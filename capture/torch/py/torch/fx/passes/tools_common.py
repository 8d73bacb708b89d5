"""What the passes that cut graphs up have in common."""
import collections
from typing import Any, Dict, List, Set, Tuple, Union

import torch
from torch.fx.node import Node, _get_qualified_name

Tensors = Union[Tuple[torch.Tensor], List[torch.Tensor]]
TensorOrTensors = Union[torch.Tensor, Tensors]
NodeList = List[Node]
NodeSet = Set[Node]
Names = List[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k):
    """The qualified name of a function; one of a module acc_ops is named after that alone."""
    if isinstance(k, str):
        return k
    if k.__module__ and "acc_ops" in k.__module__:
        return f"acc_ops.{k.__name__}"
    return f"{k.__module__.replace('torch._ops', 'torch.ops') if k.__module__ else ''}.{k.__name__}"


def get_node_target(submodules, node):
    """What a node calls, as text: a module by its type, a function by its qualified name, a method by its name."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError("Expect op types of " + ", ".join(CALLABLE_NODE_OPS) + f", but found {node.op}")
    if node.op == "call_module":
        called = submodules[node.target]
        return torch.typename(getattr(called, "_base_class_origin", type(called)))
    if node.op == "call_method":
        return node.target
    return _get_qualified_name(node.target) if "acc_ops" not in (getattr(node.target, "__module__", None) or "") else get_acc_ops_name(node.target)


def is_node_output_tensor(node):
    """Whether a node gives a tensor, by what shape propagation noted."""
    type_ = node.meta.get("type")
    return type_ is not None and issubclass(type_, torch.Tensor)


def legalize_graph(gm):
    """Brings the nodes of gm.graph into an order in which each stands behind its inputs."""
    waits = {n: len(n.all_input_nodes) for n in gm.graph.nodes}
    ready = collections.deque(n for n, count in waits.items() if count == 0)
    copies, new = {}, torch.fx.Graph(tracer_cls=gm.graph._tracer_cls)
    while ready:
        n = ready.popleft()
        copies[n] = new.node_copy(n, lambda x: copies[x])
        for user in n.users:
            waits[user] -= 1
            if waits[user] == 0:
                ready.append(user)
    if len(copies) < len(waits):
        raise RuntimeError(f"Input graph has cycles, unable to add {[n for n, count in waits.items() if count != 0]}")
    new._codegen = gm.graph._codegen
    gm.graph = new
    return gm
