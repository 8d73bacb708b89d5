package ops

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/tensor"
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

// TestRecords checks some files whole; all of them are CI's, with floors.
func TestRecords(t *testing.T) {
	dir := shared()
	if dir == "" {
		t.Skip("no conformance records here")
	}
	for _, file := range []string{"add", "cumsum", "nn.functional.layer_norm"} {
		t.Run(file, func(t *testing.T) {
			rep, err := Run(context.Background(), dir, Options{Match: func(f string) bool { return f == file }})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range rep.Failures {
				t.Errorf("%s %s: %s", f.Measure, f.Record, f.Reason)
			}
			for _, m := range Measures[:4] {
				if rep.Measures[m].Tried == 0 {
					t.Errorf("%s was not measured", m)
				}
			}
		})
	}
}

// TestBrokenRecords: a record that is no JSON is named in one line, and the others are measured.
func TestBrokenRecords(t *testing.T) {
	dir := t.TempDir()
	x := `{"t":"float32","shape":[2],"stride":[1],"offset":0,"data":"AACAPwAAAEA="}`
	good := `{"op":"neg","sample":%d,"call":"torch.neg","dtype":"float32","args":[` + x + `],"kwargs":{},"out":{"t":"float32","shape":[2],"stride":[1],"offset":0,"data":"AACAvwAAAMA="}}` + "\n"
	pack := func(name, text string, cut int) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl.gz"), b.Bytes()[:b.Len()-cut], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 { // files enough to be cancelled
		pack(fmt.Sprintf("good%02d", i), fmt.Sprintf(good, 0), 0)
	}
	pack("nan", fmt.Sprintf(good, 0)+`{"op":"add","sample":1,"noise":[NaN]}`+"\n"+fmt.Sprintf(good, 2)+`{"noise":[Infinity]}`+"\n"+fmt.Sprintf(good, 3), 0)
	pack("short", fmt.Sprintf(good, 0), 6)
	if err := os.WriteFile(filepath.Join(dir, "text.jsonl.gz"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	rep, err := Run(t.Context(), dir, Options{Measures: []string{"eager"}, Workers: 4, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range rep.Broken {
		rep.Broken[i] = strings.TrimPrefix(b, dir+"/")
	}
	slices.Sort(rep.Broken)
	want := Report{Measures: map[string]Count{"eager": {34, 34}}, Broken: []string{
		"nan.jsonl.gz:2: add #1: invalid character 'N' looking for beginning of value",
		"nan.jsonl.gz:4: invalid character 'I' looking for beginning of value",
		"short.jsonl.gz:2: unexpected EOF",
		"text.jsonl.gz: unexpected EOF",
	}}
	if diff := cmp.Diff(want, rep); diff != "" {
		t.Error(diff)
	}
}

// TestWrongRecords: what is changed in a good record is found by the measure that looks at it.
func TestWrongRecords(t *testing.T) {
	p, err := newPython(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := `{"t":"float32","shape":[2],"stride":[1],"offset":0,"data":"AACAPwAAAEA="}`
	good := `{"call":"torch.neg","dtype":"float32","args":[` + x + `],"kwargs":{},"out":{"t":"float32","shape":[2],"stride":[1],"offset":0,"data":"AACAvwAAAMA="},
		"grad":{"leaves":[0],"inputs":[{"path":["args",0],"value":{"t":"float32","shape":[2],"stride":[1],"offset":0,"data":"AABQP` + `wAAgL0="}}]}}`
	for _, c := range []struct {
		name, measure string
		change        func(r *Record)
		want          string
	}{
		{"value", "eager", func(r *Record) { r.Out = json.RawMessage(x) }, "element 0 is -1, want 1 (off by 2, limit 6e-06)"},
		{"call", "eager", func(r *Record) { r.Call = "torch.nonesuch" }, "AttributeError: module 'torch' has no attribute 'nonesuch'"},
		{"changed argument", "eager", func(r *Record) { r.Mutated = []Changed{{[]any{"args", 0.0}, r.Out}} }, "argument [args 0] afterwards: element 0 is 1, want -1 (off by 2, limit 6e-06)"},
		{"shared memory", "layout", func(r *Record) { r.Alias = []Alias{{0, []any{"args", 0.0}}} }, "result 0 does not share memory with argument [args 0]"},
		{"dtype", "meta", func(r *Record) { r.Call = "torch.isnan" }, "dtype bool, want float32"},
		{"gradient", "grad", func(r *Record) { r.Grad.Inputs[0].Value = json.RawMessage(x) }, "gradient of [args 0]: element 0 is 0.8125, want 1 (off by 0.188, limit 6e-06)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Record{}
			if err := json.Unmarshal([]byte(good), r); err != nil {
				t.Fatal(err)
			}
			c.change(r)
			err := checks[c.measure](p, r)
			if err == nil {
				t.Fatal("not found")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCloseComparesComplexNumbers(t *testing.T) {
	one := tensor.EmptyStrided(tensor.Complex64, []int64{1}, []int64{1})
	two := tensor.EmptyStrided(tensor.Complex64, []int64{1}, []int64{1})
	copy(two.Storage.Data, []byte{0, 0, 0, 0, 0, 0, 0x80, 0x3f})
	if Close(one, one, 0) != nil || Close(one, two, 0) == nil {
		t.Error("0 and 1j are not told apart")
	}
}
