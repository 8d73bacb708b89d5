package aten

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/sourcegraph/conc/panics"

	"whittle/kernels/tensor"
)

// Kind names the Python exception that an error becomes.
type Kind string

// The kinds.
const (
	RuntimeError        Kind = "RuntimeError"
	IndexError          Kind = "IndexError"
	TypeError           Kind = "TypeError"
	ValueError          Kind = "ValueError"
	NotImplementedError Kind = "NotImplementedError"
	// AssertionError is Python's.
	AssertionError Kind = "AssertionError"
	// LinAlgError is torch.linalg.LinAlgError, a RuntimeError.
	LinAlgError Kind = "LinAlgError"
	// DataDependentError is raised when a fake tensor's data would be needed.
	DataDependentError Kind = "DataDependentOutputException"
)

// An Error is a failed operator call. Its text is PyTorch's.
type Error struct {
	Op   string // "aten.add.Tensor"; "" when not known yet
	Arg  string // the argument at fault, "" if none in particular
	Msg  string
	Kind Kind
}

func (e *Error) Error() string { return e.Msg }

func errf(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Kind: RuntimeError}
}

func kindf(k Kind, format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Kind: k}
}

// noKernel refuses a dtype for which PyTorch's kernel has no form, in its words.
func noKernel(kernel string, t *tensor.Tensor) error {
	return kindf(RuntimeError, "\"%s\" not implemented for '%s'", kernel, cName(t.DType))
}

// dimError is the text for a dimension out of range.
func dimError(dim, nd int64) error {
	if nd == 0 {
		nd = 1
	}
	return kindf(IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -nd, nd-1, dim)
}

// A Panic is a kernel that panicked: a fault of whittle's, never of the program that called the operator. It is no Python exception, so
// no handler of the program sees it.
type Panic struct {
	Op    string // "aten.add.Tensor"
	Args  string // the call's arguments by name, tensors as dtype and sizes
	Value any    // that the kernel panicked with
	Stack string // Go's, of the goroutine that panicked

	// Trail is where the program was, innermost first: each interpreter's frame that the error leaves adds itself.
	Trail []string
}

// newPanic describes a call whose kernel panicked with r, which another thread may have carried here.
func newPanic(op *Op, c *Call, r any) *Panic {
	p := &Panic{Op: op.Name(), Args: describeCall(op, c.Args), Value: r}
	if there, ok := r.(*panics.Recovered); ok {
		p.Value, p.Stack = there.Value, string(there.Stack)
	} else {
		p.Stack = string(debug.Stack())
	}
	return p
}

func (p *Panic) Error() string {
	return fmt.Sprintf("internal error in %s(%s): %v", p.Op, p.Args, p.Value)
}

// Abort says that the error ends the program: see torch.Torch.Error.
func (p *Panic) Abort() bool { return true }

// Leave notes the place in the program that the error passes.
func (p *Panic) Leave(place string) { p.Trail = append(p.Trail, place) }

// describeCall lists a call's arguments by name.
func describeCall(op *Op, args []Value) string {
	params := op.Sig().Args
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = params[i].Name + "=" + describe(a)
	}
	return strings.Join(parts, ", ")
}

func describe(v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case *tensor.Tensor:
		if v == nil {
			return "None"
		}
		return v.Describe()
	case string:
		return fmt.Sprintf("%q", v)
	case []Value:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = describe(x)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}
