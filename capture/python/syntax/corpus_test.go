package syntax

import (
	"os"
	"path/filepath"
	"testing"
)

// TestParseRecordedPrograms parses the programs that a real PyTorch has run: every one is Python without an error.
func TestParseRecordedPrograms(t *testing.T) {
	dir := os.Getenv("WHITTLE_SHARED")
	if dir == "" {
		dir = "../../../../shared"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "conformance/programs/*/*.py"))
	if len(files) == 0 {
		t.Skip("no recorded programs here")
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(f, string(src)); err != nil {
			t.Errorf("%v", err)
		}
	}
}
