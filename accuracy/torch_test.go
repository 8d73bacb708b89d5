package accuracy

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// recorded is one line of testdata/same.json, which testdata/cases.py writes with a real PyTorch.
type recorded struct {
	Name, Want, Said string
	Ref, Res         json.RawMessage
	FP64             json.RawMessage
	Tol              float64
	EqualNaN         bool `json:"equal_nan"`
	ExactDType       bool `json:"exact_dtype"`
	IgnoreNonFP      bool `json:"ignore_non_fp"`
	Cosine, Larger   bool
}

// deviations are the cases in which Compare means to differ from PyTorch, with what it says instead.
var deviations = map[string]bool{
	// Sizes of 1 do not broadcast.
	"sizes that broadcast":          false,
	"sizes that broadcast, float64": false,
	// A list is no tensor, though torch.tensor would make it one.
	"tensor and list": false,
	// A floating tensor is compared with eager where that is all there is.
	"float without any reference while others are ignored": false,
}

func TestCompareAgreesWithPyTorch(t *testing.T) {
	data, err := os.ReadFile("testdata/same.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 200 {
		t.Fatalf("%d cases", len(cases))
	}
	seen := 0
	for _, c := range cases {
		o := Options{Tol: c.Tol, EqualNaN: c.EqualNaN, ExactDType: c.ExactDType, IgnoreNonFP: c.IgnoreNonFP, Cosine: c.Cosine, LargerMultiplier: c.Larger}
		rep := Compare(value(t, c.Ref), value(t, c.Res), value(t, c.FP64), o)
		want := c.Want == "same"
		if w, ok := deviations[c.Name]; ok {
			want, seen = w, seen+1
		}
		if rep.Same != want {
			t.Errorf("%s: PyTorch says %s (%s), we say %+v", c.Name, c.Want, c.Said, rep)
			continue
		}
		// Where PyTorch prints figures, ours are the same.
		if strings.HasPrefix(c.Said, "RMSE") && rep.Message != c.Said {
			t.Errorf("%s:\n%s\n%s", c.Name, c.Said, rep.Message)
		}
	}
	if seen != len(deviations) {
		t.Errorf("%d of %d deviations met", seen, len(deviations))
	}
}

// value decodes a value of cases.py.
func value(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var v struct {
		Kind, DType, Data, Float, Str string
		Shape                         []int64
		Int                           int64
		Bool                          bool
		Keys                          []string
		Items                         []json.RawMessage
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	switch v.Kind {
	case "tensor":
		z, err := base64.StdEncoding.DecodeString(v.Data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := zlib.NewReader(bytes.NewReader(z))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		d, ok := tensor.ParseDType(v.DType)
		if !ok {
			t.Fatalf("dtype %s", v.DType)
		}
		x, err := tensor.FromBytes(d, b, v.Shape...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	case "list":
		out := make([]any, len(v.Items))
		for i, x := range v.Items {
			out[i] = value(t, x)
		}
		return out
	case "dict":
		out := make(fx.Dict, len(v.Items))
		for i, x := range v.Items {
			out[i] = fx.DictItem{Key: v.Keys[i], Val: value(t, x)}
		}
		return out
	case "float":
		if v.Float == "nan" {
			return nan
		}
		x, err := strconv.ParseFloat(v.Float, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	case "int":
		return v.Int
	case "bool":
		return v.Bool
	case "str":
		return v.Str
	case "none":
		return nil
	}
	t.Fatalf("kind %q", v.Kind)
	return nil
}
