"""Which nodes a backend can run."""
import abc
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Tuple, Union

import torch
from torch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target

TargetTypeName = str
SupportedArgumentDTypes = Optional[Tuple[Sequence[Sequence[torch.dtype]], Dict[str, Sequence[torch.dtype]]]]
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]


class OperatorSupportBase(abc.ABC):
    """Says of a node whether it is supported."""

    @abc.abstractmethod
    def is_node_supported(self, submodules, node):
        raise NotImplementedError


def _dtype_of(arg):
    """The dtype that shape propagation noted for a node; None for what is no tensor."""
    meta = arg.meta.get("tensor_meta") if isinstance(arg, torch.fx.Node) else None
    return getattr(meta, "dtype", None)


class OperatorSupport(OperatorSupportBase):
    """Support by a table: from targets to the dtypes of arguments that are taken, or None for all."""

    _support_dict: SupportDict

    def __init__(self, support_dict=None):
        self._support_dict = {} if support_dict is None else support_dict

    def is_node_supported(self, submodules, node):
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        dtypes = self._support_dict[target]
        if dtypes is None:
            return True
        by_place, by_name = dtypes
        pairs = [*zip(node.args, by_place), *((node.kwargs[k], d) for k, d in by_name.items() if k in node.kwargs)]
        return all(_dtype_of(a) is None or _dtype_of(a) in allowed for a, allowed in pairs)


IsNodeSupported = Callable[[Mapping[str, torch.nn.Module], torch.fx.Node], bool]


def create_op_support(is_node_supported):
    """An operator support made of its one function."""

    class FunctionalOperatorSupport(OperatorSupportBase):
        def is_node_supported(self, submodules, node):
            return is_node_supported(submodules, node)

    return FunctionalOperatorSupport()


def chain(*op_support):
    """Supports what all of these do."""
    return create_op_support(lambda submodules, node: all(o.is_node_supported(submodules, node) for o in op_support))


def any_chain(*op_support):
    """Supports what any of these does."""
    return create_op_support(lambda submodules, node: any(o.is_node_supported(submodules, node) for o in op_support))


class OpSupports:
    """Operator supports that are often wanted."""

    @classmethod
    def decline_if_input_dtype(cls, dtype):
        def supported(submodules, node):
            for arg in node.all_input_nodes:
                of = arg.meta.get("tensor_meta", arg.meta.get("val"))
                if of is None:
                    raise RuntimeError(f"arg {arg} of {node} has no metadata of a tensor: shapes have to be propagated first")
                if getattr(of, "dtype", None) == dtype:
                    return False
            return True

        return create_op_support(supported)

    @classmethod
    def decline_if_node_in_names(cls, disallow_set):
        return create_op_support(lambda submodules, node: node.name not in disallow_set)
