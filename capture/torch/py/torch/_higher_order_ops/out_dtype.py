"""Operators with a dtype of the result."""
from torch._absent import declare

declare("out_dtype")
