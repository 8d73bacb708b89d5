package lowering_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"whittle/aot"
	"whittle/aot/autograd"
	"whittle/aot/decomp"
	"whittle/capture/fx"
	"whittle/capture/fx/choice"
	"whittle/kernels/aten"
	"whittle/kernels/aten/atentest"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
)

var (
	calls = flag.Int("calls", 600, "random calls in all")
	seed  = flag.Uint64("seed", 1, "of random calls")
	only  = flag.String("op", "", "random calls of the operators whose name contains this alone")
)

// batch is how many calls are compiled as one graph: a C++ compilation takes much longer than a call.
const batch = 100

// randomCall is one call that eager takes, what eager makes of it, and what it leaves in its arguments.
type randomCall struct {
	op   *aten.Op
	args []aten.Value
	want aten.Value
	left []aten.Value
}

func (c randomCall) String() string { return c.op.Name() + atentest.Describe(c.args) }

// tensors are those of the call's arguments, in order.
func (c randomCall) tensors() []*tensor.Tensor {
	var out []*tensor.Tensor
	atentest.Tensors(c.args, func(t *tensor.Tensor) aten.Value { out = append(out, t); return t })
	return out
}

// TestRandomCallsCompiled runs random calls of every operator through decomposition, functionalisation, lowering and generated code, and compares
// with eager: values, dtypes, shapes and strides, and what was written to the arguments.
func TestRandomCallsCompiled(t *testing.T) {
	if _, err := native.FindCompiler(); err != nil {
		t.Skip(err)
	}
	n := *calls
	if testing.Short() {
		n = min(n, 200)
	}
	randomCalls(t, n, nil, lowering.Cpp)
}

// TestRandomCallsInTiles does the same without a compiler.
func TestRandomCallsInTiles(t *testing.T) { randomCalls(t, 2**calls, nil, lowering.Tiles) }

// TestRandomCallsWithChoices compiles random calls without some of what compiling can do without: the results are the same.
func TestRandomCallsWithChoices(t *testing.T) {
	if _, err := native.FindCompiler(); err != nil {
		t.Skip(err)
	}
	kinds := []string{"decomposition", "lowerings", "inlining", "fusion", "threads"}
	for i, without := range append(slices.Clone(kinds), strings.Join(kinds, " ")) {
		t.Run("without "+without, func(t *testing.T) {
			left := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return i == len(kinds) || k == without })
			seen := map[string]bool{}
			randomCalls(t, min(*calls/4, 150), func() *choice.Matcher {
				return &choice.Matcher{Kinds: left, Seen: func(c choice.Choice) { seen[c.Kind] = true }}
			}, lowering.Cpp)
			for _, k := range left {
				if !seen[k] && without != "lowerings" { // without which there is nothing to fuse
					t.Errorf("nothing asked about %s", k)
				}
			}
		})
	}
	t.Run("every second", func(t *testing.T) {
		var before *[]string // ids of the compilation before, half of which are taken
		randomCalls(t, min(*calls/4, 150), func() *choice.Matcher {
			m, ids := &choice.Matcher{}, []string{}
			if before != nil {
				m.Only = *before
			}
			m.Seen = func(c choice.Choice) {
				if c.ID[len(c.ID)-1]%2 == 0 {
					ids = append(ids, c.ID)
				}
			}
			before = &ids
			return m
		}, lowering.Cpp)
	})
}

func randomCalls(t *testing.T, n int, choices func() *choice.Matcher, tier lowering.Tier) {
	ops := slices.DeleteFunc(atentest.Operators(), func(op *aten.Op) bool { return !strings.Contains(op.Name(), *only) || op.Sig().Name == "_foobar" }) // _foobar exists to fail
	f := &fuzzer{t: t, cache: t.TempDir(), tier: tier, choices: choices, wrong: map[string]string{}}
	g := atentest.New(*seed, 7)
	for i := range n {
		op := ops[(i*1009)%len(ops)] // a prime stride: neighbours differ
		c := randomCall{op: op, args: g.Args(op.Sig())}
		c.left = atentest.Clone(c.args)
		var err error
		if c.want, err = aten.Eager.Dispatch(op, c.left); err != nil {
			f.refused(c)
			continue
		}
		f.add(c)
	}
	f.flush()
	t.Logf("%d calls, %d of them right, %d compiled, in %d graphs", n, f.right, f.compiled, f.graphs)
	for _, k := range slices.Sorted(maps.Keys(f.wrong)) {
		t.Errorf("%s: %s", k, f.wrong[k])
	}
}

type fuzzer struct {
	t       *testing.T
	cache   string
	tier    lowering.Tier
	choices func() *choice.Matcher // of each compilation; nil => all are taken
	pending []randomCall
	wrong   map[string]string // the first complaint, by operator

	right, compiled, graphs int
}

