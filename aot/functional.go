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

// Functional is the dispatcher layer that removes mutation and tracks aliasing.
//
// The program holds outer tensors (fakes that share fake storages as the real ones
// would). Each outer tensor stands for an immutable inner value of the layer below. Writing to an
// outer tensor gives its storage's base a new inner value; other views are replayed from
// the base when they are next read. Mirrors FunctionalTensorWrapper.
type Functional struct {
	Below aten.Dispatcher
	// Composite replaces operators before anything else sees them, by name; nil => none.
	Composite map[string]Decomposition

	outer   map[*tensor.Tensor]*outerState
	storage map[*tensor.Storage]*storageState
}

type storageState struct {
	base    *tensor.Tensor // the outer tensor that owns the storage
	gen     int            // counts writes
	mutated bool
	graded  bool // some write happened while gradients were recorded
}

type outerState struct {
	inner *tensor.Tensor
	gen   int
	chain []viewStep // from the base to this tensor
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

// Wrap makes an outer tensor for an inner value.
func (f *Functional) Wrap(inner *tensor.Tensor) *tensor.Tensor {
	o := tensor.FakeLike(inner)
	f.adopt(o, inner)
	return o
}

// adopt makes o the outer tensor of inner, with a storage of its own.
func (f *Functional) adopt(o, inner *tensor.Tensor) {
	f.outer[o] = &outerState{inner: inner}
	f.storage[o.Storage] = &storageState{base: o}
}

// Inner is the current inner value of an outer tensor; a tensor the layer has not met is its own.
func (f *Functional) Inner(t *tensor.Tensor) (*tensor.Tensor, error) {
	st := f.outer[t]
	if st == nil {
		return t, nil
	}
	ss := f.storage[t.Storage]
	if st.gen == ss.gen || len(st.chain) == 0 {
		return st.inner, nil
	}
	v := f.outer[ss.base].inner
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

// NeedsGrad reports whether gradients are asked for of an outer tensor: by the program, or because a trace for training
// computes them.
func (f *Functional) NeedsGrad(t *tensor.Tensor) bool {
	if autograd.RequiresGrad(t) {
		return true
	}
	st := f.outer[t]
	return st != nil && autograd.RequiresGrad(st.inner)
}

// Dispatch runs one operator of the program.
func (f *Functional) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if d, ok := f.Composite[op.Name()]; ok {
		if _, err := refused(op, args); err != nil {
			return nil, err
		}
		var out aten.Value
		if err := build.Run(func() { out = d(&build.B{D: f}, args) }); err != nil {
			return nil, fmt.Errorf("decomposing %s: %w", op.Name(), err)
		}
		if _, declined := out.(Declined); !declined {
			return out, nil
		}
	}
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
	inner, err := f.unwrapAll(args)
	if err != nil {
		return nil, err
	}
	out, err := f.Below.Dispatch(op, inner)
	if err != nil {
		return nil, err
	}
	return f.wrapResults(op, args, out)
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
	f.outer[o] = &outerState{inner: inner, gen: f.storage[src.Storage].gen, chain: chain}
	return o
}

// mutate runs the functional counterpart of a writing operator and stores its results.
func (f *Functional) mutate(op *aten.Op, args []aten.Value, writes []int) (aten.Value, error) {
	fn, fargs, err := functionalCounterpart(op, args)
	if err != nil {
		return nil, err
	}
	inner, err := f.unwrapAll(fargs)
	if err != nil {
		return nil, err
	}
	if fn.Tags&aten.View == 0 {
		f.overwrite(args, writes)
	}
	var out aten.Value
	if fn.Tags&aten.Composite != 0 && fn.Decomp != nil {
		out, err = aten.Decompose(f.Below, fn, inner)
	} else if rec, ok := f.Below.(inplaceRecorder); ok && op.Tags&aten.Inplace != 0 {
		out, err = rec.DispatchInplace(fn, inner)
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

// overwrite notes that the values of what an operator writes are about to be gone: a backward that needs them is an error, as it is
// where the write really happens.
func (f *Functional) overwrite(args []aten.Value, writes []int) {
	for _, w := range writes {
		for _, t := range build.Tensors(args[w]) {
			if t != nil && f.outer[t] != nil {
				f.outer[f.storage[t.Storage].base].inner.Bump()
			}
		}
	}
}

// inplaceRecorder is a layer that wants to know that an operator stands for one that overwrites its first argument.
type inplaceRecorder interface {
	DispatchInplace(op *aten.Op, args []aten.Value) (aten.Value, error)
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

// write makes v the new value of outer tensor t, and of the base that t views.
func (f *Functional) write(t, v *tensor.Tensor) error {
	node := autograd.GradFn(v)
	st := f.outer[t]
	if st == nil {
		return fmt.Errorf("in-place operation on a constant tensor of shape %v inside a compiled function", t.Shape)
	}
	b := &build.B{D: f.Below}
	return firstErr(build.Run(func() {
		if !build.EqualInts(v.Shape, t.Shape) {
			v = b.T("expand.default", v, build.Ints(t.Shape))
		}
		if v.DType != t.DType {
			v = b.To(v, t.DType)
		}
		ss := f.storage[t.Storage]
		old := f.outer[ss.base].inner
		if slices.ContainsFunc(st.chain, detaches) {
			f.writeDetached(st, ss, v)
			return
		}
		if eng, ok := f.Below.(*autograd.Engine); ok && len(st.chain) > 0 && node != nil && node == autograd.GradFn(v) {
			// The graph computes the new base; its history is one node that routes the gradient of the written part.
			chain := st.chain
			views := func(b *build.B, whole *tensor.Tensor) []*tensor.Tensor { return replay(b, chain, whole) }
			back := func(b *build.B, levels []*tensor.Tensor, part *tensor.Tensor) *tensor.Tensor {
				return scatter(b, chain, levels, part)
			}
			below := &build.B{D: eng.Below}
			v = back(below, views(below, old), v)
			eng.CopySlices(old, v, node, views, back)
			f.store(ss, v)
			return
		}
		f.store(ss, scatter(b, st.chain, replay(b, st.chain, old), v))
	}), nil)
}

// detaches reports whether gradients do not flow through a view.
func detaches(s viewStep) bool { return s.op.Name() == "aten.detach.default" }

// writeDetached is write for a tensor that shares memory with a base by way of detach(): the base gets the new value, and keeps its
// history; that of the value stays with the tensor that is written.
func (f *Functional) writeDetached(st *outerState, ss *storageState, v *tensor.Tensor) {
	old := f.outer[ss.base].inner
	b := &build.B{D: f.Below}
	eng, recording := f.Below.(*autograd.Engine)
	if recording {
		b.D = eng.Below
	}
	whole := v
	if autograd.RequiresGrad(v) || autograd.RequiresGrad(old) { // two histories need two tensors
		whole = b.T("detach.default", v)
	}
	whole = scatter(b, st.chain, replay(b, st.chain, old), whole)
	ss.gen++
	ss.mutated = true
	if recording {
		eng.KeepHistory(old, whole)
	}
	f.outer[ss.base].inner, f.outer[ss.base].gen = whole, ss.gen
	st.inner, st.gen = v, ss.gen
}

// store makes v the value of a storage's base.
func (f *Functional) store(ss *storageState, v *tensor.Tensor) {
	ss.gen++
	ss.mutated = true
	if eng, ok := f.Below.(*autograd.Engine); ok && eng.Mode != nil && !eng.Mode.Enabled {
		eng.KeepHistory(f.outer[ss.base].inner, v)
	} else {
		ss.graded = true
	}
	f.outer[ss.base].inner = v
	f.outer[ss.base].gen = ss.gen
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

// scatter writes part, the new value of a chain's last view, back through all levels and returns the new base.
func scatter(b *build.B, chain []viewStep, levels []*tensor.Tensor, part *tensor.Tensor) *tensor.Tensor {
	for i := len(chain) - 1; i >= 0; i-- {
		part = unview(b, chain[i], levels[i], part)
	}
	return part
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
	case "view.default", "_unsafe_view.default", "unsqueeze.default", "squeeze.default", "squeeze.dim", "squeeze.dims", "_reshape_alias.default":
		return b.T("view.default", part, build.Ints(whole.Shape))
	case "alias.default", "detach.default", "view_as.default":
		return part
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
		// Every element of part came from one of whole; writing through an expanded view is an error upstream of here.
		return b.SumTo(part, whole.Shape)
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
		"aten.normal_.default": func(f *Functional, op *aten.Op, args []aten.Value) (aten.Value, error) {
			t := args[0].(*tensor.Tensor)
			in, err := f.Inner(t)
			if err != nil {
				return nil, err
			}
			b := &build.B{D: f.Below}
			var v *tensor.Tensor
			err = build.Run(func() {
				v = b.T("randn_like.default", in)
				if !build.Is(args[2], 1) {
					v = b.Mul(v, args[2])
				}
				if !build.Is(args[1], 0) {
					v = b.Add(v, args[1])
				}
			})
			if err != nil {
				return nil, err
			}
			return t, f.write(t, v)
		},
	}
}
