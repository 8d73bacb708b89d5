package ir

import (
	"fmt"
	"strings"

	"whittle/kernels/tensor"
)

// Buffer is a piece of memory that kernels read and write: an input, a kernel's result, or
// what an extern operator made. Immutable once lowering has finished.
type Buffer struct {
	Name  string // buf0, arg0_1
	DType tensor.DType
	Shape []int64
	// Strided view of the storage: a value that is a view of another buffer shares Root.
	Stride []int64
	Offset int64
	Root   *Buffer // nil => the buffer owns its memory
}

// Owner is the buffer that owns the memory.
func (b *Buffer) Owner() *Buffer {
	if b.Root != nil {
		return b.Root
	}
	return b
}

// Index is an affine index: Const + sum Coef[i]*axis i. Axes 0..n-1 are the loop's ranges, the reduction axes follow.
type Index struct {
	Coef  []int64
	Const int64
}

// Text is the C expression of x over axis names i0, i1, ...
func (x Index) Text() string {
	var parts []string
	for i, c := range x.Coef {
		switch c {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("i%d", i))
		default:
			parts = append(parts, fmt.Sprintf("%d*i%d", c, i))
		}
	}
	if x.Const != 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprint(x.Const))
	}
	return strings.Join(parts, " + ")
}

// Expr is a scalar expression. Exactly one of the groups of fields is used, by Kind.
type Expr struct {
	Kind  Kind
	DType tensor.DType // the C type that the expression computes in

	Buf  *Buffer // Load
	At   Index   // Load, AxisValue
	Lit  string  // Const: C text
	Op   string  // Call: row of the emitter's table
	Args []*Expr // Call
}

// Kind says what an Expr is.
type Kind uint8

// The expression kinds.
const (
	Load      Kind = iota // Buf[At]
	Const                 // Lit
	AxisValue             // At itself, as an integer
	Call                  // Op(Args...)
)

// Reduce names a reduction: sum, prod, amax, amin, any, welford (var_mean). Empty: none.
type Reduce string

// Loops computes one buffer.
type Loops struct {
	Out       *Buffer
	Ranges    []int64
	Reduction []int64 // sizes of the reduced axes
	Reduce    Reduce
	Value     *Expr
	Final     func(acc string) string // C text of the stored value from the accumulator; nil => itself
	Extra     []Extra                 // further results of the same reduction (welford: the mean)
	Origins   []string                // names of the graph nodes that it fuses
}

// Extra is a further result of a reduction.
type Extra struct {
	Out   *Buffer
	Final func(acc string) string
}

// Reads lists the buffers that e loads.
func (e *Expr) Reads(f func(*Expr)) {
	seen := map[*Expr]bool{}
	var walk func(*Expr)
	walk = func(e *Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		if e.Kind == Load {
			f(e)
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
}

// Size counts the distinct calls below e.
func (e *Expr) Size() int {
	seen := map[*Expr]bool{}
	n := 0
	var walk func(*Expr)
	walk = func(e *Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		if e.Kind == Call {
			n++
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
	return n
}

// String shows loops for dumps: what is stored, over which space, and the expression.
func (l *Loops) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = ", l.Out.Name)
	if l.Reduce != "" {
		fmt.Fprintf(&b, "%s%v ", l.Reduce, l.Reduction)
	}
	fmt.Fprintf(&b, "over %v: %s", l.Ranges, l.Value)
	return b.String()
}

// String shows an expression as calls with the dtype that they compute in: add.f32(x[i0], 1LL).
func (e *Expr) String() string {
	switch e.Kind {
	case Load:
		return fmt.Sprintf("%s[%s]", e.Buf.Name, e.At.Text())
	case Const:
		return e.Lit
	case AxisValue:
		return "(" + e.At.Text() + ")"
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.String()
	}
	return fmt.Sprintf("%s.%s(%s)", e.Op, e.DType.Short(), strings.Join(args, ", "))
}
