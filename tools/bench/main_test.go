package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurns(t *testing.T) {
	got := turns([]timing{
		{row: "a", ours: [][]float64{{0.001, 0.003}, {0.002, 0.002}}, theirs: [][]float64{{0.002, 0.002}, {0.002, 0.004}}},
		{row: "b", ours: [][]float64{{0.012}, {0.024}}, theirs: [][]float64{{0.002}, {0.003}}},
		{row: "c", ours: [][]float64{{0.001}}, theirs: [][]float64{{0.001}}},
		{row: "d", failed: "NotImplementedError: d"},
		{row: "e", failed: "MemoryError", gone: true},
	}, "torch")
	want := `row                                            whittle ms     torch ms     best   median            rounds
a                                                  1.0000       2.0000    0.500    1.000    0.500-   1.000
b                                                 12.0000       2.0000    6.000    7.200    6.000-   8.000
c                                                  1.0000       1.0000    1.000    1.000    1.000-   1.000
failed: d: NotImplementedError: d
failed in torch: e: MemoryError
ratio by best: median 1.000, at most 2: 50.0 %, over 5: 2, worst 6.000 (b), of 3 rows, 1 failed
ratio by median: median 1.000, at most 2: 50.0 %, over 5: 2, worst 7.200 (b), of 3 rows, 1 failed
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLimits(t *testing.T) {
	got := limits([]row{{Row: "add", Seconds: 0.002, Bytes: 3e7}, {Row: "mm", Seconds: 0.001, Flops: 7e7}}, 2e10, 1e11)
	want := `row                                ms        G/s   part
a copy (bytes)                             20.00
multiply and add (flops)                  100.00
add                            2.0000      15.00   75 %
mm                             1.0000      70.00   70 %
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestScale: a row of the registry is made as large as is asked, and what had one size has one size.
func TestScale(t *testing.T) {
	r := &record{Args: []json.RawMessage{
		json.RawMessage(`{"t":"float32","shape":[5,1,8],"stride":[8,8,1],"offset":0,"data":""}`),
		json.RawMessage(`[1, {"tuple": [{"t":"int64","shape":[8,2],"stride":[2,1],"offset":0,"data":""}]}]`),
	}}
	if n, d := r.extent(); n != 40 || d != 2 {
		t.Errorf("%d elements along %d dimensions, want 40 along 2", n, d)
	}
	for want, k := range map[int64]int64{40: 1, 4000: 10, 1 << 20: 162, 1: 1} {
		if got := r.scale(want); got != k {
			t.Errorf("for %d elements times %d, want %d", want, got, k)
		}
	}
}

// TestScripts: whatever stands in a program survives the way into the script.
func TestScripts(t *testing.T) {
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
	if text, _ := script("eager", ""); !strings.Contains(text, "ROWS = {}") {
		t.Error("the rows of rows.py are not in the script")
	}
}
