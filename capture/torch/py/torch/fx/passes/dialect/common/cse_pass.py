"""Computing what is computed several times once."""
import torch
from torch.fx.node import map_arg
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.utils._pytree import tree_flatten

aten = torch.ops.aten


def get_CSE_banned_ops():
    """The operators of aten that draw random numbers, and those that write to an argument."""
    banned = set()
    for name in torch._C._operator_names("aten"):
        packet = getattr(aten, name)
        for o in packet.overloads():
            overload = getattr(packet, o)
            if torch.Tag.nondeterministic_seeded in overload.tags or name.endswith("_") and not name.endswith("__"):
                banned.add(packet)
    return banned


class CSEPass(PassBase):
    """Common subexpression elimination on the calls of functions."""

    def __init__(self, banned_ops=None):
        self.banned_ops = set() if banned_ops is None else banned_ops
        super().__init__()

    def call(self, graph_module):
        graph, env, known, modified = torch.fx.Graph(), {}, {}, False
        for n in graph_module.graph.nodes:
            if n.op != "call_function" or getattr(n.target, "overloadpacket", n.target) in self.banned_ops:
                env[n] = graph.node_copy(n, lambda x: env[x])
                continue
            values, spec = tree_flatten(map_arg((n.args, dict(n.kwargs)), lambda x: env[x]))
            key = (n.target, str(spec), tuple((type(v), v) for v in values))
            try:
                found = known.get(key)
            except TypeError:  # an argument cannot be hashed
                env[n] = graph.node_copy(n, lambda x: env[x])
                continue
            if found is not None:
                env[n], modified = found, True
                continue
            env[n] = known[key] = graph.node_copy(n, lambda x: env[x])
        return PassResult(torch.fx.GraphModule(graph_module, graph), modified)
