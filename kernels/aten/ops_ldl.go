package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// Symmetric indefinite factorisation. gonum has no Dsytrf, so this one routine is written out after the unblocked
// algorithm of Bunch and Kaufman, with LAPACK's storage and pivots, lower triangle.

// ldlFactor overwrites the lower triangle of a with L and D. A pivot p > 0 swapped rows k and p-1; the two equal
// pivots -p of a 2x2 block at k swapped k+1 and p-1. info is the first zero diagonal of D, 0 for none.
func ldlFactor(a []float64, n int) (piv []int64, info int64) {
	alpha := (1 + math.Sqrt(17)) / 8
	piv = make([]int64, n)
	col, below := make([]float64, n), make([]float64, n)
	col2, below2 := make([]float64, n), make([]float64, n) // of the second column of a 2x2 block
	at := func(i, j int) *float64 {
		if i < j {
			i, j = j, i
		}
		return &a[i*n+j]
	}
	for k := 0; k < n; {
		step, kp := 1, k
		akk := math.Abs(*at(k, k))
		big, row := 0.0, k
		for i := k + 1; i < n; i++ {
			if x := math.Abs(*at(i, k)); x > big {
				big, row = x, i
			}
		}
		if max(akk, big) == 0 {
			if info == 0 {
				info = int64(k + 1)
			}
			piv[k] = int64(k + 1)
			k++
			continue
		}
		if akk < alpha*big {
			rowBig := 0.0
			for j := k; j < n; j++ {
				if j != row {
					rowBig = max(rowBig, math.Abs(*at(row, j)))
				}
			}
			switch {
			case akk >= alpha*big*(big/rowBig):
			case math.Abs(*at(row, row)) >= alpha*rowBig:
				kp = row
			default:
				kp, step = row, 2
			}
		}
		kk := k + step - 1
		if kp != kk {
			for i := kp + 1; i < n; i++ {
				p, q := at(i, kk), at(i, kp)
				*p, *q = *q, *p
			}
			for j := kk + 1; j < kp; j++ {
				p, q := at(j, kk), at(kp, j)
				*p, *q = *q, *p
			}
			p, q := at(kk, kk), at(kp, kp)
			*p, *q = *q, *p
			if step == 2 {
				p, q := at(k+1, k), at(kp, k)
				*p, *q = *q, *p
			}
		}
		if step == 1 {
			d := *at(k, k)
			for i := k + 1; i < n; i++ {
				col[i] = a[i*n+k] / d
			}
			for i := k + 1; i < n; i++ {
				below[i] = a[i*n+k]
			}
			native.AddOuterLower(n-k-1, -1, below[k+1:], col[k+1:], a[min(k+1, n-1)*(n+1):], n)
			for i := k + 1; i < n; i++ {
				a[i*n+k] = col[i]
			}
			piv[k] = int64(kp + 1)
			k++
			continue
		}
		d11, d21, d22 := *at(k, k), *at(k+1, k), *at(k+1, k+1)
		det := d11*d22 - d21*d21
		for j := k + 2; j < n; j++ {
			x, y := a[j*n+k], a[j*n+k+1]
			below[j], below2[j] = x, y
			col[j], col2[j] = (d22*x-d21*y)/det, (d11*y-d21*x)/det
		}
		native.AddOuterLower(n-k-2, -1, below[k+2:], col[k+2:], a[min(k+2, n-1)*(n+1):], n)
		native.AddOuterLower(n-k-2, -1, below2[k+2:], col2[k+2:], a[min(k+2, n-1)*(n+1):], n)
		for j := k + 2; j < n; j++ {
			a[j*n+k], a[j*n+k+1] = col[j], col2[j]
		}
		piv[k], piv[k+1] = -int64(kp+1), -int64(kp+1)
		k += 2
	}
	return piv, info
}

