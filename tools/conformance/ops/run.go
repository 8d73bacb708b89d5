package ops

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/sourcegraph/conc/pool"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Measures are what Run can check, in this order. "eager" compares results and changed arguments, "layout" their strides and what they
// share with the arguments, "meta" shape, dtype and strides from fake tensors alone, "grad" the gradients, "inductor" the results under torch.compile.
var Measures = []string{"eager", "layout", "meta", "grad", "inductor"}

// Options selects what Run does.
type Options struct {
	Measures []string                     // of Measures; empty: all but inductor
	Match    func(file string) bool       // which files, by base name without suffix; nil: all
	Every    int                          // check each Nth record of a file only; 0 is 1
	Workers  int                          // files at a time; 0 is 1
	CacheDir string                       // compiled kernels
	Progress func(file string, n, of int) // nil: none; called by several workers
}

// A Count is how many records met a measure, of how many tried.
type Count struct{ Met, Tried int }

// A Failure is one record that missed one measure, and why.
type Failure struct {
	Measure string
	File    string
	Record  string
	Call    string
	Reason  string
	Core    bool // every operator that PyTorch dispatched is tagged core
}

// Report is the outcome of Run.
type Report struct {
	Measures map[string]Count // "eager-core" counts the records of Core operators alone; "inductor-graphs" those that were compiled at all
	Failures []Failure        // in the order of files and samples
	Broken   []string         // a line for each record that could not be read, with its file
}

func (r *Report) count(measure string, met bool) {
	c := r.Measures[measure]
	c.Tried++
	if met {
		c.Met++
	}
	r.Measures[measure] = c
}

func (r *Report) add(o Report) {
	for m, c := range o.Measures {
		have := r.Measures[m]
		r.Measures[m] = Count{have.Met + c.Met, have.Tried + c.Tried}
	}
	r.Failures = append(r.Failures, o.Failures...)
	r.Broken = append(r.Broken, o.Broken...)
}

// Lines is the report as "measure: N of M", sorted by measure.
func (r Report) Lines() []string {
	var out []string
	for m, c := range r.Measures {
		out = append(out, fmt.Sprintf("%s: %d of %d", m, c.Met, c.Tried))
	}
	sort.Strings(out)
	return out
}

// Run checks the records of dir. Missed measures are in the Report, and so are records that could not be read.
func Run(ctx context.Context, dir string, o Options) (Report, error) {
	rep := Report{Measures: map[string]Count{}}
	if len(o.Measures) == 0 {
		o.Measures = Measures[:len(Measures)-1]
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return rep, err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return o.Match != nil && !o.Match(base(f)) })
	if len(files) == 0 {
		return rep, fmt.Errorf("no such *.jsonl.gz in %s", dir)
	}
	sort.Strings(files)
	core, err := readCore(dir)
	if err != nil {
		return rep, err
	}
	workers := max(o.Workers, 1)
	idle := make(chan *python, workers) // interpreters; importing torch takes longer than most files
	for range workers {
		p, err := newPython(ctx, o.CacheDir)
		if err != nil {
			return rep, err
		}
		idle <- p
	}
	var done atomic.Int64
	each := pool.NewWithResults[Report]().WithContext(ctx).WithMaxGoroutines(workers).WithCancelOnError().WithFirstError()
	for _, f := range files {
		each.Go(func(ctx context.Context) (Report, error) {
			p := <-idle
			defer func() { idle <- p }()
			one, err := p.file(ctx, f, core, o)
			if n := done.Add(1); o.Progress != nil && err == nil {
				o.Progress(base(f), int(n), len(files))
			}
			return one, err
		})
	}
	all, err := each.Wait()
	for _, one := range all {
		rep.add(one)
	}
	return rep, err
}

func base(f string) string { return strings.TrimSuffix(filepath.Base(f), ".jsonl.gz") }

func (p *python) file(ctx context.Context, path string, core map[string]bool, o Options) (Report, error) {
	rep := Report{Measures: map[string]Count{}}
	recs, broken := ReadFile(path)
	rep.Broken = broken
	for i, r := range recs {
		if err := ctx.Err(); err != nil {
			return rep, err
		}
		if o.Every > 1 && i%o.Every != 0 {
			continue
		}
		isCore := len(r.Aten) > 0 && !slices.ContainsFunc(r.Aten, func(a string) bool { return !core[a] })
		for _, m := range o.Measures {
			if m == "grad" && r.Grad == nil || m == "inductor" && r.DType != "float32" || m == "layout" && r.Uninitialised {
				continue
			}
			err := safely(func() error { return checks[m](p, r) })
			rep.count(m, err == nil)
			if m == "eager" && isCore {
				rep.count("eager-core", err == nil)
			}
			if m == "inductor" {
				rep.count("inductor-graphs", p.graphs > 0)
			}
			if err != nil {
				rep.Failures = append(rep.Failures, Failure{m, base(path), r.name(), r.Call, err.Error(), isCore})
			}
		}
	}
	return rep, nil
}

// checks holds one function per measure.
var checks = map[string]func(p *python, r *Record) error{
	"eager": checkEager, "layout": checkLayout, "meta": checkMeta, "grad": checkGrad, "inductor": checkInductor,
}

