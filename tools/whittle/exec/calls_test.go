package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/accuracy"
)

// recorded is a record of calls: each word is a call, "f" and the sums of what it returned.
func recorded(text string) (out []Call) {
	for n, word := range strings.Fields(text) {
		c := Call{N: n, Kind: "call", What: word[:1]}
		for _, d := range word[1:] {
			v := float64(d - '0')
			c.Values = append(c.Values, accuracy.Checksum{Name: "output", DType: "float32", Shape: []int64{1}, Sum: v, Abs: v, Mix: v})
		}
		out = append(out, c)
	}
	return out
}

func TestPart(t *testing.T) {
	for name, c := range map[string]struct {
		a, b  string
		call  int // -1: they do not part
		value string
	}{
		"equal":              {"f12 g3 f12", "f12 g3 f12", -1, ""},
		"nothing":            {"", "", -1, ""},
		"the first":          {"f12 g3", "f52 g3", 0, "output"},
		"a later one":        {"f12 g3 f12", "f12 g3 f13", 2, "output"},
		"another function":   {"f12 g3", "f12 h3", 1, ""},
		"fewer values":       {"f12 g3", "f1 g3", 0, ""},
		"within tolerance":   {"f9", "f8", -1, ""},
		"one ends before":    {"f12 g3 f12", "f12 g3", -1, ""},
		"a step of one only": {"f12 s1 f12", "f12 f12 s1", 1, ""},
	} {
		at, _ := Part(recorded(c.a), recorded(c.b), 0.2)
		call, value := -1, ""
		if at != nil {
			call, value = at.Call.N, at.Value
			if (at.Before == nil) != (call == 0) {
				t.Errorf("%s: before it is %v", name, at.Before)
			}
		}
		if call != c.call || value != c.value {
			t.Errorf("%s: %d %q, want %d %q", name, call, value, c.call, c.value)
		}
	}
}

// TestPartAtTheEnd compares what two programs leave behind: of the tensors that both still have.
func TestPartAtTheEnd(t *testing.T) {
	left := func(values ...accuracy.Checksum) []Call {
		return []Call{{Kind: "end", What: "the program", Values: values}}
	}
	grad := func(name string, v float64) accuracy.Checksum {
		return accuracy.Checksum{Name: name, DType: "float32", Shape: []int64{}, Sum: v, Abs: v, Mix: v}
	}
	none := accuracy.Checksum{Name: "w", DType: "none", Shape: []int64{}}
	for name, c := range map[string]struct {
		a, b  []Call
		value string
	}{
		"equal":                    {left(grad("x", 1), grad("w", 2)), left(grad("x", 1), grad("w", 2)), ""},
		"one has let go of a":      {left(grad("x", 1), grad("w", 2)), left(grad("w", 2)), ""},
		"the other has":            {left(grad("w", 2)), left(grad("x", 1), grad("w", 2)), ""},
		"and what is left differs": {left(grad("x", 1), grad("w", 2)), left(grad("w", 3)), "w"},
		"no gradient":              {left(grad("w", 2)), left(none), "w"},
		"one that should not be":   {left(none), left(grad("w", 2)), "w"},
	} {
		value := ""
		if at, _ := Part(c.a, c.b, 0.2); at != nil {
			value = at.Value
		}
		if value != c.value {
			t.Errorf("%s: %q, want %q", name, value, c.value)
		}
	}
}

// FuzzCalls reads records that a program could have left in any state.
func FuzzCalls(f *testing.F) {
	line := `{"n": 1, "kind": "call", "what": "f", "at": "x.py:3", "values": [{"shape": [2], "dtype": "float32", "sum": 1.5, "abs": 1.5, "mix": 1, "odd": 0, "name": "output 0"}]}`
	for _, seed := range []string{"", line, line + "\n" + line, line + "\n" + line[:40], "{}\n[]", "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &private{dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(p.dir, "calls.jsonl"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		calls, err := p.calls()
		if err != nil {
			t.Fatal(err)
		}
		if at, _ := Part(calls, calls, 0); at != nil {
			t.Errorf("a record parts from itself at %d: %s", at.Call.N, at.Why)
		}
		if strings.HasPrefix(text, line+"\n") {
			one, _ := (&private{dir: p.dir}).calls()
			if diff := cmp.Diff("f", one[0].What); diff != "" {
				t.Error(diff)
			}
		}
	})
}
