package stdlib

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/vm"
)

// runScript runs a file and gives what it wrote, an uncaught exception's traceback included.
func runScript(path string, args ...string) string { return runWith(vm.New(), path, args...) }

func runWith(in *vm.Interp, path string, args ...string) string {
	Register(in)
	var out bytes.Buffer
	in.Stdout, in.Stderr, in.Patience = &out, &out, 100
	err := in.RunFile(path, args)
	_ = in.Flush()
	if err != nil {
		out.WriteString(in.FormatException(err))
	}
	if err := in.RunAtExit(); err != nil {
		out.WriteString(err.Error())
	}
	return out.String()
}

// scripts lists the programs under testdata, those that end in a traceback among them.
func scripts(t *testing.T) []string {
	var files []string
	for _, dir := range []string{"testdata/*.py", "testdata/tracebacks/*.py"} {
		f, err := filepath.Glob(dir)
		if err != nil || len(f) == 0 {
			t.Fatal("no test programs", err)
		}
		files = append(files, f...)
	}
	return files
}

// TestDifferential compares every script under testdata with its golden output, and both with CPython where there is one.
func TestDifferential(t *testing.T) {
	py, _ := exec.LookPath("python3")
	files := scripts(t)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			golden := strings.TrimSuffix(f, ".py") + ".out"
			if os.Getenv("UPDATE") != "" && py != "" {
				cmd := exec.Command(py, "-uB", f)
				cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
				b, _ := cmd.CombinedOutput()
				if err := os.WriteFile(golden, placeless(b), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(placeless([]byte(runScript(f))))); d != "" {
				t.Errorf("(-CPython +ours)\n%s", d)
			}
		})
	}
}

// TestWatched runs the scripts with every frame watched, which takes the instructions one by one instead of in pairs.
func TestWatched(t *testing.T) {
	files := scripts(t)
	steps := 0
	for _, f := range files {
		switch filepath.Base(f) {
		case "tracing.py", "lsprof_module.py": // a frame has one watcher, and what traces or profiles is one
			continue
		}
		t.Run(filepath.Base(f), func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(f, ".py") + ".out")
			if err != nil {
				t.Fatal(err)
			}
			in := vm.New()
			in.FrameHook = func(in *vm.Interp, f *vm.Frame) (vm.Object, error) {
				f.Trace = func(*vm.Frame) error { steps++; return nil }
				return in.EvalFrame(f)
			}
			if d := cmp.Diff(string(want), string(placeless([]byte(runWith(in, f))))); d != "" {
				t.Errorf("(-alone +watched)\n%s", d)
			}
		})
	}
	if steps == 0 {
		t.Error("no frame was watched")
	}
}

// placeless takes the folder out of paths.
func placeless(b []byte) []byte {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		return b
	}
	return bytes.ReplaceAll(b, []byte(dir), []byte("$DIR"))
}
