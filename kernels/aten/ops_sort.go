package aten

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Sorting and what is chosen by rank: topk, kthvalue, median, mode, unique, searchsorted. NaN counts as the greatest number. Sort is
// stable, also where PyTorch does not promise it. Long lines are sorted by bytes (radix), short ones by comparing.

func (c *Call) search(seq, v *tensor.Tensor, i32, right bool, sorter *tensor.Tensor) (Value, error) {
	d := tensor.Int64
	if i32 {
		d = tensor.Int32
	}
	if seq.Dim() != 1 && (seq.Dim() != v.Dim() || !slices.Equal(seq.Shape[:seq.Dim()-1], v.Shape[:v.Dim()-1])) {
		return nil, errf("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor %s and input value tensor %s", tensor.ShapeText(seq.Shape), tensor.ShapeText(v.Shape))
	}
	if sorter != nil && !tensor.SameShape(seq, sorter) {
		return nil, errf("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor %s and got sorter tensor %s", tensor.ShapeText(seq.Shape), tensor.ShapeText(sorter.Shape))
	}
	o := c.newCUnset(d, v.Shape...)
	if !c.real || v.Numel() == 0 {
		return o, nil
	}
	s := seq
	if sorter != nil {
		var err error
		if s, err = c.doT("gather", seq, int64(-1), sorter); err != nil {
			return nil, err
		}
	}
	n := seq.Shape[seq.Dim()-1]
	if seq.Dim() == 1 && v.Numel() < n/64 { // few look at few
		var y [1]float64
		o.SetInts(searchFew(v.Floats(), int(n), right, func(k int) float64 {
			tensor.LoadFloat(s, s.Offset+int64(k)*s.Stride[0], 0, y[:])
			return y[0]
		}))
		return o, nil
	}
	ss, vs := c.floats(s), c.floats(v)
	per := int64(len(vs))
	if seq.Dim() > 1 {
		per = v.Shape[v.Dim()-1]
	}
	out := make([]int64, len(vs))
	parallel.For(len(vs), grain/16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := ss
			if seq.Dim() > 1 {
				r := int64(i) / per
				row = ss[r*n : (r+1)*n]
			}
			out[i] = searchRow(vs[i], row, right)
		}
	})
	o.SetInts(out)
	return o, nil
}

// searchRow is searchOne in a row.
func searchRow(x float64, row []float64, right bool) int64 {
	if x != x {
		return searchOne(x, len(row), right, func(k int) float64 { return row[k] })
	}
	lo, n := 0, len(row)
	for n > 0 {
		h := n / 2
		y := row[lo+h]
		if y < x || right && y == x { // all up to here come before
			lo += h + 1
			n -= h + 1
		} else {
			n = h
		}
	}
	return int64(lo)
}

// searchOne is the place of x among n numbers in order, of which at gives one.
func searchOne(x float64, n int, right bool, at func(k int) float64) int64 {
	if x != x {
		return int64(sort.Search(n, func(k int) bool { y := at(k); return !right && y != y }))
	}
	return int64(sort.Search(n, func(k int) bool {
		y := at(k)
		if right {
			return y > x || y != y
		}
		return y >= x || y != y
	}))
}

// searchFew is searchOne for each of xs.
func searchFew(xs []float64, n int, right bool, at func(k int) float64) []int64 {
	out := make([]int64, len(xs))
	for i, x := range xs {
		out[i] = searchOne(x, n, right, at)
	}
	return out
}

// lessNaN orders floats with NaN greatest.
func lessNaN(a, b float64) bool { return a < b || b != b && a == a }

// radixFrom is the length from which sorting by bytes is faster than by comparing.
const radixFrom = 128

// A sorting is a line to be sorted, with room for the work, which is used again for the next line.
type sorting struct {
	b    []float64
	iv   []int64 // the same as integers, for those dtypes, which may lie beyond 2^53; else nil
	keys []uint64
	more []uint64
	p, q []int64
	slim bool      // the elements are those of float32, or of fewer bits
	xs   []float64 // the elements in another order
	is   []int64
	es   []entry
}

