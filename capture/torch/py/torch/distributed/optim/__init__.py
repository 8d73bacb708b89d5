"""Optimizers of many processes."""
from torch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer
