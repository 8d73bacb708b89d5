package ndarray

import "slices"

// Weak is the kind of a Python scalar, which has no dtype of its own: it takes that of what it meets.
type Weak byte

// The weak kinds, in the order in which they promote.
const (
	NotWeak Weak = iota
	WeakInt
	WeakFloat
	WeakComplex
)

var weakDefault = [...]Num{WeakInt: Int64, WeakFloat: Float64, WeakComplex: Complex128}

// DefaultOf is the dtype of a Python scalar that meets nothing else.
func DefaultOf(w Weak) *DType { return Of(weakDefault[w]) }

// Promote is the dtype that holds the values of two; nil if there is none.
func Promote(a, b *DType) *DType {
	switch {
	case a.Same(b) && !a.Swapped:
		return a
	case a.Num == Object:
		return a
	case b.Num == Object:
		return b
	case a.Flexible() || b.Flexible():
		return promoteText(a, b)
	}
	a, b = a.Native(), b.Native()
	if CanCast(a, b, "safe") {
		return b
	}
	if CanCast(b, a, "safe") {
		return a
	}
	for _, n := range Plain { // the first type that holds both
		if c := Of(n); CanCast(a, c, "safe") && CanCast(b, c, "safe") {
			return c
		}
	}
	return nil
}

func promoteText(a, b *DType) *DType {
	chars := func(d *DType) int {
		switch {
		case d.Num == Unicode:
			return d.Size / 4
		case d.Num == String:
			return d.Size
		}
		return textWidth[d.Num]
	}
	n := max(chars(a), chars(b))
	if a.Num == Unicode || b.Num == Unicode {
		return Text(n)
	}
	return RawText(n)
}

// PromoteWeak is the dtype of d and a Python scalar.
func PromoteWeak(d *DType, w Weak) *DType {
	switch {
	case w == NotWeak || d.Num == Object:
		return d
	case w == WeakInt && d.Kind == 'b':
		return Of(Int64)
	case w == WeakFloat && (d.Kind == 'b' || d.Kind == 'i' || d.Kind == 'u'):
		return Of(Float64)
	case w == WeakComplex && d.Kind != 'c':
		switch d.Num {
		case Float16, Float32:
			return Of(Complex64)
		}
		return Of(Complex128)
	}
	return d
}

// ResultType promotes dtypes and Python scalars together; nil if it cannot be done.
func ResultType(ds []*DType, weak []Weak) *DType {
	var out *DType
	top := NotWeak
	for i, d := range ds {
		if i < len(weak) && weak[i] != NotWeak {
			top = max(top, weak[i])
			continue
		}
		if out == nil {
			out = d.Native()
		} else if out = Promote(out, d); out == nil {
			return nil
		}
	}
	if out == nil {
		return DefaultOf(top)
	}
	return PromoteWeak(out, top)
}

// safe lists for each type those to which all its values go unchanged, besides itself and Object.
var safe = func() (t [24][]Num) {
	ints := []Num{Int8, Int16, Int32, Int64}
	uints := []Num{UInt8, UInt16, UInt32, UInt64}
	floats := []Num{Float16, Float32, Float64, Complex64, Complex128}
	t[Bool] = slices.Concat(ints, uints, floats)
	fits := [][]Num{floats, {Float32, Float64, Complex64, Complex128}, {Float64, Complex128}, {Float64, Complex128}} // by the number of bytes
	for i := range ints {
		t[ints[i]] = slices.Concat(ints[i+1:], fits[i])
		t[uints[i]] = slices.Concat(uints[i+1:], ints[i+1:], fits[i])
	}
	t[Float16] = floats[1:]
	t[Float32] = []Num{Float64, Complex64, Complex128}
	t[Float64] = []Num{Complex128}
	t[Complex64] = []Num{Complex128}
	return t
}()

var kindRank = map[byte]int{'b': 0, 'u': 1, 'i': 2, 'f': 3, 'c': 4, 'S': 5, 'U': 6, 'O': 8}

// CanCast says whether a cast is allowed by a rule: no, equiv, safe, same_kind or unsafe.
func CanCast(from, to *DType, rule string) bool {
	switch {
	case rule == "unsafe":
		return true
	case rule == "no":
		return from.Same(to)
	case from.Num == to.Num && !from.Flexible():
		return true
	case rule == "equiv":
		return from.Num == to.Num && from.Size == to.Size
	case to.Num == Object:
		return true
	case from.Num == Object:
		return false
	case to.Flexible():
		if from.Flexible() {
			return (from.Num == to.Num || to.Num == Unicode) && (rule == "same_kind" || promoteText(from, to).Size <= to.Size || to.Size == 0)
		}
		return to.Size == 0 || promoteText(from, to).Size <= to.Size || rule == "same_kind"
	case from.Flexible():
		return false
	case slices.Contains(safe[from.Num], to.Num):
		return true
	}
	return rule == "same_kind" && kindRank[from.Kind] <= kindRank[to.Kind]
}
