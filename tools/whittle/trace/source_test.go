package trace

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFileLines: a file that a trace names is shown only if it is Python and has the lines that the trace quotes.
func TestFileLines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.py": "x = 1\ny = x + 1\n", "secret.txt": "x = 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		quoted map[int]string
		shown  bool
	}{
		{filepath.Join(dir, "a.py"), map[int]string{2: "y = x + 1"}, true},
		{filepath.Join(dir, "a.py"), map[int]string{2: "y = x + 2"}, false},
		{filepath.Join(dir, "a.py"), map[int]string{9: "y = x + 1"}, false},
		{filepath.Join(dir, "a.py"), nil, false},
		{filepath.Join(dir, "secret.txt"), map[int]string{1: "x = 1"}, false},
		{filepath.Join(dir, "none.py"), map[int]string{1: "x = 1"}, false},
		{dir, map[int]string{1: "x = 1"}, false},
		{"a.py", map[int]string{2: "y = x + 1"}, false},
	} {
		lines, note := fileLines(&Source{Name: c.name, quoted: c.quoted})
		if (lines != nil) != c.shown || (note == "") != c.shown {
			t.Errorf("%s with %v: lines %q, note %q", c.name, c.quoted, lines, note)
		}
	}
}
