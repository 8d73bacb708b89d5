"""Nested tensors."""
from torch._absent import declare

declare("as_nested_tensor", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor", "narrow", "masked_select")
