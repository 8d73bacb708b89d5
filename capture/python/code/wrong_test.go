package code

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"

	"whittle/capture/python/syntax"

	"github.com/google/go-cmp/cmp"
)

// A wrong program and what CPython 3.11 says of it; no Kind: it compiles.
type wrong struct {
	Src                              string
	Kind, Msg                        string
	Line, Offset, EndLine, EndOffset int
}

// wrongPrograms reads testdata/wrong.txt: a JSON list a line.
func wrongPrograms(t *testing.T) (out []wrong) {
	b, err := os.ReadFile("testdata/wrong.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		var w wrong
		if err := json.Unmarshal(line, &[]any{&w.Src, &w.Kind, &w.Msg, &w.Line, &w.Offset, &w.EndLine, &w.EndOffset}); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, w)
	}
	return out
}

func TestWrongPrograms(t *testing.T) {
	for _, want := range wrongPrograms(t) {
		got := wrong{Src: want.Src}
		_, err := CompileSource("t.py", want.Src, Exec)
		var e *syntax.Error
		if errors.As(err, &e) {
			got = wrong{want.Src, e.Kind, e.Msg, e.Line, e.Offset, e.EndLine, e.EndOffset}
		} else if err != nil {
			t.Errorf("%q: %v", want.Src, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-CPython +ours\n%s", d)
		}
	}
}

// TestWrongProgramsAgainstPython holds the table to CPython itself.
func TestWrongProgramsAgainstPython(t *testing.T) {
	py := python311(t)
	table, err := os.Open("testdata/wrong.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	c := exec.Command(py, "-W", "ignore", "-c", `
import json, sys
for line in sys.stdin:
    want = json.loads(line)
    try:
        compile(want[0], "t.py", "exec", dont_inherit=True)
        got = ["", "", 0, 0, 0, 0]
    except SyntaxError as e:
        got = [type(e).__name__, e.msg, e.lineno, e.offset, e.end_lineno or 0, e.end_offset or 0]
    if got != want[1:]:
        print(repr(want[0]), got, want[1:])
`)
	c.Stdin = table
	out, err := c.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
