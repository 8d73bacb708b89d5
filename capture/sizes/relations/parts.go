package relations

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// cat adds up the sizes of one dimension; all others agree.
func cat[S any](c call[S]) [][]S {
	var kept [][]S
	for _, p := range c.Tensors(0) {
		if !p.Given {
			return nil
		}
		if len(p.Size) != 1 || !c.isConst(p.Size[0], 0) { // an empty vector fits everywhere
			kept = append(kept, p.Size)
		}
	}
	if len(kept) == 0 || len(kept[0]) == 0 {
		return nil
	}
	d, ok := c.dim(1, len(kept[0]))
	if !ok {
		return nil
	}
	out := clip(kept[0])
	for _, p := range kept[1:] {
		if len(p) != len(out) {
			return nil
		}
		for i := range p {
			if i == d {
				out[i] = c.Add(out[i], p[i])
			} else {
				c.equal(out[i], p[i])
			}
		}
	}
	return one(out)
}

func stack[S any](c call[S]) [][]S {
	parts := c.Tensors(0)
	if len(parts) == 0 {
		return nil
	}
	first := parts[0].Size
	for _, p := range parts[1:] {
		if len(p.Size) != len(first) {
			return nil
		}
		for i := range first {
			c.equal(first[i], p.Size[i])
		}
	}
	d, ok := c.dim(1, len(first)+1)
	if !ok {
		return nil
	}
	return one(append(append(clip(first[:d]), c.Const(int64(len(parts)))), first[d:]...))
}

// slice asks what PyTorch asks when it normalises the ends of a slice.
func slice[S any](c call[S]) [][]S {
	out := clip(c.Tensor(0))
	d, ok := c.dim(1, len(out))
	if !ok {
		return nil
	}
	n, zero := out[d], c.Const(0)
	start, step, end := zero, c.unit(), c.Const(math.MaxInt64)
	if k, ok := c.Number(2); ok {
		start = k
	}
	if c.Literal(3) != any(int64(math.MaxInt64)) {
		if k, ok := c.Extent(3); ok { // of a slice from 0, how much is kept
			end = k
		}
	}
	if k, ok := c.Number(4); ok {
		step = k
	}
	less := func(a, b S) bool { return c.Ask(Less, a, b) }
	more := func(a, b S) bool {
		if _, ok := c.Constant(a); ok {
			return less(b, a)
		}
		return c.Ask(Greater, a, b)
	}
	if less(start, zero) {
		start = c.Add(start, n)
	}
	last := c.isConst(end, math.MaxInt64)
	if !last && less(end, zero) {
		end = c.Add(end, n)
	}
	switch {
	case less(start, zero):
		start = zero
	case more(start, n):
		start = n
	}
	switch {
	case last:
		end = n
	case less(end, start):
		end = start
	case more(end, n):
		end = n
	}
	length := c.Sub(end, start)
	if !c.isConst(step, 1) {
		length = c.Div(c.Add(length, step, c.Const(-1)), step)
	}
	out[d] = length
	return one(out)
}

func selectInt[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	d, ok1 := c.dim(1, len(s))
	i, ok2 := c.Number(2)
	if !ok1 || !ok2 {
		return nil
	}
	// index < size and -size <= index, as one question that narrows nothing.
	if c.Value(i) < 0 {
		c.Require(Greater, s[d], c.Sub(c.Const(-1), i))
	} else {
		c.Require(Greater, s[d], i)
	}
	return one(without(s, d))
}

func narrow[S any](c call[S]) [][]S {
	s := clip(c.Tensor(0))
	d, ok1 := c.dim(1, len(s))
	start, ok2 := c.Number(2)
	length, ok3 := c.Extent(3)
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	c.Ask(AtMost, c.Add(start, length), s[d])
	s[d] = length
	return one(s)
}

