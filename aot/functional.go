package aot

import (
	"fmt"
	"slices"
	"strings"

	"whittle/aot/autograd"
	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Functional is the dispatcher layer that removes mutation and tracks aliasing. It lies below autograd, and above what records operators.
//
// The program holds outer tensors (fakes that share fake storages as the real ones
// would). Each outer tensor stands for an immutable inner value of the layer below. Writing to an
// outer tensor gives its storage a new value, and counts the storage's generation up; a tensor of another generation is made anew from
// that value, by the views that led to it, when an operator next reads it. Views are made without that look, and begin in generation 0: one
// of a storage that was written before is made anew at its first use, and what was made first is dead. Mirrors FunctionalTensorWrapper.
type Functional struct {
	Below aten.Dispatcher
	// Mode is the switch of the gradients that are recorded above; nil => they are.
	Mode *autograd.GradMode

	outer   map[*tensor.Tensor]*outerState
	storage map[*tensor.Storage]*storageState
}

// storageState is what a storage of the program holds.
type storageState struct {
	value   *tensor.Tensor // inner: all of it, as it is now
	base    *tensor.Tensor // the outer tensor that came with it
	offset  int64          // of that tensor, at the beginning
	gen     int            // counts writes
	mutated bool
	graded  bool // some write happened while gradients were recorded
	frozen  bool // a tensor that showed it has left for another storage: what else is written here would reach nobody
}

type outerState struct {
	inner *tensor.Tensor
	gen   int
	chain []viewStep // from the storage's value to this tensor
}

// viewStep is one view operator, replayable on a new base.
type viewStep struct {
	op   *aten.Op
	args []aten.Value // args[0] is replaced
	nr   int          // which result of a multi-output view
}

// NewFunctional makes an empty layer above below.
func NewFunctional(below aten.Dispatcher) *Functional {
	return &Functional{Below: below, outer: map[*tensor.Tensor]*outerState{}, storage: map[*tensor.Storage]*storageState{}}
}

// functionalOf is the layer without mutation of the trace that d is the dispatcher of; nil where it is that of none.
func functionalOf(d aten.Dispatcher) *Functional {
	if e, ok := d.(*autograd.Engine); ok {
		d = e.Below
	}
	f, _ := d.(*Functional)
	return f
}

// Wrap makes an outer tensor for an inner value.
func (f *Functional) Wrap(inner *tensor.Tensor) *tensor.Tensor {
	o := tensor.FakeLike(inner)
	f.outer[o] = &outerState{inner: inner}
	f.storage[o.Storage] = &storageState{value: inner, base: o, offset: o.Offset}
	return o
}

// Inner is the current inner value of an outer tensor; a tensor the layer has not met is its own.
func (f *Functional) Inner(t *tensor.Tensor) (*tensor.Tensor, error) {
	st := f.outer[t]
	if st == nil {
		return t, nil
	}
	ss := f.storage[t.Storage]
	if st.gen == ss.gen {
		return st.inner, nil
	}
	v := ss.value
	for _, s := range st.chain {
		r, err := s.apply(f.Below, v)
		if err != nil {
			return nil, fmt.Errorf("replaying a view after a write: %w", err)
		}
		v = r
	}
	st.inner, st.gen = v, ss.gen
	return v, nil
}

func (s viewStep) apply(d aten.Dispatcher, v *tensor.Tensor) (*tensor.Tensor, error) {
	args := append([]aten.Value{v}, s.args[1:]...)
	r, err := d.Dispatch(s.op, args)
	if err != nil {
		return nil, err
	}
	ts := build.Tensors(r)
	if s.nr >= len(ts) {
		return nil, fmt.Errorf("%s gave %d results, wanted result %d", s.op.Name(), len(ts), s.nr)
	}
	return ts[s.nr], nil
}

// chain lists the views that lead from a storage's base to t.
func (f *Functional) chain(t *tensor.Tensor) []viewStep {
	if st := f.outer[t]; st != nil {
		return st.chain
	}
	return nil
}

// aliases counts the results of a program that share one storage.
type aliases struct {
	all    int
	single int // less those that an operator with several results made
}

// sharing counts the results among outs by storage.
func (f *Functional) sharing(outs []aten.Value) map[*tensor.Storage]aliases {
	m := map[*tensor.Storage]aliases{}
	for _, o := range outs {
		t, ok := o.(*tensor.Tensor)
		if !ok || t == nil {
			continue
		}
		a := m[t.Storage]
		a.all++
		if c := f.chain(t); len(c) == 0 || !c[len(c)-1].many() {
			a.single++
		}
		m[t.Storage] = a
	}
	return m
}

// many says whether the step is one of several results of its operator.
func (s viewStep) many() bool {
	r := s.op.Sig().Returns
	return len(r) > 1 || len(r) == 1 && r[0].Type.List
}

// Mutated reports whether t's storage was written.
func (f *Functional) Mutated(t *tensor.Tensor) bool {
	ss := f.storage[t.Storage]
	return ss != nil && ss.mutated
}

// graded reports whether t was written while gradients were recorded.
func (f *Functional) graded(t *tensor.Tensor) bool { return f.storage[t.Storage].graded }

// Dispatch runs one operator of the program.
func (f *Functional) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if m, ok := mutations[op.Name()]; ok {
		return m(f, op, args)
	}
	if op.Tags&aten.Composite != 0 && op.Decomp != nil {
		return aten.Decompose(f, op, args)
	}
	writes := op.Facts().Writes
	if len(writes) > 0 {
		return f.mutate(op, args, writes)
	}
	inner, err := f.readBy(op, args)
	if err != nil {
		return nil, err
	}
	out, err := f.Below.Dispatch(op, inner)
	if err != nil {
		return nil, err
	}
	return f.wrapResults(op, args, out)
}

