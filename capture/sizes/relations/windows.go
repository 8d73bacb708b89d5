package relations

// pick is element i of an argument that has one for each dimension, or one for all.
func pick[S any](l []S, i int, def S) S {
	switch {
	case i < len(l):
		return l[i]
	case len(l) == 1:
		return l[0]
	}
	return def
}

// named is the integer list argument of that name, of what are no sizes.
func (c call[S]) named(name string) ([]S, bool) {
	i := c.arg(name)
	if i < 0 {
		return nil, false
	}
	return c.Numbers(i)
}

// convolution: [N, C, ...] with weights [O, C/groups, ...] and a bias [O] gives [N, O, ...].
func convolution[S any](c call[S]) [][]S {
	x, w := c.Tensor(0), c.Tensor(1)
	stride, ok1 := c.named("stride")
	pad, ok2 := c.named("padding")
	dil, ok3 := c.named("dilation")
	if len(x) != len(w) || len(w) < 3 || !ok1 || !ok2 || !ok3 || c.truth(c.arg("transposed")) {
		return nil
	}
	if bias := c.Tensor(2); len(bias) == 1 {
		c.equal(w[0], bias[0])
	}
	if g, ok := c.Extent(c.arg("groups")); ok {
		c.equal(x[1], c.Mul(w[1], g))
		c.Multiple(w[0], g)
	}
	out := []S{x[0], w[0]}
	for i, k := range w[2:] {
		out = append(out, c.Window(x[2+i], pick(pad, i, c.Const(0)), k, pick(dil, i, c.unit()), pick(stride, i, c.unit())))
	}
	return one(out)
}

// pool has windows whose sizes are arguments.
func pool[S any](c call[S]) [][]S {
	x := c.Tensor(0)
	kernel, _ := c.named("kernel_size")
	stride, _ := c.named("stride")
	pad, _ := c.named("padding")
	dil, _ := c.named("dilation")
	n := len(kernel)
	if c.truth(c.arg("ceil_mode")) || n == 0 || len(x) < n {
		return nil
	}
	if len(stride) == 0 {
		stride = kernel
	}
	out := clip(x)
	for i := range n {
		d := len(x) - n + i
		k, st, p, dl := pick(kernel, i, c.unit()), pick(stride, i, c.unit()), pick(pad, i, c.Const(0)), pick(dil, i, c.unit())
		out[d] = c.Window(x[d], p, k, dl, st)
		if !c.isConst(st, 1) {
			span := c.Sub(x[d], c.Mul(dl, c.Sub(k, c.unit())))
			c.same(c.Rest(c.Add(span, c.Const(-1), c.Mul(c.Const(2), p)), st), c.Const(0))
		}
	}
	return one(out)
}

// layerNorm: the last dimensions are those of its second argument, of weights and of biases.
func layerNorm[S any](c call[S]) [][]S {
	x := c.Tensor(0)
	shape, ok := c.Extents(1)
	n := len(x) - len(shape)
	if !ok || n < 0 {
		return nil
	}
	stats := clip(x[:n])
	for i, s := range shape {
		c.same(x[n+i], s)
		stats = append(stats, c.unit())
	}
	for _, o := range [][]S{c.Tensor(2), c.Tensor(3)} {
		if len(o) == len(shape) {
			for i := range o {
				c.same(x[n+i], o[i])
			}
		}
	}
	if len(c.Schema().Returns) == 1 {
		return one(x)
	}
	return [][]S{x, stats, stats}
}

// channels: everything of one dimension is per channel, the second dimension of the first argument.
func channels[S any](c call[S]) [][]S {
	x := c.Tensor(0)
	if len(x) < 2 {
		return nil
	}
	for _, o := range c.Operands() {
		if len(o) == 1 {
			c.same(x[1], o[0])
		}
	}
	results := len(c.Schema().Returns)
	stats := []S{x[1]}
	group := max(c.arg("num_groups"), c.arg("group"))
	if group >= 0 {
		g, ok := c.Extent(group)
		if !ok {
			return nil
		}
		if !c.isConst(g, 1) {
			c.Multiple(x[1], g)
		}
		stats = []S{x[0], g}
	}
	if results == 1 {
		return one(x)
	}
	if i := c.arg("HxW"); i >= 0 {
		for j, s := range []S{x[0], x[1], c.Mul(x[2:]...)} {
			if n, ok := c.Extent(i - 2 + j); ok {
				c.same(s, n)
				if j == 0 {
					stats[0] = n
				}
			}
		}
	} else if !c.truth(c.arg("training")) && results == 3 {
		stats = []S{c.Const(0)} // what is known of them was an argument
	}
	out := [][]S{x}
	for range results - 1 {
		out = append(out, stats)
	}
	return out
}
