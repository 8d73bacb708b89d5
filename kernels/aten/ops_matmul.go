package aten

import (
	"cmp"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Products of matrices and vectors. float32 and float64 go to blocked SIMD kernels (native.Gemm), which take any strides; other real dtypes
// are converted for them, and results are rounded once. alpha and beta follow BLAS: where beta is zero the addend is not read, and so its NaNs
// do not count. matmul itself only arranges: it picks dot, mv, mm or bmm by the numbers of dimensions.

// A mat is a strided matrix inside a tensor's storage.
type mat struct {
	t      *tensor.Tensor
	off    int64
	rs, cs int64
}

func matOf(t *tensor.Tensor, batch int64) mat {
	n := t.Dim()
	off := t.Offset
	if n == 3 {
		off += batch * t.Stride[0]
	}
	return mat{t, off, t.Stride[n-2], t.Stride[n-1]}
}

// gemms computes o = alpha*a*b + beta*o for batches of matrices: where there are many, each by one thread.
func gemms(a, b, o *tensor.Tensor, alpha, beta float64) {
	batch, m, n, k := int(a.Shape[0]), a.Shape[1], b.Shape[2], a.Shape[2]
	share := batch // to one thread, which leaves the threads to each product
	if batch >= 2*parallel.Threads() {
		share = int((1<<18)/(m*n*k+1)) + 1
	}
	parallel.For(batch, share, func(lo, hi int) {
		for i := int64(lo); i < int64(hi); i++ {
			gemm(m, n, k, alpha, matOf(a, i), matOf(b, i), beta, matOf(o, i))
		}
	})
}

// gemm computes o = alpha*a*b + beta*o for real matrices of one dtype.
func gemm(m, n, k int64, alpha float64, a, b mat, beta float64, o mat) {
	if m == 0 || n == 0 {
		return
	}
	switch o.t.DType {
	case tensor.Float32:
		mk := func(x mat) native.Matrix[float32] {
			s := tensor.Whole[float32](x.t)
			if int64(len(s)) > x.off {
				s = s[x.off:]
			} else {
				s = nil
			}
			return native.Matrix[float32]{Data: s, RS: int(x.rs), CS: int(x.cs)}
		}
		native.Gemm32(int(m), int(n), int(k), float32(alpha), mk(a), mk(b), float32(beta), mk(o))
		return
	case tensor.Float64:
		mk := func(x mat) native.Matrix[float64] {
			s := tensor.Whole[float64](x.t)
			if int64(len(s)) > x.off {
				s = s[x.off:]
			} else {
				s = nil
			}
			return native.Matrix[float64]{Data: s, RS: int(x.rs), CS: int(x.cs)}
		}
		native.Gemm64(int(m), int(n), int(k), alpha, mk(a), mk(b), beta, mk(o))
		return
	}
	if o.t.DType.Kind() == tensor.KindComplex {
		gemmComplex(m, n, k, alpha, a, b, beta, o)
		return
	}
	if o.t.DType.IsFloat() {
		// 16-bit types multiply in float32 and round once.
		wide := func(x mat, r, c int64) mat {
			w := tensor.Empty(tensor.Float32, r, c)
			tensor.Copy(w, &tensor.Tensor{Storage: x.t.Storage, DType: x.t.DType, Shape: []int64{r, c}, Stride: []int64{x.rs, x.cs}, Offset: x.off})
			return mat{w, 0, c, 1}
		}
		wo := wide(o, m, n)
		gemm(m, n, k, alpha, wide(a, m, k), wide(b, k, n), beta, wo)
		tensor.Copy(&tensor.Tensor{Storage: o.t.Storage, DType: o.t.DType, Shape: []int64{m, n}, Stride: []int64{o.rs, o.cs}, Offset: o.off}, wo.t)
		return
	}
	ra, rb, ro := make([]int64, k), make([]int64, k), make([]int64, 1)
	for j := int64(0); j < n; j++ {
		tensor.LoadInt(b.t, b.off+j*b.cs, b.rs, rb)
		for i := int64(0); i < m; i++ {
			tensor.LoadInt(a.t, a.off+i*a.rs, a.cs, ra)
			s := int64(0)
			for p := range ra {
				s += ra[p] * rb[p]
			}
			s *= int64(alpha)
			if beta != 0 {
				tensor.LoadInt(o.t, o.off+i*o.rs+j*o.cs, 0, ro)
				s += int64(beta) * ro[0]
			}
			ro[0] = s
			tensor.StoreInt(o.t, o.off+i*o.rs+j*o.cs, 0, ro)
		}
	}
}

func sameDType(a, b *tensor.Tensor) error {
	if a.DType != b.DType {
		return errf("expected m1 and m2 to have the same dtype, but got: %s != %s", lName(a.DType), lName(b.DType))
	}
	return nil
}

// noBool refuses bool matrices, in the words of the kernel.
func noBool(t *tensor.Tensor, kernel string) error {
	if t.DType == tensor.Bool {
		return errf("\"%s\" not implemented for 'Bool'", kernel)
	}
	return nil
}

// sameAsMat2 compares the dtypes of self + mat1 @ mat2.
func sameAsMat2(self, mat1, mat2 *tensor.Tensor) error {
	for i, t := range []*tensor.Tensor{self, mat1} {
		if t.DType != mat2.DType {
			return errf("%s and mat2 must have the same dtype, but got %s and %s", []string{"self", "mat1"}[i], cName(t.DType), cName(mat2.DType))
		}
	}
	return noBool(mat2, "addmm_impl_cpu_")
}

func (c *Call) mm(a, b *tensor.Tensor) (*tensor.Tensor, error) {
	if a.Dim() != 2 {
		return nil, errf("self must be a matrix")
	}
	if b.Dim() != 2 {
		return nil, errf("mat2 must be a matrix")
	}
	if a.Shape[1] != b.Shape[0] {
		return nil, errf("mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Shape[0], a.Shape[1], b.Shape[0], b.Shape[1])
	}
	if err := cmp.Or(sameDType(a, b), noBool(a, "addmm_impl_cpu_")); err != nil {
		return nil, err
	}
	o := c.newCUnset(a.DType, a.Shape[0], b.Shape[1])
	if c.real {
		gemm(a.Shape[0], b.Shape[1], a.Shape[1], 1, matOf(a, 0), matOf(b, 0), 0, matOf(o, 0))
	}
	return o, nil
}

// scaled makes beta*self broadcast to shape, as the start of an accumulation. For beta 0 self is ignored, NaN included.
func (c *Call) scaled(self *tensor.Tensor, beta float64, d tensor.DType, shape []int64) (*tensor.Tensor, error) {
	sh, err := tensor.BroadcastShapes(self.Shape, shape)
	if err != nil || !slices.Equal(sh, shape) {
		return nil, errf("The expanded size of the tensor (%d) must match the existing size (%d) at non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
			shape[len(shape)-1], lastOr(self.Shape, 1), len(shape)-1, tensor.ShapeText(shape), tensor.ShapeText(self.Shape))
	}
	o := c.NewC(d, shape...)
	if c.real && beta != 0 {
		tensor.Copy(o, self)
	}
	return o, nil
}

func lastOr(s []int64, def int64) int64 {
	if len(s) == 0 {
		return def
	}
	return s[len(s)-1]
}

func init() {
	def("mm", func(c *Call) (Value, error) { return c.tv(c.mm(c.T(0), c.T(1))) })
	def("addmm", func(c *Call) (Value, error) {
		self, a, b := c.T(0), c.T(1), c.T(2)
		if a.Dim() != 2 || b.Dim() != 2 {
			which, t := "mat1", a
			if a.Dim() == 2 {
				which, t = "mat2", b
			}
			return nil, errf("%s must be a matrix, got %d-D tensor", which, t.Dim())
		}
		if a.Shape[1] != b.Shape[0] {
			return nil, errf("mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Shape[0], a.Shape[1], b.Shape[0], b.Shape[1])
		}
		if err := sameAsMat2(self, a, b); err != nil {
			return nil, err
		}
		if isComplexNumber(c.Args[3]) || isComplexNumber(c.Args[4]) {
			x, y := must(c.via("mul.Scalar", self, c.Args[3])), must(c.via("mul.Scalar", must(c.via("mm", a, b)), c.Args[4]))
			return c.via("add.Tensor", x, y)
		}
		o, err := c.scaled(self, c.F(3), self.DType, []int64{a.Shape[0], b.Shape[1]})
		if err != nil {
			return nil, err
		}
		if c.real {
			gemm(a.Shape[0], b.Shape[1], a.Shape[1], c.F(4), matOf(a, 0), matOf(b, 0), c.F(3), matOf(o, 0))
		}
		return o, nil
	})
	bmmShape := func(a, b *tensor.Tensor) error {
		if a.Dim() != 3 {
			return errf("batch1 must be a 3D tensor")
		}
		if b.Dim() != 3 {
			return errf("batch2 must be a 3D tensor")
		}
		if b.Shape[0] != a.Shape[0] || b.Shape[1] != a.Shape[2] {
			return errf("Expected size for first two dimensions of batch2 tensor to be: [%d, %d] but got: [%d, %d].", a.Shape[0], a.Shape[2], b.Shape[0], b.Shape[1])
		}
		return nil
	}
	bmmTypes := func(a, b *tensor.Tensor, kernel string) error {
		if err := noBool(a, kernel); err != nil {
			return err
		}
		if a.DType != b.DType {
			return errf("expected scalar type %s but found %s", cName(a.DType), cName(b.DType))
		}
		return nil
	}
	def("bmm", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if err := cmp.Or(bmmShape(a, b), bmmTypes(a, b, "bmm")); err != nil {
			return nil, err
		}
		o := c.newCUnset(a.DType, a.Shape[0], a.Shape[1], b.Shape[2])
		if c.real {
			gemms(a, b, o, 1, 0)
		}
		return o, nil
	})
	def("baddbmm", func(c *Call) (Value, error) {
		self, a, b := c.T(0), c.T(1), c.T(2)
		if err := bmmShape(a, b); err != nil {
			return nil, err
		}
		if self.DType != a.DType {
			return nil, errf("Input dtypes must be the same, got: input %s, batch1: %s, batch2: %s", lName(self.DType), lName(a.DType), lName(b.DType))
		}
		if err := bmmTypes(a, b, "baddbmm"); err != nil {
			return nil, err
		}
		o, err := c.scaled(self, c.F(3), self.DType, []int64{a.Shape[0], a.Shape[1], b.Shape[2]})
		if err != nil {
			return nil, err
		}
		if c.real {
			gemms(a, b, o, c.F(4), c.F(3))
		}
		return o, nil
	})
	def("addbmm", func(c *Call) (Value, error) {
		self, a, b := c.T(0), c.T(1), c.T(2)
		if err := cmp.Or(bmmShape(a, b), sameAsMat2(self, a, b)); err != nil {
			return nil, err
		}
		o, err := c.scaled(self, c.F(3), self.DType, []int64{a.Shape[1], b.Shape[2]})
		if err != nil {
			return nil, err
		}
		if c.real {
			beta := c.F(3)
			for i := int64(0); i < a.Shape[0]; i++ {
				gemm(a.Shape[1], b.Shape[2], a.Shape[2], c.F(4), matOf(a, i), matOf(b, i), beta, matOf(o, 0))
				beta = 1
			}
			if a.Shape[0] == 0 {
				return c.do("mul.Scalar", self.Expand(o.Shape), c.Args[3])
			}
		}
		return o, nil
	})
	col := func(v *tensor.Tensor) mat { return mat{v, v.Offset, v.Stride[0], 1} }
	rowm := func(v *tensor.Tensor) mat { return mat{v, v.Offset, 1, v.Stride[0]} }
	def("mv", func(c *Call) (Value, error) {
		a, v := c.T(0), c.T(1)
		if a.Dim() != 2 || v.Dim() != 1 {
			return nil, errf("vector + matrix @ vector expected, got %d, %d, %d", 1, a.Dim(), v.Dim())
		}
		if a.Shape[1] != v.Shape[0] {
			return nil, errf("size mismatch, got input (%d), mat (%dx%d), vec (%d)", a.Shape[0], a.Shape[0], a.Shape[1], v.Shape[0])
		}
		if err := bmmTypes(a, v, "addmv_impl_cpu"); err != nil {
			return nil, err
		}
		o := c.newCUnset(a.DType, a.Shape[0])
		if c.real && !timesVector(o, a, v) {
			gemm(a.Shape[0], 1, a.Shape[1], 1, matOf(a, 0), col(v), 0, mat{o, 0, 1, 1})
		}
		return o, nil
	})
	def("addmv", func(c *Call) (Value, error) {
		self, a, v := c.T(0), c.T(1), c.T(2)
		if a.Dim() != 2 || v.Dim() != 1 {
			return nil, errf("vector + matrix @ vector expected, got %d, %d, %d", self.Dim(), a.Dim(), v.Dim())
		}
		if a.Shape[1] != v.Shape[0] {
			return nil, errf("size mismatch, got input (%d), mat (%dx%d), vec (%d)", a.Shape[0], a.Shape[0], a.Shape[1], v.Shape[0])
		}
		if err := bmmTypes(a, v, "addmv_impl_cpu"); err != nil {
			return nil, err
		}
		o, err := c.scaled(self, c.F(3), a.DType, []int64{a.Shape[0]})
		if err != nil {
			return nil, err
		}
		if c.real {
			if sums := tensor.EmptyUnset(o.DType, o.Shape, []int64{1}); o.DType == tensor.Float32 && timesVector(sums, a, v) {
				y, alpha, beta := o.Float32s(), c.F(4), c.F(3)
				for i, s := range sums.Float32s() {
					if beta == 0 { // what was there does not count, NaN neither
						y[i] = 0
					}
					y[i] = float32(beta*float64(y[i]) + alpha*float64(s))
				}
				return o, nil
			}
			gemm(a.Shape[0], 1, a.Shape[1], c.F(4), matOf(a, 0), col(v), c.F(3), mat{o, 0, 1, 1})
		}
		return o, nil
	})
	def("addr", func(c *Call) (Value, error) {
		self, a, b := c.T(0), c.T(1), c.T(2)
		if a.Dim() != 1 || b.Dim() != 1 {
			return nil, errf("addr: Expected 1-D argument vec1, but got %d-D", a.Dim())
		}
		d := rtype(self, a, b)
		alpha, beta := c.F(4), c.F(3)
		x := &tensor.Tensor{Storage: a.Storage, DType: a.DType, Shape: []int64{a.Shape[0], 1}, Stride: []int64{a.Stride[0], 1}, Offset: a.Offset, Fake: a.Fake}
		sh := []int64{a.Shape[0], b.Shape[0]}
		if s, err := tensor.BroadcastShapes(self.Shape, sh); err != nil || !slices.Equal(s, sh) {
			return nil, errf("The expanded size of the tensor must match the existing size")
		}
		k := f3(func(s, a, b float64) float64 {
			if beta == 0 {
				return alpha * a * b
			}
			return beta*s + alpha*a*b
		}).simd(native.OuterAdd, alpha, beta).i3(func(s, a, b int64) int64 { return int64(beta)*s + int64(alpha)*a*b })
		if d == tensor.Bool {
			k = k.i3(func(s, a, b int64) int64 { return b2i(beta != 0 && s != 0 || alpha != 0 && a != 0 && b != 0) })
		}
		return c.pwv([]Value{self, x, b}, d, d, k)
	})
	def("dot vdot", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if a.Dim() != 1 || b.Dim() != 1 {
			return nil, errf("1D tensors expected, but got %dD and %dD tensors", a.Dim(), b.Dim())
		}
		if a.DType != b.DType {
			return nil, errf("dot : expected both vectors to have same dtype, but found %s and %s", cName(a.DType), cName(b.DType))
		}
		if err := noBool(a, "dot"); err != nil {
			return nil, err
		}
		if a.Shape[0] != b.Shape[0] {
			return nil, errf("inconsistent tensor size, expected tensor [%d] and src [%d] to have the same number of elements, but got %d and %d elements respectively", a.Shape[0], b.Shape[0], a.Shape[0], b.Shape[0])
		}
		o := c.NewC(a.DType)
		if c.real {
			if x, y := a.Float32s(), b.Float32s(); len(x) >= 64 && len(x) == len(y) {
				var sum [1]float64
				native.DotRows(sum[:], x, y, len(x))
				o.Float32s()[0] = float32(sum[0])
				return o, nil
			}
			gemm(1, 1, a.Shape[0], 1, rowm(a), col(b), 0, mat{o, 0, 1, 1})
		}
		return o, nil
	})
	comp("outer ger", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if a.Dim() != 1 || b.Dim() != 1 {
			return nil, errf("outer: Expected 1-D argument self, but got %d-D", a.Dim())
		}
		x, err := c.via("reshape", a, ints([]int64{a.Shape[0], 1}))
		if err != nil {
			return nil, err
		}
		return c.via("mul.Tensor", x, b)
	})
	comp("matmul", matmul)
	comp("linear", func(c *Call) (Value, error) {
		x, w, b := c.T(0), c.T(1), c.T(2)
		wt, err := c.via("t", w)
		if err != nil {
			return nil, err
		}
		if b != nil && x.Dim() == 2 {
			return c.via("addmm", b, x, wt, int64(1), int64(1))
		}
		levels := x.Wraps != nil || w.Wraps != nil || b != nil && b.Wraps != nil
		if n := x.Dim() - 1; b != nil && n >= 0 && (n == 2 || !levels) && x.IsContiguous(tensor.ContiguousFormat) {
			// One addmm over the flattened rows, as PyTorch does for contiguous inputs.
			v, err := c.via("view", x, ints([]int64{tensor.Numel(x.Shape[:n]), x.Shape[n]}))
			if err != nil {
				return nil, err
			}
			r, err := c.viaT("addmm", b, v, wt, int64(1), int64(1))
			if err != nil {
				return nil, err
			}
			return c.via("view", r, ints(append(slices.Clone(x.Shape[:n]), r.Shape[1])))
		}
		o, err := c.via("matmul", x, wt)
		if err != nil || b == nil {
			return o, err
		}
		if levels || x.Dim() == 1 { // of a vector the product is a view here, and is none in PyTorch
			return c.via("add.Tensor", o, b, int64(1))
		}
		return c.via("add_.Tensor", o, b, int64(1))
	})
	comp("inner", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if a.Dim() == 0 || b.Dim() == 0 {
			return c.via("mul.Tensor", a, b)
		}
		if a.Shape[a.Dim()-1] != b.Shape[b.Dim()-1] {
			return nil, errf("inner() the last dimension must match on both input tensors but got shapes %s and %s", tensor.ShapeText(a.Shape), tensor.ShapeText(b.Shape))
		}
		return c.via("tensordot", a, b, ints([]int64{-1}), ints([]int64{-1}))
	})
	comp("tensordot", func(c *Call) (Value, error) {
		a, b, da, db := c.T(0), c.T(1), c.Ints(2), c.Ints(3)
		if len(da) != len(db) {
			return nil, errf("both dimension lists should have same length")
		}
		split := func(t *tensor.Tensor, dims []int64) (free, con []int64, n int64, err error) {
			mask := make([]bool, max(t.Dim(), 1))
			n = 1
			for _, d := range dims {
				w, err := wrapDim(d, int64(t.Dim()))
				if err != nil {
					return nil, nil, 0, err
				}
				mask[w] = true
				con = append(con, w)
				n *= t.Shape[w]
			}
			for i := range t.Shape {
				if !mask[i] {
					free = append(free, int64(i))
				}
			}
			return
		}
		fa, ca, n, err := split(a, da)
		if err != nil {
			return nil, err
		}
		fb, cb, _, err := split(b, db)
		if err != nil {
			return nil, err
		}
		var shape []int64
		for _, i := range fa {
			shape = append(shape, a.Shape[i])
		}
		for _, i := range fb {
			shape = append(shape, b.Shape[i])
		}
		for i := range ca {
			if a.Shape[ca[i]] != b.Shape[cb[i]] {
				return nil, errf("contracted dimensions need to match, but first has size %d in dim %d and second has size %d in dim %d", a.Shape[ca[i]], da[i], b.Shape[cb[i]], db[i])
			}
		}
		pa := must(c.via("permute", a, ints(append(slices.Clone(fa), ca...))))
		pb := must(c.via("permute", b, ints(append(slices.Clone(cb), fb...))))
		ra := tensor.Numel(shape[:len(fa)])
		rb := tensor.Numel(shape[len(fa):])
		x, err := c.via("reshape", pa, ints([]int64{ra, n}))
		if err != nil {
			return nil, err
		}
		y, err := c.via("reshape", pb, ints([]int64{n, rb}))
		if err != nil {
			return nil, err
		}
		m, err := c.via("mm", x, y)
		if err != nil {
			return nil, err
		}
		return c.via("reshape", m, ints(shape))
	})
	comp("einsum", einsum)
	comp("chain_matmul", func(c *Call) (Value, error) { return c.via("linalg_multi_dot", c.Args[0]) })
	comp("linalg_matmul", func(c *Call) (Value, error) { return c.via("matmul", c.Args...) })
	comp("linalg_vecdot", func(c *Call) (Value, error) {
		return c.via("sum.dim_IntList", must(c.via("mul.Tensor", c.Args[0], c.Args[1])), ints([]int64{c.I(2)}), false)
	})
	comp("linalg_multi_dot", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		if len(ts) < 2 {
			return nil, errf("multi_dot(): expected at least 2 tensors but got %d", len(ts))
		}
		var v Value = ts[0]
		var err error
		for _, t := range ts[1:] {
			if v, err = c.via("matmul", v, t); err != nil {
				return nil, err
			}
		}
		return v, nil
	})
}

