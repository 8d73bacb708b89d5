package stdlib

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whittle/capture/python/vm"
)

// BenchmarkPrograms runs the function run() of every program under testdata/speed; "bench python" has the rows that are held against CPython.
func BenchmarkPrograms(b *testing.B) {
	files, err := filepath.Glob("testdata/speed/*.py")
	if err != nil || len(files) == 0 {
		b.Fatal("no programs", err)
	}
	for _, f := range files {
		b.Run(strings.TrimSuffix(filepath.Base(f), ".py"), func(b *testing.B) {
			src, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			in := vm.New()
			Register(in)
			in.Stdout = &bytes.Buffer{}
			if err := in.RunSource(f, string(src)); err != nil {
				b.Fatal(in.FormatException(err))
			}
			m, _ := in.Modules.GetStr("__main__")
			run, err := in.GetAttr(m, "run")
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := in.Call(run, nil, nil); err != nil {
					b.Fatal(in.FormatException(err))
				}
			}
		})
	}
}
