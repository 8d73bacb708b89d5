"""An optimizer whose state is spread over the processes of a group. In a group of one it has all of it."""
import copy

import torch
import torch.distributed as dist
from torch.optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


def _checked(params):
    if isinstance(params, torch.Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {torch.typename(params)}")
    try:
        listed = list(params)
    except TypeError as e:
        raise TypeError(f"`params` argument should be an iterable of Tensors or dicts, but got {torch.typename(params)}") from e
    if not listed:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    groups = all(isinstance(p, dict) for p in listed)
    if not groups and not all(isinstance(p, torch.Tensor) for p in listed):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    if groups:
        for g in listed:
            if "params" not in g:
                raise ValueError("Each parameter group passed-in via `params` must have a 'params' key mapping to the parameters in the group")
    every = [p for g in listed for p in ([g["params"]] if isinstance(g["params"], torch.Tensor) else g["params"])] if groups else listed
    for p in every[1:]:
        if p.type() != every[0].type():
            raise ValueError(f"ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got both {every[0].type()} and {p.type()}")
    return listed


class ZeroRedundancyOptimizer(Optimizer):
    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False, **defaults):
        params = _checked(params)
        self.process_group = process_group if process_group is not None else dist.group.WORLD
        self.world_size, self.rank = dist.get_world_size(process_group), dist.get_rank(process_group)
        if self.world_size != 1:
            raise NotImplementedError("ZeroRedundancyOptimizer in a group of more than one process")
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer with overlap_with_ddp")
        self.initialized = False
        super().__init__(params, defaults)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optim_defaults, self._optim_constructor, self._all_state_dicts = defaults, optimizer_class, []
        self._own()
        self.initialized = True

    def _own(self):
        """The optimizer of this process, of all parameters; the two have their settings in common."""
        self.optim = self._optim_constructor([{k: v for k, v in g.items()} for g in self.param_groups], **self._optim_defaults)
        self._sync(self.optim.param_groups, self.param_groups)

    @staticmethod
    def _sync(source, target):
        for a, b in zip(source, target):
            b.update({k: v for k, v in a.items() if k != "params"})

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        if self.initialized:
            self.optim.add_param_group({k: v for k, v in self.param_groups[-1].items()})

    @torch.no_grad()
    def step(self, closure=None, **kwargs):
        self._sync(self.param_groups, self.optim.param_groups)  # a scheduler writes this one's
        loss = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        self._sync(self.optim.param_groups, self.param_groups)
        return loss

    def join_hook(self, **kwargs):
        raise NotImplementedError("ZeroRedundancyOptimizer.join_hook")

    def consolidate_state_dict(self, to=0):
        self._sync(self.param_groups, self.optim.param_groups)
        if to == self.rank:
            self._all_state_dicts = [copy.deepcopy(self.optim.state_dict())]

    def state_dict(self):
        if not self._all_state_dicts:
            raise RuntimeError(f"Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to={self.rank})` on all ranks beforehand "
                               "if you meant to save the global state.")
        self._sync(self.param_groups, self._all_state_dicts[0]["param_groups"])
        return copy.deepcopy(self._all_state_dicts[0])

    def load_state_dict(self, state_dict):
        self.optim.load_state_dict(state_dict)
        self._sync(self.optim.param_groups, self.param_groups)
