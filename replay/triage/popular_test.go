package triage

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write popular.tsv and the golden files anew")

// family takes a graph's own words off the name of its model.
var family = regexp.MustCompile(`_(?:aot|dynamo|debugdir|dynamic)(?:_.*)?$`)

// TestPopularity makes the table of operators from the recorded graphs: which share of model families has each.
func TestPopularity(t *testing.T) {
	shared := os.Getenv("WHITTLE_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	files, _ := filepath.Glob(filepath.Join(shared, "corpus/graphs/*.json"))
	if len(files) == 0 {
		t.Skip("no recorded graphs: $WHITTLE_SHARED is not set")
	}
	has := map[string]map[string]bool{} // operator, family
	families := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			Name            string
			DistinctTargets []string `json:"distinct_targets"`
		}
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatal(f, err)
		}
		m := family.ReplaceAllString(g.Name, "")
		families[m] = true
		for _, target := range g.DistinctTargets {
			op := operator(target)
			if has[op] == nil {
				has[op] = map[string]bool{}
			}
			has[op][m] = true
		}
	}
	var want strings.Builder
	for _, op := range slices.Sorted(maps.Keys(has)) {
		fmt.Fprintf(&want, "%s\t%.3f\n", op, float64(len(has[op]))/float64(len(families)))
	}
	if *update {
		if err := os.WriteFile("popular.tsv", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want.String(), popularTSV); d != "" && !*update {
		t.Errorf("popular.tsv is not of these graphs (-update writes it): %s", d)
	}
}
