package autograd

import (
	"cmp"
	"slices"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func init() {
	views()
	indexing()
	joins()
}

// views holds views: the gradient is viewed backwards, or written into zeros where a view leaves elements out.
func views() {
	row("view.default _unsafe_view.default reshape.default _reshape_alias.default view_as.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.reshapeLike(c.G(0), c.Like("self")) })
	})
	row("alias.default clone.default contiguous.default lift_fresh_copy.default lift_fresh.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
	})
	row("_to_copy.default to.dtype", func(c *Ctx) {
		c.Set("self", func() tt {
			in, g := c.Like("self"), c.G(0)
			if g.DType == in.DType {
				return g
			}
			return c.T("_to_copy.default", g, in.DType)
		})
	})
	row("expand.default", func(c *Ctx) { c.Set("self", func() tt { return c.G(0) }) })
	row("permute.default", func(c *Ctx) {
		c.Set("self", func() tt {
			dims := c.Ints("dims")
			inv := make([]int64, len(dims))
			for i, d := range dims {
				inv[build.Wrap(d, len(dims))] = int64(i)
			}
			return c.T("permute.default", c.G(0), build.Ints(inv))
		})
	})
	row("transpose.int", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("transpose.int", c.G(0), c.Int("dim0"), c.Int("dim1")) })
	})
	row("t.default", func(c *Ctx) { c.Set("self", func() tt { return c.T("t.default", c.G(0)) }) })
	row("unsqueeze.default", func(c *Ctx) {
		c.Set("self", func() tt {
			d := c.Int("dim")
			if d < 0 {
				d += int64(len(c.results[0].Shape))
			}
			return c.T("squeeze.dim", c.G(0), d)
		})
	})
	row("squeeze.default squeeze.dim squeeze.dims", func(c *Ctx) {
		c.Set("self", func() tt {
			g := c.G(0)
			in := c.Like("self")
			var gone []int64
			j := 0
			for i, n := range in.Shape {
				if n == 1 && !(j < len(g.Shape) && squeezedKeeps(c, i, len(in.Shape))) {
					gone = append(gone, int64(i))
				} else {
					j++
				}
			}
			for _, d := range gone {
				g = c.T("unsqueeze.default", g, d)
			}
			return g
		})
	})
	row("select.int", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("select_backward.default", c.G(0), build.Ints(c.Like("self").Shape), c.Int("dim"), c.Int("index"))
		})
	})
	row("slice.Tensor", func(c *Ctx) {
		c.Set("self", func() tt {
			in := c.Like("self")
			dim := build.Wrap(c.Int("dim"), len(in.Shape))
			n := in.Shape[dim]
			start, end := int64(0), n
			if s, ok := c.args[c.argPos("start")].(int64); ok {
				start = clampIndex(s, n)
			}
			if e, ok := c.args[c.argPos("end")].(int64); ok {
				end = e
			}
			return c.T("slice_backward.default", c.G(0), build.Ints(in.Shape), int64(dim), start, end, c.Int("step"))
		})
	})
	row("trace.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in, g := c.Like("self"), c.G(0)
			n := in.Shape[0] * in.Shape[1]
			at := c.T("arange.start_step", int64(0), n, in.Shape[1]+1, tensor.Int64)
			z := c.T("index_fill.int_Tensor", c.T("zeros.default", []aten.Value{n}, g.DType), int64(0), at, g)
			return c.T("reshape.default", z, build.Ints(in.Shape))
		})
	})
	row("diagonal.default diagonal_copy.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("diagonal_backward.default", c.G(0), build.Ints(c.Like("self").Shape), c.Int("offset"), c.Int("dim1"), c.Int("dim2"))
		})
	})
	row("as_strided.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in, size, stride := c.Like("self"), c.Ints("size"), c.Ints("stride")
			offset := in.Offset
			if o, ok := c.args[3].(int64); ok {
				offset = o
			}
			g, shape := c.unexpand(c.G(0), size, stride)
			if in.Offset == 0 && in.IsNonOverlappingAndDense() && !overlaps(shape, stride) {
				if c.traced {
					return c.placedStrided(g, shape, stride, offset, in)
				}
				return c.T("as_strided_scatter.default", c.zerosAs(g, in), g, build.Ints(shape), c.args[2], c.args[3])
			}
			return c.scatterStrided(g, shape, stride, offset, in)
		})
	})
	row("select_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt { return c.T("select.int", c.G(0), c.Int("dim"), c.Int("index")) })
	})
	row("slice_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt {
			return c.T("slice.Tensor", c.G(0), c.Int("dim"), c.Arg("start"), c.Arg("end"), c.Int("step"))
		})
	})
	row("split.Tensor split_with_sizes.default unbind.int chunk.default", func(c *Ctx) {
		c.Set("self", func() tt {
			parts := make([]aten.Value, len(c.results))
			dim := c.Int("dim")
			unbound := baseName(functionalName(c.op)) == "unbind"
			for i, r := range c.results {
				if unbound && c.reading == nil && c.grads[i] == nil {
					parts[i] = c.T("expand.default", c.T("zeros.default", []aten.Value{}, r.DType), build.Ints(r.Shape))
					continue
				}
				parts[i] = c.G(i)
			}
			if unbound {
				return c.T("stack.default", parts, dim)
			}
			return c.T("cat.default", parts, dim)
		})
	})
	row("unfold.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("unfold_backward.default", c.G(0), build.Ints(c.Like("self").Shape), c.Int("dimension"), c.Int("size"), c.Int("step"))
		})
	})
	row("unfold_backward.default", func(c *Ctx) {
		c.Set("grad_in", func() tt { return c.T("unfold.default", c.G(0), c.Int("dim"), c.Int("size"), c.Int("step")) })
	})
	row("flip.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("flip.default", c.G(0), c.Arg("dims")) })
	})
	row("rot90.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("rot90.default", c.G(0), -c.Int("k"), c.Arg("dims")) })
	})
	row("channel_shuffle.default", func(c *Ctx) {
		c.Set("self", func() tt {
			g := c.G(0)
			return c.T("channel_shuffle.default", g, g.Shape[1]/c.Int("groups"))
		})
	})
	row("roll.default", func(c *Ctx) {
		c.Set("self", func() tt {
			var neg []int64
			for _, s := range c.Ints("shifts") {
				neg = append(neg, -s)
			}
			return c.T("roll.default", c.G(0), build.Ints(neg), c.Arg("dims"))
		})
	})
	row("repeat.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in, reps := c.Like("self"), c.Ints("repeats")
			g := c.G(0)
			lead := len(reps) - len(in.Shape)
			var shape, dims []int64
			for i, r := range reps {
				n := int64(1)
				if i >= lead {
					n = in.Shape[i-lead]
				}
				if i < lead {
					dims = append(dims, int64(len(shape)))
					shape = append(shape, r*n)
					continue
				}
				if r != 1 {
					dims = append(dims, int64(len(shape)))
					shape = append(shape, r)
				}
				shape = append(shape, n)
			}
			if len(dims) == 0 {
				return g
			}
			g = c.T("reshape.default", g, build.Ints(shape))
			return c.T("sum.dim_IntList", g, build.Ints(dims))
		})
	})
	row("constant_pad_nd.default", func(c *Ctx) {
		c.Set("self", func() tt {
			var neg []int64
			for _, p := range c.Ints("pad") {
				neg = append(neg, -p)
			}
			return c.T("constant_pad_nd.default", c.G(0), build.Ints(neg), int64(0))
		})
	})
	for _, n := range []string{"reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d"} {
		row(n+".default", func(c *Ctx) {
			c.Set("self", func() tt { return c.T(n+"_backward.default", c.G(0), c.In("self"), c.Arg("padding")) })
		}).usesSelf = true
	}
	row("tril.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("tril.default", c.G(0), c.Arg("diagonal")) })
	})
	row("triu.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("triu.default", c.G(0), c.Arg("diagonal")) })
	})
	row("diag_embed.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("diagonal.default", c.G(0), c.Arg("offset"), c.Arg("dim1"), c.Arg("dim2"))
		})
	})
	row("slice_scatter.default", func(c *Ctx) {
		rest := c.args[2:]
		c.Set("self", func() tt {
			src := c.T("zeros.default", build.Ints(c.Like("src").Shape), c.G(0).DType)
			return c.T("slice_scatter.default", append([]aten.Value{c.G(0), src}, rest...)...)
		})
		c.Set("src", func() tt { return c.T("slice.Tensor", append([]aten.Value{c.G(0)}, rest...)...) })
	})
	row("select_scatter.default", func(c *Ctx) {
		rest := c.args[2:]
		c.Set("self", func() tt {
			src := c.T("zeros.default", build.Ints(c.Like("src").Shape), c.G(0).DType)
			return c.T("select_scatter.default", append([]aten.Value{c.G(0), src}, rest...)...)
		})
		c.Set("src", func() tt { return c.T("select.int", append([]aten.Value{c.G(0)}, rest...)...) })
	})
	row("as_strided_scatter.default", func(c *Ctx) {
		rest := c.args[2:]
		slice := func() tt {
			g := c.T("clone.default", c.G(0), tensor.ContiguousFormat)
			return c.T("as_strided.default", append([]aten.Value{g}, rest...)...)
		}
		// PyTorch gives the written places their gradient, and the others none.
		c.Set("self", func() tt {
			z := c.ZerosLike(c.T("clone.default", c.G(0), tensor.ContiguousFormat))
			return c.T("as_strided_scatter.default", append([]aten.Value{z, slice()}, rest...)...)
		})
		c.Set("src", slice)
	})
}

