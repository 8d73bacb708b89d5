package guard

import (
	"fmt"
	"strings"
)

// Failure says which fact does not hold.
type Failure struct {
	Text  string // what logs print; a check may leave it "" for the guard's expression
	Cause Cause  // a check may leave it 0 for the cause of the guard's kind

	by *Guard // the guard whose expression Text is; nil => Text is of the check
}

// Logged is Text as logs of recompiles have it. They leave room for the line that made the guard, and show that where guards are logged, too.
func (f Failure) Logged(places bool) string {
	switch g := f.by; {
	case g == nil:
	case g.note != "":
		return f.Text + "  # " + g.note
	case g.made.Code != nil && places:
		return fmt.Sprintf("%-60s  %s", f.Text, g.made.Comment())
	case g.made.Code != nil:
		return fmt.Sprintf("%-60s", f.Text)
	}
	return f.Text
}

// Hint is one sentence on what a user can do about the failure.
func (f Failure) Hint() string { return causes[f.Cause] }

// Cause says what varies from call to call, so that compiled code cannot be reused.
type Cause int

// The causes. 0 is none.
const (
	Other Cause = iota + 1
	SizeVaries
	GradVaries
	DTypeVaries
	RankVaries
	AutocastVaries
	ObjectVaries
	LengthVaries
	ValueVaries

	endOfCauses
)

// causes are what a user can do about each, as PyTorch's documents advise.
var causes = [endOfCauses]string{
	Other:          "what the code relied on has changed: TORCH_LOGS=guards shows where each guard comes from",
	SizeVaries:     "sizes vary: torch.compile(dynamic=True), or torch._dynamo.mark_dynamic(tensor, dim) before the first call",
	GradVaries:     "call the compiled function with gradients always on, or always off, or compile one function for each",
	DTypeVaries:    "each dtype needs code of its own: convert the inputs to one dtype before the call",
	RankVaries:     "each number of dimensions needs code of its own: give the inputs one form before the call",
	AutocastVaries: "enter autocast inside of the compiled function, or around every call",
	ObjectVaries:   "another object stands where the first was: pass the same object each time, or pass what the function needs of it",
	LengthVaries:   "the length of a container varies: pass containers of one length, or a tensor in its place",
	ValueVaries:    "a number or string of the program varies: pass it as a tensor, or keep it constant",
}

// HintOf is the hint for a failure that another program wrote down: a PyTorch words it in the same way. Only the form of the text counts, as names in it may
// be anything.
func HintOf(text string) string { return causes[causeOf(text)] }

func causeOf(text string) Cause {
	if rest, ok := strings.CutPrefix(text, "tensor '"); ok {
		for _, c := range []struct {
			words string
			cause Cause
		}{{"size mismatch at index ", SizeVaries}, {"stride mismatch at index ", SizeVaries}, {"dtype mismatch. ", DTypeVaries}, {"rank mismatch. ", RankVaries}, {"requires_grad mismatch. ", GradVaries}} {
			if i := strings.LastIndex(rest, "' "); i >= 0 && strings.HasPrefix(rest[i+2:], c.words) {
				return c.cause
			}
		}
		return Other
	}
	switch {
	case strings.HasPrefix(text, "GLOBAL_STATE changed: grad_mode"):
		return GradVaries
	case strings.HasPrefix(text, "GLOBAL_STATE changed: autocast"):
		return AutocastVaries
	case strings.HasPrefix(text, "len("):
		return LengthVaries
	case strings.HasPrefix(text, "___check_obj_id("), strings.HasPrefix(text, "___check_type_id("):
		return ObjectVaries
	case !strings.HasPrefix(text, "L[") && !strings.HasPrefix(text, "G["):
		return Other
	}
	_, rest, ok := strings.Cut(text, " == ")
	switch {
	case strings.Contains(text, ".size()["):
		return SizeVaries
	case ok && rest != "":
		return ValueVaries
	}
	return Other
}
