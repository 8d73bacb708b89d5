package autograd

import (
	"slices"

	"whittle/aot/build"
	"whittle/kernels/aten"
)

func init() {
	products()
	inverses()
	factorisations()
	spectra()
}

// mT swaps the last two dimensions.
func (c *Ctx) mT(t tt) tt { return c.T("transpose.int", t, int64(-2), int64(-1)) }

// mm is the product of matrices, or of batches of them.
func (c *Ctx) mm(a, b tt) tt { return c.T("matmul.default", a, b) }

// triangle keeps the part of t on and below, or with upper on and above, diagonal k.
func (c *Ctx) triangle(t tt, upper bool, k int64) tt {
	if upper {
		return c.T("triu.default", t, k)
	}
	return c.T("tril.default", t, -k)
}

// solveTri solves A X = B, or with left false X A = B, for a triangular A.
func (c *Ctx) solveTri(a, b tt, upper, left, unit bool) tt {
	return c.T("linalg_solve_triangular.default", a, b, upper, left, unit)
}

func (c *Ctx) diag(t tt) tt { return c.T("diagonal.default", t, int64(0), int64(-2), int64(-1)) }

// lastColumn gives vectors a last dimension of one, and each per-matrix number two.
func (c *Ctx) lastColumn(t tt) tt { return c.T("unsqueeze.default", t, int64(-1)) }

// products holds products of matrices and vectors: for y = a b the gradients are g b^H and a^H g, each summed over what was broadcast.
func products() {
	outer := func(c *Ctx, g tt, name string) tt { return c.Mul(g, c.Arg(name)) }
	row("addr.default", func(c *Ctx) {
		c.Set("self", func() tt { return outer(c, c.G(0), "beta") })
		c.Set("vec1", func() tt { return outer(c, c.T("mv.default", c.G(0), c.In("vec2")), "alpha") })
		c.Set("vec2", func() tt { return outer(c, c.T("mv.default", c.T("t.default", c.G(0)), c.In("vec1")), "alpha") })
	})
	row("addbmm.default", func(c *Ctx) {
		g := func() tt {
			b := c.Like("batch1").Shape[0]
			return c.T("expand.default", c.T("unsqueeze.default", c.G(0), int64(0)), build.Ints([]int64{b, c.G(0).Shape[0], c.G(0).Shape[1]}))
		}
		c.Set("self", func() tt { return outer(c, c.G(0), "beta") })
		c.Set("batch1", func() tt { return outer(c, c.T("bmm.default", g(), c.mT(c.In("batch2"))), "alpha") })
		c.Set("batch2", func() tt { return outer(c, c.T("bmm.default", c.mT(c.In("batch1")), g()), "alpha") })
	})
	// The exponential of a block triangular matrix has the derivative of the exponential in its corner (Najfeld and Havel, 1995).
	row("linalg_matrix_exp.default", func(c *Ctx) {
		c.Set("self", func() tt {
			a, g := c.mT(c.In("self")), c.G(0)
			n := a.Shape[len(a.Shape)-1]
			top := c.T("cat.default", []aten.Value{a, g}, int64(-1))
			low := c.T("cat.default", []aten.Value{c.ZerosLike(a), a}, int64(-1))
			e := c.T("linalg_matrix_exp.default", c.T("cat.default", []aten.Value{top, low}, int64(-2)))
			return c.T("slice.Tensor", c.T("slice.Tensor", e, int64(-2), int64(0), n), int64(-1), n, 2*n)
		})
	})
}

