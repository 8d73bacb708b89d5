"""Trees of containers: flatten, unflatten and map over the leaves of lists, tuples, dicts and registered classes.

A TreeSpec is the shape of a tree without its leaves: the class of each container, its context (keys, a class),
and the specs of its children. A leaf's spec is a LeafSpec.
"""
import dataclasses
import enum
import functools
import importlib
import json
import operator
import threading
import types
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any, Callable, Dict, Generic, Iterable, List, NamedTuple, Optional, Protocol, Tuple, Type, TypeVar, Union

T = TypeVar("T")
S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")
PyTree = Any
Context = Any
FlattenFunc = Callable
UnflattenFunc = Callable
FlattenWithKeysFunc = Callable
DumpableContext = Any
ToDumpableContextFn = Callable
FromDumpableContextFn = Callable
ToStrFunc = Callable
MaybeFromStrFunc = Callable

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1
_cxx_pytree_dynamo_traceable = _cxx_pytree_exists = False  # trees are flattened in Python alone
NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"


class KeyEntry(Protocol):
    """What a key of a path can do, beside showing itself: go one step into a container."""

    def get(self, parent): ...


class EnumEncoder(json.JSONEncoder):
    """JSON with the values of enums in their place."""

    def default(self, o):
        return o.value if isinstance(o, enum.Enum) else json.JSONEncoder.default(self, o)


# How a class of containers is taken apart and put together.
NodeDef = namedtuple("NodeDef", "type flatten_fn unflatten_fn flatten_with_keys_fn")

# How its contexts are written and read.
_SerializeNodeDef = namedtuple("_SerializeNodeDef", "typ serialized_type_name to_dumpable_context from_dumpable_context")

SUPPORTED_NODES, SUPPORTED_SERIALIZED_TYPES, SERIALIZED_TYPE_TO_PYTHON_TYPE = {}, {}, {}
_NODE_REGISTRY_LOCK = threading.Lock()  # over the three


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None, from_dumpable_context=None, flatten_with_keys_fn=None):
    """Makes a class a container: flatten_fn gives its children and a context, unflatten_fn makes one of them again."""
    if SUPPORTED_NODES.get(cls):
        raise ValueError(f"{cls} is already registered as pytree node.")
    _record(NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn), serialized_type_name, to_dumpable_context, from_dumpable_context)


def _private_register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None, from_dumpable_context=None, flatten_with_keys_fn=None):
    _record(NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn), serialized_type_name, to_dumpable_context, from_dumpable_context)


def _record(node, name, write, read):
    cls, name = node.type, name or NO_SERIALIZED_TYPE_NAME_FOUND
    with _NODE_REGISTRY_LOCK:
        if SUPPORTED_NODES.get(cls):
            warnings.warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.", stacklevel=2)
        SUPPORTED_NODES[cls] = node
        if (write, read).count(None) == 1:
            raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
        SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, write, read)
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _deprecated(old, new):
    warnings.warn(f"{old} is deprecated. Please use {new} instead.", FutureWarning, stacklevel=3)


def _register_pytree_node(cls, flatten_fn, unflatten_fn, to_str_fn=None, maybe_from_str_fn=None, *, serialized_type_name=None, to_dumpable_context=None,
                          from_dumpable_context=None, flatten_with_keys_fn=None):
    _deprecated("`torch.utils._pytree._register_pytree_node`", "`torch.utils._pytree.register_pytree_node`")
    if (to_str_fn, maybe_from_str_fn) != (None, None):
        _deprecated("`to_str_fn` and `maybe_from_str_fn`", "`to_dumpable_context` and `from_dumpable_context`")
    _record(NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn), serialized_type_name, to_dumpable_context, from_dumpable_context)


def _deregister_pytree_node(cls):
    with _NODE_REGISTRY_LOCK:
        del SUPPORTED_NODES[cls]
        del SERIALIZED_TYPE_TO_PYTHON_TYPE[SUPPORTED_SERIALIZED_TYPES.pop(cls).serialized_type_name]


