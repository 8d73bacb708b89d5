package cli

import (
	"bytes"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// lottery is an engine whose inductor fails now and then where it takes two choices together, and now and then without.
type lottery struct {
	engine.Engine
	seed, fail, wrong float64
	needs             []string // choices
	asked             *atomic.Int64
}

var lotteryChoices = []replay.Choice{
	{ID: "a1", Kind: "passes", Text: "dead code"}, {ID: "a2", Kind: "passes", Text: "views"}, {ID: "b1", Kind: "fusions", Text: "sin with cos"}, {ID: "b2", Kind: "fusions", Text: "cos with sum"},
	{ID: "b3", Kind: "fusions", Text: "relu with sum"}, {ID: "c1", Kind: "lowerings", Text: "sum"},
}

func (l lottery) Run(_ context.Context, r *repros.Repro, c minify.Candidate) (replay.Outcome, error) {
	l.asked.Add(1)
	var taken []replay.Choice
	name := r.Backend
	for _, x := range lotteryChoices {
		if c.Choose == nil || c.Choose.Kinds == nil || slices.Contains(c.Choose.Kinds, x.Kind) && (c.Choose.Only == nil || slices.Contains(c.Choose.Only, x.ID)) {
			taken = append(taken, x)
			name += x.ID
		}
	}
	bad := r.Backend == "inductor"
	for _, id := range l.needs {
		bad = bad && slices.ContainsFunc(taken, func(x replay.Choice) bool { return x.ID == id })
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	draw := rand.New(rand.NewPCG(h.Sum64(), uint64(1000*l.seed)+uint64(c.Attempt))).Float64()
	o := replay.Outcome{Status: replay.Pass, Choices: taken}
	if bad && draw < l.fail || !bad && draw < l.wrong {
		o.Status, o.Signature = replay.Failed, replay.NewSignature("accuracy", "AccuracyError", "Bad accuracy detected", nil, nil)
	}
	return o, nil
}

const lotteryRepro = `import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x : torch.Tensor):
        return (torch.sin(x),)
def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False, backend='inductor')
`

// TestFlakyLayers: two choices that decide together whether something fails now and then are found, by runs that are kept.
func TestFlakyLayers(t *testing.T) {
	ctx := context.Background()
	right, all := 0, 20
	r, err := repros.Read("repro.py", lotteryRepro)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range all {
		var out, errs bytes.Buffer
		a := &app{stdout: &out, stderr: &errs, workers: 2}
		st, err := replay.Open(ctx, filepath.Join(t.TempDir(), "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var asked atomic.Int64
		search := func() (layersFound, error) {
			o := bisectOptions{layers: true, flaky: true, noMinify: true, confidence: 0.998, limit: time.Minute, given: func(string) bool { return false }}
			e := lottery{seed: float64(seed), fail: 0.4, wrong: 0.01, needs: []string{"a2", "b3"}, asked: &asked}
			s := &layerSearch{a: a, st: st, p: newBisectPrinter(a, o, false), o: o, file: "repro.py", r: r, loaded: map[string]*loadedRepro{}, sure: &sure{noise: o.noise()}}
			for _, layer := range ladder {
				s.loaded[layer] = &loadedRepro{r: &repros.Repro{Backend: layer, Stage: repros.AfterDynamo}, e: e, closed: func() error { return nil }}
			}
			return s.run(ctx)
		}
		f, err := search()
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal([]replay.Choice{lotteryChoices[1], lotteryChoices[4]}, f.choices) {
			right++
		} else {
			t.Logf("seed %d: %s", seed, f.text())
		}
		if before := asked.Load(); seed < 3 {
			again, err := search()
			if err != nil || again.text() != f.text() || asked.Load() != before {
				t.Errorf("again: %d runs, %s for %s, %v", asked.Load()-before, again.text(), f.text(), err)
			}
		}
	}
	if right < all*95/100 {
		t.Errorf("%d of %d right", right, all)
	}
}
