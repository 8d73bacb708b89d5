package capture

import "strings"

// hint says what a user can do about a graph break or a recompile whose reason holds one of the given texts.
type hint struct {
	reasons []string
	advice  string
}

// breakHints are tried in order; what PyTorch's documents advise.
var breakHints = []hint{
	{[]string{"Data-dependent jump", "generic_jump"},
		"a branch on the values of a tensor cannot be in a graph: compute both sides and choose with torch.where, or use torch.cond"},
	{[]string{"Tensor.item", "_local_scalar_dense", "Tensor.__float__", "Tensor.__int__", "Tensor.tolist"},
		"a number that is read from a tensor ends the graph: keep it a tensor, or set torch._dynamo.config.capture_scalar_outputs = True"},
	{[]string{"dynamic shape operator"},
		"the sizes of the result depend on data: set torch._dynamo.config.capture_dynamic_output_shape_ops = True, or use an operator with a fixed size (torch.where with three arguments in place of nonzero and masks)"},
	{[]string{"builtin: print", "Logger not supported", "skip function print"},
		"printing and logging end a graph: move them out, put them behind `if not torch.compiler.is_compiling()`, or add the function to torch._dynamo.config.reorderable_logging_functions"},
	{[]string{"builtin: open", "TextIOWrapper", "builtin: input"},
		"files and other input and output cannot be in a graph: do them outside of the compiled function"},
	{[]string{"Tensor.backward", "torch._C._autograd_grad", "skip function grad"},
		"compile the forward pass alone, or the loss with it; call backward() outside of the compiled function"},
	{[]string{"Tensor.numpy", "Tensor.data_ptr"},
		"capture does not follow the memory of a tensor: use torch operators, or make the code a custom operator with torch.library.custom_op"},
	{[]string{"torch._dynamo.disable()", "torch.compiler.disable"},
		"the function is kept out of graphs on purpose: take the decorator away, or call it outside of the compiled function"},
	{[]string{"graph_break"},
		"the program or the library asks for this break; nothing is to be done"},
	{[]string{"nn_parameter construction"},
		"make modules and parameters outside of the compiled function and pass them in"},
	{[]string{"Tensor.requires_grad_"},
		"set requires_grad before the compiled function is called"},
	{[]string{"strict mode"},
		"a backward must not depend on properties of its gradients: leave the question out, or ask it of a tensor of forward"},
	{[]string{"User defind vjp", "User defind jvp"},
		"write backward in place of vjp and jvp"},
	{[]string{"set_subgraph_inputs"},
		"pass the arguments of an autograd.Function by position"},
	{[]string{"HigherOrderOperator body", "Expected branches", "operands must be a sequence"},
		"what goes in and out of torch.cond, checkpoint and autograd.Function in a graph are tensors: pass other values by closure, and return tensors alone"},
	{[]string{"partial tensor op"},
		"arithmetic on random numbers alone is not captured: draw the number outside, or use torch.rand and torch.randint"},
	{[]string{"copy.deepcopy"},
		"copy objects outside of the compiled function; a tensor has clone()"},
	{[]string{"unsupported builtin", "'skip function", "inline in skipfiles"},
		"capture does not look into this function: call it outside; make it an operator with torch.library.custom_op; or, if it consists of torch operators, mark it with torch.compiler.allow_in_graph"},
	{[]string{"_warnings.warn", "warnings.warn"},
		"warn outside of the compiled function, or behind `if not torch.compiler.is_compiling()`"},
	{[]string{"BEFORE_WITH", "GenericContextWrappingVariable"},
		"capture does not know this context manager: enter it outside of the compiled function"},
	{[]string{"FOR_ITER", "generator"},
		"turn the generator into a list before the compiled function is called"},
	{[]string{"Unsupported: raise", "Observed exception"},
		"the traced code raises an exception that nothing catches: check arguments outside of the compiled function"},
	{[]string{"DELETE_GLOBAL", "call_id"},
		"keep the state of the program that this touches out of the compiled function"},
	{[]string{"TypeError"},
		"the call is wrong in eager mode, too: correct its arguments"},
}

// recompileHints are for the guards that failed.
var recompileHints = []hint{
	{[]string{"size mismatch", ".size()[", "stride mismatch"},
		"sizes vary: torch.compile(dynamic=True), or torch._dynamo.mark_dynamic(tensor, dim) before the first call"},
	{[]string{"requires_grad mismatch", "grad_mode"},
		"call the compiled function with gradients always on, or always off, or compile one function for each"},
	{[]string{"dtype mismatch"}, "each dtype needs code of its own: convert the inputs to one dtype before the call"},
	{[]string{"rank mismatch"}, "each number of dimensions needs code of its own: give the inputs one form before the call"},
	{[]string{"autocast"}, "enter autocast inside of the compiled function, or around every call"},
	{[]string{"___check_obj_id", "___check_type_id"}, "another object stands where the first was: pass the same object each time, or pass what the function needs of it"},
	{[]string{"len(", "___dict_contains"}, "the length of a container varies: pass containers of one length, or a tensor in its place"},
	{[]string{" == "}, "a number or string of the program varies: pass it as a tensor, or keep it constant"},
}

// BreakHint is one sentence on what a user can do about a graph break with this reason.
func BreakHint(reason string) string {
	return advice(breakHints, reason, "move what this line does out of the compiled function, or out of the loop or block that holds it; TORCH_LOGS=graph_breaks shows where it was reached from")
}

// RecompileHint is one sentence on what a user can do about a guard that fails for this reason.
func RecompileHint(reason string) string {
	return advice(recompileHints, reason, "what the code relied on has changed: TORCH_LOGS=guards shows where each guard comes from")
}

func advice(rows []hint, reason, otherwise string) string {
	for _, h := range rows {
		for _, r := range h.reasons {
			if strings.Contains(reason, r) {
				return h.advice
			}
		}
	}
	return otherwise
}
