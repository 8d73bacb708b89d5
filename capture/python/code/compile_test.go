package code

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEveryOpcodeHasAName(t *testing.T) {
	for i := range NumOps {
		if ops[i].name == "" {
			t.Errorf("opcode %d has no row", i)
		}
		if o, ok := OpNamed(Op(i).String()); !ok || o != Op(i) {
			t.Errorf("%s does not find itself", Op(i))
		}
	}
}

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
