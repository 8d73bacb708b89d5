package aten

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Batched dense linear algebra. Matrices are row-major slices of float64; lapack.go factors them.

// matrices gives each matrix of a batch as floats, in memory as that of floats, with the batch shape.
func (c *Call) matrices(t *tensor.Tensor) (batch []int64, n, m int, each [][]float64, err error) {
	if t.Dim() < 2 {
		return nil, 0, 0, nil, errf("linalg: The input tensor A must have at least 2 dimensions.")
	}
	batch = t.Shape[:t.Dim()-2]
	n, m = int(t.Shape[t.Dim()-2]), int(t.Shape[t.Dim()-1])
	if !t.Fake {
		xs := c.floats(t)
		for b := int64(0); b < tensor.Numel(batch); b++ {
			each = append(each, xs[int(b)*n*m:(int(b)+1)*n*m])
		}
	}
	return
}

// matNew allocates batch matrices in column-major order, as LAPACK results are.
func (c *Call) matNew(d tensor.DType, batch []int64, n, m int, colMajor bool) *tensor.Tensor {
	shape := append(slices.Clone(batch), int64(n), int64(m))
	st := tensor.ContiguousStrides(shape)
	if colMajor {
		k := len(shape)
		st[k-2], st[k-1] = 1, max(int64(n), 1)
	}
	return c.New(d, shape, st)
}

func squareShape(t *tensor.Tensor, name string) error {
	if t.Dim() < 2 {
		return errf("%s: The input tensor A must have at least 2 dimensions.", name)
	}
	if a, b := t.Shape[t.Dim()-2], t.Shape[t.Dim()-1]; a != b {
		return errf("%s: A must be batches of square matrices, but they are %d by %d matrices", name, a, b)
	}
	return nil
}

func squareOf(t *tensor.Tensor, name string) error {
	if err := squareShape(t, name); err != nil {
		return err
	}
	if !t.DType.IsFloat() && !isComplex(t) {
		return errf("%s: Expected a floating point or complex tensor as input. Got %s", name, cName(t.DType))
	}
	if t.DType != tensor.Float32 && t.DType != tensor.Float64 {
		return errf("%s: Low precision dtypes not supported. Got %s", name, cName(t.DType))
	}
	return nil
}

// factorable demands a dtype that LAPACK has; kernel is the name in PyTorch's message.
func (c *Call) factorable(t *tensor.Tensor, kernel string) error {
	switch t.DType {
	case tensor.Float32, tensor.Float64:
		return nil
	}
	if !t.DType.IsFloat() {
		return errf("%s: Expected a floating point or complex tensor as input. Got %s", strings.Replace(c.Op.Sig().Name, "linalg_", "linalg.", 1), cName(t.DType))
	}
	return errf("\"%s\" not implemented for '%s'", kernel, cName(t.DType))
}

// identity is the n x n unit matrix.
func identity(n int) []float64 {
	e := make([]float64, n*n)
	for i := 0; i < n; i++ {
		e[i*n+i] = 1
	}
	return e
}

