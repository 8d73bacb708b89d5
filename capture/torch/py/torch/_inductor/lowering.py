"""Lowerings, which are rows of native code."""
from torch._absent import declare

declare("fallback_handler", "make_fallback", "register_lowering")

lowerings = {}
