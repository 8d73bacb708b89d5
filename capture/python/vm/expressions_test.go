package vm

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"whittle/capture/python/code"
)

// TestExpressions holds values and messages of expressions to those of CPython 3.11, which testdata/expressions.txt has: a list of
// the expression and its repr, or its exception, a line.
func TestExpressions(t *testing.T) {
	table, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(table), []byte("\n")) {
		var row [2]string
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := evaluate(t, row[0]); got != row[1] {
			t.Errorf("%s\n gives %s\nwant   %s", row[0], got, row[1])
		}
	}
}

// evaluate gives the repr of an expression's value, or the type and text of what it raises.
func evaluate(t *testing.T, src string) string {
	in := New()
	c, err := in.Compile("t.py", src, code.Eval)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	globals := NewDict()
	globals.SetStr("__name__", Str("__main__"))
	v, err := in.RunCode(c, globals, nil)
	text := ""
	if err == nil {
		text, err = in.Repr(v)
	}
	var r *Raised
	if errors.As(err, &r) {
		s, _ := in.Str(r.Exc)
		return r.Exc.Class.Name + ": " + s
	}
	if err != nil {
		return err.Error()
	}
	return text
}

// TestExpressionsAgainstPython holds the table to CPython itself.
func TestExpressionsAgainstPython(t *testing.T) {
	py, err := exec.LookPath("python3.11")
	if err != nil {
		t.Skip("the table is what CPython 3.11 said, and there is no python3.11 to ask again")
	}
	table, err := os.Open("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	cmd := exec.Command(py, "-c", `
import json, sys
for line in sys.stdin:
    src, want = json.loads(line)
    try:
        got = repr(eval(src, {"__name__": "__main__"}))
    except Exception as e:
        got = type(e).__name__ + ": " + str(e)
    if got != want:
        print(src, got, want)
`)
	cmd.Stdin = table
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("%v\n%s", err, out)
	}
}