// zerosAs is a tensor of zeros of g's dtype that lies in memory as base does; base is dense.
func (c *Ctx) zerosAs(g, base tt) tt {
	if base.IsContiguous(tensor.ContiguousFormat) {
		return c.T("new_zeros.default", g, build.Ints(base.Shape))
	}
	return c.ZerosLike(c.T("new_empty_strided.default", g, build.Ints(base.Shape), build.Ints(base.Stride)))
}

// placedStrided is the gradient of in, a dense tensor of which the elements with these sizes, strides and offset have the gradient g, as graphs
// show it: g is written into zeros that span the memory of both.
func (c *Ctx) placedStrided(g tt, size, stride []int64, offset int64, in tt) tt {
	last := func(size, stride []int64) (n int64) {
		for i, s := range size {
			n += (s - 1) * stride[i]
		}
		return n
	}
	first := min(offset, in.Offset)
	end := max(offset+last(size, stride), in.Offset+last(in.Shape, in.Stride)) + 1
	all := c.T("new_zeros.default", g, []aten.Value{end - first})
	c.T("copy_.default", c.T("as_strided.default", all, build.Ints(size), build.Ints(stride), offset-first), g)
	return c.T("as_strided.default", all, build.Ints(in.Shape), build.Ints(in.Stride), in.Offset-first)
}

