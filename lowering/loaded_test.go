package lowering_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
