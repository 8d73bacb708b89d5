package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const architecture = "../ARCHITECTURE.md"

// block is a command of ARCHITECTURE.md with what it prints.
type block struct {
	command string
	lines   []string // "..." for any number of lines
}

var fence = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// TestArchitecture runs the commands of ARCHITECTURE.md: what they print has the lines that stand there, in this order, with others between them
// only where three dots say so.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	var model string
	var blocks []block
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		switch m[1] {
		case "python":
			model = m[2]
		case "console":
			lines := strings.Split(strings.TrimSuffix(m[2], "\n"), "\n")
			blocks = append(blocks, block{strings.TrimPrefix(lines[0], "$ "), lines[1:]})
		}
	}
	if model == "" || len(blocks) < 5 {
		t.Fatalf("%d commands: is the form of %s another one?", len(blocks), architecture)
	}
	broken := strings.Replace(model, "\ndef ", "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = \"compile_error\"\n\ndef ", 1)
	var script strings.Builder
	for i := range blocks {
		fmt.Fprintf(&script, "prints %d\n", i)
	}
	fmt.Fprintf(&script, "-- model.py --\n%s-- broken.py --\n%s", model, broken)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "architecture.txtar"), []byte(script.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		e.Setenv("WHITTLE_STORE", filepath.Join(e.WorkDir, "store.db"))
		e.Setenv("WHITTLE_CACHE", filepath.Join(e.WorkDir, "kernels"))
		e.Setenv("TORCHDYNAMO_REPRO_DIR", e.WorkDir)
		e.Setenv("TORCH_LOGS_FORMAT", "%(message)s")
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"prints": func(ts *testscript.TestScript, _ bool, args []string) {
		var i int
		if _, err := fmt.Sscan(args[0], &i); err != nil {
			ts.Fatalf("%v", err)
		}
		words := strings.Fields(blocks[i].command)
		logs, named := strings.CutPrefix(words[0], "TORCH_LOGS=")
		if named {
			words = words[1:]
		} else {
			logs = ""
		}
		ts.Setenv("TORCH_LOGS", logs)
		_ = ts.Exec(words[0], words[1:]...) // some fail, which is what they show
		got := strings.Split(ts.ReadFile("stderr")+ts.ReadFile("stdout"), "\n")
		if missing := missing(got, blocks[i].lines); missing != "" {
			ts.Fatalf("%s: what is printed has no line %q where %s has it:\n%s", blocks[i].command, missing, architecture, strings.Join(got, "\n"))
		}
	}}})
}

// missing is the first of the lines wanted that got does not have in its place; "" where all are there.
func missing(got, want []string) string {
	skip := false
	for _, w := range want {
		if w == "..." {
			skip = true
			continue
		}
		at := slices.Index(got, w)
		if at < 0 || at > 0 && !skip {
			return w
		}
		got, skip = got[at+1:], false
	}
	return ""
}
