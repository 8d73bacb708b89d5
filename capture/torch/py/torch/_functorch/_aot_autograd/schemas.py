"""What describes a compilation, and an exported graph."""
from dataclasses import dataclass, field


@dataclass
class AOTConfig:
    """How a function is compiled."""

    fw_compiler: object
    bw_compiler: object
    partition_fn: object
    decompositions: dict
    num_params_buffers: int
    aot_id: int
    keep_inference_input_mutations: bool
    inference_compiler: object = None
    is_export: bool = False
    no_tangents: bool = False
    dynamic_shapes: bool = False


@dataclass
class BackwardSignature:
    """Which results of an exported joint graph are gradients, by name, and of what."""

    gradients_to_parameters: dict
    gradients_to_user_inputs: dict
    loss_output: str


@dataclass
class GraphSignature:
    """What the inputs and results of an exported graph are, by name. The results are new values of buffers, new values of inputs, what the
    program returns, and gradients."""

    parameters: list
    buffers: list
    user_inputs: list
    user_outputs: list
    inputs_to_parameters: dict
    inputs_to_buffers: dict
    buffers_to_mutate: dict
    user_inputs_to_mutate: dict
    in_spec: object
    out_spec: object
    backward_signature: object
    input_tokens: list = field(default_factory=list)
    output_tokens: list = field(default_factory=list)


class SerializableAOTDispatchCompiler:
    """A compiler whose results, of a class derived from OutputCode, a cache can keep."""

    def __init__(self, output_code_ty, compiler):
        self.output_code_ty = output_code_ty
        self.compiler = compiler

    def __call__(self, gm, example_inputs):
        return self.compiler(gm, example_inputs)
