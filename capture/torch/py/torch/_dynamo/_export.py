"""torch._dynamo.export: the graph of a whole program, with the program's own signature."""
import inspect
import logging
import traceback
from typing import Any, NamedTuple, Optional

import torch
import torch.utils._pytree as pytree
from torch._C import _dynamo as _native
from torch._dynamo import config
from torch._dynamo.exc import UserError, UserErrorType
from torch.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo

log = logging.getLogger("torch._dynamo.eval_frame")


class ExportResult(NamedTuple):
    graph_module: torch.fx.GraphModule
    guards: Any


constant_types = (int, float, bool, str, bytes, complex, type(None), type(...), type(NotImplemented), type((lambda: None).__code__), torch.dtype, torch.device, torch.layout,
                  torch.memory_format, torch.finfo, torch.iinfo, torch.Size)
supported_types = (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool, *constant_types)


class _Number:
    """Stands for a number that the graph gives back, among the results of a run that only tells which result is which."""


def check_user_input_output(flat_values, error_type):
    """Refuses what is no leaf of an exported program's arguments or results."""
    kind = "input" if error_type == UserErrorType.INVALID_INPUT else "output"
    for v in flat_values:
        if v is not None and not isinstance(v, (*supported_types, _Number)):
            raise UserError(error_type, f"It looks like one of the {kind}s with type `{type(v)}` is not supported or pytree-flattenable. \n"
                            f"Exported graphs {kind}s can only contain the following supported types: {list(supported_types)}. \n"
                            "If you are using a custom class object, please register a pytree_flatten/unflatten function using "
                            "`torch.utils._pytree.register_pytree_node` or `torch.export.register_dataclass`.")


def check_signature_rewritable(graph):
    """Refuses a graph that has inputs other than the program's arguments."""
    errors = []
    for name, stacks in graph._source_to_user_stacks.items():
        stack = next((s for s in stacks if len(s) > 0), None)
        if stack is None:
            errors.append(f"{name}, a closed over free variable")
        else:
            more = f"(elided {len(stacks) - 1} more accesses)" if len(stacks) > 1 else ""
            errors.append(f"{name}, accessed at:\n{''.join(traceback.format_list(stack))}{more}")
    if errors:
        raise UserError(UserErrorType.INVALID_INPUT, "Cannot export model which references tensors that are neither buffers/parameters/constants nor are direct inputs.  "
                        "For each tensor, if you'd like this tensor to be an explicit input, add it as a dummy argument to the top-level model definition you are exporting; "
                        "if you would like its value to be embedded as an exported constant, wrap its access in a function marked with @assume_constant_result.\n\n" + "\n\n".join(errors))


def argument_names(signature, args, kwargs):
    """What the arguments of a call are called: by their parameters, and numbered where *args takes them."""
    params = signature.parameters.values()
    places = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [p.name for p in places[:len(args)]]
    if len(args) > len(places):
        rest = next((p.name for p in params if p.kind == p.VAR_POSITIONAL), None)
        assert rest is not None, "More arguments than expected"
        names += [f"{rest}_{i}" for i in range(len(args) - len(names))]
    for p in places[len(args):] + [p for p in params if p.kind == p.KEYWORD_ONLY]:
        kind = "keyword only argument" if p.kind == p.KEYWORD_ONLY else "argument"
        assert p.name in kwargs or p.default is not p.empty, f"Missing {kind} {p.name}"
    return names + list(kwargs)


def produce_matching(kind, sources, candidates):
    """For each candidate the place among the sources of the same object; None for constants."""
    places = {id(v): i for i, v in enumerate(sources)}
    out = []
    for v in candidates:
        if isinstance(v, constant_types):
            out.append(None)
        elif id(v) in places:
            out.append(places[id(v)])
        else:
            raise AssertionError(f"Unexpectedly found a {type(v)} in the {kind}.\nPlease file an issue along with a paste of the logs from TORCH_LOGS=\"+export\"")
    return out


