"""Names of compiled graphs."""
import base64
import hashlib

import torch
from torch._absent import declare

declare("CacheBase", "CppCodeCache", "PyCodeCache")


def sha256_hash(data):
    """The hash of bytes, short, in letters that file names can have."""
    return base64.b32encode(hashlib.sha256(data).digest())[:51].decode("utf-8").lower()


def code_hash(code, extra=""):
    return "c" + sha256_hash(code.encode() + (b"||" + extra.encode() if extra else b""))


def _facts(x):
    """What a graph depends on of one of its inputs."""
    if isinstance(x, torch.Tensor):
        return f"{x.dtype} {tuple(x.shape)} {x.stride()} {x.storage_offset()} {x.device} requires_grad={x.requires_grad}"
    return repr(x)


def compiled_fx_graph_hash(gm, example_inputs, fx_kwargs, inputs_to_check):
    """A name for a graph with these inputs and settings, and the lines that it is the hash of."""
    lines = [gm.code, *map(_facts, example_inputs), repr(sorted(fx_kwargs.items())), repr(list(inputs_to_check)), torch.__version__]
    for node in gm.graph.nodes:
        if node.op == "get_attr":
            value = gm
            for part in node.target.split("."):
                value = getattr(value, part)
            lines.append(f"{node.target} {_facts(value)} {value.tolist() if isinstance(value, torch.Tensor) else value!r}")
    return "f" + sha256_hash("\n".join(lines).encode()), lines


class FxGraphCache:
    """Compiled graphs by name. whittle's own compiler keeps its kernels in a folder instead; programs may put a cache of theirs here."""

    @staticmethod
    def load_with_key(key, debug_lines, example_inputs, local, remote_cache, is_backward, constants):
        return None, {"cache_event_time": None, "key": key, "components": debug_lines, "cache_state": "miss"}
