package minify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/replay"
	"whittle/repros"
	"whittle/tools/whittle/reduce"
)

// Case is one folder of failing programs, as its case.json says.
type Case struct {
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`
	After     string             `json:"after"`
	Level     int                `json:"level"`
	Exception string             `json:"exception"`
	Message   *string            `json:"message"`
	Config    map[string]any     `json:"config"`
	Minimal   []string           `json:"minimal"`
	Launcher  bool               `json:"launcher"`
	Needs     []string           `json:"needs"`
	PyTorch   map[string]PyTorch `json:"pytorch_minifier"` // by mode

	Dir string `json:"-"` // its folder
}

// PyTorch is what PyTorch's own minifier did with the launcher.
type PyTorch struct {
	Start   *int    `json:"start"` // nodes
	Final   *int    `json:"final"`
	Queries *int    `json:"queries"`
	Seconds float64 `json:"seconds"`
	Status  any     `json:"rc"`
	Calls   *int    `json:"final_calls"`

	Elements   int64 `json:"elements,omitempty"`   // of the inputs left; only where it was run here
	Unfinished bool  `json:"unfinished,omitempty"` // stopped, see Options.Limit
}

// String is one cell of the table.
func (p PyTorch) String() string {
	if p.Unfinished {
		return fmt.Sprintf("not done after %.0f s", p.Seconds)
	}
	if p.Calls == nil || p.Queries == nil {
		return fmt.Sprintf("failed (%.0f s)", p.Seconds)
	}
	return fmt.Sprintf("%s, %s, %.0f s", replay.Count(*p.Calls, "call"), replay.Count(*p.Queries, "query"), p.Seconds)
}

// Options say what to measure.
type Options struct {
	// Reduce reduces a repro of the case, whose file lies in dir; nil: only reading is measured.
	Reduce func(ctx context.Context, c Case, r *repros.Repro, dir string) (reduce.Report, error)
	// Find runs the case's program and gives the repro that the failure leaves somewhere below dir, and its folder, for cases whose
	// launcher is missing, cannot be read, or does not fail; nil: those fail. ErrFine: the program does not fail here.
	Find func(ctx context.Context, c Case, dir string) (r *repros.Repro, folder string, err error)
	// Above runs the program of a case whose launcher holds a graph after aot with wrong results, and gives the repro of the graph around it,
	// and its folder, where the results are wrong before that graph is compiled: then the launcher's graph shows at best another
	// failure. A nil repro says that they are not; nil: launchers are believed.
	Above func(ctx context.Context, c Case, dir string) (r *repros.Repro, folder string, err error)
	// Ended is called when a case's last Reduce is over; may be nil.
	Ended func()
	// Own runs PyTorch's own minifier in the modes named by Modes; nil: the recorded figures are shown.
	Own     func(ctx context.Context, c Case, mode string) (PyTorch, error)
	Modes   []string
	Limit   float64 // a mode of Own is stopped after so many times whittle's own time; 0: never
	Match   string  // only cases whose name contains one of these, separated by commas
	Timeout time.Duration
	Each    func(CaseReport) // called as each case ends; may be nil
}

// ErrFine says that a case's program runs as it should: this PyTorch does not have the fault.
var ErrFine = errors.New("it does not fail here")

// mostQuestions is how many questions one search may ask; failures that come and go aside, which are asked about many times.
const mostQuestions = 60

// Report is what was measured.
type Report struct {
	Measures []Measure    `json:"measures"`
	Cases    []CaseReport `json:"cases,omitempty"`
	Broken   []string     `json:"broken,omitempty"` // a line for each case.json that could not be read
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
	Name          string             `json:"name"`
	Start         int                `json:"start"` // calls
	End           int                `json:"end"`
	Minimal       int                `json:"minimal"` // of the known minimum
	StartElements int64              `json:"start_elements"`
	Elements      int64              `json:"elements"`
	Queries       int                `json:"queries"`
	Candidates    int                `json:"candidates"` // that these were about
	CacheHits     int                `json:"cache_hits"`
	Seconds       float64            `json:"seconds"`
	Floor         float64            `json:"floor,omitempty"` // seconds that no search could have saved: see reduce.Report; and the program's own run, where that and no launcher showed the failure
	Spent         map[string]float64 `json:"spent,omitempty"` // seconds of the searches, by what they went to: see engine.Clock
	Kept          bool               `json:"kept"`            // the signature is the case's, in a fresh process, too
	Source        string             `json:"source"`          // launcher or program
	Signature     string             `json:"signature"`
	Rate          float64            `json:"rate,omitempty"` // of a flaky failure
	Repro         string             `json:"repro,omitempty"`
	PyTorch       map[string]PyTorch `json:"pytorch,omitempty"` // recorded
	Own           map[string]PyTorch `json:"own,omitempty"`     // measured in this run
	Error         string             `json:"error,omitempty"`
	Fine          bool               `json:"fine,omitempty"` // it does not fail here
}

// Table is the cases for people.
func (r Report) Table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "case\tfrom\tcalls\tminimum\telements\tqueries\tcandidates\thits\tseconds\tfloor\tspent\tkept\tPyTorch's own")
	for _, c := range r.Cases {
		var theirs []string
		for mode, p := range c.PyTorch {
			if _, here := c.Own[mode]; !here {
				theirs = append(theirs, mode+", recorded: "+p.String())
			}
		}
		for mode, p := range c.Own {
			theirs = append(theirs, fmt.Sprintf("%s: %s, %d elements (%.1f times the time)", mode, p, p.Elements, p.Seconds/c.Seconds))
		}
		sort.Strings(theirs)
		kept := "yes"
		if !c.Kept {
			kept = "NO"
		}
		if c.Fine {
			kept = "fine"
		}
		fmt.Fprintf(w, "%s\t%s\t%d -> %d\t%d\t%d -> %d\t%d\t%d\t%d\t%.1f\t%s\t%s\t%s\t%s\n", c.Name, c.Source, c.Start, c.End, c.Minimal, c.StartElements, c.Elements, c.Queries, c.Candidates, c.CacheHits, c.Seconds, c.floor(), spending(c.Spent), kept, strings.Join(theirs, "; "))
	}
	w.Flush()
	if q, n := r.asked(); len(q) > 0 {
		fmt.Fprintf(&b, "queries, %d cases: %d in the median, %d at most; %d candidates in the median\n", len(q), q[len(q)/2], q[len(q)-1], n)
	}
	if x := r.overFloor(); len(x) > 0 {
		fmt.Fprintf(&b, "time over floor, %d cases: %.2f in the median, %.2f at most\n", len(x), x[len(x)/2], x[len(x)-1])
	}
	all := map[string]float64{}
	for _, c := range r.Cases {
		add(all, c.Spent)
	}
	if text := spending(all); text != "" {
		fmt.Fprintf(&b, "time spent, in seconds: %s\n", text)
	}
	r.compare(&b)
	return b.String()
}

func add(to, more map[string]float64) {
	for kind, s := range more {
		to[kind] += s
	}
}

// spending is seconds by what they went to, for people.
func spending(seconds map[string]float64) string {
	spent := map[string]time.Duration{}
	for kind, s := range seconds {
		spent[kind] = time.Duration(s * float64(time.Second))
	}
	return reduce.Spending(spent)
}

// floor is one cell of the table: the floor, and how many times that it took.
func (c CaseReport) floor() string {
	if c.Floor == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f (%.2f)", c.Floor, c.Seconds/c.Floor)
}

// overFloor is how many times their floor the cases took, smallest first; those aside whose failure comes and goes.
func (r Report) overFloor() []float64 {
	var out []float64
	for _, c := range r.Cases {
		if c.Floor > 0 && c.Kept && c.Rate == 0 {
			out = append(out, c.Seconds/c.Floor)
		}
	}
	slices.Sort(out)
	return out
}

// asked is how many queries each failure took that does not come and go, in order, and the candidates that one was about in the median.
func (r Report) asked() (queries []int, candidates int) {
	var all []int
	for _, c := range r.Cases {
		if c.Kept && c.Rate == 0 {
			queries, all = append(queries, c.Queries), append(all, c.Candidates)
		}
	}
	slices.Sort(queries)
	slices.Sort(all)
	if len(all) > 0 {
		candidates = all[len(all)/2]
	}
	return queries, candidates
}

// compare adds how many times PyTorch's own minifier takes whittle's time, and leaves its elements, where both were run.
func (r Report) compare(b *strings.Builder) {
	times, elements := map[string][]float64{}, map[string][]float64{}
	for _, c := range r.Cases {
		for mode, p := range c.Own {
			if (p.Calls != nil || p.Unfinished) && c.Kept {
				times[mode] = append(times[mode], p.Seconds/c.Seconds)
			}
			if p.Calls != nil && c.Kept {
				elements[mode] = append(elements[mode], float64(p.Elements)/float64(max(c.Elements, 1)))
			}
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(times)) {
		t, e := times[mode], elements[mode]
		slices.Sort(t)
		slices.Sort(e)
		fmt.Fprintf(b, "against %s, %d cases: %.1f times less time in the median, %.1f at least", mode, len(t), t[len(t)/2], t[0])
		if len(e) > 0 {
			fmt.Fprintf(b, "; %.0f times fewer elements in the median", e[len(e)/2])
		}
		fmt.Fprintln(b)
	}
}

// String is the measures, a line each.
func (r Report) String() string {
	var b strings.Builder
	for _, m := range r.Measures {
		fmt.Fprintf(&b, "%s: %d of %d\n", m.Name, m.N, m.M)
	}
	return b.String()
}

// Cases reads the cases below dir/corpus/failing, or below dir itself. Of those whose case.json cannot be read it gives a line each.
func Cases(dir, match string) (out []Case, broken []string, err error) {
	root := filepath.Join(dir, "corpus", "failing")
	if _, err := os.Stat(root); err != nil {
		root = dir
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "case.json"))
	if err != nil {
		return nil, nil, err
	}
	sort.Strings(files)
	for _, f := range files {
		c := Case{Dir: filepath.Dir(f)}
		b, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(b, &c)
		}
		if err != nil {
			broken = append(broken, fmt.Sprintf("%s: %v", f, err))
			continue
		}
		if slices.ContainsFunc(strings.Split(match, ","), func(m string) bool { return strings.Contains(c.Name, m) }) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, broken, fmt.Errorf("%s: no cases there", dir)
	}
	return out, broken, nil
}

// The measures, in order.
const (
	read = iota
	fails
	right
	small
	quick
)

// Run measures all cases, one after the other.
func Run(ctx context.Context, dir string, o Options) (Report, error) {
	cases, broken, err := Cases(dir, o.Match)
	if err != nil {
		return Report{Broken: broken}, err
	}
	ms := []Measure{{Name: "launcher read"}, {Name: "fails here"}, {Name: "right failure kept"}, {Name: "as small as the known minimum"}, {Name: "few questions"}}
	note := func(k int, c Case, err error) {
		ms[k].M++
		if err == nil {
			ms[k].N++
			return
		}
		why, _, _ := strings.Cut(err.Error(), "\n")
		ms[k].Reasons = append(ms[k].Reasons, Reason{c.Name, why})
	}
	rep := Report{Broken: broken}
	for _, c := range cases {
		if ctx.Err() != nil {
			return rep, ctx.Err()
		}
		var r *repros.Repro
		var err error
		if c.Launcher {
			r, err = repros.ReadFile(filepath.Join(c.Dir, "minifier_launcher.py"))
			note(read, c, err)
		}
		if o.Reduce == nil {
			continue
		}
		x := one(ctx, c, r, o)
		for _, mode := range o.Modes {
			if x.Own == nil {
				x.Own = map[string]PyTorch{}
			}
			run, stop := ctx, context.CancelFunc(func() {})
			if o.Limit > 0 {
				run, stop = context.WithTimeout(ctx, time.Duration(o.Limit*x.Seconds*float64(time.Second)))
			}
			p, err := o.Own(run, c, mode)
			p.Unfinished = run.Err() != nil
			stop()
			if err != nil {
				p.Status = err.Error()
			}
			x.Own[mode] = p
		}
		if o.Each != nil {
			o.Each(x)
		}
		rep.Cases = append(rep.Cases, x)
		note(fails, c, unless(!x.Fine, ErrFine.Error()))
		if x.Fine {
			continue
		}
		note(right, c, unless(x.Kept, x.Error, "another failure: "+x.Signature))
		note(small, c, unless(x.Kept && x.End <= max(1, x.Minimal), x.Error, fmt.Sprintf("%d calls left, %d known to be enough", x.End, x.Minimal)))
		if c.Kind != "flaky" {
			note(quick, c, unless(x.Queries <= mostQuestions, fmt.Sprintf("%d questions", x.Queries)))
		}
	}
	for _, m := range ms {
		if m.M > 0 {
			rep.Measures = append(rep.Measures, m)
		}
	}
	return rep, nil
}

func unless(ok bool, whys ...string) error {
	if ok {
		return nil
	}
	for _, w := range whys {
		if w != "" {
			return errors.New(w)
		}
	}
	return errors.New("failed")
}

// one reduces a case: from its launcher, and if that does not fail as the case says, from its program. Where the launcher's graph
// has wrong results, the program is asked meanwhile whether that graph is the place.
func one(ctx context.Context, c Case, r *repros.Repro, o Options) CaseReport {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	rep := CaseReport{Name: c.Name, Minimal: len(c.Minimal), PyTorch: c.PyTorch}
	begin := time.Now()
	dir, err := os.MkdirTemp("", "conformance-minify-")
	if err != nil {
		rep.Error = err.Error()
		return rep
	}
	defer os.RemoveAll(dir)
	if r != nil && r.Complete() == nil {
		launcher, stop := context.WithCancel(ctx)
		var above *repros.Repro
		var folder string
		var took time.Duration
		var wg conc.WaitGroup
		if o.Above != nil && r.Stage == repros.AfterAOT && r.Accuracy != "" && r.Accuracy != repros.NoAccuracy {
			wg.Go(func() {
				begin := time.Now()
				if above, folder, _ = o.Above(ctx, c, filepath.Join(dir, "above")); above != nil { // a program that cannot be run tells nothing
					took = time.Since(begin)
					stop()
				}
			})
		}
		rep.Source = "launcher"
		rep.fill(c, o, launcher, r, c.Dir)
		wg.Wait()
		stop()
		if above != nil {
			rep.Source, rep.Error = "program", ""
			rep.fill(c, o, ctx, above, folder)
			if rep.above(took); !rep.Kept {
				rep.Source, rep.Error = "launcher", ""
				rep.fill(c, o, ctx, r, c.Dir)
			}
		}
	}
	if !rep.Kept && o.Find != nil && ctx.Err() == nil {
		first, ran := rep.Error, time.Now()
		found, folder, err := o.Find(ctx, c, filepath.Join(dir, "found"))
		switch {
		case errors.Is(err, ErrFine):
			rep.Fine, rep.Error = true, ErrFine.Error()
		case err != nil:
			rep.Error = strings.TrimPrefix(first+"; the program: "+err.Error(), "; ")
		default:
			took := time.Since(ran)
			rep.Source, rep.Error = "program", ""
			rep.fill(c, o, ctx, found, folder)
			rep.above(took)
		}
	}
	rep.Seconds = time.Since(begin).Seconds()
	if o.Ended != nil {
		o.Ended()
	}
	return rep
}

// above adds the run of the program that showed the failure, in a Python of its own, to a floor that is known.
func (rep *CaseReport) above(program time.Duration) {
	if rep.Floor > 0 {
		rep.Floor += program.Seconds()
	}
}

// fill reduces r and notes what came out.
func (rep *CaseReport) fill(c Case, o Options, ctx context.Context, r *repros.Repro, dir string) {
	rep.Kept = false
	if reduce.NeedsBackend(r) {
		file := filepath.Join(c.Dir, "program.py")
		text, err := os.ReadFile(file)
		if err == nil {
			err = reduce.AddBackend(r, file, string(text))
		}
		if err != nil {
			rep.Error = err.Error()
			return
		}
	}
	res, err := o.Reduce(ctx, c, r, dir)
	rep.Start, rep.End = res.Start.Calls, res.Cost.Calls
	rep.StartElements, rep.Elements = res.Start.Elements, res.Cost.Elements
	rep.Queries, rep.Candidates, rep.CacheHits, rep.Rate = res.Queries, res.Candidates, res.CacheHits, res.Rate
	rep.Signature, rep.Repro, rep.Floor = res.Signature.String(), res.Text, res.Floor.Seconds()
	if rep.Spent == nil {
		rep.Spent = map[string]float64{}
	}
	for kind, d := range res.Spent {
		rep.Spent[kind] += d.Seconds()
	}
	if err != nil {
		rep.Error = err.Error()
		return
	}
	rep.Kept = res.Complete && c.right(res.Outcome)
	if !rep.Kept && res.Stopped != "" {
		rep.Error = "stopped: " + res.Stopped
	}
}

// right reports whether an outcome is the failure that the case is about.
func (c Case) right(o replay.Outcome) bool {
	switch c.Kind {
	case "hang":
		return o.Status == replay.Timeout
	case "memory":
		return o.Status == replay.OOM
	case "abort", "segfault", "hard crash":
		return o.Status == replay.Killed && o.Signature.Type == c.Exception
	}
	return o.Status == replay.Failed && o.Signature.Type == c.Exception && (c.Message == nil || strings.Contains(o.Message, *c.Message))
}
