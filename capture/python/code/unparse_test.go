package code

import (
	"testing"

	"whittle/capture/python/syntax"
)

// TestUnparse holds the text of expressions to CPython's, which differs from the source in white space, quotes and brackets.
func TestUnparse(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x", "x"},
		{"None", "None"},
		{"(True)", "True"},
		{"1_000", "1000"},
		{"10**30", "10 ** 30"},
		{"1e400", "1e309"},
		{`"it's"`, `"it's"`},
		{`b"a"`, "b'a'"},
		{"...", "..."},
		{"a.b . c", "a.b.c"},
		{"list[int]", "list[int]"},
		{"dict[str,int]", "dict[str, int]"},
		{"tuple[int,]", "tuple[int,]"},
		{"tuple[()]", "tuple[()]"},
		{"x[1:2]", "x[1:2]"},
		{"x[::3]", "x[::3]"},
		{"(1,)", "(1,)"},
		{"1,2", "(1, 2)"},
		{"[1,*a]", "[1, *a]"},
		{"{1,2}", "{1, 2}"},
		{"{1:2,**d}", "{1: 2, **d}"},
		{"(a+b)*c", "(a + b) * c"},
		{"a+(b*c)", "a + b * c"},
		{"a-(b-c)", "a - (b - c)"},
		{"int|None", "int | None"},
		{"not (a and b)", "not (a and b)"},
		{"-(-x)", "--x"},
		{"(a or b) and c", "(a or b) and c"},
		{"a<b<=c", "a < b <= c"},
		{"(a<b)==c", "(a < b) == c"},
		{"a if b else c", "a if b else c"},
		{"(a if b else c) if d else e", "(a if b else c) if d else e"},
		{"f(1,*a,k=2,**d)", "f(1, *a, k=2, **d)"},
		{"(lambda x,y:x)", "lambda x, y: x"},
	} {
		e, _, err := syntax.ParseExpr("t.py", c.src, syntax.Typed{})
		if err != nil {
			t.Fatalf("%s: %v", c.src, err)
		}
		if got := Unparse(e); got != c.want {
			t.Errorf("%s prints as %s, want %s", c.src, got, c.want)
		}
	}
}
