package torch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatTheCompilerSaid: errors of a source are heard again without a compiler, with the same flags; all else is asked again.
func TestWhatTheCompilerSaid(t *testing.T) {
	dir := t.TempDir()
	compiler := filepath.Join(dir, "cc")
	script := "#!/bin/sh\necho run >> " + dir + "/runs\ncase \"$*\" in *killed*) kill -9 $$;; *-Wbad*) echo \"$1:1:2: error: no\"; exit 1;; *lost*) echo lost; exit 1;; esac\n"
	if err := os.WriteFile(compiler, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	got := farSays(t, `
import os, subprocess
from whittle_far.said import Subprocess, good
os.chdir(sys.argv[1])
def ask(*flags):
    words = ["./cc", "k.cpp", *flags]
    try:
        Subprocess().check_output(args=words, stderr=subprocess.STDOUT)
        said = "fine"
    except subprocess.CalledProcessError as e:
        said = "%d %s" % (e.returncode, e.output.decode().strip())
    with open("runs") as f:
        return said, len(f.read().split()), good(words)
for flags in (["-Wbad"], ["-Wbad"], ["-Wbad", "-o", "elsewhere"], ["-O3"], ["-O3"], ["killed"], ["killed"], ["lost"], ["lost"]):
    print(*ask(*flags))
`, dir)
	want := "1 k.cpp:1:2: error: no 1 False\n1 k.cpp:1:2: error: no 1 False\n1 k.cpp:1:2: error: no 1 False\n" +
		"fine 2 True\nfine 3 True\n-9  4 False\n-9  5 False\n1 lost 6 False\n1 lost 7 False\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
