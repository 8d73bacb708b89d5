package symbolic

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trace makes two sizes, asks questions about them, and gives the guards.
func trace(t *testing.T, a, b int64, p Policy, ask func(v *Env, x, y *Expr)) []string {
	t.Helper()
	v := NewEnv()
	x, y := v.Size(a, "x", p), v.Size(b, "y", p)
	ask(v, x, y)
	gs, err := v.Guards([]Input{{From: "x", Expr: x, Tensor: true}, {From: "y", Expr: y, Tensor: true}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	value := func(from string) (any, bool) { return map[string]int64{"x": a, "y": b}[from], true }
	for _, g := range gs {
		out = append(out, g.Text)
		if !g.Holds(value) {
			t.Errorf("%s does not hold for the sizes that it was made for", g.Text)
		}
	}
	return out
}

func TestGuards(t *testing.T) {
	decide := func(op Op, l, r *Expr) func(v *Env, x, y *Expr) {
		return func(v *Env, x, y *Expr) {
			sub := func(e *Expr) *Expr {
				return e.Subst(func(s string) *Expr { return map[string]*Expr{"x": x, "y": y}[s] })
			}
			_, _ = v.Decide(Cmp(op, sub(l), sub(r)))
		}
	}
	x, y := Sym("x"), Sym("y")
	for _, c := range []struct {
		name string
		a, b int64
		p    Policy
		ask  func(v *Env, x, y *Expr)
		want []string
	}{
		{"nothing asked", 4, 5, Duck, func(*Env, *Expr, *Expr) {}, []string{"2 <= x", "2 <= y"}},
		{"duck shaping", 4, 4, Duck, func(*Env, *Expr, *Expr) {}, []string{"y == x", "2 <= x"}},
		{"equality replaces the later symbol", 4, 4, Dynamic, decide(OpEq, x, y), []string{"y == x", "2 <= x"}},
		{"inequality", 4, 5, Dynamic, decide(OpEq, x, y), []string{"x != y", "2 <= x", "2 <= y"}},
		{"a bound refines the range", 2, 8, Dynamic, decide(OpLt, Mul(Int(2), x), y), []string{"2*x < y", "2 <= x", "5 <= y"}},
		{"lower bound", 5, 7, Dynamic, decide(OpGt, x, Int(3)), []string{"4 <= x", "2 <= y"}},
		{"upper bound", 5, 7, Dynamic, decide(OpGt, x, Int(12)), []string{"2 <= x", "x <= 12", "2 <= y"}},
		{"divisible", 6, 7, Dynamic, decide(OpEq, Mod(x, Int(3)), Int(0)), []string{"(x % 3) == 0", "2 <= x", "2 <= y"}},
		{"specialised", 6, 7, Dynamic, decide(OpEq, x, Int(6)), []string{"2 <= y"}},
		{"known by the range", 6, 7, Dynamic, decide(OpEq, x, Int(1)), []string{"2 <= x", "2 <= y"}},
		{"0 and 1 are constants", 1, 0, Duck, func(*Env, *Expr, *Expr) {}, nil},
	} {
		if diff := cmp.Diff(c.want, trace(t, c.a, c.b, c.p, c.ask)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestGuardsRejectOtherSizes(t *testing.T) {
	v := NewEnv()
	x, y := v.Size(4, "x", Dynamic), v.Size(8, "y", Dynamic)
	if ok, err := v.Decide(Cmp(OpEq, Mul(Int(2), x), y)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	gs, err := v.Guards([]Input{{From: "x", Expr: x, Tensor: true}, {From: "y", Expr: y, Tensor: true}})
	if err != nil {
		t.Fatal(err)
	}
	holds := func(a, b int64) bool {
		for _, g := range gs {
			if !g.Holds(func(from string) (any, bool) { return map[string]int64{"x": a, "y": b}[from], true }) {
				return false
			}
		}
		return true
	}
	for _, c := range []struct {
		a, b int64
		want bool
	}{{4, 8, true}, {5, 10, true}, {5, 9, false}, {1, 2, false}} {
		if got := holds(c.a, c.b); got != c.want {
			t.Errorf("x=%d y=%d: guards hold: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestViolation(t *testing.T) {
	v := NewEnv()
	x := v.Size(4, "x", Dynamic)
	if _, err := v.Specialize(x); err != nil {
		t.Fatal(err)
	}
	_, err := v.Guards([]Input{{From: "x", Expr: x, Tensor: true, Limit: &Limit{Range: All}}})
	var broken *Violation
	if !errors.As(err, &broken) {
		t.Fatalf("got %v, want a violation", err)
	}
	want := "Constraints violated (x)! For more information, run with TORCH_LOGS=\"+dynamic\".\n" +
		"  - Not all values of RelaxedUnspecConstraint(x) are valid because x was inferred to be a constant (4)."
	if diff := cmp.Diff(want, broken.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestUnbacked(t *testing.T) {
	v := NewEnv()
	u := v.Unbacked(true)
	if ok, known := v.Known(Cmp(OpGe, u, Int(0))); !ok || !known {
		t.Error("a count is at least 0")
	}
	var dd *DataDependent
	if _, err := v.Decide(Cmp(OpGt, u, Int(3))); !errors.As(err, &dd) {
		t.Errorf("got %v, want a data-dependent error", err)
	}
	if b, err := v.DecideSize(Cmp(OpEq, u, Int(1))); b || err != nil {
		t.Errorf("a size of unknown value counts as greater than 1: got %v, %v", b, err)
	}
	if needed, err := v.Assert(Cmp(OpLe, u, Int(7))); !needed || err != nil {
		t.Errorf("got %v, %v, want a run-time assertion", needed, err)
	}
	if ok, known := v.Known(Cmp(OpLt, u, Int(8))); !ok || !known {
		t.Error("what was asserted is known")
	}
}

func TestFloats(t *testing.T) {
	v := NewEnv()
	f := v.Real(1.5, "___as_tensor(a).item()")
	if ok, err := v.Decide(Cmp(OpGt, f, Int(1))); !ok || err != nil {
		t.Fatal(ok, err)
	}
	gs, err := v.Guards([]Input{{From: "___as_tensor(a).item()", Expr: f}, {From: "a", Expr: f}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range gs {
		got = append(got, g.Text)
	}
	want := []string{"a == ___as_tensor(a).item()", "___as_tensor(a).item() > 1.0", "not __math_isnan(___as_tensor(a).item())"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A difference of products is known by what its symbols begin at, and a remainder of something smaller is that.
func TestKnownFromBeginnings(t *testing.T) {
	v := NewEnv()
	a, b := v.Size(4, "a", Dynamic), v.Size(6, "b", Dynamic)
	for _, c := range []struct {
		e           *Expr
		truth, know bool
	}{
		{Cmp(OpEq, Mul(a, b), a), false, true},
		{Cmp(OpGt, Mul(a, b), b), true, true},
		{Cmp(OpEq, Mod(a, Mul(a, b)), Int(0)), false, true},
		{Cmp(OpEq, a, Int(2)), false, false},
		{Cmp(OpEq, Mod(Mul(a, b), a), Int(1)), false, true},
	} {
		if truth, ok := v.Known(c.e); truth != c.truth || ok != c.know {
			t.Errorf("%s is %t, known %t; want %t, %t", c.e, truth, ok, c.truth, c.know)
		}
	}
}
