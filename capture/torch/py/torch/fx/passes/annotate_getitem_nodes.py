"""Types for the items of values that have types."""
import operator
import typing


def annotate_getitem_nodes(graph):
    """Gives a node that takes an item of a typed value the type of the item."""
    for node in graph.nodes:
        if node.target is not operator.getitem:
            continue
        of, index = node.args
        if not of.type:
            continue
        origin, args = typing.get_origin(of.type), typing.get_args(of.type)
        if origin is None and hasattr(of.type, "_fields"):
            fields = typing.get_type_hints(of.type)
            node.type = fields[of.type._fields[index]]
        elif origin is list and args:
            node.type = args[0]
        elif origin is tuple and args:
            if len(args) == 2 and args[1] is ...:
                node.type = args[0]
            elif isinstance(index, int):
                node.type = args[index]
