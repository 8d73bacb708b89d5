package ndarray

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// A Ufunc is a universal function: one row of the table.
type Ufunc struct {
	Name     string
	In, Out  int
	Identity any     // of reductions: an int64, bool or float64; nil for none
	Rows     []Typed // tried in order
	// Refuse, if not nil, says what is wrong with the operands of a row before it runs.
	Refuse func(t *Typed, ins []*Array) error
}

// Typed is a loop with the types of its operands, inputs first.
type Typed struct {
	Types []Num
	Loop  Loop
}

// Types are the loops in NumPy's letters, as "dd->d".
func (u *Ufunc) Types() []string {
	var out []string
	for _, r := range u.Rows {
		var s strings.Builder
		for i, n := range r.Types {
			if i == u.In {
				s.WriteString("->")
			}
			s.WriteByte(byNum[n].char)
		}
		out = append(out, s.String())
	}
	return out
}

var ufuncs = map[string]*Ufunc{}

// Find is a universal function by its name; nil for none.
func Find(name string) *Ufunc { return ufuncs[name] }

// Ufuncs are all universal functions.
func Ufuncs() map[string]*Ufunc { return ufuncs }

// Options say how a universal function is called.
type Options struct {
	Outs    []*Array // nil, or one per output, each possibly nil
	Where   *Array   // bool; nil for everywhere
	DType   *DType   // of the computation; nil to let the operands decide
	Casting string   // same_kind if empty
	Order   byte     // K if zero
}

func (o Options) casting() string {
	if o.Casting == "" {
		return "same_kind"
	}
	return o.Casting
}

func (o Options) out(i int) *Array {
	if i < len(o.Outs) {
		return o.Outs[i]
	}
	return nil
}

// Call computes u of arrays. weak, which may be nil, says which of them stand for Python scalars.
func (u *Ufunc) Call(ins []*Array, weak []Weak, o Options) ([]*Array, error) {
	row, err := u.resolve(ins, weak, o)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return u.slow(ins, o)
	}
	if u.Refuse != nil {
		if err := u.Refuse(row, ins); err != nil {
			return nil, err
		}
	}
	shapes := make([][]int, 0, len(ins)+1)
	for _, a := range ins {
		shapes = append(shapes, a.Shape)
	}
	shape, err := u.shape(shapes, o)
	if err != nil {
		return nil, err
	}
	views := make([]*Array, u.In, u.In+u.Out)
	for i, a := range ins {
		t := Of(row.Types[i])
		if i < len(weak) && weak[i] == WeakInt {
			if err := inBounds(a, t); err != nil {
				return nil, err
			}
		}
		if a, err = a.As(t, 'K'); err != nil {
			return nil, err
		}
		if views[i], err = a.Broadcast(shape); err != nil {
			return nil, err
		}
	}
	outs, work, err := u.outputs(row, views, shape, o)
	if err != nil {
		return nil, err
	}
	for _, w := range work {
		for j, v := range views[:u.In] { // an input that an output writes over in another order
			if v.Buf == w.Buf && v.SharesMemory(w) && !(v.Offset == w.Offset && equalInts(v.Strides, w.Strides)) {
				views[j] = v.Copy('K')
			}
		}
	}
	all := append(views, work...)
	runLoop(newWalk(shape, all, true), all, row.Loop)
	return u.finish(outs, work, o)
}

// finish brings what was computed to where the caller wants it.
func (u *Ufunc) finish(outs, work []*Array, o Options) ([]*Array, error) {
	for i, w := range work {
		if outs[i] == w {
			continue
		}
		if o.Where != nil {
			if err := PutMask(outs[i], o.Where, w); err != nil {
				return nil, err
			}
		} else if err := outs[i].Assign(w); err != nil {
			return nil, err
		}
	}
	return outs, nil
}

