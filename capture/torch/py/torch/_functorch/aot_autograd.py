"""AOTAutograd for programs: functions and modules whose forward and backward graphs of aten operators other compilers compile."""
import functools
import itertools

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch._C import _dynamo as _native
from torch._functorch import config
from torch._functorch._aot_autograd.autograd_cache import AOTAutogradCache
from torch._functorch._aot_autograd.logging_utils import get_aot_compilation_context, get_aot_graph_name, get_graph_being_compiled, set_model_name, track_graph_compiling
from torch._functorch._aot_autograd.schemas import AOTConfig, BackwardSignature, GraphSignature, SerializableAOTDispatchCompiler
from torch._functorch._aot_autograd.utils import call_func_at_runtime_with_args, make_boxed_compiler, make_boxed_func
from torch._functorch.partitioners import default_partition
from torch._absent import declare

declare("setup_stacktrace_preservation_hooks")

AOT_COUNTER = itertools.count()


def _tracked(compiler, aot_config, kind):
    """compiler, seen at work by get_aot_compilation_context."""

    def compile(gm, example_inputs):
        with track_graph_compiling(aot_config, kind):
            return compiler(gm, example_inputs)

    return compile


def create_aot_dispatcher_function(flat_fn, flat_args, aot_config, captured=None):
    """Compiles a function that takes a list and gives one; what comes back takes its arguments one by one. The last of the arguments may be those
    of a captured graph, which knows of symbolic sizes.
    """
    compiled_fn, first = _native.aot_compile(
        flat_fn,
        flat_args,
        fw_compiler=_tracked(aot_config.fw_compiler, aot_config, "forward"),
        bw_compiler=_tracked(aot_config.bw_compiler, aot_config, "backward"),
        inference_compiler=_tracked(aot_config.inference_compiler, aot_config, "inference"),
        partition_fn=aot_config.partition_fn,
        decompositions=aot_config.decompositions,
        keep_inference_input_mutations=aot_config.keep_inference_input_mutations,
        captured=captured,
    )
    return _asserting(compiled_fn, flat_args, first, aot_config) if config.debug_assert else compiled_fn


def _asserting(compiled_fn, flat_args, first, aot_config):
    """compiled_fn, which checks what it was compiled for; first says which arguments have to be an earlier one."""
    plain = [isinstance(a, torch.Tensor) and not a.requires_grad for a in flat_args]

    def named(i):
        n = aot_config.num_params_buffers
        return f"parameter/buffer {i}" if i < n else f"input {i - n}"

    def require(holds, i, what):
        if not holds:
            raise AssertionError(f"At compilation time, graph {aot_config.aot_id} was compiled under the assumption that {named(i)} would {what}, "
                                 "but at runtime this was not the case.  This indicates a guard bug in AOTAutograd or Dynamo, please file a bug to PyTorch.")

    def checked(*args):
        for i, a in enumerate(args):
            if plain[i] and isinstance(a, torch.Tensor):
                require(not a.requires_grad, i, "not require grad")
            if first and first[i] != i:
                require(a is args[first[i]], i, f"be a duplicate of {named(first[i])}")
        return compiled_fn(*args)

    return checked


class _Flat:
    """fn as a function from a list to a list. It knows the structure of its results once it has run."""

    def __init__(self, fn, in_spec):
        self.fn, self.in_spec, self.out_spec = fn, in_spec, None

    def __call__(self, flat_args):
        args, kwargs = pytree.tree_unflatten(flat_args, self.in_spec)
        flat, self.out_spec = pytree.tree_flatten(self.fn(*args, **kwargs))
        for o in flat:
            if not (o is None or isinstance(o, (torch.Tensor, int, float, bool, complex, torch.SymInt, torch.SymFloat, torch.SymBool))):
                raise RuntimeError(f"Found {type(o)} in output, which is not a known type. If this type holds tensors, you need to register a pytree for it. "
                                   "See https://github.com/pytorch/functorch/issues/475 for a brief explanation why. If you don't need to register a pytree, "
                                   "please leave a comment explaining your use case and we'll make this more ergonomic to deal with")
        return flat


def _config(fw_compiler, bw_compiler, inference_compiler, partition_fn, decompositions, num_params_buffers, keep_inference_input_mutations, dynamic=False, is_export=False):
    return AOTConfig(
        fw_compiler=fw_compiler,
        bw_compiler=fw_compiler if bw_compiler is None else bw_compiler,
        inference_compiler=fw_compiler if inference_compiler is None else inference_compiler,
        partition_fn=partition_fn,
        decompositions=decompositions or {},
        num_params_buffers=num_params_buffers,
        aot_id=next(AOT_COUNTER),
        keep_inference_input_mutations=keep_inference_input_mutations,
        dynamic_shapes=dynamic,
        is_export=is_export,
    )


