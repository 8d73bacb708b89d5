package files

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"
)

// put writes and gives the name that was taken, relative to dir.
func put(t *testing.T, dir, name, text string, about ...string) string {
	t.Helper()
	at, err := Put(filepath.Join(dir, name), []byte(text), about...)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(dir, at)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestPutKeepsWhatIsNotOurs(t *testing.T) {
	for _, name := range []string{"repro.py", "record.json", "notes", "notes.txt"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		write(t, path, "{\n \"mine\": 1\n}\n")
		at := put(t, dir, name, "{\n \"ours\": 1\n}\n", "a")
		if at == name || read(t, path) != "{\n \"mine\": 1\n}\n" {
			t.Errorf("%s: taken %s, and the user's file is now %q", name, at, read(t, path))
		}
	}
}

func TestPutReplacesItsOwn(t *testing.T) {
	for _, c := range []struct{ name, one, two string }{
		{"repro.py", "print(1)\n", "print(2)\n"}, {"repro.py", "print(1)", ""}, {"repro", "print(1)", "print(2)"}, {"out.json", "{\n \"a\": 1\n}", "{\n \"a\": 2\n}\n"}, {"mktemp.Ab3", "{\n \"a\": 1\n}", "{\n \"a\": 2\n}\n"}, {"out.json", "{\n \"a\": 1\n}", "{\n \"a\": 2\n}\n"},
	} {
		dir := t.TempDir()
		got := []string{put(t, dir, c.name, c.one, "a"), put(t, dir, c.name, c.two, "a"), put(t, dir, c.name, c.two, "another"), put(t, dir, c.name, c.one, "a")}
		ext := filepath.Ext(c.name)
		second := strings.TrimSuffix(c.name, ext) + "-2" + ext
		if diff := cmp.Diff([]string{c.name, c.name, second, c.name}, got); diff != "" {
			t.Errorf("%q: %s", c.name, diff)
		}
		if strings.HasPrefix(c.one, "{") && !json.Valid([]byte(read(t, filepath.Join(dir, c.name)))) {
			t.Errorf("sealed: %s", read(t, filepath.Join(dir, c.name)))
		}
	}
}

func TestPutKeepsWhatWasEdited(t *testing.T) {
	for _, name := range []string{"repro.py", "out.json"} {
		for _, edit := range []func(string) string{
			func(s string) string { return strings.Replace(s, "1", "7", 1) },
			func(s string) string { return " " + s },
			func(s string) string { return s + "# mine\n" },
			func(s string) string { return strings.TrimRight(s, "\n") },
			func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			func(s string) string { return "\n" },
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, put(t, dir, name, "{\n \"a\": 1\n}\n", "a"))
			mine := edit(read(t, path))
			write(t, path, mine)
			if at := put(t, dir, name, "{\n \"a\": 2\n}\n", "a"); at == name || read(t, path) != mine {
				t.Errorf("%q was taken for our own", mine)
			}
		}
	}
}

func TestPutIntoAnEmptyFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tmp.x"), "")
	if at := put(t, dir, "tmp.x", "x\n"); at != "tmp.x" {
		t.Errorf("a file as mktemp makes it was not taken: %s", at)
	}
}

func TestPutIntoWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target.py")
	write(t, target, "mine\n")
	if err := os.Symlink(target, filepath.Join(dir, "repro.py")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.py"), 0o777); err != nil {
		t.Fatal(err)
	}
	got := []string{put(t, dir, "repro.py", "x\n"), put(t, dir, "folder.py", "x\n")}
	if diff := cmp.Diff([]string{"repro-2.py", "folder-2.py"}, got); diff != "" || read(t, target) != "mine\n" {
		t.Error(diff, read(t, target))
	}
	if at, err := Put(os.DevNull, []byte("x")); at != os.DevNull || err != nil {
		t.Errorf("%s %v", at, err)
	}
	if _, err := Put("/dev/full", []byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full device: %v", err)
	}
}

func TestExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "data")
	if err := errors.Join(Exact(path, []byte("a")), Exact(path, []byte("a"))); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if err := Exact(path, []byte("b")); !errors.As(err, &exists) || read(t, path) != "a" {
		t.Errorf("%v", err)
	}
}

// TestOneOfMany has many writers want one name: each gets a file of its own, and none a half.
func TestOneOfMany(t *testing.T) {
	dir := t.TempDir()
	var wg conc.WaitGroup
	at := make([]string, 20)
	errs := make([]error, len(at))
	for i := range at {
		wg.Go(func() {
			at[i], errs[i] = Put(filepath.Join(dir, "repro.py"), []byte(strings.Repeat("x", i)), string(rune('a'+i)))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, p := range at {
		if s := read(t, p); !strings.HasPrefix(s, strings.Repeat("x", i)+"\n#") && i > 0 {
			t.Errorf("%s: %q", p, s)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != len(at) {
		t.Errorf("%d files of %d writers", len(left), len(at))
	}
}

func TestFolder(t *testing.T) {
	a := Folder("/x/train.py", "CppCompileError", "s")
	for _, c := range []struct {
		source, kind, sig, want string
	}{
		{"/x/train.py", "CppCompileError", "s", a}, {"train.py", "a b/c", "s", "whittle-repro/train-a_b_c-"}, {"..", "", "s", "whittle-repro/program-failure-"},
		{"-m", "../../etc", "s", "whittle-repro/m-etc-"},
	} {
		got := Folder(c.source, c.kind, c.sig)
		if !strings.HasPrefix(got, c.want) && got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if filepath.Dir(got) != Root {
			t.Errorf("%+v leaves the folder: %s", c, got)
		}
	}
	if b := Folder("train.py", "CppCompileError", "t"); b == a {
		t.Error("two signatures share a folder")
	}
}

// TestPages: a page is sealed in a comment at its end, replaced as long as nobody edits it, and kept once somebody has.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	first := put(t, dir, "index.html", "<!DOCTYPE html>\n<p>one</p>", "a page")
	if got := put(t, dir, "index.html", "<!DOCTYPE html>\n<p>two</p>\n", "a page"); got != first {
		t.Errorf("an unedited page was not replaced: %s", got)
	}
	at := filepath.Join(dir, first)
	text := read(t, at)
	if !strings.HasPrefix(text, "<!DOCTYPE html>\n<p>two</p>\n<!-- whittle wrote this page") || !strings.HasSuffix(text, " -->\n") {
		t.Errorf("the page: %s", text)
	}
	if got := put(t, dir, "index.html", "<!DOCTYPE html>\n<p>two</p>\n", "another page"); got == first {
		t.Error("a page about something else was replaced")
	}
	write(t, at, strings.Replace(text, "two", "2", 1))
	if got := put(t, dir, "index.html", "<!DOCTYPE html>\n<p>three</p>\n", "a page"); got == first {
		t.Error("an edited page was replaced")
	}
}
