"""Lists of nodes, and the Python that they are printed as."""
import copy
import inspect
import re
import typing
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import _C
from torch.fx.node import Node, _get_qualified_name, _side_effectful_functions, map_arg

# how Python's operators are written, by their names in module operator
magic_methods = {
    **dict(eq="{} == {}", ne="{} != {}", lt="{} < {}", gt="{} > {}", le="{} <= {}", ge="{} >= {}", pos="+{}", neg="-{}", invert="~{}"),
    **{name: "{} " + sign + " {}" for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "//"), ("truediv", "/"), ("div", "/"), ("mod", "%"), ("pow", "**"), ("lshift", "<<"),
                                                    ("rshift", ">>"), ("and_", "&"), ("or_", "|"), ("xor", "^"))},
    "getitem": "{}[{}]",
    "matmul": "{} @ {}",
}
reflectable_magic_methods = {n: magic_methods[n] for n in ("add", "sub", "mul", "floordiv", "truediv", "div", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "getitem", "matmul")}
inplace_methods = {"i" + n: "{} " + sign + "= {}" for n, sign in (("add", "+"), ("and", "&"), ("floordiv", "//"), ("lshift", "<<"), ("mod", "%"), ("mul", "*"), ("matmul", "@"), ("or", "|"), ("pow", "**"),
                                                                ("rshift", ">>"), ("sub", "-"), ("truediv", "/"), ("xor", "^"))}
inplace_methods["setitem"] = "{}[{}] = {}"

_magic_names = ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "add", "sub", "mul", "floordiv", "truediv", "div", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "getitem", "matmul")
_reflectable_names = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "matmul")


@dataclass
class PythonCode:
    """The text of a forward, and what it calls by names of its own."""

    src: str
    globals: dict[str, Any]
    _lineno_map: Any = None


def _snake_case(s):
    """Words in lower case with underscores between them: MaxPool2d gives max_pool2d."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", s).lower()


def _type_text(t):
    """How an annotation stands in generated code."""
    if isinstance(t, str):
        return t
    if t is type(None):
        return "None"
    origin = typing.get_origin(t)
    if origin is not None:
        args = [_type_text(a) if a is not ... else "..." for a in typing.get_args(t)]
        base = f"typing.{t._name}" if getattr(t, "_name", None) else _type_text(origin)
        return f"{base}[{','.join(args)}]".replace(".", "_", 1) if base.startswith("typing.") else f"{base}[{','.join(args)}]"
    if not isinstance(t, type):
        return repr(t).replace(".", "_")
    if t.__module__ == "builtins":
        return t.__qualname__
    name = f"{t.__module__}.{t.__qualname__}"
    return name if name.split(".")[0] == "torch" else name.replace(".", "_")


class _Nodes:
    """The nodes of a graph in their order. The graph may be edited while they are gone through."""

    def __init__(self, native, back=False):
        self._native, self._back = native, back

    def __len__(self):
        return self._native.size

    def __iter__(self):
        return self._native.walk(self._back)

    def __reversed__(self):
        return _Nodes(self._native, not self._back)


class CodeGen:
    """How a graph is printed, and what is done to the values of a call on the way in and out."""

    def __init__(self):
        self._body_transformer = None

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        if len(free_vars) == 0 or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args):
        return f"return {output_args if isinstance(output_args, str) else repr(output_args)}"

    def process_inputs(self, *args):
        return args

    def process_outputs(self, outputs):
        return outputs

    def additional_globals(self):
        return []


@dataclass
class _PyTreeInfo:
    """The parameters of the function that was traced, and the structures of its arguments and of its result."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any = None

    def __iter__(self):
        return iter((self.orig_args, self.in_spec, self.out_spec))