// split cuts a dimension into parts of one size, or of given ones.
func split[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	d, ok := c.dim(2, len(s))
	if !ok {
		return nil
	}
	if size, ok := c.Extent(1); ok {
		return c.cut(s, d, c.Pieces(s[d], size))
	}
	sizes, ok := c.Extents(1)
	if !ok {
		return nil
	}
	c.Sum(s[d], sizes)
	return c.cut(s, d, sizes)
}

// sections cuts a dimension into a number of parts, of which the first ones have one more where it does not divide.
func sections[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	d, ok1 := c.dim(2, len(s))
	count, ok2 := c.Number(1)
	if !ok1 || !ok2 {
		return nil
	}
	n := c.Fix(count)
	if n <= 0 || n > mostSections {
		return nil
	}
	rest := c.Fix(c.Rest(s[d], c.Const(n)))
	least := c.Div(s[d], c.Const(n))
	if rest == 0 && c.Value(least) > 0 {
		return c.cut(s, d, c.Pieces(s[d], least))
	}
	sizes := slices.Repeat([]S{least}, int(n))
	for i := range rest {
		sizes[i] = c.Add(least, c.unit())
	}
	return c.cut(s, d, sizes)
}

// mostSections bounds how many results are followed.
const mostSections = 1 << 16

// cut is s once for each of the sizes of its dimension d.
func (c call[S]) cut(s []S, d int, sizes []S) [][]S {
	var out [][]S
	for _, n := range sizes {
		p := clip(s)
		p[d] = n
		out = append(out, p)
	}
	return out
}

func chunk[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	d, ok1 := c.dim(2, len(s))
	count, ok2 := c.Number(1)
	if !ok1 || !ok2 {
		return nil
	}
	n := c.Fix(count)
	if n <= 0 {
		return nil
	}
	return c.cut(s, d, c.Pieces(s[d], c.Div(c.Add(s[d], c.Const(n-1)), c.Const(n))))
}

func unbind[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	d, ok := c.dim(1, len(s))
	if !ok {
		return nil
	}
	n := c.Fix(s[d])
	var out [][]S
	for range n {
		out = append(out, without(s, d))
	}
	return out
}

func topk[S any](c call[S]) [][]S {
	s := clip(c.Tensor(0))
	k, ok := c.Extent(1)
	if len(s) == 0 || !ok {
		return nil
	}
	d, ok := c.dim(2, len(s))
	if !ok {
		return nil
	}
	c.Ask(AtMost, k, s[d])
	s[d] = k
	return [][]S{s, s}
}

// gather has an element for each of its index, which reaches no further than what it gathers from.
func gather[S any](c call[S]) [][]S {
	s, at := c.Tensor(0), c.Tensor(2)
	if len(s) == len(at) && len(s) > 0 {
		d, ok := c.dim(1, len(s))
		if !ok {
			return nil
		}
		for i := range s {
			if i != d {
				c.Ask(AtMost, at[i], s[i])
			}
		}
	}
	return one(at)
}

// gatherAt gathers by tensors: their broadcast size takes the place of the indexed dimensions, in front if those are not neighbours.
func gatherAt[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	var at []int
	var shape []S
	for i, t := range c.Tensors(1) {
		if !t.Given {
			continue
		}
		if t.DType == tensor.Bool || t.DType == tensor.UInt8 || i >= len(s) {
			return nil // how many are chosen depends on data
		}
		if at = append(at, i); len(at) == 1 {
			shape = t.Size
		} else {
			shape = c.broadcast(shape, t.Size)
		}
	}
	if len(at) == 0 {
		return nil
	}
	if last := at[len(at)-1]; last-at[0] == len(at)-1 {
		return one(append(append(clip(s[:at[0]]), shape...), s[last+1:]...))
	}
	out := clip(shape)
	for i, e := range s {
		if len(at) > 0 && at[0] == i {
			at = at[1:]
			continue
		}
		out = append(out, e)
	}
	return one(out)
}
