package aten

import (
	"math/cmplx"
	"slices"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// Complex numbers. Functions take their values from math/cmplx in complex128, and are rounded to complex64 at the end. Where PyTorch sets a
// bit on a view, as for conj, the elements are computed here.

// complexUnary is what the float-valued functions of one argument are for complex numbers; others refuse them.
var complexUnary = map[string]func(complex128) complex128{
	"acos": cmplx.Acos, "acosh": cmplx.Acosh, "asin": cmplx.Asin, "asinh": cmplx.Asinh, "atan": cmplx.Atan, "atanh": cmplx.Atanh,
	"cos": cmplx.Cos, "cosh": cmplx.Cosh, "sin": cmplx.Sin, "sinh": cmplx.Sinh, "tan": cmplx.Tan, "tanh": cmplx.Tanh,
	"exp": cmplx.Exp, "log": cmplx.Log, "log10": cmplx.Log10, "sqrt": cmplx.Sqrt,
	"exp2":       func(z complex128) complex128 { return cmplx.Pow(2, z) },
	"expm1":      func(z complex128) complex128 { return cmplx.Exp(z) - 1 },
	"log1p":      func(z complex128) complex128 { return cmplx.Log(1 + z) },
	"log2":       func(z complex128) complex128 { return cmplx.Log(z) / cmplx.Log(2) },
	"reciprocal": func(z complex128) complex128 { return 1 / z },
	"rsqrt":      func(z complex128) complex128 { return 1 / cmplx.Sqrt(z) },
	"sigmoid":    func(z complex128) complex128 { return 1 / (1 + cmplx.Exp(-z)) },
}

// complexRows are the operators, without in-place and out= forms, that take complex tensors by code of their own. Pointwise
// operators decide by their kernels, views and decompositions always pass.
var complexRows = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`clone _to_copy copy fill zero empty_like zeros_like ones_like full_like new_empty new_zeros new_ones new_full new_empty_strided
		cat stack flip roll repeat diag_embed rot90 index index_select gather index_put scatter_add select_backward slice_backward diagonal_backward
		slice_scatter select_scatter diagonal_scatter as_strided_scatter constant_pad_nd sum mean mm bmm mv dot addmm addmv baddbmm addbmm
		_local_scalar_dense item is_nonzero view_as_real _conj _conj_physical resolve_conj resolve_neg is_conj is_neg is_complex is_floating_point
		_fft_c2c _fft_c2r equal where tril triu masked_fill reshape _reshape_alias _unsafe_view native_dropout
		sym_size sym_stride sym_numel sym_storage_offset size stride numel dim storage_offset resize_ set_ lift_fresh lift detach alias trace
		linalg_vector_norm isclose rand_like randn_like normal normal_functional uniform lift_fresh_copy unbind split split_with_sizes chunk
		linalg_solve_triangular _trilinear convert_element_type broadcast_in_dim rev resize_as scatter scatter_reduce`) {
		m[n] = true
	}
	return m
}()

// realFactors are the operators whose kernels scale by real numbers alone.
var realFactors = map[string]bool{"addmv": true, "baddbmm": true, "addbmm": true, "addr": true}

// checkComplex refuses complex tensors where no kernel knows them, rather than drop their imaginary parts.
func checkComplex(op *Op, args []Value) error {
	if realFactors[strings.TrimSuffix(op.Sig().Name, "_")] && slices.ContainsFunc(args, isComplexNumber) {
		return &Error{Op: op.Name(), Kind: RuntimeError, Msg: op.Sig().Name + ": complex numbers for alpha and beta are not supported"}
	}
	if op.Eager == nil || op.Has(View) || complexRows[strings.TrimSuffix(op.Sig().Name, "_")] || complexRows[op.Sig().Name] || op.Has(Pointwise) {
		return nil
	}
	if op.ByElement != nil { // each of its calls is looked at
		return nil
	}
	if op.Sig().Namespace != "aten" && op.Sig().Namespace != "prims" {
		return nil
	}
	t := firstOf(args, func(t *tensor.Tensor) bool { return t.DType.Kind() == tensor.KindComplex })
	if t == nil {
		return nil
	}
	return &Error{Op: op.Name(), Kind: RuntimeError, Msg: "\"" + op.Sig().Name + "\" not implemented for '" + cName(t.DType) + "'"}
}

