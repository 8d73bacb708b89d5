package aten

import (
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// einsum parses the equation and contracts operands left to right: each operand is
// permuted to the order of output labels then summed labels, and pairs are multiplied by bmm.
func einsum(c *Call) (Value, error) {
	eq := strings.ReplaceAll(c.Str(0), " ", "")
	ts := c.Ts(1)
	lhs, rhs, explicit := strings.Cut(eq, "->")
	terms := strings.Split(lhs, ",")
	if len(terms) != len(ts) {
		return nil, errf("einsum(): fewer operands were provided than specified in the equation")
	}
	// Ellipsis dimensions get labels of their own, numbered from the right.
	const ell = 1 << 20
	size := map[int]int64{}
	labels := make([][]int, len(ts))
	maxEll := 0
	count := map[int]int{}
	for i, term := range terms {
		t := ts[i]
		var ls []int
		n := len(strings.ReplaceAll(term, "...", ""))
		e := t.Dim() - n
		if e < 0 || e > 0 && !strings.Contains(term, "...") {
			return nil, errf("einsum(): the number of subscripts in the equation (%d) does not match the number of dimensions (%d) for operand %d and no ellipsis was given", n, t.Dim(), i)
		}
		for p := 0; p < len(term); p++ {
			if strings.HasPrefix(term[p:], "...") {
				for k := e - 1; k >= 0; k-- {
					ls = append(ls, ell+k)
				}
				maxEll = max(maxEll, e)
				p += 2
				continue
			}
			ch := term[p]
			if !(ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z') {
				return nil, errf("einsum(): invalid subscript given at index %d in the equation string, subscripts must be in [a-zA-Z]", strings.Index(eq, string(ch)))
			}
			ls = append(ls, int(ch))
			count[int(ch)]++
		}
		for d, l := range ls {
			s := t.Shape[d]
			if old, ok := size[l]; ok && old != s && old != 1 && s != 1 {
				return nil, errf("einsum(): subscript %c has size %d for operand %d which does not broadcast with previously seen size %d", rune(l), s, i, old)
			}
			if size[l] <= 1 {
				size[l] = s
			}
		}
		labels[i] = ls
	}
	var out []int
	if explicit {
		for p := 0; p < len(rhs); p++ {
			if strings.HasPrefix(rhs[p:], "...") {
				for k := maxEll - 1; k >= 0; k-- {
					out = append(out, ell+k)
				}
				p += 2
				continue
			}
			if _, ok := size[int(rhs[p])]; !ok {
				return nil, errf("einsum(): output subscript %c does not appear in the equation for any input operand", rhs[p])
			}
			out = append(out, int(rhs[p]))
		}
	} else {
		for k := maxEll - 1; k >= 0; k-- {
			out = append(out, ell+k)
		}
		var once []int
		for l, n := range count {
			if n == 1 {
				once = append(once, l)
			}
		}
		slices.Sort(once)
		out = append(out, once...)
	}
	var err error
	// Take diagonals of repeated labels.
	for i := range ts {
		for a := 0; a < len(labels[i]); a++ {
			for b := a + 1; b < len(labels[i]); b++ {
				if labels[i][a] != labels[i][b] {
					continue
				}
				v, err := c.via("diagonal", ts[i], int64(0), int64(a), int64(b))
				if err != nil {
					return nil, err
				}
				if v, err = c.via("movedim.int", v, int64(-1), int64(a)); err != nil {
					return nil, err
				}
				ts[i] = v.(*tensor.Tensor)
				labels[i] = slices.Delete(labels[i], b, b+1)
				b--
			}
		}
	}
	// Order of all labels: output, then the summed ones.
	perm := slices.Clone(out)
	var all []int
	for l := range size {
		if !slices.Contains(out, l) {
			all = append(all, l)
		}
	}
	slices.Sort(all)
	perm = append(perm, all...)
	place := func(t *tensor.Tensor, ls []int) (*tensor.Tensor, error) {
		p := make([]int64, len(perm))
		v := t
		for k, l := range perm {
			if d := slices.Index(ls, l); d >= 0 {
				p[k] = int64(d)
				continue
			}
			// A label that the operand lacks is a dimension of size 1 behind its own.
			var err error
			p[k] = int64(v.Dim())
			if v, err = c.viaT("unsqueeze", v, p[k]); err != nil {
				return nil, err
			}
		}
		return c.viaT("permute", v, ints(p))
	}
	acc, err := place(ts[0], labels[0])
	if err != nil {
		return nil, err
	}
	lastUse := func(k int) int { // the last operand that has label perm[k]
		u := 0
		for i := range ts {
			if slices.Contains(labels[i], perm[k]) {
				u = i
			}
		}
		return u
	}
	if len(ts) == 1 {
		return einsumSum(c, acc, len(out), false)
	}
	for i := 1; i < len(ts); i++ {
		y, err := place(ts[i], labels[i])
		if err != nil {
			return nil, err
		}
		var sumDims []int64
		for k := len(out); k < len(perm); k++ {
			if lastUse(k) == i || i == 1 && lastUse(k) == 0 {
				sumDims = append(sumDims, int64(k))
			}
		}
		if acc, err = sumproduct(c, acc, y, sumDims); err != nil {
			return nil, err
		}
	}
	return einsumSum(c, acc, len(out), true)
}

// einsumSum sums out the dimensions from keep on; fresh says that t is a product, not an operand.
func einsumSum(c *Call, t *tensor.Tensor, keep int, fresh bool) (Value, error) {
	if t.Dim() == keep {
		return t, nil
	}
	var dims []int64
	for d := keep; d < t.Dim(); d++ {
		dims = append(dims, int64(d))
	}
	if !fresh {
		return c.via("sum.dim_IntList", t, ints(dims), false)
	}
	// A product of operands has summed what they shared: what is left has size 1.
	for _, d := range dims {
		if t.Shape[d] != 1 {
			return c.via("sum.dim_IntList", t, ints(dims), false)
		}
	}
	return c.via("view", t, ints(t.Shape[:keep]))
}

// sumproduct multiplies two tensors of one rank and sums over dims (kept as size 1), by bmm.
func sumproduct(c *Call, a, b *tensor.Tensor, dims []int64) (*tensor.Tensor, error) {
	if len(dims) == 0 {
		return c.viaT("mul.Tensor", a, b)
	}
	n := a.Dim()
	sum := make([]bool, n)
	for _, d := range dims {
		sum[d] = true
	}
	// Labels only one operand has are summed there first.
	var err error
	for _, d := range dims {
		if a.Shape[d] != 1 && b.Shape[d] == 1 {
			if a, err = c.viaT("sum.dim_IntList", a, ints([]int64{d}), true); err != nil {
				return nil, err
			}
		} else if b.Shape[d] != 1 && a.Shape[d] == 1 {
			if b, err = c.viaT("sum.dim_IntList", b, ints([]int64{d}), true); err != nil {
				return nil, err
			}
		}
	}
	var lro, lo, ro, so []int64
	lroN, loN, roN, soN := int64(1), int64(1), int64(1), int64(1)
	for d := 0; d < n; d++ {
		l, r := a.Shape[d] != 1, b.Shape[d] != 1
		switch {
		case sum[d]:
			so = append(so, int64(d))
			soN *= a.Shape[d]
		case l && r:
			lro = append(lro, int64(d))
			lroN *= a.Shape[d]
		case l:
			lo = append(lo, int64(d))
			loN *= a.Shape[d]
		default:
			ro = append(ro, int64(d))
			roN *= b.Shape[d]
		}
	}
	cat := func(xs ...[]int64) Value { return ints(slices.Concat(xs...)) }
	x := must(c.via("permute", a, cat(lro, lo, so, ro)))
	x = must(c.via("reshape", x, ints([]int64{lroN, loN, soN})))
	y := must(c.via("permute", b, cat(lro, so, ro, lo)))
	y = must(c.via("reshape", y, ints([]int64{lroN, soN, roN})))
	r, err := c.via("bmm", x, y)
	if err != nil {
		return nil, err
	}
	var shape []int64
	var order []int64
	for _, d := range slices.Concat(lro, lo) {
		shape = append(shape, a.Shape[d])
		order = append(order, d)
	}
	for _, d := range so {
		shape = append(shape, 1)
		order = append(order, d)
	}
	for _, d := range ro {
		shape = append(shape, b.Shape[d])
		order = append(order, d)
	}
	inv := make([]int64, n)
	for i, d := range order {
		inv[d] = int64(i)
	}
	v, err := c.via("view", r, ints(shape))
	if err != nil {
		return nil, err
	}
	return c.viaT("permute", v, ints(inv))
}
