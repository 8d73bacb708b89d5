"""Helpers of tests and of repro files."""
import torch


class CompileCounter:
    def __init__(self):
        self.frame_count = 0
        self.op_count = 0

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        for node in gm.graph.nodes:
            if "call" in node.op:
                self.op_count += 1
        return gm.forward

    def clear(self):
        self.frame_count = 0
        self.op_count = 0


class CompileCounterWithBackend:
    def __init__(self, backend):
        self.frame_count = 0
        self.op_count = 0
        self.backend = backend
        self.graphs = []

    def __call__(self, gm, example_inputs):
        from torch._dynamo.backends.registry import lookup_backend

        self.frame_count += 1
        for node in gm.graph.nodes:
            if "call" in node.op:
                self.op_count += 1
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)


def rand_strided(size, stride, dtype=torch.float32, device="cpu", extra_size=0):
    needed = sum((s - 1) * st for s, st in zip(size, stride)) + 1 + extra_size
    if dtype.is_floating_point:
        buffer = torch.randn(needed, dtype=torch.float32 if dtype.itemsize < 4 else dtype).to(dtype)
    else:
        buffer = torch.zeros(size=[needed], dtype=dtype)
    return torch.as_strided(buffer, size, stride)


def same(a, b, **kwargs):
    from torch._dynamo.utils import same as _same

    return _same(a, b, **kwargs)
