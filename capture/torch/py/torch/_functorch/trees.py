"""Nested tuples, lists and dicts as a list of leaves and a shape: what the transformations of functions take apart and put together."""
from collections import OrderedDict


def _parts(tree):
    """The kind of a container, its keys, and its children; None for a leaf."""
    if isinstance(tree, tuple):
        return (type(tree) if hasattr(tree, "_fields") else tuple), len(tree), list(tree)
    if type(tree) is list:
        return list, len(tree), tree
    if type(tree) in (dict, OrderedDict):
        return type(tree), tuple(tree), list(tree.values())
    if tree is None:
        return type(None), 0, []
    return None


def flatten(tree):
    """The leaves of a tree, and its shape: None for a leaf, else (kind, keys, shapes of the children)."""
    parts = _parts(tree)
    if parts is None:
        return [tree], None
    kind, keys, children = parts
    leaves, shapes = [], []
    for c in children:
        more, shape = flatten(c)
        leaves += more
        shapes.append(shape)
    return leaves, (kind, keys, tuple(shapes))


def _build(leaves, shape):
    if shape is None:
        return next(leaves)
    kind, keys, shapes = shape
    children = [_build(leaves, s) for s in shapes]
    if kind is type(None):
        return None
    if kind is tuple or kind is list:
        return kind(children)
    if isinstance(keys, tuple):
        return kind(zip(keys, children))
    return kind(*children)  # a named tuple


def unflatten(leaves, shape):
    return _build(iter(leaves), shape)


def map(f, tree):
    leaves, shape = flatten(tree)
    return unflatten([f(x) for x in leaves], shape)


def spread(prefix, tree):
    """For each leaf of tree what a tree that ends sooner says of it; None where the two do not fit."""
    parts = _parts(tree)
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(flatten(tree)[0])
    mine = _parts(prefix)
    if parts is None or mine is None or len(mine[2]) != len(parts[2]) or not (mine[0] is parts[0] or {mine[0], parts[0]} <= {tuple, list}):
        return None
    if isinstance(parts[1], tuple) and set(mine[1]) != set(parts[1]):
        return None
    children = [prefix[k] for k in parts[1]] if isinstance(parts[1], tuple) else mine[2]
    out = []
    for p, c in zip(children, parts[2]):
        inner = spread(p, c)
        if inner is None:
            return None
        out += inner
    return out
