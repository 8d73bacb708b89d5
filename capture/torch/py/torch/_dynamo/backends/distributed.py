"""Splitting a graph where DistributedDataParallel begins to send gradients."""
from torch._C import _dynamo as _native


class DDPOptimizer:
    """A backend that hands each bucket's part of a graph to another backend, so that gradients of one bucket are ready, and
    can be sent, while those of the next are computed."""

    def __init__(self, bucket_bytes_cap, backend_compile_fn, first_bucket_cap=None):
        self.bucket_bytes_cap = bucket_bytes_cap
        self.first_bucket_cap = bucket_bytes_cap if first_bucket_cap is None else first_bucket_cap
        assert self.first_bucket_cap <= self.bucket_bytes_cap, "First bucket should be smaller/equal to other buckets to get comms warmed up ASAP"
        self.backend_compile_fn = backend_compile_fn

    def compile_fn(self, gm, example_inputs):
        parts, results, inputs = _native.ddp_split(gm, self.bucket_bytes_cap, self.first_bucket_cap)
        if len(parts) == 1:
            return self.backend_compile_fn(gm, example_inputs)
        steps = [(self.backend_compile_fn(piece, examples), reads, gives) for piece, reads, gives, examples in parts]

        def run(*args):
            values = dict(zip(inputs, args))
            for step, reads, gives in steps:
                values.update(zip(gives, step(*[values[r] for r in reads])))
            return tuple(values[r] for r in results)

        return run
