package breaks

// ID names a row of the table. The zero value is no reason.
type ID int

// Reasons that lie in the values of tensors.
const (
	DataDependentJump        ID = iota + 1 // a branch of the frame itself on a tensor
	DataDependentJumpInlined               // one of a function that the frame calls
	TensorTruth                            // bool(tensor), written out
	TensorIndex                            // list[tensor]
	TensorSlice                            // x[tensor:]
	NotCompliant                           // an operator without pt2_compliant_tag
	OwnGetattribute                        // an attribute of an object whose class has __getattribute__
	DescribedAttribute                     // an attribute that an object with a __set__ describes
	TensorOfIndex                          // operator.index(tensor)
	TextOfTensors                          // f"{tensor}" + "text"
	TensorItem
	TensorToList
	TensorNumpy
	TensorDataPtr
	TensorResize
	TensorResizeAs
	InputView // x.unsqueeze_() of a tensor from outside
	TensorBackward
	IntermediateHook
	TensorRequiresGrad
	FactoryRequiresGrad
	TensorAttribute    // an assignment to what a tensor is
	DataDependentGuard // of a number that is not known before the program runs
	DataDependentOperator
	DynamicShapeOperator
	DynamicShapeUnknown
	NonTensorResult
	NonTensorMethod
	NonTensorWrapped // of a function of numpy

	// Calls of numpy.
	NumpyFunction
	NumpyMethod
	NumpyOff
	NumpyStream
	NumpyConversion
	ArrayAttribute
	ArrayMethod
	TensorNumpyOff
	FromNumpyOff

	ParameterConstruction

	// Calls of native functions.
	Print
	File // opening a file, or reading the terminal
	Builtin
	Identity         // id(x)
	TensorIdentity   // id(tensor) of one that the trace made
	DeletedAttribute // of a class
	EmptyModeStack
	EnteredMode
	UnknownBuiltin
	BackwardHooks
	HasAttr
	DataclassFields
	UnhandledMethod        // of a builtin container
	UnhandledCall          // of a native class
	UnhandledOperator      // of operands that it has no meaning for
	ObjectOperand          // an operator of a tensor and an object of the program's
	UnhandledOperands      // a comparison of two kinds of sequences
	UnhandledOperandMethod // that an operator calls
	UnhandledItemMethod    // that len() or an index calls
	SortKeys
	RecurrentModule
	TorchState
	TorchGrad
	NativeMethod
	FileMethod
	WrongCall
	Argument
	PartialTensorOp
	RandomNumber

	// Calls of functions and classes written in Python.
	SkipFunction
	InlineSkipped
	SkipPrint // one of the library that prints
	GraphBreak
	ComptimeBreak
	Disabled
	LibraryDisabled
	Warning
	DeepCopy
	DeepCopyOfNothing
	LoggerMethod
	UserException
	RaiseUserException
	Reraise       // raise, without an operand
	RaiseFrom     // raise ... from ...
	ExceptClass   // except: of a class that is not Python's own
	ExceptClasses // the same, of one among several
	ObservedException
	ConstantFold      // a builtin function of constants that raises
	ConstantOperation // the same of an operator
	UnpackLength
	MissingModule
	InfiniteGenerator

	// Statements.
	MissingOpcode  // an instruction that no trace can do
	GenericContext // inside of a with block of a context manager of the program's
	OuterGenerator
	OuterIterator
	ContextManager
	ContextEntry // an __enter__ of the program's that no trace can do
	FileContext
	GeneratorFrame

	// Operators with bodies.
	CondResult
	InTransform
	HigherOrder // the operator's own words
	SideEffects
	BodyResult
	CheckpointArgument
	FunctionForward
	FunctionMethod
	ArgsMismatch // the arguments of a call do not fit the function
	FunctionDerivative
	FunctionKeywords
	FunctionMaterialize
	FunctionResult
	StrictMode

	// Values of other traces, and what outlives this one.
	OtherTraceTensor
	OtherTraceNumber
	OpenRegion
	EndlessIterator
	LeftOverIterator
	NoNode
	FakeTensorBackend

	end // of the table
)