// timesVector fills o with a large float32 matrix a, whose rows or columns lie in order, times the vector v, summed in float64; it reports whether it could.
func timesVector(o, a, v *tensor.Tensor) bool {
	y, x := o.Float32s(), v.Float32s()
	if a.DType != tensor.Float32 || a.Numel() < 4096 || y == nil || x == nil {
		return false
	}
	sums, data := make([]float64, len(y)), tensor.Whole[float32](a)[a.Offset:]
	switch {
	case a.Stride[1] == 1 && a.Stride[0] >= a.Shape[1]:
		native.DotRows(sums, data, x, int(a.Stride[0]))
	case a.Stride[0] == 1 && a.Stride[1] >= a.Shape[0]:
		native.DotCols(sums, data, x, int(a.Stride[1]))
	default:
		return false
	}
	for i, s := range sums {
		y[i] = float32(s)
	}
	return true
}

// matmul is a product of vectors, matrices, or batches of matrices, by their numbers of dimensions: dot, mv, mm or bmm. As in
// PyTorch, a vector on the left is a row and on the right a column, and the dimension that this adds goes again.
func matmul(c *Call) (Value, error) {
	a, b := c.T(0), c.T(1)
	da, db := a.Dim(), b.Dim()
	switch {
	case da == 0 || db == 0:
		return nil, errf("both arguments to matmul need to be at least 1D, but they are %dD and %dD", da, db)
	case da == 1 && db == 1:
		return c.via("dot", a, b)
	case da == 2 && db == 1:
		return c.via("mv", a, b)
	case da == 1 && db == 2:
		v, err := c.via("unsqueeze", a, int64(0))
		if err != nil {
			return nil, err
		}
		m, err := c.via("mm", v, b)
		if err != nil {
			return nil, err
		}
		return c.via("squeeze.dim", m, int64(0))
	case da == 2 && db == 2:
		return c.via("mm", a, b)
	case shouldFold(a, b):
		return foldedMatmul(c, a, b)
	}
	return batchedMatmul(c, a, b)
}