// inverses are the solutions of linear equations, and the determinants. Source for this and the factorisations: M. Giles, An extended
// collection of matrix derivative results for forward and reverse mode automatic differentiation, 2008.
func inverses() {
	row("linalg_inv_ex.default", func(c *Ctx) {
		c.Set("A", func() tt {
			x := c.mT(c.Out(0))
			return c.Neg(c.mm(x, c.mm(c.G(0), x)))
		})
	}).noGrad = map[int]bool{1: true}
	row("_linalg_det.default", func(c *Ctx) {
		c.Set("A", func() tt {
			g := c.lastColumn(c.lastColumn(c.G(0)))
			if c.singular(c.Out(0)) {
				return c.Mul(g, c.cofactors(c.In("A")))
			}
			return c.Mul(c.Mul(g, c.lastColumn(c.lastColumn(c.Out(0)))), c.mT(c.inverse(c.In("A"))))
		})
	}).noGrad = map[int]bool{1: true, 2: true}
	row("_linalg_slogdet.default", func(c *Ctx) {
		c.Set("A", func() tt { return c.Mul(c.lastColumn(c.lastColumn(c.G(1))), c.mT(c.inverse(c.In("A")))) })
	}).noGrad = map[int]bool{2: true, 3: true}
	row("_linalg_solve_ex.default", func(c *Ctx) {
		left := c.Bool("left")
		a, x := c.Like("A"), c.Out(0)
		// One vector, or one for each matrix of a batch, is a matrix of one column.
		vector := len(c.Like("B").Shape) == 1 || len(c.Like("B").Shape) == len(a.Shape)-1 && build.EqualInts(c.Like("B").Shape, a.Shape[:len(a.Shape)-1])
		gB := lazily(func() []tt {
			return []tt{c.M("_linalg_solve_ex.default", c.mT(c.In("A")), c.G(0), left, false)[0]}
		})
		c.Set("B", func() tt { return gB(0) })
		c.Set("A", func() tt {
			g := gB(0)
			if vector {
				g, x = c.lastColumn(g), c.lastColumn(x)
			}
			if left {
				return c.Neg(c.mm(g, c.mT(x)))
			}
			return c.Neg(c.mm(c.mT(x), g))
		})
	}).noGrad = map[int]bool{1: true, 2: true, 3: true}
	triangular := func(c *Ctx, a, b string, upper, left, unit, transposed bool) {
		gB := lazily(func() []tt {
			m := c.In(a)
			if !transposed {
				return []tt{c.solveTri(c.mT(m), c.G(0), !upper, left, unit)}
			}
			return []tt{c.solveTri(m, c.G(0), upper, left, unit)}
		})
		c.Set(b, func() tt { return gB(0) })
		c.Set(a, func() tt {
			x, g := c.Out(0), gB(0)
			var r tt
			switch {
			case transposed:
				r = c.mm(x, c.mT(g))
			case left:
				r = c.mm(g, c.mT(x))
			default:
				r = c.mm(c.mT(x), g)
			}
			k := int64(0)
			if unit {
				k = 1
			}
			return c.Neg(c.triangle(r, upper, k))
		})
	}
	row("linalg_solve_triangular.default", func(c *Ctx) {
		triangular(c, "self", "B", c.Bool("upper"), c.Bool("left"), c.Bool("unitriangular"), false)
	})
	row("triangular_solve.default", func(c *Ctx) {
		triangular(c, "A", "self", c.Bool("upper"), true, c.Bool("unitriangular"), c.Bool("transpose"))
		if c.Has(1) { // a copy of A
			c.Set("A", func() tt { return c.G(1) })
		}
	})
	row("cholesky_solve.default", func(c *Ctx) {
		l, upper := c.In("input2"), c.Bool("upper")
		gB := lazily(func() []tt { return []tt{c.T("cholesky_solve.default", c.G(0), l, upper)} })
		c.Set("self", func() tt { return gB(0) })
		c.Set("input2", func() tt {
			r := c.mm(gB(0), c.mT(c.Out(0)))
			r = c.Neg(c.Add(r, c.mT(r)))
			if upper {
				return c.mm(l, r)
			}
			return c.mm(r, l)
		})
	})
	row("cholesky_inverse.default", func(c *Ctx) {
		c.Set("self", func() tt {
			l, y, g := c.In("self"), c.Out(0), c.G(0)
			r := c.Neg(c.mm(y, c.mm(c.Add(g, c.mT(g)), y)))
			if c.Bool("upper") {
				return c.mm(l, r)
			}
			return c.mm(r, l)
		})
	})
	row("linalg_lu_solve.default", func(c *Ctx) {
		left, adjoint := c.Bool("left"), c.Bool("adjoint")
		gB := lazily(func() []tt {
			return []tt{c.T("linalg_lu_solve.default", c.In("LU"), c.In("pivots"), c.G(0), left, !adjoint)}
		})
		c.Set("B", func() tt { return gB(0) })
		c.Set("LU", func() tt {
			x, g := c.Out(0), gB(0)
			var gA tt
			switch {
			case left && !adjoint:
				gA = c.mm(g, c.mT(x))
			case left:
				gA = c.mm(x, c.mT(g))
			case !adjoint:
				gA = c.mm(c.mT(x), g)
			default:
				gA = c.mm(c.mT(g), x)
			}
			plu := c.M("lu_unpack.default", c.In("LU"), c.In("pivots"))
			p, l, u := plu[0], plu[1], plu[2]
			r := c.mm(c.mT(p), c.Neg(gA))
			return c.Add(c.triangle(c.mm(r, c.mT(u)), false, 1), c.triangle(c.mm(c.mT(l), r), true, 0))
		})
	})
	row("linalg_pinv.atol_rtol_tensor", func(c *Ctx) {
		c.Set("self", func() tt { return c.pinvBackward(c.G(0), c.In("self"), c.Out(0)) })
	})
	row("linalg_lstsq.default", func(c *Ctx) {
		a, b := c.In("self"), c.In("b")
		pinv := lazily(func() []tt { return []tt{c.T("linalg_pinv.atol_rtol_tensor", a)} })
		vector := len(b.Shape) < len(a.Shape)
		column := func(t tt) tt {
			if vector {
				return c.lastColumn(t)
			}
			return t
		}
		c.Set("b", func() tt {
			r := c.mm(c.mT(pinv(0)), column(c.G(0)))
			if vector {
				return c.T("squeeze.dim", r, int64(-1))
			}
			return r
		})
		c.Set("self", func() tt {
			return c.pinvBackward(c.mm(column(c.G(0)), c.mT(column(b))), a, pinv(0))
		})
	}).noGrad = map[int]bool{1: true, 2: true, 3: true}
}