// anyComplex reports whether a number or a tensor among the values, at any depth, is complex.
func anyComplex(args []Value) bool {
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && isComplex(a) {
				return true
			}
		case complex128:
			return true
		case []Value:
			if anyComplex(a) {
				return true
			}
		}
	}
	return false
}

func isComplexNumber(v Value) bool {
	_, ok := v.(complex128)
	return ok
}

func b2c(b bool) complex128 {
	if b {
		return 1
	}
	return 0
}

func toComplex(v Value) complex128 {
	switch v := v.(type) {
	case complex128:
		return v
	case *tensor.Tensor:
		if !v.Fake && v.Numel() == 1 {
			return v.Complexes()[0]
		}
	}
	return complex(toFloat(v), 0)
}

func (k kern) c1(f func(complex128) complex128) kern {
	if f == nil {
		return k
	}
	k.C = func(o []complex128, in [][]complex128) {
		a := in[0]
		for i := range o {
			o[i] = f(a[i])
		}
	}
	return k
}

func (k kern) c2(f func(a, b complex128) complex128) kern {
	k.C = func(o []complex128, in [][]complex128) {
		a, b := in[0], in[1]
		for i := range o {
			o[i] = f(a[i], b[i])
		}
	}
	return k
}

func (k kern) c3(f func(a, b, c complex128) complex128) kern {
	k.C = func(o []complex128, in [][]complex128) {
		a, b, c := in[0], in[1], in[2]
		for i := range o {
			o[i] = f(a[i], b[i], c[i])
		}
	}
	return k
}

// complexArith is add, sub and rsub with their factor.
func complexArith(name string, alpha complex128) func(a, b complex128) complex128 {
	switch {
	case strings.HasPrefix(name, "add"):
		return func(a, b complex128) complex128 { return a + alpha*b }
	case strings.HasPrefix(name, "rsub"):
		return func(a, b complex128) complex128 { return b - alpha*a }
	}
	return func(a, b complex128) complex128 { return a - alpha*b }
}

func cpow(a, b complex128) complex128 {
	switch b {
	case 0:
		return 1
	case 1:
		return a
	case 2:
		return a * a
	}
	return cmplx.Pow(a, b)
}

// runComplex evaluates k over blocks of complex numbers.
func runComplex(l *tensor.Loop, in []int64, ts []*tensor.Tensor, k kern) {
	nin := len(ts) - 1
	size := min(block, l.Shape[len(l.Shape)-1])
	ob := make([]complex128, size)
	ib, views := make([][]complex128, nin), make([][]complex128, nin)
	for i := range ib {
		ib[i] = make([]complex128, size)
	}
	l.Rows(func(off []int64, n int64) {
		for p := int64(0); p < n; p += block {
			m := min(block, n-p)
			for i := range views {
				views[i] = ib[i][:m]
				tensor.LoadComplex(ts[i+1], off[i+1]+p*in[i+1], in[i+1], views[i])
			}
			k.C(ob[:m], views)
			tensor.StoreComplex(ts[0], off[0]+p*in[0], in[0], ob[:m])
		}
	})
}

// gemmComplex multiplies by parts: the real matrices inside the complex ones are strided views.
func gemmComplex(m, n, k int64, alpha float64, a, b mat, beta float64, o mat) {
	part := func(x mat, im int64) mat {
		t := &tensor.Tensor{Storage: x.t.Storage, DType: x.t.DType.ToReal()}
		return mat{t, 2*x.off + im, 2 * x.rs, 2 * x.cs}
	}
	ar, ai, br, bi, or, oi := part(a, 0), part(a, 1), part(b, 0), part(b, 1), part(o, 0), part(o, 1)
	gemm(m, n, k, alpha, ar, br, beta, or)
	gemm(m, n, k, -alpha, ai, bi, 1, or)
	gemm(m, n, k, alpha, ar, bi, beta, oi)
	gemm(m, n, k, alpha, ai, br, 1, oi)
}

