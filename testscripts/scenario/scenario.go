package scenario

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"whittle/kernels/aten"
	"whittle/tools/whittle/cli"
)

var update = flag.Bool("update", false, "rewrite the golden files inside the scripts")

// init breaks the kernel of an operator that no other scenario calls, as none of whittle's own is known to panic.
func init() {
	op := aten.Lookup("aten::logaddexp2")
	op.Eager = func(c *aten.Call) (aten.Value, error) { return []aten.Value{}[len(c.Args)], nil }
}

func whittle() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Main is TestMain of a package of scenarios: its test binary is whittle, too.
func Main(m *testing.M) {
	// The command starts its own binary again, for the script's process (__script) and for workers (__worker).
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		whittle()
	}
	testscript.Main(m, map[string]func(){"whittle": whittle, "farside": farSide})
}

// Run runs every scenario of the folder of the test with a store of its own, and the programs of the folder demos at hand. Compiled kernels are
// shared: they are kept by content.
func Run(t *testing.T, demos string) {
	t.Helper()
	kernels := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:           ".",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("WHITTLE_STORE", filepath.Join(e.WorkDir, "store.db"))
			e.Setenv("WHITTLE_CACHE", kernels)
			e.Setenv("WHITTLE_JOBS", "1") // as many scripts run at once as there are cores; those about several queries at a time say -j
			e.Setenv("WHITTLE_TORCH_ROOT", os.Getenv("WHITTLE_TORCH_ROOT"))
			// A minimal repro appears where the scenario runs, and not beside a demo.
			e.Setenv("TORCHDYNAMO_REPRO_DIR", e.WorkDir)
			return copyDemos(demos, filepath.Join(e.WorkDir, "demo"))
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "torch": // a root folder with a Python that has torch, for chroot
				return os.Getenv("WHITTLE_TORCH_ROOT") != "" && os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"oneline": oneline,
			"cut":     cut,
			"poke":    poke,
			"folders": folders,
			"signal":  signals,
		},
	})
}

// copyDemos puts the programs of a folder into dir. Copies, so that nothing is written beside them, and so that the test
// cache sees them read.
func copyDemos(from, dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(from, "*.py"))
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// folders DIR N: DIR holds N folders and nothing else.
func folders(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: folders DIR N")
	}
	all, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	names := []string{}
	for _, e := range all {
		names = append(names, e.Name())
		if !e.IsDir() {
			ts.Fatalf("%s is no folder", e.Name())
		}
	}
	if strconv.Itoa(len(names)) != args[1] {
		ts.Fatalf("%s holds %v", args[0], names)
	}
}

// exits N PROG ARGS... runs a program that must end with exit status N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("%s is not an exit status", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var x *exec.ExitError
		if !errors.As(err, &x) {
			ts.Fatalf("%v", err)
		}
		got = x.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// oneline FILE holds if the file (or stdout, stderr) is one line of text.
func oneline(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] oneline FILE")
	}
	text := ts.ReadFile(args[0])
	one := strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n") && len(text) > 1
	if one == neg {
		ts.Fatalf("%s has %d lines:\n%s", args[0], strings.Count(text, "\n"), text)
	}
}

// cut FILE N shortens a file to its first N bytes, as a full disk or a broken copy would.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE BYTES")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// poke FILE OFFSET HEX overwrites bytes of a file.
func poke(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: poke FILE OFFSET HEX")
	}
	at, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, at)
	ts.Check(errors.Join(err, f.Close()))
}
