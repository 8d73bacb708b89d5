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

// TestArchive: the embedded library and packages are what go generate writes from the module that go.mod names.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	if b, err := exec.Command("go", "run", "whittle/tools/cpythonlib", "-o", filepath.Join(dir, "lib.zip"), "-site", filepath.Join(dir, "site.zip")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	for _, name := range []string{"lib.zip", "site.zip"} {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what go generate writes", name)
		}
	}
}

func TestLib(t *testing.T) {
	for _, name := range []string{"os.py", "json/__init__.py", "asyncio/events.py", "LICENSE.txt"} {
		if b, err := fs.ReadFile(cpython.Lib(), name); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}