def register_constant(cls):
    """Makes a class one whose instances are part of the spec: it has no leaves, and must compare by value."""
    if cls.__eq__ is object.__eq__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if cls.__hash__ is None or cls.__hash__ is object.__hash__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.")
    _private_register_pytree_node(cls, lambda x: ([], x), lambda _, context: context, flatten_with_keys_fn=lambda x: ([], x))


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Makes a dataclass a container of its fields; fields that are None go into the context."""
    from torch.export import register_dataclass as register

    register(cls, serialized_type_name=serialized_type_name)


class _Key:
    """One step from a container to a child, named by the single field of a subclass."""

    def __str__(self):
        return self._shown.format(*vars(self).values())

    def get(self, container):
        return self._step(container, *vars(self).values())


@dataclasses.dataclass(frozen=True)
class SequenceKey(_Key):
    idx: int
    _shown, _step = "[{!r}]", staticmethod(operator.getitem)


@dataclasses.dataclass(frozen=True)
class MappingKey(_Key):
    key: Any
    _shown, _step = "[{!r}]", staticmethod(operator.getitem)


@dataclasses.dataclass(frozen=True)
class GetAttrKey(_Key):
    name: str
    _shown, _step = ".{}", staticmethod(getattr)


def is_namedtuple_class(cls):
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple) and all(isinstance(f, str) for f in cls._fields)


def _is_namedtuple_instance(tree):
    bases = type(tree).__bases__
    if len(bases) != 1 or bases[0] is not tuple:
        return False
    fields = getattr(type(tree), "_fields", None)
    return isinstance(fields, tuple) and all(type(f) is str for f in fields)


def _namedtuple_serialize(context):
    if context not in SUPPORTED_SERIALIZED_TYPES or SUPPORTED_SERIALIZED_TYPES[context].serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a serializated_type_name. "
                                  "Please register using `_register_namedtuple`.")
    return SUPPORTED_SERIALIZED_TYPES[context].serialized_type_name


def _namedtuple_deserialize(dumpable_context):
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(dumpable_context)
    if cls is None:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {dumpable_context} because we couldn't find a serializated name.")
    return cls


def _defaultdict_serialize(context):
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}


def _defaultdict_deserialize(dumpable_context):
    module = importlib.import_module(dumpable_context["default_factory_module"])
    return [getattr(module, dumpable_context["default_factory_name"]), dumpable_context["dict_context"]]


def _places(count, _):
    return [SequenceKey(i) for i in range(count)]


def _keys(_, context):
    return [MappingKey(k) for k in context]


# Python's containers: the name of the functions for a class, the class, its children, its context, how both make one again,
# and the keys of so many children in such a context. Where the class's contexts need it, how they are written and read.
_builtin_rows = [
    ("tuple", tuple, list, lambda d: None, lambda values, context: tuple(values), _places),
    ("list", list, lambda d: d, lambda d: None, lambda values, context: list(values), _places),
    ("dict", dict, lambda d: list(d.values()), list, lambda values, keys: dict(zip(keys, values)), _keys),
    ("namedtuple", namedtuple, list, type, lambda values, cls: cls(*values), lambda _, cls: [GetAttrKey(f) for f in cls._fields],
     _namedtuple_serialize, _namedtuple_deserialize),
    ("ordereddict", OrderedDict, lambda d: list(d.values()), list, lambda values, keys: OrderedDict(zip(keys, values)), _keys),
    ("defaultdict", defaultdict, lambda d: list(d.values()), lambda d: [d.default_factory, list(d)],
     lambda values, context: defaultdict(context[0], zip(context[1], values)), lambda n, context: _keys(n, context[1]),
     _defaultdict_serialize, _defaultdict_deserialize),
    ("deque", deque, list, lambda d: d.maxlen, deque, _places),
]


def _register_builtin(name, cls, children, context, make, keys, write=None, read=None):
    def flatten(d):
        return children(d), context(d)

    def flatten_with_keys(d):
        values, about = flatten(d)
        return list(zip(keys(len(values), about), values)), about

    functions = {"_flatten": flatten, "_unflatten": make, "_flatten_with_keys": flatten_with_keys}
    globals().update({f"_{name}{end}": f for end, f in functions.items()})
    _private_register_pytree_node(cls, flatten, make, serialized_type_name=f"{cls.__module__}.{cls.__name__}", to_dumpable_context=write,
                                  from_dumpable_context=read, flatten_with_keys_fn=flatten_with_keys)


for _row in _builtin_rows:
    _register_builtin(*_row)
_odict_flatten, _odict_unflatten = _ordereddict_flatten, _ordereddict_unflatten


def _register_namedtuple(cls, *, serialized_type_name):
    """Says by which name specs with this class are written."""
    like = SUPPORTED_NODES[namedtuple]
    _private_register_pytree_node(cls, like.flatten_fn, like.unflatten_fn, flatten_with_keys_fn=like.flatten_with_keys_fn, serialized_type_name=serialized_type_name,
                                  to_dumpable_context=_namedtuple_serialize, from_dumpable_context=_namedtuple_deserialize)


STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES = frozenset(row[1] for row in _builtin_rows)


def _get_node_type(tree):
    return namedtuple if _is_namedtuple_instance(tree) else type(tree)


def _node_of(tree, is_leaf=None):
    """How a value is taken apart, None for a leaf."""
    if is_leaf is None or not is_leaf(tree):
        return SUPPORTED_NODES.get(_get_node_type(tree))
    return None


def tree_is_leaf(tree, is_leaf=None):
    """Whether a value is no container."""
    return _node_of(tree, is_leaf) is None


_is_leaf = tree_is_leaf


def _same_keys(expected, got):
    if expected != got:
        differences = (("missing", expected - got), ("extra", got - expected))
        raise ValueError("Node keys mismatch" + "".join(f"; {how} key(s): {keys}" for how, keys in differences if keys) + ".")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TreeSpec:
    """One container: its class, its context, and the specs of its children; num_nodes, num_leaves and num_children count what is below."""

    type: Any
    context: Context
    children_specs: list

    def __post_init__(self):
        below = self.children_specs
        nodes, leaves = (sum(getattr(s, count) for s in below) for count in ("num_nodes", "num_leaves"))
        self._set_counts(1 + nodes, leaves, len(below))

    def _set_counts(self, *counts):
        self.__dict__.update(zip(("num_nodes", "num_leaves", "num_children"), counts))

    def __repr__(self, indent=0):
        inner = indent + 2
        children = (",\n" + " " * inner).join(c.__repr__(inner) for c in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return self is other or self._facts() == other._facts()

    def _facts(self):
        return self.is_leaf(), self.type, self.context, self.children_specs

    def __hash__(self):
        # A context may be a list of keys: the class and the children are enough.
        return hash((self.type, self.num_leaves, *map(hash, self.children_specs)))

    def is_leaf(self):
        return (self.num_nodes, self.num_leaves) == (1, 1)

    def flatten_up_to(self, tree):
        """The subtrees of tree that stand where this spec has leaves."""
        if self.is_leaf():
            return [tree]
        pairs = zip(self.children_specs, self._children_in(tree))
        return [subtree for spec, child in pairs for subtree in spec.flatten_up_to(child)]

    def _children_in(self, tree):
        """The children of a value that this spec fits, in the order of the spec."""
        cls = _get_node_type(tree)
        by_key = {self.type, cls} <= STANDARD_DICT_TYPES  # two kinds of dict are alike if their keys are, in any order
        if not by_key and cls != self.type:
            raise ValueError(f"{'Node type' if self.type in BUILTIN_TYPES else 'Type'} mismatch; expected {self.type!r}, but got {cls!r}.")
        children, context = (tree, None) if by_key else SUPPORTED_NODES[cls].flatten_fn(tree)
        children = children if by_key else list(children)
        if self.num_children != len(children):
            raise ValueError(f"Node arity mismatch; expected {self.num_children!r}, but got {len(children)!r}.")
        if by_key:
            keys = self.context[1] if self.type is defaultdict else self.context
            _same_keys(set(keys), set(tree))
            return [tree[k] for k in keys]
        if self.context != context and cls is not deque:  # of any length
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        return children

    def unflatten(self, leaves):
        leaves = leaves if isinstance(leaves, (list, tuple)) else list(leaves)
        if self.num_leaves != len(leaves):
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds {self.num_leaves} items ({self}).")
        return self._built(iter(leaves))

    def _built(self, leaves):
        if self.is_leaf():
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn([s._built(leaves) for s in self.children_specs], self.context)


class LeafSpec(TreeSpec):
    """The spec of one leaf."""

    def __init__(self):
        TreeSpec.__init__(self, None, None, [])

    def __post_init__(self):
        self._set_counts(1, 1, 0)

    def __repr__(self, indent=0):
        return "*"


_LEAF_SPEC = LeafSpec()


def treespec_leaf():
    return _LEAF_SPEC


def treespec_tuple(iterable=()):
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=()):
    named = dict(mapping)
    return TreeSpec(dict, list(named), list(named.values()))


def tree_flatten(tree, is_leaf=None):
    """The leaves of a tree, and its spec."""
    found = []
    return found, _collect(tree, found, is_leaf)


def _collect(tree, found, is_leaf):
    """The spec of a tree, its leaves added to those found."""
    node = _node_of(tree, is_leaf)
    if node is None:
        found.append(tree)
        return _LEAF_SPEC
    children, context = node.flatten_fn(tree)
    return TreeSpec(node.type, context, [_collect(child, found, is_leaf) for child in children])


def _need_spec(treespec, call):
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"{call}: Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}.")


def tree_unflatten(leaves, treespec):
    """The tree of a spec with these leaves."""
    _need_spec(treespec, "tree_unflatten(leaves, treespec)")
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """The leaves of a tree, one by one."""
    node = _node_of(tree, is_leaf)
    if node is None:
        yield tree
    else:
        for child in node.flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree, is_leaf=None):
    return [*tree_iter(tree, is_leaf)]


def tree_structure(tree, is_leaf=None):
    _, spec = tree_flatten(tree, is_leaf)
    return spec


def _with_rests(leaves, spec, rests):
    """For each leaf, the arguments of a function that is mapped over trees of one shape."""
    return zip(leaves, *(spec.flatten_up_to(r) for r in rests))


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of func's results for each leaf; further trees of the same shape give further arguments."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten([func(*xs) for xs in _with_rests(leaves, spec, rests)])


def tree_map_(func, tree, *rests, is_leaf=None):
    """tree_map for what func does alone: the tree comes back."""
    for xs in _with_rests(*tree_flatten(tree, is_leaf), rests):
        func(*xs)
    return tree


def _test_of(wanted):
    """What tells whether a value is wanted, by its type or by a function."""
    if isinstance(wanted, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, wanted)
    if not callable(wanted):
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return wanted


def map_only(type_or_types_or_pred, /):
    """Makes a function one of these types alone; other values pass through it."""
    test = _test_of(type_or_types_or_pred)
    return lambda func: lambda x: func(x) if test(x) else x


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all(pred(x) for x in tree_iter(tree, is_leaf))


def tree_any(pred, tree, is_leaf=None):
    return any(pred(x) for x in tree_iter(tree, is_leaf))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a tree whose own leaves may stand for whole subtrees of the spec; None if the shapes do not fit."""
    node = _node_of(tree, is_leaf)
    if node is None:
        return treespec.num_leaves * [tree]
    if treespec.is_leaf() or treespec.type != node.type:
        return None
    children, context = node.flatten_fn(tree)
    if (len(children), context) != (treespec.num_children, treespec.context):
        return None
    parts = [_broadcast_to_and_flatten(child, spec, is_leaf) for child, spec in zip(children, treespec.children_specs)]
    fit = all(part is not None for part in parts)
    return [leaf for part in parts for leaf in part] if fit else None


