package ndarray

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Error is what NumPy raises; Kind is the name of the exception.
type Error struct{ Kind, Msg string }

// Error is the text alone.
func (e *Error) Error() string { return e.Msg }

func fail(kind, format string, args ...any) error {
	return &Error{kind, fmt.Sprintf(format, args...)}
}

// ShapeText is a shape as Python writes a tuple.
func ShapeText(s []int) string {
	if len(s) == 1 {
		return "(" + strconv.Itoa(s[0]) + ",)"
	}
	return "(" + join(s, ", ") + ")"
}

// tightShape is a shape in errors of broadcasting, as (2,3).
func tightShape(s []int) string {
	if len(s) == 1 {
		return "(" + strconv.Itoa(s[0]) + ",)"
	}
	return "(" + join(s, ",") + ")"
}

func join(s []int, sep string) string {
	t := make([]string, len(s))
	for i, d := range s {
		t[i] = strconv.Itoa(d)
	}
	return strings.Join(t, sep)
}

// Axis is a dimension counted from the front.
func Axis(axis, ndim int) (int, error) {
	if axis < -ndim || axis >= ndim {
		return 0, fail("AxisError", "axis %d is out of bounds for array of dimension %d", axis, ndim)
	}
	if axis < 0 {
		axis += ndim
	}
	return axis, nil
}

// Axes are dimensions counted from the front, each once; nil is all of them.
func Axes(axes []int, ndim int) ([]int, error) {
	out := make([]int, 0, len(axes))
	for _, ax := range axes {
		ax, err := Axis(ax, ndim)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, ax) {
			return nil, fail("ValueError", "duplicate value in 'axis'")
		}
		out = append(out, ax)
	}
	return out, nil
}

// Transpose permutes the axes; nil reverses them.
func (a *Array) Transpose(perm []int) (*Array, error) {
	n := a.NDim()
	if perm == nil {
		perm = make([]int, n)
		for i := range perm {
			perm[i] = n - 1 - i
		}
	}
	if len(perm) != n {
		return nil, fail("ValueError", "axes don't match array")
	}
	seen := make([]bool, n)
	shape, strides := make([]int, n), make([]int, n)
	for i, p := range perm {
		p, err := Axis(p, n)
		if err != nil {
			return nil, err
		}
		if seen[p] {
			return nil, fail("ValueError", "repeated axis in transpose")
		}
		seen[p] = true
		shape[i], strides[i] = a.Shape[p], a.Strides[p]
	}
	return a.View(shape, strides, a.Offset), nil
}

// T reverses the axes.
func (a *Array) T() *Array {
	t, _ := a.Transpose(nil)
	return t
}

// Reshape gives the elements, in the order C or F, a shape in which one size may be -1: a view where the strides allow it.
func (a *Array) Reshape(shape []int, order byte) (*Array, error) {
	want, err := a.fit(shape)
	if err != nil {
		return nil, err
	}
	if order == 'F' {
		t, err := a.T().Reshape(reversed(want), 'C')
		if err != nil {
			return nil, err
		}
		return t.T(), nil
	}
	if s := viewStrides(a, want); s != nil {
		return a.View(want, s, a.Offset), nil
	}
	c := a.Copy('C')
	c.Shape, c.Strides = want, CStrides(a.DType.Size, want)
	return c, nil
}

