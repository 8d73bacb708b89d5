package ops

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sort"
	"testing"
)

var (
	verbose = flag.Bool("reasons", false, "print every failing record")
	match   = flag.String("file", "", "check only this file")
)

// shared is the folder of shared test data, or "" where there is none.
func shared() string {
	d := os.Getenv("WHITTLE_SHARED")
	if d == "" {
		d = filepath.Join("..", "..", "..", "..", "shared")
	}
	d = filepath.Join(d, "conformance", "ops")
	if _, err := os.Stat(d); err != nil {
		return ""
	}
	return d
}

// floor is the share of records that the aten level is known to meet; raise it as operators are added.
const floor = 0.75

func TestConformance(t *testing.T) {
	dir := shared()
	if dir == "" {
		t.Skip("no conformance records here")
	}
	o := Options{}
	if *match != "" {
		o.Match = func(f string) bool { return f == *match }
	} else if testing.Short() {
		o.Match = func(f string) bool { return f < "b" }
	}
	rep, err := Run(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range rep.Lines() {
		t.Log(l)
	}
	if *verbose {
		n := map[string]int{}
		for _, f := range rep.Failures {
			t.Logf("%s %s [%s]: %.200s", f.Measure, f.Record, f.Call, f.Reason)
			n[f.File]++
		}
		var fs []string
		for f := range n {
			fs = append(fs, f)
		}
		sort.Strings(fs)
	}
	if *match != "" {
		return
	}
	for m, c := range rep.Measures {
		if float64(c.Met) < floor*float64(c.Tried) {
			t.Errorf("%s: %d of %d is below the floor", m, c.Met, c.Tried)
		}
	}
}
