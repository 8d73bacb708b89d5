package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// A Callable runs a recorded function on decoded arguments through the dispatcher.
type Callable func(d aten.Dispatcher, args []aten.Value, kwargs map[string]aten.Value) (aten.Value, error)

// A Resolver finds what a record's call names, such as "torch.add" or "Tensor.permute".
type Resolver interface {
	Resolve(call string) (Callable, bool)
}

// Options selects what Run does. The zero value checks everything at the aten level.
type Options struct {
	Resolver Resolver                     // nil: ATen
	Match    func(file string) bool       // which files, by base name without suffix; nil: all
	Progress func(file string, n, of int) // nil: none
}

// A Count is how many records met a measure, of how many tried.
type Count struct{ Met, Tried int }

// A Failure is one record that missed one measure, and why.
type Failure struct {
	Measure string // eager or meta
	File    string
	Record  string
	Call    string
	Reason  string
}

// Report is the outcome of Run.
type Report struct {
	Measures map[string]Count
	Failures []Failure // in the order of files and samples
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

// Run checks the records of dir. An error means that records could not be read; missed measures are in the Report.
func Run(ctx context.Context, dir string, o Options) (Report, error) {
	rep := Report{Measures: map[string]Count{}}
	if o.Resolver == nil {
		o.Resolver = ATen{}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return rep, err
	}
	if len(files) == 0 {
		return rep, fmt.Errorf("no *.jsonl.gz in %s", dir)
	}
	sort.Strings(files)
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return rep, err
		}
		base := strings.TrimSuffix(filepath.Base(f), ".jsonl.gz")
		if o.Match != nil && !o.Match(base) {
			continue
		}
		recs, err := ReadFile(f)
		if err != nil {
			return rep, err
		}
		for _, r := range recs {
			check(&rep, base, r, o.Resolver)
		}
		if o.Progress != nil {
			o.Progress(base, i+1, len(files))
		}
	}
	return rep, nil
}

func check(rep *Report, file string, r *Record, res Resolver) {
	measure := func(name string, f func() error) {
		c := rep.Measures[name]
		c.Tried++
		err := safely(f)
		if err == nil {
			c.Met++
		} else {
			rep.Failures = append(rep.Failures, Failure{name, file, r.name(), r.Call, err.Error()})
		}
		rep.Measures[name] = c
	}
	fn, ok := res.Resolve(r.Call)
	missing := fmt.Errorf("no operator for %s", r.Call)
	want, werr := Decode(r.Out)
	measure("eager", func() error {
		if !ok {
			return missing
		}
		if werr != nil {
			return werr
		}
		args, kw, err := r.arguments(false)
		if err != nil {
			return err
		}
		got, err := fn(aten.Eager, args, kw)
		if err != nil {
			return err
		}
		return compare(r, got, want, true)
	})
	measure("meta", func() error {
		if !ok {
			return missing
		}
		if werr != nil {
			return werr
		}
		args, kw, err := r.arguments(true)
		if err != nil {
			return err
		}
		got, err := fn(aten.Fake, args, kw)
		if err != nil {
			var e *aten.Error
			if errors.As(err, &e) && e.Kind == aten.DataDependentError {
				return nil // what needs data has no metadata to compare
			}
			return err
		}
		return compare(r, got, want, false)
	})
}

func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

func compare(r *Record, got, want aten.Value, data bool) error {
	g, w := leaves(got), leaves(want)
	if len(g) != len(w) {
		return fmt.Errorf("%d results, want %d", len(g), len(w))
	}
	for i := range w {
		if slices.Contains(r.Nonunique, i) {
			continue
		}
		noise := 0.0
		if i < len(r.Noise) && r.Noise[i] != nil {
			noise = *r.Noise[i]
		}
		if err := compareLeaf(g[i], w[i], noise, data && !r.Uninitialised); err != nil {
			if len(w) > 1 {
				return fmt.Errorf("result %d: %w", i, err)
			}
			return err
		}
	}
	return nil
}

func compareLeaf(g, w aten.Value, noise float64, data bool) error {
	wt, ok := w.(*tensor.Tensor)
	if !ok {
		if n, ok := g.(int64); ok {
			if f, isF := w.(float64); isF && float64(n) == f {
				return nil
			}
		}
		if gf, ok := g.(float64); ok {
			if wf, ok := w.(float64); ok && (math.Abs(gf-wf) <= 1e-6*max(1, math.Abs(wf)) || gf != gf && wf != wf) {
				return nil
			}
		}
		if g != w {
			return fmt.Errorf("got %v, want %v", g, w)
		}
		return nil
	}
	gt, ok := g.(*tensor.Tensor)
	if !ok {
		return fmt.Errorf("got %T, want a tensor", g)
	}
	if gt.DType != wt.DType {
		return fmt.Errorf("dtype %v, want %v", gt.DType, wt.DType)
	}
	if !tensor.SameShape(gt, wt) {
		return fmt.Errorf("shape %v, want %v", gt.Shape, wt.Shape)
	}
	if !data {
		for i, s := range wt.Shape {
			if s > 1 && wt.Numel() > 0 && gt.Stride[i] != wt.Stride[i] {
				return fmt.Errorf("stride %v, want %v of shape %v", gt.Stride, wt.Stride, wt.Shape)
			}
		}
		return nil
	}
	return Close(gt, wt, noise)
}

// Close compares values: exactly for ints and bools, else within the dtype's tolerance, scaled by
// the largest finite magnitude of want and widened by noise.
func Close(got, want *tensor.Tensor, noise float64) error {
	if !want.DType.IsFloat() {
		if want.DType.Kind() == tensor.KindComplex {
			return fmt.Errorf("complex values are not compared")
		}
		a, b := got.Ints(), want.Ints()
		for i := range a {
			if a[i] != b[i] {
				return fmt.Errorf("element %d is %d, want %d", i, a[i], b[i])
			}
		}
		return nil
	}
	tol := map[tensor.DType]float64{tensor.Float64: 1e-10, tensor.Float32: 3e-6, tensor.Float16: 2e-3, tensor.BFloat16: 1.6e-2}[want.DType]
	a, b := got.Floats(), want.Floats()
	scale := 0.0
	for _, x := range b {
		if !math.IsInf(x, 0) && x == x {
			scale = max(scale, math.Abs(x))
		}
	}
	limit := max(tol*scale, 4*noise, 1e-30)
	for i := range a {
		x, y := a[i], b[i]
		if x == y || x != x && y != y {
			continue
		}
		if d := math.Abs(x - y); !(d <= limit) {
			return fmt.Errorf("element %d is %g, want %g (off by %.3g, limit %.3g)", i, x, y, d, limit)
		}
	}
	return nil
}
