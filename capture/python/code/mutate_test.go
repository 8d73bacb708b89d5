package code

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"whittle/capture/python/syntax"

	"github.com/google/go-cmp/cmp"
)

var mutations = flag.Int("mutations", 2000, "random wrong programs that TestMutatedPrograms compares with CPython")

var word = regexp.MustCompile(`\w+|\s+|[rbf]?'[^'\n]*'|\*\*|//|[<>=!:]=|->|.`)

// mutate changes a few words of a program.
func mutate(r *rand.Rand, src string, pool []string) string {
	w := word.FindAllString(strings.ReplaceAll(src, "\n", " \n "), -1)
	for range 1 + r.IntN(2) {
		i := r.IntN(len(w))
		switch r.IntN(5) {
		case 0:
			w[i] = ""
		case 1:
			w[i] += pool[r.IntN(len(pool))]
		case 2:
			w[i] = pool[r.IntN(len(pool))] + " "
		case 3:
			j := r.IntN(len(w))
			w[i], w[j] = w[j], w[i]
		case 4:
			w[i] += " " + w[r.IntN(len(w))]
		}
	}
	return strings.ReplaceAll(strings.Join(w, ""), " \n ", "\n")
}

// python311 is the CPython that a test has as its judge: without one there is nothing to compare with.
func python311(t *testing.T) string {
	t.Helper()
	py, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("CPython is the judge here, and there is no python3")
	}
	if v, _ := exec.Command(py, "--version").Output(); !strings.HasPrefix(string(v), "Python 3.11.") {
		t.Skipf("Python 3.11 is followed, this is %s", v)
	}
	return py
}

// TestMutatedPrograms compares what is said of programs with random mistakes in them with what CPython says.
func TestMutatedPrograms(t *testing.T) {
	py := python311(t)
	text, err := os.ReadFile("../syntax/testdata/everything.py")
	if err != nil {
		t.Fatal(err)
	}
	chunks := strings.SplitAfter(string(text), "\n\n")
	for _, w := range wrongPrograms(t) {
		chunks = append(chunks, w.Src+"\n")
	}
	pool := word.FindAllString(string(text), -1)
	r := rand.New(rand.NewPCG(11, 3))
	var programs []string
	for len(programs) < *mutations {
		// How far CPython reads of a null byte is its own affair.
		if src := mutate(r, chunks[r.IntN(len(chunks))], pool); !strings.Contains(src, "\x00") {
			programs = append(programs, src)
		}
	}
	file := filepath.Join(t.TempDir(), "programs.json")
	b, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(py, "-W", "ignore", "-c", `
import json, sys
out = []
for src in json.load(open(sys.argv[1])):
    try:
        compile(src, "t.py", "exec", dont_inherit=True)
        out.append(["", "", 0, 0, 0, 0])
    except SyntaxError as e:
        out.append([type(e).__name__, e.msg, e.lineno or 0, e.offset or 0, e.end_lineno or 0, e.end_offset or 0])
json.dump(out, sys.stdout)
`, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var wants [][]any
	if err := json.Unmarshal(out, &wants); err != nil {
		t.Fatal(err)
	}
	for i, src := range programs {
		got := []any{"", "", 0., 0., 0., 0.}
		_, err := CompileSource("t.py", src, Exec)
		var e *syntax.Error
		if errors.As(err, &e) {
			got = []any{e.Kind, e.Msg, float64(e.Line), float64(e.Offset), float64(e.EndLine), float64(e.EndOffset)}
		} else if err != nil {
			t.Errorf("%q: %v", src, err)
		}
		if d := cmp.Diff(wants[i], got); d != "" {
			t.Errorf("%q\n-CPython +ours\n%s", src, d)
		}
	}
}
