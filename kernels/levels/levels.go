package levels

import (
	"fmt"
	"slices"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Kind is what a level does.
type Kind uint8

// The kinds of levels.
const (
	Vmap Kind = iota + 1
	Grad
	Jvp
	Functionalize
)

// String is the kind's name in PyTorch.
func (k Kind) String() string { return [...]string{"", "Vmap", "Grad", "Jvp", "Functionalize"}[k] }

// A Level is one transformation that is under way.
type Level struct {
	Kind       Kind
	ID         int    // counted from 1; that of an ended level may be another's by now
	Size       int64  // of a vmap's dimension
	Randomness string // of a vmap: error, same or different
	PrevMode   bool   // whether gradients were recorded when the level began
	// Traced says that the level is one that a trace notes, and that no operator runs on.
	Traced bool
	// Duals are the tensors of a jvp that have tangents.
	Duals []Dual

	ended  bool
	record aten.Dispatcher // of a level that records
}

// A Dual is a tensor of a jvp with its tangent, which is of the levels beneath.
type Dual struct{ Primal, Tangent *tensor.Tensor }

// Ended reports whether the level is over.
func (l *Level) Ended() bool { return l.ended }

// Wrapped is what a tensor of a level stands for.
type Wrapped struct {
	Level *Level
	Value *tensor.Tensor // of a level beneath
	Dim   int            // the dimension of Value that a vmap's tensor lacks
}

// Of is what x wraps; nil for a tensor of no level.
func Of(x *tensor.Tensor) *Wrapped {
	if x == nil {
		return nil
	}
	w, _ := x.Wraps.(*Wrapped)
	return w
}

// A Stack is the levels that are under way, the outermost first.
type Stack struct {
	Levels []*Level
	// Base runs operators on tensors of no level.
	Base func() aten.Dispatcher
	// Recorder makes the dispatcher that records operators on tensors that require gradients, and runs them on below. always says that no switch turns it off.
	Recorder func(below aten.Dispatcher, always bool) aten.Dispatcher
	// WithMode runs f with gradients recorded or not.
	WithMode func(on bool, f func())
	// Wrapping is told of each tensor that a level makes: its sizes are those of value, but for dimension dim where that is not negative.
	Wrapping func(x, value *tensor.Tensor, dim int)
}

// Push begins a level.
func (s *Stack) Push(l *Level) *Level {
	l.ID = len(s.Levels) + 1
	s.Levels = append(slices.Clip(s.Levels), l)
	return l
}

// Pop ends the innermost level; nil where there is none.
func (s *Stack) Pop() *Level {
	n := len(s.Levels)
	if n == 0 {
		return nil
	}
	l := s.Levels[n-1]
	l.ended = true
	s.Levels = s.Levels[:n-1]
	return l
}

// Top is the innermost level; nil where there is none.
func (s *Stack) Top() *Level {
	if n := len(s.Levels); n > 0 {
		return s.Levels[n-1]
	}
	return nil
}

// Active reports whether operators run on levels.
func (s *Stack) Active() bool {
	return len(s.Levels) > 0 && !s.Levels[len(s.Levels)-1].Traced
}

// Find is the level with that number; nil where there is none.
func (s *Stack) Find(id int) *Level {
	if id < 1 || id > len(s.Levels) {
		return nil
	}
	return s.Levels[id-1]
}

// Concerns reports whether an operator has to run on the stack: some level is under way, or an argument is of one that is over.
func (s *Stack) Concerns(args []aten.Value) bool { return s.Active() || anyWrapped(args) }

func anyWrapped(args []aten.Value) bool {
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && a.Wraps != nil {
				return true
			}
		case []aten.Value:
			if anyWrapped(a) {
				return true
			}
		}
	}
	return false
}

// Dispatch runs an operator on the innermost level. It implements aten.Dispatcher.
func (s *Stack) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	return s.at(len(s.Levels)).Dispatch(op, args)
}

// At is the dispatcher of the levels up to l.
func (s *Stack) At(l *Level) aten.Dispatcher { return s.at(l.ID) }

// at is the dispatcher of the first n levels.
func (s *Stack) at(n int) aten.Dispatcher {
	if n == 0 {
		return base{s}
	}
	return levelAt{s, n}
}

// base runs operators beneath all levels.
type base struct{ s *Stack }

func (b base) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	return b.s.Base().Dispatch(op, b.s.live(args))
}

// levelAt runs operators on the level with number n.
type levelAt struct {
	s *Stack
	n int
}

func (d levelAt) level() *Level { return d.s.Levels[d.n-1] }

func (d levelAt) below() aten.Dispatcher { return d.s.at(d.n - 1) }

// Dispatch implements aten.Dispatcher.
func (d levelAt) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	args = d.s.live(args)
	l := d.level()
	switch {
	case l.Traced || l.Kind == Functionalize:
		return d.below().Dispatch(op, args)
	case l.Kind == Vmap:
		return vmapped{d}.Dispatch(op, args)
	}
	if l.record == nil {
		l.record = d.s.Recorder(stripped{d}, l.Kind == Jvp)
	}
	return l.record.Dispatch(op, args)
}

