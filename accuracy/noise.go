package accuracy

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// How a result is compared with eager itself, where Options.Direct asks for it. An element differs if its distance from eager is more than
// noiseFactor times the noise and noiseUlps ulps of eager's value. The noise is the largest deviation from eager of noiseRuns eager runs, each with
// its floating-point work rounded otherwise: see Rounding. Eight runs leave next to no element without noise by chance. repros/torch/strict.py
// says the same in Python.
const (
	noiseRuns   = 8
	noiseFactor = 16
	noiseUlps   = 4
)

// Rounding is a dispatcher that rounds otherwise than Below does, and adds up in another order. What an operator gives that has more than one
// right rounding is moved by up to an ulp. What it adds up is disturbed by a random walk of half ulps, as if the terms were added one by one from
// either end: to first order that is a sum's error. What IEEE arithmetic rounds in one way only stays: a sum of two is not free to lose more
// digits than it has to. Equal seeds give equal roundings.
type Rounding struct {
	Below aten.Dispatcher
	draws *rand.Rand
}

// NewRounding makes one; its random numbers are its own.
func NewRounding(below aten.Dispatcher, seed uint64) *Rounding {
	return &Rounding{below, rand.New(rand.NewPCG(seed, 0))}
}

// Noise is the noise of eager around ref: a value like ref, whose tensors say how far any of the runs is from it. run runs eager once by d, on
// inputs of its own that it gave to Nudge.
func Noise(ref any, below aten.Dispatcher, run func(r *Rounding) (any, error)) (any, error) {
	var runs []any
	for seed := range uint64(noiseRuns) {
		v, err := run(NewRounding(below, seed+1))
		if err != nil {
			return nil, err
		}
		runs = append(runs, Clone(v))
	}
	return spread(ref, runs), nil
}

// spread is how far runs are from ref, as float64 tensors: infinitely where one is no number, or not of that shape, and where an integer changes.
func spread(ref any, runs []any) any {
	switch a := ref.(type) {
	case []any:
		out := make([]any, len(a))
		for i, x := range a {
			var of []any
			for _, r := range runs {
				if l, ok := r.([]any); ok && i < len(l) {
					of = append(of, l[i])
				}
			}
			out[i] = spread(x, of)
		}
		return out
	case fx.Dict:
		out := make(fx.Dict, len(a))
		for i, it := range a {
			var of []any
			for _, r := range runs {
				if d, ok := r.(fx.Dict); ok {
					if v, ok := lookup(d, fx.FormatArg(it.Key)); ok {
						of = append(of, v)
					}
				}
			}
			out[i] = fx.DictItem{Key: it.Key, Val: spread(it.Val, of)}
		}
		return out
	}
	t, ok := asTensor(ref)
	if !ok || t.Fake || !t.DType.Computes() {
		return nil
	}
	x := t.Floats()
	noise := make([]float64, len(x))
	for _, r := range runs {
		v, ok := asTensor(r)
		if !ok || !tensor.SameShape(t, v) || !v.DType.Computes() {
			for i := range noise {
				noise[i] = math.Inf(1)
			}
			break
		}
		for i, y := range v.Floats() {
			d := apart(x[i], y)
			if d > 0 && !t.DType.IsFloat() {
				d = math.Inf(1)
			}
			noise[i] = max(noise[i], d)
		}
	}
	return tensor.FromFloat64s(noise, t.Shape...)
}

// apart is the distance of two numbers: 0 for equal ones, and infinite from one that is no number.
func apart(x, y float64) float64 {
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return 0
	}
	if d := math.Abs(x - y); !math.IsNaN(d) {
		return d
	}
	return math.Inf(1)
}

// direct compares a tensor with eager's, by eager's noise.
func (c *comparison) direct(where string, ref, res, noise *tensor.Tensor) bool {
	a, b := ref.Floats(), res.Floats()
	n := make([]float64, len(a))
	if noise != nil && len(noise.Floats()) == len(a) {
		n = noise.Floats()
	}
	eps := 0.0
	if ref.DType.IsFloat() {
		eps = ref.DType.Epsilon()
	}
	worst, at := 0.0, -1
	for i := range a {
		d := apart(a[i], b[i])
		if !math.IsInf(d, 0) {
			c.rep.MaxError = math.Max(c.rep.MaxError, d)
		}
		allowed := math.Max(noiseFactor*n[i]+noiseUlps*eps*finite(a[i]), c.o.Tol+c.o.Tol*finite(b[i]))
		if by := d / math.Max(allowed, math.SmallestNonzeroFloat64); d > allowed && (by > worst || at < 0) {
			worst, at = by, i
		}
	}
	if at < 0 {
		return true
	}
	k := Value
	if math.IsNaN(a[at]) != math.IsNaN(b[at]) {
		k = NaN
	}
	return c.fail(where, k, "%.3g away from eager, whose own noise is %.3g", apart(a[at], b[at]), n[at])
}

// finite is the size of a number, 0 for one that is not finite.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Abs(x)
}

// fuzzy reports whether t has numbers that are rounded.
func fuzzy(t *tensor.Tensor) bool {
	return t != nil && !t.Fake && t.DType.IsFloat() && t.DType.Computes()
}

