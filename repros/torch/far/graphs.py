"""Graphs of torch.fx: copies of them, what their nodes give, and what their text calls it."""
import ast
import re


def forward_lines(text):
    """What each line of forward assigns."""
    lines = {}
    for c in ast.parse(text).body:
        if isinstance(c, ast.ClassDef) and c.name == "Repro":
            for f in c.body:
                if isinstance(f, ast.FunctionDef) and f.name == "forward":
                    for s in f.body:
                        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and not (isinstance(s.value, ast.Constant) and s.value.value is None):
                            for line in range(s.lineno, s.end_lineno + 1):
                                lines.setdefault(line, s.targets[0].id)
    return lines


def line_in_repro(node):
    """The line of the repro's text that a node was traced from; None where it does not know."""
    lines = re.findall(r'File "repro.py", line (\d+), in forward', node.meta.get("stack_trace") or "")
    return int(lines[-1]) if lines else None


def text_names(gm, text):
    """The names of gm's calls in the text that it was traced from; where the two do not run in step, those that are the same."""
    names = list(dict.fromkeys(forward_lines(text).values()))
    calls = [n.name for n in gm.graph.nodes if n.op == "call_function"]
    return dict(zip(calls, names)) if len(calls) == len(names) else {n: n for n in calls if n in set(names)}


def twin(gm):
    """A graph module with the same calls, values and modules, and a graph of its own."""
    import torch
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(gm.graph, {}))
    return torch.fx.GraphModule(gm, graph)


def clones(args):
    from torch._dynamo.utils import clone_inputs
    return clone_inputs(args)


def all_values(gm, args):
    """What each node gives, by name, and what the graph does."""
    import torch
    values = {}
    torch.manual_seed(0)
    return values, intermediates(gm, args, values)


def intermediates(gm, args, values=None):
    """Every tensor that a call of an fx graph gives, by node name; with a dict for them, what the graph returns."""
    import torch
    asked, values = values is not None, {} if values is None else values

    class Keep(torch.fx.Interpreter):
        def run_node(self, n):
            v = super().run_node(n)
            if n.op == "call_function" and isinstance(v, torch.Tensor):
                values[n.name] = v.clone()
            return v

    torch.manual_seed(0)
    out = Keep(gm).run(*args)
    return out if asked else values


def flat(v):
    import torch
    return [x for x in torch.utils._pytree.tree_leaves(v) if isinstance(x, torch.Tensor)]
