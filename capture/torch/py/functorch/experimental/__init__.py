"""What is not yet settled."""
from torch.func import functionalize

from functorch import hessian, jacfwd, jvp, vmap