// foldedMatmul is a large batch against a matrix or vector: one product over the flattened rows. Where the batch is on the right, both are
// transposed, and the result is again.
func foldedMatmul(c *Call, a, b *tensor.Tensor) (Value, error) {
	transpose := b.Dim() > a.Dim()
	x, y := a, b
	var err error
	if transpose {
		if x, err = c.viaT("mT", b); err != nil {
			return nil, err
		}
		y = a
		if a.Dim() == 2 {
			if y, err = c.viaT("t", a); err != nil {
				return nil, err
			}
		}
	}
	n := x.Dim()
	shape := slices.Clone(x.Shape[:n-1])
	rows := tensor.Numel(shape)
	v, err := c.via("reshape", x, ints([]int64{rows, x.Shape[n-1]}))
	if err != nil {
		return nil, err
	}
	if y.Dim() == 1 {
		r, err := c.via("mv", v, y)
		if err != nil {
			return nil, err
		}
		return c.via("_unsafe_view", r, ints(shape))
	}
	shape = append(shape, y.Shape[1])
	r, err := c.via("mm", v, y)
	if err != nil {
		return nil, err
	}
	u, err := c.via("_unsafe_view", r, ints(shape))
	if err != nil || !transpose {
		return u, err
	}
	m, err := c.via("mT", u)
	if err != nil {
		return nil, err
	}
	return c.via("contiguous", m, tensor.ContiguousFormat)
}