# The text of a spec is JSON: the number of the protocol, and for each node its class's name, its context and its children.


def _treespec_to_json(treespec):
    name = context = None
    if not treespec.is_leaf():
        row = SUPPORTED_SERIALIZED_TYPES.get(treespec.type)
        if row is None:
            raise NotImplementedError(f"Serializing {treespec.type} in pytree is not registered.")
        name, context = row.serialized_type_name, (row.to_dumpable_context or _context_text)
        if name == NO_SERIALIZED_TYPE_NAME_FOUND:
            raise NotImplementedError(f"No registered serialization name for {treespec.type} found. Please update your _register_pytree_node call with a `serialized_type_name` kwarg.")
        context = context(treespec.context)
    return {"type": name, "context": context, "children_spec": list(map(_treespec_to_json, treespec.children_specs))}


def _context_text(context):
    try:
        return json.dumps(context, cls=EnumEncoder)
    except TypeError as why:
        raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom serializer using _register_pytree_node.") from why


def _json_to_treespec(json_schema):
    name, text, children = (json_schema[k] for k in ("type", "context", "children_spec"))
    if (name, text, len(children)) == (None, None, 0):
        return _LEAF_SPEC
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(name)
    if cls is None:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    read = SUPPORTED_SERIALIZED_TYPES[cls].from_dumpable_context or _context_of
    return TreeSpec(cls, read(text), [_json_to_treespec(c) for c in children])


