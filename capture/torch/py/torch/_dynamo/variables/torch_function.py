"""Values of a trace."""
from torch._absent import declare

declare("TensorWithTFOverrideVariable", "TorchFunctionModeStackStateManager", "TorchFunctionModeStackVariable", "TorchFunctionModeVariable")
