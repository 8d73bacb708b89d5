package code

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is written in CPython's form is read back as it was.
func TestWireRoundTrip(t *testing.T) {
	long := "def f(a):\n    while a:\n" + strings.Repeat("        a = a.b + a[1] # padding\n", 200) + "    return a\n"
	for _, src := range []string{
		long,
		"def f(x):\n  try:\n    with x as y: return [i for i in y if i]\n  except E as e: raise\n  finally: g()\n",
		"async def f(x):\n  async for i in x:\n    yield await i\n",
		"class C:\n  def m(self, *a, k=1, **kw):\n    return lambda: (self, super().m())\n",
		"match x:\n  case {'a': [1, *r]}: pass\n  case C(y=2): pass\n",
	} {
		co, err := CompileSource("t.py", src, Exec)
		if err != nil {
			t.Fatal(err)
		}
		var walk func(c *Code)
		walk = func(c *Code) {
			w := c.Wire()
			back := &Code{FirstLine: c.FirstLine}
			w2, err := back.ReadWire(w.Code, w.LineTable, w.ExcTable)
			if err != nil {
				t.Fatalf("%s: %v", c.QualName, err)
			}
			if d := cmp.Diff(w, w2); d != "" {
				t.Errorf("%s: places (-written +read)\n%s", c.QualName, d)
			}
			if d := cmp.Diff(c.ExcTable, back.ExcTable); d != "" {
				t.Errorf("%s: handlers (-written +read)\n%s", c.QualName, d)
			}
			for i := range c.Instrs {
				if in := &c.Instrs[i]; in.Col < 0 { // half a range is none
					in.EndCol = -1
				}
				if d := cmp.Diff(c.Instrs[i], back.Instrs[i]); d != "" {
					t.Errorf("%s: instruction %d (-written +read)\n%s", c.QualName, i, d)
				}
			}
			c.Instrs = back.Instrs
			if err := c.Verify(); err != nil {
				t.Errorf("%s: %v", c.QualName, err)
			}
			for _, k := range c.Consts {
				if sub, ok := k.(*Code); ok {
					walk(sub)
				}
			}
		}
		walk(co)
	}
}

// The bytes are CPython 3.11's.
func TestWireBytes(t *testing.T) {
	co, err := CompileSource("t.py", "def f(a, b):\n    for x in a:\n        if x: b(x)\n", Exec)
	if err != nil {
		t.Fatal(err)
	}
	w := co.Consts[0].(*Code).Wire()
	got := []string{hex.EncodeToString(w.Code), hex.EncodeToString(w.LineTable), fmt.Sprint(co.Consts[0].(*Code).Depth)}
	want := []string{"97007c0044005d0f7d027c02720b02007c017c02a6010000ab01000000000000000001008c1064005300", "8000d80d0ef000010513f0000105138801d80b0c880a88618861900189648c648864f8f003010513f000010513", "4"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Bytes that no code is are refused, and never followed.
func TestReadWireRefuses(t *testing.T) {
	for _, c := range []struct{ name, code, exc string }{
		{"no opcode", "ff00", ""},
		{"jump out of the code", "6e40", ""},
		{"jump into a cache", "6e016b000000000053000", ""},
		{"cut caches", "6b00", ""},
		{"handler out of the code", "640053000", "80024000"},
	} {
		b, _ := hex.DecodeString(c.code)
		e, _ := hex.DecodeString(c.exc)
		co := &Code{Consts: []any{nil}, StackSize: 4}
		_, err := co.ReadWire(b, nil, e)
		if err == nil {
			err = co.Verify()
		}
		if err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

func TestStackEffect(t *testing.T) {
	arg := func(n int) *int { return &n }
	yes, no := true, false
	for _, c := range []struct {
		op   int
		arg  *int
		jump *bool
		want string
	}{
		{1, nil, nil, "-1"}, {93, arg(3), nil, "1"}, {93, arg(3), &yes, "-1"}, {93, arg(3), &no, "1"}, {144, arg(1), nil, "0"}, {102, arg(3), nil, "-2"},
		{1, arg(0), nil, ErrTakesNoArg.Error()}, {102, nil, nil, ErrNeedsArg.Error()}, {7, nil, nil, ErrNoOpcode.Error()},
	} {
		n, err := StackEffect(c.op, c.arg, c.jump)
		got := fmt.Sprint(n)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("stack effect of %d: %s, want %s", c.op, got, c.want)
		}
	}
}