def rewrite_signature(signature, graph, flat_args, in_spec, captured_inputs, captured_results, result):
    """The graph with a placeholder for each leaf of the program's arguments, and with results that are put together as the program gave them."""
    args, kwargs = pytree.tree_unflatten(flat_args, in_spec)
    flat_results, out_spec = pytree.tree_flatten(result)
    check_user_input_output(flat_args, UserErrorType.INVALID_INPUT)
    check_user_input_output(flat_results, UserErrorType.INVALID_OUTPUT)
    inputs = produce_matching("inputs", flat_args, captured_inputs)
    results = produce_matching("outputs", [*captured_results, *flat_args], flat_results)
    new, env = Graph(), {}
    places = [new.placeholder(f"arg{i}") for i in range(len(flat_args))]
    for p, v in zip(places, flat_args):
        if isinstance(v, torch.Tensor):
            p.meta["val"] = _native.fake_like(v)
    taken = iter(inputs)
    for n in graph.graph.nodes:
        if n.op == "placeholder":
            p = env[n] = places[next(taken)]
            p.meta.update((k, v) for k, v in n.meta.items() if k in ("val", "example_value", "tensor_dict", "unbacked_bindings"))
            p._rename(n.name)
        elif n.op == "output":
            given = [*n.args[0], *places]
            out = [v if at is None else env.get(given[at], given[at]) for at, v in zip(results, flat_results)]
            new.output(out).meta.update(n.meta)
        else:
            env[n] = new.node_copy(n, env.__getitem__)
    new.set_codegen(_PyTreeCodeGen(_PyTreeInfo(argument_names(signature, args, kwargs), in_spec, out_spec)))
    made = torch.fx.GraphModule(graph, new)
    made.meta.update(graph.meta)
    return made


def _without_operators(names, flat_args):
    """The graph of a program that computes nothing: its tensors come in and nothing goes out."""
    graph, tensors = Graph(), []
    for name, v in zip(names, flat_args):
        if isinstance(v, torch.Tensor):
            graph.placeholder(name).meta["val"] = _native.fake_like(v)
            tensors.append(v)
    graph.output(())
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    gm._source_to_user_stacks = {}
    return gm, tensors


