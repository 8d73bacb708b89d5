package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListings compares the code of small programs with the listing that CPython's dis gives, reduced to names,
// arguments and stack order.
func TestListings(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"call", "print(x, y=1)", "RESUME PUSH_NULL LOAD_NAME LOAD_NAME LOAD_CONST KW_NAMES PRECALL CALL POP_TOP LOAD_CONST RETURN_VALUE"},
		{"method", "a.b(1)", "RESUME LOAD_NAME LOAD_METHOD LOAD_CONST PRECALL CALL POP_TOP LOAD_CONST RETURN_VALUE"},
		{"chain", "x = a < b < c", "RESUME LOAD_NAME LOAD_NAME SWAP COPY COMPARE_OP JUMP_IF_FALSE_OR_POP LOAD_NAME COMPARE_OP JUMP_FORWARD SWAP POP_TOP STORE_NAME LOAD_CONST RETURN_VALUE"},
		{"loop", "for i in x: pass", "RESUME LOAD_NAME GET_ITER FOR_ITER STORE_NAME JUMP_BACKWARD LOAD_CONST RETURN_VALUE"},
		{"await", "async def f(x): await x", "RETURN_GENERATOR POP_TOP RESUME LOAD_FAST GET_AWAITABLE LOAD_CONST SEND YIELD_VALUE RESUME JUMP_BACKWARD_NO_INTERRUPT POP_TOP LOAD_CONST RETURN_VALUE"},
		{"async for", "async def f(x):\n async for x in x: yield x", "RETURN_GENERATOR POP_TOP RESUME LOAD_FAST GET_AITER GET_ANEXT LOAD_CONST SEND YIELD_VALUE RESUME JUMP_BACKWARD_NO_INTERRUPT STORE_FAST LOAD_FAST ASYNC_GEN_WRAP YIELD_VALUE RESUME POP_TOP JUMP_BACKWARD END_ASYNC_FOR LOAD_CONST RETURN_VALUE"},
		{"fold", "x = 2 * 3 + 1", "RESUME LOAD_CONST STORE_NAME LOAD_CONST RETURN_VALUE"},
	} {
		co, err := CompileSource("t.py", c.src, Exec)
		if err != nil {
			t.Fatal(err)
		}
		if fn, ok := co.Consts[0].(*Code); ok {
			co = fn
		}
		var names []string
		for _, in := range co.Instrs {
			names = append(names, in.Op.String())
		}
		if d := cmp.Diff(strings.Fields(c.want), names); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
}

func roundTrip(t *testing.T, co *Code) {
	t.Helper()
	text := co.String()
	back, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again := back.String(); again != text {
		t.Fatalf("the listing changed: %s", cmp.Diff(text, again))
	}
}

func TestListingRoundTrip(t *testing.T) {
	files, _ := filepath.Glob("../syntax/testdata/*.py")
	more, _ := filepath.Glob("../stdlib/lib/*.py")
	for _, f := range append(files, more...) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		co, err := CompileSource(f, string(b), Exec)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, co)
	}
}

func FuzzDisassemblyRoundTrip(f *testing.F) {
	for _, src := range []string{"def f(a, *b, c=1, **d):\n    try:\n        yield a\n    except X as e:\n        raise\n    finally:\n        print(d)\n",
		"x = (1, 2.5, 'a', b'c', ..., None, True, 10**30)\n", "class A(B, metaclass=C):\n    def f(self): return super().f()\n"} {
		co, err := CompileSource("t.py", src, Exec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(co.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		co, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		roundTrip(t, co)
	})
}

func TestCloneIsIndependent(t *testing.T) {
	co, err := CompileSource("t.py", "x = 1", Exec)
	if err != nil {
		t.Fatal(err)
	}
	before := co.String()
	d := co.Clone()
	d.Instrs[0].Op = NOP
	d.Names[0] = "y"
	if co.String() != before {
		t.Error("the original changed with its clone")
	}
}
