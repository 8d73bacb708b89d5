package ir

import (
	"fmt"
	"slices"
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

// Expr is a scalar expression. Exactly one of the groups of fields is used, by Kind.
type Expr struct {
	Kind  Kind
	DType tensor.DType // the C type that the expression computes in

	Buf   *Buffer // Load
	At    Index   // Load, AxisValue
	Value any     // Const: int64, float64 or bool
	Op    string  // Call: row of the table of operators
	Args  []*Expr // Call; of a Load numbers that say where to read: each adds itself times its step to At
	Steps []int64 // Load, as many as Args
}

// Direct reports whether the loops alone say where a load reads.
func (e *Expr) Direct() bool { return len(e.Args) == 0 }

// Kind says what an Expr is.
type Kind uint8

// The expression kinds.
const (
	Load      Kind = iota // Buf[At]
	Const                 // Value
	AxisValue             // At itself, as an integer
	Call                  // Op(Args...)
	Acc                   // what a reduction has come to, where its result is stored
)

// Reduce names a reduction: sum, prod, amax, amin, any, all. Empty: none.
type Reduce string

// Loops computes one buffer, or a part of it: for each point of Ranges, the element of Out's memory that At names. No two points have one element.
type Loops struct {
	Out       *Buffer
	At        Index // of the ranges
	Ranges    []int64
	Reduction []int64 // sizes of the reduced axes
	Reduce    Reduce
	Value     *Expr
	Final     *Expr    // what is stored, of an Acc; nil => the Acc itself
	Part      bool     // Out is a part of its root, of which no other loops that are a Part write
	Origins   []string // names of the graph nodes that it fuses
}

// StoreAt is where a loop over the shape of b writes its elements.
func (b *Buffer) StoreAt() Index { return Index{Coef: b.Stride, Const: b.Offset} }

// Sizes are those of all axes: the ranges, then the reduction's.
func (l *Loops) Sizes() []int64 { return slices.Concat(l.Ranges, l.Reduction) }

// Reads calls f for the loads below e, each once.
func (e *Expr) Reads(f func(*Expr)) {
	e.visit(func(e *Expr) {
		if e.Kind == Load {
			f(e)
		}
	})
}

// visit calls f for e and what is below it, each once, operands in order.
func (e *Expr) visit(f func(*Expr)) {
	seen := map[*Expr]bool{}
	var walk func(*Expr)
	walk = func(e *Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		f(e)
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
}

// Rewrite is e with the index of every load and axis value replaced by f of it. What is shared stays shared.
func (e *Expr) Rewrite(f func(Index) Index) *Expr {
	done := map[*Expr]*Expr{}
	var walk func(*Expr) *Expr
	walk = func(e *Expr) *Expr {
		if n := done[e]; n != nil {
			return n
		}
		n := *e
		if e.Kind == Load || e.Kind == AxisValue {
			n.At = f(e.At)
		}
		if e.Args != nil {
			n.Args = make([]*Expr, len(e.Args))
			for i, a := range e.Args {
				n.Args[i] = walk(a)
			}
		}
		done[e] = &n
		return &n
	}
	return walk(e)
}

// Size counts the distinct calls below e.
func (e *Expr) Size() int {
	n := 0
	e.visit(func(e *Expr) {
		if e.Kind == Call {
			n++
		}
	})
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
	if l.Final != nil {
		fmt.Fprintf(&b, " -> %s", l.Final)
	}
	return b.String()
}

// String shows an expression as calls with the dtype that they compute in: add.f32(x[i0], 1).
func (e *Expr) String() string {
	switch e.Kind {
	case Load:
		at := e.At.Text()
		for i, a := range e.Args {
			at += fmt.Sprintf(" + %d*%s", e.Steps[i], a)
		}
		return fmt.Sprintf("%s[%s]", e.Buf.Name, at)
	case Const:
		return fmt.Sprint(e.Value)
	case Acc:
		return "acc"
	case AxisValue:
		return "(" + e.At.Text() + ")"
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.String()
	}
	return fmt.Sprintf("%s.%s(%s)", e.Op, e.DType.Short(), strings.Join(args, ", "))
}
