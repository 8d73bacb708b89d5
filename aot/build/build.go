package build

import (
	"fmt"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// B calls operators on D. Its methods panic with a private value that Run recovers; they
// must be called below Run.
type B struct {
	D aten.Dispatcher
}

type abort struct{ err error }

// Run evaluates f and returns the error of the first operator that failed.
func Run(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			a, ok := r.(abort)
			if !ok {
				panic(r)
			}
			err = a.err
		}
	}()
	f()
	return nil
}

// Call runs an operator with its arguments in schema order, keyword-only ones included; nil leaves a keyword at its default.
func Call(d aten.Dispatcher, name string, args ...aten.Value) (aten.Value, error) {
	op := aten.Lookup(name)
	if op == nil {
		return nil, fmt.Errorf("whittle has no operator %s", name)
	}
	var pos []aten.Value
	var kw map[string]aten.Value
	s := op.Sig()
	for i, a := range args {
		if i < len(s.Args) && s.Args[i].KwOnly {
			if a != nil {
				if kw == nil {
					kw = map[string]aten.Value{}
				}
				kw[s.Args[i].Name] = a
			}
			continue
		}
		pos = append(pos, a)
	}
	bound, err := aten.Bind(op, pos, kw)
	if err != nil {
		return nil, err
	}
	return d.Dispatch(op, bound)
}

// Check aborts the expression on an error.
func (b *B) Check(err error) {
	if err != nil {
		panic(abort{err})
	}
}

// Try calls an aten operator with one tensor result. name is "add.Tensor".
func (b *B) Try(name string, args ...aten.Value) (*tensor.Tensor, error) {
	v, err := Call(b.D, "aten."+name, args...)
	if err != nil {
		return nil, err
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("aten.%s gave %T where a tensor was expected", name, v)
	}
	return t, nil
}

// T calls an aten operator with one tensor result.
func (b *B) T(name string, args ...aten.Value) *tensor.Tensor {
	t, err := b.Try(name, args...)
	b.Check(err)
	return t
}

// M calls an aten operator with several tensor results.
func (b *B) M(name string, args ...aten.Value) []*tensor.Tensor {
	v, err := Call(b.D, "aten."+name, args...)
	b.Check(err)
	return Tensors(v)
}

// Prim calls a prims operator with one tensor result.
func (b *B) Prim(name string, args ...aten.Value) *tensor.Tensor {
	v, err := Call(b.D, "prims."+name, args...)
	b.Check(err)
	t, ok := v.(*tensor.Tensor)
	if !ok {
		b.Check(fmt.Errorf("prims.%s gave %T where a tensor was expected", name, v))
	}
	return t
}

// Prims calls a prims operator with several tensor results.
func (b *B) Prims(name string, args ...aten.Value) []*tensor.Tensor {
	v, err := Call(b.D, "prims."+name, args...)
	b.Check(err)
	return Tensors(v)
}

// Un calls op.default on one tensor.
func (b *B) Un(op string, a *tensor.Tensor) *tensor.Tensor { return b.T(op+".default", a) }

// Mul is a*o; a Scalar operand uses the Tensor overload too, as PyTorch's wrapped numbers do.
func (b *B) Mul(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return b.T("mul.Tensor", a, o) }

// Div is a/o.
func (b *B) Div(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return b.T("div.Tensor", a, o) }

// Add is a+o.
func (b *B) Add(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return b.T("add.Tensor", a, o) }

// Sub is a-o.
func (b *B) Sub(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return b.T("sub.Tensor", a, o) }

// Neg is -a.
func (b *B) Neg(a *tensor.Tensor) *tensor.Tensor { return b.T("neg.default", a) }

// Pow is a**e for a tensor or a scalar e.
func (b *B) Pow(a *tensor.Tensor, e aten.Value) *tensor.Tensor {
	if _, ok := e.(*tensor.Tensor); ok {
		return b.T("pow.Tensor_Tensor", a, e)
	}
	return b.T("pow.Tensor_Scalar", a, e)
}

// ZerosLike is zeros of a's shape and dtype.
func (b *B) ZerosLike(a *tensor.Tensor) *tensor.Tensor { return b.T("zeros_like.default", a) }

// Where is cond ? x : y.
func (b *B) Where(cond, x, y *tensor.Tensor) *tensor.Tensor { return b.T("where.self", cond, x, y) }

// MaskFill puts v where mask holds.
func (b *B) MaskFill(a, mask *tensor.Tensor, v aten.Value) *tensor.Tensor {
	return b.T("masked_fill.Scalar", a, mask, v)
}

// Scalar is a 0-dim tensor of like's dtype.
func (b *B) Scalar(v aten.Value, like *tensor.Tensor) *tensor.Tensor {
	return b.T("full.default", []aten.Value{}, v, like.DType)
}

// To casts a to d; a is returned as it is when it has that dtype.
func (b *B) To(a *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if a.DType == d {
		return a
	}
	return b.T("_to_copy.default", a, d)
}

// SumTo reduces a broadcast tensor to shape.
func (b *B) SumTo(g *tensor.Tensor, shape []int64) *tensor.Tensor {
	if EqualInts(g.Shape, shape) {
		return g
	}
	if len(shape) == 0 {
		return b.T("sum.default", g)
	}
	lead := len(g.Shape) - len(shape)
	var dims []int64
	for i := range g.Shape {
		if i < lead || shape[i-lead] == 1 && g.Shape[i] != 1 {
			dims = append(dims, int64(i))
		}
	}
	if len(dims) > 0 {
		g = b.T("sum.dim_IntList", g, Ints(dims), true)
	}
	if lead > 0 {
		g = b.T("view.default", g, Ints(shape))
	}
	return g
}

// Tensors flattens a result into its tensors; what is no tensor becomes nil.
func Tensors(out aten.Value) []*tensor.Tensor {
	switch out := out.(type) {
	case *tensor.Tensor:
		return []*tensor.Tensor{out}
	case []aten.Value:
		var rs []*tensor.Tensor
		for _, x := range out {
			if l, ok := x.([]aten.Value); ok {
				rs = append(rs, Tensors(l)...)
				continue
			}
			t, _ := x.(*tensor.Tensor)
			rs = append(rs, t)
		}
		return rs
	}
	return nil
}

// Ints makes an argument list of s.
func Ints(s []int64) []aten.Value {
	out := make([]aten.Value, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// ToInts reads an int or int-list argument.
func ToInts(v aten.Value) []int64 {
	switch v := v.(type) {
	case int64:
		return []int64{v}
	case []aten.Value:
		out := make([]int64, len(v))
		for i, x := range v {
			out[i], _ = x.(int64)
		}
		return out
	}
	return nil
}

// Float reads a Scalar argument.
func Float(v aten.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// Is reports whether a Scalar argument equals x.
func Is(v aten.Value, x float64) bool {
	switch v.(type) {
	case int64, float64, bool:
		return Float(v) == x
	}
	return false
}

// EqualInts compares two shapes.
func EqualInts(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Wrap makes a dimension non-negative.
func Wrap(d int64, n int) int {
	if d < 0 {
		d += int64(n)
	}
	return int(d)
}

// Optional makes a nil tensor None.
func Optional(t *tensor.Tensor) aten.Value {
	if t == nil {
		return nil
	}
	return t
}
