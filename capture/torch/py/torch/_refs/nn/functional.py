"""The functions of torch.nn.functional: see torch._refs."""
from torch.nn.functional import *
from torch.nn.functional import dropout, gelu, hardtanh, leaky_relu, relu, softmax