// Pages that PyTorch points to.
const (
	condPage = "https://pytorch.org/docs/main/generated/exportdb/index.html#cond-operands"
	sizePage = "https://pytorch.org/docs/main/generated/exportdb/index.html#constrain-as-size-example"
	// CustomOpsPage says how a program defines operators.
	CustomOpsPage = "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
)

// Hints that several rows share; they say what PyTorch's documents advise.
const (
	hintNumpyOff = "arrays are captured while torch._dynamo.config.trace_numpy is set"
	hintMove     = "move what this line does out of the compiled function, or out of the loop or block that holds it; TORCH_LOGS=graph_breaks shows where it was reached from"
	hintBranch   = "a branch on the values of a tensor cannot be in a graph: compute both sides and choose with torch.where, or use torch.cond"
	hintNumber   = "a number that is read from a tensor ends the graph: keep it a tensor, or set torch._dynamo.config.capture_scalar_outputs = True"
	hintPrint    = "printing and logging end a graph: move them out, put them behind `if not torch.compiler.is_compiling()`, or add the function to torch._dynamo.config.reorderable_logging_functions"
	hintFile     = "files and other input and output cannot be in a graph: do them outside of the compiled function"
	hintBackward = "compile the forward pass alone, or the loss with it; call backward() outside of the compiled function"
	hintMemory   = "capture does not follow the memory of a tensor: use torch operators, or make the code a custom operator with torch.library.custom_op"
	hintAsked    = "the program or the library asks for this break; nothing is to be done"
	hintBody     = "what goes in and out of torch.cond, checkpoint and autograd.Function in a graph are tensors: pass other values by closure, and return tensors alone"
	hintCopy     = "copy objects outside of the compiled function; a tensor has clone()"
	hintOpaque   = "capture does not look into this function: call it outside; make it an operator with torch.library.custom_op; or, if it consists of torch operators, mark it with torch.compiler.allow_in_graph"
	hintContext  = "capture does not know this context manager: enter it outside of the compiled function"
	hintUnroll   = "turn the generator into a list before the compiled function is called"
	foldForm     = "constant fold exception: {exception}"
	hintCatch    = "what this line computes of constants raises, and a trace ends there even if something would catch that: find out outside of the compiled function whether it is possible"
	hintRaise    = "the traced code raises an exception that nothing catches: check arguments outside of the compiled function"
	hintState    = "keep the state of the program that this touches out of the compiled function"
)

// Forms that rows with different hints or consequences share.
const (
	jumpForm    = "Data-dependent jump"
	jumpExplain = "generic_jump TensorVariable()"
	builtinForm = "builtin: {function} [{classes of arguments}] {has keywords}"
	stateForm   = "call to torch._C.{function}"
	methodForm  = "call_method UserDefinedObjectVariable({class}) {method}"
	skipForm    = "'skip function {function} in file {file}'"
	withForm    = "BEFORE_WITH UserDefinedObjectVariable({class})"
	bodyForm    = "HigherOrderOperator body's output must consist of tensors only"
)

