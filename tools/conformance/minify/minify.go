package minify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/repros"
)

// Case is one folder of failing programs, as its case.json says.
type Case struct {
	Name      string         `json:"name"`
	Kind      string         `json:"kind"`
	After     string         `json:"after"`
	Level     int            `json:"level"`
	Exception string         `json:"exception"`
	Message   *string        `json:"message"`
	Config    map[string]any `json:"config"`
	Minimal   []string       `json:"minimal"`
	Injected  *bool          `json:"injected"`
	Launcher  bool           `json:"launcher"`
	Needs     []string       `json:"needs"`

	Dir   string        `json:"-"` // its folder
	Repro *repros.Repro `json:"-"` // of the launcher, nil without one
}

// Outcome is what minifying a case gave.
type Outcome struct {
	Reproduced bool // the start failed as the case says
	Confirmed  bool // the result failed again, in a fresh process
	Start, End int  // calls
	Queries    int
	Result     *repros.Repro
}

// Minify minifies one case. ErrUnsupported (wrapped) leaves the case out of all measures but "attempted".
type Minify func(ctx context.Context, c Case) (Outcome, error)

// ErrUnsupported says that the engine cannot run such a case at all.
var ErrUnsupported = errors.New("not supported by this engine")

// Options say what to measure.
type Options struct {
	Minify  Minify // nil: only reading is measured
	Match   string // only cases whose name contains it
	Workers int    // cases at a time; 0: 1
	Timeout time.Duration
}

// Report is what was measured.
type Report struct {
	Measures []Measure    `json:"measures"`
	Cases    []CaseReport `json:"cases"`
}

// Measure is one line: Name: N of M.
type Measure struct {
	Name    string   `json:"name"`
	N       int      `json:"n"`
	M       int      `json:"m"`
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason says why a case does not count.
type Reason struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

// CaseReport is one case's figures.
type CaseReport struct {
	Name    string  `json:"name"`
	Start   int     `json:"start"`
	End     int     `json:"end"`
	Minimal int     `json:"minimal"` // calls of the known minimum
	Queries int     `json:"queries"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// String is the measures, a line each.
func (r Report) String() string {
	var b strings.Builder
	for _, m := range r.Measures {
		fmt.Fprintf(&b, "%s: %d of %d\n", m.Name, m.N, m.M)
	}
	return b.String()
}

// Cases reads the cases below dir/corpus/failing, or below dir itself.
func Cases(dir, match string) ([]Case, error) {
	root := filepath.Join(dir, "corpus", "failing")
	if _, err := os.Stat(root); err != nil {
		root = dir
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "case.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var out []Case
	for _, f := range files {
		c := Case{Dir: filepath.Dir(f)}
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if strings.Contains(c.Name, match) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no cases there", dir)
	}
	return out, nil
}

// Run measures all cases.
func Run(ctx context.Context, dir string, o Options) (Report, error) {
	cases, err := Cases(dir, o.Match)
	if err != nil {
		return Report{}, err
	}
	ms := []Measure{{Name: "launcher read"}, {Name: "attempted"}, {Name: "reproduced"}, {Name: "confirmed"}, {Name: "as small as the known minimum"}}
	var mu sync.Mutex
	note := func(k int, c Case, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		ms[k].M++
		if err == nil {
			ms[k].N++
			return true
		}
		why, _, _ := strings.Cut(err.Error(), "\n")
		ms[k].Reasons = append(ms[k].Reasons, Reason{c.Name, why})
		return false
	}
	reports := make([]*CaseReport, len(cases))
	p := pool.New().WithContext(ctx).WithMaxGoroutines(max(1, o.Workers))
	for i, c := range cases {
		p.Go(func(ctx context.Context) error {
			if c.Launcher {
				r, err := repros.ReadFile(filepath.Join(c.Dir, "minifier_launcher.py"))
				if note(0, c, err) {
					c.Repro = r
				}
			}
			if o.Minify == nil {
				return ctx.Err()
			}
			run := ctx
			if o.Timeout > 0 {
				var cancel context.CancelFunc
				run, cancel = context.WithTimeout(ctx, o.Timeout)
				defer cancel()
			}
			begin := time.Now()
			out, err := o.Minify(run, c)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			rep := &CaseReport{Name: c.Name, Start: out.Start, End: out.End, Minimal: len(c.Minimal), Queries: out.Queries, Seconds: time.Since(begin).Seconds()}
			reports[i] = rep
			if err != nil {
				rep.Error = err.Error()
			}
			if errors.Is(err, ErrUnsupported) {
				note(1, c, err)
				return nil
			}
			note(1, c, nil)
			fail := func(ok bool, why string) error {
				switch {
				case ok:
					return nil
				case err != nil:
					return err
				}
				return errors.New(why)
			}
			if note(2, c, fail(out.Reproduced, "the start does not fail as recorded")) {
				note(3, c, fail(out.Confirmed, "the result does not fail again"))
				note(4, c, fail(out.Confirmed && out.End <= max(1, len(c.Minimal)), fmt.Sprintf("%d calls left, %d known to be enough", out.End, len(c.Minimal))))
			}
			return nil
		})
	}
	err = p.Wait()
	var r Report
	for _, m := range ms {
		if m.M > 0 {
			sort.Slice(m.Reasons, func(a, b int) bool { return m.Reasons[a].Case < m.Reasons[b].Case })
			r.Measures = append(r.Measures, m)
		}
	}
	for _, c := range reports {
		if c != nil {
			r.Cases = append(r.Cases, *c)
		}
	}
	return r, err
}