// pinvBackward is the gradient of A behind that of its pseudoinverse P (Golub and Pereyra, 1973):
// -P'GP' + (I - AP)G'PP' + P'PG'(I - PA).
func (c *Ctx) pinvBackward(g, a, p tt) tt {
	pT, gT := c.mT(p), c.mT(g)
	r := c.Neg(c.mm(pT, c.mm(g, pT)))
	r = c.Add(r, c.mm(c.Sub(gT, c.mm(a, c.mm(p, gT))), c.mm(p, pT)))
	return c.Add(r, c.mm(c.mm(pT, p), c.Sub(gT, c.mm(c.mm(gT, p), a))))
}

// inverse is the inverse of a.
func (c *Ctx) inverse(a tt) tt { return c.M("linalg_inv_ex.default", a, false)[0] }

// singular says whether one of the determinants is known to be zero.
func (c *Ctx) singular(det tt) bool {
	if det.Fake || c.traced {
		return false
	}
	return slices.Contains(det.Floats(), 0)
}

// cofactors are the derivatives of a determinant by its elements, of singular matrices, too: with A = U S V the cofactors are
// det(U) det(V) U C V, where C has for each singular value the product of the others.
func (c *Ctx) cofactors(a tt) tt {
	usv := c.M("_linalg_svd.default", a, true, true)
	u, s, v := usv[0], usv[1], usv[2]
	ones := c.T("ones_like.default", s)
	others := c.prodWithZeros(ones, s, int64(len(s.Shape)-1))
	sign := c.Mul(c.M("_linalg_det.default", u)[0], c.M("_linalg_det.default", v)[0])
	r := c.mm(c.Mul(u, c.T("unsqueeze.default", others, int64(-2))), v)
	return c.Mul(r, c.lastColumn(c.lastColumn(sign)))
}