def _sizes(flat_args):
    """What a graph is made for: the kinds and sizes of its arguments."""
    return [(a.shape, a.dtype, a.requires_grad) if isinstance(a, torch.Tensor) else a for a in flat_args]


def aot_function(fn, fw_compiler, bw_compiler=None, partition_fn=default_partition, decompositions=None, num_params_buffers=0, keep_inference_input_mutations=False,
                 inference_compiler=None, *, dynamic=False, enable_log=True):
    """fn, traced at its first call into a forward and a backward graph, which fw_compiler and bw_compiler compile: each is called with a graph
    module and example inputs, and gives what runs in its place. partition_fn cuts the joint graph. Arguments and results may be nested.
    """
    aot_config = _config(fw_compiler, bw_compiler, inference_compiler, partition_fn, decompositions, num_params_buffers, keep_inference_input_mutations, dynamic)
    made = []

    @functools.wraps(fn)
    def returned_function(*args, **kwargs):
        flat_args, in_spec = pytree.tree_flatten((args, kwargs))
        now = _sizes(flat_args) if dynamic else None
        if not made or made[0] != now:
            flat_fn = _Flat(fn, in_spec)
            made[:] = now, create_aot_dispatcher_function(flat_fn, flat_args, aot_config), flat_fn
        return pytree.tree_unflatten(list(made[1](*flat_args)), made[2].out_spec)

    return returned_function


def _named_state(mod):
    return {**dict(mod.named_parameters(remove_duplicate=False)), **dict(mod.named_buffers(remove_duplicate=False))}


def aot_module(mod, *args, **kwargs):
    """A module that runs mod as aot_function(..., *args, **kwargs) would, with its parameters and buffers as inputs of the graphs."""
    torch._assert(isinstance(mod, nn.Module), "mod has to be an nn.Module")
    named_params = dict(mod.named_parameters(remove_duplicate=False))
    named_buffers = dict(mod.named_buffers(remove_duplicate=False))
    num_params_buffers = len(named_params) + len(named_buffers)

    def functional_call(named_params, named_buffers, *args, **kwargs):
        return torch.func.functional_call(mod, {**named_params, **named_buffers}, args, kwargs)

    compiled_f = aot_function(functional_call, *args, num_params_buffers=num_params_buffers, **kwargs)

    class AOTModule(nn.Module):
        def __init__(self):
            super().__init__()
            self.orig_module = mod

        def forward(self, *args, **kwargs):
            return compiled_f(named_params, named_buffers, *args, **kwargs)

    return AOTModule()


def create_functional_call(mod, params_spec, params_len, store_orig_mod=False):
    """mod as a function of its flat parameters and buffers, and of its arguments."""

    def functional_call(*args, **kwargs):
        state = pytree.tree_unflatten(list(args[:params_len]), params_spec)
        out = torch.func.functional_call(mod, state, args[params_len:], kwargs)
        if not isinstance(out, (tuple, list)):
            raise RuntimeError("Graph output must be a (). This is so that we can avoid pytree processing of the outputs. "
                               "Please change the module to have tuple outputs or use aot_module instead.")
        return out

    if store_orig_mod:
        functional_call._orig_mod = mod
    return functional_call


def aot_module_simplified(mod, args, fw_compiler, bw_compiler=None, partition_fn=default_partition, decompositions=None, keep_inference_input_mutations=False,
                          inference_compiler=None, cudagraphs=None):
    """mod, compiled for these arguments as aot_function does it, without nesting: what comes back takes the same arguments, and looks up no
    parameter again.
    """
    params_flat, params_spec = pytree.tree_flatten(_named_state(mod))
    given = set(map(id, params_flat))
    for a in (*params_flat, *args):
        if isinstance(a, torch.Tensor) and isinstance(a, torch._subclasses.FakeTensor) and id(a) in given:
            raise AssertionError("Unexpected fake parameter: give the module real ones")
    aot_config = _config(fw_compiler, bw_compiler, inference_compiler, partition_fn, decompositions, len(params_flat), keep_inference_input_mutations)
    call = create_functional_call(mod, params_spec, len(params_flat))
    flat_args = [*params_flat, *args]
    captured = mod if isinstance(mod, torch.fx.GraphModule) else None

    def dispatch_and_compile():
        return create_aot_dispatcher_function(lambda flat: list(call(*flat)), flat_args, aot_config, captured)

    if config.enable_autograd_cache and isinstance(mod, torch.fx.GraphModule) and isinstance(fw_compiler, SerializableAOTDispatchCompiler):
        compiled_fn = AOTAutogradCache.load(dispatch_and_compile, mod, flat_args, aot_config)
    else:
        compiled_fn = dispatch_and_compile()

    def forward(*runtime_args):
        return list(compiled_fn(*params_flat, *runtime_args))

    forward.zero_grad = mod.zero_grad
    forward.named_parameters = mod.named_parameters
    forward.named_buffers = mod.named_buffers
    return forward


