"""A graph as a module that runs it."""
import copy
import pathlib
import warnings

import torch
from torch import _C
from torch.fx.graph import CodeGen, Graph, PythonCode, _PyTreeCodeGen


_IMPORTS = ("from math import inf", "from math import nan", "NoneType = type(None)", "import torch", "from torch import device", "import torch.fx._pytree as fx_pytree", "import torch.utils._pytree as pytree")
# modules that what they show themselves as makes once more
_MADE_BY_REPR = {torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d, torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d}


def _function_of(code):
    """The function that generated code defines."""
    scope = dict(code.globals)
    exec("\n".join(_IMPORTS) + "\n" + code.src, scope)
    return scope["forward"]


def _again(state, src, scope, class_name, codegen, tracer_cls):
    """The graph module that was pickled: its code is traced once more, with all modules as leaves."""
    from torch.fx._symbolic_trace import Tracer

    if codegen is not CodeGen:
        raise NotImplementedError(f"unpickling a GraphModule whose code {codegen.__name__} makes is not supported")

    class WholeModules(tracer_cls or Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    root = torch.nn.Module()
    root.__dict__.update(state)
    holder = type(class_name, (torch.nn.Module,), {"forward": _function_of(PythonCode(src, scope))})
    root.__class__ = holder
    graph = WholeModules().trace(root)
    graph._tracer_cls = tracer_cls
    made = GraphModule(root, graph, class_name=class_name)
    for k, v in root.__dict__.items():
        made.__dict__.setdefault(k, v)
    return made


def _copy_attr(from_module, to_module, target):
    """Gives one module what another has under a path, with empty modules on the way."""
    *path, field = target.split(".")
    for part in path:
        f, t = getattr(from_module, part), getattr(to_module, part, None)
        if f is t:
            return
        if t is None:
            t = torch.nn.Module()
            setattr(to_module, part, t)
        from_module, to_module = f, t
    orig = getattr(from_module, field)
    if isinstance(orig, torch.Tensor) and not isinstance(orig, torch.nn.Parameter):
        to_module.register_buffer(field, orig)
    else:
        setattr(to_module, field, orig)


def _assign_attr(obj, to_module, target):
    """Puts something under a path of a module."""
    *path, field = target.split(".")
    for part in path:
        t = getattr(to_module, part, None)
        if t is None:
            t = torch.nn.Module()
            setattr(to_module, part, t)
        to_module = t
    if isinstance(obj, torch.Tensor) and not isinstance(obj, torch.nn.Parameter):
        to_module.register_buffer(field, obj)
    else:
        setattr(to_module, field, obj)


class GraphModule(torch.nn.Module):
    """A graph with the modules, parameters and buffers that its nodes name.

    Its graph can be edited in place; code shows what it does."""

    def __new__(cls, *args, **kwargs):
        # Each has a class of its own, which can be given a forward or a name without an effect on others.
        own = next(c for c in cls.__mro__ if c.__qualname__.rpartition(".")[2] != "GraphModuleImpl")
        impl = type("GraphModuleImpl", (own,), {"__module__": own.__module__, "__qualname__": own.__qualname__ + ".__new__.<locals>.GraphModuleImpl"})
        return super().__new__(impl)

    def __init__(self, root, graph=None, class_name="GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        self.__dict__["meta"] = {}
        if graph is None:  # made by a compiler
            self.__dict__["_native"] = root
            root.bind(self)
            self.__dict__["_graph"] = root.graph()
            self._graph.owning_module = self
            for n in self._graph.nodes:
                if n.op == "get_attr" and root.is_body(n.target) and n.target not in self._modules:
                    self._modules[n.target] = root.attr(n.target)
            return
        named = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, torch.nn.Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in named:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for n in graph.nodes:
                if n.op in ("get_attr", "call_module") and n.target not in root:
                    raise RuntimeError(f"Node {n} referenced target {n.target} but that target was not provided in ``root``!")
            for target in sorted(dict.fromkeys(named), key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        self.graph = graph
        self._tracer_cls = None
        if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__:
            self._tracer_cls = graph._tracer_cls

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        old = self.__dict__.get("_native")
        native = _C._graph_module(g) if old is None else old.with_graph(g)
        native.bind(self)
        self.__dict__["_native"], self.__dict__["_graph"] = native, g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        return self._graph.python_code("self").src + "    "

    def recompile(self):
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen) and codegen.pytree_info is not None:
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        code = self._graph.python_code("self")
        self.__dict__["_generated"] = None
        if type(codegen) not in (CodeGen, _PyTreeCodeGen) or codegen._body_transformer is not None:
            self.__dict__["_generated"] = _function_of(code)  # the text says more than the graph
        return code

    def forward(self, *args, **kwargs):
        codegen = self._graph._codegen
        if self.__dict__.get("_generated") is not None:
            return self._generated(self, *args, **kwargs)
        if not isinstance(codegen, _PyTreeCodeGen) or codegen.pytree_info is None:
            return self._native.run(*args, **kwargs)
        names = [a for a in codegen.pytree_info.orig_args if a != "self"]
        if kwargs:
            args = (*args, *(kwargs[n] for n in names[len(args):]))
        return codegen.process_outputs(self._native.run(*codegen.process_inputs(*args)))

    def add_submodule(self, target, m):
        """Puts a module under a path, with empty modules on the way; False where something else is there."""
        *prefix, field = target.split(".")
        mod = self
        for item in prefix:
            sub = getattr(mod, item, None)
            if sub is None:
                sub = torch.nn.Module()
                setattr(mod, item, sub)
            if not isinstance(sub, torch.nn.Module):
                return False
            mod = sub
        mod.add_module(field, m)
        return True

    def delete_submodule(self, target):
        """Takes the module under a path away; False where there is none."""
        *path, field = target.split(".")
        mod = self
        for item in path:
            mod = getattr(mod, item, None)
            if not isinstance(mod, torch.nn.Module):
                return False
        if not isinstance(getattr(mod, field, None), torch.nn.Module):
            return False
        delattr(mod, field)
        return True

    def delete_all_unused_submodules(self):
        """Takes the modules away that no node calls or reads from."""
        used = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
            if node.op == "call_module":
                try:
                    used.update(f"{node.target}.{n}" for n, _ in self.get_submodule(node.target).named_modules() if n)
                except AttributeError:
                    pass
        for name in [n for n, _ in self.named_modules() if n and n not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False):
        text = self._native.readable(self._get_name())
        if print_output:
            print(text)
        return text

    def to_folder(self, folder, module_name="FxModule"):
        """Writes the module as Python that can be imported from the folder, with its state beside it."""
        folder = pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / "state_dict.pt")
        lines, pickled = [], []
        for name, m in self.named_children():
            if type(m) in _MADE_BY_REPR:
                lines.append(f"        self.{name} = {m.__repr__()}")
                continue
            torch.save(m, folder / f"{name}.pt")
            pickled.append(name)
            shown = m.__repr__().replace("\r", " ").replace("\n", " ")
            lines.append(f"        self.{name} = torch.load(r'{folder / f'{name}.pt'}', weights_only=False) # {shown}")
        for name, b in self._buffers.items():
            if b is not None:
                lines.append(f"        self.register_buffer('{name}', torch.empty({list(b.shape)}, dtype={b.dtype}))")
        for name, p in self._parameters.items():
            if p is not None:
                lines.append(f"        self.{name} = torch.nn.Parameter(torch.empty({list(p.shape)}, dtype={p.dtype}))")
        lines.append(f"        self.load_state_dict(torch.load(r'{folder / 'state_dict.pt'}'))")
        body = "\n".join("    " + line for line in self.code.split("\n"))
        head = "\nimport torch\n" + "".join(f"{line}\n" for line in _IMPORTS) + f"\nfrom torch.nn import *\nclass {module_name}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        (folder / "module.py").write_text(head + "\n".join(lines) + "\n" + body + "\n")
        (folder / "__init__.py").write_text("from .module import *")
        if pickled:
            warnings.warn(f"Was not able to save the following children modules as reprs -saved as pickled files instead: {pickled}")

    def __deepcopy__(self, memo):
        fake = torch.nn.Module()
        for name, value in self.__dict__.items():
            if name not in ("_native", "_graph", "_generated"):
                fake.__dict__[name] = copy.deepcopy(value, memo)
        return self._copied(fake, copy.deepcopy(self.graph))

    def __copy__(self):
        copied = self._copied(self, self.graph)
        copied.__class__.__name__ = "GraphModule"
        return copied

    def __reduce__(self):
        state = {k: v for k, v in self.__dict__.items() if k not in ("_native", "_graph", "_generated")}
        code = self._graph.python_code("self")
        return _again, (state, code.src, code.globals, type(self).__name__, type(self._graph._codegen), self._tracer_cls)

    def _copied(self, root, graph):
        res = type(self).__mro__[1].__new__(type(self).__mro__[1])
        torch.nn.Module.__init__(res)
        res.__class__.__name__ = type(self).__name__
        for name, value in root.__dict__.items():
            if name not in ("_native", "_graph", "_generated"):
                res.__dict__[name] = value.copy() if name in ("_parameters", "_buffers", "_modules", "meta") else value
        native = self._native.with_graph(graph)
        native.bind(res)
        res.__dict__["_native"], res.__dict__["_graph"] = native, graph
        graph.owning_module = res
        return res

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            native = self.__dict__.get("_native")
            if native is None:
                raise
            return native.attr(name)

    def __str__(self):
        return "\n".join([super().__str__(), self.code, "# To see more debug info, please use `graph_module.print_readable()`"])