// alongBatch calls f for each of n matrices that take about work operations each, several at once where that is worth it. The error is that of the first
// matrix that has one.
func alongBatch(n, work int, f func(b int) error) error {
	errs := make([]error, n)
	parallel.For(n, grain/2/(work+1)+1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			errs[b] = f(b)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// put stores matrix b of a batch into t.
func put(t *tensor.Tensor, b int, xs []float64) {
	k := t.Dim()
	n, m, down, along := t.Shape[k-2], t.Shape[k-1], t.Stride[k-2], t.Stride[k-1]
	off, _ := batchOffset(t, 2, b)
	if n >= 32 && m >= 32 {
		tensor.NewView(t, t.Shape[k-2:], t.Stride[k-2:], off).SetFloats(xs)
		return
	}
	for i := range n {
		tensor.StoreFloat(t, off+i*down, along, xs[i*m:(i+1)*m])
	}
}

// flipped is a view of t whose last two dimensions have changed places.
func (c *Call) flipped(t *tensor.Tensor) *tensor.Tensor {
	k := t.Dim()
	shape, stride := slices.Clone(t.Shape), slices.Clone(t.Stride)
	shape[k-2], shape[k-1], stride[k-2], stride[k-1] = shape[k-1], shape[k-2], stride[k-1], stride[k-2]
	return c.View(t, shape, stride, t.Offset)
}

// batchOffset is where in memory matrix b of a batch begins: t less its last drop dimensions.
func batchOffset(t *tensor.Tensor, drop, b int) (int64, int) {
	off := t.Offset
	r := int64(b)
	for i := t.Dim() - drop - 1; i >= 0; i-- {
		off += r % t.Shape[i] * t.Stride[i]
		r /= t.Shape[i]
	}
	return off, b
}

func init() {
	def("linalg_inv_ex", func(c *Call) (Value, error) {
		t := c.T(0)
		if err := squareOf(t, "linalg.inv"); err != nil {
			return nil, err
		}
		batch, n, _, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		o, info := c.matNew(t.DType, batch, n, n, true), c.NewC(tensor.Int32, batch...)
		if c.real {
			infos := make([]int64, len(each))
			err := alongBatch(len(each), 2*n*n*n, func(b int) error {
				a := each[b]
				piv, in := luFactor(a, n, n)
				x := identity(n)
				luSolve(a, piv, x, n, n, false)
				put(o, b, x)
				infos[b] = in
				if in != 0 && c.B(1) {
					return singular("linalg.inv", in, len(batch) > 0, b)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			info.SetInts(infos)
		}
		return list(o, info), nil
	})
	comp("linalg_inv", func(c *Call) (Value, error) {
		v, err := c.via("linalg_inv_ex", c.Args[0], true)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	lu := func(c *Call) (*tensor.Tensor, *tensor.Tensor, *tensor.Tensor, [][]float64, [][]int64, error) {
		t := c.T(0)
		batch, n, m, each, err := c.matrices(t)
		if err == nil {
			err = c.factorable(t, "lu_factor_cpu")
		}
		if err != nil {
			return nil, nil, nil, nil, nil, err
		}
		f, p, info := c.matNew(t.DType, batch, n, m, true), c.NewC(tensor.Int32, append(slices.Clone(batch), int64(min(n, m)))...), c.NewC(tensor.Int32, batch...)
		var pivs [][]int64
		if c.real {
			k := min(n, m)
			all, infos := make([]int64, len(each)*k), make([]int64, len(each))
			pivs = make([][]int64, len(each))
			_ = alongBatch(len(each), n*m*k, func(b int) error {
				pivs[b], infos[b] = luFactor(each[b], n, m)
				copy(all[b*k:], pivs[b])
				put(f, b, each[b])
				return nil
			})
			p.SetInts(all)
			info.SetInts(infos)
		}
		return f, p, info, each, pivs, nil
	}
	def("linalg_lu_factor_ex", func(c *Call) (Value, error) {
		if !c.B(1) {
			return nil, errf("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
		}
		f, p, info, _, _, err := lu(c)
		return list(f, p, info), err
	})
	comp("linalg_lu_factor", func(c *Call) (Value, error) {
		v, err := c.via("linalg_lu_factor_ex", c.Args[0], c.Args[1])
		if err != nil {
			return nil, err
		}
		return v.([]Value)[:2], nil
	})
	det := func(n int, a []float64, piv []int64) (sign, logabs float64) {
		sign = 1
		for i := 0; i < n; i++ {
			x := a[i*n+i]
			if x < 0 {
				sign = -sign
			}
			if x == 0 {
				sign = 0
			}
			logabs += math.Log(math.Abs(x))
			if piv[i] != int64(i+1) {
				sign = -sign
			}
		}
		return
	}
	def("_linalg_det", func(c *Call) (Value, error) {
		if err := squareOf(c.T(0), "linalg.det"); err != nil {
			return nil, err
		}
		f, p, _, each, pivs, err := lu(c)
		if err != nil {
			return nil, err
		}
		o := c.NewC(f.DType, f.Shape[:f.Dim()-2]...)
		if c.real {
			n := int(f.Shape[f.Dim()-1])
			out := make([]float64, len(each))
			for b := range each {
				out[b] = 1
				for i := 0; i < n; i++ {
					out[b] *= each[b][i*n+i]
					if pivs[b][i] != int64(i+1) {
						out[b] = -out[b]
					}
				}
			}
			o.SetFloats(out)
		}
		return list(o, f, p), nil
	})
	comp("linalg_det", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_det", c.Args[0])
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	def("_linalg_slogdet", func(c *Call) (Value, error) {
		if err := squareOf(c.T(0), "linalg.slogdet"); err != nil {
			return nil, err
		}
		f, p, _, each, pivs, err := lu(c)
		if err != nil {
			return nil, err
		}
		s, l := c.NewC(f.DType, f.Shape[:f.Dim()-2]...), c.NewC(f.DType, f.Shape[:f.Dim()-2]...)
		if c.real {
			n := int(f.Shape[f.Dim()-1])
			ss, ls := make([]float64, len(each)), make([]float64, len(each))
			for b := range each {
				ss[b], ls[b] = det(n, each[b], pivs[b])
			}
			s.SetFloats(ss)
			l.SetFloats(ls)
		}
		return list(s, l, f, p), nil
	})
	comp("linalg_slogdet", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_slogdet", c.Args[0])
		if err != nil {
			return nil, err
		}
		return v.([]Value)[:2], nil
	})
	comp("logdet", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_slogdet", c.Args[0])
		if err != nil {
			return nil, err
		}
		l := v.([]Value)
		return c.via("where.ScalarSelf", must(c.via("eq.Scalar", l[0], -1.0)), math.NaN(), l[1])
	})
	def("_linalg_solve_ex", func(c *Call) (Value, error) {
		a := c.T(0)
		if err := squareOf(a, "linalg.solve"); err != nil {
			return nil, err
		}
		f, p, info, each, pivs, err := lu(c)
		if err != nil {
			return nil, err
		}
		o, err := c.luSolveInto(a, c.T(1), each, pivs, c.B(2), false, true, "linalg.solve")
		if err != nil {
			return nil, err
		}
		if c.real && c.B(3) {
			for b, in := range info.Ints() {
				if in != 0 {
					return nil, singular("torch.linalg.solve", in, a.Dim() > 2, b)
				}
			}
		}
		return list(o, f, p, info), nil
	})
	comp("linalg_solve_ex", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_solve_ex", c.Args[0], c.Args[1], c.Args[2], c.Args[3])
		if err != nil {
			return nil, err
		}
		l := v.([]Value)
		return []Value{l[0], l[3]}, nil
	})
	comp("linalg_solve", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_solve_ex", c.Args[0], c.Args[1], c.Args[2], true)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	chol := func(c *Call, upper, check bool) (o, info *tensor.Tensor, err error) {
		t := c.T(0)
		if err := squareOf(t, "linalg.cholesky"); err != nil {
			return nil, nil, err
		}
		// The result lies in columns: it is the transpose of the other factor, of the transpose, which lies in rows.
		batch, n, _, each, err := c.matrices(c.flipped(t))
		if err != nil {
			return nil, nil, err
		}
		o, info = c.matNew(t.DType, batch, n, n, true), c.NewC(tensor.Int32, batch...)
		if !c.real {
			return
		}
		rows := c.flipped(o)
		infos := make([]int64, len(each))
		err = alongBatch(len(each), n*n*n, func(b int) error {
			l, in := cholesky(each[b], n, !upper)
			if in != 0 && check {
				return linAlgError("linalg.cholesky: %sThe factorization could not be completed because the input is not positive-definite (the leading minor of order %d is not positive-definite).", batchElement(len(batch) > 0, b), in)
			}
			put(rows, b, l)
			infos[b] = in
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		info.SetInts(infos)
		return
	}
	def("linalg_cholesky_ex", func(c *Call) (Value, error) {
		o, info, err := chol(c, c.B(1), c.B(2))
		return list(o, info), err
	})
	comp("linalg_cholesky", func(c *Call) (Value, error) {
		v, err := c.via("linalg_cholesky_ex", c.Args[0], c.Args[1], true)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	def("cholesky", func(c *Call) (Value, error) {
		o, _, err := chol(c, c.B(1), true)
		return c.tv(o, err)
	})
	def("linalg_solve_triangular", func(c *Call) (Value, error) {
		a, b, upper, left, unit := c.T(0), c.T(1), c.B(2), c.B(3), c.B(4)
		if err := squareOf(a, "linalg.solve_triangular"); err != nil {
			return nil, err
		}
		if b.Dim() < 2 {
			return nil, errf("linalg.solve_triangular: The input tensor B must have at least 2 dimensions.")
		}
		batch, e := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], b.Shape[:b.Dim()-2])
		if e != nil {
			return nil, errf("%s", e)
		}
		n, r, k := a.Shape[a.Dim()-1], b.Shape[b.Dim()-2], b.Shape[b.Dim()-1]
		if left && r != n || !left && k != n {
			eq := "AX"
			if !left {
				eq = "XA"
			}
			return nil, errf("linalg.solve_triangular: Incompatible shapes of A and B for the equation %s = B (%dx%d and %dx%d)", eq, n, n, r, k)
		}
		if a.DType != b.DType {
			return nil, errf("linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type %s and B of type %s instead", cName(a.DType), cName(b.DType))
		}
		o := c.matNew(a.DType, batch, int(r), int(k), left)
		if !c.real || o.Numel() == 0 {
			return o, nil
		}
		as, bs := c.floats(a.Expand(append(slices.Clone(batch), n, n))), c.floats(b.Expand(append(slices.Clone(batch), r, k)))
		return o, alongBatch(int(tensor.Numel(batch)), int(n*r*k), func(which int) error {
			i := int64(which)
			A, B := as[i*n*n:(i+1)*n*n], bs[i*r*k:(i+1)*r*k]
			if left {
				triSolve(A, B, int(n), int(k), upper, unit, false)
				put(o, which, B)
				return nil
			}
			// X A = B is A^T X^T = B^T.
			bt := transposed(B, int(r), int(k))
			triSolve(A, bt, int(n), int(r), upper, unit, true)
			put(o, which, transposed(bt, int(k), int(r)))
			return nil
		})
	})
	def("linalg_qr", func(c *Call) (Value, error) {
		t, mode := c.T(0), c.Str(1)
		batch, n, m, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		if err := c.factorable(t, "geqrf_cpu"); err != nil {
			return nil, err
		}
		if mode != "reduced" && mode != "complete" && mode != "r" {
			return nil, errf("qr received unrecognized mode '%s' but expected one of 'reduced' (default), 'r', or 'complete'", mode)
		}
		k := min(n, m)
		qc := k
		if mode == "complete" {
			qc = n
		}
		rr := k
		if mode == "complete" {
			rr = n
		}
		r := c.matNew(t.DType, batch, rr, m, true)
		q := c.matNew(t.DType, batch, n, qc, true)
		if mode == "r" {
			q = c.NewC(t.DType, 0)
		}
		if c.real {
			_ = alongBatch(len(each), 2*n*m*k, func(b int) error {
				a := each[b]
				tau := qrFactor(a, n, m)
				if mode != "r" {
					put(q, b, reflectors(a, n, m, tau, qc))
				}
				keepTriangle(a, n, m, true)
				put(r, b, a[:rr*m])
				return nil
			})
		}
		return list(q, r), nil
	})
	comp("qr", func(c *Call) (Value, error) {
		mode := "reduced"
		if !c.B(1) {
			mode = "complete"
		}
		return c.via("linalg_qr", c.Args[0], mode)
	})
	def("_linalg_eigh", func(c *Call) (Value, error) {
		t := c.T(0)
		if err := squareOf(t, "linalg.eigh"); err != nil {
			return nil, err
		}
		batch, n, _, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		up := c.Str(1) == "U" || c.Str(1) == "u"
		if !up && c.Str(1) != "L" && c.Str(1) != "l" {
			return nil, errf("Expected UPLO argument to be 'L' or 'U', but got %s", c.Str(1))
		}
		w := c.NewC(t.DType, append(slices.Clone(batch), int64(n))...)
		v := c.NewC(t.DType, 0)
		if c.B(2) {
			v = c.matNew(t.DType, batch, n, n, true)
		}
		if c.real {
			ws := make([]float64, len(each)*n)
			err := alongBatch(len(each), 4*n*n*n, func(b int) error {
				a := each[b]
				if !finite(a) {
					nan := slices.Repeat([]float64{math.NaN()}, n*n)
					copy(ws[b*n:(b+1)*n], nan)
					if c.B(2) {
						put(v, b, nan)
					}
					return nil
				}
				e, vec, ok := eigSymmetric(a, n, up, c.B(2))
				if !ok {
					return noConvergence("linalg.eigh", len(batch) > 0, b)
				}
				copy(ws[b*n:], e)
				if c.B(2) {
					put(v, b, vec)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			w.SetFloats(ws)
		}
		return list(w, v), nil
	})
	comp("linalg_eigh", func(c *Call) (Value, error) { return c.via("_linalg_eigh", c.Args[0], c.Args[1], true) })
	comp("linalg_eigvalsh", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_eigh", c.Args[0], c.Args[1], false)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	def("_linalg_svd", func(c *Call) (Value, error) {
		t, full, uv := c.T(0), c.B(1), c.B(2)
		batch, n, m, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		if err := c.factorable(t, "linalg_svd_cpu"); err != nil {
			return nil, err
		}
		k := min(n, m)
		un, vn := k, k
		if full {
			un, vn = n, m
		}
		s := c.NewC(t.DType, append(slices.Clone(batch), int64(k))...)
		u, vh := c.NewC(t.DType, 0), c.NewC(t.DType, 0)
		if uv {
			u, vh = c.matNew(t.DType, batch, n, un, true), c.matNew(t.DType, batch, vn, m, true)
		}
		if c.real {
			ss := make([]float64, len(each)*k)
			err := alongBatch(len(each), 4*n*m*k, func(b int) error {
				a := each[b]
				if !finite(a) {
					return linAlgError("linalg.svd: %sThe algorithm failed to converge because the input matrix contained non-finite values.", batchElement(len(batch) > 0, b))
				}
				U, S, V, ok := svd(a, n, m, full, uv)
				if !ok {
					return noConvergence("linalg.svd", len(batch) > 0, b)
				}
				copy(ss[b*k:], S)
				if uv {
					put(u, b, U)
					put(vh, b, V)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			s.SetFloats(ss)
		}
		return list(u, s, vh), nil
	})
	comp("linalg_svd", func(c *Call) (Value, error) { return c.via("_linalg_svd", c.Args[0], c.Args[1], true) })
	comp("linalg_svdvals", func(c *Call) (Value, error) {
		v, err := c.via("_linalg_svd", c.Args[0], false, false)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[1], nil
	})
	def("linalg_matrix_exp", func(c *Call) (Value, error) {
		t := c.T(0)
		if err := squareShape(t, "linalg.matrix_exp"); err != nil {
			return nil, err
		}
		if !t.DType.IsFloat() {
			return nil, errf("linalg.matrix_exp: Expected a floating point or complex tensor as input. Got %s", cName(t.DType))
		}
		batch, n, _, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		o := c.matNew(t.DType, batch, n, n, false)
		return o, alongBatch(len(each), 20*n*n*n, func(b int) error {
			if c.real {
				put(o, b, expm(each[b], n))
			}
			return nil
		})
	})
	comp("matrix_exp", func(c *Call) (Value, error) { return c.via("linalg_matrix_exp", c.Args[0]) })
	comp("linalg_matrix_power", func(c *Call) (Value, error) {
		a, n := Value(c.T(0)), c.I(1)
		if err := squareOf(c.T(0), "linalg.matrix_power"); err != nil {
			return nil, err
		}
		if n == 0 {
			z := must(c.via("zeros_like", a, nil, nil, nil, nil, tensor.ContiguousFormat))
			d, err := c.via("diagonal", z, int64(0), int64(-2), int64(-1))
			if err != nil {
				return nil, err
			}
			if _, err = c.via("fill_.Scalar", d, 1.0); err != nil {
				return nil, err
			}
			return z, nil
		}
		if n < 0 {
			a = must(c.via("linalg_inv", a))
			n = -n
		}
		var r Value
		for ; n > 0; n >>= 1 {
			if n&1 != 0 {
				if r == nil {
					r = a
				} else {
					r = must(c.via("matmul", r, a))
				}
			}
			if n > 1 {
				a = must(c.via("matmul", a, a))
			}
		}
		if e, ok := r.(error); ok {
			return nil, e
		}
		if r == Value(c.T(0)) {
			return c.via("clone", r)
		}
		return r, nil
	})
}

// linAlgError is the torch.linalg.LinAlgError of a matrix that an algorithm cannot take.
func linAlgError(format string, args ...any) error { return kindf(LinAlgError, format, args...) }

func batchElement(batched bool, b int) string {
	if batched {
		return "(Batch element " + strconv.Itoa(b) + "): "
	}
	return ""
}

func singular(name string, in int64, batched bool, b int) error {
	if name == "linalg.inv" {
		return linAlgError("linalg.inv: %sThe diagonal element %d is zero, the inversion could not be completed because the input matrix is singular.", batchElement(batched, b), in)
	}
	return linAlgError("%s: %sThe solver failed because the input matrix is singular.", name, batchElement(batched, b))
}

func noConvergence(name string, batched bool, b int) error {
	return linAlgError("%s: %sThe algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues.", name, batchElement(batched, b))
}

// finite reports whether there is neither NaN nor an infinity: what LAPACK would not end on.
func finite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// transposed is the transpose of an n x m matrix.
func transposed(a []float64, n, m int) []float64 {
	t := make([]float64, len(a))
	for i := 0; i < n; i++ {
		for j := 0; j < m; j++ {
			t[j*n+i] = a[i*m+j]
		}
	}
	return t
}

func matmulF(a, b []float64, n int) []float64 {
	o := make([]float64, n*n)
	if n > 0 {
		blas64.Implementation().Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, o, n)
	}
	return o
}

// expm is the matrix exponential by scaling, the approximant of Pade of degree 13, and squaring (Higham, The scaling and squaring method for the matrix exponential
// revisited, 2005): six products and a solution, and one product for each time that the matrix was halved to have a norm of at most 5.37.
func expm(a []float64, n int) []float64 {
	norm := 0.0
	for i := range n {
		s := 0.0
		for _, x := range a[i*n : (i+1)*n] {
			s += math.Abs(x)
		}
		norm = max(norm, s)
	}
	k := 0
	for ; norm > 5.371920351148152 && k < 1000; k++ {
		norm /= 2
	}
	x := slices.Clone(a)
	for i := range x {
		x[i] = math.Ldexp(x[i], -k)
	}
	b := [...]float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
	x2 := matmulF(x, x, n)
	x4 := matmulF(x2, x2, n)
	x6 := matmulF(x4, x2, n)
	// The part of one parity: x6 * (its three highest powers) and its four lowest.
	half := func(odd int) []float64 {
		high := make([]float64, n*n)
		for i := range high {
			high[i] = b[12+odd]*x6[i] + b[10+odd]*x4[i] + b[8+odd]*x2[i]
		}
		high = matmulF(x6, high, n)
		for i := range high {
			high[i] += b[6+odd]*x6[i] + b[4+odd]*x4[i] + b[2+odd]*x2[i]
		}
		for i := range n {
			high[i*n+i] += b[odd]
		}
		return high
	}
	even, odd := half(0), matmulF(x, half(1), n)
	r := make([]float64, n*n)
	for i := range r {
		r[i], even[i] = even[i]+odd[i], even[i]-odd[i]
	}
	piv, _ := luFactor(even, n, n)
	luSolve(even, piv, r, n, n, false)
	for ; k > 0; k-- {
		r = matmulF(r, r, n)
	}
	return r
}