class _Exporter:
    """One call of what torch._dynamo.export gave back."""

    def __init__(self, f, aten_graph, pre_dispatch, decomposition_table, tracing_mode, dynamic_shapes, settings, same_signature):
        self.f, self.aten_graph, self.pre_dispatch, self.decompositions = f, aten_graph, pre_dispatch, decomposition_table
        self.tracing_mode, self.dynamic_shapes, self.settings, self.same_signature = tracing_mode, dynamic_shapes, settings, same_signature
        self.graph, self.inputs, self.results = None, (), ()

    def backend(self, gm, example_inputs):
        """Takes the graph. Its run tells which inputs and which results of the graph the program's are."""
        assert self.graph is None, "Tried to emit a second graph during export. Tracing through 'f' must produce a single graph."
        self.graph = gm
        values = [n.meta.get("example_value") for n in gm.graph.output_node().args[0]]
        self.results = [v if isinstance(v, torch.Tensor) else _Number() for v in values]

        def run(*inputs):
            self.inputs = inputs
            return self.results

        return run

    def __call__(self, *args, **kwargs):
        from torch._dynamo.eval_frame import innermost_fn, optimize_assert
        from torch._guards import GuardsSet, out_guards
        from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
        from torch.export.dynamic_shapes import _combine_args, _process_dynamic_shapes

        f = innermost_fn(self.f)
        inspected = f.forward if isinstance(f, torch.nn.Module) else f
        signature = inspect.signature(inspected)
        flat_args, in_spec = pytree.tree_flatten((args, kwargs))
        _native.forget(inspected)
        _native.keep_guards()
        constraints = _process_dynamic_shapes(_combine_args(f, args, kwargs), self.dynamic_shapes) if self.dynamic_shapes else []
        for tensor, dim, _, low, high, _, scale, offset in constraints:
            n = (tensor.shape[dim] - offset) // scale
            if not max(low, 2) <= n <= (n if high is None else high) and n > 1:
                raise ConstraintViolationError(f"{n} not in range [{max(low, 2)}, {'int_oo' if high is None else high}]\n\nSet TORCH_LOGS=\"+dynamo\" and TORCHDYNAMO_VERBOSE=1 for more information\n")
        with config.patch(**self.settings):
            result = optimize_assert(self.backend, export=True, export_constraints=constraints)(f)(*args, **kwargs)
        guards = GuardsSet(set(out_guards()))
        _native.forget(inspected)
        if self.graph is None:
            assert self.same_signature, "Failed to produce a graph during tracing as no tensor operations were found and same_signature is False."
            self.graph, self.inputs = _without_operators(signature.parameters, flat_args)
            log.info("Failed to capture a graph during tracing as no tensor operations were found.:\n\n%s", self.graph.print_readable(print_output=False, colored=False))
        if self.same_signature:
            check_signature_rewritable(self.graph)
        graph = self.graph
        if self.aten_graph:
            graph = self.lowered(graph)
        if self.same_signature:
            graph = rewrite_signature(signature, graph, flat_args, in_spec, self.inputs, self.results, result)
        return ExportResult(graph, guards)

    def lowered(self, graph):
        """The graph in terms of aten operators."""
        from torch.fx.experimental.proxy_tensor import make_fx

        def interpreted(*args):
            return torch.fx.Interpreter(graph).run(*args)

        mode = "symbolic" if self.tracing_mode == "symbolic" and not self.settings["assume_static_by_default"] else "real"
        return make_fx(interpreted, decomposition_table=self.decompositions, tracing_mode=mode, pre_dispatch=self.pre_dispatch)(*self.inputs)


def export(f, *extra_args, aten_graph=False, pre_dispatch=False, decomposition_table=None, tracing_mode="symbolic", dynamic_shapes=None, specialize_float=True,
           assume_static_by_default=False, same_signature=True, disable_constraint_solver=False, prefer_deferred_runtime_asserts_over_guards=False,
           allow_complex_guards_as_runtime_asserts=False, _log_export_usage=True, **extra_kwargs):
    """A function that, called with arguments of f, gives the one graph of f for them and its guards. Sizes of arguments are symbols where nothing in f fixes them.

    aten_graph: in terms of aten operators rather than torch's. same_signature: take and give what f takes and gives."""
    if decomposition_table is not None:
        assert aten_graph, "Specifying a decomposition_table table or tracing mode is illegal without setting aten_graph=True"
    if pre_dispatch:
        assert aten_graph, "pre_dispatch=True can only be used when aten_graph=True"
    settings = {
        "specialize_int": True,
        "specialize_float": specialize_float,
        "assume_static_by_default": assume_static_by_default or tracing_mode != "symbolic",
        "automatic_dynamic_shapes": False,
        "capture_dynamic_output_shape_ops": True,
        "capture_scalar_outputs": True,
        "prefer_deferred_runtime_asserts_over_guards": prefer_deferred_runtime_asserts_over_guards,
        "allow_complex_guards_as_runtime_asserts": allow_complex_guards_as_runtime_asserts,
    }

    def inner(*args, **kwargs):
        return _Exporter(f, aten_graph, pre_dispatch, decomposition_table, tracing_mode, dynamic_shapes, settings, same_signature)(*args, **kwargs)

    if extra_args or extra_kwargs:
        log.warning("export(f, *args, **kwargs) is deprecated, use export(f)(*args, **kwargs) instead.  If you don't migrate, we may break your export call in the future if your "
                    "user defined kwargs conflict with future kwargs added to export(f).")
        return inner(*extra_args, **extra_kwargs)
    return inner
