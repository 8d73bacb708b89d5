"""Trees of containers: flatten, unflatten and map over the leaves of lists, tuples, dicts and registered classes.

A TreeSpec is the shape of a tree without its leaves: the class of each container, its context (keys, a class),
and the specs of its children. A leaf's spec is a LeafSpec.
"""
import dataclasses
import functools
import importlib
import json
import sys
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
    def __hash__(self): ...

    def __eq__(self, other): ...

    def __str__(self): ...

    def get(self, parent): ...


class EnumEncoder(json.JSONEncoder):
    def default(self, obj):
        import enum

        return obj.value if isinstance(obj, enum.Enum) else super().default(obj)


class NodeDef(NamedTuple):
    type: type
    flatten_fn: Callable
    unflatten_fn: Callable
    flatten_with_keys_fn: Optional[Callable]


class _SerializeNodeDef(NamedTuple):
    typ: type
    serialized_type_name: str
    to_dumpable_context: Optional[Callable]
    from_dumpable_context: Optional[Callable]


_NODE_REGISTRY_LOCK = threading.Lock()
SUPPORTED_NODES = {}
SUPPORTED_SERIALIZED_TYPES = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE = {}
BUILTIN_TYPES = set()


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None, from_dumpable_context=None, flatten_with_keys_fn=None):
    """Makes a class a container: flatten_fn gives its children and a context, unflatten_fn makes one of them again."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name, to_dumpable_context=to_dumpable_context,
                                  from_dumpable_context=from_dumpable_context, flatten_with_keys_fn=flatten_with_keys_fn)


def _private_register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None, from_dumpable_context=None, flatten_with_keys_fn=None):
    with _NODE_REGISTRY_LOCK:
        if cls in SUPPORTED_NODES:
            warnings.warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.")
        SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
        if (to_dumpable_context is None) ^ (from_dumpable_context is None):
            raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
        name = NO_SERIALIZED_TYPE_NAME_FOUND if serialized_type_name is None else serialized_type_name
        SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, to_dumpable_context, from_dumpable_context)
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _register_pytree_node(cls, flatten_fn, unflatten_fn, to_str_fn=None, maybe_from_str_fn=None, *, serialized_type_name=None, to_dumpable_context=None,
                          from_dumpable_context=None, flatten_with_keys_fn=None):
    warnings.warn("`torch.utils._pytree._register_pytree_node` is deprecated. Please use `torch.utils._pytree.register_pytree_node` instead.", FutureWarning, stacklevel=2)
    if to_str_fn is not None or maybe_from_str_fn is not None:
        warnings.warn("`to_str_fn` and `maybe_from_str_fn` is deprecated. Please use `to_dumpable_context` and `from_dumpable_context` instead.", FutureWarning, stacklevel=2)
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name, to_dumpable_context=to_dumpable_context,
                                  from_dumpable_context=from_dumpable_context, flatten_with_keys_fn=flatten_with_keys_fn)


def _deregister_pytree_node(cls):
    with _NODE_REGISTRY_LOCK:
        del SUPPORTED_NODES[cls]
        node = SUPPORTED_SERIALIZED_TYPES.pop(cls)
        del SERIALIZED_TYPE_TO_PYTHON_TYPE[node.serialized_type_name]


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


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


def is_namedtuple_class(cls):
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple) and all(isinstance(f, str) for f in cls._fields)


def _is_namedtuple_instance(tree):
    bases = type(tree).__bases__
    if len(bases) != 1 or bases[0] is not tuple:
        return False
    fields = getattr(type(tree), "_fields", None)
    return isinstance(fields, tuple) and all(type(f) is str for f in fields)


def _tuple_flatten(d):
    return list(d), None


def _tuple_flatten_with_keys(d):
    values, context = _tuple_flatten(d)
    return [(SequenceKey(i), v) for i, v in enumerate(values)], context


def _tuple_unflatten(values, context):
    return tuple(values)


def _list_flatten(d):
    return d, None


def _list_flatten_with_keys(d):
    values, context = _list_flatten(d)
    return [(SequenceKey(i), v) for i, v in enumerate(values)], context


def _list_unflatten(values, context):
    return list(values)


def _dict_flatten(d):
    return list(d.values()), list(d.keys())


def _dict_flatten_with_keys(d):
    values, context = _dict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context, values)], context


def _dict_unflatten(values, context):
    return dict(zip(context, values))


def _namedtuple_flatten(d):
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d):
    values, context = _namedtuple_flatten(d)
    return [(GetAttrKey(f), v) for f, v in zip(context._fields, values)], context


def _namedtuple_unflatten(values, context):
    return context(*values)


def _namedtuple_serialize(context):
    if context not in SUPPORTED_SERIALIZED_TYPES or SUPPORTED_SERIALIZED_TYPES[context].serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a serializated_type_name. "
                                  "Please register using `_register_namedtuple`.")
    return SUPPORTED_SERIALIZED_TYPES[context].serialized_type_name


def _namedtuple_deserialize(dumpable_context):
    if dumpable_context not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {dumpable_context} because we couldn't find a serializated name.")
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[dumpable_context]


def _register_namedtuple(cls, *, serialized_type_name):
    """Says by which name specs with this class are written."""
    _private_register_pytree_node(cls, _namedtuple_flatten, _namedtuple_unflatten, serialized_type_name=serialized_type_name,
                                  to_dumpable_context=_namedtuple_serialize, from_dumpable_context=_namedtuple_deserialize, flatten_with_keys_fn=_namedtuple_flatten_with_keys)


def _ordereddict_flatten(d):
    return list(d.values()), list(d.keys())


def _ordereddict_flatten_with_keys(d):
    values, context = _ordereddict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context, values)], context


def _ordereddict_unflatten(values, context):
    return OrderedDict((k, v) for k, v in zip(context, values))


_odict_flatten, _odict_unflatten = _ordereddict_flatten, _ordereddict_unflatten


def _defaultdict_flatten(d):
    values, keys = _dict_flatten(d)
    return values, [d.default_factory, keys]


def _defaultdict_flatten_with_keys(d):
    values, context = _defaultdict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context[1], values)], context


def _defaultdict_unflatten(values, context):
    factory, keys = context
    return defaultdict(factory, _dict_unflatten(values, keys))


def _defaultdict_serialize(context):
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}


def _defaultdict_deserialize(dumpable_context):
    module = importlib.import_module(dumpable_context["default_factory_module"])
    return [getattr(module, dumpable_context["default_factory_name"]), dumpable_context["dict_context"]]


def _deque_flatten(d):
    return list(d), d.maxlen


def _deque_flatten_with_keys(d):
    values, context = _deque_flatten(d)
    return [(SequenceKey(i), v) for i, v in enumerate(values)], context


def _deque_unflatten(values, context):
    return deque(values, maxlen=context)


_private_register_pytree_node(tuple, _tuple_flatten, _tuple_unflatten, serialized_type_name="builtins.tuple", flatten_with_keys_fn=_tuple_flatten_with_keys)
_private_register_pytree_node(list, _list_flatten, _list_unflatten, serialized_type_name="builtins.list", flatten_with_keys_fn=_list_flatten_with_keys)
_private_register_pytree_node(dict, _dict_flatten, _dict_unflatten, serialized_type_name="builtins.dict", flatten_with_keys_fn=_dict_flatten_with_keys)
_private_register_pytree_node(namedtuple, _namedtuple_flatten, _namedtuple_unflatten, serialized_type_name="collections.namedtuple", to_dumpable_context=_namedtuple_serialize,
                              from_dumpable_context=_namedtuple_deserialize, flatten_with_keys_fn=_namedtuple_flatten_with_keys)
_private_register_pytree_node(OrderedDict, _ordereddict_flatten, _ordereddict_unflatten, serialized_type_name="collections.OrderedDict",
                              flatten_with_keys_fn=_ordereddict_flatten_with_keys)
_private_register_pytree_node(defaultdict, _defaultdict_flatten, _defaultdict_unflatten, serialized_type_name="collections.defaultdict",
                              to_dumpable_context=_defaultdict_serialize, from_dumpable_context=_defaultdict_deserialize, flatten_with_keys_fn=_defaultdict_flatten_with_keys)
_private_register_pytree_node(deque, _deque_flatten, _deque_unflatten, serialized_type_name="collections.deque", flatten_with_keys_fn=_deque_flatten_with_keys)

STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})


def _get_node_type(tree):
    if _is_namedtuple_instance(tree):
        return namedtuple
    return type(tree)


def tree_is_leaf(tree, is_leaf=None):
    """Whether a value is no container."""
    if is_leaf is not None and is_leaf(tree):
        return True
    return _get_node_type(tree) not in SUPPORTED_NODES


def _is_leaf(tree, is_leaf=None):
    return tree_is_leaf(tree, is_leaf=is_leaf)


@dataclasses.dataclass(init=True, frozen=True, eq=True, repr=False)
class TreeSpec:
    """One container: its class, its context, and the specs of its children."""

    type: Any
    context: Context
    children_specs: List["TreeSpec"]
    num_nodes: int = dataclasses.field(init=False)
    num_leaves: int = dataclasses.field(init=False)
    num_children: int = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "num_nodes", sum((s.num_nodes for s in self.children_specs), start=1))
        object.__setattr__(self, "num_leaves", sum(s.num_leaves for s in self.children_specs))
        object.__setattr__(self, "num_children", len(self.children_specs))

    def __repr__(self, indent=0):
        prefix = f"TreeSpec({self.type.__name__}, {self.context}, ["
        children = ""
        if self.num_children:
            indent += 2
            children = self.children_specs[0].__repr__(indent)
            children += "," if self.num_children > 1 else ""
            children += ",".join("\n" + " " * indent + c.__repr__(indent) for c in self.children_specs[1:])
        return prefix + children + "])"

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, TreeSpec) or isinstance(other, LeafSpec) != isinstance(self, LeafSpec):
            return False if isinstance(other, TreeSpec) else NotImplemented
        return (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)

    def __hash__(self):
        # A context may be a list of keys: the class and the children are enough.
        return hash((self.type, self.num_leaves, tuple(hash(c) for c in self.children_specs)))

    def is_leaf(self):
        return self.num_nodes == 1 and self.num_leaves == 1

    def flatten_up_to(self, tree):
        """The subtrees of tree that stand where this spec has leaves."""
        found = []
        self._flatten_up_to(tree, found)
        return found

    def _flatten_up_to(self, tree, found):
        if self.is_leaf():
            found.append(tree)
            return
        node_type = _get_node_type(tree)
        # Two kinds of dict are alike if their keys are: only then is the order not the spec's.
        both_dicts = self.type in STANDARD_DICT_TYPES and node_type in STANDARD_DICT_TYPES
        if self.type not in BUILTIN_TYPES or not both_dicts:
            if node_type != self.type:
                raise ValueError(f"Type mismatch; expected {self.type!r}, but got {node_type!r}.")
            children, context = SUPPORTED_NODES[node_type].flatten_fn(tree)
            children = list(children)
            if len(children) != self.num_children:
                raise ValueError(f"Node arity mismatch; expected {self.num_children!r}, but got {len(children)!r}.")
            if context != self.context:
                raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        else:
            keys = self.context if self.type is not defaultdict else self.context[1]
            expected, got = set(keys), set(tree)
            if len(tree) != self.num_children:
                raise ValueError(f"Node arity mismatch; expected {self.num_children!r}, but got {len(tree)!r}.")
            if expected != got:
                missing, extra = expected - got, got - expected
                raise ValueError("Node keys mismatch" + (f"; missing key(s): {missing}" if missing else "") + (f"; extra key(s): {extra}" if extra else "") + ".")
            children = [tree[k] for k in keys]
        for child, spec in zip(children, self.children_specs):
            spec._flatten_up_to(child, found)

    def unflatten(self, leaves):
        if not isinstance(leaves, (list, tuple)):
            leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds {self.num_leaves} items ({self}).")
        if self.is_leaf():
            return leaves[0]
        children, start = [], 0
        for spec in self.children_specs:
            end = start + spec.num_leaves
            children.append(spec.unflatten(leaves[start:end]))
            start = end
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)


class LeafSpec(TreeSpec):
    """The spec of one leaf."""

    def __init__(self):
        super().__init__(None, None, [])

    def __post_init__(self):
        object.__setattr__(self, "num_nodes", 1)
        object.__setattr__(self, "num_leaves", 1)
        object.__setattr__(self, "num_children", 0)

    def __repr__(self, indent=0):
        return "*"


_LEAF_SPEC = LeafSpec()


def treespec_leaf():
    return _LEAF_SPEC


def treespec_tuple(iterable=()):
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=()):
    d = dict(mapping)
    return TreeSpec(dict, list(d.keys()), list(d.values()))


def tree_flatten(tree, is_leaf=None):
    """The leaves of a tree, and its spec."""
    leaves = []
    spec = _flatten_into(tree, leaves, is_leaf)
    return leaves, spec


def _flatten_into(tree, leaves, is_leaf):
    if tree_is_leaf(tree, is_leaf=is_leaf):
        leaves.append(tree)
        return _LEAF_SPEC
    node_type = _get_node_type(tree)
    children, context = SUPPORTED_NODES[node_type].flatten_fn(tree)
    return TreeSpec(node_type, context, [_flatten_into(c, leaves, is_leaf) for c in children])


def tree_unflatten(leaves, treespec):
    """The tree of a spec with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}.")
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    if tree_is_leaf(tree, is_leaf=is_leaf):
        yield tree
        return
    children, _ = SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)
    for child in children:
        yield from tree_iter(child, is_leaf=is_leaf)


