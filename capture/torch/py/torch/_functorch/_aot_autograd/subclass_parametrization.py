"""Parameters that are subclasses."""
from torch._absent import declare

declare("UnwrapTensorSubclass", "unwrap_tensor_subclass_parameters")
