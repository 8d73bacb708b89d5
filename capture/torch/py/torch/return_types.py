"""The classes of results that have names: torch.return_types.max is what torch.max(x, dim) gives."""
import inspect

import torch
from torch._C import _return_type, _return_type_names
from torch.utils._pytree import SequenceKey, register_pytree_node

__all__ = ["pytree_register_structseq", "all_return_types"]
all_return_types = []


def pytree_register_structseq(cls):
    """Makes a class of results one that trees are made of."""
    def structseq_flatten(structseq):
        return list(structseq), None

    def structseq_flatten_with_keys(structseq):
        values, context = structseq_flatten(structseq)
        return [(SequenceKey(i), v) for i, v in enumerate(values)], context

    def structseq_unflatten(values, context):
        return cls(values)

    register_pytree_node(cls, structseq_flatten, structseq_unflatten, flatten_with_keys_fn=structseq_flatten_with_keys)


for _name in _return_type_names():
    _cls = _return_type(_name)
    globals()[_name] = _cls
    __all__.append(_name)
    all_return_types.append(_cls)
    pytree_register_structseq(_cls)
