package resume_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/tools/whittle/stack"
)

// function is the code of f in a script.
func function(t *testing.T, script string) *vm.Code {
	t.Helper()
	s := stack.New(context.Background(), t.TempDir())
	if err := s.In.RunSource("script.py", script); err != nil {
		t.Fatal(err)
	}
	main, _ := s.In.Modules.GetStr("__main__")
	f, ok := main.(*vm.Module).Dict.GetStr("f")
	if !ok {
		t.Fatal("no f")
	}
	return f.(*vm.Function).Code
}

// callOn is where c calls something on a line.
func callOn(t *testing.T, c *vm.Code, line int) int {
	t.Helper()
	for i, in := range c.Instrs {
		if in.Op == code.CALL && int(in.Line) == line {
			return i
		}
	}
	t.Fatalf("no call on line %d:\n%s", line, c.Dis(0))
	return 0
}

// The code of resume functions: one for each way into the rest, named after the function as it was written.
func TestFunctions(t *testing.T) {
	c := function(t, "def f(x):\n    print(x)\n    print(x)\n    return x\n")
	var fs resume.Functions
	first, second := callOn(t, c, 2), callOn(t, c, 3)
	a := fs.At(c, first, first+1, 1)
	b := fs.At(a, second, second+1, 1)
	if a.Name != "torch_dynamo_resume_in_f_at_2" || b.Name != "torch_dynamo_resume_in_f_at_3" || a.FirstLine != 2 {
		t.Errorf("%s from line %d, %s", a.Name, a.FirstLine, b.Name)
	}
	if fs.At(c, second, second+1, 1) != b {
		t.Error("a way through the function itself and one through its rest do not meet")
	}
	if fs.At(c, first, first+1, 2) == a || fs.At(c, first, first+1, 1) != a {
		t.Error("ways are not told apart by the depth of the stack, or are not remembered")
	}
	if c.Name != "f" || c.FirstLine != 1 {
		t.Errorf("the function itself has become %s from line %d", c.Name, c.FirstLine)
	}
	fs = resume.Functions{}
	if fs.At(c, first, first+1, 1) == a {
		t.Error("what was forgotten is still there")
	}
}

// What the bytecode means for a break at the call of g on a line.
func TestBreaks(t *testing.T) {
	c := function(t, `def f(x, g, h):
    a = b = x
    g(1)
    for i in x:
        g(2)
    with h:
        g(3)
        try:
            g(4)
        except ValueError:
            g(5)
    try:
        g(6)
    finally:
        b = g(7)
    return a
`)
	for _, c2 := range []struct {
		line   int
		blocks []bool // whether each is a with block, innermost first
		loop   bool
		live   []string
	}{
		{3, nil, false, []string{"a", "g", "h", "x"}},
		{5, nil, true, []string{"a", "g", "h"}},
		{7, []bool{true}, false, []string{"a", "g"}},
		{9, []bool{false, true}, false, []string{"a", "g"}},
		{13, []bool{false}, false, []string{"a", "g"}},
		{15, nil, false, []string{"a"}},
	} {
		pc := callOn(t, c, c2.line)
		var blocks []bool
		for _, b := range resume.Blocks(c.Code, pc) {
			if b.Depth < 0 || b.With && b.Depth == 0 {
				t.Errorf("line %d: a block with a stack of %d", c2.line, b.Depth)
			}
			blocks = append(blocks, b.With)
		}
		var live []string
		for i := range resume.Live(c.Code, pc) {
			live = append(live, c.LocalsPlusName(i))
		}
		slices.Sort(live)
		if d := cmp.Diff(c2.blocks, blocks); d != "" {
			t.Errorf("line %d: blocks (-want +got):\n%s", c2.line, d)
		}
		if d := cmp.Diff(c2.live, live); d != "" {
			t.Errorf("line %d: live variables (-want +got):\n%s", c2.line, d)
		}
		if got := resume.InLoop(c.Code, pc); got != c2.loop {
			t.Errorf("line %d: in a loop: %v", c2.line, got)
		}
	}
	if got := resume.Live(c.Code, len(c.Instrs)); len(got) != 0 {
		t.Errorf("behind the end: %v", got)
	}
}
