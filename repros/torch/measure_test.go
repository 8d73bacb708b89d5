package torch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadFigures(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string][]float64
		err  string
	}{
		{`{"figures": {"compile_s": [1.5]}}`, map[string][]float64{"compile_s": {1.5}}, ""},
		{`{"figures": {}}`, map[string][]float64{}, ""},
		{`{"status": "invalid", "message": "measuring: RuntimeError: no"}`, nil, "torch: measuring: measuring: RuntimeError: no"},
		{`{}`, nil, "an answer without figures"},
		{`{"figures": {"x": "y"}}`, nil, "torch: measuring: json"},
	} {
		got, err := readFigures([]byte(c.text))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.text, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func FuzzReadFigures(f *testing.F) {
	f.Add([]byte(`{"figures": {"compile_s": [1.5]}}`))
	f.Add([]byte(`{"status": "invalid"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := readFigures(b); err == nil && got == nil {
			t.Fatalf("%q: neither figures nor an error", b)
		}
	})
}
