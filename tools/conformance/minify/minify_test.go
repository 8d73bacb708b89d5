package minify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	search "whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/tools/whittle/reduce"
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

func TestLaunchersAreRead(t *testing.T) {
	r, err := Run(context.Background(), shared(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.String())
	for _, x := range r.Measures[0].Reasons {
		t.Errorf("%s: %s", x.Case, x.Why)
	}
}

// TestBrokenCase: a case.json that is no JSON is named in one line, and the others are measured.
func TestBrokenCase(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": `{"name": "a", "launcher": true}`, "b": `{"name": "b", "seconds": NaN}`, "c": `{"name": "c", "launcher": true}`} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "case.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "b", "case.json") + ": invalid character 'N' looking for beginning of value"}
	if diff := cmp.Diff(want, r.Broken); diff != "" || r.Measures[0].M != 2 {
		t.Errorf("%s%+v", diff, r.Measures)
	}
}

func done(end int, o replay.Outcome) reduce.Report {
	return reduce.Report{Result: search.Result{Start: search.Cost{Calls: 9}, Cost: search.Cost{Calls: end}, Outcome: o, Signature: o.Signature, Complete: true}}
}

func TestCounting(t *testing.T) {
	cases, _, err := Cases(shared(t), "i0")
	if err != nil {
		t.Fatal(err)
	}
	right := replay.Outcome{Status: replay.Failed, Message: "compile error!", Signature: replay.Signature{Stage: "compile", Type: "CppCompileError"}}
	wrong := replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: "SyntaxError"}}
	r, err := Run(context.Background(), shared(t), Options{Match: "i0", Reduce: func(_ context.Context, c Case, _ *repros.Repro, _ string) (reduce.Report, error) {
		switch c.Name[:3] {
		case "i01":
			return done(1, right), nil
		case "i02":
			return done(8, right), nil
		case "i03":
			return done(1, wrong), nil
		case "i04":
			long := done(1, right)
			long.Queries = mostQuestions + 1
			return long, nil
		}
		return reduce.Report{}, errors.New("no")
	}, Find: func(_ context.Context, c Case, _ string) (*repros.Repro, string, error) {
		if c.Name[:3] == "i05" {
			return nil, "", ErrFine
		}
		return nil, "", errors.New("no repro")
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := len(cases)
	want := fmt.Sprintf("launcher read: %d of %[1]d\nfails here: %[2]d of %[1]d\nright failure kept: 2 of %[2]d\nas small as the known minimum: 1 of %[2]d\nfew questions: %d of %[2]d\n", n, n-1, n-2)
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Error(diff)
	}
}

const wrongResults = `import torch
class Repro(torch.nn.Module):
    def forward(self, x):
        relu = torch.ops.aten.relu.default(x);  x = None
        return (relu,)
def load_args(reader):
    buf0 = reader.storage(None, 24)
    reader.tensor(buf0, (2, 3), is_leaf=True)  # x
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=%s, command='minify', save_dir=None, tracing_mode='real', check_str=None)
`

// A launcher whose graph has wrong results is given up where the program shows that they are made before that graph is compiled; not where it
// shows nothing, or where what it shows cannot be reduced. Other failures ask no program.
func TestWrongResultsMadeAboveTheLauncher(t *testing.T) {
	accuracy := replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "accuracy", Type: "AccuracyError"}}
	above, err := repros.Read("repro.py", fmt.Sprintf(wrongResults, "True"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		accuracy string
		shows    *repros.Repro
		broken   bool // what the program shows cannot be reduced
		source   string
		calls    int
		asked    int // the program
	}{
		{"made above", "True", above, false, "program", 2, 1},
		{"made below", "True", nil, false, "launcher", 3, 1},
		{"cannot be reduced", "True", above, true, "launcher", 3, 1},
		{"an exception", "False", above, false, "launcher", 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			launcher, err := repros.Read("minifier_launcher.py", fmt.Sprintf(wrongResults, c.accuracy))
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			rep := one(context.Background(), Case{Name: "x", Kind: "accuracy", Exception: "AccuracyError", Level: 4, Dir: dir}, launcher, Options{
				Reduce: func(ctx context.Context, _ Case, r *repros.Repro, _ string) (reduce.Report, error) {
					switch {
					case r == above && c.broken:
						return reduce.Report{}, errors.New("no")
					case r == above:
						return done(2, accuracy), nil
					case c.shows != nil && c.accuracy == "True" && !c.broken:
						<-ctx.Done() // it ends when the program has shown its own
						return reduce.Report{}, ctx.Err()
					}
					return done(3, accuracy), nil
				},
				Above: func(context.Context, Case, string) (*repros.Repro, string, error) {
					asked++
					return c.shows, dir, nil
				},
			})
			if diff := cmp.Diff([]any{c.source, c.calls, c.asked, true, ""}, []any{rep.Source, rep.End, asked, rep.Kept, rep.Error}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the time went to stands in the line of each case, and in sum.
func TestTableSaysWhatTheTimeWentTo(t *testing.T) {
	r := Report{Cases: []CaseReport{{Name: "a", Spent: map[string]float64{"C++": 2, "start": 1}}, {Name: "b", Spent: map[string]float64{"C++": 1.5}}}}
	table := r.Table()
	for _, want := range []string{"C++ 2.0, start 1.0", "time spent, in seconds: C++ 3.5, start 1.0\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
}
