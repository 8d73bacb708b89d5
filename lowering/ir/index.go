package ir

import (
	"fmt"
	"slices"
	"strings"
)

// Index is an integer function of the axes of a loop: Const + sum Coef[i]*axis i + sum of More. Axes 0..n-1 are the loop's ranges, the reduction
// axes follow. The zero Index is 0. Immutable.
type Index struct {
	Coef  []int64
	Const int64
	More  []Term
}

// Term is Coef * ((Of / Div) % Mod): where a view cuts an axis in two, or puts two in one. Of is never negative; a Mod of 0 takes no remainder.
type Term struct {
	Coef     int64
	Of       Index
	Div, Mod int64
}

// Axis is axis i itself.
func Axis(i int) Index {
	c := make([]int64, i+1)
	c[i] = 1
	return Index{Coef: c}
}

// At is the coefficient of axis i.
func (x Index) At(i int) int64 {
	if i < len(x.Coef) {
		return x.Coef[i]
	}
	return 0
}

// Affine reports whether x is Const and multiples of axes alone.
func (x Index) Affine() bool { return len(x.More) == 0 }

// Plus is x + k*y.
func (x Index) Plus(y Index, k int64) Index {
	c := make([]int64, max(len(x.Coef), len(y.Coef)))
	copy(c, x.Coef)
	for i, v := range y.Coef {
		c[i] += v * k
	}
	more := slices.Clone(x.More)
	for _, t := range y.More {
		t.Coef *= k
		if at := slices.IndexFunc(more, func(o Term) bool { return o.Div == t.Div && o.Mod == t.Mod && o.Of.Equal(t.Of) }); at >= 0 {
			more[at].Coef += t.Coef
		} else {
			more = append(more, t)
		}
	}
	more = slices.DeleteFunc(more, func(t Term) bool { return t.Coef == 0 })
	return Index{Coef: c, Const: x.Const + y.Const*k, More: more}
}

// Equal reports whether x and y are written alike; coefficients of 0 at the end do not count.
func (x Index) Equal(y Index) bool {
	for i := range max(len(x.Coef), len(y.Coef)) {
		if x.At(i) != y.At(i) {
			return false
		}
	}
	return x.Const == y.Const && slices.EqualFunc(x.More, y.More, func(a, b Term) bool {
		return a.Coef == b.Coef && a.Div == b.Div && a.Mod == b.Mod && a.Of.Equal(b.Of)
	})
}

// Bounds are the least and the greatest value of x where axis i has size sizes[i], sizes above 0.
func (x Index) Bounds(sizes []int64) (lo, hi int64) {
	lo, hi = x.Const, x.Const
	add := func(a, b int64) { lo, hi = lo+min(a, b), hi+max(a, b) }
	for i, c := range x.Coef {
		if c != 0 {
			add(0, c*(sizes[i]-1))
		}
	}
	for _, t := range x.More {
		a, b := t.Of.Bounds(sizes)
		if a, b = a/t.Div, b/t.Div; t.Mod > 0 && (a/t.Mod != b/t.Mod) {
			a, b = 0, t.Mod-1
		} else if t.Mod > 0 {
			a, b = a%t.Mod, b%t.Mod
		}
		add(t.Coef*a, t.Coef*b)
	}
	return lo, hi
}

// Quotient is (x / div) % mod, simplified as far as the sizes of the axes show; x is never negative, and a mod of 0 takes no remainder.
func (x Index) Quotient(div, mod int64, sizes []int64) Index {
	if _, hi := x.Bounds(sizes); mod > 0 && hi/div < mod {
		mod = 0
	}
	// What is a multiple of div can be taken out of the quotient, as long as the rest stays below div; what is a multiple of div*mod
	// goes without a trace.
	whole, rest := Index{}, Index{}
	part := func(c int64, one Index) {
		switch {
		case c == 0 || mod > 0 && c%(div*mod) == 0:
		case c%div == 0:
			whole = whole.Plus(one, c/div)
		default:
			rest = rest.Plus(one, c)
		}
	}
	for i, c := range x.Coef {
		part(c, Axis(i))
	}
	for _, t := range x.More {
		c := t.Coef
		t.Coef = 1
		part(c, Index{More: []Term{t}})
	}
	part(x.Const-mod0(x.Const, div), Index{Const: 1})
	rest.Const += mod0(x.Const, div)
	if lo, hi := rest.Bounds(sizes); lo >= 0 && hi < div {
		rest = Index{}
	} else if lo >= 0 {
		// The rest matters.
		if mod == 0 {
			return whole.Plus(Index{More: []Term{{Coef: 1, Of: rest, Div: div}}}, 1)
		}
		return Index{More: []Term{{Coef: 1, Of: x, Div: div, Mod: mod}}}
	} else {
		return Index{More: []Term{{Coef: 1, Of: x, Div: div, Mod: mod}}}
	}
	if mod == 0 {
		return whole
	}
	if lo, hi := whole.Bounds(sizes); lo >= 0 && hi < mod {
		return whole
	} else if lo < 0 {
		return Index{More: []Term{{Coef: 1, Of: x, Div: div, Mod: mod}}}
	}
	return Index{More: []Term{{Coef: 1, Of: whole, Div: 1, Mod: mod}}}
}

// mod0 is the remainder of a by n that is not negative.
func mod0(a, n int64) int64 { return (a%n + n) % n }

// Replace is x with axis i replaced by to[i], whose axes have the given sizes.
func (x Index) Replace(to []Index, sizes []int64) Index {
	out := Index{Const: x.Const}
	for i, c := range x.Coef {
		if c != 0 {
			out = out.Plus(to[i], c)
		}
	}
	for _, t := range x.More {
		out = out.Plus(t.Of.Replace(to, sizes).Quotient(t.Div, t.Mod, sizes), t.Coef)
	}
	return out
}

// Of is x with axis i replaced by to[i], whatever sizes axes have: nothing is simplified.
func (x Index) Of(to []Index) Index {
	out := Index{Const: x.Const}
	for i, c := range x.Coef {
		if c != 0 {
			out = out.Plus(to[i], c)
		}
	}
	for _, t := range x.More {
		t.Of = t.Of.Of(to)
		out.More = append(out.More, t)
	}
	return out
}

// Text is the C expression of x over axis names i0, i1, ...
func (x Index) Text() string {
	var parts []string
	scaled := func(c int64, what string) {
		switch c {
		case 0:
		case 1:
			parts = append(parts, what)
		default:
			parts = append(parts, fmt.Sprintf("%d*%s", c, what))
		}
	}
	for i, c := range x.Coef {
		scaled(c, fmt.Sprintf("i%d", i))
	}
	for _, t := range x.More {
		what := "(" + t.Of.Text() + ")"
		if t.Div != 1 {
			what = fmt.Sprintf("(%s/%d)", what, t.Div)
		}
		if t.Mod != 0 {
			what = fmt.Sprintf("(%s%%%d)", what, t.Mod)
		}
		scaled(t.Coef, what)
	}
	if x.Const != 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprint(x.Const))
	}
	return strings.Join(parts, " + ")
}
