"""Transformations of functions: their gradients, Jacobians and Hessians, products with these, and maps over a batch."""
from torch._functorch.apis import grad, grad_and_value, vmap
from torch._functorch.eager_transforms import functionalize, hessian, jacfwd, jacrev, jvp, linearize, vjp
from torch._functorch.functional_call import functional_call, stack_module_state

__all__ = ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize", "vmap", "linearize", "functional_call", "stack_module_state"]
