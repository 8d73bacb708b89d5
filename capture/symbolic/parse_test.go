package symbolic

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	values := map[string]int64{"s0": 5, "s1": 12, "u0": 3, "n": -7}
	for _, c := range []struct {
		text, form string // what is read, and as what it prints
		want       int64
		err        string // of Parse, or else of EvalInt
	}{
		{text: "7", form: "7", want: 7},
		{text: " - 7", form: "-7", want: -7},
		{text: "0x10", form: "16", want: 16},
		{text: "-9223372036854775808", form: "-9223372036854775808", want: -1 << 63},
		{text: "s0*s1 + 1", form: "s0*s1 + 1", want: 61},
		{text: "1 + s1*s0", form: "s0*s1 + 1", want: 61},
		{text: "s1 - s0 - 1", form: "-s0 + s1 - 1", want: 6},
		{text: "-s0**2", form: "-s0**2", want: -25},
		{text: "2**3**2", form: "512", want: 512},
		{text: "4*s0*(((s1 - 1)//16) + 1)**2", form: "4*s0*(((s1 - 1)//16))**2 + 8*s0*(((s1 - 1)//16)) + 4*s0", want: 20},
		{text: "2*((s1//2))", form: "2*((s1//2))", want: 12},
		{text: "n//2", form: "(n//2)", want: -4},
		{text: "n % 2", form: "Mod(n, 2)", want: 1},
		{text: "s1//5*5 % 7", form: "Mod(5*((s1//5)), 7)", want: 3},
		{text: "8*s0/2", form: "FloatTrueDiv(ToFloat(8*s0), 2.0)", want: 20},
		{text: "s0/2", form: "FloatTrueDiv(ToFloat(s0), 2.0)", want: 2},
		{text: "floor(s0/2)", form: "floor(FloatTrueDiv(ToFloat(s0), 2.0))", want: 2},
		{text: "ceiling(s0/2)", form: "TruncToInt(ceil(FloatTrueDiv(ToFloat(s0), 2.0)))", want: 3},
		{text: "CeilToInt(IntTrueDiv(s0, 2))", form: "TruncToInt(ceil(FloatTrueDiv(ToFloat(s0), 2.0)))", want: 3},
		{text: "FloorToInt(IntTrueDiv(n, 2))", form: "TruncToInt(floor(FloatTrueDiv(ToFloat(n), 2.0)))", want: -4},
		{text: "TruncToInt(IntTrueDiv(n, 2))", form: "TruncToInt(FloatTrueDiv(ToFloat(n), 2.0))", want: -3},
		{text: "int(s0)", form: "s0", want: 5},
		{text: "floor(s0)", form: "s0", want: 5},
		{text: "Max(1, s0)", form: "Max(1, s0)", want: 5},
		{text: "Max(1, s0, s1)", form: "Max(Max(1, s0), s1)", want: 12},
		{text: "min(s0, s1)", form: "Min(s0, s1)", want: 5},
		{text: "Abs(n)", form: "Abs(n)", want: 7},
		{text: "FloorDiv(s1, s0)", form: "(s1//s0)", want: 2},
		{text: "CleanDiv(s1, 4)", form: "(s1//4)", want: 3},
		{text: "PythonMod(n, 4)", form: "Mod(n, 4)", want: 1},
		{text: "ModularIndexing(s1, 2, 4)", form: "Mod((s1//2), 4)", want: 2},
		{text: "PowByNatural(s0, 2)", form: "s0**2", want: 25},
		{text: "Min(1.0*ToFloat(s0), inf)", form: "Min(1.0*ToFloat(s0), inf)", want: 5},
		{text: "TruncToInt(1.5e+1*ToFloat(s0))", form: "TruncToInt(15.0*ToFloat(s0))", want: 75},
		{text: "TruncToInt(OpaqueUnaryFn_sqrt(ToFloat(s1)))", form: "TruncToInt(OpaqueUnaryFn_sqrt(ToFloat(s1)))", want: 3},

		{text: "Eq(s0, s1)", form: "Eq(s0, s1)", err: `size "Eq(s0, s1)": False is no integer`},
		{text: "s0 >= 2", form: "s0 >= 2", err: `size "s0 >= 2": True is no integer`},
		{text: "not s0 == 2", form: "Ne(s0, 2)", err: `size "not s0 == 2": True is no integer`},
		{text: "s9 + 1", form: "s9 + 1", err: `size "s9 + 1": symbol s9 has no value`},
		{text: "s0//(s0 - 5)", form: "(s0//(s0 - 5))", err: `size "s0//(s0 - 5)": division by zero`},

		{text: "", err: `size "": a number or symbol is missing at ""`},
		{text: "s0 +", err: `size "s0 +": a number or symbol is missing at ""`},
		{text: "(s0", err: `size "(s0": a parenthesis is not closed`},
		{text: "s0 s1", err: `size "s0 s1": "s1" is left over`},
		{text: "12x", err: `size "12x": number 12x`},
		{text: "s0 // 0", err: `size "s0 // 0": division by zero`},
		{text: "Mod(s0, 0)", err: `size "Mod(s0, 0)": division by zero`},
		{text: "s0**65", err: `size "s0**65": power 65`},
		{text: "s0**s1", err: `size "s0**s1": power s1`},
		{text: "frob(s0)", err: `size "frob(s0)": function frob`},
		{text: "Mod(s0)", err: `size "Mod(s0)": function Mod`},
		{text: "1 + True", err: `size "1 + True": True is no number`},
		{text: "Mod(1.5, 2)", err: `size "Mod(1.5, 2)": the remainder of a float`},
		{text: "TruncToInt(inf)", err: `size "TruncToInt(inf)": inf as an integer`},
	} {
		e, err := Parse(c.text)
		if c.form == "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: error %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil || e.String() != c.form {
			t.Errorf("%q: %v, %v, want %s", c.text, e, err, c.form)
			continue
		}
		got, err := EvalInt(c.text, values)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.err {
			t.Errorf("%q: %d, %q, want %d, %q", c.text, got, text, c.want, c.err)
		}
	}
}

