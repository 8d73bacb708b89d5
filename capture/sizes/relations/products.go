package relations

// product is the rule of matrix products of arguments i and j, to which argument bias is added; -1 for none.
func product[S any](i, j, bias int) func(c call[S]) [][]S {
	return func(c call[S]) [][]S {
		out := c.product(c.Tensor(i), c.Tensor(j))
		if bias >= 0 && out != nil {
			c.broadcast(out[0], c.Tensor(bias))
		}
		return out
	}
}

// product is the matrix product of two sizes: what is summed over agrees, and all dimensions before the last two broadcast.
func (c call[S]) product(a, b []S) [][]S {
	switch {
	case len(a) == 0 || len(b) == 0:
		return nil
	case len(a) == 1 && len(b) == 1:
		c.equal(a[0], b[0])
		return one([]S{})
	case len(b) == 1:
		c.equal(a[len(a)-1], b[0])
		return one(clip(a[:len(a)-1]))
	case len(a) == 1:
		c.equal(a[0], b[len(b)-2])
		return one(append(clip(b[:len(b)-2]), b[len(b)-1]))
	}
	batch := c.broadcast(a[:len(a)-2], b[:len(b)-2])
	c.equal(a[len(a)-1], b[len(b)-2])
	return one(append(batch, a[len(a)-2], b[len(b)-1]))
}

// linear has a weight [out, in], or [in], and a bias [out].
func linear[S any](c call[S]) [][]S {
	x, w, bias := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	if len(w) != 2 {
		return c.product(x, w)
	}
	out := c.product(x, []S{w[1], w[0]})
	if len(bias) == 1 {
		c.equal(w[0], bias[0])
	}
	return out
}

// attention: queries [..., L, E], keys [..., S, E] and values [..., S, V] give [..., L, V].
func attention[S any](c call[S]) [][]S {
	q, k, v := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	r := len(q)
	if r < 2 || len(k) != r || len(v) != r || c.truth(c.arg("enable_gqa")) {
		return nil
	}
	batch := c.broadcast(c.broadcast(q[:r-2], k[:r-2]), v[:r-2])
	c.equal(q[r-1], k[r-1])
	c.equal(k[r-2], v[r-2])
	out := [][]S{append(clip(batch), q[r-2], v[r-1])}
	if len(c.Schema().Returns) > 1 {
		out = append(out, clip(q[:r-1])) // a sum for each query
	}
	return out
}

// embedding takes rows of a table.
func embedding[S any](c call[S]) [][]S {
	w := c.Tensor(0)
	if len(w) == 0 {
		return nil
	}
	return one(append(clip(c.Tensor(1)), w[1:]...))
}
