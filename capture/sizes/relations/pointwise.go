package relations

import "slices"

// pointwise results have the broadcast of all tensors' sizes.
func pointwise[S any](c call[S]) [][]S {
	var out []S
	for i, x := range c.Operands() {
		if i == 0 {
			out = x
			continue
		}
		out = c.broadcast(out, x)
	}
	return slices.Repeat(one(out), len(c.Schema().Returns)) // frexp has two
}

// inplace results are the first argument, to which the others broadcast.
func inplace[S any](c call[S]) [][]S {
	out := c.Tensor(0)
	for i, x := range c.Operands() {
		if i > 0 {
			c.broadcast(out, x)
		}
	}
	return one(out)
}

// sameAs is the rule of operators whose n results are like their first argument.
func sameAs[S any](n int) func(c call[S]) [][]S {
	return func(c call[S]) [][]S {
		out := make([][]S, n)
		for i := range out {
			out[i] = c.Tensor(0)
		}
		return out
	}
}

// reduce leaves out the dimensions that its argument dim names, or leaves 1 of them. Where it names none, all of them are meant; only
// any and all take an empty list at its word.
func reduce[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	gone := make([]bool, len(s))
	var dims []int64
	all := true
	if i := max(c.arg("dim"), c.arg("dims")); i >= 0 {
		switch d := c.Literal(i).(type) {
		case int64:
			dims, all = []int64{d}, false
		case []int64:
			dims, all = d, len(d) == 0 && c.Schema().Name != "any" && c.Schema().Name != "all"
		}
	}
	for _, d := range dims {
		k, ok := index(d, len(s), true)
		if !ok {
			return nil
		}
		gone[k] = true
	}
	keep := c.truth(c.arg("keepdim"))
	var out []S
	for i, e := range s {
		switch {
		case !gone[i] && !all:
			out = append(out, e)
		case keep:
			out = append(out, c.unit())
		}
	}
	return one(out)
}

// reduced is whether a loss is one number, and not one for each element.
func (c call[S]) reduced() bool {
	n := c.integer(c.arg("reduction"), 0)
	return n == 1 || n == 2 // mean, sum
}

// crossEntropy compares scores, whose second dimension counts classes, with classes.
func crossEntropy[S any](c call[S]) [][]S {
	x, t := c.Tensor(0), c.Tensor(1)
	if len(x) == 0 {
		return nil
	}
	out := clip(t)
	switch {
	case len(t) == len(x)-1 && len(x) == 1:
	case len(t) == len(x)-1:
		rest := without(x, 1)
		for i := range t {
			c.equal(rest[i], t[i])
		}
	case len(t) == len(x): // probabilities of the classes
		for i := range t {
			c.equal(x[i], t[i])
		}
		if len(x) == 1 {
			out = nil
		} else {
			out = without(t, 1)
		}
	default:
		return nil
	}
	if c.reduced() {
		out = nil
	}
	return one(out)
}

// elementLoss compares element by element.
func elementLoss[S any](c call[S]) [][]S {
	out := c.broadcast(c.Tensor(0), c.Tensor(1))
	if c.reduced() {
		out = nil
	}
	return one(out)
}