func (f *fuzzer) complain(c randomCall, what string) {
	if f.wrong[c.op.Name()] == "" {
		f.wrong[c.op.Name()] = what + " of " + c.String()
	}
}

// refused traces a call that eager refuses: that must fail clearly, or compile. It is not run, as only data may be at fault.
func (f *fuzzer) refused(c randomCall) {
	if _, err := f.compile([]randomCall{c}, false); err != nil {
		if s := inside(err); s != "" {
			f.complain(c, s)
		}
	}
}

func (f *fuzzer) add(c randomCall) {
	f.right++
	// What cannot be traced needs data; the rest of a batch should not suffer.
	if _, err := f.compile([]randomCall{c}, false); err != nil {
		if s := inside(err); s != "" {
			f.complain(c, s)
		} else if !isDataDependent(err) && !strings.Contains(err.Error(), "has no functional form") {
			f.complain(c, "not compiled: "+err.Error())
		}
		return
	}
	if f.pending = append(f.pending, c); len(f.pending) == batch {
		f.flush()
	}
}

func (f *fuzzer) flush() {
	f.check(f.pending)
	f.pending = nil
}

// check compares a batch; one that fails as a whole is cut in halves until the call at fault stands alone.
func (f *fuzzer) check(cs []randomCall) {
	if len(cs) == 0 {
		return
	}
	f.graphs++
	got, left, err := f.run(cs)
	if err != nil {
		if len(cs) == 1 {
			if differs[cs[0].op.Name()] != "" {
				return
			}
			f.complain(cs[0], "compiled: "+err.Error())
			return
		}
		f.check(cs[:len(cs)/2])
		f.check(cs[len(cs)/2:])
		return
	}
	for i, c := range cs {
		f.compiled++
		if why := differs[c.op.Name()]; why != "" {
			continue
		}
		if s := c.differ(got[i], c.want); s != "" {
			f.complain(c, s)
		}
		if s := c.differ(left[i], c.left); s != "" {
			f.complain(c, "arguments afterwards: "+s)
		}
	}
}

// run compiles calls as one graph and runs it on copies of the arguments.
func (f *fuzzer) run(cs []randomCall) (got []aten.Value, left []aten.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	p, err := f.compile(cs, true)
	if err != nil {
		return nil, nil, err
	}
	var ins []aten.Value
	for _, c := range cs {
		args := atentest.Clone(c.args)
		left = append(left, args)
		for _, t := range (randomCall{args: args}).tensors() {
			ins = append(ins, t)
		}
	}
	out, err := p.program.Run(ins)
	if err != nil {
		return nil, nil, err
	}
	at := 0
	var build func(v aten.Value) aten.Value
	build = func(v aten.Value) aten.Value {
		if l, ok := v.([]aten.Value); ok {
			r := make([]aten.Value, len(l))
			for i := range l {
				r[i] = build(l[i])
			}
			return r
		}
		at++
		return out[at-1]
	}
	for _, s := range p.shapes {
		got = append(got, build(s))
	}
	return got, left, nil
}

// program is a compiled batch, and per call how its results are nested.
type program struct {
	program *aot.Compiled
	shapes  []aten.Value
}

// compile traces calls as one function; with code false, all but the generation of code.
func (f *fuzzer) compile(cs []randomCall, code bool) (p program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	var ins []aot.Input
	for _, c := range cs {
		for _, t := range c.tensors() {
			ins = append(ins, aot.Input{Value: t})
		}
	}
	fn := func(d aten.Dispatcher, inputs []aten.Value) ([]aten.Value, error) {
		p.shapes = nil
		var out []aten.Value
		var flat func(v aten.Value)
		flat = func(v aten.Value) {
			if l, ok := v.([]aten.Value); ok {
				for _, x := range l {
					flat(x)
				}
				return
			}
			out = append(out, v)
		}
		at := 0
		for _, c := range cs {
			args := atentest.Tensors(c.args, func(*tensor.Tensor) aten.Value { at++; return inputs[at-1] }).([]aten.Value)
			v, err := d.Dispatch(c.op, args)
			if err != nil {
				return nil, err
			}
			p.shapes = append(p.shapes, v)
			flat(v)
		}
		return out, nil
	}
	var choices *choice.Matcher
	if f.choices != nil {
		choices = f.choices()
	}
	mode := &autograd.GradMode{}
	opt := aot.Options{Choices: choices, Decompositions: decomp.Inductor, Composite: decomp.Composite, JointPasses: true, Grad: mode, Eager: &autograd.Engine{Below: aten.Eager, Mode: mode},
		Compiler: func(gm *fx.GraphModule, kind string) (aot.Callable, error) {
			if !code {
				return nil, nil
			}
			c, err := lowering.Compile(context.Background(), gm, lowering.Config{CacheDir: f.cache, Tier: f.tier, Threads: 1, Choices: choices})
			if err != nil {
				return nil, err
			}
			return c.Run, nil
		}}
	p.program, err = aot.Compile(fn, ins, opt)
	return p, err
}

