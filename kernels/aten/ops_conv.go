package aten

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Convolutions, by unfolding: the elements under each place of the kernel become a column (im2col), and the convolution is a product of
// matrices. Columns are made where the product packs its operands, or in blocks that stay in the cache. A transposed convolution is the gradient of a plain one by its input, and is
// computed as that; the gradient by the weight is a product of the same matrices. Sums have the order of the products.

// A convSpec is a convolution's geometry. Spatial lists have one entry per spatial dimension.
type convSpec struct {
	stride, pad, dil, outPad []int64
	transposed               bool
	groups                   int64
}

func fill(l []int64, n int, def int64) []int64 {
	if len(l) > 1 && len(l) != n {
		return slices.Clone(l) // the caller compares lengths
	}
	out := make([]int64, n)
	for i := range out {
		switch {
		case len(l) == 0:
			out[i] = def
		case len(l) == 1:
			out[i] = l[0]
		default:
			out[i] = l[i]
		}
	}
	return out
}

func (c *Call) convSpec(at, nd int) convSpec {
	b, _ := c.Args[at+3].(bool)
	return convSpec{fill(c.Ints(at), nd, 1), fill(c.Ints(at+1), nd, 0), fill(c.Ints(at+2), nd, 1), fill(c.Ints(at+4), nd, 0), b, c.I(at + 5)}
}

// mixed is the error of an input and a weight of different dtypes, as the kernel words it that PyTorch would choose for that input.
func (s convSpec) mixed(x, w *tensor.Tensor) error {
	n := len(w.Shape)
	small := x.Shape[0] == 1 && s.groups == 1 && !(w.Shape[n-1] > 3 && w.Shape[n-2] > 3) && x.Numel() <= 20480
	if x.DType != tensor.Float32 || s.transposed || small {
		return errf("expected scalar type %s but found %s", cName(x.DType), cName(w.DType))
	}
	class := "torch." + cName(w.DType) + "Tensor"
	if w.DType == tensor.BFloat16 || w.DType.Kind() == tensor.KindComplex {
		class = "CPU" + cName(w.DType) + "Type"
	}
	return errf("Input type (torch.FloatTensor) and weight type (%s) should be the same or input should be a MKLDNN tensor and weight is a dense tensor", class)
}

func (s convSpec) outShape(x, w *tensor.Tensor) ([]int64, error) {
	nd := x.Dim() - 2
	if w.Dim() != x.Dim() {
		return nil, errf("Expected %dD (unbatched) or %dD (batched) input to conv%dd, but got input of size: %s", w.Dim()-1, w.Dim(), w.Dim()-2, tensor.ShapeText(x.Shape))
	}
	if s.groups <= 0 {
		return nil, errf("non-positive groups is not supported")
	}
	for i, l := range [][]int64{s.stride, s.pad, s.dil, s.outPad} {
		if what := []string{"stride", "padding", "dilation", "output_padding"}[i]; len(l) != nd {
			return nil, errf("expected %s to be a single integer value or a list of %d values to match the convolution dimensions, but got %s=%s", what, nd, what, tensor.ShapeText(l))
		}
	}
	for i := range s.stride {
		if s.stride[i] <= 0 {
			return nil, errf("non-positive stride is not supported")
		}
		if s.pad[i] < 0 {
			return nil, errf("negative padding is not supported")
		}
		if s.dil[i] <= 0 {
			return nil, errf("dilation should be greater than zero")
		}
		if s.outPad[i] < 0 {
			return nil, errf("negative output_padding is not supported")
		}
	}
	ws := strings.ReplaceAll(strings.Trim(tensor.ShapeText(w.Shape), "[]"), ",", ",")
	if !s.transposed {
		if w.Shape[0] < s.groups {
			return nil, errf("Given groups=%d, expected weight to be at least %d at dimension 0, but got weight of size [%s] instead", s.groups, s.groups, ws)
		}
		if w.Shape[0]%s.groups != 0 {
			return nil, errf("Given groups=%d, expected weight to be divisible by %d at dimension 0, but got weight of size [[%s]] instead", s.groups, s.groups, ws)
		}
		if x.Shape[1] != w.Shape[1]*s.groups {
			return nil, errf("Given groups=%d, weight of size [%s], expected input%s to have %d channels, but got %d channels instead", s.groups, ws, tensor.ShapeText(x.Shape), w.Shape[1]*s.groups, x.Shape[1])
		}
	} else if x.Shape[1] != w.Shape[0] {
		return nil, errf("Given transposed=1, weight of size [%s], expected input%s to have %d channels, but got %d channels instead", ws, tensor.ShapeText(x.Shape), w.Shape[0], x.Shape[1])
	}
	if x.DType != w.DType {
		return nil, s.mixed(x, w)
	}
	out := []int64{x.Shape[0], w.Shape[0]}
	if s.transposed {
		out[1] = w.Shape[1] * s.groups
	}
	var in, ker []string
	bad := false
	for i := 0; i < nd; i++ {
		k := s.dil[i]*(w.Shape[i+2]-1) + 1
		if s.transposed {
			out = append(out, (x.Shape[i+2]-1)*s.stride[i]-2*s.pad[i]+k+s.outPad[i])
			continue
		}
		p := x.Shape[i+2] + 2*s.pad[i]
		in, ker = append(in, fmt.Sprint(p)), append(ker, fmt.Sprint(k))
		bad = bad || k > p
		out = append(out, (p-k)/s.stride[i]+1)
	}
	if bad {
		return nil, errf("Calculated padded input size per channel: (%s). Kernel size: (%s). Kernel size can't be greater than actual input size", strings.Join(in, " x "), strings.Join(ker, " x "))
	}
	for i, v := range out[2:] {
		if s.transposed && v < 1 && x.Numel() > 0 {
			return nil, errf("Given input size per channel: (%s). Calculated output size per channel: (%s). Output size is too small", times(x.Shape[2:]), times(out[2:]))
		}
		out[i+2] = max(v, 0)
	}
	return out, nil
}