func sumComplex(row []complex128) complex128 {
	s := complex128(0)
	for _, x := range row {
		s += x
	}
	return s
}

// reduceComplex is reduce for complex elements.
func (c *Call) reduceComplex(t *tensor.Tensor, mask []bool, keepdim bool, out tensor.DType, f func(row []complex128) complex128) *tensor.Tensor {
	o := c.New(out, reduceShape(t, mask, keepdim), reduceStrides(t, mask, keepdim))
	if !c.real || o.Numel() == 0 {
		return o
	}
	kept, red := reduceSplit(t, mask)
	row := make([]complex128, red.Numel())
	offs := offsets(&tensor.Tensor{Shape: red.Shape, Stride: red.Stride})
	buf := make([]complex128, 0, o.Numel())
	for _, k := range offsets(kept) {
		for i, p := range offs {
			tensor.LoadComplex(t, t.Offset+k+p, 0, row[i:i+1])
		}
		buf = append(buf, f(row))
	}
	o.SetComplexes(buf)
	return o
}

// pairUp makes o, of complex numbers, of real and imaginary parts that are broadcast to its shape.
func pairUp[T float32 | float64](o, re, im *tensor.Tensor) {
	to, x, y := tensor.Whole[T](&tensor.Tensor{Storage: o.Storage, DType: re.DType}), tensor.Whole[T](re), tensor.Whole[T](im)
	tensor.NewLoop(o.Shape, o, re, im).Parts(func(l *tensor.Loop) {
		in := l.Inner()
		l.Rows(func(off []int64, n int64) {
			p, q, r := off[0], off[1], off[2]
			if in[0] == 1 {
				native.Pairs(to[2*p:2*(p+n)], x[q:], in[1], y[r:], in[2])
				return
			}
			for range n {
				to[2*p], to[2*p+1] = x[q], y[r]
				p, q, r = p+in[0], q+in[1], r+in[2]
			}
		})
	})
}

func isComplex(t *tensor.Tensor) bool { return t.DType.Kind() == tensor.KindComplex }

