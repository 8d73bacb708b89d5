"""The functions of torch.nn.functional: see torch._refs."""
from torch._refs.nn import functional