// Nudge moves what lies in the memory of floating tensors by up to an ulp; those that share it still do. It is for inputs and parameters.
func (r *Rounding) Nudge(values []any) {
	seen := map[*tensor.Storage]bool{}
	for _, v := range values {
		if t, ok := v.(*tensor.Tensor); ok && fuzzy(t) && !seen[t.Storage] {
			seen[t.Storage] = true
			n := t.Storage.NBytes / int64(t.DType.Size())
			r.nudge(&tensor.Tensor{Storage: t.Storage, DType: t.DType, Shape: []int64{n}, Stride: []int64{1}})
		}
	}
}

// Attrs is gm with its own parameters, nudged.
func (r *Rounding) Attrs(gm *fx.GraphModule) *fx.GraphModule {
	c, _ := gm.Clone()
	var all []any
	names := make([]string, 0, len(c.Attrs))
	for name := range c.Attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, c.Attrs[name])
	}
	all = cloneList(all)
	r.Nudge(all)
	for i, name := range names {
		c.Attrs[name], _ = all[i].(*tensor.Tensor)
	}
	for name, sub := range c.Submodules {
		c.Submodules[name] = r.Attrs(sub)
	}
	return c
}

func (r *Rounding) sign() float64 { return 2*r.draws.Float64() - 1 }

func (r *Rounding) nudge(t *tensor.Tensor) {
	xs, eps := t.Floats(), t.DType.Epsilon()
	for i, x := range xs {
		xs[i] = tensor.RoundTo(t.DType, x*(1+eps*r.sign()))
	}
	t.SetFloats(xs)
}

// Dispatch implements aten.Dispatcher.
func (r *Rounding) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	var in []*tensor.Tensor
	tensors(args, func(t *tensor.Tensor) { in = append(in, t) })
	out, err := r.Below.Dispatch(op, r.added(op, args))
	if err != nil || !slices.ContainsFunc(in, fuzzy) || op.Has(aten.View) {
		return out, err
	}
	writes := len(op.Facts().Writes) > 0
	exact := exactly[strings.TrimSuffix(op.Sig().Name, "_")]
	tensors([]aten.Value{out}, func(t *tensor.Tensor) {
		same := func(x *tensor.Tensor) bool { return x.Storage == t.Storage }
		if !fuzzy(t) || exact && t.DType.Size() >= 4 || !writes && slices.ContainsFunc(in, same) {
			return
		}
		r.nudge(t)
	})
	return out, nil
}

func tensors(vs []aten.Value, f func(t *tensor.Tensor)) {
	for _, v := range vs {
		switch v := v.(type) {
		case *tensor.Tensor:
			if v != nil {
				f(v)
			}
		case []aten.Value:
			tensors(v, f)
		}
	}
}

// added is the arguments with what op adds up disturbed.
func (r *Rounding) added(op *aten.Op, args []aten.Value) []aten.Value {
	s, ok := sums[op.Sig().Name]
	if strings.HasPrefix(op.Sig().Name, "_scaled_dot_product") {
		s, ok = sum{at: 2, dims: []int64{-2}}, true
	}
	if !ok || s.at >= len(args) {
		return args
	}
	t, ok := args[s.at].(*tensor.Tensor)
	if !ok || !fuzzy(t) {
		return args
	}
	dims := s.dims
	switch s.by {
	case "dim":
		for i, a := range op.Sig().Args {
			if a.Name != "dim" || i >= len(args) {
				continue
			}
			switch d := args[i].(type) {
			case int64:
				dims = []int64{d}
			case []aten.Value:
				for _, x := range d {
					if k, ok := x.(int64); ok {
						dims = append(dims, k)
					}
				}
			}
		}
	case "shape":
		if sizes, ok := args[s.at+1].([]aten.Value); ok {
			for k := range sizes {
				dims = append(dims, int64(k-len(sizes)))
			}
		}
	}
	args = slices.Clone(args)
	args[s.at] = r.walk(t, dims)
	return args
}

// walk is a copy with errors that add up along dims, all for none, as those of a sum of one element after the other do.
func (r *Rounding) walk(t *tensor.Tensor, dims []int64) *tensor.Tensor {
	nd := int64(len(t.Shape))
	if nd == 0 || t.Numel() == 0 {
		return t
	}
	var kept, summed []int
	for d := range nd {
		if len(dims) == 0 || slices.Contains(dims, d) || slices.Contains(dims, d-nd) {
			summed = append(summed, int(d))
		} else {
			kept = append(kept, int(d))
		}
	}
	out := Clone(t).(*tensor.Tensor)
	rows := *out
	rows.Shape, rows.Stride = nil, nil
	n := int64(1)
	for i, d := range append(kept, summed...) {
		rows.Shape, rows.Stride = append(rows.Shape, t.Shape[d]), append(rows.Stride, t.Stride[d])
		if i >= len(kept) {
			n *= t.Shape[d]
		}
	}
	xs, eps := rows.Floats(), min(t.DType.Epsilon(), tensor.Float32.Epsilon()) // half precision is added up in float32
	back := r.sign() < 0
	for at := int64(0); at < int64(len(xs)); at += n {
		w := 0.0
		for i := range n {
			k := at + i
			if back {
				k = at + n - 1 - i
			}
			w += eps * r.sign()
			xs[k] = tensor.RoundTo(t.DType, xs[k]*(1+w))
		}
	}
	rows.SetFloats(xs)
	return out
}