func init() {
	pair := func(name string, f func(a, b float64) complex128) {
		def(name, func(c *Call) (Value, error) {
			a, b := c.T(0), c.T(1)
			if !a.DType.IsFloat() || a.DType == tensor.BFloat16 || !b.DType.IsFloat() || b.DType == tensor.BFloat16 {
				return nil, errf("Expected both inputs to be Half, Float or Double tensors but got %s and %s", cName(a.DType), cName(b.DType))
			}
			if a.DType != b.DType {
				return nil, errf("Expected object of scalar type %s but got scalar type %s for second argument", cName(a.DType), cName(b.DType))
			}
			if a.DType == tensor.Float16 {
				return nil, kindf(RuntimeError, "\"%s\" not implemented for 'Half'", name)
			}
			d := a.DType.ToComplex()
			if name == "polar" && c.real && a.DType == tensor.Float32 && a.Numel() > 0 && b.Numel() > 0 { // in their precision, as PyTorch does
				return c.do("complex", must(c.do("mul.Tensor", a, must(c.do("cos", b)))), must(c.do("mul.Tensor", a, must(c.do("sin", b)))))
			}
			if name == "complex" && c.real {
				if shape, err := broadcast(c.Args[:2]); err == nil {
					o := c.NewUnset(d, shape, tensor.PointwiseStrides(shape, a, b))
					if a.DType == tensor.Float32 {
						pairUp[float32](o, a, b)
					} else {
						pairUp[float64](o, a, b)
					}
					return o, nil
				}
			}
			return c.pwv(c.Args[:2], d, d, kern{}.c2(func(a, b complex128) complex128 { return f(real(a), real(b)) }))
		})
	}
	pair("complex", func(a, b float64) complex128 { return complex(a, b) })
	pair("polar", func(r, phi float64) complex128 { return cmplx.Rect(r, phi) })
	conj := func(c *Call) (Value, error) {
		t := c.T(0)
		if !isComplex(t) {
			return c.do("clone", t, nil)
		}
		return c.pwv(c.Args[:1], t.DType, t.DType, kern{}.c1(cmplx.Conj))
	}
	def("_conj _conj_physical conj_physical_", func(c *Call) (Value, error) {
		if c.Op.Sig().Name == "_conj" && !isComplex(c.T(0)) {
			return nil, errf("_conj is only supported for complex tensors, got %s", cName(c.T(0).DType))
		}
		if c.Op.Sig().Name != "conj_physical_" {
			return conj(c)
		}
		v, err := conj(c)
		if err != nil {
			return nil, err
		}
		return c.do("copy_", c.Args[0], v)
	})
	maybe := func(op string) Fn {
		return func(c *Call) (Value, error) {
			if !isComplex(c.T(0)) {
				return c.T(0), nil
			}
			return c.via(op, c.Args[0])
		}
	}
	comp("conj", maybe("_conj"))
	comp("conj_physical", maybe("_conj_physical"))
	asReal := func(c *Call, at int64, all bool) (Value, error) {
		t := c.T(0)
		if !isComplex(t) {
			return nil, errf("%s is only supported for complex tensors", c.Op.Sig().Name)
		}
		shape, st := append([]int64{}, t.Shape...), make([]int64, len(t.Stride))
		for i, s := range t.Stride {
			st[i] = 2 * s
		}
		if all {
			shape, st = append(shape, 2), append(st, 1)
		}
		v := c.View(t, shape, st, 2*t.Offset+at)
		v.DType = t.DType.ToReal()
		return v, nil
	}
	def("view_as_real", func(c *Call) (Value, error) { return asReal(c, 0, true) })
	comp("real", func(c *Call) (Value, error) {
		if !isComplex(c.T(0)) {
			return c.T(0), nil
		}
		return c.via("select.int", must(c.via("view_as_real", c.Args[0])), int64(-1), int64(0))
	})
	comp("imag", func(c *Call) (Value, error) {
		if !isComplex(c.T(0)) {
			return nil, errf("imag is not implemented for tensors with non-complex dtypes.")
		}
		return c.via("select.int", must(c.via("view_as_real", c.Args[0])), int64(-1), int64(1))
	})
	def("view_as_complex", func(c *Call) (Value, error) {
		t := c.T(0)
		if d := t.DType; d != tensor.Float32 && d != tensor.Float64 && d != tensor.Float16 {
			return nil, errf("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: %s", cName(d))
		}
		n := t.Dim()
		if n == 0 {
			return nil, errf("Input tensor must have one or more dimensions")
		}
		if t.Shape[n-1] != 2 {
			return nil, errf("Tensor must have a last dimension of size 2")
		}
		if t.Stride[n-1] != 1 {
			return nil, errf("Tensor must have a last dimension with stride 1")
		}
		st := make([]int64, n-1)
		for i := range st {
			if t.Stride[i]%2 != 0 {
				return nil, errf("Tensor must have a stride divisible by 2 for all but last dimension")
			}
			st[i] = t.Stride[i] / 2
		}
		if t.Offset%2 != 0 {
			return nil, errf("Tensor must have a storage_offset divisible by 2")
		}
		v := c.View(t, t.Shape[:n-1], st, t.Offset/2)
		v.DType = t.DType.ToComplex()
		return v, nil
	})
	for _, n := range []string{"view_as_real", "view_as_complex"} {
		comp(n+"_copy", func(c *Call) (Value, error) {
			return c.via("clone", must(c.via(n, c.Args[0])), tensor.ContiguousFormat)
		})
	}
	comp("is_complex", func(c *Call) (Value, error) { return isComplex(c.T(0)), nil })
	no := func(c *Call) (Value, error) { return false, nil }
	comp("is_conj", no)
	comp("is_neg", no)
}
