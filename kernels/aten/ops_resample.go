package aten

import (
	"fmt"
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Resizing images, and padding. Per dimension a table says which input positions an output position reads, and with which weights (taps);
// resample applies the tables one dimension after another, and their transpose for gradients. Coordinates are computed in the dtype that
// PyTorch uses, as an index may depend on the last bit.

// A tap is one input position that an output position reads, with its weight.
type tap struct {
	i int64
	w float64
}

// taps builds the table of one dimension for a resampling mode.
func taps(mode string, in, out int64, align bool, scale Value, d tensor.DType) [][]tap {
	t := make([][]tap, out)
	r := func(x float64) float64 {
		if d == tensor.Float64 {
			return x
		}
		return float64(float32(x))
	}
	ratio := r(float64(in) / float64(out))
	if s := toFloat(scale); scale != nil && s > 0 {
		ratio = r(1 / s)
	}
	src := func(o int64) float64 {
		if align {
			if out == 1 {
				return 0
			}
			return r(r(float64(in-1)/float64(out-1)) * float64(o))
		}
		return r(ratio*(float64(o)+0.5) - 0.5)
	}
	clampI := func(i int64) int64 { return min(max(i, 0), in-1) }
	for o := range t {
		switch mode {
		case "nearest":
			i := int64(math.Floor(r(ratio * float64(o))))
			t[o] = []tap{{min(i, in-1), 1}}
		case "nearest-exact":
			t[o] = []tap{{min(int64(math.Floor(r(ratio*(float64(o)+0.5)))), in-1), 1}}
		case "linear":
			x := src(int64(o))
			if !align {
				x = max(x, 0)
			}
			i := min(int64(x), in-1)
			l := x - float64(i)
			j := i
			if i < in-1 {
				j++
			}
			t[o] = []tap{{i, 1 - l}, {j, l}}
		case "cubic":
			x := src(int64(o))
			f := math.Floor(x)
			u := x - f
			const a = -0.75
			near := func(x float64) float64 { return ((a+2)*x-(a+3))*x*x + 1 }
			far := func(x float64) float64 { return ((a*x-5*a)*x+8*a)*x - 4*a }
			i := int64(f)
			t[o] = []tap{{clampI(i - 1), far(u + 1)}, {clampI(i), near(u)}, {clampI(i + 1), near(1 - u)}, {clampI(i + 2), far(2 - u)}}
		case "linear-aa", "cubic-aa":
			sc := ratio
			if align {
				sc = 0
				if out > 1 {
					sc = float64(in-1) / float64(out-1)
				}
			}
			sup := 1.0
			filter := func(x float64) float64 { return max(0, 1-math.Abs(x)) }
			if mode == "cubic-aa" {
				sup = 2
				filter = func(x float64) float64 {
					const a = -0.5
					x = math.Abs(x)
					if x < 1 {
						return ((a+2)*x-(a+3))*x*x + 1
					}
					if x < 2 {
						return (((x-5)*x+8)*x - 4) * a
					}
					return 0
				}
			}
			support, inv := sup, 1.0
			if sc >= 1 {
				support, inv = sup*sc, 1/sc
			}
			center := sc * (float64(o) + 0.5)
			lo := max(int64(center-support+0.5), 0)
			hi := min(int64(center+support+0.5), in)
			total := 0.0
			for i := lo; i < hi; i++ {
				w := filter((float64(i) - center + 0.5) * inv)
				t[o] = append(t[o], tap{i, w})
				total += w
			}
			for k := range t[o] {
				t[o][k].w /= total
			}
		}
	}
	return t
}

// resample applies a table of taps along the last nd dimensions, or its transpose for gradients: to each of lead planes of x by itself, several at once.
// y are the planes of the result; sums are of float64.
func resample[S, D float32 | float64](y []D, x []S, lead int64, in, out []int64, tables [][][]tap, transpose bool) {
	from, to := in, out
	if transpose {
		from, to = out, in
	}
	size, result := tensor.Numel(from), tensor.Numel(to)
	last := len(tables) - 1
	pairs := pairsOf(tables[last], transpose)
	parallel.For(int(lead), int(grain/(size+result+1)+1), func(lo, hi int) {
		rooms := make([][]float64, len(tables)) // of a plane after each dimension
		for d := range tables {
			if d < last || pairs == nil {
				n := tensor.Numel(to[:d+1]) * tensor.Numel(from[d+1:])
				room, done := tensor.Room[float64](n)
				defer done()
				rooms[d] = room
			}
		}
		for q := int64(lo); q < int64(hi); q++ {
			plane, answer := x[q*size:(q+1)*size], y[q*result:(q+1)*result]
			var cur []float64 // the plane so far; x's before the first dimension
			for d, n := range from {
				inner, outer, next := tensor.Numel(from[d+1:]), tensor.Numel(to[:d]), rooms[d]
				m := to[d]
				if d == last && pairs != nil {
					for o := range outer {
						if d == 0 {
							mix(answer, plane, pairs)
							break
						}
						mix(answer[o*m:(o+1)*m], cur[o*n:(o+1)*n], pairs)
					}
					break
				}
				clear(next)
				for o := range outer {
					if d == 0 {
						resampleBlock(next, plane, tables[d], inner, transpose)
						break
					}
					resampleBlock(next[o*m*inner:(o+1)*m*inner], cur[o*n*inner:(o+1)*n*inner], tables[d], inner, transpose)
				}
				cur = next
			}
			if pairs == nil {
				for i, v := range cur {
					answer[i] = D(v)
				}
			}
		}
	})
}

// A pair is two taps.
type pair struct {
	i, j int
	v, w float64
}

// pairsOf is a table all of whose entries have two taps; nil where another has, or the table is to be transposed.
func pairsOf(table [][]tap, transpose bool) []pair {
	if transpose {
		return nil
	}
	out := make([]pair, len(table))
	for a, ts := range table {
		if len(ts) != 2 {
			return nil
		}
		out[a] = pair{int(ts[0].i), int(ts[1].i), ts[0].w, ts[1].w}
	}
	return out
}

// mix applies a table of pairs to a line.
func mix[S, D float32 | float64](to []D, from []S, pairs []pair) {
	to = to[:len(pairs)]
	for a := range pairs {
		p := &pairs[a]
		to[a] = D(0 + p.v*float64(from[p.i]) + p.w*float64(from[p.j]))
	}
}

// pickedSums is the transpose of tables that pick one element each: each element of x is added to the one of y that it was picked from, one after the other
// and in the precision of the elements, as PyTorch does.
func pickedSums[T float32 | float64](y, x []T, lead int64, in, out []int64, at [][]int64) {
	size, result, last := tensor.Numel(out), tensor.Numel(in), len(at)-1
	starts := []int64{0} // of the lines of a plane of y, for each of x
	for d, is := range at[:last] {
		next := make([]int64, 0, len(starts)*len(is))
		for _, s := range starts {
			for _, i := range is {
				next = append(next, s*in[d]+i)
			}
		}
		starts = next
	}
	eachPlane(lead, size, func(q int64) {
		plane, from := y[q*result:(q+1)*result], x[q*size:(q+1)*size]
		clear(plane)
		for k, s := range starts {
			row := plane[s*in[last] : (s+1)*in[last]]
			line := from[int64(k)*out[last]:][:len(at[last])]
			for j, i := range at[last] {
				row[i] += line[j]
			}
		}
	})
}

// picks are the positions that tables of one tap of weight one each read; nil for others.
func picks(tables [][][]tap) [][]int64 {
	at := make([][]int64, len(tables))
	for d, table := range tables {
		for _, ts := range table {
			if len(ts) != 1 || ts[0].w != 1 {
				return nil
			}
			at[d] = append(at[d], ts[0].i)
		}
	}
	return at
}

// resampled fills o, lead planes of out, from t, lead planes of in: by moving elements as they are where each is one of t's, else by sums.
func resampled(o, t *tensor.Tensor, lead int64, in, out []int64, tables [][][]tap) {
	at := picks(tables)
	if at == nil {
		resampledSums(o, t, lead, in, out, tables, false)
		return
	}
	to := o
	if !o.IsContiguous(tensor.ContiguousFormat) {
		to = tensor.EmptyUnset(o.DType, o.Shape, tensor.ContiguousStrides(o.Shape))
	}
	switch t.DType.Size() {
	case 1:
		pickPlanes[uint8](to, t, at)
	case 2:
		pickPlanes[uint16](to, t, at)
	case 4:
		pickPlanes[uint32](to, t, at)
	case 8:
		pickPlanes[uint64](to, t, at)
	case 16:
		pickPlanes[[2]uint64](to, t, at)
	}
	if to != o {
		tensor.Copy(o, to)
	}
}

// resampledSums fills o by resample of t, from its memory and to its own where it can be.
func resampledSums(o, t *tensor.Tensor, lead int64, in, out []int64, tables [][][]tap, transpose bool) {
	if !transpose {
		t, in, tables = needed(t, in, tables)
	}
	if t.DType != tensor.Float32 || o.DType != tensor.Float32 {
		y := make([]float64, o.Numel())
		resample(y, t.Floats(), lead, in, out, tables, transpose)
		o.SetFloats(y)
		return
	}
	x, done := lent(t)
	defer done()
	inRows(o, func(o *tensor.Tensor) {
		if at := picks(tables); transpose && at != nil {
			pickedSums(o.Float32s(), x.Float32s(), lead, in, out, at)
			return
		}
		resample(o.Float32s(), x.Float32s(), lead, in, out, tables, transpose)
	})
}

// needed is t without the rows and columns that no tap reads, and its tables, where that leaves less.
func needed(t *tensor.Tensor, in []int64, tables [][][]tap) (*tensor.Tensor, []int64, [][][]tap) {
	at, fewer := make([][]int64, len(in)), int64(1)
	for d, table := range tables {
		read := make([]bool, in[d])
		for _, ts := range table {
			for _, x := range ts {
				read[x.i] = true
			}
		}
		for i, r := range read {
			if r {
				at[d] = append(at[d], int64(i))
			}
		}
		fewer *= int64(len(at[d]))
	}
	if size := t.DType.Size(); fewer > tensor.Numel(in)/2 || size != 4 && size != 8 || t.DType.Kind() == tensor.KindComplex {
		return t, in, tables
	}
	lead := t.Dim() - len(in)
	shape, moved := slices.Clone(t.Shape), make([][][]tap, len(tables))
	for d, table := range tables {
		shape[lead+d] = int64(len(at[d]))
		place := make([]int64, in[d])
		for k, i := range at[d] {
			place[i] = int64(k)
		}
		for _, ts := range table {
			ts = slices.Clone(ts)
			for k := range ts {
				ts[k].i = place[ts[k].i]
			}
			moved[d] = append(moved[d], ts)
		}
	}
	o := tensor.EmptyUnset(t.DType, shape, tensor.ContiguousStrides(shape))
	if t.DType.Size() == 4 {
		pickPlanes[uint32](o, t, at)
	} else {
		pickPlanes[uint64](o, t, at)
	}
	return o, shape[lead:], moved
}

// pickPlanes fills o, which is contiguous, with the elements of t that at names along each of its last dimensions.
func pickPlanes[T uint8 | uint16 | uint32 | uint64 | [2]uint64](o, t *tensor.Tensor, at [][]int64) {
	picked := tensor.Numel(t.Shape[:t.Dim()-len(at)])
	for _, is := range at {
		picked *= int64(len(is))
	}
	if t.Stride[t.Dim()-1] != 1 && picked > t.Numel()/4 { // fewer are fetched from where they lie
		x, done := lent(t)
		defer done()
		t = x
	}
	to, from := tensor.Raw[T](o), tensor.Whole[T](t)[t.Offset:]
	nd := t.Dim() - len(at)
	starts := offsets(&tensor.Tensor{Shape: t.Shape[:nd], Stride: t.Stride[:nd]}) // of rows
	for d, is := range at[:len(at)-1] {
		next := make([]int64, 0, len(starts)*len(is))
		for _, s := range starts {
			for _, i := range is {
				next = append(next, s+i*t.Stride[nd+d])
			}
		}
		starts = next
	}
	across := at[len(at)-1]
	width, step := int64(len(across)), t.Stride[t.Dim()-1]
	var runs []native.Run // of neighbours
	for j, i := range across {
		if j == 0 || i != across[j-1]+1 || step != 1 {
			runs = append(runs, native.Run{To: int64(j), From: i * step})
		}
		runs[len(runs)-1].Length++
	}
	parallel.For(len(starts), int(grain/(width+1)+1), func(lo, hi int) {
		native.PickRows(to[int64(lo)*width:], from, starts[lo:hi], runs, int(width))
	})
}

// resampleBlock applies a table to lines of inner elements.
func resampleBlock[S float32 | float64](to []float64, from []S, table [][]tap, inner int64, transpose bool) {
	for a, ts := range table {
		a := int64(a)
		switch {
		case inner == 1 && transpose:
			for _, t := range ts {
				to[t.i] += t.w * float64(from[a])
			}
		case inner == 1 && len(ts) == 2:
			to[a] = 0 + ts[0].w*float64(from[ts[0].i]) + ts[1].w*float64(from[ts[1].i])
		case inner == 1:
			s := 0.0
			for _, t := range ts {
				s += t.w * float64(from[t.i])
			}
			to[a] = s
		default:
			for k, t := range ts {
				src, dst := t.i, a
				if transpose {
					src, dst = dst, src
				}
				s, e := from[src*inner:(src+1)*inner], to[dst*inner:(dst+1)*inner]
				if k == 0 && !transpose && t.w == 1 {
					for k, x := range s {
						e[k] = float64(x)
					}
					continue
				}
				for k, x := range s {
					e[k] += t.w * float64(x)
				}
			}
		}
	}
}

func resamples() {
	type kind struct {
		name, mode string
		nd         int
		align      bool // has align_corners
	}
	for _, k := range []kind{{"upsample_nearest1d", "nearest", 1, false}, {"upsample_nearest2d", "nearest", 2, false}, {"upsample_nearest3d", "nearest", 3, false},
		{"_upsample_nearest_exact1d", "nearest-exact", 1, false}, {"_upsample_nearest_exact2d", "nearest-exact", 2, false}, {"_upsample_nearest_exact3d", "nearest-exact", 3, false},
		{"upsample_linear1d", "linear", 1, true}, {"upsample_bilinear2d", "linear", 2, true}, {"upsample_trilinear3d", "linear", 3, true}, {"upsample_bicubic2d", "cubic", 2, true},
		{"_upsample_bilinear2d_aa", "linear-aa", 2, true}, {"_upsample_bicubic2d_aa", "cubic-aa", 2, true}} {
		tables := func(c *Call, in, out []int64, at int, d tensor.DType) [][][]tap {
			align := false
			if k.align {
				align = c.B(at)
				at++
			}
			var ts [][][]tap
			for i := 0; i < k.nd; i++ {
				ts = append(ts, taps(k.mode, in[i], out[i], align, c.Args[at+i], d))
			}
			return ts
		}
		def(k.name, func(c *Call) (Value, error) {
			t, out := c.T(0), c.Ints(1)
			if t.Dim() != k.nd+2 {
				return nil, errf("It is expected input_size equals to %d, but got size %d", k.nd+2, t.Dim())
			}
			lead, n, in := planes(t, k.nd)
			for i := range out {
				if out[i] <= 0 || in[i] <= 0 {
					return nil, errf("Input and output sizes should be greater than 0, but got input (%s) and output (%s)", tensor.ShapeText(in), tensor.ShapeText(out))
				}
			}
			shape := append(slices.Clone(lead), out...)
			o := c.NewUnset(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
			if c.real {
				resampled(o, t, n, in, out, tables(c, in, out, 2, t.DType))
			}
			return o, nil
		})
		def(k.name+"_backward", func(c *Call) (Value, error) {
			g, out, size := c.T(0), c.Ints(1), c.Ints(2)
			if want := append(slices.Clone(size[:2]), out...); !slices.Equal(g.Shape, want) {
				return nil, errf("Expected grad_output to have the shape of the output %s, but got %s", tensor.ShapeText(want), tensor.ShapeText(g.Shape))
			}
			o := c.NewUnset(g.DType, size, tensor.FormatStrides(size, g.SuggestMemoryFormat()))
			if c.real {
				resampledSums(o, g, tensor.Numel(size[:2]), size[2:], out, tables(c, size[2:], out, 3, g.DType), true)
			}
			return o, nil
		})
		comp(k.name+".vec", func(c *Call) (Value, error) {
			t := c.T(0)
			var out []int64
			scales := make([]Value, k.nd)
			last := len(c.Args) - 1
			if !c.None(1) {
				out = c.Ints(1)
			} else {
				fs := c.Floats(last)
				if len(fs) != k.nd {
					return nil, errf("Must specify exactly one of output_size and scale_factors")
				}
				for i, f := range fs {
					out = append(out, int64(math.Floor(float64(t.Shape[i+2])*f)))
					scales[i] = f
				}
			}
			args := []Value{t, ints(out)}
			if k.align {
				args = append(args, c.Args[2])
			}
			return c.via(k.name, append(args, scales...)...)
		})
	}
}

func padding() {
	def("constant_pad_nd", func(c *Call) (Value, error) {
		t, pad := c.T(0), c.Ints(1)
		if len(pad)%2 != 0 {
			return nil, errf("Length of pad must be even but instead it equals %d", len(pad))
		}
		if len(pad)/2 > t.Dim() {
			return nil, errf("Length of pad should be no more than twice the number of dimensions of the input. Pad length is %d while the input has %d dimensions.", len(pad), t.Dim())
		}
		shape := slices.Clone(t.Shape)
		for i := 0; i < len(pad)/2; i++ {
			d := t.Dim() - 1 - i
			shape[d] += pad[2*i] + pad[2*i+1]
			if shape[d] < 0 {
				return nil, errf("The input size %d, plus negative padding %d and %d, resulted in a negative output size, which is invalid. Check dimension %d of your input.", t.Shape[d], pad[2*i], pad[2*i+1], d)
			}
		}
		o := c.New(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
		if !c.real {
			return o, nil
		}
		fillScalar(o, c.Args[2])
		src, dst := t, tensor.NewView(o, o.Shape, o.Stride, o.Offset)
		for i := 0; i < len(pad)/2; i++ {
			d := t.Dim() - 1 - i
			lo, hi := pad[2*i], pad[2*i+1]
			clip := func(x *tensor.Tensor, a, b int64) *tensor.Tensor {
				sh := slices.Clone(x.Shape)
				sh[d] = max(sh[d]-a-b, 0)
				return tensor.NewView(x, sh, x.Stride, x.Offset+a*x.Stride[d])
			}
			src = clip(src, max(-lo, 0), max(-hi, 0))
			dst = clip(dst, max(lo, 0), max(hi, 0))
		}
		tensor.Copy(dst, src)
		return o, nil
	})
	for nd := 1; nd <= 3; nd++ {
		for _, mode := range []string{"reflection", "replication"} {
			name := fmt.Sprintf("%s_pad%dd", mode, nd)
			table := func(in []int64, pad []int64) ([]int64, [][][]tap, error) {
				out := slices.Clone(in)
				ts := make([][][]tap, nd)
				for i := 0; i < nd; i++ {
					d := nd - 1 - i
					lo, hi := pad[2*i], pad[2*i+1]
					if in[d] < 1 {
						return nil, nil, errf("Expected a tensor with possibly 0 batch size and other non-zero dimensions for input, but got spatial size %s", tensor.ShapeText(in))
					}
					if mode == "reflection" && (lo >= in[d] || hi >= in[d]) {
						return nil, nil, errf("Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (%d, %d) at dimension %d of input %s", lo, hi, d+1, tensor.ShapeText(in))
					}
					out[d] += lo + hi
					if out[d] < 1 {
						return nil, nil, errf("input (%s) is too small. Calculated output %s", tensor.ShapeText(in), tensor.ShapeText(out))
					}
					for o := int64(0); o < out[d]; o++ {
						j := o - lo
						if mode == "reflection" {
							if j < 0 {
								j = -j
							}
							if j >= in[d] {
								j = 2*(in[d]-1) - j
							}
						} else {
							j = min(max(j, 0), in[d]-1)
						}
						ts[d] = append(ts[d], []tap{{j, 1}})
					}
				}
				return out, ts, nil
			}
			def(name, func(c *Call) (Value, error) {
				t := c.T(0)
				if t.Dim() != nd+1 && t.Dim() != nd+2 {
					return nil, errf("Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", nd+1, nd+2, tensor.ShapeText(t.Shape))
				}
				lead, n, in := planes(t, nd)
				out, ts, err := table(in, c.Ints(1))
				if err != nil {
					return nil, err
				}
				shape := append(slices.Clone(lead), out...)
				o := c.NewUnset(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
				if c.real {
					resampled(o, t, n, in, out, ts)
				}
				return o, nil
			})
			def(name+"_backward", func(c *Call) (Value, error) {
				g, t := c.T(0), c.T(1)
				_, n, in := planes(t, nd)
				out, ts, err := table(in, c.Ints(2))
				if err != nil {
					return nil, err
				}
				if want := append(slices.Clone(t.Shape[:t.Dim()-nd]), out...); !slices.Equal(g.Shape, want) {
					return nil, errf("grad_output width unexpected. Expected: %s, Got: %s", tensor.ShapeText(want), tensor.ShapeText(g.Shape))
				}
				o := c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
				if c.real {
					y := make([]float64, o.Numel())
					resample(y, c.floats(g), n, in, out, ts, true)
					o.SetFloats(y)
				}
				return o, nil
			})
		}
	}
	comp("pad", func(c *Call) (Value, error) {
		t, p, mode := c.T(0), c.Ints(1), c.Str(2)
		if mode == "constant" {
			v := c.Args[3]
			if v == nil {
				v = 0.0
			}
			return c.via("constant_pad_nd", t, c.Args[1], v)
		}
		if !c.None(3) && c.F(3) != 0 {
			return nil, errf("Padding mode \"%s\" doesn't take in value argument", mode)
		}
		nd := len(p) / 2
		if len(p)%2 == 0 && nd >= 1 && nd <= 3 && (t.Dim() == nd+1 || t.Dim() == nd+2) {
			switch mode {
			case "reflect":
				return c.via(fmt.Sprintf("reflection_pad%dd", nd), t, c.Args[1])
			case "replicate":
				return c.via(fmt.Sprintf("replication_pad%dd", nd), t, c.Args[1])
			case "circular":
				return c.via("_pad_circular", t, c.Args[1])
			default:
				return nil, kindf(NotImplementedError, "Unrecognised padding mode %s", mode)
			}
		}
		return nil, kindf(NotImplementedError, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
	})
	comp("_pad_circular", func(c *Call) (Value, error) {
		t, p := c.T(0), c.Ints(1)
		shape := slices.Clone(t.Shape)
		for i := range len(p) / 2 {
			d, lo, hi := t.Dim()-1-i, p[2*i], p[2*i+1]
			if n := t.Shape[d]; lo > n || hi > n {
				return nil, errf("Padding value causes wrapping around more than once.")
			}
			if shape[d] += lo + hi; shape[d] < 0 {
				return nil, errf("Negative padding value is resulting in an empty dimension")
			}
		}
		out, err := c.viaT("new_empty", t, ints(shape))
		if err != nil {
			return nil, err
		}
		cut := func(x *tensor.Tensor, d int, from, to int64) *tensor.Tensor {
			if err == nil {
				x, err = c.viaT("slice.Tensor", x, int64(d), from, to, int64(1))
			}
			return x
		}
		write := func(to, from *tensor.Tensor) {
			if err == nil {
				_, err = c.via("copy_", to, from)
			}
		}
		// What the input gives goes to its place; then, one dimension after another, what is padded is taken from the other end of the result.
		middle, from := out, t
		for d := t.Dim() - len(p)/2; d < t.Dim(); d++ {
			lo, hi := p[2*(t.Dim()-1-d)], p[2*(t.Dim()-1-d)+1]
			middle = cut(middle, d, max(lo, 0), shape[d]-max(hi, 0))
			from = cut(from, d, max(-lo, 0), t.Shape[d]-max(-hi, 0))
		}
		write(middle, from)
		for i := range len(p) / 2 {
			d, lo, hi := t.Dim()-1-i, max(p[2*i], 0), max(p[2*i+1], 0)
			if end := shape[d]; lo > 0 {
				write(cut(out, d, 0, lo), cut(out, d, end-lo-hi, end-hi))
			}
			if end := shape[d]; hi > 0 {
				write(cut(out, d, end-hi, end), cut(out, d, lo, lo+hi))
			}
		}
		return out, err
	})
}
