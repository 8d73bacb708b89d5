package vm_test

import (
	"os"
	"path/filepath"
	"testing"

	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
)

// cachedFiles are the files that a cache holds.
func cachedFiles(t *testing.T, cache string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A module is compiled once for its text; what is in the way of the cache is in nobody else's.
func TestCodeCache(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "code")
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "mod.py"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	value := func(cache string) string {
		t.Helper()
		in := vm.New()
		in.CodeCache, in.Path = cache, []string{dir}
		stdlib.Register(in)
		m, err := in.Import("mod")
		if err != nil {
			t.Fatal(in.FormatException(err))
		}
		v, _ := m.Dict.GetStr("f")
		r, err := in.Call(v, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := vm.AsStr(r)
		return s
	}
	want := func(step, cache, text string, files int) {
		t.Helper()
		if got := value(cache); got != text {
			t.Errorf("%s: %q, want %q", step, got, text)
		}
		if got := len(cachedFiles(t, cache)); got != files {
			t.Errorf("%s: %d files in the cache, want %d", step, got, files)
		}
	}
	write("def f(): return 'one'\n")
	want("compiled", cache, "one", 1)
	want("read", cache, "one", 1)
	write("def f(): return 'two'\n")
	want("changed", cache, "two", 2)
	for _, f := range cachedFiles(t, cache) {
		if err := os.WriteFile(f, []byte("wcode1 and then nothing"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want("damaged", cache, "two", 2)
	blocked := filepath.Join(dir, "mod.py")
	want("no folder", blocked, "two", 0)
}
