package relations

// view has its sizes as an argument.
func view[S any](c call[S]) [][]S {
	old := clip(c.Tensor(0))
	shape, ok := c.Extents(1)
	if !ok {
		return nil
	}
	return one(c.Regroup(old, c.Infer(shape, c.Mul(old...))))
}

func flatten[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	if len(s) == 0 {
		return one([]S{c.unit()})
	}
	a, ok1 := c.dim(1, len(s))
	b, ok2 := c.dim(2, len(s))
	if !ok1 || !ok2 || b < a {
		return nil
	}
	return one(append(append(clip(s[:a]), c.Mul(s[a:b+1]...)), s[b+1:]...))
}

func unflatten[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	sizes, ok1 := c.Extents(2)
	d, ok2 := c.dim(1, len(s))
	if !ok1 || !ok2 {
		return nil
	}
	shape := append(append(clip(s[:d]), c.Infer(sizes, s[d])...), s[d+1:]...)
	c.SameCount(s, shape)
	return one(c.Regroup(clip(s), shape))
}

// expand repeats dimensions of size 1 and puts new ones in front; -1 leaves one as it is.
func expand[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	sizes, ok := c.Extents(1)
	if !ok || len(sizes) < len(s) {
		return nil
	}
	out := clip(sizes)
	n := len(out) - len(s)
	for k := range out[:n] {
		c.Mark(k, out[k])
	}
	for i, e := range s {
		k := n + i
		if c.isConst(out[k], -1) {
			out[k] = e
			continue
		}
		if !c.same(out[k], e) {
			c.same(e, c.unit())
			c.Mark(k, out[k])
		}
	}
	return one(out)
}

func repeat[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	by, ok := c.Numbers(1)
	if !ok || len(by) < len(s) {
		return nil
	}
	out := clip(by)
	for i := range s {
		k := len(by) - len(s) + i
		out[k] = c.Mul(by[k], s[i])
	}
	return one(out)
}

func permute[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	dims, _ := c.Literal(1).([]int64)
	if len(dims) != len(s) {
		return nil
	}
	out := make([]S, len(s))
	for i, d := range dims {
		k, ok := index(d, len(s), true)
		if !ok {
			return nil
		}
		out[i] = s[k]
	}
	return one(out)
}

func transpose[S any](c call[S]) [][]S {
	out := clip(c.Tensor(0))
	if len(out) == 0 {
		return one(out)
	}
	i, ok1 := c.dim(1, len(out))
	j, ok2 := c.dim(2, len(out))
	if !ok1 || !ok2 {
		return nil
	}
	out[i], out[j] = out[j], out[i]
	return one(out)
}

// turn: .T turns all dimensions round, t those of a matrix and .mT the last two.
func turn[S any](c call[S]) [][]S {
	out := clip(c.Tensor(0))
	from := 0
	if c.Schema().Name == "mT" {
		from = max(len(out)-2, 0)
	}
	for i, j := from, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return one(out)
}

func unsqueeze[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	d, ok := c.dim(1, len(s)+1)
	if !ok {
		return nil
	}
	return one(append(append(clip(s[:d]), c.unit()), s[d:]...))
}

// diagonal is as long as the shorter of two dimensions, once an offset is taken off one of them.
func diagonal[S any](c call[S]) [][]S {
	s := c.Tensor(0)
	offset, ok := c.Literal(1).(int64)
	i, ok1 := c.dim(2, len(s))
	j, ok2 := c.dim(3, len(s))
	if !ok || !ok1 || !ok2 {
		return nil
	}
	a, b := s[i], s[j]
	if offset >= 0 {
		b = c.Sub(b, c.Const(offset))
	} else {
		a = c.Add(a, c.Const(offset))
	}
	if c.Ask(Less, b, a) {
		a = b
	}
	if c.Ask(Less, a, c.Const(0)) {
		a = c.Const(0)
	}
	var out []S
	for k, e := range s {
		if k != i && k != j {
			out = append(out, e)
		}
	}
	return one(append(out, a))
}

// factory has the sizes of its result as an argument.
func factory[S any](arg int) func(c call[S]) [][]S {
	return func(c call[S]) [][]S {
		s, ok := c.Extents(arg)
		if !ok {
			return nil
		}
		for i, e := range s {
			c.Mark(i, e)
		}
		return one(s)
	}
}

// count has a size as its first argument.
func count[S any](c call[S]) [][]S {
	n, ok := c.Extent(0)
	if !ok {
		return nil
	}
	c.Mark(0, n)
	return one([]S{n})
}

// arange counts from start to end by step.
func arange[S any](c call[S]) [][]S {
	start, step, at := c.Const(0), c.unit(), 0
	if c.arg("start") == 0 {
		at = 1
		n, ok := c.Number(0)
		if !ok {
			return nil
		}
		start = n
		if i := c.arg("step"); i >= 0 {
			if n, ok := c.Number(i); ok {
				step = n
			}
		}
	}
	end, ok := c.Extent(at)
	by, whole := c.Constant(step)
	if !ok || !whole || by <= 0 {
		return nil
	}
	n := c.Sub(end, start)
	if by != 1 {
		n = c.Div(c.Add(n, c.Const(by-1)), step)
	}
	return one([]S{n})
}