def compiled_function(fn, fw_compiler=None, bw_compiler=None, *args, **kwargs):
    return aot_function(fn, fw_compiler, bw_compiler, *args, **kwargs)


def compiled_module(mod, *args, **kwargs):
    return aot_module(mod, *args, **kwargs)


def aot_export_joint_simple(func, args, *, trace_joint, num_params_buffers=0, decompositions=None):
    """The graph of func, which takes a flat tuple and gives one: of the forward pass, or, with trace_joint, of both passes, which takes a list of
    the inputs and one of the gradients of the results, and gives the results and the gradients of the inputs. What func does may be seen by its
    results alone.
    """
    with torch.enable_grad() if trace_joint else torch.no_grad():
        gm, facts, in_spec, out_spec = _export(func, args, {}, decompositions)
    if facts["mutated"]:
        raise RuntimeError(f"aot_export_joint_simple does not support input mutations. {facts}")
    if facts["aliased"]:
        raise RuntimeError(f"aot_export_joint_simple does not support outputs that alias inputs. {facts}")
    if in_spec.children_specs[0].num_children != in_spec.children_specs[0].num_leaves:
        raise RuntimeError(f"aot_export_joint_simple requires inputs to be a single list/tuple. in_spec={in_spec}")
    if out_spec.num_children != out_spec.num_leaves:
        raise RuntimeError(f"aot_export_joint_simple requires outputs to be a single list/tuple. out_spec={out_spec}")
    if trace_joint:
        flat = gm.forward

        def forward(primals, tangents):
            results = flat(*primals, *tangents)
            return tuple(results[: out_spec.num_leaves]), tuple(results[out_spec.num_leaves :])

        gm.forward = forward
    return gm


def _export(func, args, kwargs, decompositions):
    """The graph of func, what it does to its inputs, and the structures of inputs and results."""
    flat_args, in_spec = pytree.tree_flatten((tuple(args), kwargs))
    flat_fn = _Flat(func, in_spec)
    gm, facts = _native.aot_trace(flat_fn, flat_args, decompositions or {})
    return gm, facts, in_spec, flat_fn.out_spec


def aot_export_module(mod, args, *, decompositions=None, trace_joint, output_loss_index=None, pre_dispatch=False, dynamic_shapes=None, kwargs=None):
    """The graph of mod as a function of its parameters, its buffers and its arguments, in this order, and a GraphSignature that says what is
    what. What it writes to buffers and arguments is returned before its results. With trace_joint the graph computes the gradients of result
    number output_loss_index, too.
    """
    if trace_joint:
        raise NotImplementedError("aot_export_module(trace_joint=True) is not supported")
    if pre_dispatch:
        raise NotImplementedError("aot_export_module(pre_dispatch=True) is not supported")
    named_parameters = dict(mod.named_parameters(remove_duplicate=False))
    named_buffers = dict(mod.named_buffers(remove_duplicate=False))
    flat_state, state_spec = pytree.tree_flatten({**named_parameters, **named_buffers})
    call = create_functional_call(mod, state_spec, len(flat_state))
    with torch.no_grad():
        gm, facts, in_spec, out_spec = _export(call, (*flat_state, *args), kwargs or {}, decompositions)
    places = [n.name for n in gm.graph.nodes if n.op == "placeholder"]
    (output,) = [n for n in gm.graph.nodes if n.op == "output"]
    results = [getattr(r, "name", r) for r in output.args[0]]
    names = [*named_parameters, *named_buffers]
    split, user = len(named_parameters), len(names)
    written = dict(zip(results, facts["mutated"]))
    return gm, GraphSignature(
        parameters=list(named_parameters),
        buffers=list(named_buffers),
        user_inputs=places[user:],
        user_outputs=results[len(written):],
        inputs_to_parameters=dict(zip(places[:split], named_parameters)),
        inputs_to_buffers=dict(zip(places[split:user], named_buffers)),
        buffers_to_mutate={r: names[i] for r, i in written.items() if i < user},
        user_inputs_to_mutate={r: places[i] for r, i in written.items() if i >= user},
        in_spec=pytree.tree_flatten((tuple(args), kwargs or {}))[1],
        out_spec=out_spec,
        backward_signature=None,
    )