def _context_of(text):
    try:
        return json.loads(text)
    except TypeError as why:
        raise TypeError("Unable to deserialize context. Please make the context json load-able, or register a custom serializer using _register_pytree_node.") from why


_SUPPORTED_PROTOCOLS = {1: (_treespec_to_json, _json_to_treespec)}


def _protocol(number):
    """How specs are written and read under a protocol."""
    if number not in _SUPPORTED_PROTOCOLS:
        raise ValueError(f"Unknown protocol {number}. Available protocols: {list(_SUPPORTED_PROTOCOLS)}")
    return _SUPPORTED_PROTOCOLS[number]


def treespec_dumps(treespec, protocol=None):
    _need_spec(treespec, "treespec_dumps(treespec, protocol)")
    number = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    write, _ = _protocol(number)
    return json.dumps([number, write(treespec)], cls=EnumEncoder)


def treespec_loads(serialized):
    number, written = json.loads(serialized)
    return _protocol(number)[1](written)


class _DummyLeaf:
    def __repr__(self):
        return "*"


def treespec_pprint(treespec):
    return repr(treespec.unflatten([_DummyLeaf()] * treespec.num_leaves))


def pytree_to_str(treespec):
    _deprecated("`pytree_to_str`", "`treespec_dumps`")
    return treespec_dumps(treespec)


