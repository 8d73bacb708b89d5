package vm

import (
	"runtime"
	"testing"
	"weak"
)

// TestAbandon: an interpreter that is let go of takes along its objects, those that are watched too. They are told nothing.
func TestAbandon(t *testing.T) {
	told := false
	left := func() weak.Pointer[Interp] {
		in := New()
		in.Unraisable = func(error, string, Object) { told = true }
		if err := in.RunText("x.py", "class A:\n    def __del__(self): 1 / 0\na = A()\n"); err != nil || len(in.watches) != 1 {
			t.Fatalf("%v, %d objects are watched", err, len(in.watches))
		}
		in.Abandon()
		return weak.Make(in)
	}()
	for range 3 {
		runtime.GC()
	}
	if left.Value() != nil || told {
		t.Errorf("the interpreter is there: %v; its object was told: %v", left.Value() != nil, told)
	}
}
