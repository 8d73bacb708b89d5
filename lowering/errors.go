package lowering

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// LoweringError is torch._inductor.exc.LoweringException: a node that could not be lowered.
type LoweringError struct {
	Type   string // of the cause: AssertionError
	Msg    string
	Target string
	Args   string
}

// Error is the text that Inductor prints for such a node.
func (e *LoweringError) Error() string {
	s := e.Type + ": " + e.Msg + "\n  target: " + e.Target
	if e.Args != "" {
		s += "\n" + e.Args
	}
	return s
}

// CompileError is torch._inductor.exc.CppCompileError: generated code that the compiler refused.
type CompileError struct {
	Cmd    []string
	Output string
	Source string
}

// Error is the text that Inductor prints: the command, and what the compiler said.
func (e *CompileError) Error() string {
	return fmt.Sprintf("C++ compile error\n\nCommand:\n%s\n\nOutput:\n%s", strings.Join(e.Cmd, " "), e.Output)
}

// describeArgs prints a node's arguments as Inductor does in its exception.
func describeArgs(n *fx.Node, buf func(*fx.Node) string) string {
	var b strings.Builder
	for i, a := range n.Args {
		fmt.Fprintf(&b, "  args[%d]: %s\n", i, describeArg(a, buf))
	}
	for _, k := range n.Kwargs {
		fmt.Fprintf(&b, "  kwargs: {'%s': %s}\n", k.Name, describeArg(k.Val, buf))
	}
	return strings.TrimRight(b.String(), "\n")
}

// describeArg is an argument as the repr of what Inductor would hold there.
func describeArg(a fx.Arg, buf func(*fx.Node) string) string {
	n, ok := a.(*fx.Node)
	if !ok {
		return fx.FormatArg(a)
	}
	t, ok := n.Val.(*tensor.Tensor)
	if !ok {
		return n.Name
	}
	return fmt.Sprintf("TensorBox(StorageBox(\n    %s(name='%s', layout=FixedLayout('cpu', torch.%s, size=%s, stride=%s))\n  ))",
		map[bool]string{true: "InputBuffer", false: "ComputedBuffer"}[n.Op == fx.Placeholder], buf(n), t.DType, list(t.Shape), list(t.Stride))
}

// list is a Python list of integers.
func list(s []int64) string {
	p := make([]string, len(s))
	for i, v := range s {
		p[i] = fmt.Sprint(v)
	}
	return "[" + strings.Join(p, ", ") + "]"
}

// A BuildError says that a compilation in the background has failed: the runs that wait for it do not take place.
type BuildError struct{ Err error }

func (e *BuildError) Error() string { return e.Err.Error() }

// Unwrap gives what went wrong: a *CompileError where the compiler refused its source.
func (e *BuildError) Unwrap() error { return e.Err }
