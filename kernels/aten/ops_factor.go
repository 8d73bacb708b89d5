package aten

import (
	"slices"

	"whittle/kernels/tensor"
)

// Solving with factors, and what torch.linalg composes of the factorisations.

// vectorRHS is PyTorch's rule for a right-hand side that is a batch of vectors.
func vectorRHS(a, b *tensor.Tensor) bool {
	return b.Dim() == 1 || a.Dim()-1 == b.Dim() && slices.Equal(b.Shape, a.Shape[:a.Dim()-1])
}

func asColumn(b *tensor.Tensor) *tensor.Tensor {
	return tensor.NewView(b, append(slices.Clone(b.Shape), 1), append(slices.Clone(b.Stride), 1), b.Offset)
}

// pick lists, for each matrix of the broadcast batch, which matrix of one with batch shape from it is.
func pick(from, batch []int64) []int64 {
	t := &tensor.Tensor{Shape: from, Stride: tensor.ContiguousStrides(from)}
	return offsets(&tensor.Tensor{Shape: batch, Stride: tensor.BroadcastStrides(t, batch)})
}

// columnMajor is the contiguous strides of a batch of matrices, each in column-major order.
func columnMajor(shape []int64) []int64 {
	st := tensor.ContiguousStrides(shape)
	if k := len(shape); k >= 2 {
		st[k-2], st[k-1] = 1, max(shape[k-2], 1)
	}
	return st
}

// luSolveInto solves with the LU factors of each matrix of a: A X = B, or X A = B when not left, with A^T for A if adjoint.
// each and pivs are nil when the call is fake.
func (c *Call) luSolveInto(a, b *tensor.Tensor, each [][]float64, pivs [][]int64, left, adjoint, vectors bool, name string) (*tensor.Tensor, error) {
	n := a.Shape[a.Dim()-1]
	vec := vectors && vectorRHS(a, b)
	bt := b
	if vec {
		bt = asColumn(b)
	}
	if bt.Dim() < 2 {
		return nil, errf("%s: The input tensor B must have at least 2 dimensions.", name)
	}
	r, k := bt.Shape[bt.Dim()-2], bt.Shape[bt.Dim()-1]
	if eq := "AX"; left && r != n || !left && k != n {
		if !left {
			eq = "XA"
		}
		return nil, errf("%s: Incompatible shapes of A and B for the equation %s = B (%dx%d and %dx%d)", name, eq, n, n, r, k)
	}
	if b.DType != a.DType {
		return nil, errf("%s: Expected A and B to have the same dtype, but found A of type %s and B of type %s instead", name, cName(a.DType), cName(b.DType))
	}
	batch, e := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], bt.Shape[:bt.Dim()-2])
	if e != nil {
		return nil, errf("%s", e)
	}
	shape := append(slices.Clone(batch), r, k)
	if vec {
		shape = shape[:len(shape)-1]
	}
	st := tensor.ContiguousStrides(shape)
	if left {
		st = columnMajor(shape)
	}
	o := c.New(a.DType, shape, st)
	if !c.real || o.Numel() == 0 {
		return o, nil
	}
	full := c.floats(bt.Expand(append(slices.Clone(batch), r, k)))
	to := o
	if vec {
		to = asColumn(o)
	}
	which := pick(a.Shape[:a.Dim()-2], batch)
	return o, alongBatch(len(which), int(n*r*k), func(i int) error {
		q, x := which[i], full[int64(i)*r*k:int64(i+1)*r*k]
		if left {
			luSolve(each[q], pivs[q], x, int(n), int(k), adjoint)
		} else {
			// X A = B is A^T X^T = B^T.
			x = transposed(x, int(r), int(k))
			luSolve(each[q], pivs[q], x, int(n), int(r), !adjoint)
			x = transposed(x, int(n), int(r))
		}
		put(to, i, x)
		return nil
	})
}

func init() {
	solvers()
	reflectorOps()
	leastSquaresOps()
	spectral()
	rankOps()
	tensorEquations()
}

// pivotsOf reads a batch of pivots.
func pivotsOf(p *tensor.Tensor, k int) [][]int64 {
	all := p.Ints()
	var out [][]int64
	for i := 0; k > 0 && i < len(all); i += k {
		out = append(out, all[i:i+k])
	}
	return out
}

