"""Backends that count and keep what they are given, and other helpers of tests and of repro files."""
import contextlib
import dis
import functools
import logging
import os.path
import random
import re
import sys
import types
import unittest
from unittest.mock import patch

import torch
from torch import fx
from torch._dynamo import config, eval_frame, optimize_assert, reset
from torch._dynamo.utils import same

np = None
with contextlib.suppress(ModuleNotFoundError):
    import numpy as np

unsupported = eval_frame.unsupported
three = 3

log = logging.getLogger(__name__)


def clone_me(x):
    if x is None:
        return None
    return x.detach().clone().requires_grad_(x.requires_grad)


def remove_optimized_module_prefix(name):
    return re.sub(r"^_orig_mod[.]", "", name)


def extract_graph_and_tracker(fn, *args, **kwargs):
    raise NotImplementedError("the tracker of regions is not there")


def collect_results(model, prediction, loss, example_inputs):
    """What a training step leaves: prediction, loss, gradients of parameters and inputs, buffers."""
    results = [prediction]
    if isinstance(loss, torch.Tensor) and loss.item() > 1:
        log.warning("High loss value alert - %.2f. Can result in unstable gradients.", loss.item())
    grads, params = {}, {}
    for name, param in model.named_parameters():
        if isinstance(model, eval_frame.OptimizedModule):
            name = remove_optimized_module_prefix(name)
        grads[name + ".grad"] = clone_me(param.grad)
        params[name] = clone_me(param)
    results += [grads, params]
    results.append({(remove_optimized_module_prefix(n) if isinstance(model, eval_frame.OptimizedModule) else n): b for n, b in model.named_buffers()})
    for example in example_inputs:
        if isinstance(example, (tuple, list)):
            results += [i.grad for i in example if isinstance(i, torch.Tensor)]
        elif isinstance(example, torch.Tensor):
            results.append(example.grad)
    results.append(loss)
    return results


def requires_bwd_pass(out):
    if isinstance(out, torch.Tensor):
        return out.requires_grad
    if isinstance(out, (list, tuple)):
        return any(requires_bwd_pass(x) for x in out)
    if out is None or isinstance(out, int):
        return False
    raise NotImplementedError("Don't know how to reduce", type(out))


def reduce_to_scalar_loss(out):
    """One number of any output, so that it has a backward pass; it is divided by the number of elements, so as not to be large."""
    if isinstance(out, torch.Tensor):
        return out.sum() / out.numel()
    if isinstance(out, (list, tuple)):
        return sum(reduce_to_scalar_loss(x) for x in out) / len(out)
    if type(out).__name__ in ("MaskedLMOutput", "Seq2SeqLMOutput", "CausalLMOutputWithCrossAttentions"):
        return reduce_to_scalar_loss(out.logits)
    if type(out).__name__ == "SquashedNormal":
        return out.mean.sum()
    if isinstance(out, dict):
        return sum(reduce_to_scalar_loss(v) for v in out.values()) / len(out)
    raise NotImplementedError("Don't know how to reduce", type(out))


def debug_dir():
    path = os.path.join(os.path.dirname(__file__), "../debug")
    if not os.path.exists(path):
        os.mkdir(path)
    return path


def debug_dump(name, code, extra=""):
    with open(os.path.join(debug_dir(), name), "w") as fd:
        fd.write(f"{dis.Bytecode(code).info()}\n\n{dis.Bytecode(code).dis()}\n\n{extra}\n")


def debug_insert_nops(frame, cache_size, hooks, _, *, skip=0):
    """Rewrites a frame into itself, with a NOP in front of each instruction: a compile_fn for _optimize_catch_errors."""
    from torch._dynamo.bytecode_transformation import create_instruction, debug_checks, is_generator, transform_code_object
    from torch._dynamo.types import GuardedCode

    def insert_nops(instructions, code_options):
        for at in range(len(instructions) - 1, skip, -1):
            nop = create_instruction("NOP")
            nop.positions, nop.exn_tab_entry = instructions[at].positions, instructions[at].exn_tab_entry
            instructions.insert(at, nop)

    if is_generator(frame.f_code):
        return None
    debug_checks(frame.f_code)
    return GuardedCode(transform_code_object(frame.f_code, insert_nops), None, None)


def _calls(gm):
    return sum("call" in node.op for node in gm.graph.nodes)


class CompileCounter:
    """Runs graphs as they are, and counts them and their calls."""

    def __init__(self):
        self.clear()

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += _calls(gm)
        return gm.forward

    def clear(self):
        self.frame_count: int = 0
        self.op_count: int = 0


class CompileCounterWithBackend:
    """CompileCounter in front of another backend; keeps the graphs."""

    def __init__(self, backend):
        self.backend = backend
        self.clear()

    def __call__(self, gm, example_inputs):
        from torch._dynamo.backends.registry import lookup_backend

        self.frame_count += 1
        self.op_count += _calls(gm)
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self):
        self.frame_count, self.op_count, self.graphs = 0, 0, []


class EagerAndRecordGraphs:
    """Runs graphs as they are, and keeps them."""

    def __init__(self):
        self.graphs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        return gm.forward


class AotEagerAndRecordGraphs:
    """Runs graphs of aten operators as they are; keeps them, and the captured ones."""

    def __init__(self):
        self.graphs, self.fw_graphs, self.bw_graphs = [], [], []

    def __call__(self, gm, example_inputs):
        from torch._dynamo.backends.common import aot_autograd

        self.graphs.append(gm)

        def fw_compiler(gm, example_inputs):
            self.fw_graphs.append(gm)
            return gm.forward

        def bw_compiler(gm, example_inputs):
            self.bw_graphs.append(gm)
            return gm.forward

        return aot_autograd(fw_compiler=fw_compiler, bw_compiler=bw_compiler)(gm, example_inputs)