// times writes sizes as PyTorch does in messages: "3 x 4".
func times(sizes []int64) string {
	p := make([]string, len(sizes))
	for i, v := range sizes {
		p[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(p, " x ")
}

// convFormat is the layout of a convolution's results: channels last if an operand is.
func convFormat(x, w *tensor.Tensor) tensor.MemoryFormat {
	f := x.SuggestMemoryFormat()
	if f == tensor.ContiguousFormat {
		f = w.SuggestMemoryFormat()
	}
	return f
}

type realNumber interface{ float32 | float64 }

// columns unfolds channels [c0, c0+nc) of image n of x (contiguous) into a (nc*K) x L matrix.
// fold does the opposite, adding the matrix into x: in at most two dimensions.
func columns[T realNumber](col, x []T, xs []int64, n, c0, nc int64, ks, outs []int64, s convSpec, fold bool) {
	nd := len(ks)
	in := xs[2:]
	inN, l, k := tensor.Numel(in), tensor.Numel(outs), tensor.Numel(ks)
	if nd <= 2 {
		img := x[(n*xs[1]+c0)*inN:]
		if p := s.plane(nc, in, ks, outs); fold {
			native.Fold(p, img, col)
		} else {
			native.Unfold(p, col, img, 0, p.OH)
		}
		return
	}
	// Per kernel position, the input offset of each output position, -1 outside.
	idx := make([]int64, l)
	kp, op := make([]int64, nd), make([]int64, nd)
	for q := int64(0); q < k; q++ {
		r := q
		for d := nd - 1; d >= 0; d-- {
			kp[d] = r % ks[d]
			r /= ks[d]
		}
		clear(op)
		for p := int64(0); p < l; p++ {
			o := int64(0)
			for d := 0; d < nd; d++ {
				y := op[d]*s.stride[d] - s.pad[d] + kp[d]*s.dil[d]
				if y < 0 || y >= in[d] {
					o = -1
					break
				}
				o = o*in[d] + y
			}
			idx[p] = o
			for d := nd - 1; d >= 0; d-- {
				if op[d]++; op[d] < outs[d] {
					break
				}
				op[d] = 0
			}
		}
		for ch := int64(0); ch < nc; ch++ {
			row := col[(ch*k+q)*l : (ch*k+q+1)*l]
			img := x[(n*xs[1]+c0+ch)*inN : (n*xs[1]+c0+ch+1)*inN]
			for p, o := range idx {
				if row[p] = 0; o >= 0 {
					row[p] = img[o]
				}
			}
		}
	}
}

// plane is the geometry over nc channels of one or two dimensions.
func (s convSpec) plane(nc int64, in, ks, outs []int64) *native.Plane {
	d := len(ks) - 1
	p := &native.Plane{C: int(nc), H: 1, W: int(in[d]), KH: 1, KW: int(ks[d]), SH: 1, SW: int(s.stride[d]), PW: int(s.pad[d]), DH: 1, DW: int(s.dil[d]), OH: 1, OW: int(outs[d])}
	if d > 0 {
		p.H, p.KH, p.SH, p.PH, p.DH, p.OH = int(in[0]), int(ks[0]), int(s.stride[0]), int(s.pad[0]), int(s.dil[0]), int(outs[0])
	}
	return p
}

func gemmT[T realNumber](m, n, k int64, a, b native.Matrix[T], beta T, c native.Matrix[T]) {
	switch a := any(a).(type) {
	case native.Matrix[float32]:
		native.Gemm32(int(m), int(n), int(k), 1, a, any(b).(native.Matrix[float32]), float32(beta), any(c).(native.Matrix[float32]))
	case native.Matrix[float64]:
		native.Gemm64(int(m), int(n), int(k), 1, a, any(b).(native.Matrix[float64]), float64(beta), any(c).(native.Matrix[float64]))
	}
}

// gemmAlone is gemmT on one thread.
func gemmAlone[T realNumber](m, n, k int64, a, b native.Matrix[T], beta T, c native.Matrix[T]) {
	switch a := any(a).(type) {
	case native.Matrix[float32]:
		native.GemmAlone32(int(m), int(n), int(k), 1, a, any(b).(native.Matrix[float32]), float32(beta), any(c).(native.Matrix[float32]))
	case native.Matrix[float64]:
		native.GemmAlone64(int(m), int(n), int(k), 1, a, any(b).(native.Matrix[float64]), float64(beta), any(c).(native.Matrix[float64]))
	}
}

// convBlock is how many elements of a matrix of columns are made at a time: few enough to stay in the cache.
const convBlock = 1 << 17

func allEqual[T comparable](xs []T, x T) bool {
	return !slices.ContainsFunc(xs, func(e T) bool { return e != x })
}

func mx[T realNumber](d []T, rs, cs int64) native.Matrix[T] {
	return native.Matrix[T]{Data: d, RS: int(rs), CS: int(cs)}
}

// few is up to how many channels of the one side a group with one channel on the other is convolved directly: a product would have so few rows.
const few = 4

// packWork is how many weights are packed at least where threads share that out.
const packWork = 1 << 14

// lowRows is up to how many channels of a group are the product of a matrix of columns: its sums are cut otherwise than those of more.
const lowRows = 3

// smallProduct is up to how many multiplications a product is summed in double.
const smallProduct = 512

// asItIs says that an image is its own matrix of columns.
func (s convSpec) asItIs(k int64) bool { return k == 1 && allEqual(s.stride, 1) && allEqual(s.pad, 0) }

// convForward computes y (contiguous) = conv(x, w).
func convForward[T realNumber](y, x, w []T, ys, xs, ws []int64, s convSpec) {
	// The outputs of one group of one image are the product of the weights and the columns, of which a block at a time is made.
	g, ks := s.groups, ws[2:]
	k, l, ci, co := tensor.Numel(ks), tensor.Numel(ys[2:]), xs[1]/g, ys[1]/g
	inN, flat := tensor.Numel(xs[2:]), len(ks) <= 2
	if flat && ci == 1 && co <= few {
		p := s.plane(1, xs[2:], ks, ys[2:])
		parallel.For(int(xs[0]*ys[1]), 1, func(from, to int) {
			for q := int64(from); q < int64(to); q++ {
				n, o := q/ys[1], q%ys[1]
				native.Depthwise(native.Forward, p, y[q*l:][:l], x[(n*g+o/co)*inN:], w[o*k:][:k])
			}
		})
		return
	}
	if len(ks) == 3 && ci == 1 && co <= few {
		convDeep(y, x, w, ys, xs, ws, s)
		return
	}
	if flat && !s.asItIs(k) && co > lowRows && co*l*ci*k > smallProduct {
		packed, done := tensor.Room[T](int64(len(w)))
		defer done()
		cuts := parallel.Threads()
		parallel.For(int(g)*cuts, max(1, packWork*cuts/int(ci*co*k)), func(lo, hi int) {
			for q := lo; q < hi; q++ {
				at := int64(q/cuts) * co * ci * k
				native.PackWeights(int(co), int(ci*k), packed[at:], w[at:], q%cuts, cuts)
			}
		})
		// Rows of outputs are cut where threads want it: of few images and groups, each has several parts.
		row := ys[len(ys)-1]
		parts := (int64(parallel.Threads()) + xs[0]*g - 1) / (xs[0] * g)
		part := (l/row + parts - 1) / parts * row
		per := (l + part - 1) / part
		p := s.plane(ci, xs[2:], ks, ys[2:])
		parallel.For(int(xs[0]*g*per), 1, func(first, last int) {
			for q := int64(first); q < int64(last); q++ {
				n, j, from := q/per/g, q/per%g, q%per*part
				y := y[(n*ys[1]+j*co)*l+from:]
				native.Convolve(p, int(co), packed[j*co*ci*k:][:co*ci*k], x[(n*xs[1]+j*ci)*inN:], int(from), int(min(from+part, l)), y, int(l))
			}
		})
		return
	}
	block := l
	switch {
	case s.asItIs(k):
		block = min(l, max(64, convBlock/max(1, ci)))
	case flat:
		row := ys[len(ys)-1]
		block = row * min(l/row, max(1, convBlock/max(1, ci*k*row)))
	}
	per := (l + block - 1) / block
	gemm := gemmT[T]
	if xs[0]*g*per > 1 {
		gemm = gemmAlone[T]
	}
	parallel.For(int(xs[0]*g*per), 1, func(first, last int) {
		var col []T
		if !s.asItIs(k) {
			var done func()
			col, done = tensor.Room[T](ci * k * block)
			defer done()
		}
		for q := int64(first); q < int64(last); q++ {
			n, j, from := q/per/g, q/per%g, q%per*block
			to := min(from+block, l)
			b := mx(col, to-from, 1)
			switch {
			case s.asItIs(k):
				b = mx(x[(n*xs[1]+j*ci)*l+from:], l, 1)
			case flat:
				p := s.plane(ci, xs[2:], ks, ys[2:])
				native.Unfold(p, col, x[(n*xs[1]+j*ci)*inN:], int(from)/p.OW, int(to)/p.OW)
			default:
				columns(col, x, xs, n, j*ci, ci, ks, ys[2:], s, false)
			}
			gemm(co, to-from, ci*k, mx(w[j*co*ci*k:], ci*k, 1), b, 0, mx(y[(n*ys[1]+j*co)*l+from:], l, 1))
		}
	})
}

// convRun is the one or the other.
func convRun[T realNumber](y, x, w []T, ys, xs, ws []int64, s convSpec) {
	if s.transposed {
		convTransposed(y, x, w, ys, xs, ws, s)
	} else {
		convForward(y, x, w, ys, xs, ws, s)
	}
}

// convDeep is convForward in three dimensions with one channel of input a group: each plane of the result is the sum of those of two dimensions.
func convDeep[T realNumber](y, x, w []T, ys, xs, ws []int64, s convSpec) {
	area, inArea, size := ys[3]*ys[4], xs[3]*xs[4], ws[3]*ws[4]
	flat := s
	flat.stride, flat.pad, flat.dil = s.stride[1:], s.pad[1:], s.dil[1:]
	p := flat.plane(1, xs[3:], ws[3:], ys[3:])
	co := ys[1] / s.groups
	parallel.For(int(xs[0]*ys[1]*ys[2]), 1, func(from, to int) {
		var more []T
		for q := int64(from); q < int64(to); q++ {
			n, o, z := q/ys[2]/ys[1], q/ys[2]%ys[1], q%ys[2]
			plane, first := y[q*area:][:area], true
			for d := range ws[2] {
				at := z*s.stride[0] - s.pad[0] + d*s.dil[0]
				if at < 0 || at >= xs[2] {
					continue
				}
				img, kernel := x[((n*s.groups+o/co)*xs[2]+at)*inArea:][:inArea], w[(o*ws[2]+d)*size:][:size]
				if first {
					native.Depthwise(native.Forward, p, plane, img, kernel)
					first = false
					continue
				}
				more = room(more, int(area))
				native.Depthwise(native.Forward, p, more, img, kernel)
				for i, e := range more {
					plane[i] += e
				}
			}
			if first {
				clear(plane)
			}
		}
	})
}

// convTransposed computes y (zeroed, contiguous), of which x is a convolution's output: its gradient by the input. The columns are a product, and are
// added up where they came from, a block of channels at a time.
func convTransposed[T realNumber](y, x, w []T, ys, xs, ws []int64, s convSpec) {
	g, ks := s.groups, ws[2:]
	k, l, ci, co := tensor.Numel(ks), tensor.Numel(xs[2:]), xs[1]/g, ys[1]/g
	inN := tensor.Numel(ys[2:])
	if len(ks) <= 2 && co == 1 && ci <= few {
		p := s.plane(1, ys[2:], ks, xs[2:])
		parallel.For(int(xs[0]*g), 1, func(from, to int) {
			for q := int64(from); q < int64(to); q++ {
				for o := q * ci; o < (q+1)*ci; o++ {
					native.Depthwise(native.Input, p, x[o*l:][:l], y[q*inN:][:inN], w[o%xs[1]*k:][:k])
				}
			}
		})
		return
	}
	if len(ks) == 3 && !s.asItIs(k) {
		convTransposedDeep(y, x, w, ys, xs, ws, s)
		return
	}
	block := max(1, min(co, convBlock/max(1, k*l)))
	per := (co + block - 1) / block
	gemm := gemmT[T]
	if xs[0]*g*per > 1 {
		gemm = gemmAlone[T]
	}
	parallel.For(int(xs[0]*g*per), 1, func(first, last int) {
		col, done := tensor.Room[T](block * k * l)
		defer done()
		for q := int64(first); q < int64(last); q++ {
			n, j, from := q/per/g, q/per%g, q%per*block
			nc, c0 := min(block, co-from), j*co+from
			to := mx(col, l, 1)
			if s.asItIs(k) {
				to = mx(y[(n*ys[1]+c0)*l:], l, 1)
			}
			gemm(nc*k, l, ci, mx(w[(j*ci*co+from)*k:], 1, co*k), mx(x[(n*xs[1]+j*ci)*l:], l, 1), 0, to)
			if !s.asItIs(k) {
				columns(col, y, ys, n, c0, nc, ks, xs[2:], s, true)
			}
		}
	})
}

// convTransposedDeep is convTransposed in three dimensions: the columns of one plane of x, for one plane of the kernel, are added to one plane of y.
func convTransposedDeep[T realNumber](y, x, w []T, ys, xs, ws []int64, s convSpec) {
	area, inArea, size, g := ys[3]*ys[4], xs[3]*xs[4], ws[3]*ws[4], s.groups
	ci, co, l := xs[1]/g, ys[1]/g, xs[2]*inArea
	flat := s
	flat.stride, flat.pad, flat.dil = s.stride[1:], s.pad[1:], s.dil[1:]
	p := flat.plane(1, ys[3:], ws[3:], xs[3:])
	gemm := gemmT[T]
	if xs[0]*ys[1] > 1 {
		gemm = gemmAlone[T]
	}
	parallel.For(int(xs[0]*ys[1]), 1, func(from, to int) {
		col, done := tensor.Room[T](size * inArea)
		defer done()
		for q := int64(from); q < int64(to); q++ {
			j, o := q%ys[1]/co, q%co
			for d := range ws[2] {
				kernel := mx(w[((j*ci*co+o)*ws[2]+d)*size:], 1, co*ws[2]*size)
				for z := range xs[2] {
					at := z*s.stride[0] - s.pad[0] + d*s.dil[0]
					if at < 0 || at >= ys[2] {
						continue
					}
					gemm(size, inArea, ci, kernel, mx(x[(q/ys[1]*xs[1]+j*ci)*l+z*inArea:], l, 1), 0, mx(col, inArea, 1))
					native.Fold(p, y[(q*ys[2]+at)*area:][:area], col)
				}
			}
		}
	})
}

// convGradWeight adds the gradient of w; dy and x are contiguous. Each thread has channels of its own, so that the sums do not depend on their number.
func convGradWeight[T realNumber](dw, dy, x []T, ys, xs, ws []int64, s convSpec) {
	if s.transposed {
		dy, x, ys, xs = x, dy, xs, ys
	}
	g, ks := s.groups, ws[2:]
	k, l, ci, co := tensor.Numel(ks), tensor.Numel(ys[2:]), xs[1]/g, ys[1]/g
	inN := tensor.Numel(xs[2:])
	if len(ks) <= 2 && ci == 1 && co <= few {
		p := s.plane(1, xs[2:], ks, ys[2:])
		parallel.For(int(ys[1]), 1, func(from, to int) {
			for o := int64(from); o < int64(to); o++ {
				for n := int64(0); n < xs[0]; n++ {
					native.Depthwise(native.Kernel, p, dy[(n*ys[1]+o)*l:][:l], x[(n*g+o/co)*inN:], dw[o*k:][:k])
				}
			}
		})
		return
	}
	threads := int64(parallel.Threads())
	block := max(1, min((ci+threads-1)/threads, 4*convBlock/max(1, k*l)))
	per := (ci + block - 1) / block
	gemm := gemmT[T]
	if g*per > 1 {
		gemm = gemmAlone[T]
	}
	parallel.For(int(g*per), 1, func(first, last int) {
		col, done := tensor.Room[T](block * k * l)
		defer done()
		for q := int64(first); q < int64(last); q++ {
			j, from := q/per, q%per*block
			nc := min(block, ci-from)
			for n := int64(0); n < xs[0]; n++ {
				b := mx(col, 1, l)
				if s.asItIs(k) {
					b = mx(x[(n*xs[1]+j*ci+from)*l:], 1, l)
				} else {
					columns(col, x, xs, n, j*ci+from, nc, ks, ys[2:], s, false)
				}
				gemm(co, nc*k, l, mx(dy[(n*ys[1]+j*co)*l:], l, 1), b, 1, mx(dw[(j*co*ci+from)*k:], ci*k, 1))
			}
		}
	})
}

func wide(t *tensor.Tensor) tensor.DType {
	switch {
	case t.DType == tensor.Float32 || t.DType == tensor.BFloat16 || t.DType == tensor.Float16:
		return tensor.Float32
	}
	return tensor.Float64
}

// dense is t as a contiguous tensor of dtype d, for reading: t itself where it is one.
func dense(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if t.DType == d && t.IsContiguous(tensor.ContiguousFormat) {
		return t
	}
	c := tensor.EmptyUnset(d, t.Shape, tensor.ContiguousStrides(t.Shape))
	tensor.Copy(c, t)
	return c
}

// dense is dense whose copy is given back when the call ends, unless the result has it.
func (c *Call) dense(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	x := dense(t, d)
	if x != t {
		_, _ = c.part(x, nil)
	}
	return x
}

// lent is t, or of what is not contiguous a copy that is, which done gives back: nobody may have it then.
func lent(t *tensor.Tensor) (x *tensor.Tensor, done func()) {
	if x = dense(t, t.DType); x == t {
		return x, func() {}
	}
	return x, func() { x.Storage.Recycle() }
}

func runConv(y, x, w *tensor.Tensor, s convSpec) {
	d := wide(x)
	xc, wc, yc := dense(x, d), dense(w, d), y
	if y.DType != d || !y.IsContiguous(tensor.ContiguousFormat) {
		yc = tensor.Empty(d, y.Shape...)
	}
	if d == tensor.Float32 {
		convRun(yc.Float32s(), xc.Float32s(), wc.Float32s(), y.Shape, x.Shape, w.Shape, s)
	} else {
		convRun(yc.Float64s(), xc.Float64s(), wc.Float64s(), y.Shape, x.Shape, w.Shape, s)
	}
	if yc != y {
		tensor.Copy(y, yc)
	}
}

func convolution(c *Call) (Value, error) {
	x, w, b := c.T(0), c.T(1), c.T(2)
	if x.Dim() < 3 {
		return nil, errf("Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: %s", tensor.ShapeText(x.Shape))
	}
	s := c.convSpec(3, x.Dim()-2)
	if b != nil && !s.transposed && b.DType != x.DType {
		return nil, errf("Input type (%s) and bias type (%s) should be the same", lName(x.DType), lName(b.DType))
	}
	shape, err := s.outShape(x, w)
	if err != nil {
		return nil, err
	}
	if b != nil && (b.Dim() != 1 || b.Shape[0] != shape[1]) {
		return nil, errf("Given weight of size %s, expected bias to be 1-dimensional with %d elements, but got bias of size %s instead", tensor.ShapeText(w.Shape), shape[1], tensor.ShapeText(b.Shape))
	}
	y := c.NewUnset(x.DType, shape, tensor.FormatStrides(shape, convFormat(x, w)))
	if c.real && (s.transposed || x.Numel() == 0) { // these add, or leave it
		y.Fill(0)
	}
	if !c.real || y.Numel() == 0 {
		return y, nil
	}
	if x.Numel() > 0 {
		runConv(y, x, w, s)
	}
	if b != nil {
		bs := make([]int64, len(shape))
		bs[1] = b.Stride[0]
		k := f2(func(a, b float64) float64 { return a + b }).i2(func(a, b int64) int64 { return a + b }).simd(native.Add)
		run([]*tensor.Tensor{y, y, tensor.NewView(b, shape, bs, b.Offset)}, y.DType, k)
	}
	return y, nil
}

func init() {
	def("convolution convolution_overrideable", convolution)
	comp("_convolution", func(c *Call) (Value, error) { return c.via("convolution", c.Args[:9]...) })
	comp("_convolution.deprecated", func(c *Call) (Value, error) { return c.via("convolution", c.Args[:9]...) })
	def("convolution_backward", func(c *Call) (Value, error) {
		gy, x, w := c.T(0), c.T(1), c.T(2)
		s := c.convSpec(4, x.Dim()-2)
		mask := boolMask(c.Args[10])
		var gx, gw, gb *tensor.Tensor
		f := convFormat(x, w)
		if mask[0] {
			gx = c.New(x.DType, x.Shape, tensor.FormatStrides(x.Shape, f))
		}
		if mask[1] {
			gw = c.New(w.DType, w.Shape, tensor.FormatStrides(w.Shape, f))
		}
		if mask[2] {
			n := gy.Shape[1]
			gb = c.NewC(gy.DType, n)
		}
		if !c.real || gy.Numel() == 0 {
			return list(gx, gw, gb), nil
		}
		if gx != nil && gx.Numel() > 0 {
			t := s
			t.transposed = !s.transposed
			// The geometry of the opposite direction is the same; only the roles of input and output swap.
			runConv(gx, gy, w, t)
		}
		if gw != nil && gw.Numel() > 0 {
			d := wide(x)
			xc, yc, wc := dense(x, d), dense(gy, d), tensor.Empty(d, w.Shape...)
			if d == tensor.Float32 {
				convGradWeight(wc.Float32s(), yc.Float32s(), xc.Float32s(), gy.Shape, x.Shape, w.Shape, s)
			} else {
				convGradWeight(wc.Float64s(), yc.Float64s(), xc.Float64s(), gy.Shape, x.Shape, w.Shape, s)
			}
			tensor.Copy(gw, wc)
		}
		if gb != nil {
			m := make([]bool, gy.Dim())
			for i := range m {
				m[i] = i != 1
			}
			v, err := c.sum(gy, m, false, gy.DType)
			if err != nil {
				return nil, err
			}
			tensor.Copy(gb, v)
		}
		return list(gx, gw, gb), nil
	})
	for nd := 1; nd <= 3; nd++ {
		conv := func(c *Call, pad func(x, w *tensor.Tensor) (Value, Value, error), transposed bool) (Value, error) {
			x, w := c.T(0), c.T(1)
			if x.Dim() != nd+2 && x.Dim() != nd+1 {
				name := "conv"
				if transposed {
					name = "conv_transpose"
				}
				return nil, errf("Expected %dD (unbatched) or %dD (batched) input to %s%dd, but got input of size: %s", nd+1, nd+2, name, nd, tensor.ShapeText(x.Shape))
			}
			single := x.Dim() == nd+1
			in := Value(x)
			if single {
				in = must(c.via("unsqueeze", x, int64(0)))
			}
			px, p, err := pad(x, w)
			if err != nil {
				return nil, err
			}
			if px != nil {
				in = must(c.via("constant_pad_nd", in, px, int64(0)))
			}
			var v Value
			if transposed {
				v, err = c.via("convolution", in, w, c.Args[2], c.Args[3], p, c.Args[7], true, c.Args[5], c.Args[6])
			} else {
				v, err = c.via("convolution", in, w, c.Args[2], c.Args[3], p, c.Args[5], false, ints(make([]int64, nd)), c.Args[6])
			}
			if err == nil && single {
				v, err = c.via("squeeze.dim", v, int64(0))
			}
			return v, err
		}
		name := fmt.Sprintf("conv%dd", nd)
		comp(name, func(c *Call) (Value, error) {
			return conv(c, func(x, w *tensor.Tensor) (Value, Value, error) { return nil, c.Args[4], nil }, false)
		})
		comp(name+".padding", func(c *Call) (Value, error) {
			return conv(c, func(x, w *tensor.Tensor) (Value, Value, error) {
				zero := ints(make([]int64, nd))
				switch c.Str(4) {
				case "valid":
					return nil, zero, nil
				case "same":
				default:
					return nil, nil, errf("Invalid padding string: '%s'", c.Str(4))
				}
				for _, s := range fill(c.Ints(3), nd, 1) {
					if s != 1 {
						return nil, nil, errf("padding='same' is not supported for strided convolutions")
					}
				}
				dil := fill(c.Ints(5), nd, 1)
				p := make([]int64, nd)
				var extra []int64
				uneven := false
				for i := nd - 1; i >= 0; i-- {
					t := dil[i] * (w.Shape[i+2] - 1)
					p[i] = t / 2
					extra = append(extra, 0, t%2)
					uneven = uneven || t%2 != 0
				}
				if uneven {
					return ints(extra), ints(p), nil
				}
				return nil, ints(p), nil
			}, false)
		})
		tn := fmt.Sprintf("conv_transpose%dd.input", nd)
		if nd == 1 {
			tn = "conv_transpose1d"
		}
		comp(tn, func(c *Call) (Value, error) {
			return conv(c, func(x, w *tensor.Tensor) (Value, Value, error) { return nil, c.Args[4], nil }, true)
		})
	}
	// im2col and col2im: (N, C, H, W) <-> (N, C*K, L).
	def("im2col", func(c *Call) (Value, error) {
		t := c.T(0)
		s := convSpec{stride: c.Ints(4), pad: c.Ints(3), dil: c.Ints(2)}
		ks := c.Ints(1)
		single := t.Dim() == 3
		if t.Dim() != 3 && t.Dim() != 4 {
			return nil, errf("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", tensor.ShapeText(t.Shape))
		}
		xs := t.Shape
		if single {
			xs = append([]int64{1}, xs...)
		}
		if tensor.Numel(xs[1:]) == 0 {
			return nil, errf("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", tensor.ShapeText(t.Shape))
		}
		outs := make([]int64, 2)
		for i := range outs {
			if s.pad[i] < 0 {
				return nil, errf("padding should be non-negative, but got padding_height: %d padding_width: %d", s.pad[0], s.pad[1])
			}
			outs[i] = ifloorDiv(xs[i+2]+2*s.pad[i]-s.dil[i]*(ks[i]-1)-1, s.stride[i]) + 1
		}
		if outs[0] < 1 || outs[1] < 1 {
			pair := func(l []int64) string { return fmt.Sprintf("(%d, %d)", l[0], l[1]) }
			return nil, errf("Given input with spatial size %s, kernel_size=%s, dilation=%s, padding=%s, calculated shape of the array of sliding blocks as %s, but its components must be at least one.",
				pair(xs[2:]), pair(ks), pair(s.dil), pair(s.pad), pair(outs))
		}
		shape := []int64{xs[0], xs[1] * tensor.Numel(ks), tensor.Numel(outs)}
		if single {
			shape = shape[1:]
		}
		o := c.NewC(t.DType, shape...)
		if c.real && o.Numel() > 0 {
			x := c.floats(t)
			col := c.zeros(o.Numel())
			per := int64(len(col)) / xs[0]
			for n := int64(0); n < xs[0]; n++ {
				columns(col[n*per:], x, xs, n, 0, xs[1], ks, outs, s, false)
			}
			o.SetFloats(col)
		}
		return o, nil
	})
	def("col2im", func(c *Call) (Value, error) {
		t := c.T(0)
		size, ks := c.Ints(1), c.Ints(2)
		s := convSpec{stride: c.Ints(5), pad: c.Ints(4), dil: c.Ints(3)}
		single := t.Dim() == 2
		n, ck := int64(1), t.Shape[t.Dim()-2]
		if !single {
			n = t.Shape[0]
		}
		ch := ck / tensor.Numel(ks)
		xs := []int64{n, ch, size[0], size[1]}
		outs := make([]int64, 2)
		for i := range outs {
			outs[i] = (size[i]+2*s.pad[i]-s.dil[i]*(ks[i]-1)-1)/s.stride[i] + 1
		}
		if tensor.Numel(outs) != t.Shape[t.Dim()-1] {
			return nil, errf("Given output_size=(%d, %d), kernel_size=(%d, %d), dilation=(%d, %d), padding=(%d, %d), stride=(%d, %d), expected size of input's dimension 2 to match the calculated number of sliding blocks %d * %d = %d, but got input.size(2)=%d.",
				size[0], size[1], ks[0], ks[1], s.dil[0], s.dil[1], s.pad[0], s.pad[1], s.stride[0], s.stride[1], outs[0], outs[1], tensor.Numel(outs), t.Shape[t.Dim()-1])
		}
		shape := slices.Clone(xs)
		if single {
			shape = shape[1:]
		}
		o := c.NewC(t.DType, shape...)
		if c.real && o.Numel() > 0 {
			col, x := c.floats(t), c.zeros(o.Numel())
			per := int64(len(col)) / n
			for i := int64(0); i < n; i++ {
				columns(col[i*per:], x, xs, i, 0, ch, ks, outs, s, true)
			}
			o.SetFloats(x)
		}
		return o, nil
	})
}
