package aten

import (
	"slices"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// A kern is a pointwise computation over blocks: in[k] and out have equal length. F works on
// floats (rounded to the compute dtype by the caller), I on integers and bools, C on complex numbers (nil: not for them).
type kern struct {
	F func(out []float64, in [][]float64)
	I func(out []int64, in [][]int64)
	C func(out []complex128, in [][]complex128)
	B func(out []uint8, in [][]float64) // block form of a predicate on floats, to bytes
	N native.Op                         // SIMD form, for the dtypes that have one; 0 for none

	S func(out []float32, in [][]float32) // form of float32 that needs no float64, for any number of elements

	num []float64 // the numbers of an SIMD form that takes some, see native.Point
}

func f1(f func(a float64) float64) kern {
	return kern{F: func(o []float64, in [][]float64) {
		a := in[0]
		for i := range o {
			o[i] = f(a[i])
		}
	}}
}

func f2(f func(a, b float64) float64) kern {
	return kern{F: func(o []float64, in [][]float64) {
		a, b := in[0], in[1]
		for i := range o {
			o[i] = f(a[i], b[i])
		}
	}}
}

func f3(f func(a, b, c float64) float64) kern {
	return kern{F: func(o []float64, in [][]float64) {
		a, b, c := in[0], in[1], in[2]
		for i := range o {
			o[i] = f(a[i], b[i], c[i])
		}
	}}
}

func (k kern) i1(f func(a int64) int64) kern {
	k.I = func(o []int64, in [][]int64) {
		a := in[0]
		for i := range o {
			o[i] = f(a[i])
		}
	}
	return k
}

func (k kern) i2(f func(a, b int64) int64) kern {
	k.I = func(o []int64, in [][]int64) {
		a, b := in[0], in[1]
		for i := range o {
			o[i] = f(a[i], b[i])
		}
	}
	return k
}

func (k kern) i3(f func(a, b, c int64) int64) kern {
	k.I = func(o []int64, in [][]int64) {
		a, b, c := in[0], in[1], in[2]
		for i := range o {
			o[i] = f(a[i], b[i], c[i])
		}
	}
	return k
}

// single has the function of float32 done by f.
func (k kern) single(f func(out []float32, in [][]float32)) kern {
	k.S = f
	return k
}

// pieces has the function of one float32 done by polynomials; see native.Pieces.
func (k kern) pieces(p *native.Pieces) kern {
	k.S = func(out []float32, in [][]float32) { p.Map(out, in[0]) }
	return k
}

func (k kern) simd(op native.Op, num ...float64) kern {
	k.N, k.num = op, num
	return k
}

// b2f is 1 for true.
func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// b2i is 1 for true.
func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// broadcast is the common shape of the tensors among vs.
func broadcast(vs []Value) ([]int64, error) {
	shape := []int64{}
	for _, v := range vs {
		if t, ok := v.(*tensor.Tensor); ok && t != nil {
			var err error
			if shape, err = tensor.BroadcastShapes(shape, t.Shape); err != nil {
				return nil, errf("%s", err)
			}
		}
	}
	return shape, nil
}

// block is how many elements a kern sees at a time: few enough that they stay in the first cache.
const block = 512

// pw computes k elementwise over ins (tensors or numbers) in dtype compute and returns a tensor of dtype out.
func (c *Call) pw(ins []Value, compute, out tensor.DType, k kern) (*tensor.Tensor, error) {
	shape, err := broadcast(ins)
	if err != nil {
		return nil, err
	}
	missing := (compute.IsFloat() || k.I == nil) && k.F == nil
	if compute.Kind() == tensor.KindComplex {
		missing = k.C == nil || compute == tensor.Complex32
	}
	if name, ok := strings.CutPrefix(c.Op.Sig().Name, "special_"); ok && compute.IsFloat() && compute.Size() == 2 {
		missing = missing || noHalf[name]
	}
	if missing && c.real { // metadata can be computed all the same
		return nil, kindf(RuntimeError, "\"%s\" not implemented for '%s'", kernelName(c.Op.Sig().Name), cName(compute))
	}
	ts := make([]*tensor.Tensor, 0, len(ins)+1)
	ts = append(ts, nil)
	for _, v := range ins {
		switch v := v.(type) {
		case *tensor.Tensor:
			ts = append(ts, v)
		default:
			ts = append(ts, nil)
		}
	}
	var o *tensor.Tensor
	if s := c.inplace; s != nil && s.DType == out && len(s.Shape) == len(shape) && tensor.Numel(s.Shape) == tensor.Numel(shape) && sameInts(s.Shape, shape) && safeInplace(s, ts[1:]) {
		o = s
	} else {
		o = c.NewUnset(out, shape, tensor.PointwiseStrides(shape, ts[1:]...))
	}
	if !c.real || tensor.Numel(shape) == 0 {
		return o, nil
	}
	ts[0] = o
	// Numbers become 0-dim tensors; 16-bit floats compute in float32, so their numbers keep that precision, but where they are compared.
	for i, v := range ins {
		if ts[i+1] != nil {
			continue
		}
		d := compute
		if (d == tensor.BFloat16 || d == tensor.Float16) && out != tensor.Bool {
			d = tensor.Float32
		}
		switch v := v.(type) {
		case float64:
			ts[i+1] = tensor.Full(d, v)
		case int64:
			ts[i+1] = tensor.FullInt(d, v)
		case bool:
			ts[i+1] = tensor.FullInt(d, b2i(v))
		case complex128:
			ts[i+1] = tensor.Empty(d)
			ts[i+1].FillComplex(v)
		}
	}
	for i, t := range ts[1:] {
		ts[i+1] = c.ofDType(t, compute, k)
	}
	run(ts, compute, k)
	return o, nil
}

// ofDType is an operand of k in the dtype that k computes in, where k has a form for that dtype alone: to convert first is faster than the general way.
func (c *Call) ofDType(t *tensor.Tensor, compute tensor.DType, k kern) *tensor.Tensor {
	if t.DType == compute || t.DType.Kind() == tensor.KindComplex || t.DType.IsFloat() && t.DType.Size() == 2 {
		return t
	}
	switch compute {
	case tensor.Float32, tensor.Float64:
		if k.N == native.Selection || k.N == 0 && (k.S == nil || compute == tensor.Float64) {
			return t
		}
	case tensor.Int64:
		if k.I == nil || k.N == native.Selection || t.DType.IsFloat() {
			return t
		}
	default:
		return t
	}
	return c.laid(t, compute, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
}

// laid is t in a dtype and strides, itself or a copy, whose memory is given back when the call ends: nobody may have it then.
func (c *Call) laid(t *tensor.Tensor, d tensor.DType, shape, stride []int64) *tensor.Tensor {
	if t.DType == d && sameInts(t.Stride, stride) {
		return t
	}
	x := c.NewUnset(d, shape, stride)
	tensor.Copy(x, t)
	_, _ = c.part(x, nil)
	return x
}

func sameInts(a, b []int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// safeInplace reports whether writing s while reading the others cannot change what is read later.
func safeInplace(s *tensor.Tensor, others []*tensor.Tensor) bool {
	if s.HasInternalOverlap() {
		return false
	}
	for _, t := range others {
		if t == nil || t.Storage != s.Storage || t == s {
			continue
		}
		if t.Offset == s.Offset && len(t.Shape) == len(s.Shape) && sameInts(t.Shape, s.Shape) && sameInts(t.Stride, s.Stride) && t.DType == s.DType {
			continue
		}
		return false
	}
	return true
}

// run evaluates k into ts[0] from ts[1:].
func run(ts []*tensor.Tensor, compute tensor.DType, k kern) {
	tensor.NewLoop(ts[0].Shape, ts...).Parts(func(l *tensor.Loop) { runLoop(l, ts, compute, k) })
}

func runLoop(l *tensor.Loop, ts []*tensor.Tensor, compute tensor.DType, k kern) {
	o := ts[0]
	in := l.Inner()
	if k.N != 0 && nativeRows(l, in, ts, compute, k) {
		return
	}
	if k.N != 0 && (compute == tensor.Float32 || compute == tensor.BFloat16 || compute == tensor.Float16) && block32(l, in, ts, k) {
		return
	}
	if k.S != nil && singleRows(l, in, ts, k) {
		return
	}
	nin := len(ts) - 1
	if compute.Kind() == tensor.KindComplex {
		runComplex(l, in, ts, k)
		return
	}
	if compute.IsFloat() || k.I == nil {
		size := min(block, l.Shape[len(l.Shape)-1])
		buf := make([]float64, size*int64(nin+1))
		ob := buf[:size]
		ib := make([][]float64, nin)
		for i := range ib {
			ib[i] = buf[size*int64(i+1) : size*int64(i+2)]
		}
		var bytes []uint8
		if k.B != nil && o.DType == tensor.Bool && in[0] == 1 {
			bytes = o.Storage.Data
		}
		views := make([][]float64, nin)
		l.Rows(func(off []int64, n int64) {
			for p := int64(0); p < n; p += block {
				m := min(block, n-p)
				for i := range views {
					t := ts[i+1]
					views[i] = ib[i][:m]
					tensor.LoadFloat(t, off[i+1]+p*in[i+1], in[i+1], views[i])
					if t.DType != compute && compute != tensor.Float64 {
						roundBlock(compute, views[i], t.DType)
					}
				}
				if bytes != nil {
					k.B(bytes[off[0]+p:off[0]+p+m], views)
					continue
				}
				k.F(ob[:m], views)
				tensor.StoreFloat(o, off[0]+p*in[0], in[0], ob[:m])
			}
		})
		return
	}
	if straightInts(l, in, ts, compute, k) {
		return
	}
	size := min(block, l.Shape[len(l.Shape)-1])
	buf := make([]int64, size*int64(nin+1))
	ob := buf[:size]
	ib := make([][]int64, nin)
	for i := range ib {
		ib[i] = buf[size*int64(i+1) : size*int64(i+2)]
	}
	views := make([][]int64, nin)
	l.Rows(func(off []int64, n int64) {
		for p := int64(0); p < n; p += block {
			m := min(block, n-p)
			for i := range views {
				t := ts[i+1]
				views[i] = ib[i][:m]
				tensor.LoadInt(t, off[i+1]+p*in[i+1], in[i+1], views[i])
				if t.DType != compute {
					wrapBlock(compute, views[i])
				}
			}
			k.I(ob[:m], views)
			tensor.StoreInt(o, off[0]+p*in[0], in[0], ob[:m])
		}
	})
}

// singleRows is k.S on memory itself, where all are float32 and the result lies in rows; what is repeated or lies apart is copied to a block.
func singleRows(l *tensor.Loop, in []int64, ts []*tensor.Tensor, k kern) bool {
	whole := make([][]float32, len(ts))
	for i, t := range ts {
		if t.DType != tensor.Float32 || i == 0 && in[0] != 1 {
			return false
		}
		whole[i] = tensor.Whole[float32](t)
	}
	straight := func(i int) bool { return in[i] == 1 && ts[i].Storage != ts[0].Storage }
	some := int64(32 * block) // a call may have memory of its own: the fewer the better
	for i := range ts[1:] {
		if !straight(i + 1) {
			some = block
		}
	}
	room, views := make([]float32, block*len(ts)), make([][]float32, len(ts)-1)
	l.Rows(func(off []int64, n int64) {
		for p := int64(0); p < n; p += some {
			m := min(some, n-p)
			for i := range views {
				at, step := off[i+1]+p*in[i+1], in[i+1]
				if straight(i + 1) {
					views[i] = whole[i+1][at : at+m]
					continue
				}
				if views[i] = room[block*i:][:m]; step == 0 && p > 0 {
					continue
				}
				for j := range views[i] {
					views[i][j] = whole[i+1][at+int64(j)*step]
				}
			}
			k.S(whole[0][off[0]+p:off[0]+p+m], views)
		}
	})
	return true
}

// straightInts is the kern of integers on memory itself, where all operands are int64 and lie in rows; a number is repeated in a block.
func straightInts(l *tensor.Loop, in []int64, ts []*tensor.Tensor, compute tensor.DType, k kern) bool {
	for i, t := range ts {
		if t.DType != tensor.Int64 || in[i] != 1 && (i == 0 || in[i] != 0) {
			return false
		}
	}
	if compute != tensor.Int64 {
		return false
	}
	whole, views := make([][]int64, len(ts)), make([][]int64, len(ts)-1)
	repeated := make([][]int64, len(ts))
	for i, t := range ts {
		whole[i] = tensor.Whole[int64](t)
		if in[i] == 0 {
			repeated[i] = make([]int64, block)
		}
	}
	l.Rows(func(off []int64, n int64) {
		for i, b := range repeated {
			if b != nil {
				b[0] = whole[i][off[i]]
				for j := range b {
					b[j] = b[0]
				}
			}
		}
		for p := int64(0); p < n; p += block {
			m := min(block, n-p)
			for i := range views {
				if b := repeated[i+1]; b != nil {
					views[i] = b[:m]
				} else {
					views[i] = whole[i+1][off[i+1]+p : off[i+1]+p+m]
				}
			}
			k.I(whole[0][off[0]+p:off[0]+p+m], views)
		}
	})
	return true
}

// roundBlock casts inputs of another dtype to the compute dtype.
func roundBlock(d tensor.DType, b []float64, from tensor.DType) {
	switch d {
	case tensor.Float32:
		for i, x := range b {
			b[i] = float64(float32(x))
		}
	case tensor.BFloat16, tensor.Float16:
		if from == tensor.Float32 {
			return // wrapped numbers keep float32 precision
		}
		for i, x := range b {
			b[i] = tensor.RoundTo(d, x)
		}
	}
}

// wrapBlock cuts integers, computed in 64 bits, to the width of their dtype, so that they wrap around as in C.
func wrapBlock(d tensor.DType, b []int64) {
	switch d {
	case tensor.Int32:
		for i, x := range b {
			b[i] = int64(int32(x))
		}
	case tensor.Int16:
		for i, x := range b {
			b[i] = int64(int16(x))
		}
	case tensor.Int8:
		for i, x := range b {
			b[i] = int64(int8(x))
		}
	case tensor.UInt8:
		for i, x := range b {
			b[i] = int64(uint8(x))
		}
	case tensor.Bool:
		for i, x := range b {
			b[i] = b2i(x != 0)
		}
	}
}

// rowOf is n elements of s from off on, or the one that is repeated where step is 0.
func rowOf[T any](s []T, off, step, n int64) []T {
	if step == 0 {
		n = 1
	}
	return s[off : off+n]
}

// nativeRows runs the SIMD kernel on each row if dtypes allow, and the result lies in rows.
func nativeRows(l *tensor.Loop, in []int64, ts []*tensor.Tensor, d tensor.DType, k kern) bool {
	n, op := l.Shape[len(l.Shape)-1], k.N
	if in[0] != 1 {
		return false
	}
	straight := true
	for _, s := range in[1:] {
		straight = straight && (s == 1 || s == 0)
	}
	if n < 16 && !(straight && inNest(l) && (k.N >= native.Eq && k.N <= native.Beyond || hasRows(k.N, in))) {
		return false
	}
	if op == native.Selection {
		return straight && nativeSelect(past(op, n, ts), l, in, ts)
	}
	for _, t := range ts[1:] {
		if t.DType != d {
			return false
		}
	}
	op = past(op, n, ts)
	if k.N >= native.Eq && k.N <= native.Beyond {
		if ts[0].DType != tensor.Bool {
			return false
		}
		switch d {
		case tensor.Float32:
			compareRows[float32](l, ts, op)
		case tensor.Float64:
			compareRows[float64](l, ts, op)
		case tensor.Int64:
			compareRows[int64](l, ts, op)
		default:
			return false
		}
		return true
	}
	if ts[0].DType != d {
		return false
	}
	if k.N >= native.And && k.N <= native.Xor {
		return straight && bitRows(l, in, ts, k.N)
	}
	if d == tensor.Int64 && straight && (k.N >= native.Add && k.N <= native.Mul || k.N == native.Max || k.N == native.Min) {
		o, a, b := tensor.Whole[int64](ts[0]), tensor.Whole[int64](ts[1]), tensor.Whole[int64](ts[2])
		l.Rows(func(off []int64, n int64) {
			native.Ints(k.N, o[off[0]:off[0]+n], rowOf(a, off[1], in[1], n), rowOf(b, off[2], in[2], n))
		})
		return true
	}
	switch d {
	case tensor.Float32:
		if straight && inNest(l) && hasRows(op, in) {
			floatNests[float32](l, op, k.num, ts)
			return true
		}
		floatRows(l, op, k.num, native.Unary32, native.Binary32, ts)
	case tensor.Float64:
		if straight && inNest(l) && hasRows(op, in) {
			floatNests[float64](l, op, k.num, ts)
			return true
		}
		floatRows(l, op, k.num, native.Unary64, native.Binary64, ts)
	default:
		return false
	}
	return true
}

// streamed is the size in bytes from which a result is written past the cache.
const streamed = 24 << 20

// past is op, streamed where the result is large, is none of the operands, and has rows of n elements that are worth it.
func past(op native.Op, n int64, ts []*tensor.Tensor) native.Op {
	large := len(ts[0].Storage.Data) >= streamed && n >= 1024
	for _, t := range ts[1:] {
		large = large && t.Storage != ts[0].Storage
	}
	if large {
		op |= native.Streamed
	}
	return op
}

// bitRows is a bitwise operator on integers of one dtype; a number that is repeated must be one byte that is.
func bitRows(l *tensor.Loop, in []int64, ts []*tensor.Tensor, op native.Op) bool {
	size := int64(ts[0].DType.Size())
	if ts[0].DType.IsFloat() || len(ts) != 3 {
		return false
	}
	row := func(i int, off, n int64) []uint8 {
		s := ts[i].Storage.Data[off*size:]
		if in[i] == 0 {
			return s[:1]
		}
		return s[:n*size]
	}
	repeated := make([][]uint8, len(ts)) // numbers whose bytes differ, again and again
	some := l.Shape[len(l.Shape)-1]
	for i, t := range ts {
		if s := t.Storage.Data; in[i] == 0 && size > 1 {
			if t.Numel() != 1 {
				return false
			}
			if x := s[t.Offset*size : (t.Offset+1)*size]; !allEqual(x, x[0]) {
				some = min(some, block)
				repeated[i] = slices.Repeat(x, int(some))
			}
		}
	}
	l.Rows(func(off []int64, n int64) {
		for p := int64(0); p < n; p += some {
			var rows [3][]uint8
			m := min(some, n-p)
			for i := range rows {
				if rows[i] = repeated[i]; rows[i] == nil {
					rows[i] = row(i, off[i]+p*in[i], m)
				} else {
					rows[i] = rows[i][:m*size]
				}
			}
			native.Bits(op, rows[0], rows[1], rows[2])
		}
	})
	return true
}

// inNest reports whether the rows of a loop are short, and many: they go to a kernel as one nest then.
func inNest(l *tensor.Loop) bool {
	nd := len(l.Shape)
	return nd > 1 && l.Shape[nd-1] < 1024 && l.Shape[nd-2] > 1
}

// hasRows reports whether an operator of floats has a form for a nest of rows, whose operands have these steps.
func hasRows(op native.Op, in []int64) bool {
	switch {
	case op == native.Clamping || op == native.Selection || op >= native.And && op <= native.Xor:
		return false
	case op >= native.Frac && op <= native.BCELogitsWeighed || len(in) == 3:
		return true
	}
	return in[1] == 1 // of one operand
}

// eachNest calls f for each nest of rows of l, with where the operands begin, if inNest.
func eachNest(l *tensor.Loop, f func(off []int64)) {
	nd := len(l.Shape)
	outer := *l
	outer.Shape = append(slices.Clone(l.Shape[:nd-2]), 1)
	outer.Stride = make([][]int64, len(l.Stride))
	for i, s := range l.Stride {
		outer.Stride[i] = append(slices.Clone(s[:nd-2]), 0)
	}
	outer.Rows(func(off []int64, _ int64) { f(off) })
}

// laneOf is operand i of a nest of rows of l that begins at off.
func laneOf[T any](l *tensor.Loop, i int, whole []T, off int64) native.Lane[T] {
	s := l.Stride[i]
	return native.Lane[T]{From: whole[off:], Step: s[len(s)-1], Row: s[len(s)-2]}
}

// floatNests is floatRows for an operator that hasRows, by nests of rows.
func floatNests[T float32 | float64](l *tensor.Loop, op native.Op, num []float64, ts []*tensor.Tensor) {
	nd := len(l.Shape)
	n, rows := l.Shape[nd-1], l.Shape[nd-2]
	whole, lanes := make([][]T, len(ts)), make([]native.Lane[T], len(ts))
	for i, t := range ts {
		whole[i] = tensor.Whole[T](t)
	}
	eachNest(l, func(off []int64) {
		for i := range lanes {
			lanes[i] = laneOf(l, i, whole[i], off[i])
		}
		switch {
		case op >= native.Frac && op <= native.BCELogitsWeighed:
			native.PointRows(op, lanes[0], lanes[1:], num, n, rows)
		case len(lanes) == 3:
			native.BinaryRows(op, lanes[0], lanes[1], lanes[2], n, rows)
		default:
			native.UnaryRows(op, lanes[0], lanes[1], n, rows)
		}
	})
}

func compareRows[T float32 | float64 | int64](l *tensor.Loop, ts []*tensor.Tensor, op native.Op) {
	o := tensor.Whole[uint8](ts[0])
	if in := l.Inner(); inNest(l) && in[1]|in[2]|1 == 1 {
		nd := len(l.Shape)
		a, b := tensor.Whole[T](ts[1]), tensor.Whole[T](ts[2])
		eachNest(l, func(off []int64) {
			native.CompareRows(op, laneOf(l, 0, o, off[0]), laneOf(l, 1, a, off[1]), laneOf(l, 2, b, off[2]), l.Shape[nd-1], l.Shape[nd-2])
		})
		return
	}
	eachRowOf(l, ts, func(off, n int64, in [][]T) { native.Compare(op, o[off:off+n], in[0], in[1]) })
}

func floatRows[T float32 | float64](l *tensor.Loop, op native.Op, num []float64, unary func(native.Op, []T, []T), binary func(native.Op, []T, []T, []T), ts []*tensor.Tensor) {
	o, plain := tensor.Whole[T](ts[0]), op&^native.Streamed
	eachRowOf(l, ts, func(off, n int64, in [][]T) {
		out := o[off : off+n]
		switch {
		case plain == native.Clamping:
			native.Clamp(op, out, in[0], in[1], in[2])
		case plain >= native.Frac && plain <= native.BCELogitsWeighed:
			native.Point(op, out, in, num)
		case len(in) == 2:
			binary(op, out, in[0], in[1])
		case len(in[0]) < len(out): // one number for all
			unary(plain, out[:1], in[0])
			for i := range out {
				out[i] = out[0]
			}
		default:
			unary(op, out, in[0])
		}
	})
}

// A band is how many rows, and how many elements of each, are turned at a time where an operand lies across the others: they stay in the second cache.
const bandRows, bandCols = 32, 1024

// eachRowOf calls f for each row of the result, or a part of one, with where it begins, its length, and the operands, which are of as many elements or,
// repeated, of one. An operand that runs along another dimension than the result is turned, others are gathered.
func eachRowOf[T float32 | float64 | int64](l *tensor.Loop, ts []*tensor.Tensor, f func(off, n int64, in [][]T)) {
	nd, step := len(l.Shape), l.Inner()
	rows := make([][]T, len(ts)-1)
	whole := make([][]T, len(ts)-1)
	straight := true
	for i := range rows {
		whole[i] = tensor.Whole[T](ts[i+1])
		straight = straight && (step[i+1] == 0 || step[i+1] == 1)
	}
	if straight {
		l.Rows(func(off []int64, n int64) {
			for i := range rows {
				rows[i] = rowOf(whole[i], off[i+1], step[i+1], n)
			}
			f(off[0], n, rows)
		})
		return
	}
	height, width := int64(1), min(l.Shape[nd-1], bandCols)
	outer := *l
	if nd > 1 { // bands of the dimension before the last
		height = min(l.Shape[nd-2], bandRows)
		outer.Shape = append(append([]int64{}, l.Shape[:nd-2]...), 1)
	} else {
		outer.Shape = []int64{1}
	}
	room := make([][]T, len(rows))
	for i := range rows {
		if s := step[i+1]; s != 0 && s != 1 {
			room[i] = make([]T, height*width)
		}
	}
	across := func(i int) int64 { // the distance of rows
		if nd == 1 {
			return 0
		}
		return l.Stride[i][nd-2]
	}
	joined := nd > 1 && across(0) == l.Shape[nd-1]
	for i := range rows {
		joined = joined && (room[i] != nil || across(i+1) == step[i+1]*l.Shape[nd-1])
	}
	count := int64(1)
	if nd > 1 {
		count = l.Shape[nd-2]
	}
	outer.Stride = make([][]int64, len(ts))
	for i, s := range l.Stride {
		outer.Stride[i] = append(append([]int64{}, s[:max(nd-2, 0)]...), 0)
	}
	outer.Rows(func(off []int64, _ int64) {
		for r := int64(0); r < count; r += height {
			h := min(height, count-r)
			for c := int64(0); c < l.Shape[nd-1]; c += width {
				w := min(width, l.Shape[nd-1]-c)
				for i := range rows {
					if room[i] == nil {
						continue
					}
					from := off[i+1] + r*across(i+1) + c*step[i+1]
					if across(i+1) == 1 && step[i+1] > 0 && turned(room[i], int(width), whole[i][from:], int(step[i+1]), int(w), int(h)) {
						continue
					}
					native.CopyRows(native.Grid[T]{Memory: room[i], Step: 1, Row: width}, native.Grid[T]{Memory: whole[i], At: from, Step: step[i+1], Row: across(i + 1)}, w, h)
				}
				if joined && w == l.Shape[nd-1] { // the rows of the band are one
					for i := range rows {
						if room[i] != nil {
							rows[i] = room[i][:h*w]
						} else {
							rows[i] = rowOf(whole[i], off[i+1]+r*across(i+1), step[i+1], h*w)
						}
					}
					f(off[0]+r*across(0), h*w, rows)
					continue
				}
				for k := range h {
					for i := range rows {
						if room[i] != nil {
							rows[i] = room[i][k*width : k*width+w]
						} else {
							rows[i] = rowOf(whole[i], off[i+1]+(r+k)*across(i+1)+c*step[i+1], step[i+1], w)
						}
					}
					f(off[0]+(r+k)*across(0)+c, w, rows)
				}
			}
		}
	})
}

// turned is native.Turn, for the types that it has.
func turned[T any](out []T, step int, a []T, stride, rows, cols int) bool {
	switch out := any(out).(type) {
	case []float32:
		native.Turn(out, step, any(a).([]float32), stride, rows, cols)
	case []float64:
		native.Turn(out, step, any(a).([]float64), stride, rows, cols)
	default:
		return false
	}
	return true
}

// nativeSelect is where for operands of one dtype, whose elements are moved as they are.
func nativeSelect(op native.Op, l *tensor.Loop, in []int64, ts []*tensor.Tensor) bool {
	if ts[1].DType.Size() != 1 || ts[2].DType != ts[0].DType || ts[3].DType != ts[0].DType {
		return false
	}
	switch ts[0].DType.Size() {
	case 1:
		selectRowsOf[uint8](op, l, in, ts)
	case 2:
		selectRowsOf[uint16](op, l, in, ts)
	case 4:
		selectRowsOf[uint32](op, l, in, ts)
	case 8:
		selectRowsOf[uint64](op, l, in, ts)
	default:
		return false
	}
	return true
}

func selectRowsOf[T uint8 | uint16 | uint32 | uint64](op native.Op, l *tensor.Loop, in []int64, ts []*tensor.Tensor) {
	o, c, a, b := tensor.Whole[T](ts[0]), tensor.Whole[uint8](ts[1]), tensor.Whole[T](ts[2]), tensor.Whole[T](ts[3])
	if inNest(l) {
		nd := len(l.Shape)
		eachNest(l, func(off []int64) {
			native.SelectRows(laneOf(l, 0, o, off[0]), laneOf(l, 1, c, off[1]), laneOf(l, 2, a, off[2]), laneOf(l, 3, b, off[3]), l.Shape[nd-1], l.Shape[nd-2])
		})
		return
	}
	l.Rows(func(off []int64, n int64) {
		native.Select(op, o[off[0]:off[0]+n], rowOf(c, off[1], in[1], n), rowOf(a, off[2], in[2], n), rowOf(b, off[3], in[3], n))
	})
}