// DispatchDetach runs the detach of a program, which graphs show three of, as in PyTorch: two are views, that of the program and that of the
// tensor that it gets; the third is one of the value in it.
func (f *Functional) DispatchDetach(op *aten.Op, args []aten.Value) (aten.Value, error) {
	out, err := f.Dispatch(op, args)
	if err != nil {
		return nil, err
	}
	if out, err = f.Dispatch(op, []aten.Value{out}); err != nil {
		return nil, err
	}
	t, ok := out.(*tensor.Tensor)
	if !ok || f.outer[t] == nil {
		return out, nil
	}
	v, err := f.Below.Dispatch(op, []aten.Value{f.outer[t].inner})
	if err != nil {
		return nil, err
	}
	f.outer[t].inner = v.(*tensor.Tensor)
	return t, nil
}

// readBy are the inner values of an operator's arguments. A view is made of a tensor as it is: what it shows is looked up when it is read.
func (f *Functional) readBy(op *aten.Op, args []aten.Value) ([]aten.Value, error) {
	if op.Tags&aten.View != 0 && len(args) > 0 {
		if t, ok := args[0].(*tensor.Tensor); ok && f.outer[t] != nil {
			rest, err := f.unwrapAll(args[1:])
			return append([]aten.Value{f.outer[t].inner}, rest...), err
		}
	}
	return f.unwrapAll(args)
}

