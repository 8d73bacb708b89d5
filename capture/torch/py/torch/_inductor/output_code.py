"""What Inductor makes of graphs."""
import dataclasses

from torch._absent import declare

declare("CompiledFxGraph")


@dataclasses.dataclass
class OutputCode:
    """A compiled graph that a cache can keep: called with a list of its inputs."""

    _boxed_call = True
    _fx_graph_cache_key = None
    _time_taken_ns = None

    def __call__(self, inputs):
        raise NotImplementedError(type(self))

    def post_compile(self, example_inputs, cudagraphs, constants):
        raise NotImplementedError(type(self))

    def set_triton_bundle(self, triton_bundle):
        raise NotImplementedError(type(self))


@dataclasses.dataclass
class MockFXGraphCacheOutput(OutputCode):
    """A graph as it is, in the place of a compiled one."""

    gm: object = None

    def __post_init__(self):
        self._boxed_call = True

    def __call__(self, inputs):
        return self.gm(inputs)

    def post_compile(self, example_inputs, cudagraphs, constants):
        pass

    def set_triton_bundle(self, triton_bundle):
        pass
