package stdlib

import (
	"bytes"
	"io"
	"testing"

	"whittle/capture/python/vm"
)

// FuzzMarshal reads damaged data: it is an error of Python's at worst, and what was read writes as what reads and writes as itself.
func FuzzMarshal(f *testing.F) {
	in := vm.New()
	Register(in)
	in.Stdout, in.Stderr = io.Discard, io.Discard
	m, err := in.Import("marshal")
	if err != nil {
		f.Fatal(err)
	}
	dump := func(t testing.TB, o vm.Object) []byte {
		v, err := in.CallMethod(m, "dumps", o)
		if err != nil {
			t.Fatal(in.FormatException(err))
		}
		b, _ := vm.AsBytes(v)
		return b
	}
	for _, text := range []string{"None", "[1, -70000, 2**70, 1.5, 2j, True, ...]", "('a', 'é', '\\ud800', b'x', 'a')", "{1: [2], 'k': (3,)}", "{1, 2}", "frozenset({3})", "StopIteration",
		"(lambda a, *b, c=1, **d: [a for a in b if c])", "compile('def f():\\n  try:\\n    yield x\\n  finally:\\n    del y', 'f', 'exec')"} {
		v, err := in.CallMethod(in.Builtins, "eval", vm.Str(text), vm.NewDict())
		if err != nil {
			f.Fatal(in.FormatException(err))
		}
		if fn, ok := v.(*vm.Function); ok {
			v = fn.Code
		}
		f.Add(dump(f, v))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := in.CallMethod(m, "loads", vm.Bytes(data))
		if err != nil {
			return
		}
		once := dump(t, v)
		again, err := in.CallMethod(m, "loads", vm.Bytes(once))
		if err != nil {
			t.Fatalf("%q: %s", once, in.FormatException(err))
		}
		if twice := dump(t, again); !bytes.Equal(once, twice) {
			t.Fatalf("%q\n%q", once, twice)
		}
	})
}
