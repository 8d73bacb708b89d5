// Package atentest makes random calls of operators, for tests that compare two ways to run them.
//
// A call has one value per argument of a schema: small tensors of all kinds of shapes, layouts and dtypes, numbers near zero, short lists.
// Most calls are wrong in some way, and must be refused by name; the rest must give the same result however they are run.
// It knows schemas and no operator.
package atentest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Operators are the rows that random calls are made for: all of aten but those that make tensors of any size or draw random numbers.
func Operators() []*aten.Op {
	return slices.DeleteFunc(aten.All(), func(op *aten.Op) bool {
		return op.Sig().Namespace != "aten" || op.Has(aten.Factory) || op.Facts().Effect == aten.Random
	})
}

// A Generator makes calls from one stream of random numbers. The zero value is not usable: see New.
type Generator struct {
	r *rand.Rand

	// What the tensors of the call in hand mostly are.
	rank  int            // -1: each its own
	shape []int64        // nil: each its own
	dtype []tensor.DType // drawn from
}

// New starts a stream. Streams of different seeds or keys share nothing.
func New(seed, key uint64) *Generator { return &Generator{r: rand.New(rand.NewPCG(seed, key))} }

var (
	allTypes   = []tensor.DType{tensor.Float32, tensor.Float32, tensor.Float64, tensor.Int64, tensor.Bool, tensor.BFloat16, tensor.Int32}
	floatTypes = []tensor.DType{tensor.Float32}
)

// Tensor makes a small tensor of the given rank, or of any for -1: often of rank 2, sometimes 0-d, empty, with dimensions of size 1, strided, or transposed.
func (g *Generator) Tensor(rank int) *tensor.Tensor {
	r := g.r
	if rank < 0 {
		rank = []int{2, 2, 3, 1, 4, 0}[r.IntN(6)]
	}
	shape := make([]int64, rank)
	for i := range shape {
		shape[i] = []int64{3, 3, 3, 2, 1, 4, 0}[r.IntN(7)]
	}
	return g.shaped(shape)
}

func (g *Generator) shaped(shape []int64) *tensor.Tensor {
	r := g.r
	types := g.dtype
	if types == nil {
		types = allTypes
	}
	d := types[r.IntN(len(types))]
	st := tensor.ContiguousStrides(shape)
	off := int64(0)
	switch r.IntN(4) {
	case 0:
		for i := range st {
			st[i] *= 2
		}
		off = 1
	case 1:
		if len(shape) >= 2 {
			rev := slices.Clone(shape)
			slices.Reverse(rev)
			st = tensor.ContiguousStrides(rev)
			slices.Reverse(st)
		}
	}
	n := off + 1
	for i, s := range shape {
		n += max(s-1, 0) * st[i]
	}
	t := tensor.NewView(tensor.Empty(d, n), slices.Clone(shape), st, off)
	t.Base = nil
	xs := make([]float64, t.Numel())
	for i := range xs {
		xs[i] = float64(r.IntN(9)-3) / []float64{1, 1, 2}[r.IntN(3)]
		if d.Kind() < tensor.KindFloat {
			xs[i] = float64(r.IntN(3))
		}
	}
	t.SetFloats(xs)
	return t
}

// Args makes a value for each argument of a schema. Tensors of one call mostly have one rank, and in some calls one shape or one dtype.
func (g *Generator) Args(s *aten.Schema) []aten.Value {
	g.rank, g.shape, g.dtype = -1, nil, nil
	if g.r.IntN(3) > 0 {
		g.rank = []int{2, 2, 1, 3, 4}[g.r.IntN(5)]
	}
	if g.r.IntN(2) == 0 {
		g.dtype = floatTypes
	}
	if g.r.IntN(3) == 0 {
		g.shape = g.Tensor(g.rank).Shape
	}
	first := true
	out := make([]aten.Value, len(s.Args))
	for i, a := range s.Args {
		out[i] = g.arg(a, &first)
	}
	return out
}

