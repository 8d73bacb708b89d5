"""Collectives with gradients; with one process they are the identity."""
from torch.distributed.nn import functional
from torch.distributed.nn.functional import *
