package aten

import (
	"errors"
	"strings"
	"testing"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// TestPanic shows that a kernel that panics, on the caller's thread or on a helper's, is told from one that refuses its arguments.
func TestPanic(t *testing.T) {
	like := func(c *Call) (Value, error) { return tensor.FakeLike(c.Args[0].(*tensor.Tensor)), nil }
	for name, boom := range map[string]func(){
		"here": func() { _ = []int{}[len(name(t))] },
		"there": func() {
			parallel.For(1<<16, 1, func(lo, _ int) {
				if lo > 0 || parallel.Threads() < 2 {
					panic("index out of range")
				}
			})
		},
	} {
		op, err := new(Library).Define(Op{Schema: "panictest::" + name + "(Tensor x, int[] dims, *, str mode=\"a\") -> Tensor", Meta: like,
			Eager: func(*Call) (Value, error) { boom(); return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Eager.Dispatch(op, []Value{tensor.Empty(tensor.Float32, 2, 3), []Value{int64(0), int64(1)}, "b"})
		var p *Panic
		if !errors.As(err, &p) {
			t.Fatalf("%s: got %T %v", name, err, err)
		}
		if p.Op != "panictest."+name+".default" || p.Args != `x=f32[2, 3], dims=[0, 1], mode="b"` || !strings.Contains(p.Error(), "index out of range") || !strings.Contains(p.Stack, "TestPanic") {
			t.Errorf("%s: %v, called with %s\n%s", name, p, p.Args, p.Stack)
		}
		var refused *Error
		if errors.As(err, &refused) {
			t.Errorf("%s: it is PyTorch's %s, too", name, refused.Kind)
		}
	}
}

func name(t *testing.T) string { return t.Name() }
