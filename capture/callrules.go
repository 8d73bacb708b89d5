package capture

import (
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/python/vm"
)

// nameList is a list of names that a trace treats alike. The lists of this file are all that the hooks of a trace know by name;
// callRules holds them for the test that walks them.
type nameList struct {
	why   string // what the names have in common, and what that means for a trace
	torch string // the file under torch/ with the rule in PyTorch 2.6; "" => PyTorch needs none
	home  string // the module that has all names as attributes; "" => the names are no attributes
	names []string
}

func (l *nameList) has(name string) bool { return slices.Contains(l.names, name) }

// breakList are functions or methods that break the graph where they are called, each with its reason.
type breakList struct {
	why   string
	torch string
	home  string
	names map[string]breaks.ID
}

var (
	lasting = &breakList{
		why:   "builtin functions whose call can be neither repeated nor undone",
		torch: "_dynamo/variables/builtin.py: those for which BuiltinVariable has no handler",
		home:  "builtins",
		names: map[string]breaks.ID{"print": breaks.Print, "open": breaks.File, "input": breaks.File, "exec": breaks.Builtin, "eval": breaks.Builtin,
			"compile": breaks.Builtin, "globals": breaks.Builtin, "breakpoint": breaks.Builtin, "__import__": breaks.UnknownBuiltin},
	}
	torchState = &breakList{
		why:  "native functions that change the state of torch, or read what a trace does not have",
		home: "torch._C", // PyTorch has others, and breaks at the functions around them
		names: map[string]breaks.ID{"_autograd_grad": breaks.TorchGrad, "_autograd_record": breaks.TorchState, "_manual_seed": breaks.TorchState,
			"_set_default_dtype": breaks.TorchState, "_set_printoptions": breaks.TorchState, "_set_num_threads": breaks.TorchState,
			"_set_deterministic_algorithms": breaks.TorchState, "_set_float32_matmul_precision": breaks.TorchState, "_set_autocast_enabled": breaks.TorchState,
			"_set_autocast_dtype": breaks.TorchState, "set_autocast_cache_enabled": breaks.TorchState},
	}
	levelState = &breakList{
		why:  "native functions that ask of which level of torch.func a tensor is: those of a trace are of none, where PyTorch's fakes have levels",
		home: "torch._C._functorch",
		names: map[string]breaks.ID{"is_batchedtensor": breaks.TorchState, "is_gradtrackingtensor": breaks.TorchState, "is_functorch_wrapped_tensor": breaks.TorchState,
			"maybe_get_level": breaks.TorchState, "maybe_get_bdim": breaks.TorchState, "get_unwrapped": breaks.TorchState, "_unwrap_batched": breaks.TorchState},
	}
	dataDependent = &breakList{
		why:   "methods that read the data of a tensor, or where it lies, or change its memory",
		torch: "_dynamo/variables/tensor.py: the methods method_* of TensorVariable that call unimplemented",
		names: map[string]breaks.ID{"item": breaks.TensorItem, "tolist": breaks.TensorToList, "numpy": breaks.TensorNumpy, "__float__": breaks.TensorItem,
			"__int__": breaks.TensorItem, "__index__": breaks.TensorItem, "backward": breaks.TensorBackward, "__bool__": breaks.TensorTruth, "data_ptr": breaks.TensorDataPtr,
			"resize_": breaks.TensorResize, "resize_as_": breaks.TensorResizeAs},
	}

	inPlaceViews = &nameList{
		why:   "methods that change the sizes of a tensor, or what it lies on: they are not done in a graph to what comes from outside",
		torch: "_dynamo/variables/tensor.py: TensorVariable.var_getattr asks for the tag inplace_view",
		names: []string{"as_strided_", "detach_", "rename_", "resize_", "resize_as_", "set_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"},
	}
	toDevices = &nameList{
		why:   "methods that copy a tensor to a kind of device, or to memory that one can read: whatever they raise is the end of a trace",
		torch: "_dynamo/utils.py: run_node, which says so of any call; those of other names are told by what the kernels refuse",
		names: []string{"cuda", "xpu", "pin_memory"},
	}
	readers = &nameList{
		why:   "operators that give the program a number that is in a tensor",
		torch: "_subclasses/fake_impls.py: the tag data_dependent_output of operators",
		names: []string{readsNumber, "aten.equal.default", "aten.allclose.default", "aten.is_nonzero.default"},
	}
	walks = &nameList{
		why:   "builtin classes that go through what they are given: a tensor among it is unpacked into its rows",
		torch: "_dynamo/variables/builtin.py: the methods call_* that unpack their arguments",
		home:  "builtins",
		names: []string{"zip", "enumerate", "list", "tuple", "map", "filter", "reversed"},
	}
	hashes = &nameList{
		why:   "builtin classes that tell their items apart by what they are: tensors among them are inputs, and guarded to be as different as they were",
		torch: "_dynamo/variables/dicts.py: ConstDictVariable._HashableTracker",
		home:  "builtins",
		names: []string{"set", "frozenset"},
	}
	moduleStates = &nameList{
		why:   "functions of nn.Module that go through the tensors of one, and are traced like those without an underscore",
		torch: "nn/modules/module.py: Module.state_dict, Module.load_state_dict",
		home:  "torch.nn.modules.module",
		names: []string{"_local_state", "_save_to_state_dict", "_load_from_state_dict", "_load_one"},
	}
	looksOnly = &nameList{
		why:   "builtins that do not look into the containers they are given, and so rely on none of their items",
		torch: "_dynamo/variables/lazy.py: arguments are realized where a handler reads them",
		home:  "builtins",
		names: []string{"len", "isinstance", "id", "type", "hasattr", "getattr", "callable", "issubclass", "setattr"},
	}
	pureModules = &nameList{
		why:   "modules with native functions that depend on nothing but their arguments: they run while tracing; those of other modules break the graph",
		torch: "_dynamo/trace_rules.py: _builtin_function_ids; _dynamo/polyfills",
		names: []string{"builtins", "math", "_operator", "operator", "functools", "_functools", "itertools", "collections", "_collections", "torch", "torch._C",
			"torch._C._nn", "torch._C._functorch", "torch._C._forward_ad", "torch.ops", "", "types", "typing", "enum", "dataclasses", "_abc", "abc", "torch._C._autograd"},
	}
	skippedLibraries = &nameList{
		why:   "modules whose functions are left alone; those of all others, of the standard library too, are traced through",
		torch: "_dynamo/trace_rules.py: BUILTIN_SKIPLIST, without what PyTorch has variables or polyfills for, and THIRDPARTY_SKIPLIST",
		names: []string{"copy", "copyreg", "importlib", "linecache", "logging", "multiprocessing", "random", "re", "selectors", "signal", "tempfile", "threading",
			"tokenize", "traceback", "unittest", "weakref", "_weakrefset", "fx2trt_oss", "hypothesis", "networkx", "numpy", "onnx", "onnxruntime", "onnx_tf", "pandas",
			"sklearn", "tabulate", "tensorflow", "tensorrt", "torch2trt", "tqdm", "tree", "tvm", "xarray"},
	}
	skippedWrappers = &nameList{
		why:   "modules of the standard library whose own functions are traced through, but not those that they put around a program's",
		torch: "_dynamo/trace_rules.py: BUILTIN_SKIPLIST",
		names: []string{"abc", "collections", "contextlib", "enum", "functools", "operator", "types", "typing"},
	}
	skippedTorch = &nameList{
		why:   "modules of torch whose functions are left alone where the program calls them. What other modules call of them here may be our own",
		torch: "_dynamo/trace_rules.py: check_file says so of their files",
		names: []string{"torch.amp.grad_scaler", "torch.autograd.anomaly_mode", "torch.autograd.gradcheck", "torch.autograd.graph", "torch.fx.interpreter", "torch.hub",
			"torch.jit", "torch.optim.lr_scheduler", "torch.serialization", "torch.utils.benchmark", "torch.utils.data", "torch.utils.flop_counter"},
	}
	forceSkipped = &nameList{
		why:   "those of them that PyTorch leaves alone by a list of its own, which its reason names",
		torch: "_dynamo/trace_rules.py: FORCE_SKIP_FILES",
		names: []string{"torch.optim.lr_scheduler"},
	}
	handledTorch = &nameList{
		why:   "what of such modules a trace knows all the same",
		torch: "_dynamo/trace_rules.py: manual_torch_name_rule_map, and the variables of context managers",
		names: []string{"torch.autograd.graph.disable_saved_tensors_hooks", "torch.jit.is_scripting", "torch.jit.is_tracing", "torch.jit.unused", "torch.jit.ignore",
			"torch.jit.export", "torch.jit.annotate", "torch.jit._unwrap_optional", "torch.autograd.graph.register_multi_grad_hook", "torch.autograd.graph.get_gradient_edge",
			"torch.autograd.graph.increment_version"},
	}
	foldedBuiltins = &nameList{
		why:   "builtin functions that a trace calls itself where all arguments are constants: where they raise it ends",
		torch: "_dynamo/variables/builtin.py: BuiltinVariable._constant_fold_functions, those of them aside that have another way to raise",
		names: []string{"builtins.chr", "builtins.ord", "builtins.divmod", "builtins.pow", "builtins.int", "builtins.float", "builtins.str", "builtins.max", "builtins.min",
			"_operator.neg", "_operator.invert", "_operator.pow", "_operator.mul", "_operator.matmul", "_operator.floordiv", "_operator.truediv", "_operator.mod", "_operator.add",
			"_operator.sub", "_operator.lshift", "_operator.rshift", "_operator.and_", "_operator.or_", "_operator.xor"},
	}
	answers = &nameList{
		why:   "functions in files that a trace looks into whose answers it has without",
		torch: "_dynamo/variables/torch.py: constant_fold_functions, TorchInGraphFunctionVariable._call_ntuple",
		names: []string{"_is_make_fx_tracing", "_ntuple"},
	}
	hookTables = &nameList{
		why:   "tables of a module that are not guarded where they are empty, unless calls of all modules run what is in them",
		torch: "_dynamo/guards.py: GuardBuilder.EMPTY_NN_MODULE_HOOKS_DICT with the setting skip_nnmodule_hook_guards",
		names: []string{"_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"},
	}
	folded = &nameList{
		why:   "functions of the standard library that run while tracing where their arguments are constants",
		torch: "_dynamo/variables/functions.py: SkipFunctionVariable.fold_through_function_to_wrapper",
		names: []string{"collections.namedtuple"},
	}
	describing = &nameList{
		why:   "functions of the standard library that say how a callable is to be called: they run while tracing",
		torch: "_dynamo/variables/misc.py: InspectSignatureVariable",
		names: []string{"inspect.signature"},
	}
	inlinedFunctional = &nameList{
		why:   "functions that a trace looks into, where all others of the module stay whole in the graph",
		torch: "_dynamo/trace_rules.py: what torch_non_c_binding_in_graph_functions lacks of torch.nn.functional",
		home:  "torch.nn.functional",
		names: []string{"pad", "rms_norm", "threshold", "lp_pool3d", "triplet_margin_with_distance_loss", "_canonical_mask", "_none_or_dtype"},
	}
	graphFunctions = &nameList{
		why:   "functions written in Python that stay whole in a graph; the others of the module here are C++ in PyTorch, or work on sizes alone",
		torch: "_dynamo/trace_rules.py: torch_non_c_binding_in_graph_functions, those of torch.functional",
		home:  "torch.functional",
		names: []string{"broadcast_tensors", "meshgrid", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cartesian_prod", "cdist",
			"chain_matmul", "einsum", "lu", "norm", "split", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index"},
	}
	cellFunctions = &nameList{
		why:   "functions written in Python here that are C++ in PyTorch: they stay whole in a graph, as members of torch",
		torch: "_dynamo/trace_rules.py: torch_c_binding_in_graph_functions",
		home:  "torch.functional",
		names: []string{"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"},
	}
	statelessTypes = &nameList{
		why: "native classes whose methods depend on what guards see: on contents, or on what never changes",
		names: []string{"str", "bytes", "int", "float", "complex", "bool", "list", "tuple", "dict", "set", "frozenset", "range", "slice", "deque", "bytearray",
			"mappingproxy", "dict_keys", "dict_values", "dict_items", "array", "type", "function", "builtin_function_or_method", "method", "property", "object",
			"NoneType", "ellipsis", "Pattern", "Match", "module", "memoryview", "date", "datetime", "time", "timedelta", "timezone", "code", "cell",
			"GenericAlias", "UnionType"},
	}
	byIdentity = &nameList{
		why:   "classes whose instances stand for themselves: compiled code relies on the very object",
		torch: "_dynamo/variables/builder.py: the branches of VariableBuilder._wrap that install ID_MATCH",
		names: []string{"logging.Logger", "logging.RootLogger", "torch.amp.autocast_mode.autocast", "torch._ops._OpNamespace", "torch._ops._Ops"},
	}
	wholeInstances = &nameList{
		why:   "classes whose instances are guarded as they are, and not by their attributes",
		torch: "_dynamo/variables/ctx_manager.py: AutocastModeVariable",
		names: []string{"torch.amp.autocast_mode.autocast"},
	}
	unguarded = &nameList{
		why:   "classes whose instances a trace knows by heart",
		torch: "_dynamo/variables/builder.py: ComptimeVariable",
		names: []string{"torch._dynamo.comptime._Comptime"},
	}
	decorators = &nameList{
		why:   "files with the wrappers that no_grad, wrap_numpy and their like put around functions: calls of them are traced through",
		torch: "_dynamo/trace_rules.py: MOD_INLINELIST",
		names: []string{"torch/utils/_contextlib.py", "torch/amp/autocast_mode.py", "torch/_dynamo/external_utils.py"},
	}
	enteredFiles = &nameList{
		why:   "files of the library whose functions are frames of their own, as those of programs are",
		torch: "_dynamo/trace_rules.py: MOD_INLINELIST",
		names: []string{"torch/testing/_internal/common_fsdp.py"},
	}
	nullContexts = &nameList{
		why:   "context managers that change nothing of what is computed",
		torch: "_dynamo/variables/torch.py: the context managers of TorchCtxManagerClassVariable that become NullContextVariable",
		names: []string{"contextlib.nullcontext", "torch.autograd.profiler.profile", "torch.autograd.profiler.record_function", "torch.profiler.profiler.profile"},
	}
	checkpointSettings = &nameList{
		why:   "keyword arguments of torch.utils.checkpoint.checkpoint itself; all others are the function's",
		torch: "_dynamo/variables/higher_order_ops.py: CheckpointHigherOrderVariable; _higher_order_ops/wrap.py: TagActivationCheckpoint.divide_kwargs",
		names: []string{"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"},
	}
	transformSteps = &nameList{
		why:   "functions of torch._functorch and torch.autograd.forward_ad that stay whole in a graph",
		torch: "_dynamo/trace_rules.py: torch_non_c_binding_in_graph_functions",
		names: []string{"_autograd_grad", "_set_tensor_requires_grad", "lazy_load_decompositions", "_maybe_load_decompositions"},
	}
	placeless = &nameList{
		why:   "functions that begin and end levels of transformations: their nodes belong to no line",
		torch: "_dynamo/variables/ctx_manager.py: the context managers that make nodes",
		names: []string{"torch._C._autograd._saved_tensors_hooks_disable", "torch._C._autograd._saved_tensors_hooks_enable", "torch._C._functorch._grad_increment_nesting",
			"torch._C._functorch._grad_decrement_nesting", "torch._C._functorch._vmap_increment_nesting", "torch._C._functorch._vmap_decrement_nesting",
			"torch._C._functorch._jvp_increment_nesting", "torch._C._functorch._jvp_decrement_nesting", "torch._C._functorch.set_inplace_requires_grad_allowed",
			"torch._C._set_fwd_grad_enabled", "torch._C._enter_dual_level", "torch._C._exit_dual_level"},
	}
	graphAttributes = &nameList{
		why:   "attributes of a tensor that the program is given at once, and that leave a node in the graph all the same",
		torch: "_dynamo/variables/tensor.py: TensorVariable.var_getattr, those without a method of their own",
		names: []string{"is_cpu", "is_leaf", "is_meta", "itemsize", "nbytes", "name"},
	}
	plainBodies = &nameList{
		why:   "higher-order operators whose call becomes that of what they run",
		torch: "_dynamo/variables/higher_order_ops.py: TorchHigherOrderOperatorVariable.make",
		names: []string{"autograd_function_apply", "wrap_activation_checkpoint"},
	}
	nativeFunctional = &nameList{
		why:   "functions of torch.nn.functional that are native in PyTorch: a failing call of one of the others is one of a function in Python",
		torch: "nn/functional.py: what it takes from torch, torch._C and torch._C._nn",
		home:  "torch.nn.functional",
		names: []string{"adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
			"conv_transpose2d", "conv_transpose3d", "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear", "logsigmoid", "native_channel_shuffle", "one_hot",
			"pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_", "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_"},
	}
	pythonFunctions = &nameList{
		why:   "functions of torch that are Python in PyTorch",
		torch: "functional.py",
		home:  "torch",
		names: []string{"atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "lu",
			"meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique", "unique_consecutive", "unravel_index"},
	}
	unsteadyProperties = &nameList{
		why:   "properties of a gradient that may be others when the backward runs, besides those whose names begin with is_",
		torch: "_dynamo/variables/higher_order_ops.py and tensor.py: the strict mode of AutogradFunctionApplyVariable",
		names: []string{"stride", "requires_grad", "storage_offset", "layout", "data"},
	}
)

// callRules are the lists of names, by what they are called in this package.
var callRules = map[string]*nameList{"walks": walks, "inPlaceViews": inPlaceViews, "readers": readers, "toDevices": toDevices, "hashes": hashes, "looksOnly": looksOnly, "pureModules": pureModules, "skippedLibraries": skippedLibraries, "skippedWrappers": skippedWrappers, "skippedTorch": skippedTorch, "forceSkipped": forceSkipped, "handledTorch": handledTorch, "foldedBuiltins": foldedBuiltins, "folded": folded, "describing": describing,
	"answers": answers, "hookTables": hookTables, "inlinedFunctional": inlinedFunctional, "graphFunctions": graphFunctions, "cellFunctions": cellFunctions, "statelessTypes": statelessTypes,
	"byIdentity": byIdentity, "wholeInstances": wholeInstances, "unguarded": unguarded, "decorators": decorators, "enteredFiles": enteredFiles, "nullContexts": nullContexts, "checkpointSettings": checkpointSettings, "plainBodies": plainBodies, "graphAttributes": graphAttributes, "transformSteps": transformSteps, "placeless": placeless,
	"nativeFunctional": nativeFunctional, "pythonFunctions": pythonFunctions, "unsteadyProperties": unsteadyProperties, "effects": lasting.list(), "torchState": torchState.list(), "levelState": levelState.list(), "dataDependent": dataDependent.list()}

// list is l without its reasons, names in order.
func (l *breakList) list() *nameList {
	n := &nameList{why: l.why, torch: l.torch, home: l.home}
	for name := range l.names {
		n.names = append(n.names, name)
	}
	slices.Sort(n.names)
	return n
}

// classRules make what a call of a class of torch.nn gives inside a trace, by module and name; nil => an instance, as always.
// PyTorch has the rules in _dynamo/variables/user_defined.py: UserDefinedClassVariable.call_function.
var classRules = map[string]func(tr *tracer, args []vm.Object, kw []vm.KwArg) vm.Object{
	"torch.nn.modules.loss.CrossEntropyLoss": (*tracer).crossEntropy,
}