// shape is that of the results.
func (u *Ufunc) shape(shapes [][]int, o Options) ([]int, error) {
	if o.Where != nil {
		shapes = append(shapes, o.Where.Shape)
	}
	shape, err := BroadcastShapes(shapes...)
	if err != nil {
		return nil, err
	}
	for _, out := range o.Outs {
		if out == nil {
			continue
		}
		if s, err := BroadcastShapes(shape, out.Shape); err != nil || !slices.Equal(s, out.Shape) {
			if err != nil {
				return nil, fail("ValueError", "operands could not be broadcast together with shapes %s ", tightShapes(append(shapes, out.Shape)))
			}
			return nil, fail("ValueError", "non-broadcastable output operand with shape %s doesn't match the broadcast shape %s", tightShape(out.Shape), tightShape(s))
		}
		shape = out.Shape
	}
	return shape, nil
}

func tightShapes(shapes [][]int) string {
	var t []string
	for _, s := range shapes {
		t = append(t, tightShape(s))
	}
	return strings.Join(t, " ")
}

// outputs are the arrays that the caller gets and those that the loop writes, which may be the same.
func (u *Ufunc) outputs(row *Typed, views []*Array, shape []int, o Options) (outs, work []*Array, err error) {
	var order []int
	switch o.Order {
	case 0, 'K':
		var strides [][]int
		for _, v := range views {
			strides = append(strides, v.Strides)
		}
		order = memoryOrder(len(shape), strides, shape)
	case 'F':
		order = (&Array{Shape: shape, Strides: make([]int, len(shape))}).order('F')
	}
	for i := range u.Out {
		t := Of(row.Types[u.In+i])
		given := o.out(i)
		if given == nil {
			w := NewOrder(t, shape, order)
			work = append(work, w)
			if o.Where != nil {
				outs = append(outs, NewOrder(t, shape, order))
			} else {
				outs = append(outs, w)
			}
			continue
		}
		if given.ReadOnly {
			return nil, nil, fail("ValueError", "output array is read-only")
		}
		if !CanCast(t, given.DType, o.casting()) {
			return nil, nil, fail("UFuncTypeError", "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with casting rule '%s'", u.Name, t, given.DType, o.casting())
		}
		outs = append(outs, given)
		if given.DType.Same(t) && o.Where == nil {
			work = append(work, given)
		} else {
			work = append(work, NewOrder(t, shape, order))
		}
	}
	return outs, work, nil
}

// inBounds refuses a Python integer that a type does not hold.
func inBounds(a *Array, t *DType) error {
	v := a.Get(a.Offset)
	ok := true
	switch n := v.(type) {
	case int64:
		switch t.Kind {
		case 'i':
			ok = t.Size == 8 || n >= -1<<(8*t.Size-1) && n < 1<<(8*t.Size-1)
		case 'u':
			ok = n >= 0 && (t.Size == 8 || n < 1<<(8*t.Size))
		}
	case uint64:
		ok = t.Kind != 'i' && (t.Kind != 'u' || t.Size == 8)
	}
	if !ok {
		return fail("OverflowError", "Python integer %s out of bounds for %s", ValueText(v), t.Name())
	}
	return nil
}

