package torch

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSources: what is embedded is what lies in py. `go generate ./capture/torch` writes the archive.
func TestSources(t *testing.T) {
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
	if d := cmp.Diff(read(os.DirFS("py")), read(sources())); d != "" {
		t.Errorf("run go generate: py (-), embedded (+):\n%s", d)
	}
}