// room is s with length n, made anew if it is too short for it.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// order is the stable sorting permutation of a line, valid until the line is sorted again.
func (l *sorting) order(desc bool) []int64 {
	b, iv := l.b, l.iv
	l.p = room(l.p, len(b))
	if l.slim {
		for i, x := range l.sorted(desc) {
			l.p[i] = int64(uint32(x))
		}
		return l.p
	}
	if len(b) >= radixFrom {
		l.keys, l.q = room(l.keys, len(b)), room(l.q, len(b))
		for i := range l.keys {
			k := uint64(0)
			if iv != nil {
				k = uint64(iv[i]) ^ 1<<63
			} else {
				k = sortKey(b[i])
			}
			if desc {
				k = ^k
			}
			l.keys[i] = k
		}
		return radixOrder(l.keys, l.p, l.q)
	}
	p := l.p
	for i := range p {
		p[i] = int64(i)
	}
	sort.SliceStable(p, func(i, j int) bool {
		if iv != nil {
			x, y := iv[p[i]], iv[p[j]]
			if desc {
				return x > y
			}
			return x < y
		}
		x, y := b[p[i]], b[p[j]]
		if desc {
			return lessNaN(y, x)
		}
		return lessNaN(x, y)
	})
	return p
}

// packed is the elements as numbers of the same order, above their positions: no two are equal, and their order is the stable one.
func (l *sorting) packed(desc bool) []uint64 {
	l.keys = room(l.keys, len(l.b))
	flip := uint32(0)
	if desc {
		flip = math.MaxUint32
	}
	for i, x := range l.b {
		k := math.Float32bits(float32(x))
		switch {
		case x != x:
			k = math.MaxUint32
		case x == 0:
			k = 1 << 31
		case k>>31 != 0:
			k = ^k
		default:
			k |= 1 << 31
		}
		l.keys[i] = uint64(k^flip)<<32 | uint64(i)
	}
	return l.keys
}

// sorted is packed in order, by digits of 11 bits where there are many.
func (l *sorting) sorted(desc bool) []uint64 {
	a := l.packed(desc)
	if len(a) < 2*radixFrom {
		slices.Sort(a)
		return a
	}
	const digits = 1 << 11
	var count [3][digits]uint32
	for _, x := range a {
		count[0][x>>32&(digits-1)]++
		count[1][x>>43&(digits-1)]++
		count[2][x>>54]++
	}
	l.more = room(l.more, len(a))
	b := l.more
	for d := range count {
		c, shift := &count[d], 32+11*d
		if c[a[0]>>shift&(digits-1)] == uint32(len(a)) {
			continue
		}
		at := uint32(0)
		for i, n := range c {
			c[i] = at
			at += n
		}
		for _, x := range a {
			k := x >> shift & (digits - 1)
			b[c[k]] = x
			c[k]++
		}
		a, b = b, a
	}
	return a
}

// key is the i-th element as a number of the same order.
func (l *sorting) key(i int) uint64 {
	if l.iv != nil {
		return uint64(l.iv[i]) ^ 1<<63
	}
	return sortKey(l.b[i])
}

// at is the position k of order(false), found by dividing (Hoare, Algorithm 65: Find, 1961) and not by sorting.
func (l *sorting) at(k int) int64 {
	if l.slim {
		keys := l.packed(false)
		find(keys, k)
		return int64(uint32(keys[k]))
	}
	if len(l.b) < radixFrom {
		return l.order(false)[k]
	}
	l.keys = room(l.keys, len(l.b))
	for i := range l.keys {
		l.keys[i] = l.key(i)
	}
	keys := l.keys
	find(keys, k)
	x, before := keys[k], 0
	for _, y := range keys[:k] { // what is less lies before it, and some that are equal
		if y == x {
			before++
		}
	}
	for i := 0; ; i++ { // equal ones are in the order in which they lie: the first have the lowest places. x is the key of one, so this ends
		if l.key(i) == x {
			if before == 0 {
				return int64(i)
			}
			before--
		}
	}
}

// find moves keys about until the one of place k is there, with none above it before and none below it after.
func find(keys []uint64, k int) {
	lo, hi := 0, len(keys)-1
	for lo < hi {
		a, b, c := keys[lo], keys[lo+(hi-lo)/2], keys[hi]
		pivot := max(min(a, b), min(max(a, b), c)) // the middle one of three
		i, j := lo, hi
		for i <= j {
			for keys[i] < pivot {
				i++
			}
			for keys[j] > pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			lo, hi = k, k
		}
	}
}