// resolve finds the loop for operands; nil for objects and texts, which slow computes.
func (u *Ufunc) resolve(ins []*Array, weak []Weak, o Options) (*Typed, error) {
	types := make([]*DType, len(ins))
	if refusesBools[u.Name] && all(ins, func(a *Array) bool { return a.DType.Num == Bool }) {
		return nil, u.unsupported([]*DType{Of(Bool)})
	}
	var strong []*DType
	top := NotWeak
	for i, a := range ins {
		types[i] = a.DType.Native()
		if !a.DType.Numeric() {
			return nil, nil
		}
		if i < len(weak) && weak[i] != NotWeak {
			top = max(top, weak[i])
		} else {
			strong = append(strong, types[i])
		}
	}
	if top != NotWeak { // the scalars go along with the others
		meet := DefaultOf(top)
		if len(strong) > 0 {
			meet = PromoteWeak(ResultType(strong, nil), top)
		}
		for i := range types {
			if i < len(weak) && weak[i] != NotWeak {
				if a := ins[i].DType; a.Num == UInt64 && meet.Num == Int64 && len(strong) == 0 {
					continue
				}
				types[i] = meet
			}
		}
	}
	for i := range u.Rows {
		r := &u.Rows[i]
		if o.DType != nil {
			if r.Types[u.In] == o.DType.Num && u.castable(types, r, o.casting()) {
				return r, nil
			}
		} else if u.castable(types, r, "safe") {
			return r, nil
		}
	}
	if o.DType != nil {
		for i := range u.Rows {
			if r := &u.Rows[i]; r.Types[u.In] == o.DType.Num {
				return nil, fail("UFuncTypeError", "Cannot cast ufunc '%s' input from dtype('%s') to dtype('%s') with casting rule '%s'", u.Name, types[0], Of(r.Types[0]), o.casting())
			}
		}
		return nil, fail("UFuncTypeError", "No loop matching the specified signature and casting was found for ufunc %s", u.Name)
	}
	return nil, u.unsupported(types)
}

// refusesBools are the functions that have a loop for small integers, to which truths would go, but mean none for truths.
var refusesBools = map[string]bool{"subtract": true, "negative": true, "positive": true, "sign": true}

func all(as []*Array, f func(a *Array) bool) bool {
	for _, a := range as {
		if !f(a) {
			return false
		}
	}
	return true
}

func (u *Ufunc) castable(types []*DType, r *Typed, rule string) bool {
	for i, t := range types {
		if t.Num != r.Types[i] && !CanCast(t, Of(r.Types[i]), rule) {
			return false
		}
	}
	return true
}

// unsupported is the error of operands for which there is no loop.
func (u *Ufunc) unsupported(types []*DType) error {
	if types[0].Num == Bool {
		switch u.Name {
		case "subtract":
			return fail("TypeError", "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.")
		case "negative":
			return fail("TypeError", "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.")
		}
	}
	for _, t := range types {
		if t.Flexible() && (u.In == 2 || u.Name == "absolute" || u.Name == "negative") {
			var names []string
			for _, t := range types {
				names = append(names, fmt.Sprintf("dtype('%s')", t))
			}
			list := strings.Join(names, ", ")
			if len(names) == 1 {
				list += ","
			}
			return fail("UFuncTypeError", "ufunc '%s' did not contain a loop with signature matching types (%s) -> None", u.Name, list)
		}
	}
	return fail("TypeError", "ufunc '%s' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''", u.Name)
}

