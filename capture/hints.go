package capture

import "strings"

// hint says what a user can do about a recompile whose reason holds one of the given texts.
type hint struct {
	reasons []string
	advice  string
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
