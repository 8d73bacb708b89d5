package aten

import (
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Fake reports whether the call computes metadata only.
func (c *Call) Fake() bool { return !c.real }

// sub is the plain dispatcher that runs parts of a kernel in the same mode.
func (c *Call) sub() Dispatcher {
	if c.real {
		return Eager
	}
	return Fake
}

// do runs another operator in the same mode, beneath any layers.
func (c *Call) do(name string, args ...Value) (Value, error) {
	return c.part(callOn(c.sub(), name, args))
}

func (c *Call) doT(name string, args ...Value) (*tensor.Tensor, error) {
	return asT(c.do(name, args...))
}

// via runs another operator through the call's dispatcher, for decompositions.
func (c *Call) via(name string, args ...Value) (Value, error) {
	d := c.Dispatch
	if d == nil {
		d = Default
	}
	return c.part(callOn(d, name, args))
}

func (c *Call) viaT(name string, args ...Value) (*tensor.Tensor, error) {
	return asT(c.via(name, args...))
}

func asT(v Value, err error) (*tensor.Tensor, error) {
	if err != nil {
		return nil, err
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, errf("expected a tensor result, got %T", v)
	}
	return t, nil
}

// callOn is Call with the error of an unknown name.
func callOn(d Dispatcher, name string, args []Value) (Value, error) {
	for _, a := range args {
		if e, ok := a.(error); ok {
			return nil, e // from must
		}
	}
	op := theRegistry().short[name]
	if op == nil {
		op = Lookup("aten." + name)
	}
	if op == nil && len(name) > 6 && name[:6] == "prims." {
		op = Lookup(name)
	}
	if op == nil {
		return nil, kindf(NotImplementedError, "aten.%s is not implemented", name)
	}
	s := op.Sig()
	if len(args) < len(s.Args) {
		full := make([]Value, len(s.Args))
		copy(full, args)
		for i := len(args); i < len(s.Args); i++ {
			full[i] = s.Args[i].Default
		}
		args = full
	}
	return d.Dispatch(op, args)
}

// T is argument i as a tensor, nil for None. A number where a tensor is allowed becomes a 0-dim tensor.
func (c *Call) T(i int) *tensor.Tensor {
	switch v := c.Args[i].(type) {
	case *tensor.Tensor:
		return v
	case nil:
		return nil
	case bool, int64, float64, complex128:
		return tensor.Scalar(v)
	}
	return nil
}

// None reports whether argument i is None.
func (c *Call) None(i int) bool { return c.Args[i] == nil }

// Ts is argument i as a list of tensors; None elements are nil.
func (c *Call) Ts(i int) []*tensor.Tensor {
	l, _ := c.Args[i].([]Value)
	ts := make([]*tensor.Tensor, len(l))
	for k, v := range l {
		ts[k], _ = v.(*tensor.Tensor)
	}
	return ts
}

// I is argument i as an integer (0 for None).
func (c *Call) I(i int) int64 { return toInt(c.Args[i]) }

func toInt(v Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
	case float64:
		return int64(v)
	case *tensor.Tensor:
		if !v.Fake && v.Numel() == 1 {
			return v.AtInt(0)
		}
	}
	return 0
}

// F is argument i as a float (0 for None).
func (c *Call) F(i int) float64 { return toFloat(c.Args[i]) }

// opMath is the dtype in which a kernel computes with elements of floating dtype d: 16-bit floats are widened.
func opMath(d tensor.DType) tensor.DType {
	if d.IsFloat() && d.Size() == 2 {
		return tensor.Float32
	}
	return d
}

// limit is number i in the precision in which a kernel compares the elements of argument 0 with it.
func (c *Call) limit(i int) float64 { return tensor.RoundTo(opMath(c.T(0).DType), c.F(i)) }

func toFloat(v Value) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case bool:
		if v {
			return 1
		}
	case *tensor.Tensor:
		if !v.Fake && v.Numel() == 1 {
			return v.At(0)
		}
	}
	return 0
}

// B is argument i as a bool (false for None).
func (c *Call) B(i int) bool {
	switch v := c.Args[i].(type) {
	case bool:
		return v
	case int64:
		return v != 0
	}
	return false
}

// Str is argument i as a string ("" for None).
func (c *Call) Str(i int) string { s, _ := c.Args[i].(string); return s }

// DT is argument i as a dtype, Invalid for None.
func (c *Call) DT(i int) tensor.DType { d, _ := c.Args[i].(tensor.DType); return d }

// MF is argument i as a memory format, "" for None.
func (c *Call) MF(i int) tensor.MemoryFormat {
	f, _ := c.Args[i].(tensor.MemoryFormat)
	return f
}

// Ints is argument i as a list of integers (nil for None).
func (c *Call) Ints(i int) []int64 { return toInts(c.Args[i]) }

func toInts(v Value) []int64 {
	switch v := v.(type) {
	case []Value:
		out := make([]int64, len(v))
		for k, x := range v {
			out[k] = toInt(x)
		}
		return out
	case int64:
		return []int64{v}
	}
	return nil
}