// slow computes element by element what has no loop: objects by their language, texts by comparing and joining.
func (u *Ufunc) slow(ins []*Array, o Options) ([]*Array, error) {
	var lang Language
	shapes := make([][]int, len(ins))
	types := make([]*DType, len(ins))
	for i, a := range ins {
		shapes[i], types[i] = a.Shape, a.DType
		if a.DType.Num == Object {
			lang = a.DType.Lang
		}
	}
	f, d := u.elementwise(lang, types)
	if f == nil || u.Out != 1 {
		return nil, u.unsupported(types)
	}
	shape, err := u.shape(shapes, o)
	if err != nil {
		return nil, err
	}
	out := o.out(0)
	work := New(d, shape...)
	views := make([]*Array, 0, len(ins)+1)
	for _, a := range ins {
		v, err := a.Broadcast(shape)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	views = append(views, work)
	args := make([]any, len(ins))
	err = newWalk(shape, views, false).run(func(offs []int, n int, steps []int) error {
		for k := range n {
			for i := range ins {
				args[i] = views[i].Get(offs[i] + k*steps[i])
			}
			v, err := f(args)
			if err != nil {
				return err
			}
			if err := work.Set(offs[len(ins)]+k*steps[len(ins)], v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out == nil {
		return []*Array{work}, nil
	}
	return u.finish([]*Array{out}, []*Array{work}, o)
}

var comparisons = map[string]func(c int) bool{
	"equal": func(c int) bool { return c == 0 }, "not_equal": func(c int) bool { return c != 0 }, "less": func(c int) bool { return c < 0 },
	"less_equal": func(c int) bool { return c <= 0 }, "greater": func(c int) bool { return c > 0 }, "greater_equal": func(c int) bool { return c >= 0 },
}

// elementwise is u of single elements that are objects or texts, and the dtype that it gives.
func (u *Ufunc) elementwise(lang Language, types []*DType) (func(args []any) (any, error), *DType) {
	cmp, compares := comparisons[u.Name]
	if lang != nil {
		d := Objects(lang)
		truth := compares
		if truth {
			d = Of(Bool)
		}
		return func(args []any) (any, error) {
			obj := make([]any, len(args))
			for i, a := range args {
				if it, ok := a.(Item); ok {
					obj[i] = it.V
				} else {
					obj[i] = lang.ToObject(a)
				}
			}
			v, err := lang.Apply(u.Name, obj)
			if err != nil || !truth {
				return Item{v}, err
			}
			t, err := lang.Truth(v)
			return t, err
		}, d
	}
	texts := true
	n := 0
	for _, t := range types {
		texts = texts && t.Flexible()
		n += t.Size
	}
	switch {
	case texts && compares:
		return func(args []any) (any, error) {
			return cmp(strings.Compare(ValueText(args[0]), ValueText(args[1]))), nil
		}, Of(Bool)
	case texts && u.Name == "add" && types[0].Num == types[1].Num:
		return func(args []any) (any, error) { return ValueText(args[0]) + ValueText(args[1]), nil }, &DType{Num: types[0].Num, Kind: types[0].Kind, Size: n}
	case len(types) == 2 && u.Name == "equal":
		return func([]any) (any, error) { return false, nil }, Of(Bool)
	case len(types) == 2 && u.Name == "not_equal":
		return func([]any) (any, error) { return true, nil }, Of(Bool)
	}
	return nil, nil
}

// PutMask stores elements of src in dst where a mask is true.
func PutMask(dst, mask, src *Array) error {
	m, err := mask.As(Of(Bool), 'K')
	if err != nil {
		return err
	}
	if m, err = m.Broadcast(dst.Shape); err != nil {
		return err
	}
	if !src.DType.Same(dst.DType) {
		if src, err = src.AsType(dst.DType, 'K'); err != nil {
			return err
		}
	}
	if src, err = src.Broadcast(dst.Shape); err != nil {
		return err
	}
	size := dst.DType.Size
	return newWalk(dst.Shape, []*Array{dst, m, src}, true).run(func(offs []int, n int, steps []int) error {
		for i := range n {
			if *at[b8](m.ptr(offs[1]), steps[1], i) != 0 {
				move(dst, offs[0]+i*steps[0], src, offs[2]+i*steps[2], size)
			}
		}
		return nil
	})
}

// move copies one element between arrays of one dtype.
func move(dst *Array, to int, src *Array, from, size int) {
	if dst.Buf.Objects != nil {
		dst.Buf.Objects[to/8] = src.Buf.Objects[from/8]
		return
	}
	switch size {
	case 8:
		*(*uint64)(unsafe.Pointer(&dst.Buf.Bytes[to])) = *(*uint64)(unsafe.Pointer(&src.Buf.Bytes[from]))
	case 4:
		*(*uint32)(unsafe.Pointer(&dst.Buf.Bytes[to])) = *(*uint32)(unsafe.Pointer(&src.Buf.Bytes[from]))
	default:
		copy(dst.Buf.Bytes[to:to+size], src.Buf.Bytes[from:from+size])
	}
}
