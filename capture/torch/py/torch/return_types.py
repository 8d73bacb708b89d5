"""The classes of results that have names: torch.return_types.max is what torch.max(x, dim) gives."""
import torch
from torch._C import _return_type, _return_type_names
from torch.utils._pytree import SequenceKey, register_pytree_node

__all__ = ["pytree_register_structseq", "all_return_types"]
all_return_types = []


def pytree_register_structseq(cls):
    """Makes a class of results one that trees are made of."""
    register_pytree_node(cls, lambda result: (list(result), None), lambda items, _: cls(items),
                         flatten_with_keys_fn=lambda result: ([(SequenceKey(at), item) for at, item in enumerate(result)], None))


for _name in _return_type_names():
    _cls = _return_type(_name)
    globals()[_name] = _cls
    __all__.append(_name)
    all_return_types.append(_cls)
    pytree_register_structseq(_cls)
