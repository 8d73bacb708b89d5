"""Cutting a module into submodules, along a function that says which node goes where."""
import operator

from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import map_arg


class Partition:
    """The nodes that become one submodule."""

    def __init__(self, name):
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names = []
        self.inputs, self.outputs = {}, {}  # names of nodes, in the order in which they are met
        self.dependencies, self.dependents = {}, {}
        self.graph = Graph()
        self.environment = {}
        self.targets = {}

    def __repr__(self):
        said = ",\n".join(f"    {what}: {getattr(self, what)}" for what in ("node_names", "inputs", "outputs", "dependencies", "dependents"))
        return f"name: {self.name},\n{said},\n"


def _at(root, path):
    for part in path.split("."):
        if not hasattr(root, part):
            raise AttributeError(f"Node target {path} not found!")
        root = getattr(root, part)
    return root


class _Split:
    """One split: the partitions, and the nodes that stay outside."""

    def __init__(self, m, root_m, split_callback):
        self.m, self.root = m, root_m
        self.partitions, self.of = {}, {}  # by name; from node to partition
        for node in m.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(split_callback(node))
            part = self.partitions.get(name)
            if part is None:
                part = self.partitions[name] = Partition(name)
            part.node_names.append(node.name)
            self.of[node] = part
        for node in m.graph.nodes:
            for arg in node.all_input_nodes:
                self.uses(self.of.get(arg), arg, self.of.get(node))

    def uses(self, made_in, arg, used_in):
        """Notes that a value goes from one partition to another; None is outside of all."""
        if made_in is used_in:
            return
        if made_in is not None:
            made_in.outputs.setdefault(arg.name)
            if used_in is not None:
                made_in.dependents.setdefault(used_in.name)
        if used_in is not None:
            used_in.inputs.setdefault(arg.name)
            if made_in is not None:
                used_in.dependencies.setdefault(made_in.name)

    def order(self):
        """The names of the partitions, each behind those that it depends on."""
        left = {name: len(p.dependencies) for name, p in self.partitions.items()}
        ready = [name for name, count in left.items() if count == 0]
        for name in ready:  # which grows
            for d in self.partitions[name].dependents:
                left[d] -= 1
                if left[d] == 0:
                    ready.append(d)
        if len(ready) != len(left):
            raise RuntimeError("cycle exists between partitions!")
        return ready

    def fill(self, keep_name, qualname_map):
        """Makes the graphs of the partitions."""
        by_name = {n.name: n for n in self.m.graph.nodes}
        for part in self.partitions.values():
            for name in part.inputs:
                old = by_name[name]
                new = part.graph.placeholder(name, type_expr=old.type)
                new.meta = old.meta.copy()
                part.environment[old] = new
        for node, part in self.of.items():
            target = node.target
            if node.op == "call_module":
                target = "_".join(node.target.split("."))
                part.targets[target] = _at(self.root, node.target)
                if qualname_map is not None:
                    qualname_map[f"{part.submod_name}.{target}"] = node.target
            env = part.environment
            new = part.graph.create_node(node.op, target, map_arg(node.args, lambda n: env[n]), map_arg(node.kwargs, lambda n: env[n]), type_expr=node.type, name=node.name if keep_name else None)
            new.meta = node.meta.copy()
            env[node] = new
        for part in self.partitions.values():
            made = tuple(part.environment[by_name[name]] for name in part.outputs)
            if made:
                part.graph.output(made[0] if len(made) == 1 else made)
            else:
                part.graph.output(None)

    def base(self, keep_original_order):
        """The graph that calls the submodules, and what it needs beneath it."""
        graph, env, attrs = Graph(), {}, {}
        by_name = {n.name: n for n in self.m.graph.nodes}
        done = set()

        def outside(node):
            if node.op == "placeholder":
                default = () if len(node.args) == 0 else (node.args[0],)
                env[node] = graph.create_node("placeholder", node.target, args=default, type_expr=node.type)
            else:
                env[node] = graph.get_attr(node.target, type_expr=node.type)
                attrs[node.target] = _at(self.m, node.target)
            env[node].meta = node.meta.copy()

        def call(part):
            done.add(part.name)
            attrs[part.submod_name] = GraphModule(part.targets, part.graph)
            result = graph.call_module(part.submod_name, tuple(env[by_name[name]] for name in part.inputs))
            outs = list(part.outputs)
            for i, name in enumerate(outs):
                old = by_name[name]
                env[old] = result if len(outs) == 1 else graph.call_function(operator.getitem, (result, i))
                if "val" in old.meta:
                    env[old].meta["val"] = old.meta["val"]

        nodes = list(self.m.graph.nodes)
        if keep_original_order:
            for node in nodes:
                if node.op in ("placeholder", "get_attr"):
                    outside(node)
                elif node in self.of and self.of[node].name not in done:
                    if any(d not in done for d in self.of[node].dependencies):
                        raise RuntimeError("cycle exists between partitions!")
                    call(self.of[node])
        else:
            for node in nodes:
                if node.op in ("placeholder", "get_attr"):
                    outside(node)
            for name in self.sorted:
                call(self.partitions[name])
        for node in nodes:
            if node.op == "output":
                out = graph.output(map_arg(node.args[0], lambda n: env[n]), type_expr=node.type)
                out.meta = node.meta.copy()
        return attrs, graph


def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False, keep_original_node_name=False):
    """A module of submodules submod_NAME, one for each value that split_callback gives for the nodes of m."""
    s = _Split(m, root_m, split_callback)
    s.sorted = s.order()
    s.fill(keep_original_node_name, qualname_map)
    attrs, graph = s.base(keep_original_order)
    return GraphModule(attrs, graph)
