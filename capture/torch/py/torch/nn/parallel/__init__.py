"""Modules that run on several devices or processes: here on one."""
from torch.nn.parallel.data_parallel import DataParallel, data_parallel
from torch.nn.parallel.distributed import DistributedDataParallel
from torch.nn.parallel.parallel_apply import parallel_apply
from torch.nn.parallel.scatter_gather import gather, scatter

__all__ = ["DataParallel", "data_parallel", "DistributedDataParallel", "parallel_apply", "scatter", "gather"]