// takeLines fills v and ix along d with the elements and positions that pick chooses for each line.
func (c *Call) takeLines(t *tensor.Tensor, d int64, v, ix *tensor.Tensor, pick func(l *sorting) []int64) {
	rooms := sync.Pool{New: func() any { return &sorting{} }}
	lines(t, d, func(off, st, n, k int64) {
		l := rooms.Get().(*sorting)
		defer rooms.Put(l)
		l.b = room(l.b, int(n))
		l.slim = t.DType.IsSmallFloat() && n < math.MaxUint32
		tensor.LoadFloat(t, off, st, l.b)
		if !t.DType.IsFloat() {
			l.iv = room(l.iv, int(n))
			tensor.LoadInt(t, off, st, l.iv)
		}
		p := pick(l)
		ov, sv := lineAt(v, d, k)
		oi, si := lineAt(ix, d, k)
		if l.iv != nil {
			l.is = room(l.is, len(p))
			for i, q := range p {
				l.is[i] = l.iv[q]
			}
			tensor.StoreInt(v, ov, sv, l.is)
		} else {
			l.xs = room(l.xs, len(p))
			for i, q := range p {
				l.xs[i] = l.b[q]
			}
			tensor.StoreFloat(v, ov, sv, l.xs)
		}
		tensor.StoreInt(ix, oi, si, p)
	})
}

