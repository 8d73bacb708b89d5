package minify_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
)

// A candidate in which the failure is gone is stopped where it comes to the step that the start failed before, and counts as passing. Where that was
// wrong, as the failure may come later, too, the certificate shows it: then nothing is stopped any more, and the result is as small as without. The
// store keeps what stopped runs said apart from what whole ones say, and a search that is done again asks nothing.
func TestShortRuns(t *testing.T) {
	gm, err := fx.Parse("model.py", `
def forward(self, x):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.tan.default(a)
    c = torch.ops.aten.relu.default(b)
    d = torch.ops.aten.exp.default(c)
    e = torch.ops.aten.cos.default(d)
    f = torch.ops.aten.neg.default(e)
    return (f,)
`)
	if err != nil {
		t.Fatal(err)
	}
	fails := replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: "RuntimeError"}}
	for _, c := range []struct {
		name, early, late string // calls, of which all make it fail early, or late
		step              string // that the early failure comes before
		calls             string // of the result
		stops             bool   // whether any run is stopped
	}{
		{"no step", "tan cos", "", "", "cos tan", false},
		{"right", "tan cos", "", "C++", "cos tan", true},
		{"wrong", "tan cos", "tan", "C++", "tan", true},
	} {
		var journal []string
		for _, workers := range []int{1, 8} {
			name := fmt.Sprintf("%s, %d workers", c.name, workers)
			store, err := replay.Open(context.Background(), filepath.Join(t.TempDir(), "store.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			var mu sync.Mutex
			stopped, whole := map[string]bool{}, map[string]bool{}
			asked := 0
			run := func() minify.Result {
				s := minify.Search{Workers: workers, Store: store, Oracle: minify.OracleFunc(func(_ context.Context, k minify.Candidate) (replay.Outcome, error) {
					has := func(calls string) bool {
						for _, op := range strings.Fields(calls) {
							if !strings.Contains(k.Module.String(), "aten."+op+".") {
								return false
							}
						}
						return calls != ""
					}
					mu.Lock()
					defer mu.Unlock()
					asked++
					switch {
					case has(c.early):
						o := fails
						o.Before = c.step
						return o, nil
					case k.Until != "":
						stopped[k.Hash] = true
						return replay.Outcome{Status: replay.Pass, Before: k.Until}, nil
					case has(c.late):
						return fails, nil
					}
					whole[k.Hash] = true
					return replay.Outcome{Status: replay.Pass}, nil
				})}
				r, err := s.Run(context.Background(), minify.State{Module: gm, Inputs: []minify.Input{{Value: tensor.FromFloat32s([]float32{1, 2}, 2)}}})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return r
			}
			r := run()
			var calls, steps []string
			for _, op := range []string{"cos", "exp", "neg", "relu", "sin", "tan"} {
				if strings.Contains(r.State.Module.String(), "aten."+op+".") {
					calls = append(calls, op)
				}
			}
			for _, st := range r.Steps {
				steps = append(steps, fmt.Sprint(st.Reduction, st.Edit, st.Verdict, st.Taken))
			}
			if diff := cmp.Diff(c.calls, strings.Join(calls, " ")); diff != "" || !r.Complete {
				t.Errorf("%s: %s\n%s", name, diff, strings.Join(steps, "\n"))
			}
			if diff := cmp.Diff(c.stops, len(stopped) > 0); diff != "" {
				t.Errorf("%s: stopped %s", name, diff)
			}
			if journal == nil {
				journal = steps
			}
			if diff := cmp.Diff(journal, steps); diff != "" {
				t.Errorf("%s: the journal depends on the workers: %s", name, diff)
			}
			for hash := range whole {
				delete(stopped, hash)
			}
			if c.name == "right" && len(stopped) == 0 {
				t.Errorf("%s: all that was stopped ran to its end, too", name)
			}
			before := asked
			if again := run(); workers == 1 && asked > before || again.Cost != r.Cost {
				t.Errorf("%s: %d questions were asked again, for %+v", name, asked-before, again.Cost)
			}
		}
	}
}
