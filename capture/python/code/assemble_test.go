package code

import "testing"

// TestTakes holds that an instruction that shuffles the stack looks at no value below the one that it names.
func TestTakes(t *testing.T) {
	for _, c := range []struct {
		in   Instr
		want int
	}{
		{Instr{Op: COPY, Arg: 1}, 1},
		{Instr{Op: COPY, Arg: 3}, 3},
		{Instr{Op: SWAP, Arg: 2}, 2},
		{Instr{Op: PUSH_EXC_INFO}, 1},
		{Instr{Op: LIST_APPEND, Arg: 1}, 2},
	} {
		if got := c.in.Takes(); got != c.want {
			t.Errorf("%s %d takes %d values, want %d", c.in.Op, c.in.Arg, got, c.want)
		}
	}
}