// arg makes one argument; first says whether no tensor of the call is made yet.
func (g *Generator) arg(a aten.Arg, first *bool) aten.Value {
	r := g.r
	if a.HasDefault && r.IntN(2) == 0 || slices.Contains(given, a.Type.Base) {
		if a.HasDefault || a.Type.Optional {
			return a.Default
		}
	}
	if a.Type.Optional && r.IntN(2) == 0 {
		return nil
	}
	if !a.Type.List {
		return g.one(a.Type.Base, first)
	}
	n := a.Type.Size
	if n == 0 || r.IntN(6) == 0 {
		n = r.IntN(4)
	}
	l := []aten.Value{}
	for range n {
		v := g.one(a.Type.Base, first)
		if x, ok := v.(int64); ok && a.Name != "dim" && a.Name != "dims" {
			v = max(x, 1)
		}
		l = append(l, v)
	}
	return l
}

// given are the types of arguments that keep their defaults.
var given = []string{"Generator", "Device", "Layout", "MemoryFormat"}

func (g *Generator) one(base string, first *bool) aten.Value {
	r := g.r
	switch base {
	case "Tensor":
		if !*first && r.IntN(8) == 0 {
			return g.Tensor(-1)
		}
		*first = false
		if g.shape != nil {
			return g.shaped(g.shape)
		}
		return g.Tensor(g.rank)
	case "int", "SymInt":
		return int64(r.IntN(5) - 1)
	case "float", "SymFloat":
		return float64(r.IntN(5)) / 2
	case "bool", "SymBool":
		return r.IntN(2) == 0
	case "Scalar", "number":
		return []aten.Value{int64(r.IntN(4)), float64(r.IntN(4)) / 2, true}[r.IntN(3)]
	case "str":
		return []aten.Value{"mean", "sum", "none", "amax", "constant", "reflect", "linear"}[r.IntN(7)]
	case "ScalarType":
		return []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64}[r.IntN(3)]
	}
	return nil
}

// Tensors maps each tensor of a value, at any depth; the rest stays as it is.
func Tensors(v aten.Value, f func(*tensor.Tensor) aten.Value) aten.Value {
	out, _ := aten.MapTensors(v, func(x *tensor.Tensor) (aten.Value, error) { return f(x), nil })
	return out
}

// Fake is a value with metadata for tensors.
func Fake(args []aten.Value) []aten.Value {
	return Tensors(args, func(t *tensor.Tensor) aten.Value { return tensor.FakeLike(t) }).([]aten.Value)
}

// Clone is a value with tensors of their own memory, all of it, and the same strides and offsets.
func Clone(args []aten.Value) []aten.Value {
	return Tensors(args, func(t *tensor.Tensor) aten.Value {
		c := *t
		s := tensor.NewStorage(t.Storage.NBytes)
		copy(s.Data, t.Storage.Data)
		c.Storage, c.Base, c.Autograd, c.Py = s, nil, nil, nil
		c.Shape, c.Stride = slices.Clone(t.Shape), slices.Clone(t.Stride)
		return &c
	}).([]aten.Value)
}

// Describe shows a value with dtypes, shapes and strides for tensors: "(f32[2 3][3 1], -1)".
func Describe(v aten.Value) string {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil {
			return "None"
		}
		return fmt.Sprintf("%s%v%v", v.DType.Short(), v.Shape, v.Stride)
	case []aten.Value:
		p := make([]string, len(v))
		for i, x := range v {
			p[i] = Describe(x)
		}
		return "(" + strings.Join(p, ", ") + ")"
	}
	return fmt.Sprint(v)
}

// internal are phrases of errors that come from Go or from inside a kernel, not from what is wrong with a call.
var internal = []string{"internal error", "runtime error", "index out of range [", "nil pointer", "makeslice", "interface conversion", "expected a tensor result",
	"slice bounds", "divide by zero", "%!", "reflect:"}

// Clear says what is wrong with the error of a refused call: it must name the operator, and say nothing about whittle's inside. "" is fine.
func Clear(err error) string {
	text := err.Error()
	for _, s := range internal {
		if strings.Contains(text, s) {
			return "the error speaks of whittle's inside: " + text
		}
	}
	if strings.TrimSpace(text) == "" {
		return "the error is empty"
	}
	e, ok := err.(*aten.Error)
	if !ok {
		return fmt.Sprintf("the error has the type %T: %s", err, text)
	}
	if e.Op == "" {
		return "the error names no operator: " + text
	}
	return ""
}