// live takes the wrappers of ended levels off.
func (s *Stack) live(args []aten.Value) []aten.Value {
	if !anyWrapped(args) {
		return args
	}
	return mapped(args, Alive).([]aten.Value)
}

// mapped is v with f's tensors in the place of its own.
func mapped(v aten.Value, f func(x *tensor.Tensor) *tensor.Tensor) aten.Value {
	out, _ := aten.MapTensors(v, func(x *tensor.Tensor) (aten.Value, error) { return f(x), nil })
	return out
}

// Alive is x without the wrappers of levels that are over.
func Alive(x *tensor.Tensor) *tensor.Tensor {
	for w := Of(x); w != nil && w.Level.ended; w = Of(x) {
		x = w.Value
	}
	return x
}

// Wrap makes a tensor of a level that stands for value, without a dimension of it where dim is not negative.
func (s *Stack) Wrap(l *Level, value *tensor.Tensor, dim int) *tensor.Tensor {
	x := &tensor.Tensor{Storage: value.Storage, DType: value.DType, Offset: value.Offset, Fake: value.Fake, Mode: value.Mode, Writes: value.Writes,
		Shape: slices.Clone(value.Shape), Stride: slices.Clone(value.Stride)}
	if dim >= 0 {
		x.Shape, x.Stride = slices.Delete(x.Shape, dim, dim+1), slices.Delete(x.Stride, dim, dim+1)
		x.Fake = true // nobody reads elements but through the operators
	}
	x.Wraps = &Wrapped{l, value, dim}
	if s.Wrapping != nil {
		s.Wrapping(x, value, dim)
	}
	return x
}

// Unwrap is what x stands for on a level, x itself where it is not of that; dim is -1 unless a dimension is hidden.
func Unwrap(l *Level, x *tensor.Tensor) (value *tensor.Tensor, dim int) {
	if w := Of(x); w != nil && w.Level == l {
		return w.Value, w.Dim
	}
	return x, -1
}

// stripped runs operators of a level that records on the levels beneath.
type stripped struct{ levelAt }

// Dispatch implements aten.Dispatcher.
func (d stripped) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	l := d.level()
	known := map[*tensor.Tensor]*tensor.Tensor{}
	wrapped := false
	inner := mapped(args, func(v *tensor.Tensor) *tensor.Tensor {
		x, _ := Unwrap(l, v)
		if x != v {
			known[x], wrapped = v, true
		}
		return x
	}).([]aten.Value)
	if wrapped {
		if err := captured(op, args, l); err != nil {
			return nil, err
		}
	}
	var out aten.Value
	var err error
	run := func() { out, err = d.below().Dispatch(op, inner) }
	if l.Kind == Grad && !l.PrevMode && d.s.WithMode != nil {
		d.s.WithMode(false, run)
	} else {
		run()
	}
	// What is made or computed on the level belongs to it, whatever it is made of: it may be written to.
	if err != nil || !wrapped && len(op.Facts().Writes) > 0 {
		return out, err
	}
	for _, i := range op.Facts().Writes {
		if x, ok := args[i].(*tensor.Tensor); ok && x != nil {
			if v, _ := Unwrap(l, x); v != x {
				x.Shape, x.Stride, x.Offset, x.Storage = slices.Clone(v.Shape), slices.Clone(v.Stride), v.Offset, v.Storage
			}
		}
	}
	return mapped(out, func(v *tensor.Tensor) *tensor.Tensor {
		if x := known[v]; x != nil {
			return x
		}
		x := d.s.Wrap(l, v, -1)
		if op.Tags&aten.View == 0 || len(args) == 0 {
			return x
		}
		if src, ok := args[0].(*tensor.Tensor); ok && v.Storage == src.Storage {
			x.Base = src
			if src.Base != nil {
				x.Base = src.Base
			}
		}
		return x
	}), nil
}

// captured is the error of an operator that writes to a tensor that the function did not get as an argument.
func captured(op *aten.Op, args []aten.Value, l *Level) error {
	for _, i := range op.Facts().Writes {
		x, ok := args[i].(*tensor.Tensor)
		if !ok || x == nil {
			continue
		}
		if w := Of(x); w == nil || w.Level != l {
			return &aten.Error{Op: op.Name(), Kind: aten.RuntimeError, Msg: fmt.Sprintf("During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (%s) "+
				"that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs.", qualified(op))}
		}
	}
	return nil
}

// qualified is an operator's name as PyTorch's messages have it: aten::add_.Tensor.
func qualified(op *aten.Op) string {
	sig := op.Sig()
	name := "aten::" + sig.Name
	if o := overload(op); o != "default" {
		name += "." + o
	}
	return name
}

// overload is the last part of an operator's name.
func overload(op *aten.Op) string {
	name := op.Name()
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}
