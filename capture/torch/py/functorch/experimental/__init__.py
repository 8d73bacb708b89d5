"""What is not yet settled."""
from torch._functorch.apis import chunk_vmap
from torch.func import functionalize

from functorch import hessian, jacfwd, jvp, vmap