def strip_comment(code):
    return re.sub(r"(?m)^ *#.*\n?", "", str(code))


def remove_trailing_space(code):
    return "\n".join(line.rstrip() for line in code.split("\n"))


def empty_line_normalizer(code):
    """Several line ends in a row become one."""
    return re.sub(r"[\r\n]+", "\n", code)


def normalize_gm(gm_str):
    """The text of a graph without comments and without spaces at the ends of lines."""
    return remove_trailing_space(strip_comment(gm_str))


def standard_test(self, fn, nargs, expected_ops=None, expected_ops_dynamic=None, expected_frame_count=1):
    """Fails unless fn is captured as so many graphs and calls and gives what it gives without capture."""
    if not config.assume_static_by_default and expected_ops_dynamic is not None:
        expected_ops = expected_ops_dynamic
    actual = CompileCounter()
    args1 = [torch.randn(10, 10) for _ in range(nargs)]
    args2 = [torch.randn(10, 10) for _ in range(nargs)]
    correct1, correct2 = fn(*args1), fn(*args2)
    reset()
    opt_fn = optimize_assert(actual)(fn)
    val1a, val2a, val1b, val2b = opt_fn(*args1), opt_fn(*args2), opt_fn(*args1), opt_fn(*args2)
    reset()
    for got, wanted in ((val1a, correct1), (val1b, correct1), (val2a, correct2), (val2b, correct2)):
        self.assertTrue(same(got, wanted))
    self.assertEqual(actual.frame_count, expected_frame_count)
    if expected_ops is not None:
        self.assertEqual(actual.op_count, expected_ops)


def dummy_fx_compile(gm, example_inputs):
    return gm.forward


def format_speedup(speedup, pvalue, is_correct=True, pvalue_threshold=0.1):
    if not is_correct:
        return "ERROR"
    if pvalue > pvalue_threshold:
        return f"{speedup:.3f}x SAME"
    return f"{speedup:.3f}x p={pvalue:.2f}"


def rand_strided(size, stride, dtype=torch.float32, device="cpu", extra_size=0):
    needed = sum((s - 1) * st for s, st in zip(size, stride)) + 1 + extra_size
    if dtype.is_floating_point:
        if dtype.itemsize == 1:
            buffer = torch.randn(needed, dtype=torch.float16, device=device).to(dtype=dtype)
        else:
            buffer = torch.randn(needed, dtype=dtype, device=device)
    else:
        buffer = torch.zeros(size=[needed], dtype=dtype, device=device)
    return torch.as_strided(buffer, size, stride)


def check_dynamic_shape_capture():
    # This also mirrors the dynamic settings of tests of dynamic shapes.
    return not config.assume_static_by_default


def _make_fn_with_patches(fn, *patches):
    @functools.wraps(fn)
    def patched(*args, **kwargs):
        with contextlib.ExitStack() as stack:
            for module, attr, val in patches:
                stack.enter_context(patch.object(module, attr, val))
            return fn(*args, **kwargs)

    return patched


def make_test_cls_with_patches(cls, cls_prefix, fn_suffix, *patches, xfail_prop=None, decorator=lambda x: x):
    """A copy of a test class each of whose tests runs with these settings: (module, attribute, value)."""
    DummyTestClass = type(f"{cls_prefix}{cls.__name__}", cls.__bases__, {})
    DummyTestClass.__qualname__ = DummyTestClass.__name__
    for name in dir(cls):
        if name.startswith("test_"):
            fn = getattr(cls, name)
            if not callable(fn):
                setattr(DummyTestClass, name, getattr(cls, name))
                continue
            new_name = f"{name}{fn_suffix}"
            new_fn = _make_fn_with_patches(fn, *patches)
            new_fn.__name__ = new_name
            if xfail_prop is not None and hasattr(fn, xfail_prop):
                new_fn = unittest.expectedFailure(new_fn)
            setattr(DummyTestClass, new_name, decorator(new_fn))
        elif not hasattr(DummyTestClass, name):
            setattr(DummyTestClass, name, getattr(cls, name))
    return DummyTestClass


def skipIfNotPy311(fn):
    return fn if sys.version_info >= (3, 11) else unittest.skip(fn)


def skipIfNotPy312(fn):
    return fn if sys.version_info >= (3, 12) else unittest.skip("Requires Python 3.12+")(fn)


def xfailIfPy312(fn):
    return unittest.expectedFailure(fn) if sys.version_info >= (3, 12) else fn


def skipIfPy312(fn):
    return unittest.skip("Not supported in Python 3.12+")(fn) if sys.version_info >= (3, 12) else fn


def requiresPy310(fn):
    return fn if sys.version_info >= (3, 10) else unittest.skip("Requires Python 3.10+")(fn)


def expectedFailureDynamic(fn):
    fn._expected_failure_dynamic = True
    return fn


def expectedFailureCodegenDynamic(fn):
    fn._expected_failure_codegen_dynamic = True
    return fn


def expectedFailureDynamicWrapper(fn):
    fn._expected_failure_dynamic_wrapper = True
    return fn


def reset_rng_state(use_xla=False):
    torch.manual_seed(1337)
    random.seed(1337)
    if np:
        np.random.seed(1337)


def _skipped_function_for_test_reconstruct(f, *args, **kwargs):
    return f(*args, **kwargs)