// batchedMatmul broadcasts the batch dimensions against each other, and multiplies by one bmm over all of them.
func batchedMatmul(c *Call, a, b *tensor.Tensor) (Value, error) {
	da, db := a.Dim(), b.Dim()
	n, m1 := int64(1), a.Shape[da-1]
	if da > 1 {
		n = a.Shape[da-2]
	}
	m2, p := b.Shape[db-1], int64(1)
	if db > 1 {
		m2, p = b.Shape[db-2], b.Shape[db-1]
	}
	batch, err := tensor.BroadcastShapes(a.Shape[:max(da-2, 0)], b.Shape[:max(db-2, 0)])
	if err != nil {
		return nil, errf("%s", err)
	}
	nb := tensor.Numel(batch)
	expand := func(v Value, r, k int64) Value {
		e := must(c.via("expand", v, ints(append(slices.Clone(batch), r, k)), false))
		return must(c.via("reshape", e, ints([]int64{nb, r, k})))
	}
	x, y := expand(a, n, m1), Value(b)
	if db == 1 {
		y = must(c.via("unsqueeze", b, int64(1)))
	}
	r, err := c.via("bmm", x, expand(y, m2, p))
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(batch)
	if da > 1 {
		shape = append(shape, n)
	}
	if db > 1 {
		shape = append(shape, p)
	}
	return c.via("view", r, ints(shape))
}

// shouldFold is PyTorch's choice between one mm over folded rows and a bmm, for tensors that need no gradient.
func shouldFold(a, b *tensor.Tensor) bool {
	t1, t2 := a, b
	if b.Dim() > a.Dim() {
		t1, t2 = b, a
	}
	if t1.Dim() < 3 || t2.Dim() > 2 {
		return false
	}
	if t2.Dim() == 1 && a == t1 || t1.Numel() == 0 {
		return true
	}
	// Fold when the batch can be viewed as rows without a copy: for a vector on the left, as rows of the turned matrices.
	n := t1.Dim()
	shape, stride := slices.Clone(t1.Shape), slices.Clone(t1.Stride)
	if t2.Dim() == 1 {
		shape[n-2], shape[n-1], stride[n-2], stride[n-1] = shape[n-1], shape[n-2], stride[n-1], stride[n-2]
	}
	for i := 0; i < n-2; i++ {
		if stride[i] != stride[i+1]*shape[i+1] {
			return false
		}
	}
	return true
}
