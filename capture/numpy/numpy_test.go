package numpy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
)

// TestDifferential compares every program under testdata with what NumPy 2.2.4 prints: its .out is made with
//
//	python3 -W ignore NAME.py > NAME.out
//
// on a machine that has it.
func TestDifferential(t *testing.T) {
	files, err := filepath.Glob("testdata/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal("no test programs", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(f, ".py") + ".out")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), run(f)); d != "" {
				t.Errorf("(-NumPy +ours)\n%s", d)
			}
		})
	}
}

// run runs a program, with nothing but the standard library and numpy, and gives what it wrote.
func run(file string) string {
	in := vm.New()
	stdlib.Register(in)
	Register(in)
	var out bytes.Buffer
	in.Stdout, in.Stderr = &out, &bytes.Buffer{}
	err := in.RunFile(file, nil)
	_ = in.Flush()
	if err != nil {
		out.WriteString(in.FormatException(err))
	}
	return out.String()
}
