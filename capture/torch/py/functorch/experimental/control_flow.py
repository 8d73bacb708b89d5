"""Control flow as operators."""
from torch._absent import declare
from torch._higher_order_ops.cond import cond

declare("map", "associative_scan", "scan", "while_loop")
