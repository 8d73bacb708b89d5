"""Analyses of bytecode."""
from torch._absent import declare

declare("FixedPointBox", "ReadsWrites", "StackSize", "livevars_analysis", "propagate_line_nums", "remove_dead_code", "remove_extra_line_nums",
        "remove_pointless_jumps", "stacksize_analysis")