// ldlSolve solves A X = B in place for the factors of ldlFactor; b is n x m.
func ldlSolve(a []float64, piv []int64, b []float64, n, m int) {
	swap := func(i, j int) {
		for c := 0; i != j && c < m; c++ {
			b[i*m+c], b[j*m+c] = b[j*m+c], b[i*m+c]
		}
	}
	factors, sums := make([]float64, n), make([]float64, m)
	below := func(k, from int) []float64 { // column k of L from a row on
		for i := from; i < n; i++ {
			factors[i] = a[i*n+k]
		}
		return factors[from:]
	}
	spread := func(k, from int) { // the rows from from on less their multiples of row k
		if from < n {
			native.AddOuter(n-from, m, -1, below(k, from), b[k*m:], b[from*m:], m)
		}
	}
	gather := func(k, from int) { // row k less its multiples of the rows from from on
		native.DotCols(sums, b[min(from*m, len(b)):], below(k, from), m)
		for c, x := range sums {
			b[k*m+c] -= x
		}
	}
	var starts []int
	for k := 0; k < n; {
		starts = append(starts, k)
		if piv[k] > 0 {
			swap(k, int(piv[k]-1))
			spread(k, k+1)
			for c := range m {
				b[k*m+c] /= a[k*n+k]
			}
			k++
			continue
		}
		swap(k+1, int(-piv[k]-1))
		spread(k, k+2)
		spread(k+1, k+2)
		d11, d21, d22 := a[k*n+k], a[(k+1)*n+k], a[(k+1)*n+k+1]
		det := d11*d22 - d21*d21
		for c := range m {
			x, y := b[k*m+c], b[(k+1)*m+c]
			b[k*m+c], b[(k+1)*m+c] = (d22*x-d21*y)/det, (d11*y-d21*x)/det
		}
		k += 2
	}
	for s := len(starts) - 1; s >= 0; s-- {
		k := starts[s]
		if piv[k] > 0 {
			gather(k, k+1)
			swap(k, int(piv[k]-1))
			continue
		}
		gather(k, k+2)
		gather(k+1, k+2)
		swap(k+1, int(-piv[k]-1))
	}
}

func ldlOps() {
	def("linalg_ldl_factor_ex", func(c *Call) (Value, error) {
		t := c.T(0)
		if err := squareOf(t, "torch.linalg.ldl_factor_ex"); err != nil {
			return nil, err
		}
		batch, n, _, each, err := c.matrices(t)
		if err != nil {
			return nil, err
		}
		ld, p, info := c.matNew(t.DType, batch, n, n, true), c.NewC(tensor.Int32, t.Shape[:t.Dim()-1]...), c.NewC(tensor.Int32, batch...)
		if !c.real {
			return list(ld, p, info), nil
		}
		pivs, infos := make([]int64, len(each)*n), make([]int64, len(each))
		err = alongBatch(len(each), n*n*n, func(b int) error {
			a := each[b]
			piv, in := ldlFactor(a, n)
			if in != 0 && c.B(2) {
				return linAlgError("torch.linalg.ldl_factor_ex: %sThe factorization could not be completed because the input is not invertible.", batchElement(len(batch) > 0, b))
			}
			keepTriangle(a, n, n, false)
			put(ld, b, a)
			copy(pivs[b*n:], piv)
			infos[b] = in
			return nil
		})
		if err != nil {
			return nil, err
		}
		p.SetInts(pivs)
		info.SetInts(infos)
		return list(ld, p, info), nil
	})
	comp("linalg_ldl_factor", func(c *Call) (Value, error) {
		v, err := c.via("linalg_ldl_factor_ex", c.Args[0], c.Args[1], true)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[:2], nil
	})
	def("linalg_ldl_solve", func(c *Call) (Value, error) {
		ld, p, b := c.T(0), c.T(1), c.T(2)
		if err := squareOf(ld, "torch.linalg.ldl_solve"); err != nil {
			return nil, err
		}
		if b.Dim() < 2 {
			return nil, errf("torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has %d dimensions instead", b.Dim())
		}
		if !p.DType.IsInt() || !slices.Equal(p.Shape, ld.Shape[:ld.Dim()-1]) {
			return nil, errf("torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape %s instead", tensor.ShapeText(p.Shape))
		}
		n := int(ld.Shape[ld.Dim()-1])
		var pivs [][]int64
		if c.real {
			pivs = pivotsOf(p, n)
		}
		batch, e := tensor.BroadcastShapes(ld.Shape[:ld.Dim()-2], b.Shape[:b.Dim()-2])
		if e != nil {
			return nil, errf("%s", e)
		}
		which := pick(ld.Shape[:ld.Dim()-2], batch)
		i := 0
		return c.broadcastSolve(b, ld, "torch.linalg.ldl_solve", func(a, x []float64, n, k int) {
			ldlSolve(a, pivs[which[i]], x, n, k)
			i++
		})
	})
}
