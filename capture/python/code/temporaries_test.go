package code

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTemporaries: the lines of a program in which a call takes what another has made.
func TestTemporaries(t *testing.T) {
	src := `f(g())
f(x)
f([g(), 1])
g().m()
x.m(g())
f(k=g())
y = g(); f(y)
f(x.y)
f(g() if x else y)
f(x, [x])
g().m().n()
f(g().a)
`
	c, err := CompileSource("t.py", src, Exec)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	lines := strings.Split(src, "\n")
	for i, takes := range c.Temporaries() {
		if l := lines[max(c.Instrs[i].Line-1, 0)]; takes && (len(got) == 0 || got[len(got)-1] != l) {
			got = append(got, l)
		}
	}
	want := []string{"f(g())", "f([g(), 1])", "g().m()", "x.m(g())", "f(k=g())", "g().m().n()"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