def tree_leaves(tree, is_leaf=None):
    return list(tree_iter(tree, is_leaf=is_leaf))


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf=is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of func's results for each leaf; further trees of the same shape give further arguments."""
    leaves, treespec = tree_flatten(tree, is_leaf=is_leaf)
    flat_args = [leaves] + [treespec.flatten_up_to(r) for r in rests]
    return treespec.unflatten([func(*a) for a in zip(*flat_args)])


def tree_map_(func, tree, *rests, is_leaf=None):
    """tree_map for what func does alone: the tree comes back."""
    leaves, treespec = tree_flatten(tree, is_leaf=is_leaf)
    flat_args = [leaves] + [treespec.flatten_up_to(r) for r in rests]
    deque(map(func, *flat_args), maxlen=0)
    return tree


def map_only(type_or_types_or_pred, /):
    """Makes a function one of these types alone; other values pass through it."""
    if isinstance(type_or_types_or_pred, (type, tuple)) or isinstance(type_or_types_or_pred, types.UnionType):
        def wanted(x):
            return isinstance(x, type_or_types_or_pred)
    elif callable(type_or_types_or_pred):
        wanted = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def wrapper(func):
        def wrapped(x):
            if wanted(x):
                return func(x)
            return x

        return wrapped

    return wrapper


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_iter(tree, is_leaf=is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_iter(tree, is_leaf=is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    return all(pred(x) for x in tree_iter(tree, is_leaf=is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    return any(pred(x) for x in tree_iter(tree, is_leaf=is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a tree whose own leaves may stand for whole subtrees of the spec; None if the shapes do not fit."""
    if tree_is_leaf(tree, is_leaf=is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    node_type = _get_node_type(tree)
    if node_type != treespec.type:
        return None
    children, context = SUPPORTED_NODES[node_type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found = []
    for child, spec in zip(children, treespec.children_specs):
        flat = _broadcast_to_and_flatten(child, spec, is_leaf=is_leaf)
        if flat is None:
            return None
        found += flat
    return found


@dataclasses.dataclass
class _TreeSpecSchema:
    type: Optional[str]
    context: DumpableContext
    children_spec: List["_TreeSpecSchema"]


class _ProtocolFn(NamedTuple):
    treespec_to_json: Callable
    json_to_treespec: Callable


def _treespec_to_json(treespec):
    if treespec.is_leaf():
        return _TreeSpecSchema(None, None, [])
    if treespec.type not in SUPPORTED_SERIALIZED_TYPES:
        raise NotImplementedError(f"Serializing {treespec.type} in pytree is not registered.")
    node = SUPPORTED_SERIALIZED_TYPES[treespec.type]
    if node.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(f"No registered serialization name for {treespec.type} found. Please update your _register_pytree_node call with a `serialized_type_name` kwarg.")
    if node.to_dumpable_context is None:
        try:
            context = json.dumps(treespec.context, cls=EnumEncoder)
        except TypeError as e:
            raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom serializer using _register_pytree_node.") from e
    else:
        context = node.to_dumpable_context(treespec.context)
    return _TreeSpecSchema(node.serialized_type_name, context, [_treespec_to_json(c) for c in treespec.children_specs])


def _json_to_treespec(json_schema):
    if json_schema["type"] is None and json_schema["context"] is None and len(json_schema["children_spec"]) == 0:
        return _LEAF_SPEC
    if json_schema["type"] not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {json_schema['type']} in pytree is not registered.")
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE[json_schema["type"]]
    node = SUPPORTED_SERIALIZED_TYPES[cls]
    if node.from_dumpable_context is None:
        try:
            context = json.loads(json_schema["context"])
        except TypeError as e:
            raise TypeError("Unable to deserialize context. Please make the context json load-able, or register a custom serializer using _register_pytree_node.") from e
    else:
        context = node.from_dumpable_context(json_schema["context"])
    return TreeSpec(cls, context, [_json_to_treespec(c) for c in json_schema["children_spec"]])


_SUPPORTED_PROTOCOLS = {1: _ProtocolFn(_treespec_to_json, _json_to_treespec)}


def treespec_dumps(treespec, protocol=None):
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"treespec_dumps(treespec, protocol): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}.")
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    if protocol not in _SUPPORTED_PROTOCOLS:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {list(_SUPPORTED_PROTOCOLS.keys())}")
    return json.dumps((protocol, dataclasses.asdict(_SUPPORTED_PROTOCOLS[protocol].treespec_to_json(treespec))), cls=EnumEncoder)


def treespec_loads(serialized):
    protocol, schema = json.loads(serialized)
    if protocol not in _SUPPORTED_PROTOCOLS:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {list(_SUPPORTED_PROTOCOLS.keys())}")
    return _SUPPORTED_PROTOCOLS[protocol].json_to_treespec(schema)


class _DummyLeaf:
    def __repr__(self):
        return "*"


def treespec_pprint(treespec):
    return repr(tree_unflatten([_DummyLeaf() for _ in range(treespec.num_leaves)], treespec))


def pytree_to_str(treespec):
    warnings.warn("`pytree_to_str` is deprecated. Please use `treespec_dumps` instead.", FutureWarning, stacklevel=2)
    return treespec_dumps(treespec)


def str_to_pytree(json):
    warnings.warn("`str_to_pytree` is deprecated. Please use `treespec_loads` instead.", FutureWarning, stacklevel=2)
    return treespec_loads(json)


def arg_tree_leaves(*args, **kwargs):
    leaves = []
    for a in args:
        leaves.extend(tree_iter(a))
    for a in kwargs.values():
        leaves.extend(tree_iter(a))
    return leaves


def tree_flatten_with_path(tree, is_leaf=None):
    """The leaves, each with the tuple of keys that leads to it, and the spec."""
    _, treespec = tree_flatten(tree, is_leaf)
    return list(_generate_key_paths((), tree, is_leaf)), treespec


def tree_leaves_with_path(tree, is_leaf=None):
    return list(_generate_key_paths((), tree, is_leaf))


def _generate_key_paths(key_path, tree, is_leaf=None):
    if is_leaf and is_leaf(tree):
        yield key_path, tree
        return
    node_type = _get_node_type(tree)
    handler = SUPPORTED_NODES.get(node_type)
    if not handler:
        yield key_path, tree
        return
    if not handler.flatten_with_keys_fn:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node_type}. Please pass a flatten_with_keys_fn argument to register_pytree_node.")
    for k, child in handler.flatten_with_keys_fn(tree)[0]:
        yield from _generate_key_paths((*key_path, k), child, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    keypath_leaves, treespec = tree_flatten_with_path(tree, is_leaf)
    columns = list(zip(*keypath_leaves)) + [treespec.flatten_up_to(r) for r in rests]
    return treespec.unflatten([func(*xs) for xs in zip(*columns)])


def keystr(kp):
    """The text of a path of keys, as Python would write it."""
    return "".join(str(k) for k in kp)


def key_get(obj, kp):
    for k in kp:
        obj = k.get(obj)
    return obj
