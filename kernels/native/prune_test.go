package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// kernelFile makes a file of a cache with an age in days.
func kernelFile(t *testing.T, dir, name string, days, size int, now time.Time) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	at := now.Add(-time.Duration(days) * 24 * time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestPrune(t *testing.T) {
	name := func(c string) string { return c + c + "/" + strings.Repeat(c, 40) }
	now := time.Now()
	for _, c := range []struct {
		most int64
		want []string
	}{
		{1000, []string{"a", "b", "c"}}, // d is too old
		{250, []string{"a", "b"}},       // c was not used for longest
		{0, nil},
	} {
		dir := t.TempDir()
		kernelFile(t, dir, name("a")+".so", 1, 90, now)
		kernelFile(t, dir, name("a")+".cpp", 60, 10, now) // sources are as young as what was made of them
		kernelFile(t, dir, name("b")+".so", 2, 100, now)
		kernelFile(t, dir, name("c")+".so", 3, 100, now)
		kernelFile(t, dir, name("d")+".so", 31, 100, now)
		kernelFile(t, dir, name("d")+".cpp", 31, 10, now)
		kernelFile(t, dir, "aa/src-17.cpp", 2, 1, now)
		kept := []string{"aa/src-18.cpp.so", "aa/mine.so", "notes/" + strings.Repeat("e", 40) + ".so", "store.db"}
		kernelFile(t, dir, kept[0], 0, 1, now) // a compiler is at it
		for _, k := range kept[1:] {
			kernelFile(t, dir, k, 100, 1, now)
		}
		if err := Prune(dir, now, 30*24*time.Hour, c.most); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range []string{"a", "b", "c", "d"} {
			_, so := os.Stat(filepath.Join(dir, name(k)+".so"))
			_, cpp := os.Stat(filepath.Join(dir, name(k)+".cpp"))
			if so == nil {
				got = append(got, k)
			} else if cpp == nil {
				t.Errorf("the source of %s is left alone", k)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("at most %d bytes: %s", c.most, diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "aa/src-17.cpp")); err == nil {
			t.Error("what a killed compiler left is still there")
		}
		for _, k := range kept {
			if _, err := os.Stat(filepath.Join(dir, k)); err != nil {
				t.Errorf("%s is gone", k)
			}
		}
	}
}

// TestBuildPrunes: a process that adds a kernel prunes, once a day, and one that is used is young again.
func TestBuildPrunes(t *testing.T) {
	if _, err := FindCompiler(); err != nil {
		t.Skip("no C++ compiler")
	}
	now := time.Now()
	b := &Builder{Dir: t.TempDir(), Flags: []string{"-O0"}}
	source := func(name string) string {
		return "extern \"C\" void kernel(void**, const long*) {}\nint " + name + ";\n"
	}
	lib, err := b.Build(t.Context(), source("one"))
	if err != nil {
		t.Fatal(err)
	}
	old := now.Add(-40 * 24 * time.Hour)
	if err := os.Chtimes(lib.Path, old, old); err != nil {
		t.Fatal(err)
	}
	again, err := (&Builder{Dir: b.Dir, Flags: b.Flags}).Build(t.Context(), source("one"))
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(again.Path); err != nil || st.ModTime().Before(now.Add(-time.Hour)) {
		t.Errorf("%v: a kernel that is used stays old", err)
	}
	kernelFile(t, b.Dir, "ff/"+strings.Repeat("f", 40)+".so", 40, 1, now)
	left := func() bool {
		all, _ := filepath.Glob(filepath.Join(b.Dir, "ff", "*"))
		return slices.ContainsFunc(all, func(p string) bool { return strings.HasSuffix(p, ".so") })
	}
	if _, err := b.Build(t.Context(), source("two")); err != nil || !left() {
		t.Errorf("%v: it was pruned twice in a day", err)
	}
	if err := os.Chtimes(filepath.Join(b.Dir, "pruned"), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), source("three")); err != nil || left() {
		t.Errorf("%v: an old kernel is left", err)
	}
}
