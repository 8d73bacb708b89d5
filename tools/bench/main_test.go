package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	got := table([]row{{"a", 0.001}, {"b", 0.006}, {"only ours", 1}}, []row{{"b", 0.002}, {"a", 0.002}}, "torch")
	want := `row                        whittle ms     torch ms   ratio
a                              1.0000       2.0000   0.500
b                              6.0000       2.0000   3.000
ratio: median 3.000, largest 3.000, of 2 rows
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPrograms: whatever stands in a program survives the way into the script.
func TestPrograms(t *testing.T) {
	if _, err := script("compile", t.TempDir()); err == nil {
		t.Error("an empty folder was taken")
	}
	for name := range against {
		if name == "compile" {
			continue
		}
		if text, err := script(name, ""); err != nil || text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
