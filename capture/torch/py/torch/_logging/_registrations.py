"""The names that TORCH_LOGS and set_logs know.

A log is a component: a name for one logger or several, which has a level. An artifact is one kind of message, which is on or
off. `hidden` artifacts stay off when their component is set to DEBUG; `shown` ones are in the short help.
"""

dynamic = ["torch.fx.experimental.symbolic_shapes", "torch.fx.experimental.sym_node", "torch.fx.experimental.recording"]

logs = {
    "cache": ["torch._inductor.remote_cache", "torch._inductor.fb.remote_cache"],
    "dynamo": ["torch._dynamo", *dynamic],
    "fake_tensor": ["torch._subclasses.fake_tensor"],
    "aot": ["torch._functorch.aot_autograd", "torch._functorch._aot_autograd"],
    "autograd": ["torch.autograd"],
    "inductor": ["torch._inductor", "torch._inductor.cudagraph_trees"],
    "dynamic": dynamic,
    "torch": ["torch"],
    "distributed": ["torch.distributed", "torch._dynamo.backends.distributed", "torch.nn.parallel.distributed"],
    "c10d": ["torch.distributed.distributed_c10d", "torch.distributed.rendezvous"],
    "ddp": ["torch.nn.parallel.distributed", "torch._dynamo.backends.distributed"],
    "pp": ["torch.distributed.pipelining"],
    "fsdp": ["torch.distributed.fsdp", "torch.distributed._composable.fsdp"],
    "dtensor": ["torch.distributed._tensor", "torch.distributed.tensor"],
    "onnx": ["torch.onnx"],
    "export": ["torch._dynamo", "torch.export", "torch.export.dynamic_shapes", *dynamic, "torch._export.converter", "torch._export.non_strict_utils"],
}

shown, hidden = "shown", "hidden"

# name: (what it prints, flags)
artifacts = {
    "cudagraphs": ("What is done to run generated code in CUDA graphs.", ()),
    "guards": ("The guards of every compiled frame, as the tree in which they are checked.", (shown,)),
    "verbose_guards": ("Each guard with the stack that made it.", (hidden,)),
    "bytecode": ("The bytecode of a frame before and after capture.", (hidden,)),
    "graph": ("The captured graph as a table; graph_code prints it as Python.", ()),
    "graph_code": ("The captured graph as Python code.", ()),
    "graph_sizes": ("The sizes of all tensors of the captured graph.", ()),
    "trace_source": ("Each source line as capture reaches it.", ()),
    "trace_call": ("Each call that is inlined or becomes a node, with a mark under the expression.", ()),
    "trace_bytecode": ("Each instruction as capture executes it, and what lies on the stack.", ()),
    "aot_graphs": ("The forward and backward graphs of AOTAutograd after partitioning: what the backend compiler gets.", (shown,)),
    "aot_joint_graph": ("The joint graph of AOTAutograd before partitioning.", ()),
    "aot_graphs_effects": ("The graphs of AOTAutograd where operators have effects that must keep their order.", (shown,)),
    "post_grad_graphs": ("The graph behind the backend's own passes.", ()),
    "compiled_autograd": ("What compiled autograd captures.", (shown,)),
    "compiled_autograd_verbose": ("The same with the names of C++ nodes.", (hidden,)),
    "ddp_graphs": ("The parts into which a graph is split at the bucket boundaries of DistributedDataParallel.", ()),
    "recompiles": ("Why a frame is compiled again: the first guard that failed of each earlier entry.", (shown,)),
    "recompiles_verbose": ("The same with all guards that fail, not only the first.", (shown, hidden)),
    "graph_breaks": ("Where a graph ends early, and why.", (shown,)),
    "not_implemented": ("Every object that a dispatch passed over.", ()),
    "output_code": ("The code that the backend generates.", (shown, hidden)),
    "kernel_code": ("The code that the backend generates, a message for each kernel.", (shown, hidden)),
    "schedule": ("What the backend's scheduler decided.", (hidden,)),
    "perf_hints": ("What could be faster.", (hidden,)),
    "onnx_diagnostics": ("Diagnostics of the ONNX exporter.", (hidden,)),
    "fusion": ("Each fusion that was tried, and why it was not made.", (hidden,)),
    "loop_ordering": ("How loops were reordered.", (hidden,)),
    "overlap": ("How communication and computation overlap.", (hidden,)),
    "sym_node": ("Operations on symbolic numbers.", (hidden,)),
    "trace_shape_events": ("Every change of the shape environment, for replaying it.", (hidden,)),
    "cudagraph_static_inputs": ("Which inputs of CUDA graphs do not move.", (hidden,)),
    "benchmarking": ("What the backend measured.", (hidden,)),
    "graph_region_expansion": ("How repeated regions of a graph are found.", (hidden,)),
    "custom_format_test_artifact": ("For tests.", ()),
}

# Names that documents have for others.
aliases = {"aot_joint_graphs": "aot_joint_graph"}
