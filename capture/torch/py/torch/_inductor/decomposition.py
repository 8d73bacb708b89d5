"""Decompositions that inductor uses."""
from torch._absent import declare

declare("register_decomposition", "select_decomp_table")

decompositions = {}