func reversed(s []int) []int {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

// fit resolves -1 in a new shape.
func (a *Array) fit(shape []int) ([]int, error) {
	want := append([]int{}, shape...)
	n, known, at := a.Len(), 1, -1
	for i, d := range want {
		switch {
		case d >= 0:
			known *= d
		case at >= 0:
			return nil, fail("ValueError", "can only specify one unknown dimension")
		default:
			at = i
		}
	}
	if at >= 0 {
		if known == 0 || n%known != 0 {
			return nil, fail("ValueError", "cannot reshape array of size %d into shape %s", n, tightShape(unknown(shape)))
		}
		want[at] = n / known
	} else if known != n {
		return nil, fail("ValueError", "cannot reshape array of size %d into shape %s", n, tightShape(shape))
	}
	return want, nil
}

// unknown is a shape for an error: NumPy writes the size that it was to find as it was given.
func unknown(s []int) []int { return s }

// viewStrides are the strides of a view of a in another shape; nil if it takes a copy.
func viewStrides(a *Array, want []int) []int {
	if a.Contiguous() {
		return CStrides(a.DType.Size, want)
	}
	var shape, strides []int // those of a, without sizes of 1
	for i, n := range a.Shape {
		if n != 1 {
			shape, strides = append(shape, n), append(strides, a.Strides[i])
		}
	}
	out := make([]int, len(want))
	i, j := 0, 0
	for i < len(shape) && j < len(want) {
		oi, oj := i+1, j+1
		np, op := want[j], shape[i]
		for np != op {
			if np < op {
				np *= want[oj]
				oj++
			} else {
				op *= shape[oi]
				oi++
			}
		}
		for k := i; k < oi-1; k++ {
			if strides[k] != strides[k+1]*shape[k+1] {
				return nil
			}
		}
		step := strides[oi-1]
		for k := oj - 1; k >= j; k-- {
			out[k] = step
			step *= want[k]
		}
		i, j = oi, oj
	}
	last := a.DType.Size
	if j > 0 {
		last = out[j-1]
	}
	for ; j < len(want); j++ { // ones
		out[j] = last
	}
	return out
}

// BroadcastShapes is the shape that all shapes broadcast to.
func BroadcastShapes(shapes ...[]int) ([]int, error) {
	n := 0
	for _, s := range shapes {
		n = max(n, len(s))
	}
	out := make([]int, n)
	for i := range out {
		out[i] = 1
		for _, s := range shapes {
			k := i - n + len(s)
			if k < 0 || s[k] == 1 || s[k] == out[i] {
				continue
			}
			if out[i] != 1 {
				var t []string
				for _, s := range shapes {
					t = append(t, tightShape(s))
				}
				return nil, fail("ValueError", "operands could not be broadcast together with shapes %s ", strings.Join(t, " "))
			}
			out[i] = s[k]
		}
	}
	return out, nil
}

// Broadcast is a view of a in a larger shape.
func (a *Array) Broadcast(shape []int) (*Array, error) {
	d := len(shape) - len(a.Shape)
	strides := make([]int, len(shape))
	ok := d >= 0
	for i, n := range a.Shape {
		if !ok {
			break
		}
		switch {
		case shape[d+i] == n:
			strides[d+i] = a.Strides[i]
		case n != 1:
			ok = false
		}
	}
	if !ok {
		return nil, fail("ValueError", "could not broadcast input array from shape %s into shape %s", tightShape(a.Shape), tightShape(shape))
	}
	return a.View(append([]int{}, shape...), strides, a.Offset), nil
}

// Squeeze leaves out axes of size 1; nil is all of them.
func (a *Array) Squeeze(axes []int) (*Array, error) {
	ax, err := Axes(axes, a.NDim())
	if err != nil {
		return nil, err
	}
	var shape, strides []int
	for i, n := range a.Shape {
		drop := n == 1 && axes == nil
		if slices.Contains(ax, i) {
			if n != 1 {
				return nil, fail("ValueError", "cannot select an axis to squeeze out which has size not equal to one")
			}
			drop = true
		}
		if !drop {
			shape, strides = append(shape, n), append(strides, a.Strides[i])
		}
	}
	return a.View(append([]int{}, shape...), append([]int{}, strides...), a.Offset), nil
}

// Insert is a view with an axis of size 1 more, before axis i.
func (a *Array) Insert(i int) *Array {
	return a.View(slices.Insert(slices.Clone(a.Shape), i, 1), slices.Insert(slices.Clone(a.Strides), i, 0), a.Offset)
}

// Diagonal is the view of a diagonal of two axes, which becomes the last axis.
func (a *Array) Diagonal(k, ax1, ax2 int) (*Array, error) {
	if a.NDim() < 2 {
		return nil, fail("ValueError", "diag requires an array of at least two dimensions")
	}
	p, err := Axis(ax1, a.NDim())
	if err != nil {
		return nil, err
	}
	q, err := Axis(ax2, a.NDim())
	if err != nil {
		return nil, err
	}
	if p == q {
		return nil, fail("ValueError", "axis1 and axis2 cannot be the same")
	}
	off, rows, cols := a.Offset, a.Shape[p], a.Shape[q]
	if k >= 0 {
		cols -= k
		off += k * a.Strides[q]
	} else {
		rows += k
		off -= k * a.Strides[p]
	}
	n := max(min(rows, cols), 0)
	if n == 0 {
		off = a.Offset
	}
	var shape, strides []int
	for i := range a.Shape {
		if i != p && i != q {
			shape, strides = append(shape, a.Shape[i]), append(strides, a.Strides[i])
		}
	}
	return a.View(append(shape, n), append(strides, a.Strides[p]+a.Strides[q]), off), nil
}

// Part is the view of the real or the imaginary parts.
func (a *Array) Part(imag bool) (*Array, error) {
	if a.DType.Kind != 'c' {
		if !imag {
			return a, nil
		}
		z := New(a.DType, a.Shape...)
		z.ReadOnly = true
		return z, nil
	}
	v := a.Alias()
	v.DType = Of(map[Num]Num{Complex64: Float32, Complex128: Float64}[a.DType.Num])
	if imag {
		v.Offset += v.DType.Size
	}
	return v, nil
}

// Reinterpret is a view of the same bytes as elements of another dtype.
func (a *Array) Reinterpret(d *DType) (*Array, error) {
	v := a.Alias()
	v.DType = d
	if d.Size == a.DType.Size {
		return v, nil
	}
	n := a.NDim()
	switch {
	case a.DType.Num == Object || d.Num == Object:
		return nil, fail("TypeError", "Cannot change data-type for array of references.")
	case n == 0:
		return nil, fail("ValueError", "Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
	case a.Strides[n-1] != a.DType.Size && a.Shape[n-1] != 1:
		return nil, fail("ValueError", "To change to a dtype of a different size, the last axis must be contiguous")
	}
	bytes := a.Shape[n-1] * a.DType.Size
	if d.Size == 0 || bytes%d.Size != 0 {
		if d.Size < a.DType.Size {
			return nil, fail("ValueError", "When changing to a smaller dtype, its size must be a divisor of the size of original dtype")
		}
		return nil, fail("ValueError", "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.")
	}
	v.Shape[n-1], v.Strides[n-1] = bytes/d.Size, d.Size
	return v, nil
}
