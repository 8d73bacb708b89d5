"""Putting nodes of a graph into a submodule."""
import operator
from collections import deque

from torch.fx.graph import Graph
from torch.fx.passes.tools_common import legalize_graph
from torch.fx.passes.utils.common import lift_subgraph_as_module


def topo_sort(nodes):
    """The nodes, each behind those of its inputs that are among them."""
    inside = set(nodes)
    waits = {n: sum(x in inside for x in n.all_input_nodes) for n in nodes}
    ready, out = deque(n for n in nodes if waits[n] == 0), []
    while ready:
        n = ready.popleft()
        out.append(n)
        for user in n.users:
            if user in inside:
                waits[user] -= 1
                if waits[user] == 0:
                    ready.append(user)
    if len(out) != len(nodes):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return out


def validate_partition(partition):
    """Whether the nodes can run at once: nothing that one of them makes goes out and comes in again."""
    inside, seen = set(partition), set()
    queue = deque(u for n in partition for u in n.users if u not in inside)
    while queue:
        n = queue.popleft()
        if n in inside:
            return False
        if n not in seen:
            seen.add(n)
            queue.extend(n.users)
    return True


def fuse_as_graphmodule(gm, nodes, module_name, partition_lookup_table=None, *, always_return_tuple=False):
    """A module that does what nodes of gm do, with the nodes that it takes and those that it gives."""
    for n in nodes:
        if n.graph.owning_module is not gm:
            raise AssertionError(f"{n} doesn't belong to passed in graph module {gm._get_name()}")
        if n._erased:
            raise AssertionError(f"{n} has been removed from owning graph")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = set(nodes)
    sub, inputs, copies = Graph(), {}, {}

    def there(x):
        if x in copies:
            return copies[x]
        inputs[x] = copies[x] = sub.placeholder(x.name, type_expr=x.type)
        copies[x].meta = x.meta.copy()
        return copies[x]

    for n in nodes:
        copies[n] = sub.node_copy(n, there)
    outputs = {n: copies[n] for n in nodes if any(u not in inside for u in n.users)}
    outs = tuple(outputs.values())
    sub.output(outs if always_return_tuple or len(outs) != 1 else outs[0])
    sub.lint()
    fused, _ = lift_subgraph_as_module(gm, sub, comp_name="", class_name=module_name)
    return fused, tuple(inputs), tuple(outputs)


def insert_subgm(gm, sub_gm, orig_inputs, orig_outputs):
    """Has gm call sub_gm, and use what that gives in place of what nodes gave."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    last = next(iter(orig_outputs), None)
    call = gm.graph.call_module(name, args=orig_inputs)
    if len(orig_outputs) == 1 and not isinstance(_result(sub_gm), tuple):
        orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        return gm
    for i, n in enumerate(orig_outputs):
        new = gm.graph.call_function(operator.getitem, (call, i))
        n.replace_all_uses_with(new, propagate_meta=True)
    if last is not None:
        call.meta["val"] = tuple(n.meta.get("val") for n in orig_outputs)
    return gm


def _result(gm):
    (out,) = gm.graph.find_nodes(op="output")
    return out.args[0]


def erase_nodes(gm, nodes):
    """Erases nodes that nobody uses any more, the last one first."""
    for n in reversed(nodes):
        gm.graph.erase_node(n)


def fuse_by_partitions(gm, partitions, prefix="fused_", always_return_tuple=False):
    """Puts each list of nodes into a submodule of its own."""
    for i, part in enumerate(partitions):
        nodes = topo_sort(list(part))
        sub, ins, outs = fuse_as_graphmodule(gm, nodes, prefix + str(i), always_return_tuple=always_return_tuple)
        insert_subgm(gm, sub, ins, outs)
        erase_nodes(gm, nodes)
    legalize_graph(gm)
    return gm
