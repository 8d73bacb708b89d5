"""Transformations of functions: their gradients, Jacobians and Hessians, products with these, and maps over a batch."""
from torch._functorch.transforms import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

__all__ = ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize", "vmap", "linearize", "functional_call", "stack_module_state"]
