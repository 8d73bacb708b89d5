package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// far is the other side of a worker: it answers that an operator whose name ends in _fails cannot be made larger.
const far = "BENCH_FAR_SIDE"

func TestMain(m *testing.M) {
	if os.Getenv(far) == "" {
		os.Exit(m.Run())
	}
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		var q request
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			os.Exit(1)
		}
		switch {
		case q.Row == "":
			fmt.Println(`{"rows": ["of its own"]}`)
		case strings.HasSuffix(q.Row, "_fails"):
			fmt.Println(`{"error": "RuntimeError: no"}`)
		default:
			fmt.Println(`{"first": 0.01}`)
		}
	}
}

// writeRecords puts one file of records, by what it is of, into a folder.
func writeRecords(t *testing.T, dir, op string, lines ...string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, op+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	for _, l := range lines {
		fmt.Fprintln(z, l)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRule: every operator, and variant of one, that has a float32 record with a tensor is a row, contiguous and transposed, or is left out by name.
func TestRule(t *testing.T) {
	dir := t.TempDir()
	rec := func(op, variant, dtype, shape string) string {
		return fmt.Sprintf(`{"op": %q, "variant": %q, "dtype": %q, "call": "torch.x", "args": [{"t": %q, "shape": %s}], "kwargs": {}}`, op, variant, dtype, dtype, shape)
	}
	writeRecords(t, dir, "a", rec("a", "", "int64", "[9]"), rec("a", "", "float32", "[2, 4]"), rec("a", "v", "float32", "[3]"))
	writeRecords(t, dir, "b", rec("b_fails", "", "float32", "[2, 4]"))
	writeRecords(t, dir, "c", rec("c", "", "float64", "[2, 4]"))
	ops, err := records(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(far, "1")
	w := &worker{ctx: context.Background(), command: []string{os.Args[0]}}
	defer w.stop()
	rows, out, err := planned(w, ops, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %d %v", r.Row, r.K, r.Transposed))
	}
	got = append(got, out...)
	want := []string{"a 362 false", "a, transposed 362 true", "a.v 349525 false", "a.v, transposed 349525 true", "of its own 0 false", "b_fails: RuntimeError: no"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFiguresOf(t *testing.T) {
	b, err := figuresOf([]timing{{row: "a", ours: [][]float64{{1}, {2}}, theirs: [][]float64{{2}, {2}}}, {row: "b", failed: "no"}}, []string{"c: why"})
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"left_out": []any{"c: why"}, "rows": []any{
		map[string]any{"row": "a", "whittle": 1.0, "torch": 2.0, "best": 0.5, "median": 0.75, "low": 0.5, "high": 1.0}, map[string]any{"row": "b", "failed": "no"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
