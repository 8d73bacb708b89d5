package aten

import (
	"math"
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// Operators that complex tensors take by what their real and imaginary parts, or their truth, are to kernels of real numbers.

// complexForms say how the operators of a name, with all overloads, are computed where one of their tensors is complex. They stand before the rows' own
// kernels, which know no imaginary parts. Results are those of PyTorch; operators that it refuses for complex numbers are not here.
var complexForms = map[string]Fn{}

// complexForm is how op is computed for complex tensors among args; nil where its row does that, or there are none.
func complexForm(op *Op, args []Value) Fn {
	f := complexForms[op.Sig().Name]
	if f == nil || op.Sig().Namespace != "aten" || firstOf(args, isComplex) == nil {
		return nil
	}
	return f
}

// again runs the call's own operator, or another overload of the same arguments, with other arguments.
func (c *Call) again(name string, args []Value) (Value, error) {
	return c.part(callOn(c.sub(), strings.TrimPrefix(name, "aten."), args))
}

// halves are the arguments with the real, 0, or imaginary, 1, parts in place of complex tensors and dtypes.
func (c *Call) halves(args []Value, i int64) []Value {
	out := slices.Clone(args)
	for k, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && isComplex(a) {
				out[k] = must(c.do("select.int", must(c.do("view_as_real", a)), int64(-1), i))
			}
		case []Value:
			out[k] = c.halves(a, i)
		case tensor.DType:
			out[k] = a.ToReal()
		}
	}
	return out
}

// joined is the complex tensor, or the list of them, of real and imaginary parts.
func (c *Call) joined(re, im Value) (Value, error) {
	xs, ok := re.([]Value)
	if !ok {
		return c.do("complex", re, im)
	}
	out := make([]Value, len(xs))
	for i := range xs {
		out[i] = must(c.do("complex", xs[i], im.([]Value)[i]))
	}
	return out, nil
}

// byParts computes what is linear, over the real numbers, in all complex tensors together.
func byParts(c *Call) (Value, error) {
	return c.joined(must(c.again(c.Op.Name(), c.halves(c.Args, 0))), must(c.again(c.Op.Name(), c.halves(c.Args, 1))))
}

// byTruth computes what asks of elements only whether they are zero.
func byTruth(c *Call) (Value, error) {
	args := slices.Clone(c.Args)
	for i, a := range args {
		if t, ok := a.(*tensor.Tensor); ok && isComplex(t) {
			args[i] = must(c.do("ne.Scalar", t, int64(0)))
		}
	}
	return c.again(c.Op.Name(), args)
}

// crossed is the product, of the kind that f computes, of two complex arguments of the call, from four products of their parts.
func (c *Call) crossed(a, b int, f func(args []Value) Value) (re, im Value) {
	with := func(i, k int64) Value {
		args := slices.Clone(c.Args)
		args[a], args[b] = c.halves(args[a:a+1], i)[0], c.halves(args[b:b+1], k)[0]
		return f(args)
	}
	return must(c.do("sub.Tensor", with(0, 0), with(1, 1), int64(1))), must(c.do("add.Tensor", with(0, 1), with(1, 0), int64(1)))
}

// spreadOf is var, std, var_mean and std_mean: the variance is that of the parts together.
func spreadOf(c *Call) (Value, error) {
	name := c.Op.Name()
	root, both := strings.Contains(name, ".std"), strings.Contains(name, "_mean")
	name = strings.Replace(name, ".std", ".var", 1)
	re, im := must(c.again(name, c.halves(c.Args, 0))), must(c.again(name, c.halves(c.Args, 1)))
	spread := func(i int) Value {
		a, b := re, im
		if both {
			a, b = re.([]Value)[i], im.([]Value)[i]
		}
		v := must(c.do("add.Tensor", a, b, int64(1)))
		if root {
			v = must(c.do("sqrt", v))
		}
		return v
	}
	if !both {
		return spread(0), nil
	}
	return []Value{spread(0), must(c.do("complex", re.([]Value)[1], im.([]Value)[1]))}, nil
}

// convolve is convolution: bilinear in input and weight, with the bias added at the end.
func convolve(c *Call) (Value, error) {
	re, im := c.crossed(0, 1, func(args []Value) Value {
		args[2] = nil
		return must(c.again(c.Op.Name(), args))
	})
	v := must(c.do("complex", re, im))
	b := c.T(2)
	if b == nil {
		return v, nil
	}
	shape := []int64{b.Numel()}
	for range v.(*tensor.Tensor).Dim() - 2 {
		shape = append(shape, 1)
	}
	return c.do("add.Tensor", v, must(c.do("view", b, ints(shape))), int64(1))
}

