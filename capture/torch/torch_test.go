package torch_test

import (
	"bytes"
	"context"
	_ "embed"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/tools/whittle/stack"
)

// calls is a script of indices, data and arguments, right and wrong; said is what PyTorch 2.6 printed for it.
var (
	//go:embed testdata/calls.py
	calls string
	//go:embed testdata/calls.txt
	said string

	//go:embed testdata/numpy.py
	arrays string
	//go:embed testdata/numpy.txt
	arraysSaid string
)

// TestCalls: indexing in all its forms, tensors made of nested data, and the binding of arguments give what PyTorch gives, and raise what it raises.
func TestCalls(t *testing.T) { compare(t, calls, said) }

// TestArrays: tensors and NumPy's arrays share memory, and stand for each other where PyTorch lets them.
func TestArrays(t *testing.T) { compare(t, arrays, arraysSaid) }

// compare runs a script and compares what it prints with what PyTorch printed.
func compare(t *testing.T, script, said string) {
	t.Helper()
	s := stack.New(context.Background(), t.TempDir())
	var out bytes.Buffer
	s.In.Stdout = &out
	if err := s.In.RunSource("script.py", script); err != nil {
		t.Fatal(err)
	}
	if err := s.In.Flush(); err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(said, "\n"), strings.Split(out.String(), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-PyTorch +here):\n%s", diff)
	}
}
