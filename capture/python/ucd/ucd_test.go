package ucd

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"whittle/capture/python/cpython/real"
)

// TestTables writes the tables with the real CPython and compares them with those that are there. Names beyond a character's own come from a
// list that not every machine has.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("asks CPython about every character")
	}
	if lists, _ := filepath.Glob("/usr/share/perl/5*/unicore/Name.pl"); len(lists) == 0 {
		t.Skip("there is no perl, whose unicore/Name.pl lists the aliases and sequences that make.py reads")
	}
	py, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("make.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(py, script)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(cmd.Dir, "tables.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want, packed) {
		t.Error("tables.bin is not what make.py writes: go generate")
	}
}

// FuzzNormalize checks what holds of every text: a normal form is one, and composing undoes nothing that decomposing shows.
func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "é", "e\u0301\u0323", "가각", "ﬁⅣ²", "\u1100\u1161\u11a8", "a\u0315\u0300\u05ae\u0062", "Å"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		for name, form := range Forms {
			for _, old := range []bool{false, true} {
				once := form.Normalize([]rune(s), old)
				if !slices.Equal(once, form.Normalize(once, old)) {
					t.Errorf("%s of %q is not normal: %q", name, s, string(once))
				}
				apart := Form{Compat: form.Compat}
				if !slices.Equal(apart.Normalize(once, old), apart.Normalize([]rune(s), old)) {
					t.Errorf("%s of %q means something else: %q", name, s, string(once))
				}
			}
		}
	})
}