def str_to_pytree(json):
    _deprecated("`str_to_pytree`", "`treespec_loads`")
    return treespec_loads(json)


def arg_tree_leaves(*args, **kwargs):
    """The leaves of all arguments of a call."""
    return tree_leaves([*args, *kwargs.values()])


def _generate_key_paths(key_path, tree, is_leaf=None):
    """Each leaf, after the keys that lead to it."""
    node = _node_of(tree, is_leaf)
    if node is None:
        yield key_path, tree
    elif not node.flatten_with_keys_fn:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn argument to register_pytree_node.")
    else:
        for key, child in node.flatten_with_keys_fn(tree)[0]:
            yield from _generate_key_paths(key_path + (key,), child, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    return [*_generate_key_paths((), tree, is_leaf)]


def tree_flatten_with_path(tree, is_leaf=None):
    """The leaves, each with the tuple of keys that leads to it, and the spec."""
    spec = tree_structure(tree, is_leaf)
    return tree_leaves_with_path(tree, is_leaf), spec


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """tree_map with a function that is given the path of each leaf first."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    return spec.unflatten([func(*leaf, *more) for leaf, *more in _with_rests(found, spec, rests)])


def keystr(kp):
    """The text of a path of keys, as Python would write it."""
    return "".join(map(str, kp))


def key_get(obj, kp):
    """What a path of keys leads to."""
    return functools.reduce(lambda at, key: key.get(at), kp, obj)
