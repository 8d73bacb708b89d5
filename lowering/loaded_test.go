package lowering_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/conc"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
)

// TestCompiledTwiceIsLoadedOnce: the same graph compiled again, as after each break of a program or query of a search, brings no library.
func TestCompiledTwiceIsLoadedOnce(t *testing.T) {
	if _, err := native.FindCompiler(); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		t.Skip(err)
	}
	dirs := []string{t.TempDir(), t.TempDir()}
	x := data(3, 5)
	var held []*lowering.Compiled
	for i := range 4 {
		g, err := fx.ParseGraph("def forward(self, a):\n    sin = torch.ops.aten.sin.default(a)\n    add = torch.ops.aten.add.Tensor(sin, 31.25)\n    return (add,)")
		if err != nil {
			t.Fatal(err)
		}
		gm := &fx.GraphModule{Graph: g}
		if err := interp.Propagate(context.Background(), gm, []any{x}); err != nil {
			t.Fatal(err)
		}
		c, err := lowering.Compile(context.Background(), gm, lowering.Config{CacheDir: dirs[i%2], Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	libs := map[string]bool{}
	for _, l := range strings.Split(string(b), "\n") {
		if i := strings.IndexByte(l, '/'); i >= 0 && (strings.HasPrefix(l[i:], dirs[0]) || strings.HasPrefix(l[i:], dirs[1])) {
			libs[filepath.Base(l[i:])+" in "+filepath.Dir(l[i:])] = true
		}
	}
	if len(libs) != 1 {
		t.Errorf("%d libraries are loaded for one graph: %v", len(libs), libs)
	}
	for _, c := range held {
		out, err := c.Run([]any{x})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := out[0].(*tensor.Tensor).At(0), math.Sin(x.At(0))+31.25; math.Abs(got-want) > 1e-5 {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// compiler puts a script in the place of the C++ compiler.
func compiler(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compiler")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CXX", path)
}

// TestCompiledInBackground: the first run does not wait for the compiler, the second one does, and both give the same.
func TestCompiledInBackground(t *testing.T) {
	real, err := native.FindCompiler()
	if err != nil {
		t.Skip(err)
	}
	body := "\n    exp = torch.ops.aten.exp.default(a)\n    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [1])\n    return (exp, sum_1)"
	x := data(40, 70)
	inputs := []any{x}

	t.Run("a compiler that waits", func(t *testing.T) {
		start := filepath.Join(t.TempDir(), "go")
		compiler(t, "while [ ! -e "+start+" ]; do sleep 0.01; done\nexec "+strings.Join(real, " ")+` "$@"`)
		var builds conc.WaitGroup
		_, p, err := compile(t, body, lowering.Config{Background: &builds}, x)
		if err != nil {
			t.Fatal(err)
		}
		first, err := p.Run(inputs)
		if err != nil || p.Tried() {
			t.Fatalf("the first run: %v, tried %v", err, p.Tried())
		}
		if err := os.WriteFile(start, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		second, err := p.Run(inputs)
		if err != nil || !p.Tried() {
			t.Fatalf("the second run: %v, tried %v", err, p.Tried())
		}
		if rep := accuracy.Compare(any(first), any(second), nil, accuracy.Default()); !rep.Same {
			t.Error(rep.Message)
		}
		builds.Wait()
	})

	t.Run("a compiler that fails", func(t *testing.T) {
		compiler(t, "echo no such luck >&2\nexit 1")
		var builds conc.WaitGroup
		_, p, err := compile(t, body, lowering.Config{Background: &builds}, x)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(inputs); err != nil {
			t.Fatalf("the first run: %v", err)
		}
		for range 2 {
			var ce *lowering.CompileError
			if _, err := p.Run(inputs); !errors.As(err, &ce) || !strings.Contains(ce.Output, "no such luck") {
				t.Errorf("a later run: %v, want a CompileError", err)
			}
		}
		builds.Wait()
	})

	t.Run("a program that ends before", func(t *testing.T) {
		compiler(t, "case \"$*\" in *-fopenmp*) exit 1;; esac\nsleep 60")
		ctx, stop := context.WithCancel(context.Background())
		var builds conc.WaitGroup
		g, err := fx.ParseGraph("def forward(self, a):\n" + body)
		if err != nil {
			t.Fatal(err)
		}
		gm := &fx.GraphModule{Graph: g}
		if err := interp.Propagate(ctx, gm, inputs); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		p, err := lowering.Compile(ctx, gm, lowering.Config{CacheDir: dir, Background: &builds})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(inputs); err != nil {
			t.Fatal(err)
		}
		stop()
		builds.Wait()
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s is left", path)
			}
			return nil
		})
	})
}