class _PyTreeCodeGen(CodeGen):
    """Takes nested arguments apart before the graph and puts its results together behind it."""

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        import torch.utils._pytree as pytree

        return pytree.tree_leaves(inputs)

    def process_outputs(self, out):
        import torch.utils._pytree as pytree

        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        if not isinstance(out, (list, tuple)):
            out = [out]
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation)
        fn_args = list(self.pytree_info.orig_args)
        if fn_args and fn_args[0] == "self":
            free_vars = ["self", *free_vars]
        text = super().gen_fn_def(fn_args[:], maybe_return_annotation)
        if len(free_vars) > 0:
            leaves = [v.split(":")[0].split("=")[0].strip() for v in free_vars]
            text += f"\n    {', '.join(leaves)}, = fx_pytree.tree_flatten_spec({self._signature(fn_args)}, self._in_spec)"
        return text

    def _signature(self, fn_args):
        spec = self.pytree_info.in_spec
        kwargs_too = spec.type is tuple and len(spec.children_specs) == 2 and spec.children_specs[0].type is tuple and spec.children_specs[1].type is dict
        if not kwargs_too:
            return f"[{', '.join(fn_args)}]"
        n = spec.children_specs[0].num_children
        named = ", ".join(f"'{k}':{v}" for k, v in zip(spec.children_specs[1].context, fn_args[n:]))
        return f"([{', '.join(fn_args[:n])}], {{{named}}})"

    def generate_output(self, output_args):
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return super().generate_output(output_args)
        if not output_args.startswith("["):
            output_args = f"[{output_args}]" if not output_args.startswith("(") else "[" + output_args[1:-1].rstrip(",") + "]"
        return f"return pytree.tree_unflatten({output_args}, self._out_spec)"


class _TransformerInUse:
    """A transformer of generated code, which goes at the end of the block."""

    def __init__(self, codegen, before):
        self.codegen, self.before = codegen, before

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.codegen._body_transformer = self.before


class _InsertPoint:
    def __init__(self, graph, insert):
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.graph._insert = self.before


