package graphs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/repros"
)

// Callable is a compiled graph.
type Callable func(ctx context.Context, inputs []any) (any, error)

// How says how a Program is to run.
type How string

// The ways to run a program.
const (
	ByEager    How = "eager"
	ByCompiled How = "compiled"
	ByDouble   How = "double" // eager, in float64
)

// Program is an after-dynamo graph that can be run. The results of Run are those of forward, then the gradients of the inputs.
type Program interface {
	Run(how How, inputs []any) ([]any, error)
}

// Options say what to measure beyond reading.
type Options struct {
	Eager    bool                                                                          // run after-aot graphs with package aten
	Compile  func(ctx context.Context, gm *fx.GraphModule, inputs []any) (Callable, error) // nil: not measured; needs Eager
	Resolver func(ctx context.Context) fx.Resolver                                         // nil: package aten's eager kernels
	// Program opens an after-dynamo file, which only the torch package can run; nil: those are read alone.
	Program  func(ctx context.Context, r *repros.Repro, file, text string) (Program, error)
	Match    string            // only files whose name contains it
	MaxBytes int64             // skip running files with more input data; 0: no limit
	Workers  int               // files at a time; 0: 1
	Timeout  time.Duration     // per file and run; 0: none
	Accuracy *accuracy.Options // nil: accuracy.Default
	Progress func(file string)
}

// Report is what was measured.
type Report struct {
	Measures []Measure `json:"measures"`
}

// Measure is one line: Name: N of M.
type Measure struct {
	Name     string   `json:"name"`
	N        int      `json:"n"`
	M        int      `json:"m"`
	Reasons  []Reason `json:"reasons,omitempty"` // of those that are not in N
	Fraction float64  `json:"fraction"`
}

// Reason says why a file does not count.
type Reason struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// String is the measures, a line each.
func (r Report) String() string {
	var b strings.Builder
	for _, m := range r.Measures {
		fmt.Fprintf(&b, "%s: %d of %d\n", m.Name, m.N, m.M)
	}
	return b.String()
}

// JSON is the report for other programs.
func (r Report) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }

// The measures' names, in order.
var names = []string{"parsed", "printed back unchanged", "read as a repro", "repro written and read back", "shapes propagated", "run eagerly", "compiled", "compiled result close to eager"}

type tally struct {
	mu sync.Mutex
	ms []Measure
}

func (t *tally) note(k int, file string, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ms[k].M++
	if err == nil {
		t.ms[k].N++
		return true
	}
	why, _, _ := strings.Cut(err.Error(), "\n")
	if len(why) > 300 {
		why = why[:300]
	}
	t.ms[k].Reasons = append(t.ms[k].Reasons, Reason{filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file), why})
	return false
}

// Run measures every *.py in dir/corpus/graphs and every minifier_launcher.py in dir/corpus/failing; dir is the shared folder. A folder
// of *.py files without that structure works as well.
func Run(ctx context.Context, dir string, o Options) (Report, error) {
	files, err := Files(dir, o.Match)
	if err != nil {
		return Report{}, err
	}
	t := &tally{ms: make([]Measure, len(names))}
	for i, n := range names {
		t.ms[i].Name = n
	}
	p := pool.New().WithContext(ctx).WithMaxGoroutines(max(1, o.Workers)).WithCancelOnError().WithFirstError()
	var mu sync.Mutex
	for _, f := range files {
		p.Go(func(ctx context.Context) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if o.Progress != nil {
				mu.Lock()
				o.Progress(f)
				mu.Unlock()
			}
			one(ctx, t, f, o)
			return ctx.Err()
		})
	}
	err = p.Wait()
	var r Report
	for i := range t.ms {
		m := t.ms[i]
		if m.M > 0 {
			m.Fraction = float64(m.N) / float64(m.M)
			sort.Slice(m.Reasons, func(a, b int) bool { return m.Reasons[a].File < m.Reasons[b].File })
			r.Measures = append(r.Measures, m)
		}
	}
	return r, err
}

