package code

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCompileCorpus(t *testing.T) {
	files, _ := filepath.Glob("../syntax/testdata/*.py")
	more, _ := filepath.Glob("../vm/testdata/*.py")
	for _, f := range append(files, more...) {
		b, _ := os.ReadFile(f)
		if _, err := CompileSource(f, string(b), Exec); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
