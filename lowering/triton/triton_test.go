package triton_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/lowering/triton"
	"whittle/repros"
	"whittle/tools/tritontest"
)

// TestGraphs: what is written for each graph gives in blocks of several sizes what the eager kernels give.
func TestGraphs(t *testing.T) {
	text, err := os.ReadFile("testdata/graphs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	x := tritontest.New(t)
	for _, f := range txtar.Parse(text).Files {
		t.Run(f.Name, func(t *testing.T) {
			r, err := repros.Read(f.Name, string(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			inputs, err := r.Tensors(r.Loader(""))
			if err != nil {
				t.Fatal(err)
			}
			x.Check(t, r.Module, inputs, 0)
		})
	}
}

// TestCorpus does the same with graphs that real programs gave. Of the largest, whose elements an interpreter would take too long for, and
// of those that draw random numbers, the text is written alone.
func TestCorpus(t *testing.T) {
	shared := os.Getenv("WHITTLE_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	files, err := filepath.Glob(filepath.Join(shared, "corpus", "graphs", "*_aot_*.py"))
	if err != nil || len(files) == 0 {
		t.Skip("no recorded graphs: $WHITTLE_SHARED is not set")
	}
	x := tritontest.New(t)
	ran := 0
	for i, f := range files {
		if i%*every != 0 {
			continue
		}
		t.Run(filepath.Base(f), func(t *testing.T) {
			r, err := repros.ReadFile(f)
			if err != nil {
				t.Skip("whether recorded graphs can be read is measured by conformance graphs:", err)
			}
			inputs, err := r.Tensors(r.Loader(filepath.Dir(f)))
			if err != nil {
				t.Skip("its inputs are not recorded with it:", err)
			}
			if err := interp.Propagate(context.Background(), r.Module, inputs); err != nil {
				t.Skip("no shapes without the values that it was recorded with:", err)
			}
			if elements(r.Module.Graph) < *enough && !r.Module.Graph.IsRandom(fx.UnknownDoesNot) {
				x.Compare(t, r.Module, inputs, reference(t, r.Module, inputs), 1e-3)
				ran++
			} else if _, err := lowering.Triton(r.Module, lowering.Config{}, "inference", triton.Devices[0]); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d of %d graphs ran", ran, len(files))
}

// reference is what eager makes of a graph; where it has 16-bit floats, which eager rounds after each call, what the same loops give in tiles.
func reference(t *testing.T, gm *fx.GraphModule, inputs []any) []any {
	ctx := context.Background()
	inputs = accuracy.Clone(inputs).([]any)
	if slices.ContainsFunc(gm.Graph.Nodes, func(n *fx.Node) bool {
		v, ok := n.Val.(*tensor.Tensor)
		return ok && v != nil && (v.DType == tensor.BFloat16 || v.DType == tensor.Float16)
	}) {
		p, err := lowering.Compile(ctx, gm, lowering.Config{Tier: lowering.Tiles})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(inputs)
		if err != nil {
			t.Skip("random inputs make no sense to it (an index, say), so there is nothing to compare with:", err)
		}
		return out
	}
	out, err := fx.Run(ctx, gm, inputs, interp.Aten(ctx, aten.Eager))
	if err != nil {
		t.Skip("random inputs make no sense to it (an index, say), so there is nothing to compare with:", err)
	}
	list, ok := out.([]any)
	if !ok {
		list = []any{out}
	}
	return list
}

// every is how many recorded graphs there are for each that is tried.
var every = flag.Int("every", 4, "each so many recorded graphs are written, and run if they are small; 1 for all")

// enough is how many elements the tensors of a graph have at most that is run: an interpreter takes its time.
var enough = flag.Int64("elements", 1<<15, "recorded graphs with more elements in all their tensors are not run")

// elements counts those of all tensors in a graph.
func elements(g *fx.Graph) int64 {
	var n int64
	for _, node := range g.Nodes {
		if t, ok := node.Val.(*tensor.Tensor); ok && t != nil {
			n += t.Numel()
		}
	}
	return n
}