// convolveBack is convolution_backward, in the form for numbers without conjugates: bilinear in gradient and weight, and in gradient and input.
func convolveBack(c *Call) (Value, error) {
	with := func(g, rest int64) []Value {
		args := slices.Clone(c.Args)
		args[0] = c.halves(args[:1], g)[0]
		copy(args[1:3], c.halves(args[1:3], rest))
		return must(c.again(c.Op.Name(), args)).([]Value)
	}
	rr, ii, ir, ri := with(0, 0), with(1, 1), with(1, 0), with(0, 1)
	out := make([]Value, 3)
	for i := range out {
		if t, _ := rr[i].(*tensor.Tensor); t == nil {
			out[i] = rr[i]
			continue
		}
		re, im := rr[i], ir[i]
		if i < 2 {
			re, im = must(c.do("sub.Tensor", re, ii[i], int64(1))), must(c.do("add.Tensor", im, ri[i], int64(1)))
		}
		out[i] = must(c.do("complex", re, im))
	}
	return out, nil
}

// interpolated is lerp: from the nearer end, as for real numbers.
func interpolated(c *Call) (Value, error) {
	a, b, w := c.Args[0], c.Args[1], c.Args[2]
	way := must(c.do("sub.Tensor", b, a, int64(1)))
	one := func(w Value, near bool) Value {
		if near {
			return must(c.do("add.Tensor", a, must(c.do("mul.Tensor", way, w)), int64(1)))
		}
		return must(c.do("sub.Tensor", b, must(c.do("mul.Tensor", way, w)), int64(1)))
	}
	if t, ok := w.(*tensor.Tensor); ok {
		rest := must(c.do("add.Scalar", must(c.do("neg", t)), int64(1), int64(1)))
		near := must(c.do("lt.Scalar", must(c.do("abs", t)), 0.5))
		return c.do("where.self", near, one(t, true), one(rest, false))
	}
	z := toComplex(w)
	if math.Hypot(real(z), imag(z)) < 0.5 {
		return one(w, true), nil
	}
	if _, ok := w.(complex128); ok {
		return one(1-z, false), nil
	}
	return one(1-toFloat(w), false), nil
}

func init() {
	named := func(names string, f Fn) {
		for _, n := range strings.Fields(names) {
			complexForms[n] = f
		}
	}
	named("cumsum diagonal_copy index_add index_copy masked_scatter masked_scatter_backward take put unfold_backward block_diag embedding embedding_dense_backward", byParts)
	named("nonzero count_nonzero any all logical_and logical_or logical_xor logical_not nonzero_static", byTruth)
	named("var std var_mean std_mean", spreadOf)
	named("convolution", convolve)
	named("convolution_backward", convolveBack)
	named("lerp", interpolated)
	named("isreal", func(c *Call) (Value, error) {
		return c.do("eq.Scalar", c.halves(c.Args[:1], 1)[0], int64(0))
	})
	named("index_fill", func(c *Call) (Value, error) {
		z := toComplex(c.Args[3])
		with := func(i int64, x float64) Value {
			args := c.halves(c.Args, i)
			args[3] = x
			return must(c.again("index_fill.int_Scalar", args))
		}
		return c.do("complex", with(0, real(z)), with(1, imag(z)))
	})
	named("vdot", func(c *Call) (Value, error) { return c.do("dot", must(c.do("conj", c.Args[0])), c.Args[1]) })
	named("rsub", func(c *Call) (Value, error) {
		x := must(c.do("mul.Tensor", c.Args[0], c.Args[2]))
		if _, ok := c.Args[1].(*tensor.Tensor); ok {
			return c.do("sub.Tensor", c.Args[1], x, int64(1))
		}
		return c.do("add.Scalar", must(c.do("neg", x)), c.Args[1], int64(1))
	})
	named("dist", func(c *Call) (Value, error) {
		return c.do("linalg_vector_norm", must(c.do("abs", must(c.do("sub.Tensor", c.Args[0], c.Args[1], int64(1))))), c.Args[2], nil, false, nil)
	})
	named("linalg_vector_norm", func(c *Call) (Value, error) {
		args := slices.Clone(c.Args)
		args[0] = must(c.do("abs", args[0]))
		if d, ok := args[4].(tensor.DType); ok {
			args[4] = d.ToReal()
		}
		return c.again(c.Op.Name(), args)
	})
	product := func(row []complex128) complex128 {
		p := complex128(1)
		for _, x := range row {
			p *= x
		}
		return p
	}
	named("prod", func(c *Call) (Value, error) {
		t := c.T(0)
		mask, keep, err := c.someDims(2, false)
		if err != nil {
			return nil, err
		}
		return c.reduceComplex(t, mask, keep, c.optDT(t.DType), product), nil
	})
	named("cumprod", func(c *Call) (Value, error) {
		t := c.T(0)
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		o := c.New(c.optDT(t.DType), t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.Fake() {
			return o, nil
		}
		lines(t, d, func(off, st, n, k int64) {
			line := make([]complex128, n)
			tensor.LoadComplex(t, off, st, line)
			for i := 1; i < len(line); i++ {
				line[i] *= line[i-1]
			}
			at, step := lineAt(o, d, k)
			tensor.StoreComplex(o, at, step, line)
		})
		return o, nil
	})
}
