"""A function beside what the compiler makes of it, forwards and backwards."""
import re

import torch
from torch.testing._utils import wrapper_set_seed
from torch.utils import _pytree as pytree


class assert_raises_regex:
    def __init__(self, exception_cls, regex):
        self.exception_cls, self.regex = exception_cls, regex

    def __enter__(self):
        pass

    def __exit__(self, exc_type, exc_val, traceback):
        if exc_type is self.exception_cls:
            msg = str(exc_val)
            if not re.search(self.regex, msg):
                raise AssertionError(f"Expected exception to match regex. regex: {self.regex}, exception: {msg}")
            return True
        if exc_type is not None:
            raise AssertionError(f"Expected {self.exception_cls} to be raised, instead got exception {exc_type}")
        raise AssertionError("Expected exception to be raised but none was")


def aot_autograd_check(func, args, kwargs, dynamic, assert_raises_regex_fn=assert_raises_regex, assert_equals_fn=torch.testing.assert_close, check_gradients=True,
                       try_check_data_specialization=False, skip_correctness_check=False):
    """Fails unless func and its graphs have the same results and, unless check_gradients is False, gradients."""
    from functorch.compile import compiled_function, nop

    flat_args, args_spec = pytree.tree_flatten((args, kwargs))
    tensors = [a for a in flat_args if isinstance(a, torch.Tensor)]

    def func_no_tensors(given):
        given = iter(given)
        new_args, new_kwargs = pytree.tree_unflatten([next(given) if isinstance(a, torch.Tensor) else a for a in flat_args], args_spec)
        return func(*new_args, **new_kwargs)

    compiled_f = compiled_function(func_no_tensors, nop, nop, dynamic=dynamic, partition_fn=None, keep_inference_input_mutations=True)
    out = wrapper_set_seed(func_no_tensors, tensors)
    if check_gradients == "auto":
        check_gradients = any(a.requires_grad for a in tensors) and any(o.requires_grad for o in pytree.tree_leaves(out) if isinstance(o, torch.Tensor))
    if not check_gradients:
        compiled_out = wrapper_set_seed(compiled_f, tensors)
        if not skip_correctness_check:
            assert_equals_fn(compiled_out, out, msg="\"aot_autograd_check failed\"")
        return
    _test_aot_autograd_forwards_backwards_helper(func_no_tensors, compiled_f, tensors, assert_raises_regex_fn, assert_equals_fn, try_check_data_specialization, skip_correctness_check)


def _test_aot_autograd_forwards_backwards_helper(f, compiled_f, args, assert_raises_regex_fn, assert_equals_fn, try_check_data_specialization, skip_correctness_check=False):
    def call_forwards_backwards(f, args):
        flat_args = pytree.arg_tree_leaves(*args)
        diff_args = [a for a in flat_args if isinstance(a, torch.Tensor) and a.requires_grad]
        out = wrapper_set_seed(f, args)
        flat_out = pytree.tree_leaves(out)
        summed = sum(o.abs().sum() if o.is_complex() else o.sum() for o in flat_out if isinstance(o, torch.Tensor) and o.requires_grad)
        return out, torch.autograd.grad(summed, diff_args, allow_unused=True)

    def check(args, ignore_failure=False):
        try:
            orig_out, orig_grad = call_forwards_backwards(f, args)
        except Exception:
            if ignore_failure:
                return
            raise
        # What has no gradient at all in one must have none in the other.
        if all(g is None for g in orig_grad):
            with assert_raises_regex_fn(RuntimeError, "does not require grad and does not have a grad_fn"):
                call_forwards_backwards(compiled_f, args)
            return
        compiled_out, compiled_grad = call_forwards_backwards(compiled_f, args)
        if not skip_correctness_check:
            assert_equals_fn(compiled_out, orig_out)
            assert_equals_fn(compiled_grad, orig_grad)

    check(args)
    # Other values show whether the graph was specialised to the first ones.
    if try_check_data_specialization:
        check(pytree.tree_map(lambda a: a.clone().detach().uniform_(0, 1).requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) and a.is_floating_point() else a, args), ignore_failure=True)
