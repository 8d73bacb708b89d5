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

// TestCorpus reads and writes every file. $WHITTLE_MATCH names those that run as well; "conformance graphs" runs them all.
func TestCorpus(t *testing.T) {
	match := os.Getenv("WHITTLE_MATCH")
	r, err := Run(context.Background(), shared(t), Options{Eager: match != "", MaxBytes: 4 << 20, Timeout: 20 * time.Second, Match: match})
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

// TestFilesRun runs the graphs of one model.
func TestFilesRun(t *testing.T) {
	r, err := Run(context.Background(), shared(t), Options{Eager: true, Timeout: time.Minute, Match: "gcn"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Measures {
		if m.N != m.M || m.M == 0 && m.Name == "run eagerly" {
			t.Errorf("%s: %d of %d: %v", m.Name, m.N, m.M, m.Reasons)
		}
	}
}

func TestNothingThereIsAnError(t *testing.T) {
	if _, err := Run(context.Background(), t.TempDir(), Options{}); err == nil {
		t.Error("no error")
	}
}
