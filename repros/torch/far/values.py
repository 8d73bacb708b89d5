"""Storages that are held by the hash of their bytes, and tensors over them."""
import ctypes
import os


def held(server, hash):
    import torch
    path = server.path(hash)
    size = os.path.getsize(path)
    return torch.UntypedStorage.from_file(path, False, size) if size else torch.UntypedStorage(0)


def view(storage, spec):
    import torch
    t = torch.tensor([], dtype=dtype(spec["dtype"]))
    return t.set_(storage, spec.get("offset", 0), spec["shape"], spec["stride"])


def dtype(name):
    import torch
    return getattr(torch, name)


def derive(server, spec):
    """A tensor whose elements are those of a held one at the same indices, in other sizes, strides or dtype."""
    import torch
    with torch.no_grad():
        base = view(held(server, spec["of"]["storage"]), spec["of"])
        part = base[tuple(slice(0, n) for n in spec["shape"])]
        whole = torch.empty(spec["nbytes"], dtype=torch.uint8).untyped_storage()
        out = view(whole, spec)
        writable(out).copy_(writable(part.to(out.dtype), out))
        return out


def writable(t, like=None):
    """t without what its strides repeat (or those of like): each element of memory once."""
    for dim, stride in enumerate((t if like is None else like).stride()):
        if stride == 0 and t.shape[dim] > 1:
            t = t.narrow(dim, 0, 1)
    return t


def contents(storage):
    if not storage.nbytes():
        return b""
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())
