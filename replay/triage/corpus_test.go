package triage

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"whittle/replay"
)

// recorded is a failure as `whittle exec` recorded it under PyTorch 2.6: a program of the failing corpus, its blocks and sizes changed, and what its
// search found. Of tracebacks the lines of source are left out.
type recorded struct {
	Case      string           `json:"case"`
	Bug       string           `json:"bug"` // the corpus' own word: cases with one issue or one injected bug are one
	Variant   int              `json:"variant"`
	Signature replay.Signature `json:"signature"`
	Raw       string           `json:"raw"`
	Repro     string           `json:"repro"`
	Result    *struct {
		Signature replay.Signature `json:"signature"`
		Error     string           `json:"error"`
		Repro     string           `json:"repro"`
		Config    []replay.Setting `json:"config"`
		Complete  bool             `json:"complete"`
		Rate      float64          `json:"rate"`
		Runs      int              `json:"runs"`
	} `json:"result"`
}

func readCorpus(t testing.TB) []recorded {
	t.Helper()
	f, err := os.Open("testdata/failures.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []recorded
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var r recorded
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := sc.Err(); err != nil || len(out) < 60 {
		t.Fatal(err, len(out))
	}
	return out
}

// features takes those of a record, with or without what its search found.
func (r recorded) features(minimised bool) Features {
	f := replay.Failure{Signature: r.Signature, Raw: r.Raw, Repro: r.Repro}
	if r.Result == nil || !minimised {
		return Take(f, nil)
	}
	return Take(f, &replay.Result{Signature: r.Result.Signature, Error: r.Result.Error, Repro: r.Result.Repro, Config: r.Result.Config, Complete: r.Result.Complete})
}

var ctx = context.Background()

func openStore(t testing.TB) *replay.Store {
	t.Helper()
	s, err := replay.Open(ctx, filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// item is a failure with the bug that it is.
type item struct {
	name, bug string
	features  Features
}

// group places items in order, and says for each which group it is in, in the end.
func group(t testing.TB, items []item) []int64 {
	t.Helper()
	s := openStore(t)
	ids := make([]int64, len(items))
	for i := range items {
		id, err := s.PutFailure(ctx, replay.Failure{Signature: replay.Signature{Stage: "test", Message: items[i].name}})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	err := s.Regroup(ctx, func(g *replay.Grouping) error {
		for i, it := range items {
			if _, _, err := place(g, placed{id: ids[i], features: it.features, text: it.features.Text(), created: time.Now(), reached: New}, "test"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int64, len(items))
	for i, id := range ids {
		m, ok, err := s.MemberOf(ctx, id)
		if err != nil || !ok {
			t.Fatal(id, err)
		}
		out[i] = m.Group
	}
	return out
}

// score is the share of pairs in one group that are one bug, and of pairs that are one bug that are in one group. wrong names some of the others.
func score(items []item, in []int64) (precision, recall float64, wrong []string) {
	var together, right, bugs int
	for i := range items {
		for j := range i {
			same := items[i].bug == items[j].bug
			if in[i] == in[j] {
				together++
			}
			if same {
				bugs++
			}
			switch {
			case same && in[i] == in[j]:
				right++
			case same:
				wrong = append(wrong, "apart: "+items[j].name+" and "+items[i].name)
			case in[i] == in[j]:
				wrong = append(wrong, "together: "+items[j].name+" and "+items[i].name)
			}
		}
	}
	if together == 0 {
		return 1, float64(right) / float64(max(bugs, 1)), wrong
	}
	return float64(right) / float64(together), float64(right) / float64(max(bugs, 1)), wrong
}

// corpus are the recorded failures: all with what their searches found, none, or every other one.
func corpus(t testing.TB, minimised func(i int) bool) []item {
	var out []item
	for i, r := range readCorpus(t) {
		out = append(out, item{fmt.Sprintf("%s/%d", r.Case, r.Variant), r.Bug, r.features(minimised(i))})
	}
	return out
}

func TestCorpus(t *testing.T) {
	for _, c := range []struct {
		name              string
		minimised         func(int) bool
		precision, recall float64
	}{
		{"minimised", func(int) bool { return true }, 1, 0.95},
		{"mixed", func(i int) bool { return i%2 == 0 }, 1, 0.8},
		{"as they came", func(int) bool { return false }, 1, 0.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := corpus(t, c.minimised)
			for seed := range uint64(4) {
				rand.New(rand.NewPCG(seed, 1)).Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
				p, r, wrong := score(items, group(t, items))
				t.Logf("%d failures, order %d: precision %.3f, recall %.3f", len(items), seed, p, r)
				if p < c.precision || r < c.recall {
					slices.Sort(wrong)
					t.Errorf("want %.2f and %.2f: %q", c.precision, c.recall, wrong[:min(len(wrong), 40)])
				}
			}
		})
	}
}
