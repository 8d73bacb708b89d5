"""What operators with bodies share."""
import torch
from torch._absent import declare

declare("reenter_make_fx", "_maybe_run_with_interpreter", "autograd_not_implemented", "save_tensors_and_symints_for_backward", "saved_tensors_and_symints", "prepare_fw_with_masks",
        "create_fw_bw_graph", "unmask_none_gradients", "_stack_pytree", "_unstack_pytree", "clone_outputs_aliasing_inputs", "unique_graph_id", "_has_potential_branch_input_alias",
        "_has_potential_branch_input_mutation", "check_meta_consistency", "potential_input_alias_or_mutation", "diff_tensor_meta")


class UnsupportedAliasMutationException(RuntimeError):
    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def validate_subgraph_args_types(lifted_args):
    allowed = (torch.Tensor, int, torch.SymInt)
    assert all(isinstance(arg, (torch.Tensor, int, torch.SymInt)) for arg in lifted_args), f"{lifted_args} can only be of {allowed} but got {tuple(type(arg) for arg in lifted_args)}"


def first_slice_copy(t, dim=0):
    return torch.select_copy(t, dim, 0)


METADATA = {
    "shape": lambda t: t.shape,
    "dtype": lambda t: t.dtype,
    "device": lambda t: t.device,
    "stride": lambda t: t.stride(),
    "requires_grad": lambda t: t.requires_grad,
}


def difference(a, b, facts):
    """The first of the named facts in which two tensors differ, or None."""
    for fact in facts:
        if METADATA[fact](a) != METADATA[fact](b):
            return fact
    return None