var table = [end]Row{
	DataDependentJump: {Form: jumpForm, Bare: true, Branch: true, Explain: jumpExplain, Hint: hintBranch, Docs: condPage,
		UserErrorType: "DYNAMIC_CONTROL_FLOW", UserError: "Dynamic control flow is not supported at the moment. Please use functorch.experimental.control_flow.cond to explicitly capture the control flow."},
	DataDependentJumpInlined: {Form: jumpForm, Bare: true, Explain: jumpExplain, Hint: hintBranch},
	TensorTruth:              {Form: jumpForm, Hint: hintBranch},
	DescribedAttribute:       {Form: "call_function args: UserDefinedObjectVariable({class})", Frame: true, Hint: hintState},
	OwnGetattribute:          {Form: "UserDefinedObjectVariable with custom __getattribute__", Frame: true, Hint: hintState},
	NotCompliant:             {Form: "{what}", Hint: hintOpaque},
	TensorOfIndex:            {Form: "unsupported index(tensor)", Hint: hintNumber},
	TextOfTensors:            {Form: "a text that shows tensors is not known before the graph runs", Hint: hintNumber},
	TensorIndex:              {Form: "__getitem__ with non-constant tensor", Hint: hintNumber},
	TensorSlice:              {Form: "Dynamic slicing on data-dependent value is not supported", Missing: true, Hint: hintNumber},
	TensorItem:               {Form: "Tensor.item", Hint: hintNumber},
	TensorToList:             {Form: "Input tensor for tolist must be an integer tensor", Hint: hintNumber},
	TensorNumpy:              {Form: "Tensor.numpy", Hint: hintMemory},
	TensorDataPtr:            {Form: "Tensor.data_ptr", Missing: true, Hint: hintMemory},
	TensorResize:             {Form: "Tensor.resize_", Hint: hintMemory},
	InputView:                {Form: "call_function DelayGraphBreakVariable() [{arguments}] {keywords}", Hint: hintMemory},
	TensorResizeAs:           {Form: "Tensor.resize_as_", Hint: hintMemory},
	IntermediateHook: {Form: "Compilation of intermediate hooks requires compiled autograd",
		Hint: "register the hook on an input of the compiled function, or outside of it"},
	TensorBackward:     {Form: "Tensor.backward", Hint: hintBackward},
	TensorRequiresGrad: {Form: "Tensor.requires_grad_", Hint: "set requires_grad before the compiled function is called"},
	FactoryRequiresGrad: {Form: "factory functions that return tensors that require grad are not supported.\nEither create the tensor outside the compiled region, or do not set the tensor to require_grad",
		Hint: "make the tensor outside of the compiled function, where its gradient is read"},
	TensorAttribute:       {Form: "STORE_ATTR-caused graph break", Bare: true, Hint: hintMove},
	DataDependentGuard:    {Form: "Could not guard on data-dependent expression {expression} (unhinted: {unhinted}).", Hint: hintNumber, Docs: sizePage, UserErrorType: "ANTI_PATTERN"},
	DataDependentOperator: {Form: "data dependent operator: {operator}", Hint: hintNumber},
	DynamicShapeUnknown: {Form: "dynamic shape operator: {operator}; Operator does not have a meta kernel that supports dynamic output shapes, please report an issue to PyTorch",
		Hint: "use an operator with a fixed size (torch.where with three arguments in place of nonzero and masks)"},
	DynamicShapeOperator: {Form: "dynamic shape operator: {operator}; to enable, set torch._dynamo.config.capture_dynamic_output_shape_ops = True",
		Hint: "the sizes of the result depend on data: set torch._dynamo.config.capture_dynamic_output_shape_ops = True, or use an operator with a fixed size (torch.where with three arguments in place of nonzero and masks)"},
	NonTensorResult:  {Form: "torch.* op returned non-Tensor {type} call_function <built-in function {function}>", Hint: hintMove},
	NonTensorMethod:  {Form: "torch.* op returned non-Tensor {type} call_method {method}", Hint: hintMove},
	NonTensorWrapped: {Form: "torch.* op returned non-Tensor {type} call_function <Wrapped {kind} <original {function}>>", Hint: hintMove},
	NumpyFunction: {Form: "Can't find numpy function {function} in torch._numpy.  Please file an issue to request support for this function.",
		Hint: "use a function that torch._numpy has, or move the call out of the compiled function"},
	NumpyMethod:     {Form: "numpy", Hint: "call the function of numpy itself, or move the call out of the compiled function"},
	NumpyOff:        {Form: "numpy.{function}()", Hint: hintNumpyOff},
	NumpyStream:     {Form: "delegate '{function}' to NumPy itself via confg.use_numpy_random_stream=True", Hint: "numbers of torch's generator can be captured: set torch._dynamo.config.use_numpy_random_stream = False"},
	NumpyConversion: {Form: "{message}", Hint: "give the compiled function an array that a tensor can stand for, as by array.copy()"},
	// PyTorch's words, where nothing is left to do here: graphs have no form for these attributes of arrays (flat, base, ctypes), as for strides of symbolic sizes.
	ArrayAttribute:        {Form: "TODO: add support for ndarray.{attribute}", Hint: hintMove},
	ArrayMethod:           {Form: "{method} is not modelled in torch._numpy", Hint: hintMove},
	TensorNumpyOff:        {Form: "Tensor.numpy(). config.trace_numpy is False", Hint: hintNumpyOff},
	FromNumpyOff:          {Form: "torch.from_numpy. config.trace_numpy is False", Hint: hintNumpyOff},
	ParameterConstruction: {Form: "Workaround for issues with nn_parameter construction", Hint: "make modules and parameters outside of the compiled function and pass them in"},

	Print:            {Form: builtinForm, Hint: hintPrint, Of: []string{"print"}},
	File:             {Form: builtinForm, Hint: hintFile, Of: []string{"open", "input"}},
	Builtin:          {Form: builtinForm, Hint: hintMove},
	EnteredMode:      {Form: "Unsupported context manager {object}'s __enter__ function", Frame: true, Before: true, Hint: hintMove},
	DeletedAttribute: {Form: builtinForm, Missing: true, Hint: hintState},
	EmptyModeStack:   {Form: "Popping from an empty torch function mode stack", Hint: hintState},
	TensorIdentity:   {Form: "call_id not supported for sourceless TensorVariable", Hint: hintState},
	Identity:         {Form: "call_id with args ({argument},)", Hint: hintState},
	UnknownBuiltin: {Form: "Graph break due to unsupported builtin {module}.{function}. This function is either a Python builtin (e.g. _warnings.warn) or a third-party C/C++ Python extension (perhaps created with pybind). If it is a Python builtin, please file an issue on GitHub so the PyTorch team can add support for it and see the next case for a workaround. If it is a third-party C/C++ Python extension, please either wrap it into a PyTorch-understood custom operator (see " + CustomOpsPage + " for more details) or, if it is traceable, use torch.compiler.allow_in_graph.",
		Hint: hintOpaque, Docs: CustomOpsPage},
	HasAttr:                {Form: "hasattr {variable} {name}", Hint: hintMove},
	BackwardHooks:          {Form: "module-level backwards hooks require compiled autograd", Hint: "register the hook on the tensors that the module takes and gives, or keep the module out of the compiled function"},
	DataclassFields:        {Form: "Dataclass fields handling fails for type {class}", Hint: hintMove},
	UnhandledMethod:        {Form: "call_method {object} {method} [{arguments}] {keywords}", Hint: hintMove},
	UnhandledCall:          {Form: "call_function {class} [{arguments}] {keywords}", Hint: hintMove},
	UnhandledOperator:      {Form: builtinForm, Missing: true, Hint: hintMove},
	UnhandledOperands:      {Form: "{operator}({left}, {right})", Missing: true, Hint: hintMove},
	ObjectOperand:          {Form: "call_function args: {operands} ", Missing: true, Hint: hintMove},
	UnhandledOperandMethod: {Form: "call_method {object} {method} {arguments} {}", Missing: true, Hint: hintMove},
	UnhandledItemMethod:    {Form: "call_method {object} {method} {arguments} {}", Hint: hintMove},
	SortKeys:               {Form: "sort with non-constant keys", Hint: "sort by a key that is a number or a text"},
	RecurrentModule: {Form: "TorchDynamo purposely graph breaks on RNN, GRU, LSTMs", Missing: true,
		Hint: "a recurrent module runs as plain Python: write the loop with its cells, or keep the module out of the compiled function"},

	TorchState:   {Form: stateForm, Hint: hintMove},
	TorchGrad:    {Form: stateForm, Hint: hintBackward},
	NativeMethod: {Form: methodForm, Hint: hintMove},
	FileMethod:   {Form: methodForm, Hint: hintFile},
	WrongCall:    {Form: "TypeError {function}: {message}", Hint: "the call is wrong in eager mode, too: correct its arguments"},
	Argument:     {Form: "{exception}", Hint: hintMove},
	PartialTensorOp: {Form: "partial tensor op: BuiltinVariable({function}) [{arguments}] {}", Frame: true,
		Hint: "arithmetic on random numbers alone is not captured: draw the number outside, or use torch.rand and torch.randint"},
	RandomNumber: {Form: "random number of type {type}", Hint: hintMove},

	SkipFunction:  {Form: skipForm, Hint: hintOpaque},
	InlineSkipped: {Form: "'inline in skipfiles: {function} | {name} {file}, skipped according trace_rules.lookup {list}'", Hint: hintOpaque},
	SkipPrint:     {Form: skipForm, Hint: hintPrint},
	GraphBreak:    {Form: "'skip function graph_break in file torch/_dynamo/decorators.py'", Hint: hintAsked},
	ComptimeBreak: {Form: "{message}", Hint: hintAsked},
	Disabled: {Form: "call torch._dynamo.disable() wrapped function {function}",
		Hint: "the function is kept out of graphs on purpose: take the decorator away, or call it outside of the compiled function"},
	LibraryDisabled: {Form: "'inline in skipfiles: {function} | inner torch/_compile.py, skipped according trace_rules.lookup SKIP_DIRS'", Hint: hintOpaque},
	Warning: {Form: "Graph break due to unsupported Python builtin _warnings.warn. Please file an issue on GitHub so the PyTorch team can add support for it. ",
		Hint: "warn outside of the compiled function, or behind `if not torch.compiler.is_compiling()`"},
	DeepCopy:           {Form: "copy.deepcopy {argument}", Hint: hintCopy},
	DeepCopyOfNothing:  {Form: "copy.deepcopy", Hint: hintCopy},
	LoggerMethod:       {Form: "Logger not supported for non-export cases. To avoid graph breaks caused by logger in compile-mode, it is recommended to disable logging by adding logging methods to config.ignore_logger_methods", Hint: hintPrint},
	UserException:      {Form: "call_function UserDefinedClassVariable(<class '{class}'>) [{arguments}] {}", Hint: hintMove},
	RaiseUserException: {Form: "raise {class}", Frame: true, Hint: hintRaise},
	Reraise:            {Form: "re-raise", Missing: true, Hint: hintRaise},
	RaiseFrom:          {Form: "raise ... from ...", Missing: true, Hint: hintRaise},
	ExceptClass:        {Form: "except has an unsupported types of objects {class}", Missing: true, Hint: hintRaise},
	ExceptClasses:      {Form: "except has an unsupported types of object {class}", Missing: true, Hint: hintRaise},
	ObservedException:  {Form: "Observed exception", Bare: true, Frame: true, Hint: hintRaise},
	ConstantFold:       {Form: foldForm, Hint: hintCatch},
	ConstantOperation:  {Form: foldForm, Missing: true, Hint: hintCatch},
	UnpackLength:       {Form: "UNPACK_SEQUENCE length mismatch", Missing: true, Hint: hintCatch},
	MissingModule:      {Form: "import a module that does not exist", Missing: true, Hint: "import it, or find out that it is not there, outside of the compiled function"},
	InfiniteGenerator:  {Form: "infinite generator", Hint: hintUnroll},

	MissingOpcode:  {Form: "missing: {opcode}", Missing: true, Hint: hintState},
	GenericContext: {Form: "Graph break under GenericContextWrappingVariable", Hint: hintContext},
	OuterIterator:  {Form: "call_method UserDefinedObjectVariable({class}) __next__ [] {}", Hint: hintUnroll},
	OuterGenerator: {Form: "FOR_ITER over a generator from outside", Bare: true, Frame: true, Hint: hintUnroll},
	ContextEntry:   {Form: "Unsupported context manager {manager}'s __enter__ function", Missing: true, Hint: hintContext},
	ContextManager: {Form: withForm, Bare: true, Frame: true, Hint: hintContext},
	FileContext:    {Form: withForm, Bare: true, Frame: true, Hint: hintFile},
	GeneratorFrame: {Form: "generator", Bare: true, Frame: true, Hint: hintUnroll},

	CondResult: {Form: "Expected branches to return a possibly nested list/tuple/dict of tensors but it consists of non tensors.", Hint: hintBody},
	InTransform: {Form: "If you are reaching here, it means dynamo failed for one of the following reasons:\n- Calling torch.func.{transform}(compiled_fn) function from eager mode is not supported. " +
		"Ensure that torch.func.{transform} is also wrapped within a torch.compile function. For more information, see PyTorch issue #128711.\n- torch.func.{transform}(fn) requires the function to be inlined by dynamo",
		Frame: true, Before: true, Hint: "put the transform into the compiled function"},
	HigherOrder:        {Form: "{message}", Hint: hintBody},
	SideEffects:        {Form: "HigherOrderOperator: Mutating a variable not in the current scope (SideEffects)", Hint: "a function that a higher-order operator runs must not write to what was there before: return the value instead"},
	BodyResult:         {Form: bodyForm, Hint: hintBody},
	CheckpointArgument: {Form: "checkpoint with {argument} is not supported in a graph", Hint: hintMove},
	FunctionForward:    {Form: "non-function or method in subclass of torch.autograd.Function: {class}", Hint: hintMove},
	FunctionMethod:     {Form: "non-function or method", Hint: hintMove},
	ArgsMismatch: {Form: "{why}.\n  func = '{function}' {file}:{line}, args = [{classes of arguments}], kwargs = {keywords}", Class: "ArgsMismatchError",
		Hint: "the call is wrong in eager mode, too: correct its arguments; forward and backward of a torch.autograd.Function are static methods"},
	FunctionDerivative:  {Form: "NYI - User defind {method}", Hint: "write backward in place of vjp and jvp"},
	FunctionKeywords:    {Form: "Use `set_subgraph_inputs=automatic` when passing `sub_kwargs`.", Hint: "pass the arguments of an autograd.Function by position"},
	FunctionMaterialize: {Form: "NYI", Hint: hintMove},
	FunctionResult:      {Form: bodyForm, Hint: hintBody},
	StrictMode: {Form: "Illegal getattr invocation {attribute} in strict mode",
		Hint: "a backward must not depend on properties of its gradients: leave the question out, or ask it of a tensor of forward"},

	OtherTraceTensor:  {Form: "tensor of another trace", Bare: true, Frame: true, Hint: hintMove},
	OtherTraceNumber:  {Form: "a number of another trace", Bare: true, Frame: true, Hint: hintMove},
	OpenRegion:        {Form: "end of an autocast or inference region that began outside of the graph", Frame: true, Hint: hintMove},
	EndlessIterator:   {Form: "an iterator without an end, or one that raises, at a graph break", Frame: true, Silent: true},
	LeftOverIterator:  {Form: "a {class} made in the frame is left over", Frame: true, Silent: true},
	NoNode:            {Form: "a tensor without a node", Bare: true, Frame: true, Silent: true},
	FakeTensorBackend: {Form: "Backend compiler failed with a fake tensor exception", Bare: true, Frame: true, Silent: true},
}
