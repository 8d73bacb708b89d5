"""Tracing a module or function by running it on proxies."""
import builtins
import collections
import inspect
import math
import types
import warnings

import torch
import torch.utils._pytree as pytree
from torch.fx._lazy_graph_module import _make_graph_module
from torch.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from torch.fx.graph_module import GraphModule
from torch.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase

_wrapped_fns_to_patch = {}  # (id of globals, name) => globals
_wrapped_methods_to_patch = []
_is_fx_tracing_flag = False


def is_fx_tracing():
    """Whether a program is being traced."""
    return _is_fx_tracing_flag


class ProxyableClassMeta(type):
    """Makes calls of a class nodes where an argument is a proxy."""

    def __call__(cls, *args, **kwargs):
        found = []
        torch.fx.node.map_aggregate((args, kwargs), lambda a: found.append(a) if isinstance(a, Proxy) else None)
        if not found:
            return super().__call__(*args, **kwargs)
        return found[0].tracer.create_proxy("call_function", cls, args, kwargs)


class PHBase:
    """Stands for an input among concrete arguments."""

    def __repr__(self):
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """Stands for an input whose node gets metadata."""

    def __init__(self, ph_key=None):
        super().__init__()
        self.ph_key = ph_key


def wrap(fn_or_name):
    """Makes calls of a function of the calling module nodes of their own, where an argument is a proxy. A decorator, too."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def _create_wrapped_func(orig_fn):
    """orig_fn, or a node that calls it where an argument is a proxy."""

    torch._C._name_of_target(orig_fn)  # while it is to be found under its name

    def wrapped(*args, **kwargs):
        found = []
        torch.fx.node.map_aggregate((args, kwargs), lambda a: found.append(a) if isinstance(a, Proxy) else None)
        if not found:
            return orig_fn(*args, **kwargs)
        result = found[0].tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    wrapped.__name__ = getattr(orig_fn, "__name__", "wrapped")
    wrapped.__wrapped__ = orig_fn
    return wrapped


class _Patcher:
    """Changes that are taken back, the last one first."""

    def __init__(self):
        self.undo = []

    def item(self, d, name, new):
        old = d.get(name, self)
        self.undo.append(lambda: d.pop(name, None) if old is self else d.__setitem__(name, old))
        d[name] = new

    def attribute(self, o, name, new):
        own = name in vars(o)
        old = getattr(o, name, None)
        self.undo.append(lambda: setattr(o, name, old) if own else delattr(o, name))
        setattr(o, name, new)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        while self.undo:
            self.undo.pop()()


class Tracer(TracerBase):
    """Runs a module's forward on proxies. What it does to modules, to parameters and to values of other kinds can be changed by subclasses."""

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap_function_ids = {id(v) for m in autowrap_modules for n, v in m.__dict__.items() if not n.startswith("_") and callable(v)}
        self._autowrap_function_ids.update(id(f) for f in autowrap_functions)
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope, self.module_stack, self.node_name_to_scope = Scope("", None), collections.OrderedDict(), {}

    def create_arg(self, a):
        if isinstance(a, torch.nn.Parameter):
            for n, p in self.root.named_parameters():
                if a is p:
                    return self.create_node("get_attr", n, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for n, b in self.root.named_buffers():
                if a is b:
                    return self.create_node("get_attr", n, (), {})
            return self.create_node("get_attr", self._constant(a, "_tensor_constant"), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", a.__class__, tuple(self.create_arg(x) for x in a), {})
        return super().create_arg(a)

    def get_fresh_qualname(self, prefix):
        """A name that the root has no attribute of."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        return f"{prefix}{i}"

    def _constant(self, value, prefix):
        """The path of the root's attribute that is a value; it gets one where it has none."""
        path = self.tensor_attrs.get(id(value))
        if path is None:
            path = self.get_fresh_qualname(prefix)
            self.tensor_attrs[id(value)] = path
            setattr(self.root, path, value)
        return path

    def is_leaf_module(self, m, module_qualified_name):
        """Whether a call of a module is one node; the modules of torch.nn are, but for Sequential."""
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod):
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for n, p in self.root.named_modules():
            if mod is p:
                return n
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            key = scope.module_path
            self.module_stack[key] = (path, scope.module_type)
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.pop(key, None)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What reading an attribute of a module gives: parameters are nodes."""

        def of(named, make):
            for n, p in named:
                if attr_val is p:
                    if n not in parameter_proxy_cache:
                        parameter_proxy_cache[n] = self.create_proxy("get_attr", n, (), {}, proxy_factory_fn=make(n))
                    return parameter_proxy_cache[n]
            return None

        found = None
        if isinstance(attr_val, torch.nn.Parameter):
            found = of(self.root.named_parameters(), lambda n: (lambda node: ParameterProxy(self, node, n, attr_val)) if self.param_shapes_constant else None)
        elif self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            found = of(self.root.named_buffers(), lambda n: None)
        return attr_val if found is None else found

    def _proxy_placeholder(self, name, default, fn_for_analysis):
        args = () if default is inspect.Parameter.empty else (default,)
        annotations = getattr(fn_for_analysis, "__annotations__", {})
        return self.create_proxy("placeholder", name, args, {}, type_expr=annotations.get(name))

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """The function to run and its arguments: a proxy for each parameter, or what concrete_args has for it."""
        fn = inspect.unwrap(root_fn)
        co = fn.__code__
        total = co.co_argcount + co.co_kwonlyargcount
        names = iter(co.co_varnames)
        args = []
        skip = 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            skip = 1
            next(names)
            args.append(self.root)
        parameters = inspect.signature(fn).parameters
        concrete = {}
        if isinstance(concrete_args, tuple):
            if len(args) + len(concrete_args) != total:
                raise RuntimeError(f"Tracing expected {total - skip} arguments but got {len(concrete_args)} concrete arguments")
            concrete = dict(zip(list(co.co_varnames)[skip:], concrete_args))
        elif concrete_args:
            concrete = concrete_args
        order = [next(names) for _ in range(skip, total)]

        def of(name):
            count = [0]
            if name not in concrete:
                return self._proxy_placeholder(name, parameters[name].default if name in parameters else inspect.Parameter.empty, fn)

            def leaf(x):
                count[0] += 1
                out = self.create_proxy("placeholder", f"{name}_{count[0]}", (), {})
                if isinstance(x, PHBase):
                    if isinstance(x, PHWithMeta) and x.ph_key is not None:
                        out.node.meta["ph_key"] = x.ph_key
                    return out
                said = f"{name} has been specialized to have value {x} but got another value"
                if x is None:
                    self.create_proxy("call_function", _assert_is_none, (out, said), {})
                elif isinstance(x, (bool, int, float)):
                    torch._assert(out == x, said)
                else:
                    warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the user to make sure that your inputs match the inputs you specialized the function with.")
                return x

            return pytree.tree_map(leaf, concrete[name])

        args.extend(of(n) for n in order)
        if co.co_flags & inspect.CO_VARARGS:
            args.append(self._proxy_placeholder("*" + next(names), inspect.Parameter.empty, fn))
        if co.co_flags & inspect.CO_VARKEYWORDS:
            args.append(self._proxy_placeholder("**" + next(names), inspect.Parameter.empty, fn))
        if co.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or co.co_kwonlyargcount:
            root_fn = _with_named_rest(fn, co)
        if concrete_args is not None and not all(pytree.tree_is_leaf(a) for a in args):
            return self._flattened(root_fn, args, order, skip)
        return root_fn, args

    def _flattened(self, root_fn, args, order, skip):
        flat, in_spec = pytree.tree_flatten(tuple(args))
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(order[:], pytree.TreeSpec(list, None, in_spec.children_specs[skip:])))

        def run(*flat_args):
            out = root_fn(*pytree.tree_unflatten(list(flat_args), in_spec))
            out, self.graph._codegen.pytree_info.out_spec = pytree.tree_flatten(out)
            return out

        return run, flat

    def trace(self, root, concrete_args=None):
        """The graph of a module's forward, or of a function."""
        global _is_fx_tracing_flag
        before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            if isinstance(root, torch.nn.Module):
                self.root = root
                if not hasattr(type(root), self.traced_func_name):
                    raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
                fn = getattr(type(root), self.traced_func_name)
                self.root_module_name = root._get_name()
                self.submodule_paths = {mod: name for name, mod in root.named_modules()}
            else:
                self.root, fn = torch.nn.Module(), root
                self.submodule_paths = {}
            self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
            if hasattr(fn, "__code__"):
                self.graph._co_fields = {"co_name": fn.__code__.co_name, "co_filename": fn.__code__.co_filename, "co_firstlineno": fn.__code__.co_firstlineno}
            self.tensor_attrs = {}
            self._collect("", self.root)
            if not isinstance(fn, types.FunctionType):
                raise AssertionError(f"{fn} is no function")
            fn_globals = fn.__globals__
            fn, args = self.create_args_for_root(fn, isinstance(root, torch.nn.Module), concrete_args)
            cache = {}
            getattr_of, call_of = torch.nn.Module.__getattr__, torch.nn.Module.__call__

            def module_getattr(mod, attr):
                return self.getattr(attr, getattr_of(mod, attr), cache)

            def module_call(mod, *args, **kwargs):
                return self.call_module(mod, lambda *a, **k: call_of(mod, *a, **k), args, kwargs)

            with _Patcher() as patch:
                patch.attribute(torch.nn.Module, "__getattr__", module_getattr)
                patch.attribute(torch.nn.Module, "__call__", module_call)
                for (_, name), where in list(_wrapped_fns_to_patch.items()):
                    if name in where or hasattr(builtins, name):
                        patch.item(where, name, _create_wrapped_func(where[name] if name in where else getattr(builtins, name)))
                for where in [fn_globals, *(m.__dict__ for m in self._autowrap_search)]:
                    for name, value in list(where.items()):
                        if not name.startswith("_") and callable(value) and id(value) in self._autowrap_function_ids:
                            patch.item(where, name, _create_wrapped_func(value))
                result = fn(*args)
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=getattr(fn, "__annotations__", {}).get("return"))
            self.graph._native.returns(getattr(inspect.unwrap(fn), "__annotations__", {}).get("return"))
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = before
        return self.graph

    def _collect(self, prefix, m):
        """Notes which attributes of the module are tensors."""
        for k, v in m.__dict__.items():
            if isinstance(v, torch.Tensor):
                self.tensor_attrs[id(v)] = prefix + k
        for k, sub in m.named_children():
            self._collect(prefix + k + ".", sub)


def _assert_is_none(value, message):
    torch._assert(value is None, message)


def _with_named_rest(fn, co):
    """fn with *args and **kwargs as plain parameters, as the proxies of these are given."""
    code = co.replace(
        co_flags=co.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS),
        co_argcount=co.co_argcount + co.co_kwonlyargcount + bool(co.co_flags & inspect.CO_VARARGS) + bool(co.co_flags & inspect.CO_VARKEYWORDS),
        co_kwonlyargcount=0,
    )
    new = types.FunctionType(code, fn.__globals__, fn.__name__, None, fn.__closure__)
    new.__annotations__ = fn.__annotations__
    return new


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what a module or function does, found by running it on proxies."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)
