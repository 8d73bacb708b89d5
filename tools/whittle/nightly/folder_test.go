package nightly

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFolders: what killed nights left is removed; what a process holds, has no lock, or is no folder of a night stays.
func TestFolders(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	held, err := NewFolder()
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := NewFolder()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "60")
	child.ExtraFiles = []*os.File{inherited.Lock}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := inherited.Lock.Close(); err != nil { // as when this process is killed
		t.Fatal(err)
	}
	left, err := NewFolder()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"whittle-nightly-other/file", "whittle-nightly-link/x", "another/whittle-nightly.lock", "folder/whittle-nightly.lock"} {
		path = filepath.Join(tmp, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(tmp, "folder"), filepath.Join(tmp, "whittle-nightly-folder")); err != nil {
		t.Fatal(err)
	}
	names := func() []string {
		entries, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	CleanFolders()
	all := []string{"another", "folder", filepath.Base(held.Path), filepath.Base(inherited.Path), filepath.Base(left.Path), "whittle-nightly-folder", "whittle-nightly-link", "whittle-nightly-other"}
	slices.Sort(all)
	if d := cmp.Diff(all, names()); d != "" {
		t.Error(d)
	}
	if err := left.Lock.Close(); err != nil {
		t.Fatal(err)
	}
	_ = child.Process.Kill()
	_ = child.Wait() // it was killed
	CleanFolders()
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"another", "folder", "whittle-nightly-folder", "whittle-nightly-link", "whittle-nightly-other"}, names()); d != "" {
		t.Error(d)
	}
}
