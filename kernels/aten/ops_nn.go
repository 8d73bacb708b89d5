package aten

import (
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Embeddings and what else looks up rows: the gradient of an embedding adds the gradients of equal indices, leaves the padding index out, and
// may divide by how often an index occurs.

func init() {
	embeddings()
	losses()
	attention()
}

func embeddings() {
	def("embedding", func(c *Call) (Value, error) {
		w, ix := c.T(0), c.T(1)
		if w.Dim() != 2 {
			return nil, errf("'weight' must be 2-D")
		}
		if ix.DType != tensor.Int64 && ix.DType != tensor.Int32 {
			return nil, errf("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.%sTensor instead (while checking arguments for embedding)", cName(ix.DType))
		}
		shape := append(slices.Clone(ix.Shape), w.Shape[1])
		o := c.NewUnset(w.DType, shape, tensor.ContiguousStrides(shape))
		if !c.real {
			return o, nil
		}
		n, k := w.Shape[0], w.Shape[1]
		if w.Stride[1] != 1 && o.Numel() >= w.Numel()/4 {
			w = w.Contiguous()
		}
		rows := ix.Ints()
		for _, v := range rows {
			if v < 0 || v >= n {
				return nil, kindf(IndexError, "index out of range in self")
			}
		}
		if w.Stride[1] == 1 && k > 0 && len(rows) > 0 {
			size := int64(w.DType.Size())
			at := make([]int64, len(rows))
			for i, v := range rows {
				at[i] = (w.Offset + v*w.Stride[0]) * size
			}
			moveRows(o.Bytes(), w.Storage.Data, at, k*size)
			return o, nil
		}
		for i, v := range rows {
			tensor.Copy(tensor.NewView(o, []int64{k}, []int64{1}, int64(i)*k), tensor.NewView(w, []int64{k}, w.Stride[1:], w.Offset+v*w.Stride[0]))
		}
		return o, nil
	})
	def("embedding_dense_backward", func(c *Call) (Value, error) {
		g, ix, n, pad, scale := c.T(0), c.T(1), c.I(2), c.I(3), c.B(4)
		if d := g.Dim() - 1; d != ix.Dim() || !slices.Equal(g.Shape[:d], ix.Shape) {
			return nil, errf("embedding_dense_backward(): Expected grad_output of size %s to have the size of indices, %s, and one dimension more", tensor.ShapeText(g.Shape), tensor.ShapeText(ix.Shape))
		}
		k := g.Shape[g.Dim()-1]
		o := c.NewC(g.DType, n, k)
		if !c.real {
			return o, nil
		}
		is := ix.Ints()
		cnt := make([]float64, n)
		for _, v := range is {
			if v < 0 || v >= n {
				return nil, kindf(IndexError, "embedding_dense_backward(): index %d out of range for num_weights %d", v, n)
			}
			cnt[v]++
		}
		switch g.DType {
		case tensor.Float32:
			if !scale {
				embeddingWindows(o.Float32s(), c.dense(g, g.DType).Float32s(), is, cnt, k, pad)
				break
			}
			embeddingSums(o.Float32s(), c.dense(g, g.DType).Float32s(), is, cnt, k, pad, scale)
		case tensor.Float64:
			embeddingSums(o.Float64s(), c.dense(g, g.DType).Float64s(), is, cnt, k, pad, scale)
		default:
			acc := c.zeros(n * k)
			embeddingSums(acc, c.floats(g), is, cnt, k, pad, scale)
			o.SetFloats(acc)
		}
		return o, nil
	})
	comp("embedding_backward", func(c *Call) (Value, error) { return c.via("embedding_dense_backward", c.Args[:5]...) })
	def("embedding_renorm_", func(c *Call) (Value, error) {
		w, ix, limit, p := c.T(0), c.T(1), c.F(2), c.F(3)
		if c.real {
			seen := map[int64]bool{}
			for _, v := range ix.Ints() {
				if seen[v] {
					continue
				}
				seen[v] = true
				if v < 0 || v >= w.Shape[0] {
					return nil, kindf(IndexError, "index out of range in self")
				}
				row := tensor.NewView(w, w.Shape[1:], w.Stride[1:], w.Offset+v*w.Stride[0])
				xs := row.Floats()
				if n := vectorNorm(xs, p); n > limit {
					for i := range xs {
						xs[i] *= limit / (n + 1e-7)
					}
					row.SetFloats(xs)
				}
			}
		}
		c.bump(w)
		return w, nil
	})
	def("_embedding_bag _embedding_bag_forward_only", func(c *Call) (Value, error) {
		w, ix, off, mode, psw, last, pad := c.T(0), c.T(1), c.T(2), c.I(4), c.T(6), c.B(7), c.I(8)
		bags := off.Numel()
		if last {
			bags--
		}
		k := w.Shape[1]
		if ix.Dim() != 1 {
			return nil, errf("input has to be 1D or 2D Tensor, but got Tensor of dimension %d", ix.Dim())
		}
		o := c.NewC(w.DType, bags, k)
		o2b, size := c.NewC(ix.DType, ix.Numel()), c.NewC(ix.DType, bags)
		mi := c.NewC(ix.DType, bags)
		if mode == 2 {
			mi = c.NewC(ix.DType, bags, k)
		}
		if mode == 0 && (pad < 0 || true) {
			o2b = c.NewC(ix.DType, 0)
		}
		if mode != 0 {
			o2b = c.NewC(ix.DType, ix.Numel())
		}
		if !c.real {
			return list(o, o2b, size, mi), nil
		}
		is, os := ix.Ints(), off.Ints()
		if len(os) > 0 && os[0] != 0 {
			return nil, errf("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got %d", os[0])
		}
		for i, o := range os {
			if o > int64(len(is)) || i > 0 && o < os[i-1] {
				return nil, errf("offsets[-1] can not be greater than input's length(%d) but got offsets[-1] of %d", len(is), os[len(os)-1])
			}
		}
		ws, ps := c.floats(w), floatsOf(psw)
		acc := c.zeros(int64(bags * k))
		maxAt, sizes, which := make([]int64, bags*k), make([]int64, bags), make([]int64, len(is))
		if bags > 0 {
			last := int64(len(is))
			if int(bags) < len(os) {
				last = os[bags]
			}
			for _, v := range is[os[0]:last] {
				if v < 0 || v >= w.Shape[0] {
					return nil, errf("Expected idx >= 0 && idx < num_embeddings to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
				}
			}
		}
		parallel.For(int(bags), int(grain/2/(int64(len(is))/max(bags, 1)*k+1)+1), func(lo, hi int) {
			for b := int64(lo); b < int64(hi); b++ {
				end := int64(len(is))
				if int(b)+1 < len(os) {
					end = os[b+1]
				}
				bag, greatest := acc[b*k:(b+1)*k], maxAt[b*k:(b+1)*k]
				for i := os[b]; i < end; i++ {
					which[i] = b
					v := is[i]
					if v == pad {
						continue
					}
					sizes[b]++
					row := ws[v*k : (v+1)*k]
					switch {
					case mode == 2:
						for j, x := range row {
							if ps != nil {
								x *= ps[i]
							}
							if sizes[b] == 1 || x > bag[j] {
								bag[j], greatest[j] = x, v
							}
						}
					case ps != nil:
						for j, x := range row {
							bag[j] += x * ps[i]
						}
					default:
						for j, x := range row {
							bag[j] += x
						}
					}
				}
				if mode == 1 && sizes[b] > 0 {
					for j := range bag {
						bag[j] /= float64(sizes[b])
					}
				}
			}
		})
		o.SetFloats(acc)
		size.SetInts(sizes)
		if mode != 0 {
			o2b.SetInts(which)
		}
		if mode == 2 {
			mi.SetInts(maxAt)
		} else if mode == 0 || mode == 1 {
			mi.SetInts(sizes)
		}
		return list(o, o2b, size, mi), nil
	})
	def("_embedding_bag_backward _embedding_bag_dense_backward", func(c *Call) (Value, error) {
		dense := c.Op.Sig().Name == "_embedding_bag_dense_backward"
		get := func(name string) Value { return c.opt(name) }
		g, ix := c.T(0), c.T(1)
		n, mode, pad := toInt(get("num_weights")), toInt(get("mode")), toInt(get("padding_idx"))
		psw, _ := get("per_sample_weights").(*tensor.Tensor)
		scale, _ := get("scale_grad_by_freq").(bool)
		k := g.Shape[1]
		o := c.NewC(g.DType, n, k)
		if !c.real {
			return o, nil
		}
		is, gs := ix.Ints(), c.floats(g)
		sz, _ := get("bag_size").(*tensor.Tensor)
		sizes := sz.Ints()
		which := make([]int64, len(is))
		if !dense {
			os := get("offsets").(*tensor.Tensor).Ints()
			for b := range os {
				end := int64(len(is))
				if b+1 < len(os) {
					end = os[b+1]
				}
				for i := os[b]; i < end; i++ {
					which[i] = int64(b)
				}
			}
		} else {
			which = get("offset2bag").(*tensor.Tensor).Ints()
		}
		acc := make([]float64, n*k)
		if mode == 2 {
			mi := get("maximum_indices").(*tensor.Tensor).Ints()
			for b := range sizes {
				if sizes[b] == 0 {
					continue
				}
				for j := int64(0); j < k; j++ {
					acc[mi[int64(b)*k+j]*k+j] += gs[int64(b)*k+j]
				}
			}
			o.SetFloats(acc)
			return o, nil
		}
		cnt := map[int64]float64{}
		for _, v := range is {
			cnt[v]++
		}
		ps := floatsOf(psw)
		for i, v := range is {
			if v == pad {
				continue
			}
			b := which[i]
			f := 1.0
			if ps != nil {
				f = ps[i]
			}
			if mode == 1 {
				f /= float64(sizes[b])
			}
			if scale {
				f /= cnt[v]
			}
			for j := int64(0); j < k; j++ {
				acc[v*k+j] += f * gs[b*k+j]
			}
		}
		o.SetFloats(acc)
		return o, nil
	})
	def("_embedding_bag_per_sample_weights_backward", func(c *Call) (Value, error) {
		g, w, ix, pad := c.T(0), c.T(1), c.T(2), c.I(6)
		o := c.NewC(g.DType, ix.Numel())
		if !c.real {
			return o, nil
		}
		is, os, gs, ws := ix.Ints(), c.T(3).Ints(), c.floats(g), c.floats(w)
		k := g.Shape[1]
		out := make([]float64, len(is))
		for b := range os {
			end := int64(len(is))
			if b+1 < len(os) {
				end = os[b+1]
			}
			for i := os[b]; i < end; i++ {
				if is[i] == pad {
					continue
				}
				for j := int64(0); j < k; j++ {
					out[i] += gs[int64(b)*k+j] * ws[is[i]*k+j]
				}
			}
		}
		o.SetFloats(out)
		return o, nil
	})
	bag := func(c *Call, pad Value) (Value, error) {
		p := pad
		if p == nil {
			p = int64(-1)
		} else if n := toInt(p); n < 0 {
			p = n + c.T(0).Shape[0]
		}
		return c.via("_embedding_bag", c.Args[0], c.Args[1], c.Args[2], c.Args[3], c.Args[4], c.Args[5], c.Args[6], c.Args[7], p)
	}
	comp("embedding_bag", func(c *Call) (Value, error) { return bag(c, nil) })
	comp("embedding_bag.padding_idx", func(c *Call) (Value, error) { return bag(c, c.Args[8]) })
}

// embeddingSums adds to each row of acc, of k sums, the rows of g that is names for it, divided by their count where scale says so, in the order of the
// indices and in the precision of the elements, as PyTorch does.
func embeddingSums[T float32 | float64](acc, g []T, is []int64, count []float64, k, pad int64, scale bool) {
	parallel.For(int(k), int(grain/(int64(len(is))+1)+1), func(lo, hi int) {
		for i, v := range is {
			if v == pad {
				continue
			}
			to, from := acc[v*k+int64(lo):v*k+int64(hi)], g[int64(i)*k+int64(lo):int64(i)*k+int64(hi)]
			to = to[:len(from)]
			if scale && count[v] != 1 {
				f := T(1 / count[v])
				for j, x := range from {
					to[j] += f * x
				}
				continue
			}
			plusRow(to, from)
		}
	})
}

// embeddingWindows is embeddingSums without a scale: each row of sums by itself.
func embeddingWindows(acc, g []float32, is []int64, count []float64, k, pad int64) {
	n := len(count)
	w := native.Windows{At: make([]int64, len(is)), Ends: make([]int64, n+1)}
	sizes, next := make([]float32, n), make([]int64, n)
	for v, c := range count {
		if int64(v) == pad {
			c = 0
		}
		next[v], w.Ends[v+1], sizes[v] = w.Ends[v], w.Ends[v]+int64(c), 1
	}
	for i, v := range is {
		if v != pad {
			w.At[next[v]] = int64(i)
			next[v]++
		}
	}
	parallel.For(n, int(grain/(k*int64(len(is))/int64(n)+1)+1), func(lo, hi int) {
		native.MeanWindows32(acc[int64(lo)*k:], g, native.Windows{At: w.At, Ends: w.Ends[lo : hi+1]}, sizes[lo:hi], int(k))
	})
}

// plusRow adds the elements of x to those of y, one by one.
func plusRow[T float32 | float64](y, x []T) {
	switch y := any(y).(type) {
	case []float32:
		native.Binary32(native.Add, y, y, any(x).([]float32))
	case []float64:
		native.Binary64(native.Add, y, y, any(x).([]float64))
	}
}
