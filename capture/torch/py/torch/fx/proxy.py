"""Values of a traced program: what is done to one becomes a node."""
import copy
import dataclasses
import dis
import enum
import inspect
import operator
import sys
from collections import OrderedDict

import torch
from torch.fx.graph import Graph, _magic_names, _reflectable_names, magic_methods, reflectable_magic_methods
from torch.fx.immutable_collections import immutable_dict, immutable_list
from torch.fx.node import Node, base_types, map_aggregate
import torch.fx.traceback as fx_traceback


class TraceError(ValueError):
    """What a program does to a value that only running it would give."""


class Scope:
    """The module in whose forward the trace is."""

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """Has a trace be in the forward of a module for a while."""

    def __init__(self, scope, current_scope):
        self._prev = copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self):
        return self._scope

    def __exit__(self, *args):
        self._scope.module_path, self._scope.module_type = self._prev.module_path, self._prev.module_type


class TracerBase:
    """Makes nodes of what happens to proxies."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if fx_traceback.should_preserve_node_meta:
            node.meta.update({k: v for k, v in fx_traceback.current_meta.items() if k != "from_node"})
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = copy.copy(stack)
        return node

    def proxy(self, node):
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("arguments must be a tuple and a dict")
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """A value of the program as an argument of a node."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return self._create_dict(a)
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", a.__class__, (), fields)
        if isinstance(a, (*base_types, enum.Enum, torch.dtype, torch.device, torch.layout, torch.memory_format, torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or a is None or a is ...:
            return a
        if callable(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_dict(self, a):
        def no_node(arg):
            if isinstance(arg, Node):
                raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {k}")
            return arg

        out = {}
        for k, v in a.items():
            key = self.create_arg(k)
            map_aggregate(key, no_node)
            out[key] = self.create_arg(v)
        return out

    def to_bool(self, obj):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function argument. "
            "See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj):
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds nodes to a graph that is there."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.scope, self.module_stack, self.node_name_to_scope = Scope("", None), OrderedDict(), {}


class Proxy:
    """The value of a node while a program is traced."""

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, d):
        self.__dict__ = d

    def __deepcopy__(self, memo):
        new = Proxy.__new__(type(self))
        new.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return new

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self,) + args, kwargs)

    def __iter__(self):
        # a, b = proxy says how many there are; nothing else does
        frame = inspect.currentframe().f_back
        for at in dis.get_instructions(frame.f_code):
            if at.offset >= frame.f_lasti:
                if at.opname == "UNPACK_SEQUENCE":
                    return (self[i] for i in range(at.argval))
                break
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}

        def find(a):
            if isinstance(a, cls):
                tracers[a.tracer] = None

        map_aggregate((args, kwargs), find)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        (tracer,) = tracers
        if _is_method(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=tracer.graph._target_to_str(orig_method.__name__))


def _is_method(f):
    """Whether f is a method of Tensor, as a class has it."""
    return getattr(torch.Tensor, getattr(f, "__name__", ""), None) is f and getattr(torch, f.__name__, None) is not f


class Attribute(Proxy):
    """An attribute of a proxy. It is a node only if it is used as a value: a call of it is a call of a method."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root,) + args, kwargs)


class ParameterProxy(Proxy):
    """A parameter of a module, whose sizes are known."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, torch.nn.Parameter):
            raise AssertionError(f"{name} is no parameter")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    @property
    def ndim(self):
        return self.param.ndim

    def size(self):
        return self.param.size()

    def dim(self):
        return self.param.dim()

    def numel(self):
        return self.param.numel()

    def nelement(self):
        return self.param.nelement()


def _operators():
    """Python's operators on proxies."""

    def left(target):
        def impl(self, *args):
            return self.tracer.create_proxy("call_function", target, (self, *args), {})

        return impl

    def right(target):
        def impl(self, rhs):
            return self.tracer.create_proxy("call_function", target, (rhs, self), {})

        return impl

    for name in _magic_names:
        if hasattr(operator, name):
            setattr(Proxy, f"__{name.strip('_')}__", left(getattr(operator, name)))
    for name in _reflectable_names:
        setattr(Proxy, f"__r{name.strip('_')}__", right(getattr(operator, name)))
    Proxy.__hash__ = object.__hash__  # __eq__ makes a node


_operators()
