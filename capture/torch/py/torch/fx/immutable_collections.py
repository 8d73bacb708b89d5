"""The lists and dicts among the arguments of nodes: they cannot be changed, as a change would not reach the graph."""
from torch.utils._pytree import register_pytree_node


def _refuse(self, *args, **kwargs):
    raise NotImplementedError(
        f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the kwargs or args of a torch.fx.Node object,\n"
        "instead create a new copy of it and assign the copy to the node:\n"
        "    new_args = ... # copy and mutate args\n    node.args = new_args"
    )


def _frozen(name, base, mutating):
    members = {n: _refuse for n in mutating}
    members["__module__"] = __name__
    members["__hash__"] = lambda self: hash(tuple(self.items() if base is dict else self))
    members["__reduce__"] = lambda self: (type(self), (base(self),))
    return type(name, (base,), members)


immutable_list = _frozen("immutable_list", list, ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"))
immutable_dict = _frozen("immutable_dict", dict, ("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"))

register_pytree_node(immutable_list, lambda d: (list(d), None), lambda values, _: immutable_list(values))
register_pytree_node(immutable_dict, lambda d: (list(d.values()), list(d)), lambda values, keys: immutable_dict(zip(keys, values)))
