package tensor

import (
	"encoding/binary"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
)

// Copy stores src, broadcast to dst's shape and converted to its dtype, into dst.
// Shapes must broadcast and both must be real; overlapping memory gives unspecified values.
func Copy(dst, src *Tensor) {
	if dst.Fake || src.Fake || dst.Numel() == 0 {
		return
	}
	if dst.DType == src.DType && SameShape(dst, src) && sameStrides(dst, src) && dst.IsNonOverlappingAndDense() {
		es := int64(dst.DType.Size())
		n := dst.Numel() * es
		to, from := dst.Storage.Data[dst.Offset*es:dst.Offset*es+n], src.Storage.Data[src.Offset*es:src.Offset*es+n]
		parallel.For(int(n), 8*grain, func(lo, hi int) { copyCached(to[lo:hi], from[lo:hi], n) })
		return
	}
	if dst.DType != src.DType && dst.Numel() >= grain && SameShape(dst, src) && !sameStrides(dst, src) && dst.IsNonOverlappingAndDense() && src.IsNonOverlappingAndDense() {
		t := EmptyUnset(src.DType, dst.Shape, dst.Stride) // to turn and to convert is faster one after the other
		Copy(t, src)
		Copy(dst, t)
		t.Storage.Recycle()
		return
	}
	NewLoop(dst.Shape, dst, src).Parts(func(l *Loop) { copyLoop(l, dst, src) })
}

// copyCached is copy of a part of n bytes. Go writes what is copied at once past the cache where it is large; here only what the cache would not hold is.
func copyCached(to, from []byte, n int64) {
	const some = 256 << 10
	for n < streamed && len(to) > some {
		copy(to[:some], from)
		to, from = to[some:], from[some:]
	}
	copy(to, from)
}

func copyLoop(l *Loop, dst, src *Tensor) {
	in := l.Inner()
	if dst.DType == src.DType {
		switch dst.DType.Size() {
		case 1:
			copyRows[uint8](l, in, dst, src)
		case 2:
			copyRows[uint16](l, in, dst, src)
		case 4:
			copyRows[uint32](l, in, dst, src)
		case 8:
			copyRows[uint64](l, in, dst, src)
		case 16:
			copyRows[[2]uint64](l, in, dst, src)
		}
		return
	}
	if in[0] == 1 && in[1] == 1 && convertRows(l, dst, src) {
		return
	}
	if dst.DType == Float32 && src.DType == Float64 {
		convRows[float32, float64](l, in, dst, src)
		return
	}
	if dst.DType == Float64 && src.DType == Float32 {
		convRows[float64, float32](l, in, dst, src)
		return
	}
	if dst.DType == Float32 && src.DType == Int64 {
		convRows[float32, int64](l, in, dst, src)
		return
	}
	if in[0] == 1 && in[1] == 1 && halfRows(l, dst, src) {
		return
	}
	if dst.DType.IsSmallFloat() && src.DType.IsSmallFloat() {
		buf := make([]float32, min(4096, l.Shape[len(l.Shape)-1]))
		l.Rows(func(o []int64, n int64) {
			for k := int64(0); k < n; k += int64(len(buf)) {
				b := buf[:min(int64(len(buf)), n-k)]
				Load32(src, o[1]+k*in[1], in[1], b)
				Store32(dst, o[0]+k*in[0], in[0], b)
			}
		})
		return
	}
	if dst.DType.Kind() == KindComplex && src.DType.Kind() == KindComplex {
		copyComplex(l, in, dst, src)
		return
	}
	switch {
	case dst.DType == Complex64 && src.DType == Float32:
		complexRows[float32, float32](l, in, dst, src)
		return
	case dst.DType == Complex128 && src.DType == Float32:
		complexRows[float64, float32](l, in, dst, src)
		return
	case dst.DType == Complex128 && src.DType == Float64:
		complexRows[float64, float64](l, in, dst, src)
		return
	}
	if dst.DType == Bool && in[0] == 1 && in[1] == 1 {
		switch src.DType {
		case Float32:
			truthRows[float32](l, dst, src)
			return
		case Float64:
			truthRows[float64](l, dst, src)
			return
		case Int64:
			truthRows[int64](l, dst, src)
			return
		}
	}
	const chunk = 512
	if src.DType.IsFloat() || src.DType.Kind() == KindComplex {
		buf := make([]float64, chunk)
		l.Rows(func(o []int64, n int64) {
			for k := int64(0); k < n; k += chunk {
				b := buf[:min(chunk, n-k)]
				LoadFloat(src, o[1]+k*in[1], in[1], b)
				StoreFloat(dst, o[0]+k*in[0], in[0], b)
			}
		})
		return
	}
	buf := make([]int64, chunk)
	l.Rows(func(o []int64, n int64) {
		for k := int64(0); k < n; k += chunk {
			b := buf[:min(chunk, n-k)]
			LoadInt(src, o[1]+k*in[1], in[1], b)
			StoreInt(dst, o[0]+k*in[0], in[0], b)
		}
	})
}

