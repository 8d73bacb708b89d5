"""The largest sets of nodes that a backend can run at once."""
import itertools
import operator
from collections import deque

from torch.fx.node import _get_qualified_name
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions


class Partition:
    """Nodes that run at once."""

    def __init__(self, id=None, nodes=None):
        self.id = id
        self.nodes = dict.fromkeys(nodes or [])

    def __repr__(self):
        return str(self.nodes)

    def add_node(self, node):
        self.nodes.setdefault(node)

    def remove_node(self, node):
        del self.nodes[node]

    def size(self):
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Groups the nodes that an operator support agrees to."""

    def __init__(self, graph_module, operator_support, allows_single_node_partition=False, non_compute_ops=None, allowed_single_node_partition_ops=None):
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = [] if non_compute_ops is None else non_compute_ops
        self.allowed_single_node_partition_ops = [] if allowed_single_node_partition_ops is None else allowed_single_node_partition_ops

    def _is_node_supported(self, node):
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def _name(self, node):
        return _get_qualified_name(node.target) if node.op == "call_function" else None

    def propose_partitions(self):
        """The partitions. From the last node on, each one takes up all partitions that it can be run with."""
        modules = dict(self.graph_module.named_modules())
        number, parts, of = itertools.count(), {}, {}

        def merges(a, b):
            """Whether no way leads out of both and in again."""
            inside = a.nodes.keys() | b.nodes.keys()
            # as partitions run at once, a way through one of them goes on from all its nodes
            queue, seen = deque(u for n in inside for u in n.users if u not in inside), set()
            while queue:
                u = queue.popleft()
                if u in inside:
                    return False
                if u in seen:
                    continue
                seen.add(u)
                group = of[u].nodes if u in of else (u,)
                seen.update(group)
                queue.extend(v for n in group for v in n.users if v not in group)
            return True

        for node in reversed(self.graph_module.graph.nodes):
            if node in of or not self.operator_support.is_node_supported(modules, node):
                continue
            part = Partition(next(number), [node])
            of[node] = part
            for other in list(parts.values()):
                if not merges(part, other):
                    continue
                for n in other.nodes:
                    part.add_node(n)
                    of[n] = part
                del parts[other.id]
            parts[part.id] = part

        for node in self.graph_module.graph.nodes:  # the items of a tuple go where that is made
            if node.users and all(u.op == "call_function" and u.target is operator.getitem for u in node.users):
                here = of.get(node)
                for u in node.users:
                    if of.get(u) is here:
                        continue
                    if u in of:
                        of[u].remove_node(u)
                        del of[u]
                    if here is not None:
                        here.add_node(u)
                        of[u] = here

        if not self.allows_single_node_partition:
            free = {"torch.ops.aten.view", "_operator.getitem"}.union(self.non_compute_ops)
            for part in list(parts.values()):
                names = [self._name(n) for n in part.nodes if n.op == "call_function"]
                computes = sum(name not in free for name in names)
                if computes <= 1 and not any(name in self.allowed_single_node_partition_ops for name in names):
                    del parts[part.id]
        return [p for p in parts.values() if p.size() > 0]

    def fuse_partitions(self, partitions, prefix="fused_"):
        """Makes each partition a submodule."""
        return fuse_by_partitions(self.graph_module, [list(p.nodes) for p in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions):
        """Takes nodes that compute nothing off the beginnings and the ends of partitions."""
        free = set(self.non_compute_ops)

        def only_free(start, part, ways):
            """The nodes of a partition from one on, where none of them computes; None where one does."""
            seen, queue = set(), deque([start])
            while queue:
                n = queue.popleft()
                if n in seen or n not in part.nodes:
                    continue
                if n.op != "call_function" or self._name(n) not in free:
                    return None
                seen.add(n)
                queue.extend(ways(n))
            return seen

        for part in partitions:
            remove = set()
            for n in part.nodes:
                if n.op == "call_function" and self._name(n) in free:
                    for ways in (lambda x: x.all_input_nodes, lambda x: x.users):
                        remove |= only_free(n, part, ways) or set()
            for n in remove:
                part.remove_node(n)

    def partition_and_fuse(self, prefix="fused_"):
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)
