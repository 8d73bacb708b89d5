"""Weak references and dictionaries that compare what they refer to by identity, as tensors need it."""
import weakref
from collections.abc import MutableMapping
from weakref import ref

import torch

__all__ = ["TensorWeakRef", "WeakIdRef", "WeakIdKeyDictionary", "WeakTensorKeyDictionary"]

WeakRef = ref


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to others of the same object, and has the hash of its identity."""

    __slots__ = ["_id"]

    def __init__(self, key, callback=None):
        self._id = id(key)
        super().__init__(key, callback)

    def __call__(self):
        return super().__call__()

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        a, b = self(), other()
        return a is b if a is not None and b is not None else self is other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary whose keys are compared by identity, and go when nobody else has them."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.data = {}
        self.ref_type = ref_type
        mine = weakref.ref(self)

        def gone(k):
            d = mine()
            if d is not None:
                d.data.pop(k, None)

        self._gone = gone
        if dict is not None:
            self.update(dict)

    def _of(self, key):
        return self.ref_type(key)

    def __delitem__(self, key):
        del self.data[self._of(key)]

    def __getitem__(self, key):
        return self.data[self._of(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._gone)] = value

    def __len__(self):
        return sum(k() is not None for k in list(self.data))

    def __iter__(self):
        return self.keys()

    def __contains__(self, key):
        try:
            r = self._of(key)
        except TypeError:
            return False
        return r in self.data

    def __repr__(self):
        return f"<{self.__class__.__name__} at {id(self):#x}>"

    def keys(self):
        for r in list(self.data):
            k = r()
            if k is not None:
                yield k

    def values(self):
        for r, v in list(self.data.items()):
            if r() is not None:
                yield v

    def items(self):
        for r, v in list(self.data.items()):
            k = r()
            if k is not None:
                yield k, v

    def keyrefs(self):
        return list(self.data)

    def get(self, key, default=None):
        return self.data.get(self._of(key), default)

    def pop(self, key, *args):
        return self.data.pop(self._of(key), *args)

    def popitem(self):
        while True:
            r, v = self.data.popitem()
            k = r()
            if k is not None:
                return k, v

    def setdefault(self, key, default=None):
        return self.data.setdefault(self.ref_type(key, self._gone), default)

    def copy(self):
        new = WeakIdKeyDictionary(ref_type=self.ref_type)
        for k, v in self.items():
            new[k] = v
        return new

    __copy__ = copy

    def __deepcopy__(self, memo):
        from copy import deepcopy

        new = self.__class__()
        for k, v in self.items():
            new[k] = deepcopy(v, memo)
        return new

    def update(self, dict=None, **kwargs):
        if dict is not None:
            for k, v in (dict.items() if hasattr(dict, "items") else dict):
                self[k] = v
        if kwargs:
            for k, v in kwargs.items():
                self[k] = v

    def __eq__(self, other):
        if not isinstance(other, MutableMapping) and not hasattr(other, "items"):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    def __ior__(self, other):
        self.update(other)
        return self

    def __or__(self, other):
        if not hasattr(other, "items"):
            return NotImplemented
        new = self.copy()
        new.update(other)
        return new

    def __ror__(self, other):
        if not hasattr(other, "items"):
            return NotImplemented
        new = self.__class__()
        new.update(other)
        new.update(self)
        return new


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference of a tensor."""

    ref: WeakRef

    def __init__(self, tensor):
        if not isinstance(tensor, torch.Tensor):
            raise AssertionError
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