func sameStrides(a, b *Tensor) bool {
	for i := range a.Stride {
		if a.Stride[i] != b.Stride[i] && a.Shape[i] > 1 {
			return false
		}
	}
	return true
}

// tile is the side of the squares in which a transposed copy walks, so that the lines of memory it reads stay in the cache.
const tile = 64

// narrow is the side of a matrix from which it is worth that.
const narrow = 16

// copyTransposed copies where src runs along another dimension than the last, which dst runs along, be it in steps; it reports whether that is so.
func copyTransposed[T any](l *Loop, d, s []T) bool {
	n := len(l.Shape)
	if n < 2 || l.Stride[0][n-1] < 1 || l.Stride[1][n-1] == 1 || l.Shape[n-1] < narrow {
		return false
	}
	along := slices.Index(l.Stride[1][:n-1], 1)
	if along < 0 || l.Shape[along] < narrow {
		return false
	}
	if along != n-2 { // the order of the others does not matter
		l = l.swapped(along, n-2)
	}
	rows, cols, ds, ss, step := l.Shape[n-2], l.Shape[n-1], l.Stride[0][n-2], l.Stride[1][n-1], l.Stride[0][n-1]
	outer := Numel(l.Shape[:n-2])
	for k := int64(0); k < outer; k++ {
		a, b, rest := l.Start[0], l.Start[1], k
		for i := n - 3; i >= 0; i-- {
			at := rest % l.Shape[i]
			rest /= l.Shape[i]
			a += at * l.Stride[0][i]
			b += at * l.Stride[1][i]
		}
		if step == 1 && ds > 0 && ss > 0 && turn(d[a:], s[b:], ds, ss, rows, cols) {
			continue
		}
		for r := int64(0); r < rows; r += tile {
			for c := int64(0); c < cols; c += tile {
				for i := r; i < min(r+tile, rows); i++ {
					to, from := a+i*ds, b+i
					for j := c; j < min(c+tile, cols); j++ {
						d[to+j*step] = s[from+j*ss]
					}
				}
			}
		}
	}
	return true
}

// copyNests copies by nests of rows, for the sizes of elements that native.CopyRows has; it reports whether this is one, and the copy is worth a call.
func copyNests[T any](l *Loop, d, s []T) bool {
	if l.Numel() < 64 {
		return false
	}
	switch d := any(d).(type) {
	case []uint8:
		nests(l, d, any(s).([]uint8))
	case []uint16:
		nests(l, d, any(s).([]uint16))
	case []uint32:
		nests(l, d, any(s).([]uint32))
	case []uint64:
		nests(l, d, any(s).([]uint64))
	default:
		return false
	}
	return true
}

func nests[T uint8 | uint16 | uint32 | uint64](l *Loop, d, s []T) {
	nd := len(l.Shape)
	rows := int64(1)
	to, from := native.Grid[T]{Memory: d, Step: l.Stride[0][nd-1]}, native.Grid[T]{Memory: s, Step: l.Stride[1][nd-1]}
	outer := &Loop{Shape: []int64{1}, Stride: [][]int64{{0}, {0}}, Start: l.Start}
	if nd > 1 {
		rows, to.Row, from.Row = l.Shape[nd-2], l.Stride[0][nd-2], l.Stride[1][nd-2]
		outer.Shape = append(slices.Clone(l.Shape[:nd-2]), 1)
		for i := range outer.Stride {
			outer.Stride[i] = append(slices.Clone(l.Stride[i][:nd-2]), 0)
		}
	}
	outer.Rows(func(o []int64, _ int64) {
		to.At, from.At = o[0], o[1]
		native.CopyRows(to, from, l.Shape[nd-1], rows)
	})
}

