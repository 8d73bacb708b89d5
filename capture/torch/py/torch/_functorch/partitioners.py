"""Cuts of joint graphs into a forward and a backward one."""
from torch._absent import declare
from torch._C import _dynamo as _native

declare("draw_graph", "get_default_op_list")


def default_partition(joint_module, _joint_inputs, *, num_fwd_outputs):
    """Saves what the forward pass computes and the backward pass reads."""
    return _native.default_partition(joint_module, num_fwd_outputs)


def min_cut_rematerialization_partition(joint_module, _joint_inputs, compiler="inductor", *, num_fwd_outputs):
    """Saves as few bytes as can be, and computes cheap values again."""
    return _native.min_cut_partition(joint_module, num_fwd_outputs)
