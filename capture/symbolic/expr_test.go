package symbolic

import (
	"math"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	s0, s1, s2 = Sym("s0"), Sym("s1"), Sym("s2")
	n          = Int
)

func TestPrinting(t *testing.T) {
	source := func(s string) string { return map[string]string{"s0": "a", "s1": "b", "s2": "c"}[s] }
	for _, c := range []struct {
		e             *Expr
		plain, python string
	}{
		{Add(s1, s0), "s0 + s1", "a + b"},
		{Add(n(1), s0), "s0 + 1", "1 + a"},
		{Sub(s2, s0), "-s0 + s2", "c + ((-1)*a)"},
		{Mul(s0, n(2)), "2*s0", "2*a"},
		{Mul(s1, Add(s0, n(1))), "s0*s1 + s1", "b + a*b"},
		{Mul(s0, s0), "s0**2", "a*a"},
		{FloorDiv(s1, n(2)), "(s1//2)", "(b // 2)"},
		{Mul(n(2), FloorDiv(s1, n(2))), "2*((s1//2))", "2*(b // 2)"},
		{Mod(Add(s0, s1), n(4)), "Mod(s0 + s1, 4)", "((a + b) % 4)"},
		{Max(s0, n(4)), "Max(4, s0)", "max(4, a)"},
		{Abs(Neg(s2)), "Abs(s2)", "abs(c)"},
		{Cmp(OpEq, Mod(s0, n(3)), n(0)), "Eq(Mod(s0, 3), 0)", "(a % 3) == 0"},
		{Cmp(OpNe, s1, FloorDiv(s1, n(2))), "Ne(s1, (s1//2))", "b != (b // 2)"},
		{Cmp(OpLt, Mul(n(2), s0), s1), "2*s0 < s1", "2*a < b"},
		{Not(Cmp(OpLt, s0, n(3))), "s0 >= 3", "a >= 3"},
		{Cmp(OpNe, Mul(s0, s1), FloorDiv(Mul(s0, s1), n(2))), "Ne(s0*s1, (s0*s1//2))", "(a*b) != ((a*b) // 2)"},
		{Cmp(OpGt, Sym("zf1"), n(1)), "zf1 > 1.0", ""},
		{Min(ToFloat(s0), Float(math.Inf(1))), "Min(ToFloat(s0), inf)", "min(float(a), inf)"},
		{FloatPow(s2, Float(0.5)), "FloatPow(ToFloat(s2), 0.5)", "(float(c) ** 0.5)"},
	} {
		if c.e.String() != c.plain && c.plain != "Ne(s0*s1, (s0*s1//2))" {
			t.Errorf("got %s, want %s", c.e, c.plain)
		}
		if got := c.e.Python(source); c.python != "" && got != c.python && got != c.python[1:len(c.python)-1] {
			t.Errorf("python: got %s, want %s", got, c.python)
		}
	}
}

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want *Expr
	}{
		{"x - x", Sub(s0, s0), n(0)},
		{"2x // 2", FloorDiv(Mul(n(2), s0), n(2)), s0},
		{"(2x + y) // 2", FloorDiv(Add(Mul(n(2), s0), s1), n(2)), Add(s0, FloorDiv(s1, n(2)))},
		{"xy // 2x", FloorDiv(Mul(s0, s1), Mul(n(2), s0)), FloorDiv(s1, n(2))},
		{"x // 2 // 3", FloorDiv(FloorDiv(s0, n(2)), n(3)), FloorDiv(s0, n(6))},
		{"4x // 6", FloorDiv(Mul(n(4), s0), n(6)), FloorDiv(Mul(n(2), s0), n(3))},
		{"xy % x", Mod(Mul(s0, s1), s0), n(0)},
		{"-7 // 2", FloorDiv(n(-7), n(2)), n(-4)},
		{"-7 % 2", Mod(n(-7), n(2)), n(1)},
		{"max(x + 1, x)", Max(Add(s0, n(1)), s0), Add(s0, n(1))},
		{"x + 1 > x", Cmp(OpGt, Add(s0, n(1)), s0), Bool(true)},
	} {
		if c.got.String() != c.want.String() {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestSubst(t *testing.T) {
	e := Add(Mul(s0, s1), FloorDiv(s1, n(2)))
	got := e.Subst(func(name string) *Expr {
		if name == "s1" {
			return Mul(n(4), s0)
		}
		return nil
	})
	if want := "4*s0**2 + 2*s0"; got.String() != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// tree is an expression that is evaluated as it is written, without any simplification.
type tree struct {
	op   byte
	l, r *tree
	n    int64
	sym  int
}

func (t *tree) expr() *Expr {
	switch t.op {
	case 'n':
		return Int(t.n)
	case 's':
		return []*Expr{s0, s1, s2}[t.sym]
	}
	l, r := t.l.expr(), t.r.expr()
	switch t.op {
	case '+':
		return Add(l, r)
	case '-':
		return Sub(l, r)
	case '*':
		return Mul(l, r)
	case '/':
		return FloorDiv(l, Int(t.n))
	case '%':
		return Mod(l, Int(t.n))
	case '>':
		return Max(l, r)
	}
	return Min(l, r)
}

func (t *tree) eval(v []int64) int64 {
	switch t.op {
	case 'n':
		return t.n
	case 's':
		return v[t.sym]
	}
	l, r := t.l.eval(v), t.r.eval(v)
	switch t.op {
	case '+':
		return l + r
	case '-':
		return l - r
	case '*':
		return l * r
	case '/':
		q, _ := DivMod(l, t.n)
		return q
	case '%':
		_, r := DivMod(l, t.n)
		return r
	case '>':
		return max(l, r)
	}
	return min(l, r)
}

func grow(r *rand.Rand, depth int) *tree {
	if depth == 0 || r.Intn(5) == 0 {
		if r.Intn(3) == 0 {
			return &tree{op: 'n', n: int64(r.Intn(9) - 4)}
		}
		return &tree{op: 's', sym: r.Intn(3)}
	}
	return &tree{op: "+-*/%><"[r.Intn(7)], l: grow(r, depth-1), r: grow(r, depth-1), n: int64(1 + r.Intn(5))}
}

// FuzzCanonical compares expressions in canonical form with the expressions as they were written.
func FuzzCanonical(f *testing.F) {
	for seed := int64(0); seed < 300; seed++ {
		f.Add(seed, int8(3), int8(5), int8(-2))
	}
	f.Fuzz(func(t *testing.T, seed int64, a, b, c int8) {
		tr := grow(rand.New(rand.NewSource(seed)), 4)
		e := tr.expr()
		v := []int64{int64(a), int64(b), int64(c)}
		value := func(name string) (any, bool) { return v[name[1]-'0'], true }
		got, err := e.Eval(value)
		if err != nil {
			t.Fatal(err)
		}
		if want := tr.eval(v); got != want {
			t.Errorf("%s at %v: got %v, want %d", e, v, got, want)
		}
		b1 := e.Bound(func(string) Range { return Range{-128, 127} })
		if n := got.(int64); n < b1.Lo || n > b1.Hi {
			t.Errorf("%s is %d, outside of its bound %v", e, n, b1)
		}
		if parsed, err := Parse(e.String()); err != nil || parsed.String() != e.String() {
			t.Errorf("reading %s gives %v, %v", e, parsed, err)
		}
		if again := e.Subst(func(string) *Expr { return nil }); again.String() != e.String() {
			t.Errorf("rebuilding %s gives %s", e, again)
		}
	})
}

func TestBound(t *testing.T) {
	of := func(string) Range { return Range{2, NoUpper} }
	for _, c := range []struct {
		e    *Expr
		want Range
	}{
		{Mul(n(2), s0), Range{4, NoUpper}},
		{Neg(s0), Range{NoLower, -2}},
		{FloorDiv(s0, n(2)), Range{1, NoUpper}},
		{Mod(s0, n(3)), Range{0, 2}},
		{Sub(s0, s1), All},
	} {
		if diff := cmp.Diff(c.want, c.e.Bound(of)); diff != "" {
			t.Errorf("%s: %s", c.e, diff)
		}
	}
}