// Texts that are short and mean something long, or lie deep, are refused rather than worked on.
func TestParseBounds(t *testing.T) {
	for _, c := range []struct{ name, text, err string }{
		{"parentheses", strings.Repeat("(", 1000) + "s0" + strings.Repeat(")", 1000), "too deep"},
		{"signs", strings.Repeat("-", 1000) + "s0", "too deep"},
		{"a power", "(a + b + c + d + e)**64", "too long"},
		{"a power of powers", strings.Repeat("(", 20) + "x" + strings.Repeat("**8)", 20), "too long"},
		{"a product", "(a + b)" + strings.Repeat("*(a + b + c)", 64), "too long"},
		{"divisors", "x" + strings.Repeat("//(a + b + c)", 64), "too long"},
		{"nesting", strings.Repeat("(a + b)*Max(x, ", 60) + "y" + strings.Repeat(")", 60), "too long"},
	} {
		if _, err := Parse(c.text); err == nil || !strings.HasSuffix(err.Error(), c.err) {
			t.Errorf("%s: %v, want %s", c.name, err, c.err)
		}
	}
	// With values there is nothing long about them.
	if n, err := EvalInt("(a + b)**40//2**30", map[string]int64{"a": 1, "b": 1}); n != 1024 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestEvalInts(t *testing.T) {
	values := map[string]int64{"s0": 5}
	for _, c := range []struct {
		text string
		want []int64
		err  string
	}{
		{"", []int64{}, ""},
		{" ", []int64{}, ""},
		{"s0, Max(1, s0 - 1), 3", []int64{5, 4, 3}, ""},
		{"s0 3", nil, `size "s0 3": "3" is left over`},
		{"s0,", nil, `size "s0,": a number or symbol is missing at ""`},
		{"1, s0 == 5", nil, `size "1, s0 == 5": True is no integer`},
	} {
		got, err := EvalInts(c.text, values)
		switch {
		case c.err != "":
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
		case err != nil || !cmp.Equal(got, c.want):
			t.Errorf("%q: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestSymbolsIn(t *testing.T) {
	for text, want := range map[string][]string{
		"4*s0*(((s2 - 1)//16) + s0)": {"s0", "s2"},
		"Max(1, s1, math.floor(s0))": {"s1", "s0"},
		"Eq(s0, True) +) u3":         {"s0", "u3"},
		"0x10 + 1e5":                 nil,
	} {
		if d := cmp.Diff(want, SymbolsIn(text)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

// FuzzParse: what is read prints as what reads as itself, and the canonical form has the value of the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"4*s0*(((s2 - 1)//16) + 1)**2", "Max(1, s0)", "CeilToInt(IntTrueDiv(s0, 2))", "-s0 + s1 - 1", "Mod(s0 + s1, 4)", "Ne(s0, 1)",
		"TruncToInt(zf1 - 1.5e-3*ToFloat(s0))", "PythonMod(s0, -3)", "(s0*s1)//(2*s0)", "not (s0 >= 2)", "Abs(s0 - s1)", "FloatPow(ToFloat(s1), 0.5)", "~b"} {
		f.Add(text, int8(3), int8(5))
	}
	f.Fuzz(func(t *testing.T, text string, a, b int8) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q is %s, which reads as %v, %v", text, e, again, err)
		}
		values := map[string]int64{}
		for i, s := range SymbolsIn(text) {
			values[s] = int64([]int8{a, b}[i%2])
		}
		whole := map[string]any{}
		for s, v := range values {
			if floatName(s) {
				return
			}
			whole[s] = v
		}
		want, err := EvalInt(text, values)
		if err != nil || e.big(1<<20) {
			return
		}
		got, err := e.Eval(func(s string) (any, bool) { v, ok := whole[s]; return v, ok })
		if n, ok := got.(int64); ok && (err != nil || n != want) {
			t.Errorf("%q with %v is %d, and in canonical form %s is %v, %v", text, values, want, e, got, err)
		}
	})
}

// big reports whether e holds a constant above limit or a power, so that its value may not fit an int64, where laws of arithmetic end.
func (e *Expr) big(limit int64) bool {
	if e.Op == OpPow || e.Op == OpInt && (e.Int > limit || e.Int < -limit) {
		return true
	}
	for _, a := range e.Args {
		if a.big(limit) {
			return true
		}
	}
	return false
}
