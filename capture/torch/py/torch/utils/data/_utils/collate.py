"""Batches of samples: what lies alike in all of them is put into one tensor."""
import collections
import copy
import re

import torch

_TEXT = re.compile(r"[SaUO]")
_ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_numpy(obj):
    return type(obj).__module__ == "numpy" and type(obj).__name__ not in ("str_", "string_", "bytes_")


def default_convert(data):
    """Arrays become tensors, in containers of all kinds; nothing is batched."""
    kind = type(data)
    if isinstance(data, torch.Tensor):
        return data
    if _is_numpy(data):
        if kind.__name__ == "ndarray" and _TEXT.search(data.dtype.str) is not None:
            return data
        return torch.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _remade(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _remade(data, [default_convert(d) for d in data])
    return data


def _remade(like, content):
    """content in a container of the class of another one; in a plain one if that class cannot be made from it."""
    try:
        if isinstance(content, dict):
            if isinstance(like, collections.abc.MutableMapping):
                made = copy.copy(like)
                made.update(content)
                return made
            return type(like)(content)
        if isinstance(like, collections.abc.MutableSequence):
            made = copy.copy(like)
            for i, x in enumerate(content):
                made[i] = x
            return made
        return type(like)(content)
    except TypeError:
        return content


def collate(batch, *, collate_fn_map=None):
    elem = batch[0]
    kind = type(elem)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known in collate_fn_map:
            if isinstance(elem, known):
                return collate_fn_map[known](batch, collate_fn_map=collate_fn_map)
    if isinstance(elem, collections.abc.Mapping):
        return _remade(elem, {key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in elem})
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return kind(*(collate(samples, collate_fn_map=collate_fn_map) for samples in zip(*batch)))
    if isinstance(elem, collections.abc.Sequence):
        size = len(elem)
        if not all(len(e) == size for e in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(samples, collate_fn_map=collate_fn_map) for samples in zip(*batch)]
        return columns if isinstance(elem, tuple) else _remade(elem, columns)
    raise TypeError(_ERROR.format(kind))


def collate_tensor_fn(batch, *, collate_fn_map=None):
    return torch.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    if _TEXT.search(batch[0].dtype.str) is not None:
        raise TypeError(_ERROR.format(batch[0].dtype))
    return collate([torch.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    return torch.as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    return torch.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map = {torch.Tensor: collate_tensor_fn, float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn}


def default_collate(batch):
    elem = batch[0] if len(batch) else None
    if elem is not None and _is_numpy(elem):
        if type(elem).__name__ == "ndarray":
            return collate_numpy_array_fn(batch, collate_fn_map=_with_numpy())
        return collate_numpy_scalar_fn(batch)
    return collate(batch, collate_fn_map=_with_numpy())


def _with_numpy():
    """The table, with numpy's classes once a program has brought them."""
    import sys

    if "numpy" in sys.modules:
        import numpy as np

        if np.ndarray not in default_collate_fn_map:
            table = {np.ndarray: collate_numpy_array_fn, (np.bool_, np.number, np.object_): collate_numpy_scalar_fn}
            default_collate_fn_map.update(table)
            default_collate_fn_map.update({float: default_collate_fn_map.pop(float), int: default_collate_fn_map.pop(int)})
    return default_collate_fn_map
