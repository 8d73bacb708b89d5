"""Functions of torch.special: see torch._refs."""
from torch.special import *
