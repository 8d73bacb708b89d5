package graphs

import (
	"context"
	"os"
	"testing"
	"time"
)

func shared(t *testing.T) string {
	dir := os.Getenv("WHITTLE_SHARED")
	if dir == "" {
		dir = "../../../../shared"
	}
	if _, err := os.Stat(dir + "/corpus"); err != nil {
		t.Skip("no shared directory")
	}
	return dir
}

func TestCorpus(t *testing.T) {
	match := os.Getenv("WHITTLE_MATCH")
	if match == "" && testing.Short() {
		match = "gcn"
	}
	r, err := Run(context.Background(), shared(t), Options{Eager: true, MaxBytes: 4 << 20, Timeout: 20 * time.Second, Match: match})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + r.String())
	for _, m := range r.Measures[:4] {
		if m.N != m.M {
			t.Errorf("%s: %d of %d", m.Name, m.N, m.M)
		}
	}
	why := map[string]int{}
	for _, m := range r.Measures {
		for _, x := range m.Reasons {
			t.Logf("%s: %s: %s", m.Name, x.File, x.Why)
			why[x.Why]++
		}
	}
}

func TestNothingThereIsAnError(t *testing.T) {
	if _, err := Run(context.Background(), t.TempDir(), Options{}); err == nil {
		t.Error("no error")
	}
}
