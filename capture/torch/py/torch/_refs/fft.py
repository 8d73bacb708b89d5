"""Functions of torch.fft: see torch._refs."""
from torch.fft import *
