package minify

import (
	"context"
	"path/filepath"
	"testing"

	search "whittle/minify"
	"whittle/replay"
	"whittle/repros"
)

// TestRealGraphs minifies graphs of the corpus for made-up failures: one operator, and one that another feeds.
func TestRealGraphs(t *testing.T) {
	dir := shared(t)
	for _, c := range []struct {
		file        string
		first, then string
		most        int // queries
	}{
		{"gpt_aot_inf", "", "aten.tanh.default", 40},
		{"gpt_aot_inf", "", "aten.embedding.default", 40},
		{"llama_aot_fwd", "", "aten.sigmoid.default", 40},
		{"resnet18_aot_inf", "", "aten.relu.default", 40},
		{"gpt_aot_inf", "aten.tanh.default", "aten.rsqrt.default", 400},
		{"mixer_aot_bwd", "", "aten.convolution_backward.default", 40},
	} {
		r, err := repros.ReadFile(filepath.Join(dir, "corpus/graphs", c.file+".py"))
		if err != nil {
			t.Fatal(err)
		}
		vals, err := r.Tensors(nil)
		if err != nil {
			t.Fatal(err)
		}
		st := search.State{Module: r.Module}
		for _, v := range vals {
			st.Inputs = append(st.Inputs, search.Input{Value: v})
		}
		for _, s := range r.Config {
			st.Config = append(st.Config, search.Setting(s))
		}
		sig := replay.Signature{Stage: "compile", Type: "E"}
		var calls []int
		for _, j := range []int{1, 4} {
			s := search.Search{Workers: j, Oracle: search.OracleFunc(func(_ context.Context, cand search.Candidate) (replay.Outcome, error) {
				fed := map[string]bool{}
				bad := false
				for _, n := range cand.Module.Graph.Calls() {
					for _, in := range n.Inputs() {
						fed[n.Name] = fed[n.Name] || fed[in.Name]
					}
					bad = bad || n.Target == c.then && (c.first == "" || fed[n.Name])
					if n.Target == c.first {
						fed[n.Name] = true
					}
				}
				if bad {
					return replay.Outcome{Status: replay.Failed, Signature: sig, Message: "boom"}, nil
				}
				return replay.Outcome{Status: replay.Pass}, nil
			})}
			res, err := s.Run(context.Background(), st)
			if err != nil {
				t.Errorf("%s: %v", c.file, err)
				continue
			}
			calls = append(calls, res.Queries)
			t.Logf("%s %s %s -j%d: %d calls to %d, %d queries, %d rejected", c.file, c.first, c.then, j, res.Start.Calls, res.Cost.Calls, res.Queries, res.Rejected)
			want := 1
			if c.first != "" {
				want = 8 // some operators between the two change the shape
			}
			if res.Cost.Calls > want || res.Queries > c.most {
				t.Errorf("%s: %d calls, %d queries\n%s", c.file, res.Cost.Calls, res.Queries, res.State.Module)
			}
		}
		if len(calls) == 2 && calls[0] != calls[1] {
			t.Errorf("%s: %v queries for different numbers of workers", c.file, calls)
		}
	}
}
