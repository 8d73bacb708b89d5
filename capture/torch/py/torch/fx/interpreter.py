"""Running a graph node by node, in a way that subclasses change."""
import torch
from torch.fx.node import Node


def _mapped(a, f):
    """An argument of a node with f applied to the nodes in it."""
    if isinstance(a, Node):
        return f(a)
    if isinstance(a, (list, tuple)):
        items = [_mapped(x, f) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, dict):
        return {k: _mapped(v, f) for k, v in a.items()}
    if isinstance(a, slice):
        return slice(_mapped(a.start, f), _mapped(a.stop, f), _mapped(a.step, f))
    return a


class Interpreter:
    """Runs the graph of a module; each kind of node has a method of its own."""

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.graph = module.graph if graph is None else graph
        self.submodules = dict(module.named_modules())
        self.env = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True

    def run(self, *args, initial_env=None, enable_io_processing=True):
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        last_users = self._last_users() if self.garbage_collect_values else {}
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as e:
                if self.extra_traceback:
                    said = f"While executing {node.format_node()}"
                    said = f"{e.args[0]}\n\n{said}" if e.args else said
                    said += f"\nOriginal traceback:\n{node.stack_trace}"
                    e.args = (said,) + e.args[1:]
                    if isinstance(e, KeyError):
                        raise RuntimeError(*e.args) from e
                raise
            if node.op == "output":
                return self.graph.process_outputs(self.env[node]) if enable_io_processing else self.env[node]
            for used in last_users.get(node, ()):
                del self.env[used]

    def _last_users(self):
        """From each node to those whose values nobody reads behind it."""
        seen, out = set(), {}
        for node in reversed(self.graph.nodes):
            for used in node.all_input_nodes:
                if used not in seen:
                    seen.add(used)
                    out.setdefault(node, []).append(used)
        return out

    def boxed_run(self, args_list):
        """run on the values of a list, which is emptied, so that nobody keeps them alive."""
        values = list(args_list)
        args_list.clear()
        env, args = {}, iter(values)
        for n in self.graph.nodes:
            if n.op == "placeholder":
                env[n] = next(args)
        del values, args
        return self.run(initial_env=env)

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if len(args) > 0:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]

    def fetch_attr(self, target):
        """What the module has under a name with dots."""
        at = self.module
        for part in target.split("."):
            at = getattr(at, part)
        return at

    def fetch_args_kwargs_from_env(self, n):
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        def value(m):
            if m not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {m}! Run Graph.lint() to diagnose such issues")
            return self.env[m]

        return _mapped(args, value)


class Transformer(Interpreter):
    """Runs a graph on proxies: what the methods for the kinds of node give becomes a new graph."""

    def __init__(self, module):
        from torch.fx.graph import Graph
        from torch.fx.proxy import GraphAppendingTracer

        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = GraphAppendingTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target, args, kwargs):
        from torch.fx.proxy import Proxy

        return Proxy(self.new_graph.placeholder(target, default_value=args[0]) if args else self.new_graph.placeholder(target), self.tracer)

    def get_attr(self, target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        from torch.fx._lazy_graph_module import _make_graph_module
        from torch.fx.node import map_aggregate
        from torch.fx.proxy import Proxy

        result = super().run(enable_io_processing=False)
        if result is not None:
            new = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            for n in self.module.graph.nodes:
                if n.op == "output":
                    new.meta.update(n.meta)
        return _make_graph_module(self.module, self.new_graph)