// factorisations holds those that are differentiated through their factors. As in PyTorch, formulas follow from differentiating the defining
// equation, and projecting on the triangle or the orthogonal part that a factor is free to move in.
func factorisations() {
	chol := func(c *Ctx, upper bool) tt {
		l, g := c.Out(0), c.G(0)
		if upper {
			l, g = c.mT(l), c.mT(g)
		}
		// What the factor's gradient says of a symmetric matrix: half of the triangle and of its mirror image, the diagonal once.
		phi := c.triangle(c.mm(c.mT(l), g), false, 0)
		phi = c.T("mul.Scalar", c.Add(phi, c.mT(c.triangle(phi, false, 1))), 0.5)
		r := c.solveTri(c.mT(l), phi, true, true, false)
		return c.solveTri(l, r, false, false, false)
	}
	row("linalg_cholesky_ex.default", func(c *Ctx) {
		c.Set("self", func() tt { return chol(c, c.Bool("upper")) })
	}).noGrad = map[int]bool{1: true}
	row("cholesky.default", func(c *Ctx) { c.Set("self", func() tt { return chol(c, c.Bool("upper")) }) })
	row("linalg_qr.default", func(c *Ctx) {
		c.Set("A", func() tt {
			q, r := c.Out(0), c.Out(1)
			m, n := r.Shape[len(r.Shape)-2], r.Shape[len(r.Shape)-1]
			gQ, gR := c.G(0), c.G(1)
			if m >= n {
				return c.qrBackward(gQ, gR, q, r)
			}
			// A = [X Y] with a square X = Q R1, and R2 = Q^T Y.
			part := func(t tt, from, to int64) tt { return c.T("slice.Tensor", t, int64(-1), from, to) }
			y := part(c.In("A"), m, n)
			g1, g2 := part(gR, 0, m), part(gR, m, n)
			gX := c.qrBackward(c.Add(gQ, c.mm(y, c.mT(g2))), g1, q, part(r, 0, m))
			return c.T("cat.default", []aten.Value{gX, c.mm(q, g2)}, int64(-1))
		})
	})
	row("linalg_lu_factor_ex.default", func(c *Ctx) {
		c.Set("A", func() tt {
			plu := c.M("lu_unpack.default", c.Out(0), c.Out(1))
			g := c.G(0)
			k := min(g.Shape[len(g.Shape)-2], g.Shape[len(g.Shape)-1])
			gL := c.T("slice.Tensor", c.triangle(g, false, 1), int64(-1), int64(0), k)
			gU := c.T("slice.Tensor", c.triangle(g, true, 0), int64(-2), int64(0), k)
			return c.luBackward(gL, gU, plu[0], plu[1], plu[2])
		})
	}).noGrad = map[int]bool{1: true, 2: true}
	row("linalg_lu.default", func(c *Ctx) {
		c.Set("A", func() tt { return c.luBackward(c.G(1), c.G(2), c.Out(0), c.Out(1), c.Out(2)) })
	}).noGrad = map[int]bool{0: true}
	row("lu_unpack.default", func(c *Ctx) {
		c.Set("LU_data", func() tt {
			d := c.Like("LU_data")
			m, n := d.Shape[len(d.Shape)-2], d.Shape[len(d.Shape)-1]
			pad := func(t tt, dim, size int64) tt {
				missing := size - t.Shape[len(t.Shape)+int(dim)]
				if missing == 0 {
					return t
				}
				if dim == -1 {
					return c.T("constant_pad_nd.default", t, build.Ints([]int64{0, missing}), int64(0))
				}
				return c.T("constant_pad_nd.default", t, build.Ints([]int64{0, 0, 0, missing}), int64(0))
			}
			l := pad(c.triangle(c.G(1), false, 1), -1, n)
			u := pad(c.triangle(c.G(2), true, 0), -2, m)
			return c.Add(l, u)
		})
	}).noGrad = map[int]bool{0: true}
}

// qrBackward is the gradient of A = Q R with at least as many rows as columns.
func (c *Ctx) qrBackward(gQ, gR, q, r tt) tt {
	m := c.triangle(c.Sub(c.mm(gR, c.mT(r)), c.mm(c.mT(q), gQ)), true, 0)
	sym := c.Sub(c.Add(m, c.mT(m)), c.T("diag_embed.default", c.diag(m)))
	return c.solveTri(c.mT(r), c.Add(gQ, c.mm(q, sym)), false, false, false)
}

