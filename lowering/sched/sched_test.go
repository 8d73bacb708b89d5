package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/lowering/ir"
	"whittle/lowering/sched"
)

// steps makes steps of a line: "a:4 b:4,4 c:4+8 !mm d:4" are loops over 4, over 4 by 4, over 4 with a reduction of 8, an extern step, and a loop.
// "(a:4 b:4)" is one step of two loops.
func steps(text string) []sched.Step {
	var out []sched.Step
	inside := false
	for _, w := range strings.Fields(text) {
		open, end := strings.HasPrefix(w, "("), strings.HasSuffix(w, ")")
		w = strings.Trim(w, "()")
		if other, ok := strings.CutPrefix(w, "!"); ok {
			out = append(out, sched.Step{Other: other})
			continue
		}
		name, space, _ := strings.Cut(w, ":")
		kept, reduced, reduces := strings.Cut(space, "+")
		l := &ir.Loops{Out: &ir.Buffer{Name: name}, Ranges: sizes(kept)}
		if reduces {
			l.Reduce, l.Reduction = "sum", sizes(reduced)
		}
		if inside {
			out[len(out)-1].Loops = append(out[len(out)-1].Loops, l)
		} else {
			out = append(out, sched.Step{Loops: []*ir.Loops{l}})
		}
		inside = (inside || open) && !end
	}
	return out
}

func sizes(text string) []int64 {
	var out []int64
	for _, f := range strings.Split(text, ",") {
		var n int64
		fmt.Sscan(f, &n)
		out = append(out, n)
	}
	return out
}

// groups names what runs together, in order.
func groups(steps []sched.Step) []string {
	var out []string
	for _, s := range steps {
		if s.Other != nil {
			out = append(out, fmt.Sprint("!", s.Other))
			continue
		}
		var names []string
		for _, l := range s.Loops {
			names = append(names, l.Out.Name)
		}
		out = append(out, strings.Join(names, " "))
	}
	return out
}

// many are n loops over the given space: a0:4 a1:4 ...
func many(n int, name, space string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d:%s ", name, i, space)
	}
	return b.String()
}

// names are those of many.
func names(n int, name string) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", name, i))
	}
	return strings.Join(out, " ")
}

// TestFuse shows which loops share a kernel, and which do not.
func TestFuse(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		want        []string
	}{
		{"nothing", "", nil},
		{"one loop", "a:4", []string{"a"}},
		{"the same space", "a:4 b:4", []string{"a b"}},
		{"another space: loops of a kernel run one after another", "a:4 b:8", []string{"a b"}},
		{"a loop and a reduction of it", "a:4,8 s:4+8 b:4", []string{"a s b"}},
		{"a call of the eager kernel needs its operands in memory, and what follows may need its result", "a:4 !mm b:4", []string{"a", "!mm", "b"}},
		{"two calls stay two", "!mm !mm", []string{"!mm", "!mm"}},
		{"a call first", "!mm a:4 b:4", []string{"!mm", "a b"}},
		{"a step of several loops", "(a:4 b:4) c:4", []string{"a b c"}},
		{"a step of several loops after others", "a:4 (b:4 c:8) !mm d:4", []string{"a b c", "!mm", "d"}},
		{"a kernel of many loops over different spaces compiles slowly", many(24, "a", "4") + "b:8 c:8", []string{names(24, "a"), "b c"}},
		{"over one space it may grow", many(30, "a", "4"), []string{names(30, "a")}},
		{"a reduction is in no space", many(24, "a", "4") + "s:4+8", []string{names(24, "a"), "s"}},
		{"nor is one like it", many(24, "s", "4+8") + "r:4+8", []string{names(24, "s"), "r"}},
		{"the last loop of a group says its space", many(23, "a", "4") + "b:8 c:8 d:4", []string{names(23, "a") + " b c", "d"}},
		{"a large step is not taken apart when it comes first", "(" + strings.TrimSpace(many(26, "a", "8")) + ") b:4", []string{names(26, "a"), "b"}},
	} {
		in := steps(c.steps)
		before := groups(in)
		if diff := cmp.Diff(c.want, groups(sched.Fuse(in, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(before, groups(in)); diff != "" {
			t.Errorf("%s: the steps that came in changed (-before +after):\n%s", c.name, diff)
		}
	}
}

// TestFuseLeavesRoom: a group does not grow into the memory behind the loops of the step that began it.
func TestFuseLeavesRoom(t *testing.T) {
	in := steps("(a:4 b:4) c:4")
	first, beyond := in[0].Loops[:1:2], in[0].Loops[1] // a, with room in which b lies
	in[0].Loops = first
	sched.Fuse(in, nil)
	if got := first[:2][1]; got != beyond {
		t.Errorf("%s lies where %s lay", got.Out.Name, beyond.Out.Name)
	}
}
