package vm

import (
	"os"
	"testing"
	"time"
)

// TestBenchmarkScript times the functions listed in B of the script named in WHITTLE_BENCH.
func TestBenchmarkScript(t *testing.T) {
	p := os.Getenv("WHITTLE_BENCH")
	if p == "" {
		t.Skip("WHITTLE_BENCH is not set")
	}
	in := New()
	if err := in.RunFile(p, nil); err != nil {
		t.Fatal(in.FormatException(err))
	}
	m, _ := in.Modules.GetStr("__main__")
	b, _ := m.(*Module).Dict.GetStr("B")
	for _, it := range b.(*List).Items {
		x := it.(*Tuple).Items
		start := time.Now()
		if _, err := in.Call(x[1], []Object{x[2]}, nil); err != nil {
			t.Fatal(in.FormatException(err))
		}
		t.Logf("%s %d ms", x[0].(Str), time.Since(start).Milliseconds())
	}
}