// turn is native.Turn, for the sizes of elements that it has: element (i, j) of d is element (j, i) of s.
func turn[T any](d, s []T, ds, ss, rows, cols int64) bool {
	switch d := any(d).(type) {
	case []uint32:
		native.Turn(d, int(ds), any(s).([]uint32), int(ss), int(cols), int(rows))
	case []uint64:
		native.Turn(d, int(ds), any(s).([]uint64), int(ss), int(cols), int(rows))
	case []uint8:
		turnBytes(d, any(s).([]uint8), ds, ss, rows, cols)
	default:
		return false
	}
	return true
}

// turnBytes sets element (i, j) of d to element (j, i) of s, by squares of eight bytes a side, and tile by tile.
func turnBytes(d, s []uint8, ds, ss, rows, cols int64) {
	const side = 8
	one := func(i, j, end, wide int64) {
		for ; i < end; i++ {
			for c := j; c < wide; c++ {
				d[i*ds+c] = s[c*ss+i]
			}
		}
	}
	for r := int64(0); r < rows; r += tile {
		for c := int64(0); c < cols; c += tile {
			for i := r; i < min(r+tile, rows); i += side {
				for j := c; j < min(c+tile, cols); j += side {
					if i+side > rows || j+side > cols {
						one(i, j, min(i+side, rows), min(j+side, cols))
						continue
					}
					var x [side]uint64
					for k := range x {
						x[k] = binary.LittleEndian.Uint64(s[(j+int64(k))*ss+i:])
					}
					turnSquare(&x)
					for k, v := range x {
						binary.LittleEndian.PutUint64(d[(i+int64(k))*ds+j:], v)
					}
				}
			}
		}
	}
}

// turnSquare transposes eight rows of eight bytes: quarters, then quarters of these, then single bytes change places.
func turnSquare(x *[8]uint64) {
	for i := range 4 {
		a, b := x[i], x[i+4]
		x[i], x[i+4] = a&0xffffffff|b<<32, a>>32|b&^0xffffffff
	}
	for _, i := range [...]int{0, 1, 4, 5} {
		const low = 0x0000ffff0000ffff
		a, b := x[i], x[i+2]
		x[i], x[i+2] = a&low|b&low<<16, a>>16&low|b&^low
	}
	for _, i := range [...]int{0, 2, 4, 6} {
		const low = 0x00ff00ff00ff00ff
		a, b := x[i], x[i+1]
		x[i], x[i+1] = a&low|b&low<<8, a>>8&low|b&^low
	}
}

func copyRows[T any](l *Loop, in []int64, dst, src *Tensor) {
	d, s := all[T](dst), all[T](src)
	if copyTransposed(l, d, s) {
		return
	}
	if copyNests(l, d, s) {
		return
	}
	l.Rows(func(o []int64, n int64) {
		a, b := o[0], o[1]
		if in[0] == 1 && in[1] == 1 {
			copy(d[a:a+n], s[b:b+n])
			return
		}
		for i := int64(0); i < n; i++ {
			d[a] = s[b]
			a += in[0]
			b += in[1]
		}
	})
}

// complexRows stores real numbers as complex ones.
func complexRows[D, S float32 | float64](l *Loop, in []int64, dst, src *Tensor) {
	const chunk = 512
	d, s, zero := all[D](dst), all[S](src), []D{0}
	same, _ := any(s).([]D)
	l.Rows(func(o []int64, n int64) {
		a, b := o[0], o[1]
		if in[0] == 1 && same != nil {
			native.Pairs(d[2*a:2*(a+n)], same[b:], in[1], zero, 0)
			return
		}
		if in[0] == 1 && in[1] == 1 {
			var buf [chunk]D
			for k := int64(0); k < n; k += chunk {
				m := min(chunk, n-k)
				native.Convert(0, buf[:m], s[b+k:b+k+m])
				native.Pairs(d[2*(a+k):2*(a+k+m)], buf[:], 1, zero, 0)
			}
			return
		}
		for i := int64(0); i < n; i++ {
			d[2*a], d[2*a+1] = D(s[b]), 0
			a += in[0]
			b += in[1]
		}
	})
}

func convRows[D, S number](l *Loop, in []int64, dst, src *Tensor) {
	d, s := all[D](dst), all[S](src)
	l.Rows(func(o []int64, n int64) {
		a, b := o[0], o[1]
		if in[0] == 1 && in[1] == 1 {
			x := s[b : b+n]
			y := d[a : a+n]
			for i := range y {
				y[i] = D(x[i])
			}
			return
		}
		for i := int64(0); i < n; i++ {
			d[a] = D(s[b])
			a += in[0]
			b += in[1]
		}
	})
}