func inside(err error) string {
	if s := err.Error(); strings.Contains(s, "internal error") || strings.HasPrefix(s, "panic:") {
		return s
	}
	return ""
}

// differs holds operators whose decomposition computes something else than the kernel, in PyTorch, too, and why.
var differs = map[string]string{
	"aten.native_dropout_backward.default": "a mask of numbers takes the gradient's dtype first",
	"aten.native_dropout_backward.out":     "a mask of numbers takes the gradient's dtype first",
	"aten.logit_.default":                  "with eps above a half the bounds cross",
	"aten.logit.out":                       "with eps above a half the bounds cross",
	"aten.special_logit.out":               "with eps above a half the bounds cross",
	"aten.upsample_nearest1d.default":      beyond, "aten.upsample_nearest2d.default": beyond, "aten.upsample_nearest3d.default": beyond,
	"aten._upsample_nearest_exact1d.default": beyond, "aten._upsample_nearest_exact2d.default": beyond, "aten._upsample_nearest_exact3d.default": beyond,
	"aten.logit.default":         "with eps above a half the bounds cross",
	"aten.special_logit.default": "with eps above a half the bounds cross",
}

const beyond = "a scale that does not fit the sizes names elements beyond the end, which the kernel alone holds back"

// tolerance is the share of the largest magnitude by which compiled results may be off, for results and for what they are computed from.
var tolerance = map[tensor.DType]float64{tensor.Float64: 1e-9, tensor.Float32: 2e-5, tensor.Float16: 1e-2, tensor.BFloat16: 3e-2}

// differ says how got is not want, "" if it is.
func (c randomCall) differ(got, want aten.Value) string {
	switch w := want.(type) {
	case []aten.Value:
		g, ok := got.([]aten.Value)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%v results, want %d", got, len(w))
		}
		for i := range w {
			if s := c.differ(g[i], w[i]); s != "" {
				return fmt.Sprintf("result %d: %s", i, s)
			}
		}
	case *tensor.Tensor:
		if w == nil {
			return ""
		}
		g, ok := got.(*tensor.Tensor)
		if !ok || g == nil {
			return fmt.Sprintf("%T, want a tensor", got)
		}
		return c.differTensors(g, w)
	}
	return ""
}

func (c randomCall) differTensors(g, w *tensor.Tensor) string {
	if g.DType != w.DType || !tensor.SameShape(g, w) {
		return fmt.Sprintf("%s, want %s", atentest.Describe(g), atentest.Describe(w))
	}
	// Where arguments have strides of several kinds, what a decomposition makes of them is its own.
	limit, dense := tolerance[w.DType], true
	for _, t := range c.tensors() {
		limit, dense = max(limit, tolerance[t.DType]), dense && t.IsContiguous(tensor.ContiguousFormat) && tensor.SameShape(t, c.tensors()[0])
		if !t.DType.IsFloat() {
			limit = max(limit, tolerance[tensor.Float32]) // becomes float
		}
	}
	for i, s := range w.Shape {
		if dense && s > 1 && w.Numel() > 0 && g.Stride[i] != w.Stride[i] {
			return fmt.Sprintf("strides %s, want %s", atentest.Describe(g), atentest.Describe(w))
		}
	}
	if w.DType.Kind() == tensor.KindComplex {
		var err error
		if g, err = realView(g); err == nil {
			w, err = realView(w)
		}
		if err != nil {
			return err.Error()
		}
	}
	a, b := g.Floats(), w.Floats()
	scale := 1.0
	for _, x := range b {
		if !math.IsInf(x, 0) && x == x {
			scale = max(scale, math.Abs(x))
		}
	}
	if !w.DType.IsFloat() && w.DType.Kind() != tensor.KindComplex {
		limit = 0
	}
	for i := range a {
		x, y := a[i], b[i]
		if x == y || x != x && y != y {
			continue
		}
		if d := math.Abs(x - y); !(d <= limit*scale) {
			return fmt.Sprintf("element %d is %g, want %g", i, x, y)
		}
	}
	return ""
}

// realView is a complex tensor with real and imaginary parts along a last dimension of two.
func realView(t *tensor.Tensor) (*tensor.Tensor, error) {
	v, err := aten.Run(aten.Eager, "aten.view_as_real.default", t)
	if err != nil {
		return nil, err
	}
	return v.(*tensor.Tensor), nil
}

func isDataDependent(err error) bool {
	var e *aten.Error
	return errors.As(err, &e) && e.Kind == aten.DataDependentError
}