// Floats is argument i as a list of floats (nil for None).
func (c *Call) Floats(i int) []float64 {
	l, ok := c.Args[i].([]Value)
	if !ok {
		return nil
	}
	out := make([]float64, len(l))
	for k, x := range l {
		out[k] = toFloat(x)
	}
	return out
}

// Gen is argument i as a generator, or the process's default one.
func (c *Call) Gen(i int) *tensor.Generator {
	if g, ok := c.Args[i].(*tensor.Generator); ok && g != nil {
		return g
	}
	return DefaultGenerator
}

// DefaultGenerator is the stream that operators without a generator argument use:
// torch.default_generator. The one piece of state here, because PyTorch has it.
var DefaultGenerator = tensor.NewGenerator(tensor.DefaultSeed)

// New allocates a result with the given layout.
func (c *Call) New(d tensor.DType, shape, stride []int64) *tensor.Tensor {
	return tensor.EmptyMode(!c.real, d, shape, stride)
}

// NewBlank is New for a result whose elements are zero for the sake of repeated runs alone: see tensor.NewStorageBlank.
func (c *Call) NewBlank(d tensor.DType, shape, stride []int64) *tensor.Tensor {
	if !c.real {
		return tensor.EmptyFake(d, shape, stride)
	}
	return tensor.EmptyBlank(d, shape, stride)
}

// NewUnset is New for a kernel that writes every element before it reads one: what the elements are at first is left open.
func (c *Call) NewUnset(d tensor.DType, shape, stride []int64) *tensor.Tensor {
	if !c.real {
		return tensor.EmptyFake(d, shape, stride)
	}
	return tensor.EmptyUnset(d, shape, stride)
}

// NewC allocates a contiguous result.
func (c *Call) NewC(d tensor.DType, shape ...int64) *tensor.Tensor {
	return c.New(d, shape, tensor.ContiguousStrides(shape))
}

// floats are t's elements in row-major order, as float64, in memory that is given back when the call ends: nobody may have it then.
func (c *Call) floats(t *tensor.Tensor) []float64 {
	xs := c.numbers(t.Numel())
	t.LoadFloats(xs)
	return xs
}

// ints are t's elements in row-major order, as int64, in memory as that of floats, or t's own.
func (c *Call) ints(t *tensor.Tensor) []int64 {
	if t = c.dense(t, t.DType); t.DType == tensor.Int64 {
		return t.Int64s()
	}
	return t.Ints()
}

// numbers is n numbers, which may be any, in memory as that of floats.
func (c *Call) numbers(n int64) []float64 {
	if c.lent == nil {
		return make([]float64, n)
	}
	xs, done := tensor.Room[float64](n)
	c.lent.rooms = append(c.lent.rooms, done)
	return xs
}

// zeros is n zeros, in memory as that of floats.
func (c *Call) zeros(n int64) []float64 {
	xs := c.numbers(n)
	parallel.For(len(xs), 1<<17, func(lo, hi int) { clear(xs[lo:hi]) })
	return xs
}

// newCUnset is NewUnset of a contiguous result.
func (c *Call) newCUnset(d tensor.DType, shape ...int64) *tensor.Tensor {
	return c.NewUnset(d, shape, tensor.ContiguousStrides(shape))
}

// View makes a view of t; fake when the call is.
func (c *Call) View(t *tensor.Tensor, shape, stride []int64, off int64) *tensor.Tensor {
	v := tensor.NewView(t, shape, stride, off)
	v.Fake = v.Fake || !c.real
	return v
}

// ints makes a Value of a list of integers.
func ints(xs []int64) Value {
	out := make([]Value, len(xs))
	for i, x := range xs {
		out[i] = x
	}
	return out
}

func list(ts ...*tensor.Tensor) Value {
	out := make([]Value, len(ts))
	for i, t := range ts {
		if t != nil {
			out[i] = t
		}
	}
	return out
}

// optT keeps a nil tensor a nil Value.
func optT(t *tensor.Tensor) Value {
	if t == nil {
		return nil
	}
	return t
}

// wrapDim turns a possibly negative dimension into 0..nd-1; 0-dim tensors count as 1-dim.
func wrapDim(dim, nd int64) (int64, error) {
	n := max(nd, 1)
	if dim < -n || dim >= n {
		return 0, dimError(dim, nd)
	}
	if dim < 0 {
		dim += n
	}
	return dim, nil
}

// wrapDims wraps a list; an empty or nil list means all dimensions if allIfEmpty.
func wrapDims(dims []int64, nd int, allIfEmpty bool) ([]bool, error) {
	mask := make([]bool, max(nd, 1))
	if len(dims) == 0 && allIfEmpty {
		for i := range mask {
			mask[i] = true
		}
		return mask, nil
	}
	for _, d := range dims {
		w, err := wrapDim(d, int64(nd))
		if err != nil {
			return nil, err
		}
		if mask[w] {
			return nil, errf("dim %d appears multiple times in the list of dims", w)
		}
		mask[w] = true
	}
	return mask, nil
}
