package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchives: the archives of the packages hold what lies in their folders. `go generate` in a package writes its archive.
func TestArchives(t *testing.T) {
	read := func(from fs.FS) map[string]string {
		files := map[string]string{}
		if err := fs.WalkDir(from, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.Contains(path, "__pycache__/") {
				return err
			}
			b, err := fs.ReadFile(from, path)
			files[path] = string(b)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return files
	}
	for _, dir := range []string{"torch", "numpy"} {
		dir = filepath.Join("../../capture", dir)
		packed, err := zip.OpenReader(filepath.Join(dir, "py.zip"))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(read(os.DirFS(filepath.Join(dir, "py"))), read(packed)); d != "" {
			t.Errorf("%s: run go generate: py (-), py.zip (+):\n%s", dir, d)
		}
		packed.Close()
	}
}