// unwrapAll is unwrap for each argument.
func (f *Functional) unwrapAll(args []aten.Value) ([]aten.Value, error) {
	out := make([]aten.Value, len(args))
	for i, a := range args {
		v, err := f.unwrap(a)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// unwrap gives the inner values of tensors, at any depth of lists.
func (f *Functional) unwrap(a aten.Value) (aten.Value, error) {
	switch a := a.(type) {
	case *tensor.Tensor:
		if a == nil {
			return nil, nil
		}
		return f.Inner(a)
	case []aten.Value:
		return f.unwrapList(a)
	}
	return a, nil
}

func (f *Functional) unwrapList(a []aten.Value) (aten.Value, error) {
	out := make([]aten.Value, len(a))
	for i, x := range a {
		v, err := f.unwrap(x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// wrapResults gives each inner result an outer tensor, which for a view shares the outer storage of its base.
func (f *Functional) wrapResults(op *aten.Op, args []aten.Value, out aten.Value) (aten.Value, error) {
	nr := 0
	var wrap func(v aten.Value) aten.Value
	wrap = func(v aten.Value) aten.Value {
		switch v := v.(type) {
		case *tensor.Tensor:
			if v == nil {
				nr++
				return v
			}
			r := f.wrapOne(op, args, v, nr)
			nr++
			return r
		case []aten.Value:
			l := make([]aten.Value, len(v))
			for i, x := range v {
				l[i] = wrap(x)
			}
			return l
		}
		nr++
		return v
	}
	return wrap(out), nil
}

// wrapOne is wrapResults for result number nr.
func (f *Functional) wrapOne(op *aten.Op, args []aten.Value, inner *tensor.Tensor, nr int) *tensor.Tensor {
	if op.Tags&aten.View == 0 || len(args) == 0 {
		return f.Wrap(inner)
	}
	src, ok := args[0].(*tensor.Tensor)
	if !ok {
		return f.Wrap(inner)
	}
	st := f.outer[src]
	if st != nil && st.inner != nil && st.inner.Storage != inner.Storage {
		return f.Wrap(inner) // what is a view in PyTorch, and a copy here
	}
	if st == nil { // a constant: give it an outer identity of its own
		return f.Wrap(inner)
	}
	o := tensor.NewView(src, append([]int64(nil), inner.Shape...), append([]int64(nil), inner.Stride...), inner.Offset)
	o.DType, o.Fake = inner.DType, true
	chain := append(append([]viewStep(nil), st.chain...), viewStep{op, args, nr})
	f.outer[o] = &outerState{inner: inner, chain: chain}
	return o
}

// mutate runs the functional counterpart of a writing operator and stores its results.
func (f *Functional) mutate(op *aten.Op, args []aten.Value, writes []int) (aten.Value, error) {
	if tr, ok := f.Below.(*Tracer); ok && op.Library != nil {
		return f.callWriting(tr, op, args)
	}
	fn, fargs, err := functionalCounterpart(op, args)
	if err != nil {
		return nil, err
	}
	inner, err := f.readBy(fn, fargs)
	if err != nil {
		return nil, err
	}
	var out aten.Value
	if fn.Tags&aten.Composite != 0 && fn.Decomp != nil {
		out, err = aten.Decompose(f.Below, fn, inner)
	} else {
		out, err = f.Below.Dispatch(fn, inner)
	}
	if err != nil {
		return nil, err
	}
	if fn.Tags&aten.View != 0 && op.Tags&aten.Inplace != 0 {
		return f.viewInPlace(fn, fargs, out)
	}
	news := build.Tensors(out)
	var targets []*tensor.Tensor
	for _, w := range writes {
		targets = append(targets, build.Tensors(args[w])...)
	}
	if len(news) < len(targets) {
		return nil, fmt.Errorf("%s writes %d tensors, %s gives %d", op.Name(), len(targets), fn.Name(), len(news))
	}
	// Written values come last in functional forms that also return results (batch norm).
	extra := len(news) - len(targets)
	for i, t := range targets {
		if op.Tags&aten.OutVariant != 0 {
			err = f.intoOut(t, news[extra+i])
		} else {
			err = f.write(t, news[extra+i])
		}
		if err != nil {
			return nil, err
		}
		t.Bump()
	}
	rets := op.Sig().Returns
	if extra > 0 {
		res := make([]aten.Value, 0, extra)
		for _, r := range news[:extra] {
			res = append(res, f.Wrap(r))
		}
		if len(res) == 1 {
			return res[0], nil
		}
		return res, nil
	}
	switch {
	case len(rets) == 0:
		return nil, nil
	case len(targets) == 1:
		return targets[0], nil
	}
	res := make([]aten.Value, len(targets))
	for i, t := range targets {
		res[i] = t
	}
	return res, nil
}

// functionalCounterpart finds the operator without mutation: add.Tensor for add_.Tensor and for add.out.
func functionalCounterpart(op *aten.Op, args []aten.Value) (*aten.Op, []aten.Value, error) {
	ns, rest, _ := strings.Cut(op.Name(), ".")
	base, over, _ := strings.Cut(rest, ".")
	s := op.Sig()
	if op.Tags&aten.OutVariant != 0 {
		var fargs []aten.Value
		var sig []aten.Arg
		for i, a := range s.Args {
			if !a.Write() {
				fargs, sig = append(fargs, args[i]), append(sig, a)
			} else if !a.KwOnly {
				return nil, nil, fmt.Errorf("%s mutates its arguments and has no functional form", op.Name())
			}
		}
		for _, fn := range op.Library.Packet(ns, base) {
			if len(fn.Facts().Writes) == 0 && slices.EqualFunc(fn.Sig().Args, sig, func(a, b aten.Arg) bool { return a.Name == b.Name && a.Type == b.Type }) {
				return fn, fargs, nil
			}
		}
		names := []string{strings.TrimSuffix(strings.TrimSuffix(over, "_out"), "out"), "default", "Tensor", "Scalar"}
		for _, o := range names {
			if o == "" {
				o = "default"
			}
			if fn := op.Library.Lookup(ns + "." + base + "." + o); fn != nil && len(fn.Sig().Args) == len(fargs) {
				return fn, fargs, nil
			}
		}
		return nil, nil, fmt.Errorf("%s has no functional form", op.Name())
	}
	stem := strings.TrimSuffix(base, "_")
	names := []string{stem + "." + over, stem + "_functional." + over}
	if r := renamed[base+"."+over]; r != "" {
		names = []string{r}
	}
	for _, name := range names {
		if fn := op.Library.Lookup(ns + "." + name); fn != nil && fn != op && len(fn.Facts().Writes) == 0 && len(fn.Sig().Args) == len(args) {
			return fn, args, nil
		}
	}
	return nil, nil, fmt.Errorf("%s mutates its arguments and has no functional form", op.Name())
}

// renamed holds the functional overloads whose name differs from that of the writing form.
var renamed = map[string]string{"bernoulli_.float": "bernoulli.p", "bernoulli_.Tensor": "bernoulli.Tensor", "pow_.Scalar": "pow.Tensor_Scalar", "pow_.Tensor": "pow.Tensor_Tensor",
	"transpose_.default": "transpose.int", "swapdims_.default": "transpose.int", "swapaxes_.default": "transpose.int"}

// write makes v the new value of outer tensor t, and of the storage that t shows a part of.
func (f *Functional) write(t, v *tensor.Tensor) error {
	st := f.outer[t]
	if st == nil {
		return fmt.Errorf("in-place operation on a constant tensor of shape %v inside a compiled function", t.Shape)
	}
	if f.storage[t.Storage].frozen {
		return &aten.Error{Kind: aten.RuntimeError, Msg: "cannot mutate tensors with frozen storage"}
	}
	b := &build.B{D: f.Below}
	err := build.Run(func() {
		if !build.EqualInts(v.Shape, t.Shape) {
			v = b.T("expand.default", v, build.Ints(t.Shape))
		}
		if v.DType != t.DType {
			v = b.To(v, t.DType)
		}
		f.store(f.storage[t.Storage], scatter(b, st.chain, f.storage[t.Storage].value, v))
	})
	if err != nil {
		return err
	}
	_, err = f.Inner(t)
	return err
}

// take has t show what src shows, in src's storage (set_).
func (f *Functional) take(t, src *tensor.Tensor) {
	st := *f.outer[src]
	f.outer[t] = &st
	f.storage[t.Storage].frozen = true
	t.Storage = src.Storage
	t.Shape, t.Stride, t.Offset, t.DType = slices.Clone(src.Shape), slices.Clone(src.Stride), src.Offset, src.DType
	t.Bump()
}

// store makes v the value of a storage.
func (f *Functional) store(ss *storageState, v *tensor.Tensor) {
	ss.gen++
	ss.mutated = true
	ss.graded = ss.graded || f.Mode == nil || f.Mode.Enabled
	ss.value = v
}

// scatter writes part, the new value of a chain's last view, back through all levels into base and returns the new base.
func scatter(b *build.B, chain []viewStep, base, part *tensor.Tensor) *tensor.Tensor {
	if len(chain) == 0 {
		return part
	}
	levels := replay(b, chain[:len(chain)-1], base)
	for i := len(chain) - 1; i >= 0; i-- {
		part = unview(b, chain[i], levels[i], part)
	}
	return part
}

// replay returns the values of a chain of views, from the base to the last.
func replay(b *build.B, chain []viewStep, base *tensor.Tensor) []*tensor.Tensor {
	levels := []*tensor.Tensor{base}
	for _, s := range chain {
		r, err := s.apply(b.D, levels[len(levels)-1])
		b.Check(err)
		levels = append(levels, r)
	}
	return levels
}

// Views implements autograd.Replayer: it makes t, a view of base, of another tensor in base's place.
func (f *Functional) Views(base, t *tensor.Tensor) func(d aten.Dispatcher, in *tensor.Tensor) (*tensor.Tensor, error) {
	from, to := f.outer[base], f.outer[t]
	if from == nil || to == nil || len(from.chain) > len(to.chain) {
		return nil
	}
	for i, s := range from.chain {
		if s.op != to.chain[i].op || s.nr != to.chain[i].nr {
			return nil
		}
	}
	steps := to.chain[len(from.chain):]
	return func(d aten.Dispatcher, in *tensor.Tensor) (*tensor.Tensor, error) {
		for _, s := range steps {
			r, err := s.apply(d, in)
			if err != nil {
				return nil, err
			}
			in = r
		}
		return in, nil
	}
}

// firstErr is the first error that is not nil.
func firstErr(errs ...error) error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

// unview writes part back into whole, through the view step that made part's place.
func unview(b *build.B, s viewStep, whole, part *tensor.Tensor) *tensor.Tensor {
	a := s.args
	name := strings.TrimPrefix(s.op.Name(), "aten.")
	switch name {
	case "view.default", "_unsafe_view.default":
		return b.T("view.default", part, build.Ints(whole.Shape))
	case "_reshape_alias.default":
		return b.T("_reshape_alias.default", part, build.Ints(whole.Shape), build.Ints(whole.Stride))
	case "unsqueeze.default":
		return b.T("squeeze.dim", part, a[1])
	case "squeeze.default", "squeeze.dim", "squeeze.dims":
		return unsqueezeTo(b, part, whole, a[1:])
	case "alias.default":
		return b.T("alias.default", part)
	case "detach.default", "view_as.default", "lift_fresh.default":
		return part
	case "view.dtype":
		return b.T("view.dtype", part, whole.DType)
	case "view_as_real.default":
		return b.T("view_as_complex.default", part)
	case "view_as_complex.default":
		return b.T("view_as_real.default", part)
	case "permute.default":
		dims := build.ToInts(a[1])
		inv := make([]int64, len(dims))
		for i, d := range dims {
			inv[build.Wrap(d, len(dims))] = int64(i)
		}
		return b.T("permute.default", part, build.Ints(inv))
	case "transpose.int":
		return b.T("transpose.int", part, a[1], a[2])
	case "t.default":
		return b.T("t.default", part)
	case "select.int":
		return b.T("select_scatter.default", whole, part, a[1], a[2])
	case "slice.Tensor":
		return b.T("slice_scatter.default", append([]aten.Value{whole, part}, a[1:]...)...)
	case "diagonal.default":
		return b.T("diagonal_scatter.default", append([]aten.Value{whole, part}, a[1:]...)...)
	case "expand.default":
		// What several elements of part came from takes the sum of what changed: one of them, where the program wrote to one.
		return b.T("add.Tensor", whole, b.SumTo(b.T("sub.Tensor", part, whole), whole.Shape))
	case "split.Tensor", "split_with_sizes.default", "unbind.int":
		dim := int64(0)
		if len(a) > 2 {
			dim = a[2].(int64)
		}
		if name == "unbind.int" {
			if len(a) > 1 {
				dim = a[1].(int64)
			}
			return b.T("select_scatter.default", whole, part, dim, int64(s.nr))
		}
		d := build.Wrap(dim, len(whole.Shape))
		sizes := build.ToInts(a[1])
		at := int64(0)
		for i := 0; i < s.nr; i++ {
			if len(sizes) == 1 && name == "split.Tensor" {
				at += sizes[0]
			} else {
				at += sizes[i]
			}
		}
		return b.T("slice_scatter.default", whole, part, int64(d), at, at+part.Shape[d], int64(1))
	}
	shape, stride, off := part.Shape, []int64(nil), int64(0)
	v, err := s.apply(aten.Fake, whole)
	b.Check(err)
	stride, off = v.Stride, v.Offset
	return b.T("as_strided_scatter.default", whole, part, build.Ints(shape), build.Ints(stride), off)
}

// unsqueezeTo gives part the dimensions of size one of whole that a squeeze took: all, or those given.
func unsqueezeTo(b *build.B, part, whole *tensor.Tensor, dims []aten.Value) *tensor.Tensor {
	gone := func(int) bool { return true }
	if len(dims) > 0 {
		var given []int64
		if d, ok := dims[0].(int64); ok {
			given = []int64{d}
		} else {
			given = build.ToInts(dims[0])
		}
		gone = func(d int) bool {
			return slices.ContainsFunc(given, func(g int64) bool { return build.Wrap(g, len(whole.Shape)) == d })
		}
	}
	for d, n := range whole.Shape {
		if n == 1 && gone(d) {
			part = b.T("unsqueeze.default", part, int64(d))
		}
	}
	return part
}

// mutations holds the writing operators whose functional form is not found by name.
var mutations map[string]func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error)

func init() {
	bn := func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error) {
		// What trains writes its running statistics, though its schema does not say so.
		named := map[string]aten.Value{}
		for i, a := range op.Sig().Args {
			named[a.Name] = args[i]
		}
		rm, _ := named["running_mean"].(*tensor.Tensor)
		rv, _ := named["running_var"].(*tensor.Tensor)
		training := op.Facts().Trains(func(i int) (aten.Value, bool) { return args[i], true })
		if training && rm != nil && rv != nil {
			fn := aten.Lookup("aten._native_batch_norm_legit_functional.default")
			if fn == nil {
				return nil, fmt.Errorf("aten._native_batch_norm_legit_functional is not registered")
			}
			inner, err := f.unwrapAll([]aten.Value{named["input"], named["weight"], named["bias"], rm, rv, true, named["momentum"], named["eps"]})
			if err != nil {
				return nil, err
			}
			out, err := f.Below.Dispatch(fn, inner)
			if err != nil {
				return nil, err
			}
			ts := build.Tensors(out)
			if err := firstErr(f.write(rm, ts[3]), f.write(rv, ts[4])); err != nil {
				return nil, err
			}
			return []aten.Value{f.Wrap(ts[0]), f.Wrap(ts[1]), f.Wrap(ts[2])}, nil
		}
		fn := op
		fargs := args
		if !training && rm != nil {
			if l := aten.Lookup("aten._native_batch_norm_legit_no_training.default"); l != nil {
				fn, fargs = l, []aten.Value{named["input"], named["weight"], named["bias"], rm, rv, named["momentum"], named["eps"]}
			}
		} else if rm == nil {
			if l := aten.Lookup("aten._native_batch_norm_legit.no_stats"); l != nil {
				fn, fargs = l, []aten.Value{named["input"], named["weight"], named["bias"], training, named["momentum"], named["eps"]}
			}
		}
		inner, err := f.unwrapAll(fargs)
		if err != nil {
			return nil, err
		}
		out, err := f.Below.Dispatch(fn, inner)
		if err != nil {
			return nil, err
		}
		return f.wrapResults(fn, fargs, out)
	}
	mutations = map[string]func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error){
		"aten.native_batch_norm.default":        bn,
		"aten._native_batch_norm_legit.default": bn,
		"aten.detach_.default": func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error) {
			return args[0], nil
		},
		"aten.set_.source_Tensor": func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error) {
			t, src := args[0].(*tensor.Tensor), args[1].(*tensor.Tensor)
			if f.outer[t] == nil || f.outer[src] == nil {
				return nil, fmt.Errorf("%s on a constant tensor inside a compiled function", op.Name())
			}
			f.take(t, src)
			return t, nil
		},
		"aten.normal_.default": func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error) {
			t := args[0].(*tensor.Tensor)
			in, err := f.Inner(t)
			if err != nil {
				return nil, err
			}
			b := &build.B{D: f.Below}
			var v *tensor.Tensor
			if err = build.Run(func() { v = b.T("normal_functional.default", in, args[1], args[2]) }); err != nil {
				return nil, err
			}
			return t, f.write(t, v)
		},
	}
}