// overlaps reports whether two elements of a strided tensor may be one in memory. Like PyTorch's, the test may say so in vain.
func overlaps(size, stride []int64) bool {
	type dim struct{ size, stride int64 }
	var dims []dim
	for i, n := range size {
		if n == 0 {
			return false
		}
		if n > 1 {
			dims = append(dims, dim{n, stride[i]})
		}
	}
	slices.SortFunc(dims, func(a, b dim) int { return cmp.Compare(a.stride, b.stride) })
	last := int64(0)
	for _, d := range dims {
		if d.stride <= last {
			return true
		}
		last += d.stride * (d.size - 1)
	}
	return false
}

// scatterStrided adds g, which lies at size, stride and offset of a memory, up in that memory, and reads it as in lies there. An
// element of in that lies at the place of others takes an equal share.
func (c *Ctx) scatterStrided(g tt, size, stride []int64, offset int64, in tt) tt {
	end := func(size, stride []int64, offset int64) int64 {
		n := offset + 1
		for i, s := range size {
			if s == 0 {
				return 0
			}
			n += (s - 1) * stride[i]
		}
		return n
	}
	first := min(offset, in.Offset)
	total := max(end(size, stride, offset-first), end(in.Shape, in.Stride, in.Offset-first))
	places := func(size, stride []int64, offset int64) tt {
		all := c.T("arange.start", int64(0), total, tensor.Int64)
		return c.T("reshape.default", c.T("as_strided.default", all, build.Ints(size), build.Ints(stride), offset), []aten.Value{int64(-1)})
	}
	base := c.T("new_zeros.default", g, []aten.Value{total})
	flat := c.T("reshape.default", g, []aten.Value{int64(-1)})
	base = c.T("index_add.default", base, int64(0), places(size, stride, offset-first), flat)
	if overlaps(in.Shape, in.Stride) {
		at := places(in.Shape, in.Stride, in.Offset-first)
		ones := c.T("ones.default", build.Ints(at.Shape), g.DType)
		base = c.Div(base, c.T("index_add.default", c.ZerosLike(base), int64(0), at, ones)) // what no element of in reaches is not read
	}
	return c.T("as_strided.default", base, build.Ints(in.Shape), build.Ints(in.Stride), in.Offset-first)
}