func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// called is one call of a record with whittle, and what PyTorch had.
type called struct {
	args      []aten.Value
	kw        map[string]aten.Value
	got, want aten.Value
}

// perform runs a record's call by how, on fresh arguments.
func perform(p *python, r *Record, fakes bool, how func(f callable, args []aten.Value, kw map[string]aten.Value) (aten.Value, error)) (*called, error) {
	want, err := Decode(r.Out)
	if err != nil {
		return nil, err
	}
	c := &called{want: want}
	if c.args, c.kw, err = r.arguments(fakes); err != nil {
		return nil, err
	}
	f, err := p.function(r.Call)
	if err != nil {
		return nil, err
	}
	c.got, err = how(f, c.args, c.kw)
	return c, err
}

func checkEager(p *python, r *Record) error {
	c, err := perform(p, r, false, p.call)
	if err != nil {
		return err
	}
	return c.values(r)
}

// values compares the results and the arguments that the call changed.
func (c *called) values(r *Record) error {
	if err := compare(r, c.got, c.want, !r.Uninitialised); err != nil {
		return err
	}
	for _, m := range r.Mutated {
		got, err := at(m.Path, c.args, c.kw)
		if err != nil {
			return err
		}
		want, err := Decode(m.Value)
		if err != nil {
			return err
		}
		if err := compareLeaf(got, want, 0, !r.Uninitialised); err != nil {
			return fmt.Errorf("argument %v afterwards: %w", m.Path, err)
		}
	}
	return nil
}

// checkLayout compares strides, and which argument each result shares memory with.
func checkLayout(p *python, r *Record) error {
	c, err := perform(p, r, false, p.call)
	if err != nil {
		return err
	}
	if err := compare(r, c.got, c.want, false); err != nil {
		return err
	}
	shared := map[int][]any{}
	for _, a := range r.Alias {
		shared[a.Leaf] = a.Path
	}
	for i, leaf := range leaves(c.got) {
		t, ok := leaf.(*tensor.Tensor)
		if !ok || t.Numel() == 0 {
			continue
		}
		if path, ok := shared[i]; ok {
			v, err := at(path, c.args, c.kw)
			if err != nil {
				return err
			}
			if a, ok := v.(*tensor.Tensor); !ok || a.Storage != t.Storage {
				return fmt.Errorf("result %d does not share memory with argument %v", i, path)
			}
			continue
		}
		for _, v := range c.tensors() {
			if v.Storage == t.Storage {
				return fmt.Errorf("result %d shares memory with an argument", i)
			}
		}
	}
	return nil
}

// tensors are all tensors among the arguments.
func (c *called) tensors() []*tensor.Tensor {
	all := leaves(c.args)
	for _, k := range sortedKeys(c.kw) {
		all = append(all, leaves(c.kw[k])...)
	}
	var out []*tensor.Tensor
	for _, v := range all {
		if t, ok := v.(*tensor.Tensor); ok {
			out = append(out, t)
		}
	}
	return out
}

func checkMeta(p *python, r *Record) error {
	c, err := perform(p, r, true, p.fake)
	if err != nil {
		var e *aten.Error
		if errors.As(err, &e) && e.Kind == aten.DataDependentError {
			return nil // what needs data has no metadata to compare
		}
		return err
	}
	return compare(r, c.got, c.want, false)
}

func checkInductor(p *python, r *Record) error {
	c, err := perform(p, r, false, func(f callable, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
		g, err := p.compiled(f)
		if err != nil {
			return nil, err
		}
		return p.call(g, args, kw)
	})
	if err != nil {
		return err
	}
	return c.values(r)
}

// checkGrad compares the gradients of the weighted sum of results that the records' README defines.
func checkGrad(p *python, r *Record) error {
	var inputs []*tensor.Tensor
	c, err := perform(p, r, false, func(f callable, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
		for _, in := range r.Grad.Inputs {
			v, err := at(in.Path, args, kw)
			if err != nil {
				return nil, err
			}
			t, ok := v.(*tensor.Tensor)
			if !ok {
				return nil, fmt.Errorf("argument %v is not a tensor", in.Path)
			}
			if err := p.s.Torch.Grad.SetRequiresGrad(t, true); err != nil {
				return nil, err
			}
			inputs = append(inputs, t)
		}
		return p.call(f, args, kw)
	})
	if err != nil {
		return err
	}
	grads, err := p.gradients(leaves(c.got), r.Grad.Leaves, inputs)
	if err != nil {
		return err
	}
	for i, in := range r.Grad.Inputs {
		want, err := Decode(in.Value)
		if err != nil {
			return err
		}
		wt, ok := want.(*tensor.Tensor)
		switch {
		case !ok && grads[i] == nil:
			continue
		case !ok:
			for _, x := range grads[i].Floats() {
				if x != 0 {
					return fmt.Errorf("a gradient of %v, want none", in.Path)
				}
			}
			continue
		case grads[i] == nil:
			return fmt.Errorf("no gradient of %v", in.Path)
		}
		noise := 0.0
		if in.Noise != nil {
			noise = *in.Noise
		}
		if err := compareLeaf(grads[i], wt, noise, true); err != nil {
			return fmt.Errorf("gradient of %v: %w", in.Path, err)
		}
	}
	return nil
}
