"""The jobs that keep and read values: "explore", "elements", "export"."""
import base64
import hashlib
import os

from .graphs import clones
from .load import arguments, run_text, settle
from .outcome import describe
from .values import contents, derive, dtype, held, view, writable


class Holder:
    """Keeps values as storages by content, and describes them."""

    def __init__(self, server, budget):
        self.server, self.budget, self.values, self.seen = server, budget, {}, {}

    def hold(self, name, value):
        self.values[name] = self.describe(value)

    def describe(self, v):
        import torch
        if isinstance(v, (list, tuple)):
            return {"kind": "list", "items": [self.describe(x) for x in v]}
        if isinstance(v, bool) or v is None:
            return {"kind": "bool" if v is not None else "none", "value": v}
        if isinstance(v, (int, torch.SymInt)):
            return {"kind": "int", "value": int(v)}
        if isinstance(v, (float, torch.SymFloat)):
            return {"kind": "float", "value": repr(float(v))}
        if not isinstance(v, torch.Tensor) or v.layout != torch.strided or v.device.type == "meta":
            return {"kind": "other", "type": type(v).__name__}
        with torch.no_grad():
            return self.tensor(v.detach())

    def tensor(self, v):
        import torch
        about = {"kind": "tensor", "dtype": str(v.dtype)[6:], "shape": list(v.shape), "stride": list(v.stride()), "offset": 0}
        if v._is_zerotensor():
            return {**about, "zero": True}
        size = 1 + sum((n - 1) * s for n, s in zip(v.shape, v.stride())) if v.numel() else 0
        nbytes = size * v.element_size()
        if nbytes > self.budget:
            return {**about, "storage": ""}
        copy = view(torch.zeros(nbytes, dtype=torch.uint8).untyped_storage(), {**about, "dtype": about["dtype"]})
        v = v.resolve_conj().resolve_neg()
        writable(copy).copy_(writable(v, copy))
        about["storage"] = self.keep(copy.untyped_storage())
        about["nbytes"] = nbytes
        return about

    def inputs(self, names, args):
        """Inputs keep their storages whole, so that those which share memory still do."""
        import torch
        for name, a in zip(names, args):
            if not isinstance(a, torch.Tensor) or a.layout != torch.strided or a._is_zerotensor() or a.device.type == "meta":
                self.hold(name, a)
                continue
            s = a.untyped_storage()
            key = s.data_ptr() if s.nbytes() else -1 - len(self.seen)
            if key not in self.seen:
                self.seen[key] = (self.keep(s) if s.nbytes() <= self.budget else "", len(self.seen))
            hash, group = self.seen[key]
            self.values[name] = {"kind": "tensor", "dtype": str(a.dtype)[6:], "shape": list(a.shape), "stride": list(a.stride()), "offset": a.storage_offset(),
                                 "storage": hash, "nbytes": s.nbytes(), "group": group, "requires_grad": a.requires_grad}

    def keep(self, storage):
        data = contents(storage)
        hash = hashlib.sha1(data).hexdigest()
        path = self.server.path(hash)
        if self.server.missing([hash]):
            part = "%s.%d" % (path, os.getpid())
            with open(part, "wb") as f:
                f.write(data)
            os.rename(part, path)
            self.budget -= len(data)
        return hash


def explore(server):
    def work(job, mark):
        import torch
        settle(job)
        holder = Holder(server, server.most_held // 2)
        error = ""
        try:
            ns = run_text({**job, "hold": True})
            ns["__hold__"] = holder.hold
            args = arguments(server, ns, job)
            mark("loaded")
            names = job["inputs"]
            holder.inputs(names, args)
            first = dict(holder.values)
            if job.get("only_inputs"):
                return {"values": holder.values, "error": ""}
            torch.manual_seed(0)
            with torch.no_grad():
                ns["mod"](*clones(args) if job["stage"] == "aot" else args)
            holder.values.update(first)
        except Exception as e:
            error = describe(e)
        return {"values": holder.values, "error": error}
    return work


def elements(server):
    def work(job, mark):
        t = view(held(server, job["of"]["storage"]), job["of"])
        if t.dtype.is_complex:
            t = t.to(dtype("complex128"))
        elif t.dtype.is_floating_point:
            t = t.double()
        return {"elements": [repr(x) for x in t.reshape(-1).tolist()]}
    return work


def export(server):
    """The bytes of a storage, held or derived."""
    def work(job, mark):
        storage = derive(server, job["as"]).untyped_storage() if job.get("as") else held(server, job["storage"])
        return {"data": base64.b64encode(contents(storage)).decode()}
    return work