// unexpand sums the gradient of a strided view over dimensions of stride 0, all of whose elements are one.
func (c *Ctx) unexpand(g tt, size, stride []int64) (tt, []int64) {
	size = clone(size)
	var dims []int64
	for i, s := range stride {
		if s == 0 && size[i] > 1 {
			dims = append(dims, int64(i))
			size[i] = 1
		}
	}
	if len(dims) > 0 {
		g = c.T("sum.dim_IntList", g, build.Ints(dims), true)
	}
	return g, size
}

// squeezedKeeps reports whether squeeze leaves size-1 dimension i of an n-dim input alone.
func squeezedKeeps(c *Ctx, i, n int) bool {
	if c.op.Sig().Overload == "" || c.op.Sig().Overload == "default" {
		return false
	}
	for _, d := range build.ToInts(c.args[c.argPos("dim")]) {
		if build.Wrap(d, n) == i {
			return false
		}
	}
	return true
}

func clampIndex(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// reshapeLike gives g the shape of in, as the derivative of view does.
func (c *Ctx) reshapeLike(g, in tt) tt {
	return c.T("reshape.default", g, build.Ints(in.Shape))
}

// joins holds cat and stack: each operand gets its slice of the gradient.
func joins() {
	row("cat.default", func(c *Ctx) {
		dim := c.Int("dim")
		at := int64(0)
		list, _ := c.args[0].([]aten.Value)
		for j, v := range list {
			t := v.(tt)
			if len(t.Shape) == 1 && t.Shape[0] == 0 && len(c.results[0].Shape) != 1 {
				c.SetItem("tensors", j, func() tt { return c.ZerosLike(t) }) // PyTorch's legacy empty tensor
				continue
			}
			n := t.Shape[build.Wrap(dim, len(t.Shape))]
			lo := at
			c.SetItem("tensors", j, func() tt {
				return c.T("slice.Tensor", c.G(0), int64(build.Wrap(dim, len(t.Shape))), lo, lo+n)
			})
			at += n
		}
	})
	row("stack.default", func(c *Ctx) {
		list, _ := c.args[0].([]aten.Value)
		for j := range list {
			c.SetItem("tensors", j, func() tt { return c.T("select.int", c.G(0), c.Int("dim"), int64(j)) })
		}
	})
}

// indexing holds reading and writing at indices. Reading several times adds up in the gradient; what is overwritten gets none.
func indexing() {
	row("index.Tensor", func(c *Ctx) {
		c.Set("self", func() tt {
			z := c.T("new_zeros.default", c.G(0), build.Ints(c.Like("self").Shape))
			return c.T("index_put.default", z, c.args[1], c.G(0), true)
		})
	})
	row("_unsafe_index.Tensor", func(c *Ctx) {
		c.Set("self", func() tt {
			z := c.T("new_zeros.default", c.G(0), build.Ints(c.Like("self").Shape))
			return c.T("_unsafe_index_put.default", z, c.args[1], c.G(0), true)
		})
	})
	row("index_put.default _unsafe_index_put.default", func(c *Ctx) {
		acc := c.Bool("accumulate")
		c.Set("self", func() tt {
			if acc {
				return c.G(0)
			}
			v := c.Like("values")
			return c.T("index_put.default", c.G(0), c.args[1], c.T("zeros.default", build.Ints(v.Shape), v.DType), false)
		})
		c.Set("values", func() tt { return c.T("index.Tensor", c.G(0), c.args[1]) })
	})
	row("index_select.default", func(c *Ctx) {
		c.Set("self", func() tt {
			z := c.T("new_zeros.default", c.G(0), build.Ints(c.Like("self").Shape))
			return c.T("index_add.default", z, c.Arg("dim"), c.In("index"), c.G(0))
		})
	})
	row("index_add.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("source", func() tt {
			g := c.T("index_select.default", c.G(0), c.Arg("dim"), c.In("index"))
			if a := c.Arg("alpha"); !build.Is(a, 1) {
				g = c.Mul(c.T("expand.default", g, build.Ints(c.Like("source").Shape)), a)
				return g
			}
			return c.T("expand.default", g, build.Ints(c.Like("source").Shape))
		})
	})
	row("index_fill.int_Scalar", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("index_fill.int_Scalar", c.G(0), c.Arg("dim"), c.In("index"), int64(0))
		})
	})
	row("index_copy.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("index_fill.int_Scalar", c.G(0), c.Arg("dim"), c.In("index"), int64(0))
		})
		c.Set("source", func() tt {
			return c.T("expand.default", c.T("index_select.default", c.G(0), c.Arg("dim"), c.In("index")), build.Ints(c.Like("source").Shape))
		})
	})
	row("gather.default", func(c *Ctx) {
		c.Set("self", func() tt {
			z := c.T("new_zeros.default", c.G(0), build.Ints(c.Like("self").Shape))
			return c.T("scatter_add.default", z, c.Arg("dim"), c.In("index"), c.G(0))
		})
	})
	row("scatter.src", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("scatter.value", c.G(0), c.Arg("dim"), c.In("index"), int64(0))
		})
		c.Set("src", func() tt { return c.fitGather(c.T("gather.default", c.G(0), c.Arg("dim"), c.In("index")), "src") })
	})
	row("scatter.value", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("scatter.value", c.G(0), c.Arg("dim"), c.In("index"), int64(0))
		})
	})
	row("scatter_add.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("src", func() tt { return c.fitGather(c.T("gather.default", c.G(0), c.Arg("dim"), c.In("index")), "src") })
	})
	row("masked_select.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in := c.Like("self")
			z := c.T("new_zeros.default", c.G(0), build.Ints(in.Shape))
			return c.T("masked_scatter.default", z, c.In("mask"), c.G(0))
		})
	})
	row("masked_scatter.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.MaskFill(c.G(0), c.In("mask"), int64(0)) })
		c.Set("source", func() tt {
			src := c.Like("source")
			return c.T("masked_scatter_backward.default", c.G(0), c.In("mask"), build.Ints(src.Shape))
		})
	})
	row("embedding.default", func(c *Ctx) {
		c.Set("weight", func() tt {
			w := c.Like("weight")
			return c.T("embedding_dense_backward.default", c.G(0), c.In("indices"), w.Shape[0], c.Arg("padding_idx"), c.Arg("scale_grad_by_freq"))
		})
	})
	row("take.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in := c.Like("self")
			return c.T("put.default", c.T("zeros_like.default", in), c.In("index"), c.G(0), true)
		})
	})
}

// fitGather pads a gathered gradient to the shape of an argument larger than the index.
func (c *Ctx) fitGather(g tt, arg string) tt {
	like := c.Like(arg)
	if build.EqualInts(g.Shape, like.Shape) {
		return g
	}
	var pad []int64
	for i := len(like.Shape) - 1; i >= 0; i-- {
		pad = append(pad, 0, like.Shape[i]-g.Shape[i])
	}
	return c.T("constant_pad_nd.default", g, build.Ints(pad), int64(0))
}