class Graph:
    """The nodes of a function, in the order in which they run."""

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._start(_C._new_graph(self), owning_module)
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras

    def _start(self, native, owning_module=None):
        self._native = native
        self._owning_module, self._owners = owning_module, 0 if owning_module is None else 1
        self._tracer_cls = self._tracer_extras = None
        self._insert = None  # at the end
        self._codegen = CodeGen()
        self._co_fields = {}

    @property
    def owning_module(self):
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod):
        if mod is not None:
            self._owning_module = mod if self._owners == 0 else None
            self._owners += 1

    @property
    def nodes(self):
        return _Nodes(self._native)

    @property
    def _root(self):
        return self._native.root

    @property
    def _len(self):
        return self._native.size

    def output_node(self):
        found = self.find_nodes(op="output")
        if len(found) != 1:
            raise AssertionError("the graph has no output, or several")
        return found[0]

    def find_nodes(self, *, op, target=None, sort=True):
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, (tuple, list)):
            raise AssertionError("args must be a tuple or list")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        if op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
            raise AssertionError(f"{op} is no kind of node")
        if op == "call_function" and not callable(target):
            raise AssertionError(f"Node [graph = {self}, name = '{name}'] target {target} has type {torch.typename(target)} but a Callable is expected")
        node = self._native.create(op, target, tuple(args), dict(kwargs), self._target_to_str(target) if name is None else name, type_expr)
        if self._insert is not None:
            self._insert(node)
        return node

    def _target_to_str(self, target):
        """The name that is wished for a node."""
        op = getattr(target, "__name__", type(target).__name__) if callable(target) else target
        if len(op) > 4 and op.startswith("__") and op.endswith("__"):
            op = op[2:-2]
        return _snake_case(op)

    def placeholder(self, name, type_expr=None, default_value=inspect.Signature.empty):
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        self._look_for(qualified_name, "get_attr", "GraphModule attribute", lambda m: True)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        self._look_for(module_name, "call_module", "submodule", lambda m: isinstance(m, torch.nn.Module))
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def _look_for(self, path, kind, what, is_one):
        """Warns where the owning module has nothing of that kind under a path."""
        at = self.owning_module
        if at is None:
            return
        for part in path.split("."):
            if not hasattr(at, part):
                at = None
                break
            at = getattr(at, part)
        if at is None or not is_one(at):
            warnings.warn(f"Attempted to insert a {kind} Node with no underlying reference in the owning GraphModule! Call GraphModule.add_submodule to add the necessary {what}", stacklevel=3)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_function", the_function, args, kwargs, type_expr=type_expr)

    def output(self, result, type_expr=None):
        return self.create_node(op="output", target="output", args=(result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A copy of a node of another graph, its inputs replaced by what arg_transform gives."""
        new = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform), node.name, node.type)
        new.meta = copy.copy(node.meta)
        return new

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies the nodes of g that val_map lacks behind those here, and gives the value that g gives."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def inserting_before(self, n=None):
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def erase_node(self, to_erase):
        if len(to_erase.users) > 0:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        self._native.erase(to_erase)

    def eliminate_dead_code(self, is_impure_node=None):
        """Erases the nodes that nobody uses and that do nothing else; tells whether there were any."""
        self.lint()
        if is_impure_node is None and not _side_effectful_functions:
            return self._native.eliminate_dead_code()

        def impure(n):
            if is_impure_node is not None:
                return is_impure_node(n)
            return n.is_impure() or n.op == "call_function" and n.target in _side_effectful_functions

        changed = False
        for n in reversed(self.nodes):
            if n.op not in ("placeholder", "output") and not impure(n) and len(n.users) == 0:
                self.erase_node(n)
                changed = True
        return changed

    def lint(self):
        """Checks that nodes are used behind where they are made, that their names differ, and that the module has what they name."""
        defined, names = set(), set()

        def check(arg, user):
            if arg.graph is not self:
                raise RuntimeError(
                    f"Argument '{arg}' of Node '{user}' does not belong to this Graph, but was used as an argument! If you are copying nodes from another graph, "
                    f"make sure to use ``arg_transform`` on node_copy() to remap values\n{self}"
                )
            if arg not in defined:
                raise RuntimeError(f"Argument '{arg}' of Node '{user}' was used before it has been defined! Please check that Nodes in the graph are topologically ordered\n{self}")

        for node in self.nodes:
            for arg in node.all_input_nodes:
                check(arg, node)
            defined.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module is None:
            return
        for node in self.nodes:
            if node.op not in ("get_attr", "call_module"):
                continue
            at = self.owning_module
            parts = node.target.split(".")
            for i, part in enumerate(parts):
                missing = object()
                new = getattr(at, part, missing)
                if new is missing:
                    raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {'.'.join(parts[:i])}")
                if node.op == "call_module" and i == len(parts) - 1 and not isinstance(new, torch.nn.Module):
                    raise RuntimeError(f"Node {node} target {node.target} {node.target} of {at} does not reference an nn.Module")
                at = new

    def python_code(self, root_module="self", *, verbose=False, include_stride=False, include_device=False, colored=False):
        """The function that the graph is, as text."""
        free_vars, returns, body, result = self._native.parts()
        if result:
            body = [*body, self._codegen.generate_output(result)]
        transformer = getattr(self._codegen, "_body_transformer", None)
        if transformer is not None:
            body = "".join(transformer([line + "\n" for line in body])).splitlines()
        text = self._codegen.gen_fn_def(list(free_vars), f" -> {returns}" if returns else "")
        text += "".join("\n    " + line for line in body or ["pass"])
        wrapped, called = [], {}
        for n in self.nodes:
            if n.op != "call_function":
                continue
            name = _get_qualified_name(n.target)
            if name.split(".")[0] != "torch" and "." in name:
                name = name.replace(".", "_")
                called[name] = n.target
            if n.meta.get("is_wrapped", False) and name not in wrapped:
                wrapped.append(name)
        lines = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in wrapped)
        called.update(self._codegen.additional_globals())
        return PythonCode(f"\n{lines}\n\n{text}\n", called)

    def set_codegen(self, codegen):
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Has the lines of generated code go through what make_transformer gives, which gets what they go through now, or None. As a context, until its end."""
        codegen = self._codegen
        before = getattr(codegen, "_body_transformer", None)
        codegen._body_transformer = make_transformer(before)
        return _TransformerInUse(codegen, before)

    def process_inputs(self, *args):
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        return self._codegen.process_outputs(out)

    def print_tabular(self):
        print(self._native.tabular())

    def __str__(self):
        return self._native.format()

    def __deepcopy__(self, memo=None):
        memo = {} if memo is None else memo
        g = Graph(tracer_cls=self._tracer_cls)
        value = g.graph_copy(self, val_map=memo, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        if value is not None:
            result, old = value
            new = g.output(result, type_expr=old.type)
            new.meta = copy.copy(old.meta)
        return g


def _graph_of(native):
    """The Graph of a graph that was made elsewhere."""
    g = Graph.__new__(Graph)
    g._start(native)
    return g