func solvers() {
	def("linalg_lu_solve", func(c *Call) (Value, error) {
		lu, p := c.T(0), c.T(1)
		if err := squareOf(lu, "torch.linalg.lu_solve"); err != nil {
			return nil, err
		}
		if p.DType != tensor.Int32 {
			return nil, errf("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
		}
		if n := lu.Shape[lu.Dim()-1]; p.Dim() < 1 || p.Shape[p.Dim()-1] != n || !slices.Equal(p.Shape[:p.Dim()-1], lu.Shape[:lu.Dim()-2]) {
			return nil, errf("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
		}
		if c.real && c.T(2).Numel() == 0 { // nothing is solved, whatever the matrices
			shape := *c
			shape.real = false
			o, err := shape.luSolveInto(lu, c.T(2), nil, nil, c.B(3), c.B(4), false, "linalg.lu_solve")
			if err != nil {
				return nil, err
			}
			return c.New(o.DType, o.Shape, o.Stride), nil
		}
		_, n, _, each, err := c.matrices(lu)
		if err != nil {
			return nil, err
		}
		var pivs [][]int64
		if c.real {
			pivs = pivotsOf(p, n)
		}
		o, err := c.luSolveInto(lu, c.T(2), each, pivs, c.B(3), c.B(4), false, "linalg.lu_solve")
		return c.tv(o, err)
	})
	comp("lu_solve", func(c *Call) (Value, error) {
		return c.via("linalg_lu_solve", c.Args[1], c.Args[2], c.Args[0])
	})
	unpack := func(c *Call, lu *tensor.Tensor, pivs *tensor.Tensor, data, pivots bool) (Value, error) {
		if lu.Dim() < 2 {
			return nil, errf("linalg: The input tensor A must have at least 2 dimensions.")
		}
		batch, n, m := lu.Shape[:lu.Dim()-2], int(lu.Shape[lu.Dim()-2]), int(lu.Shape[lu.Dim()-1])
		k := min(n, m)
		P, L, U := c.NewC(lu.DType, 0), c.NewC(lu.DType, 0), c.NewC(lu.DType, 0)
		if pivots {
			P = c.matNew(lu.DType, batch, n, n, false)
		}
		if data {
			L, U = c.matNew(lu.DType, batch, n, k, false), c.matNew(lu.DType, batch, k, m, false)
		}
		if !c.real {
			return list(P, L, U), nil
		}
		count := int(tensor.Numel(batch))
		if pivots {
			ps, one := pivotsOf(pivs, k), tensor.Full(lu.DType, 1).Bytes()
			size := len(one)
			to := P.Bytes()
			err := alongBatch(count, n*n, func(b int) error {
				perm := make([]int, n)
				for i := range perm {
					perm[i] = i
				}
				for i := 0; i < k; i++ {
					q := ps[b][i] - 1
					if q < 0 || q >= int64(n) {
						return errf("lu_unpack: LU_pivots should be between 1 and LU.size(-2)")
					}
					perm[i], perm[q] = perm[q], perm[i]
				}
				for i, q := range perm {
					copy(to[((b*n+q)*n+i)*size:], one)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if data {
			from, one := c.dense(lu, lu.DType).Bytes(), tensor.Full(lu.DType, 1).Bytes()
			size := len(one)
			l, u := L.Bytes(), U.Bytes()
			_ = alongBatch(count, n*m, func(b int) error {
				for i := range n {
					row := from[(b*n+i)*m*size:][:m*size]
					copy(l[(b*n+i)*k*size:], row[:min(i, k)*size])
					if i < k {
						copy(u[((b*k+i)*m+i)*size:], row[i*size:])
						copy(l[((b*n+i)*k+i)*size:], one)
					}
				}
				return nil
			})
		}
		return list(P, L, U), nil
	}
	def("lu_unpack", func(c *Call) (Value, error) {
		if c.T(1).DType != tensor.Int32 {
			return nil, errf("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is intended to be used with the output produced by torch.linalg.lu_factor")
		}
		if lu, p := c.T(0), c.T(1); lu.Dim() < 2 || !slices.Equal(p.Shape, append(slices.Clone(lu.Shape[:lu.Dim()-2]), min(lu.Shape[lu.Dim()-2], lu.Shape[lu.Dim()-1]))) {
			return nil, errf("lu_unpack: Expected LU_pivots to have one pivot for each row or column of LU_data of size %s, but got %s", tensor.ShapeText(lu.Shape), tensor.ShapeText(p.Shape))
		}
		return unpack(c, c.T(0), c.T(1), c.B(2), c.B(3))
	})
	def("linalg_lu", func(c *Call) (Value, error) {
		if !c.B(1) {
			return nil, errf("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
		}
		v, err := c.do("linalg_lu_factor_ex", c.Args[0], c.Args[1], false)
		if err != nil {
			return nil, err
		}
		l := v.([]Value)
		return unpack(c, l[0].(*tensor.Tensor), l[1].(*tensor.Tensor), true, true)
	})
	comp("_lu_with_info", func(c *Call) (Value, error) {
		return c.via("linalg_lu_factor_ex", c.Args[0], c.Args[1], c.Args[2])
	})
	def("cholesky_solve", func(c *Call) (Value, error) {
		b, a := c.T(0), c.T(1)
		if b.Dim() < 2 || a.Dim() < 2 {
			return nil, errf("b should have at least 2 dimensions, but has %d dimensions instead", min(a.Dim(), b.Dim()))
		}
		return c.broadcastSolve(b, a, "cholesky_solve", func(u, x []float64, n, k int) {
			up := c.B(2)
			triSolve(u, x, n, k, up, false, up)
			triSolve(u, x, n, k, up, false, !up)
		})
	})
	def("cholesky_inverse", func(c *Call) (Value, error) {
		t := c.T(0)
		if err := squareOf(t, "cholesky_inverse"); err != nil {
			return nil, err
		}
		batch, n, _, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		o := c.matNew(t.DType, batch, n, n, true)
		if !c.real || n == 0 {
			return o, nil
		}
		up := c.B(1)
		return o, alongBatch(len(each), n*n*n, func(b int) error {
			a := each[b]
			if !lapackImpl.Dpotri(uploOf(up), n, a, n) {
				return linAlgError("cholesky_inverse: %sThe diagonal element is zero, the inversion could not be completed because the input matrix is singular.", batchElement(len(batch) > 0, b))
			}
			for i := range n {
				for j := range i {
					if up {
						a[i*n+j] = a[j*n+i]
					} else {
						a[j*n+i] = a[i*n+j]
					}
				}
			}
			put(o, b, a)
			return nil
		})
	})
	def("triangular_solve", func(c *Call) (Value, error) {
		b, a := c.T(0), c.T(1)
		if b.Dim() < 2 || a.Dim() < 2 {
			return nil, errf("torch.triangular_solve: Expected b to have at least 2 dimensions, but it has %d dimensions instead", b.Dim())
		}
		x, err := c.broadcastSolve(b, a, "triangular_solve", func(u, x []float64, n, k int) {
			triSolve(u, x, n, k, c.B(2), c.B(4), c.B(3))
		})
		if err != nil {
			return nil, err
		}
		sol := x.(*tensor.Tensor)
		n := int(a.Shape[a.Dim()-1])
		batch := sol.Shape[:sol.Dim()-2]
		cp := c.matNew(a.DType, batch, n, n, true)
		if c.real {
			tensor.Copy(cp, a)
		}
		return list(sol, cp), nil
	})
	ldlOps()
}

// broadcastSolve runs f on each matrix and right-hand side of the common batch; results are column-major.
func (c *Call) broadcastSolve(b, a *tensor.Tensor, name string, f func(a, x []float64, n, k int)) (Value, error) {
	if err := squareOf(a, name); err != nil {
		return nil, err
	}
	if a.DType != b.DType {
		return nil, errf("%s: expected b and A to have the same dtype, but found %s and %s", name, cName(b.DType), cName(a.DType))
	}
	n, r, k := a.Shape[a.Dim()-1], b.Shape[b.Dim()-2], b.Shape[b.Dim()-1]
	if n != r {
		return nil, errf("Incompatible matrix sizes for %s: each A matrix is %d by %d but each b matrix is %d by %d", name, n, n, r, k)
	}
	batch, e := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], b.Shape[:b.Dim()-2])
	if e != nil {
		return nil, errf("%s", e)
	}
	o := c.matNew(a.DType, batch, int(n), int(k), true)
	if !c.real || o.Numel() == 0 {
		return o, nil
	}
	as, bs := c.floats(a.Expand(append(slices.Clone(batch), n, n))), c.floats(b.Expand(append(slices.Clone(batch), r, k)))
	return o, alongBatch(int(tensor.Numel(batch)), int(n*n*k), func(b int) error {
		i := int64(b)
		x := bs[i*n*k : (i+1)*n*k]
		f(as[i*n*n:(i+1)*n*n], x, int(n), int(k))
		put(o, b, x)
		return nil
	})
}

func reflectorOps() {
	def("geqrf", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() < 2 {
			return nil, errf("torch.geqrf: input must have at least 2 dimensions.")
		}
		batch, n, m, each, err := c.matrices(t)
		if err == nil {
			err = c.factorable(t, "geqrf_cpu")
		}
		if err != nil {
			return nil, err
		}
		o, tau := c.matNew(t.DType, batch, n, m, true), c.NewC(t.DType, append(slices.Clone(batch), int64(min(n, m)))...)
		if c.real {
			k := min(n, m)
			taus := make([]float64, len(each)*k)
			_ = alongBatch(len(each), n*m*k, func(b int) error {
				copy(taus[b*k:], qrFactor(each[b], n, m))
				put(o, b, each[b])
				return nil
			})
			tau.SetFloats(taus)
		}
		return list(o, tau), nil
	})
	def("linalg_householder_product", func(c *Call) (Value, error) {
		t, tau := c.T(0), c.T(1)
		const name = "torch.linalg.householder_product: "
		if t.Dim() < 2 {
			return nil, errf(name + "input must have at least 2 dimensions.")
		}
		batch, n, m, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		switch {
		case n < m:
			return nil, errf(name + "input.shape[-2] must be greater than or equal to input.shape[-1]")
		case tau.Dim() < 1 || int64(m) < tau.Shape[tau.Dim()-1]:
			return nil, errf(name + "input.shape[-1] must be greater than or equal to tau.shape[-1]")
		case t.Dim()-tau.Dim() != 1:
			return nil, errf(name+"Expected tau to have one dimension less than input, but got tau.ndim equal to %d and input.ndim is equal to %d", tau.Dim(), t.Dim())
		case !slices.Equal(tau.Shape[:tau.Dim()-1], batch):
			return nil, errf(name+"Expected batch dimensions of tau to be equal to input.shape[:-2], but got %s", tensor.ShapeText(tau.Shape[:tau.Dim()-1]))
		}
		if err := c.factorable(t, "orgqr_cpu"); err != nil {
			return nil, err
		}
		o := c.matNew(t.DType, batch, n, m, true)
		if c.real && o.Numel() > 0 {
			k := int(tau.Shape[tau.Dim()-1])
			ts := tau.Floats()
			_ = alongBatch(len(each), n*m*m, func(b int) error {
				put(o, b, reflectors(each[b], n, m, ts[b*k:(b+1)*k], m))
				return nil
			})
		}
		return o, nil
	})
	def("ormqr", func(c *Call) (Value, error) {
		t, tau, x := c.T(0), c.T(1), c.T(2)
		left, trans := c.B(3), c.B(4)
		if t.Dim() < 2 || x.Dim() < 2 {
			return nil, errf("torch.ormqr: input must have at least 2 dimensions.")
		}
		side := int64(1)
		if left {
			side = 2
		}
		if tau.Dim() != t.Dim()-1 || !slices.Equal(tau.Shape[:tau.Dim()-1], t.Shape[:t.Dim()-2]) || !slices.Equal(x.Shape[:x.Dim()-2], t.Shape[:t.Dim()-2]) || tau.Shape[tau.Dim()-1] > t.Shape[t.Dim()-1] {
			return nil, errf("torch.ormqr: batch dimensions of tau and other to be equal to input.shape[:-2], and tau.shape[-1] at most input.shape[-1]; got input %s, tau %s, other %s", tensor.ShapeText(t.Shape), tensor.ShapeText(tau.Shape), tensor.ShapeText(x.Shape))
		}
		q := tau.Shape[tau.Dim()-1]
		n := x.Shape[x.Dim()-int(side)]
		if n < q {
			return nil, errf("torch.ormqr: other.shape[-%d] must be greater than or equal to tau.shape[-1]", side)
		}
		if n != t.Shape[t.Dim()-2] {
			return nil, errf("torch.ormqr: other.shape[-%d] must be equal to input.shape[-2]", side)
		}
		if err := c.factorable(t, "ormqr_cpu"); err != nil {
			return nil, err
		}
		batch, r, k, each, err := c.matrices(x)
		if err != nil {
			return nil, err
		}
		o := c.matNew(x.DType, batch, r, k, true)
		if c.real && o.Numel() > 0 {
			_, rows, cols, as, _ := c.matrices(t)
			ts := tau.Floats()
			for b, m := range each {
				// Only the columns that hold reflectors are read.
				h := make([]float64, 0, rows*int(q))
				for i := range rows {
					h = append(h, as[b][i*cols:i*cols+int(q)]...)
				}
				applyReflectors(h, int(q), ts[b*int(q):(b+1)*int(q)], m, r, k, left, trans)
				put(o, b, m)
			}
		}
		return o, nil
	})
}

func leastSquaresOps() {
	def("linalg_lstsq", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		const name = "torch.linalg.lstsq: "
		if a.Dim() < 2 {
			return nil, errf(name + "input must have at least 2 dimensions.")
		}
		if b.Dim() < 1 {
			return nil, errf(name + "other must have at least 1 dimension.")
		}
		if a.DType != b.DType {
			return nil, errf(name+"Expected input and other to have the same dtype, but got input's dtype %s and other's dtype %s", cName(a.DType), cName(b.DType))
		}
		if err := c.factorable(a, "linalg_lstsq_cpu"); err != nil {
			return nil, err
		}
		driver := c.Str(3)
		if driver == "" {
			driver = "gelsy"
		}
		if !slices.Contains([]string{"gels", "gelsy", "gelsd", "gelss"}, driver) {
			return nil, errf(name + "parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
		}
		vec := vectorRHS(a, b)
		bt := b
		if vec {
			bt = asColumn(b)
		}
		if a.Dim() < bt.Dim() && !vec || a.Shape[a.Dim()-2] != bt.Shape[bt.Dim()-2] {
			return nil, errf(name + "input.size(-2) should match other.size(-2)")
		}
		batch, e := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], bt.Shape[:bt.Dim()-2])
		if e != nil {
			return nil, errf("%s", e)
		}
		m, n, k := a.Shape[a.Dim()-2], a.Shape[a.Dim()-1], bt.Shape[bt.Dim()-1]
		// The solution is the head of a buffer that also has room for the right-hand side.
		buf := c.matNew(a.DType, batch, int(max(m, n)), int(k), true)
		x := c.View(buf, append(slices.Clone(batch), n, k), buf.Stride, 0)
		resid, rank, sv := c.NewC(a.DType, 0), c.NewC(tensor.Int64, 0), c.NewC(a.DType, 0)
		if driver != "gels" {
			rank = c.NewC(tensor.Int64, a.Shape[:a.Dim()-2]...)
		}
		if driver == "gelsd" || driver == "gelss" {
			sv = c.NewC(a.DType, append(slices.Clone(a.Shape[:a.Dim()-2]), min(m, n))...)
		}
		if !c.real { // how large the residuals are depends on the rank
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		r, ranks, svs, err := c.solveLeastSquares(a, bt, x, batch, driver)
		if err != nil {
			return nil, err
		}
		if driver != "gels" {
			rank.SetInts(ranks)
		}
		if sv.Numel() > 0 {
			sv.SetFloats(svs)
		}
		if r != nil {
			shape := append(slices.Clone(batch), k)
			resid = c.NewC(a.DType, shape...)
			resid.SetFloats(r)
		}
		if vec {
			x = c.View(x, x.Shape[:x.Dim()-1], x.Stride[:x.Dim()-1], x.Offset)
		}
		x.Base = nil
		return list(x, resid, rank, sv), nil
	})
}

// solveLeastSquares fills x; residuals are nil unless every matrix is tall and of full rank. Rank and singular values are per matrix of a.
func (c *Call) solveLeastSquares(a, b, x *tensor.Tensor, batch []int64, driver string) (resid []float64, ranks []int64, svs []float64, err error) {
	_, m, n, each, err := c.matrices(a)
	if err != nil {
		return nil, nil, nil, err
	}
	k := int(b.Shape[b.Dim()-1])
	bs := c.floats(b.Expand(append(slices.Clone(batch), int64(m), int64(k))))
	rcond := -1.0
	if !c.None(2) {
		rcond = c.F(2)
	}
	if rcond < 0 {
		rcond = a.DType.Epsilon() * float64(max(m, n))
	}
	type factors struct {
		u, s, vh []float64
		rank     int
	}
	fs := make([]factors, len(each))
	full := true
	if driver != "gels" {
		for i, q := range each {
			u, s, vh, ok := svd(q, m, n, false, true)
			if !ok {
				return nil, nil, nil, noConvergence("torch.linalg.lstsq", len(batch) > 0, i)
			}
			r := 0
			for r < len(s) && s[r] > rcond*s[0] {
				r++
			}
			fs[i] = factors{u, s, vh, r}
			ranks = append(ranks, int64(r))
			svs = append(svs, s...)
			full = full && r == n
		}
	}
	tall := m > n && driver != "gelsy" && full
	for i, q := range pick(a.Shape[:a.Dim()-2], batch) {
		rhs := bs[i*m*k : (i+1)*m*k]
		var sol []float64
		if driver == "gels" {
			sol, _ = leastSquares(each[q], rhs, m, n, k)
		} else {
			sol = make([]float64, n*k)
			f := fs[q]
			p := min(m, n)
			for r := 0; r < f.rank; r++ {
				for j := 0; j < k; j++ {
					d := 0.0
					for row := 0; row < m; row++ {
						d += f.u[row*p+r] * rhs[row*k+j]
					}
					d /= f.s[r]
					for row := 0; row < n; row++ {
						sol[row*k+j] += f.vh[r*n+row] * d
					}
				}
			}
		}
		put(x, i, sol)
		if tall {
			res := make([]float64, k)
			for row := 0; row < m; row++ {
				for j := 0; j < k; j++ {
					d := rhs[row*k+j]
					for p := 0; p < n; p++ {
						d -= each[q][row*n+p] * sol[p*k+j]
					}
					res[j] += d * d
				}
			}
			resid = append(resid, res...)
		}
	}
	if tall && resid == nil {
		resid = []float64{}
	}
	return resid, ranks, svs, nil
}

func spectral() {
	eigen := func(c *Call, vectors bool) (*tensor.Tensor, *tensor.Tensor, error) {
		t := c.T(0)
		if err := squareShape(t, "linalg.eig"); err != nil {
			return nil, nil, err
		}
		if err := c.factorable(t, "linalg_eig_out_cpu"); err != nil {
			return nil, nil, err
		}
		batch, n, _, each, err := c.matrices(t)
		if err != nil {
			return nil, nil, err
		}
		d := t.DType.ToComplex()
		w, v := c.NewC(d, append(slices.Clone(batch), int64(n))...), c.matNew(d, batch, n, n, true)
		if !c.real {
			return w, v, nil
		}
		ws := make([]complex128, len(each)*n)
		err = alongBatch(len(each), n*n*n*8, func(b int) error {
			a := each[b]
			if !finite(a) {
				return errf("torch.linalg.eig: input tensor should not contain infs or NaNs.")
			}
			e, x, ok := eig(a, n, vectors)
			if !ok {
				return noConvergence("linalg.eig", len(batch) > 0, b)
			}
			copy(ws[b*n:], e)
			if vectors && n > 0 {
				off, _ := batchOffset(v, 2, b)
				tensor.NewView(v, v.Shape[v.Dim()-2:], v.Stride[v.Dim()-2:], off).SetComplexes(x)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		w.SetComplexes(ws)
		return w, v, nil
	}
	def("linalg_eig", func(c *Call) (Value, error) {
		w, v, err := eigen(c, true)
		if err != nil {
			return nil, err
		}
		return list(w, v), nil
	})
	def("_linalg_eigvals", func(c *Call) (Value, error) {
		w, _, err := eigen(c, false)
		return c.tv(w, err)
	})
	comp("linalg_eigvals", func(c *Call) (Value, error) {
		if c.Dispatch == Eager { // nobody wants gradients
			return c.do("_linalg_eigvals", c.Args[0])
		}
		v, err := c.via("linalg_eig", c.Args[0])
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	comp("svd", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() < 2 {
			return nil, errf("linalg.svd: input should have at least 2 dimensions, but has %d dimensions instead", t.Dim())
		}
		if c.B(2) {
			v, err := c.via("_linalg_svd", t, !c.B(1), true)
			if err != nil {
				return nil, err
			}
			l := v.([]Value)
			vh, err := c.via("transpose.int", l[2], int64(-2), int64(-1))
			return []Value{l[0], l[1], vh}, err
		}
		v, err := c.via("_linalg_svd", t, false, false)
		if err != nil {
			return nil, err
		}
		batch := t.Shape[:t.Dim()-2]
		n, m := t.Shape[t.Dim()-2], t.Shape[t.Dim()-1]
		zero := func(n int64) Value {
			return must(c.via("new_zeros", t, ints(append(slices.Clone(batch), n, n))))
		}
		u, w := zero(n), zero(m)
		if _, err := c.must(u); err != nil {
			return nil, err
		}
		return []Value{u, v.([]Value)[1], w}, nil
	})
}