// luBackward is the gradient of A = P L U. The square corner [L1 U1] is that of the square factorisation; what the other rows or columns
// give comes through it.
func (c *Ctx) luBackward(gL, gU, p, l, u tt) tt {
	m, n := l.Shape[len(l.Shape)-2], u.Shape[len(u.Shape)-1]
	k := min(m, n)
	cut := func(t tt, dim, from, to int64) tt { return c.T("slice.Tensor", t, dim, from, to) }
	l1, u1 := cut(l, -2, 0, k), cut(u, -1, 0, k)
	gL1, gU1 := cut(gL, -2, 0, k), cut(gU, -1, 0, k)
	low := c.triangle(c.mm(c.mT(l1), gL1), false, 1)
	up := c.triangle(c.mm(gU1, c.mT(u1)), true, 0)
	var rest tt
	switch {
	case m > n: // L2 = A2 U1^-1
		gL2 := cut(gL, -2, k, m)
		rest = c.solveTri(c.mT(u1), gL2, false, false, false)
		up = c.Sub(up, c.triangle(c.mm(c.mT(cut(l, -2, k, m)), gL2), true, 0))
	case n > m: // U2 = L1^-1 A2
		gU2 := cut(gU, -1, k, n)
		rest = c.solveTri(c.mT(l1), gU2, true, true, true)
		low = c.Sub(low, c.triangle(c.mm(gU2, c.mT(cut(u, -1, k, n))), false, 1))
	}
	core := c.Add(low, up)
	core = c.solveTri(c.mT(l1), core, true, true, true)
	core = c.solveTri(c.mT(u1), core, false, false, false)
	if rest != nil {
		dim := int64(-2)
		if n > m {
			dim = -1
		}
		core = c.T("cat.default", []aten.Value{core, rest}, dim)
	}
	return c.mm(p, core)
}

// spectra are the eigenvalue and singular value decompositions.
func spectra() {
	row("_linalg_eigh.default", func(c *Ctx) {
		c.Set("A", func() tt {
			l, v := c.Out(0), c.Out(1)
			if len(v.Shape) <= len(l.Shape) { // compute_v was false
				v = c.M("_linalg_eigh.default", c.In("A"), c.Arg("UPLO"), true)[1]
			}
			core := c.T("diag_embed.default", c.G(0))
			if c.Has(1) {
				gap := c.Sub(c.T("unsqueeze.default", l, int64(-2)), c.lastColumn(l))
				core = c.Add(core, c.offDiagonal(c.mm(c.mT(v), c.G(1)), gap))
			}
			return c.mm(v, c.mm(core, c.mT(v)))
		})
	})
	row("_linalg_svd.default", func(c *Ctx) {
		c.Set("A", func() tt {
			u, s, v := c.Out(0), c.Out(1), c.Out(2)
			k := s.Shape[len(s.Shape)-1]
			if !c.Bool("compute_uv") {
				usv := c.M("_linalg_svd.default", c.In("A"), false, true)
				u, v = usv[0], usv[2]
			}
			u, v = c.T("slice.Tensor", u, int64(-1), int64(0), k), c.T("slice.Tensor", v, int64(-2), int64(0), k)
			core := c.T("diag_embed.default", c.G(1))
			if !c.Has(0) && !c.Has(2) {
				return c.mm(u, c.mm(core, v))
			}
			gU, gV := c.T("slice.Tensor", c.G(0), int64(-1), int64(0), k), c.T("slice.Tensor", c.G(2), int64(-2), int64(0), k)
			row, col := c.T("unsqueeze.default", s, int64(-2)), c.lastColumn(s)
			gap := c.Mul(c.Sub(row, col), c.Add(row, col))
			skew := func(t tt) tt { return c.Sub(t, c.mT(t)) }
			uu, vv := skew(c.mm(c.mT(u), gU)), skew(c.mm(v, c.mT(gV)))
			core = c.Add(core, c.Add(c.Mul(c.offDiagonal(uu, gap), row), c.Mul(col, c.offDiagonal(vv, gap))))
			r := c.mm(u, c.mm(core, v))
			if u.Shape[len(u.Shape)-2] > k {
				out := c.Sub(gU, c.mm(u, c.mm(c.mT(u), gU)))
				r = c.Add(r, c.mm(c.Div(out, row), v))
			}
			if v.Shape[len(v.Shape)-1] > k {
				out := c.Sub(gV, c.mm(c.mm(gV, c.mT(v)), v))
				r = c.Add(r, c.mm(u, c.Div(out, col)))
			}
			return r
		})
	})
}

// offDiagonal is t/gap with zeros on the diagonal.
func (c *Ctx) offDiagonal(t, gap tt) tt {
	eye := c.T("eye.default", gap.Shape[len(gap.Shape)-1], gap.DType)
	mask := c.T("eq.Scalar", eye, int64(1))
	return c.MaskFill(c.Div(t, c.MaskFill(gap, mask, int64(1))), mask, int64(0))
}
