package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// Batched dense linear algebra in float64. Matrices are row-major slices.

// matrices gives each matrix of a batch as floats, with the batch shape.
func matrices(t *tensor.Tensor) (batch []int64, n, m int, each [][]float64, err error) {
	if t.Dim() < 2 {
		return nil, 0, 0, nil, errf("linalg: The input tensor A must have at least 2 dimensions.")
	}
	batch = t.Shape[:t.Dim()-2]
	n, m = int(t.Shape[t.Dim()-2]), int(t.Shape[t.Dim()-1])
	if !t.Fake {
		xs := t.Floats()
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

func squareOf(t *tensor.Tensor, name string) error {
	if t.Dim() < 2 {
		return errf("%s: The input tensor A must have at least 2 dimensions.", name)
	}
	if a, b := t.Shape[t.Dim()-2], t.Shape[t.Dim()-1]; a != b {
		return errf("%s: A must be batches of square matrices, but they are %d by %d matrices", name, a, b)
	}
	if !t.DType.IsFloat() || t.DType == tensor.BFloat16 || t.DType == tensor.Float16 {
		return errf("%s: Low precision dtypes not supported. Got %s", name, cName(t.DType))
	}
	return nil
}

// luFactor overwrites a (n x m) with its LU factors by partial pivoting and returns the 1-based pivots
// and LAPACK's info (the first zero pivot, 0 for none).
func luFactor(a []float64, n, m int) (piv []int64, info int64) {
	k := min(n, m)
	piv = make([]int64, k)
	for j := 0; j < k; j++ {
		p := j
		for i := j + 1; i < n; i++ {
			if math.Abs(a[i*m+j]) > math.Abs(a[p*m+j]) {
				p = i
			}
		}
		piv[j] = int64(p + 1)
		if a[p*m+j] == 0 {
			if info == 0 {
				info = int64(j + 1)
			}
			continue
		}
		if p != j {
			for q := 0; q < m; q++ {
				a[p*m+q], a[j*m+q] = a[j*m+q], a[p*m+q]
			}
		}
		for i := j + 1; i < n; i++ {
			f := a[i*m+j] / a[j*m+j]
			a[i*m+j] = f
			for q := j + 1; q < m; q++ {
				a[i*m+q] -= f * a[j*m+q]
			}
		}
	}
	return
}

// luSolve solves A X = B in place for the factors of luFactor; b is n x k.
func luSolve(lu []float64, piv []int64, b []float64, n, k int) {
	for i, p := range piv {
		if q := int(p - 1); q != i {
			for j := 0; j < k; j++ {
				b[i*k+j], b[q*k+j] = b[q*k+j], b[i*k+j]
			}
		}
	}
	triSolve(lu, b, n, k, false, true)
	triSolve(lu, b, n, k, true, false)
}

// triSolve solves a triangular system in place.
func triSolve(a, b []float64, n, k int, upper, unit bool) {
	for s := 0; s < n; s++ {
		i := s
		if upper {
			i = n - 1 - s
		}
		for j := 0; j < k; j++ {
			x := b[i*k+j]
			if upper {
				for p := i + 1; p < n; p++ {
					x -= a[i*n+p] * b[p*k+j]
				}
			} else {
				for p := 0; p < i; p++ {
					x -= a[i*n+p] * b[p*k+j]
				}
			}
			if !unit {
				x /= a[i*n+i]
			}
			b[i*k+j] = x
		}
	}
}

func identity(n int) []float64 {
	e := make([]float64, n*n)
	for i := 0; i < n; i++ {
		e[i*n+i] = 1
	}
	return e
}

// put stores matrix b of a batch into t.
func put(t *tensor.Tensor, b int, xs []float64) {
	k := t.Dim()
	sh := t.Shape[k-2:]
	off, _ := batchOffset(t, 2, b)
	tensor.NewView(t, sh, t.Stride[k-2:], off).SetFloats(xs)
}

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
		batch, n, _, each, err := matrices(t)
		if err != nil {
			return nil, err
		}
		o, info := c.matNew(t.DType, batch, n, n, true), c.NewC(tensor.Int32, batch...)
		if c.real {
			infos := make([]int64, len(each))
			for b, a := range each {
				piv, in := luFactor(a, n, n)
				x := identity(n)
				luSolve(a, piv, x, n, n)
				put(o, b, x)
				infos[b] = in
				if in != 0 && c.B(1) {
					return nil, singular("linalg.inv", in, len(batch) > 0, b)
				}
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
		batch, n, m, each, err := matrices(t)
		if err != nil {
			return nil, nil, nil, nil, nil, err
		}
		f, p, info := c.matNew(t.DType, batch, n, m, true), c.NewC(tensor.Int32, append(slices.Clone(batch), int64(min(n, m)))...), c.NewC(tensor.Int32, batch...)
		var pivs [][]int64
		if c.real {
			var all, infos []int64
			for b, a := range each {
				piv, in := luFactor(a, n, m)
				put(f, b, a)
				all = append(all, piv...)
				pivs = append(pivs, piv)
				infos = append(infos, in)
			}
			p.SetInts(all)
			info.SetInts(infos)
		}
		return f, p, info, each, pivs, nil
	}
	def("linalg_lu_factor_ex", func(c *Call) (Value, error) {
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
		a, b, left := c.T(0), c.T(1), c.B(2)
		if err := squareOf(a, "linalg.solve"); err != nil {
			return nil, err
		}
		if !left {
			return nil, kindf(NotImplementedError, "linalg.solve with left=False is not implemented")
		}
		vec := b.Dim() == 1 || a.Dim()-1 == b.Dim() && slices.Equal(b.Shape, a.Shape[:a.Dim()-1])
		f, p, info, each, pivs, err := lu(c)
		if err != nil {
			return nil, err
		}
		bt := b
		if vec {
			bt = tensor.NewView(b, append(slices.Clone(b.Shape), 1), append(slices.Clone(b.Stride), 1), b.Offset)
		}
		k := bt.Shape[bt.Dim()-1]
		batch, e := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], bt.Shape[:bt.Dim()-2])
		if e != nil {
			return nil, errf("%s", e)
		}
		n := a.Shape[a.Dim()-1]
		if bt.Shape[bt.Dim()-2] != n {
			return nil, errf("linalg.solve: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)", n, n, bt.Shape[bt.Dim()-2], k)
		}
		o := c.matNew(a.DType, batch, int(n), int(k), true)
		if c.real {
			full := bt.Expand(append(slices.Clone(batch), n, k)).Floats()
			reps := tensor.Numel(batch) / max(int64(len(each)), 1)
			_ = reps
			idx := (&tensor.Tensor{Shape: a.Shape[:a.Dim()-2], Stride: tensor.ContiguousStrides(a.Shape[:a.Dim()-2])})
			pos := offsets(&tensor.Tensor{Shape: batch, Stride: tensor.BroadcastStrides(idx, batch)})
			for i, q := range pos {
				x := full[int64(i)*n*k : int64(i+1)*n*k]
				luSolve(each[q], pivs[q], x, int(n), int(k))
				put(o, i, x)
			}
			for b, in := range info.Ints() {
				if in != 0 && c.B(3) {
					return nil, singular("torch.linalg.solve", in, len(batch) > 0, b)
				}
			}
		}
		if vec {
			o.Shape, o.Stride = o.Shape[:o.Dim()-1], o.Stride[:o.Dim()-1]
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
		batch, n, _, each, err := matrices(t)
		if err != nil {
			return nil, nil, err
		}
		o, info = c.matNew(t.DType, batch, n, n, true), c.NewC(tensor.Int32, batch...)
		if !c.real {
			return
		}
		var infos []int64
		for b, a := range each {
			l := make([]float64, n*n)
			in := int64(0)
			at := func(i, j int) float64 {
				if upper {
					return a[j*n+i]
				}
				return a[i*n+j]
			}
			for j := 0; j < n && in == 0; j++ {
				s := at(j, j)
				for k := 0; k < j; k++ {
					s -= l[j*n+k] * l[j*n+k]
				}
				if !(s > 0) {
					in = int64(j + 1)
					break
				}
				l[j*n+j] = math.Sqrt(s)
				for i := j + 1; i < n; i++ {
					s := at(i, j)
					for k := 0; k < j; k++ {
						s -= l[i*n+k] * l[j*n+k]
					}
					l[i*n+j] = s / l[j*n+j]
				}
			}
			if in != 0 && check {
				pre := "linalg.cholesky: "
				if len(batch) > 0 {
					pre += "(Batch element " + tensor.ShapeText([]int64{int64(b)})[1:]
					pre = pre[:len(pre)-1] + "): "
				}
				return nil, nil, errf("%sThe factorization could not be completed because the input is not positive-definite (the leading minor of order %d is not positive-definite).", pre, in)
			}
			if upper {
				u := make([]float64, n*n)
				for i := 0; i < n; i++ {
					for j := 0; j < n; j++ {
						u[j*n+i] = l[i*n+j]
					}
				}
				l = u
			}
			put(o, b, l)
			infos = append(infos, in)
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
		batch, e := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], b.Shape[:b.Dim()-2])
		if e != nil {
			return nil, errf("%s", e)
		}
		n, r, k := a.Shape[a.Dim()-1], b.Shape[b.Dim()-2], b.Shape[b.Dim()-1]
		o := c.matNew(a.DType, batch, int(r), int(k), left)
		if !c.real || o.Numel() == 0 {
			return o, nil
		}
		as, bs := a.Expand(append(slices.Clone(batch), n, n)).Floats(), b.Expand(append(slices.Clone(batch), r, k)).Floats()
		for i := int64(0); i < tensor.Numel(batch); i++ {
			A, B := as[i*n*n:(i+1)*n*n], bs[i*r*k:(i+1)*r*k]
			if left {
				triSolve(A, B, int(n), int(k), upper, unit)
				put(o, int(i), B)
				continue
			}
			// X A = B is A^T X^T = B^T.
			at, bt := transposed(A, int(n), int(n)), transposed(B, int(r), int(k))
			triSolve(at, bt, int(n), int(r), !upper, unit)
			put(o, int(i), transposed(bt, int(k), int(r)))
		}
		return o, nil
	})
	def("linalg_qr", func(c *Call) (Value, error) {
		t, mode := c.T(0), c.Str(1)
		batch, n, m, each, err := matrices(t)
		if err != nil {
			return nil, err
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
			for b, a := range each {
				qf, rf := householderQR(a, n, m)
				if mode != "r" {
					qq := make([]float64, n*qc)
					for i := 0; i < n; i++ {
						copy(qq[i*qc:(i+1)*qc], qf[i*n:i*n+qc])
					}
					put(q, b, qq)
				}
				put(r, b, rf[:rr*m])
			}
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
		batch, n, _, each, err := matrices(t)
		if err != nil {
			return nil, err
		}
		w := c.NewC(t.DType, append(slices.Clone(batch), int64(n))...)
		v := c.NewC(t.DType, 0)
		if c.B(2) {
			v = c.matNew(t.DType, batch, n, n, true)
		}
		if c.real {
			var ws []float64
			for b, a := range each {
				// Only the chosen triangle is read.
				for i := 0; i < n; i++ {
					for j := 0; j < i; j++ {
						if c.Str(1) == "U" || c.Str(1) == "u" {
							a[i*n+j] = a[j*n+i]
						} else {
							a[j*n+i] = a[i*n+j]
						}
					}
				}
				e, vec := jacobi(a, n)
				ws = append(ws, e...)
				if c.B(2) {
					put(v, b, vec)
				}
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
		batch, n, m, each, err := matrices(t)
		if err != nil {
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
			var ss []float64
			for b, a := range each {
				U, S, V := svd(a, n, m, full)
				ss = append(ss, S...)
				if uv {
					put(u, b, U)
					put(vh, b, V)
				}
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
		if err := squareOf(t, "linalg.matrix_exp"); err != nil {
			return nil, err
		}
		batch, n, _, each, err := matrices(t)
		if err != nil {
			return nil, err
		}
		o := c.matNew(t.DType, batch, n, n, false)
		for b, a := range each {
			if c.real {
				put(o, b, expm(a, n))
			}
		}
		return o, nil
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

func singular(name string, in int64, batched bool, b int) error {
	if batched {
		return &Error{Kind: "LinAlgError", Msg: errf("%s: (Batch element %d): The solver failed because the input matrix is singular.", name, b).Error()}
	}
	if name == "linalg.inv" {
		return &Error{Kind: "LinAlgError", Msg: errf("linalg.inv: The diagonal element %d is zero, the inversion could not be completed because the input matrix is singular.", in).Error()}
	}
	return &Error{Kind: "LinAlgError", Msg: errf("%s: The solver failed because the input matrix is singular.", name).Error()}
}

func transposed(a []float64, n, m int) []float64 {
	t := make([]float64, len(a))
	for i := 0; i < n; i++ {
		for j := 0; j < m; j++ {
			t[j*n+i] = a[i*m+j]
		}
	}
	return t
}

// householderQR gives the full Q (n x n) and R (n x m), with LAPACK's signs.
func householderQR(a []float64, n, m int) (q, r []float64) {
	r = slices.Clone(a)
	q = identity(n)
	for k := 0; k < min(n-1, m); k++ {
		s := 0.0
		for i := k; i < n; i++ {
			s += r[i*m+k] * r[i*m+k]
		}
		tail := s - r[k*m+k]*r[k*m+k]
		if tail <= 0 {
			continue
		}
		beta := -math.Copysign(math.Sqrt(s), r[k*m+k])
		v := make([]float64, n)
		for i := k; i < n; i++ {
			v[i] = r[i*m+k]
		}
		v[k] -= beta
		vv := 0.0
		for i := k; i < n; i++ {
			vv += v[i] * v[i]
		}
		for j := 0; j < m; j++ {
			d := 0.0
			for i := k; i < n; i++ {
				d += v[i] * r[i*m+j]
			}
			for i := k; i < n; i++ {
				r[i*m+j] -= 2 * d / vv * v[i]
			}
		}
		for i := 0; i < n; i++ {
			d := 0.0
			for j := k; j < n; j++ {
				d += q[i*n+j] * v[j]
			}
			for j := k; j < n; j++ {
				q[i*n+j] -= 2 * d / vv * v[j]
			}
		}
		for i := k + 1; i < n; i++ {
			r[i*m+k] = 0
		}
	}
	return
}

// jacobi diagonalises a symmetric matrix: eigenvalues ascending, eigenvectors in columns.
func jacobi(a []float64, n int) (w, v []float64) {
	v = identity(n)
	for sweep := 0; sweep < 100; sweep++ {
		off := 0.0
		for i := 0; i < n; i++ {
			for j := 0; j < i; j++ {
				off += a[i*n+j] * a[i*n+j]
			}
		}
		if off < 1e-300 {
			break
		}
		for p := 0; p < n; p++ {
			for q := p + 1; q < n; q++ {
				if a[p*n+q] == 0 {
					continue
				}
				th := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
				t := math.Copysign(1, th) / (math.Abs(th) + math.Hypot(th, 1))
				cs := 1 / math.Hypot(t, 1)
				sn := t * cs
				for i := 0; i < n; i++ {
					x, y := a[i*n+p], a[i*n+q]
					a[i*n+p], a[i*n+q] = cs*x-sn*y, sn*x+cs*y
				}
				for i := 0; i < n; i++ {
					x, y := a[p*n+i], a[q*n+i]
					a[p*n+i], a[q*n+i] = cs*x-sn*y, sn*x+cs*y
				}
				for i := 0; i < n; i++ {
					x, y := v[i*n+p], v[i*n+q]
					v[i*n+p], v[i*n+q] = cs*x-sn*y, sn*x+cs*y
				}
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		if a[x*n+x] < a[y*n+y] {
			return -1
		}
		return int(b2i(a[x*n+x] > a[y*n+y]))
	})
	vs := make([]float64, n*n)
	for k, o := range order {
		w = append(w, a[o*n+o])
		for i := 0; i < n; i++ {
			vs[i*n+k] = v[i*n+o]
		}
	}
	return w, vs
}

// svd is a one-sided Jacobi singular value decomposition: U (n x k or n x n), S descending, Vh (k x m or m x m).
func svd(a []float64, n, m int, full bool) (u, s, vh []float64) {
	if n < m {
		v, s, uh := svd(transposed(a, n, m), m, n, full)
		k := n
		kv := k
		if full {
			kv = m
		}
		return transposed(uh, k, n), s, transposed(v, m, kv)
	}
	b := slices.Clone(a)
	v := identity(m)
	for sweep := 0; sweep < 100; sweep++ {
		done := true
		for p := 0; p < m; p++ {
			for q := p + 1; q < m; q++ {
				al, be, ga := 0.0, 0.0, 0.0
				for i := 0; i < n; i++ {
					al += b[i*m+p] * b[i*m+p]
					be += b[i*m+q] * b[i*m+q]
					ga += b[i*m+p] * b[i*m+q]
				}
				if math.Abs(ga) <= 1e-16*math.Sqrt(al*be) || ga == 0 {
					continue
				}
				done = false
				z := (be - al) / (2 * ga)
				t := math.Copysign(1, z) / (math.Abs(z) + math.Hypot(z, 1))
				cs := 1 / math.Hypot(t, 1)
				sn := t * cs
				rot := func(x []float64, rows int) {
					for i := 0; i < rows; i++ {
						e, f := x[i*m+p], x[i*m+q]
						x[i*m+p], x[i*m+q] = cs*e-sn*f, sn*e+cs*f
					}
				}
				rot(b, n)
				rot(v, m)
			}
		}
		if done {
			break
		}
	}
	norm := make([]float64, m)
	order := make([]int, m)
	for j := range order {
		order[j] = j
		t := 0.0
		for i := 0; i < n; i++ {
			t += b[i*m+j] * b[i*m+j]
		}
		norm[j] = math.Sqrt(t)
	}
	slices.SortStableFunc(order, func(x, y int) int {
		if norm[x] > norm[y] {
			return -1
		}
		return int(b2i(norm[x] < norm[y]))
	})
	cols := m
	if full {
		cols = n
	}
	u, vh = make([]float64, n*cols), make([]float64, m*m)
	for k, o := range order {
		s = append(s, norm[o])
		for i := 0; i < n; i++ {
			if norm[o] > 0 {
				u[i*cols+k] = b[i*m+o] / norm[o]
			}
		}
		for i := 0; i < m; i++ {
			vh[k*m+i] = v[i*m+o]
		}
	}
	// Complete U to orthonormal columns where it is short.
	for k := 0; k < cols; k++ {
		if k < m && s[k] > 0 {
			continue
		}
		for e := 0; e < n; e++ {
			col := make([]float64, n)
			col[e] = 1
			for pass := 0; pass < 2; pass++ {
				for j := 0; j < cols; j++ {
					if j == k || j > k && (j >= m || s[j] == 0) {
						continue
					}
					d := 0.0
					for i := 0; i < n; i++ {
						d += col[i] * u[i*cols+j]
					}
					for i := 0; i < n; i++ {
						col[i] -= d * u[i*cols+j]
					}
				}
			}
			t := vectorNorm(col, 2)
			if t > 1e-8 {
				for i := 0; i < n; i++ {
					u[i*cols+k] = col[i] / t
				}
				break
			}
		}
	}
	return
}

func matmulF(a, b []float64, n int) []float64 {
	o := make([]float64, n*n)
	for i := 0; i < n; i++ {
		for k := 0; k < n; k++ {
			x := a[i*n+k]
			for j := 0; j < n; j++ {
				o[i*n+j] += x * b[k*n+j]
			}
		}
	}
	return o
}

// expm is the matrix exponential by scaling, a Taylor series and squaring.
func expm(a []float64, n int) []float64 {
	norm := 0.0
	for i := 0; i < n; i++ {
		s := 0.0
		for j := 0; j < n; j++ {
			s += math.Abs(a[i*n+j])
		}
		norm = max(norm, s)
	}
	k := 0
	for ; norm > 0.5 && k < 1000; k++ {
		norm /= 2
	}
	x := slices.Clone(a)
	for i := range x {
		x[i] = math.Ldexp(x[i], -k)
	}
	r, term := identity(n), identity(n)
	for i := 1; i < 20; i++ {
		term = matmulF(term, x, n)
		for j := range term {
			term[j] /= float64(i)
			r[j] += term[j]
		}
	}
	for ; k > 0; k-- {
		r = matmulF(r, r, n)
	}
	return r
}
