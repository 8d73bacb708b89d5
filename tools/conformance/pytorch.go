package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"whittle/repros"
	"whittle/tools/conformance/minify"
)

// visible is a new folder that the command sees, and its path there: for chroot, one inside the new root.
func visible(command []string) (here, there string, err error) {
	parent := ""
	if filepath.Base(command[0]) == "chroot" && len(command) > 2 {
		parent = filepath.Join(command[1], "tmp")
	}
	here, err = os.MkdirTemp(parent, "conformance-")
	if err != nil || parent == "" {
		return here, here, err
	}
	return here, filepath.Join("/tmp", filepath.Base(here)), nil
}

// inFolder runs a script as python3 does in its own folder: the command cannot change folders by itself.
const inFolder = `import os, runpy, sys; os.chdir(sys.argv[1]); sys.path.insert(0, sys.argv[1]); sys.argv = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name="__main__")`

// madeQueries is the last line but one of PyTorch's minifier.
var madeQueries = regexp.MustCompile(`Made (\d+) queries`)

// own runs PyTorch's own minifier on a case's launcher, with an empty cache of compiled code.
func (m *minifier) own(ctx context.Context, c minify.Case, mode string) (minify.PyTorch, error) {
	var p minify.PyTorch
	here, there, err := visible(m.command)
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(here)
	if err := os.CopyFS(filepath.Join(here, "case"), os.DirFS(c.Dir)); err != nil {
		return p, err
	}
	args := append(slices.Clone(m.command), "-c", inFolder, filepath.Join(there, "case"), "minifier_launcher.py", "minify")
	if mode == "noisolate" {
		args = append(args, "--no-isolate")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TORCHINDUCTOR_CACHE_DIR="+filepath.Join(there, "cache"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	p.Seconds = time.Since(begin).Seconds()
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return p, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	r, err := repros.ReadFile(filepath.Join(here, "case", "repro.py"))
	if err != nil {
		return p, errors.Join(errors.New("no repro that can be read"), err)
	}
	calls, queries := len(r.Module.Graph.Calls()), 0
	if m := madeQueries.FindSubmatch(out); m != nil {
		queries, _ = strconv.Atoi(string(m[1]))
	}
	p.Calls, p.Queries = &calls, &queries
	for _, in := range r.Inputs {
		if in.Kind != repros.TensorInput {
			continue
		}
		n := int64(1)
		for _, d := range in.Shape {
			n *= d
		}
		p.Elements += n
	}
	return p, nil
}
