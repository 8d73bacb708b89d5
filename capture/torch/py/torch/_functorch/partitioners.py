"""Cuts of joint graphs."""
from torch._absent import declare

declare("default_partition", "min_cut_rematerialization_partition", "draw_graph", "get_default_op_list")