// convertRows converts rows of numbers, none of them complex or of 16 bits if a float; bools are numbers to read. It reports whether these are such.
func convertRows(l *Loop, dst, src *Tensor) bool {
	switch dst.DType {
	case Float32:
		return convertTo[float32](l, dst, src)
	case Float64:
		return convertTo[float64](l, dst, src)
	case Int64:
		return convertTo[int64](l, dst, src)
	case Int32:
		return convertTo[int32](l, dst, src)
	case Int16:
		return convertTo[int16](l, dst, src)
	case Int8:
		return convertTo[int8](l, dst, src)
	case UInt8:
		return convertTo[uint8](l, dst, src)
	}
	return false
}

func convertTo[D number](l *Loop, dst, src *Tensor) bool {
	switch src.DType {
	case Float32:
		return convert[D, float32](l, dst, src)
	case Float64:
		return convert[D, float64](l, dst, src)
	case Int64:
		return convert[D, int64](l, dst, src)
	case Int32:
		return convert[D, int32](l, dst, src)
	case Int16:
		return convert[D, int16](l, dst, src)
	case Int8:
		return convert[D, int8](l, dst, src)
	case UInt8, Bool:
		return convert[D, uint8](l, dst, src)
	}
	return false
}

// streamed is the size in bytes from which what is converted is written past the cache.
const streamed = 24 << 20

func convert[D, S number](l *Loop, dst, src *Tensor) bool {
	d, s := all[D](dst), all[S](src)
	past := native.Op(0)
	if len(dst.Storage.Data) >= streamed && dst.DType.Size() >= 4 && dst.Storage != src.Storage {
		past = native.Streamed
	}
	l.Rows(func(o []int64, n int64) {
		if n < 1024 {
			past = 0
		}
		native.Convert(past, d[o[0]:o[0]+n], s[o[1]:o[1]+n])
	})
	return true
}

// halfRows converts rows of float32 to or from a type of 16 bits; it reports whether they are such.
func halfRows(l *Loop, dst, src *Tensor) bool {
	var f func(a, b, n int64)
	switch {
	case dst.DType == BFloat16 && src.DType == Float32:
		f = func(a, b, n int64) { native.ToBFloat16(all[uint16](dst)[a:a+n], all[float32](src)[b:b+n]) }
	case dst.DType == Float16 && src.DType == Float32:
		f = func(a, b, n int64) { native.ToFloat16(all[uint16](dst)[a:a+n], all[float32](src)[b:b+n]) }
	case dst.DType == Float32 && src.DType == BFloat16:
		f = func(a, b, n int64) { native.FromBFloat16(all[float32](dst)[a:a+n], all[uint16](src)[b:b+n]) }
	case dst.DType == Float32 && src.DType == Float16:
		f = func(a, b, n int64) { native.FromFloat16(all[float32](dst)[a:a+n], all[uint16](src)[b:b+n]) }
	default:
		return false
	}
	l.Rows(func(o []int64, n int64) { f(o[0], o[1], n) })
	return true
}

// truthRows says of each element whether it is not 0.
func truthRows[T float32 | float64 | int64](l *Loop, dst, src *Tensor) {
	d, s, zero := all[uint8](dst), all[T](src), []T{0}
	l.Rows(func(o []int64, n int64) { native.Compare(native.Ne, d[o[0]:o[0]+n], s[o[1]:o[1]+n], zero) })
}

func copyComplex(l *Loop, in []int64, dst, src *Tensor) {
	get := func(o int64) (float64, float64) {
		if src.DType == Complex64 {
			s := all[float32](src)
			return float64(s[2*o]), float64(s[2*o+1])
		}
		s := all[float64](src)
		return s[2*o], s[2*o+1]
	}
	l.Rows(func(o []int64, n int64) {
		a, b := o[0], o[1]
		for i := int64(0); i < n; i++ {
			re, im := get(b)
			if dst.DType == Complex64 {
				d := all[float32](dst)
				d[2*a], d[2*a+1] = float32(re), float32(im)
			} else {
				d := all[float64](dst)
				d[2*a], d[2*a+1] = re, im
			}
			a += in[0]
			b += in[1]
		}
	})
}