func sorts() {
	def("sort sort.stable", func(c *Call) (Value, error) {
		t := c.T(0)
		d, err := wrapDim(toInt(c.opt("dim")), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		desc, _ := c.opt("descending").(bool)
		st := tensor.PreservedStrides(t.Shape, t.Stride)
		v, ix := c.NewUnset(t.DType, t.Shape, st), c.NewUnset(tensor.Int64, t.Shape, st)
		if c.real {
			c.takeLines(t, d, v, ix, func(l *sorting) []int64 { return l.order(desc) })
		}
		return list(v, ix), nil
	})
	comp("argsort", func(c *Call) (Value, error) {
		v, err := c.via("sort", c.Args...)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[1], nil
	})
	comp("argsort.stable", func(c *Call) (Value, error) {
		v, err := c.via("sort.stable", c.Args...)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[1], nil
	})
	comp("msort", func(c *Call) (Value, error) {
		v, err := c.via("sort", c.Args[0], int64(0), false)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	def("topk", func(c *Call) (Value, error) {
		t, k := c.T(0), c.I(1)
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		n := int64(1)
		if t.Dim() > 0 {
			n = t.Shape[d]
		}
		if k < 0 || k > n {
			return nil, errf("selected index k out of range")
		}
		shape := slices.Clone(t.Shape)
		if t.Dim() > 0 {
			shape[d] = k
		}
		v, ix := c.newCUnset(t.DType, shape...), c.newCUnset(tensor.Int64, shape...)
		if c.real && v.Numel() > 0 {
			largest, sorted := c.B(3), c.B(4)
			c.takeLines(t, d, v, ix, func(l *sorting) []int64 { return l.best(int(k), largest, sorted) })
		}
		return list(v, ix), nil
	})
	kth := func(names string, pick func(c *Call, l *sorting) int64, dimAt int) {
		def(names, func(c *Call) (Value, error) {
			t := c.T(0)
			mask, keep, err := c.dimArgs(dimAt, false)
			if err != nil {
				return nil, err
			}
			d, _ := wrapDim(c.I(dimAt), int64(t.Dim()))
			if t.Dim() > 0 && t.Shape[d] == 0 {
				return nil, kindf(IndexError, "%s(): Expected reduction dim %d to have non-zero size.", c.Op.Sig().Name, d)
			}
			if c.Op.Sig().Name == "kthvalue" {
				n := int64(1)
				if t.Dim() > 0 {
					n = t.Shape[d]
				}
				if c.I(1) < 1 || c.I(1) > n {
					return nil, errf("kthvalue(): selected number k out of range for dimension %d", d)
				}
			}
			full := slices.Clone(t.Shape)
			if t.Dim() > 0 {
				full[d] = 1
			}
			v, ix := c.newCUnset(t.DType, full...), c.newCUnset(tensor.Int64, full...)
			if c.real && v.Numel() > 0 {
				c.takeLines(t, d, v, ix, func(l *sorting) []int64 { return []int64{pick(c, l)} })
			}
			shape := reduceShape(t, mask, keep)
			for _, x := range []*tensor.Tensor{v, ix} {
				x.Shape, x.Stride = shape, tensor.ContiguousStrides(shape)
			}
			return list(v, ix), nil
		})
	}
	kth("kthvalue", func(c *Call, l *sorting) int64 { return l.kth(int(c.I(1)) - 1) }, 2)
	med := func(l *sorting, skip bool) int64 {
		n := len(l.b)
		if l.iv == nil {
			valid := 0
			for i, x := range l.b {
				if x == x {
					valid++
				} else if !skip {
					return int64(i)
				}
			}
			n = max(valid, 1)
		}
		return l.at((n - 1) / 2)
	}
	kth("median.dim", func(c *Call, l *sorting) int64 { return med(l, false) }, 1)
	kth("nanmedian.dim", func(c *Call, l *sorting) int64 { return med(l, true) }, 1)
	kth("mode", func(c *Call, l *sorting) int64 {
		es := l.entries(false)
		introsort(es)
		best, bestN := int64(0), 0
		for i := 0; i < len(es); {
			j := i
			for j < len(es) && es[j].key == es[i].key {
				j++
			}
			if j-i > bestN {
				best, bestN = es[j-1].at, j-i
			}
			i = j
		}
		return best
	}, 1)
	def("median nanmedian", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.NewC(t.DType)
		if !c.real {
			return o, nil
		}
		if t.Numel() == 0 {
			o.Fill(math.NaN())
			return o, nil
		}
		l := &sorting{b: t.Floats(), slim: t.DType.IsSmallFloat()}
		if !t.DType.IsFloat() {
			l.iv = t.Ints()
		}
		i := med(l, c.Op.Sig().Name == "nanmedian")
		if l.iv != nil {
			o.SetInt(0, l.iv[i])
		} else {
			o.Set(0, l.b[i])
		}
		return o, nil
	})
	def("_unique2 unique_consecutive _unique unique_dim unique_dim_consecutive", unique)
}

func nonzeros() {
	def("nonzero", func(c *Call) (Value, error) {
		t := c.T(0)
		if !c.real || t.Fake {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		n := int64(t.Dim())
		truth := c.dense(c.dense(t, t.DType), tensor.Bool).Bytes()
		cnt := counted(truth)
		o := c.NewUnset(tensor.Int64, []int64{cnt, n}, []int64{1, max(cnt, 1)})
		if cnt == 0 || n == 0 {
			return o, nil
		}
		out := tensor.Whole[int64](o) // the places along one dimension after those along another
		width := t.Shape[n-1]
		rows := int64(len(truth)) / width
		before := make([]int64, rows) // of each row, how many there are before it
		for r, k := int64(0), int64(0); r < rows; r++ {
			before[r] = k
			k += counted(truth[r*width : (r+1)*width])
		}
		parallel.For(int(rows), int(grain/4/width)+1, func(lo, hi int) {
			pos := make([]int64, n-1)
			for r := int64(lo); r < int64(hi); r++ {
				unravel(r, t.Shape[:n-1], pos)
				k := before[r]
				end := cnt
				if r+1 < rows {
					end = before[r+1]
				}
				if k == end {
					continue
				}
				for d, p := range pos {
					line := out[int64(d)*cnt:][k:end]
					for i := range line {
						line[i] = p
					}
				}
				// Every place is written, and the next one over it where there was nothing.
				line, i := out[(n-1)*cnt:][k:end], 0
				for j, x := range truth[r*width : (r+1)*width] {
					if i == len(line) {
						break
					}
					line[i] = int64(j)
					i += int(x)
				}
			}
		})
		return o, nil
	})
	comp("argwhere", func(c *Call) (Value, error) { return c.via("nonzero", c.Args[0]) })
	def("nonzero_static", func(c *Call) (Value, error) {
		t, size, fill := c.T(0), c.I(1), c.I(2)
		o := c.newCUnset(tensor.Int64, size, int64(t.Dim()))
		if !c.real {
			return o, nil
		}
		nz, err := c.doT("nonzero", t)
		if err != nil {
			return nil, err
		}
		o.FillInt(fill)
		n := min(nz.Shape[0], size)
		tensor.Copy(tensor.NewView(o, []int64{n, int64(t.Dim())}, o.Stride, 0), tensor.NewView(nz, []int64{n, int64(t.Dim())}, nz.Stride, 0))
		return o, nil
	})
}

// counted is how many of some bytes, all 0 or 1, are 1.
func counted(b []byte) int64 {
	n := int64(0)
	for len(b) >= 8 { // up to 255 words are added byte by byte, and then their bytes
		words := min(len(b)/8, 255)
		sum := uint64(0)
		for i := range words {
			sum += binary.LittleEndian.Uint64(b[8*i:])
		}
		for ; sum != 0; sum >>= 8 {
			n += int64(sum & 255)
		}
		b = b[8*words:]
	}
	for _, x := range b {
		n += int64(x)
	}
	return n
}

// unique serves the whole family; dim forms compare slices.
func unique(c *Call) (Value, error) {
	t := c.T(0)
	if !c.real {
		return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
	}
	name := c.Op.Sig().Name
	consecutive := strings.Contains(name, "consecutive")
	wantInv, _ := c.opt("return_inverse").(bool)
	wantCnt, _ := c.opt("return_counts").(bool)
	var x *tensor.Tensor = t.Contiguous()
	rowsN, width := t.Numel(), int64(1)
	dim := int64(-1)
	if d := c.opt("dim"); d != nil {
		var err error
		if dim, err = wrapDim(toInt(d), int64(t.Dim())); err != nil {
			return nil, err
		}
		m, err := c.doT("movedim.int", t, dim, int64(0))
		if err != nil {
			return nil, err
		}
		x = m.Contiguous()
		rowsN = x.Shape[0]
		if rowsN > 0 {
			width = x.Numel() / rowsN
		}
	}
	xs := c.floats(x)
	less := func(a, b int64) int {
		for k := int64(0); k < width; k++ {
			p, q := xs[a*width+k], xs[b*width+k]
			if p == q {
				continue
			}
			if lessNaN(p, q) {
				return -1
			}
			if lessNaN(q, p) {
				return 1
			}
			if p != p {
				return -1 // NaNs are all distinct
			}
		}
		return 0
	}
	p := make([]int64, rowsN)
	for i := range p {
		p[i] = int64(i)
	}
	switch {
	case consecutive:
	case width == 1 && rowsN >= radixFrom:
		p = (&sorting{b: xs}).order(false)
	default:
		slices.SortStableFunc(p, func(a, b int64) int {
			for k := int64(0); k < width; k++ {
				if lessNaN(xs[a*width+k], xs[b*width+k]) {
					return -1
				}
				if lessNaN(xs[b*width+k], xs[a*width+k]) {
					return 1
				}
			}
			return 0
		})
	}
	inv := make([]int64, rowsN)
	var first, counts []int64
	for i, q := range p {
		if i == 0 || less(p[i-1], q) != 0 {
			first = append(first, q)
			counts = append(counts, 0)
		}
		inv[q] = int64(len(first) - 1)
		counts[len(counts)-1]++
	}
	var out *tensor.Tensor
	if dim >= 0 {
		shape := slices.Clone(x.Shape)
		shape[0] = int64(len(first))
		flat := tensor.Empty(t.DType, shape...)
		for i, q := range first {
			tensor.Copy(tensor.NewView(flat, []int64{width}, []int64{1}, int64(i)*width), tensor.NewView(x, []int64{width}, []int64{1}, x.Offset+q*width))
		}
		o, err := c.doT("movedim.int", flat, int64(0), dim)
		if err != nil {
			return nil, err
		}
		o.Base = nil
		out = o
	} else {
		out = tensor.Empty(t.DType, int64(len(first)))
		pos := make([]int64, len(first))
		for i, q := range first {
			pos[i] = x.Offset + q
		}
		gatherAt(out, x, pos)
	}
	it, ct := c.NewC(tensor.Int64, 0), c.NewC(tensor.Int64, 0)
	if wantInv || name == "unique_dim" {
		it = tensor.FromInt64s(inv, rowsN)
		if dim < 0 {
			it = c.NewC(tensor.Int64, t.Shape...)
			it.SetInts(inv)
		}
	}
	if wantCnt || name == "unique_dim" {
		ct = tensor.FromInt64s(counts, int64(len(counts)))
	}
	if name == "_unique" {
		return list(out, it), nil
	}
	return list(out, it, ct), nil
}
