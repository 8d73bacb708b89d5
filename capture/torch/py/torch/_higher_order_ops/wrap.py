from torch._ops import HigherOrderOperator, ops

tag_activation_checkpoint = ops.higher_order.tag_activation_checkpoint
wrap = ops.higher_order.wrap
wrap_activation_checkpoint = ops.higher_order.wrap_activation_checkpoint
