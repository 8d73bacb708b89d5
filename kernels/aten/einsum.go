package aten

import (
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// An equation is what einsum computes: labels name the dimensions of the operands, equal ones are the same dimension, and those that the result
// lacks are summed over.
type equation struct {
	labels [][]int // per operand, per dimension
	out    []int   // of the result
	size   map[int]int64
}

// ellipsis is the label of the last dimension that "..." stands for; those before it follow.
const ellipsis = 1 << 20

// einsum contracts operands left to right: each is permuted to the order of output labels, then summed labels, and pairs are
// multiplied by bmm. A label is summed at the last operand that has it.
func einsum(c *Call) (Value, error) {
	ts := c.Ts(1)
	eq, err := parseEquation(strings.ReplaceAll(c.Str(0), " ", ""), ts)
	if err != nil {
		return nil, err
	}
	for i := range ts {
		if err := eq.diagonals(c, ts, i); err != nil {
			return nil, err
		}
	}
	// Order of all labels: output, then the summed ones.
	var summed []int
	for l := range eq.size {
		if !slices.Contains(eq.out, l) {
			summed = append(summed, l)
		}
	}
	slices.Sort(summed)
	order := slices.Concat(eq.out, summed)
	acc, err := place(c, ts[0], eq.labels[0], order)
	if err != nil {
		return nil, err
	}
	keep := len(eq.out)
	if len(ts) == 1 {
		return einsumSum(c, acc, keep, false)
	}
	for i := 1; i < len(ts); i++ {
		y, err := place(c, ts[i], eq.labels[i], order)
		if err != nil {
			return nil, err
		}
		var sumDims []int64
		for k := keep; k < len(order); k++ {
			if last := eq.lastUse(order[k]); last == i || i == 1 && last == 0 {
				sumDims = append(sumDims, int64(k))
			}
		}
		if acc, err = sumproduct(c, acc, y, sumDims); err != nil {
			return nil, err
		}
	}
	return einsumSum(c, acc, keep, true)
}

// parseEquation reads "ij,jk->ik" for operands ts. Without an arrow the result has the labels that occur once, in alphabetical order, after those
// of the ellipsis.
func parseEquation(text string, ts []*tensor.Tensor) (*equation, error) {
	lhs, rhs, explicit := strings.Cut(text, "->")
	terms := strings.Split(lhs, ",")
	if len(terms) != len(ts) {
		return nil, errf("einsum(): fewer operands were provided than specified in the equation")
	}
	eq := &equation{labels: make([][]int, len(ts)), size: map[int]int64{}}
	hidden := 0 // how many dimensions an ellipsis stands for, at most
	count := map[int]int{}
	for i, term := range terms {
		n := len(strings.ReplaceAll(term, "...", ""))
		e := ts[i].Dim() - n
		if e < 0 || e > 0 && !strings.Contains(term, "...") {
			return nil, errf("einsum(): the number of subscripts in the equation (%d) does not match the number of dimensions (%d) for operand %d and no ellipsis was given", n, ts[i].Dim(), i)
		}
		if strings.Contains(term, "...") {
			hidden = max(hidden, e)
		}
		ls, err := readLabels(term, e, func(l byte) error {
			if !(l >= 'a' && l <= 'z' || l >= 'A' && l <= 'Z') {
				return errf("einsum(): invalid subscript given at index %d in the equation string, subscripts must be in [a-zA-Z]", strings.Index(text, string(l)))
			}
			count[int(l)]++
			return nil
		})
		if err != nil {
			return nil, err
		}
		if err := eq.sizes(i, ls, ts[i].Shape); err != nil {
			return nil, err
		}
	}
	if explicit {
		var err error
		eq.out, err = readLabels(rhs, hidden, func(l byte) error {
			if _, ok := eq.size[int(l)]; !ok {
				return errf("einsum(): output subscript %c does not appear in the equation for any input operand", l)
			}
			return nil
		})
		return eq, err
	}
	for k := hidden - 1; k >= 0; k-- {
		eq.out = append(eq.out, ellipsis+k)
	}
	var once []int
	for l, n := range count {
		if n == 1 {
			once = append(once, l)
		}
	}
	slices.Sort(once)
	eq.out = append(eq.out, once...)
	return eq, nil
}

// readLabels are the labels of a term, in which "..." stands for hidden dimensions; letter says what is wrong with one.
func readLabels(term string, hidden int, letter func(l byte) error) (ls []int, err error) {
	for p := 0; p < len(term); p++ {
		if strings.HasPrefix(term[p:], "...") {
			for k := hidden - 1; k >= 0; k-- {
				ls = append(ls, ellipsis+k)
			}
			p += 2
			continue
		}
		if err := letter(term[p]); err != nil {
			return nil, err
		}
		ls = append(ls, int(term[p]))
	}
	return ls, nil
}

// sizes notes the labels of operand i, and the sizes that they have in it: equal to those before, or 1.
func (eq *equation) sizes(i int, ls []int, shape []int64) error {
	for d, l := range ls {
		s := shape[d]
		if old, ok := eq.size[l]; ok && old != s && old != 1 && s != 1 {
			return errf("einsum(): subscript %c has size %d for operand %d which does not broadcast with previously seen size %d", rune(l), s, i, old)
		}
		if eq.size[l] <= 1 {
			eq.size[l] = s
		}
	}
	eq.labels[i] = ls
	return nil
}

// diagonals makes one dimension of those of operand i that have the same label.
func (eq *equation) diagonals(c *Call, ts []*tensor.Tensor, i int) error {
	ls := eq.labels[i]
	for a := 0; a < len(ls); a++ {
		for b := a + 1; b < len(ls); b++ {
			if ls[a] != ls[b] {
				continue
			}
			v, err := c.via("diagonal", ts[i], int64(0), int64(a), int64(b))
			if err != nil {
				return err
			}
			if ts[i], err = c.viaT("movedim.int", v, int64(-1), int64(a)); err != nil {
				return err
			}
			ls = slices.Delete(ls, b, b+1)
			b--
		}
	}
	eq.labels[i] = ls
	return nil
}

// lastUse is the last operand that has a label.
func (eq *equation) lastUse(label int) int {
	last := 0
	for i, ls := range eq.labels {
		if slices.Contains(ls, label) {
			last = i
		}
	}
	return last
}

// place permutes an operand with labels ls to an order of labels. One that it lacks is a dimension of size 1.
func place(c *Call, t *tensor.Tensor, ls, order []int) (*tensor.Tensor, error) {
	p := make([]int64, len(order))
	v := t
	for k, l := range order {
		if d := slices.Index(ls, l); d >= 0 {
			p[k] = int64(d)
			continue
		}
		var err error
		p[k] = int64(v.Dim())
		if v, err = c.viaT("unsqueeze", v, p[k]); err != nil {
			return nil, err
		}
	}
	return c.viaT("permute", v, ints(p))
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
