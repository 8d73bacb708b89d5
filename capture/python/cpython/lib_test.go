package cpython_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"whittle/capture/python/cpython"
)

// TestArchive: the embedded library is what go generate writes from the module that go.mod names.
func TestArchive(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lib.zip")
	if b, err := exec.Command("go", "run", "whittle/tools/cpythonlib", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	got, err := os.ReadFile("lib.zip")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("lib.zip is not what go generate writes")
	}
}

func TestLib(t *testing.T) {
	for _, name := range []string{"os.py", "json/__init__.py", "asyncio/events.py", "LICENSE.txt"} {
		if b, err := fs.ReadFile(cpython.Lib(), name); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}
