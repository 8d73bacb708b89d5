"""Graphs in which all calls have the form of the signatures."""
import operator

import torch
from torch.fx.node import map_aggregate
from torch.fx.interpreter import Transformer
from torch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module


class NormalizeArgs(Transformer):
    """Has calls of functions and modules of torch name their arguments, with the defaults."""

    def __init__(self, module, normalize_to_only_use_kwargs=True):
        super().__init__(module)
        self.node_map = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)

        def type_of(arg):
            if isinstance(arg, torch.fx.Node):
                return arg.meta.get("type")
            return type(arg)

        if n.op == "call_function":
            out = self.call_function(n.target, args, kwargs, map_aggregate(n.args, type_of), {k: type_of(v) for k, v in n.kwargs.items()})
        else:
            out = super().run_node(n)
        if n.op != "output" and isinstance(out, torch.fx.Proxy):
            self.node_map[out] = n
            out.node.meta = n.meta
            out.node.type = n.type
        return out

    def call_function(self, target, args, kwargs, arg_types=None, kwarg_types=None):
        if not callable(target):
            raise AssertionError(f"{target} cannot be called")
        new = normalize_function(target, args, kwargs, create_type_hint(arg_types) if arg_types is None else tuple(create_type_hint(t) for t in arg_types), kwarg_types, self.normalize_to_only_use_kwargs)
        if new is None:
            return super().call_function(target, args, kwargs)
        return self.tracer.create_proxy("call_function", target, new.args, new.kwargs)

    def call_module(self, target, args, kwargs):
        new = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        if new is None:
            return super().call_module(target, args, kwargs)
        return super().call_module(target, new.args, new.kwargs)


class NormalizeOperators(torch.fx.Transformer):
    """Has calls of torch's functions that Python has operators for be calls of the operators, for two arguments."""

    binary_magic_method_remap = {
        torch.add: operator.add, torch.mul: operator.mul, torch.sub: operator.sub, torch.div: operator.truediv, torch.floor_divide: operator.floordiv,
        torch.remainder: operator.mod, torch.eq: operator.eq, torch.ne: operator.ne, torch.lt: operator.lt, torch.le: operator.le, torch.gt: operator.gt, torch.ge: operator.ge,
    }

    def call_function(self, target, args, kwargs):
        to = self.binary_magic_method_remap.get(target)
        if to is None or len(args) != 2 or kwargs:
            return super().call_function(target, args, kwargs)
        return super().call_function(to, args, {})