// Files lists the corpus.
func Files(dir, match string) ([]string, error) {
	var out []string
	for _, pat := range []string{"corpus/graphs/*.py", "corpus/failing/*/minifier_launcher.py", "*.py"} {
		fs, err := filepath.Glob(filepath.Join(dir, pat))
		if err != nil {
			return nil, err
		}
		for _, f := range fs {
			if strings.Contains(f, match) {
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no graphs there", dir)
	}
	sort.Strings(out)
	return out, nil
}

// one measures a file.
func one(ctx context.Context, t *tally, file string, o Options) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.note(0, file, err)
		return
	}
	gm, err := fx.Parse(file, string(b))
	if !t.note(0, file, err) {
		return
	}
	t.note(1, file, unchanged(gm, string(b)))
	r, err := repros.Read(file, string(b))
	if !t.note(2, file, err) {
		return
	}
	again, err := repros.Read(file, repros.Write(r))
	if err == nil && (repros.Write(again) != repros.Write(r) || again.Module.Hash() != r.Module.Hash()) {
		err = errors.New("changed")
	}
	t.note(3, file, err)
	if !o.Eager || r.Stage != repros.AfterAOT && o.Program == nil {
		return
	}
	total := int64(0)
	for _, s := range r.Storages {
		total += s.NBytes
	}
	if o.MaxBytes > 0 && total > o.MaxBytes {
		return
	}
	inputs, err := r.Tensors(r.Loader(filepath.Dir(file)))
	if err != nil {
		if r.Stage == repros.AfterAOT {
			t.note(4, file, err)
		}
		t.note(5, file, err)
		return
	}
	if r.Stage != repros.AfterAOT {
		runProgram(ctx, t, file, string(b), r, inputs, o)
		return
	}
	shaped, _ := gm.Clone()
	t.note(4, file, guard(func() error { return interp.Propagate(ctx, shaped, inputs) }))
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	eagerly := func(inputs []any) (want any, err error) {
		err = guard(func() (err error) {
			res := interp.Aten(ctx, aten.Eager)
			if o.Resolver != nil {
				res = o.Resolver(ctx)
			}
			want, err = fx.Run(ctx, gm, accuracy.Clone(inputs).([]any), res)
			return err
		})
		return want, err
	}
	want, err := eagerly(inputs)
	if !t.note(5, file, err) || o.Compile == nil {
		return
	}
	var fn Callable
	err = guard(func() (err error) {
		fn, err = o.Compile(ctx, gm, accuracy.Clone(inputs).([]any))
		return err
	})
	if !t.note(6, file, err) {
		return
	}
	t.note(7, file, o.close(inputs, func(inputs []any, first bool) (ref, res, f64 any, err error) {
		if ref = want; !first {
			if ref, err = eagerly(inputs); err != nil {
				return nil, nil, nil, err
			}
		}
		err = guard(func() (err error) {
			res, err = fn(ctx, accuracy.Clone(inputs).([]any))
			return err
		})
		return ref, res, reference(ctx, gm, inputs), err
	}))
}

// nudges is how often a comparison that failed is made again.
const nudges = 4

// close holds a compiled result against an eager one, by PyTorch's rule: so many times as far from float64 as eager is. In a graph that blows rounding
// up, how far each is off is chance, and depends on the processor. So where values are refused, the question is put again about inputs that are
// moved by up to an ulp: what is wrong stays wrong. run gives what eager, the compiled graph and float64 make of inputs; first are the graph's own.
func (o Options) close(inputs []any, run func(inputs []any, first bool) (ref, res, f64 any, err error)) error {
	opts := accuracy.Default()
	if o.Accuracy != nil {
		opts = *o.Accuracy
	}
	var refused error
	for i := range uint64(nudges + 1) {
		in := inputs
		if i > 0 {
			in = accuracy.Clone(inputs).([]any)
			accuracy.NewRounding(aten.Eager, i).Nudge(in)
		}
		ref, res, f64, err := run(in, i == 0)
		if err != nil {
			return err
		}
		rep := accuracy.Compare(ref, res, f64, opts)
		if rep.Same {
			return nil
		}
		if refused == nil {
			refused = fmt.Errorf("output %s: %s", rep.Where, rep.Message)
		}
		if rep.Kind != accuracy.Value {
			break
		}
	}
	return refused
}

// runProgram measures an after-dynamo file.
func runProgram(ctx context.Context, t *tally, file, text string, r *repros.Repro, inputs []any, o Options) {
	var p Program
	run := func(how How, inputs []any) (out []any, err error) {
		err = guard(func() (err error) {
			out, err = p.Run(how, accuracy.Clone(inputs).([]any))
			return err
		})
		return out, err
	}
	err := guard(func() (err error) {
		p, err = o.Program(ctx, r, file, text)
		return err
	})
	var want, got []any
	if err == nil {
		want, err = run(ByEager, inputs)
	}
	if !t.note(5, file, err) || o.Compile == nil {
		return
	}
	got, err = run(ByCompiled, inputs)
	if !t.note(6, file, err) {
		return
	}
	t.note(7, file, o.close(inputs, func(inputs []any, first bool) (ref, res, f64 any, err error) {
		if !first {
			if want, err = run(ByEager, inputs); err == nil {
				got, err = run(ByCompiled, inputs)
			}
			if err != nil {
				return nil, nil, nil, err
			}
		}
		if d, err := run(ByDouble, inputs); err == nil {
			f64 = d
		}
		return want, got, f64, nil
	}))
}

// reference is the graph in float64, nil where that does not run.
func reference(ctx context.Context, gm *fx.GraphModule, inputs []any) any {
	g64, in64 := accuracy.Double(gm, accuracy.Clone(inputs).([]any))
	var out any
	if guard(func() (err error) {
		out, err = fx.Run(ctx, g64, in64, interp.Aten(ctx, aten.Eager))
		return err
	}) != nil {
		return nil
	}
	return out
}

// unchanged compares the printed forward with the file's own.
func unchanged(gm *fx.GraphModule, text string) error {
	want := gm.Graph.Forward("    ")
	if strings.Contains(text, want+"\n") {
		return nil
	}
	have := map[string]bool{}
	for _, l := range strings.Split(text, "\n") {
		have[l] = true
	}
	for _, l := range strings.Split(want, "\n") {
		if !have[l] {
			return fmt.Errorf("printed %.200q", strings.TrimSpace(l))
		}
	}
	return errors.New("lines are in another order")
}

// guard turns a panic into an error: one bad file must not end the run.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			at := ""
			for _, l := range strings.Split(string(debug.Stack()), "\n") {
				if strings.HasPrefix(l, "whittle/") && !strings.Contains(l, "guard") {
					at = l
					break
				}
			}
			err = fmt.Errorf("panic: %v at %s", r, at)
		}
	}()
	return f()
}
