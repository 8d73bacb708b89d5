"""Control flow as operators."""
from torch._absent import declare
from torch._higher_order_ops.cond import cond, cond_op, UnsupportedAliasMutationException
from torch._higher_order_ops.map import map, map_impl

declare("_stack_pytree", "_unstack_pytree")
