"""Decompositions of operators, which are made in native code."""
from torch._absent import declare

declare("core_aten_decompositions", "get_decompositions", "register_decomposition", "remove_decompositions")

decomposition_table = {}
