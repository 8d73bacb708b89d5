package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"whittle/accuracy"
	"whittle/capture"
	"whittle/capture/fx"
	"whittle/capture/fx/choice"
	"whittle/capture/fx/interp"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/worker"
)

// Runner answers the minifier's queries in a worker process.
func Runner(cacheDir string) worker.Runner {
	return func(ctx context.Context, q worker.Query, mark func(stage string)) replay.Outcome {
		start := time.Now()
		o := runQuery(ctx, q, cacheDir, choices(q), mark)
		o.Duration = time.Since(start)
		return o
	}
}

// choices are those of a query, as the compiler asks about them; nil where the query does not say.
func choices(q worker.Query) *choice.Matcher {
	if q.Choose == nil {
		return nil
	}
	return &choice.Matcher{Kinds: q.Choose.Kinds, Only: q.Choose.Only, Seen: func(x choice.Choice) {
		q.Chosen(replay.Choice{ID: x.ID, Kind: x.Kind, Text: x.Text, Where: x.Where})
	}}
}

func runQuery(ctx context.Context, q worker.Query, cacheDir string, choices *choice.Matcher, mark func(string)) replay.Outcome {
	r, err := repros.Read("repro.py", q.Text)
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	if r.Stage == repros.AfterDynamo {
		return runDynamo(ctx, q, r, cacheDir, choices, mark)
	}
	return runAOT(ctx, q, r, cacheDir, choices, mark)
}

// runAOT runs an aten graph eagerly and through the lowering, without any Python.
func runAOT(ctx context.Context, q worker.Query, r *repros.Repro, cacheDir string, choices *choice.Matcher, mark func(string)) replay.Outcome {
	inputs, err := r.Tensors(r.Loader(q.Dir))
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	mark(engine.Loaded)
	aten.DefaultGenerator.ManualSeed(0) // an answer must not depend on the queries before
	ref, err := Interpret(ctx, r.Module, cloneAll(inputs))
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: "eager: " + err.Error()}
	}
	mark(engine.Eager)
	if err := interp.Propagate(ctx, r.Module, inputs); err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	cfg := lowering.Config{CacheDir: cacheDir, Choices: choices}
	cfg.InjectRelu = setting(r, "cpp.inject_relu_bug_TESTING_ONLY")
	cfg.InjectLog1p = setting(r, "cpp.inject_log1p_bug_TESTING_ONLY")
	c, err := lowering.Compile(ctx, r.Module, cfg)
	if err != nil {
		return CompileOutcome(err)
	}
	mark(engine.Compiled)
	aten.DefaultGenerator.ManualSeed(0)
	res, err := c.Run(cloneAll(inputs))
	var panicked *aten.Panic
	if errors.As(err, &panicked) {
		return panicOutcome("run", panicked)
	}
	if err != nil {
		return replay.Outcome{Status: replay.Failed, Message: err.Error(), Signature: replay.NewSignature("run", "RuntimeError", err.Error(), nil, nil)}
	}
	mark(engine.Ran)
	if !asksAccuracy(r) {
		return replay.Outcome{Status: replay.Pass}
	}
	opt, err := AccuracyOptions(r)
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	eager := func(gm *fx.GraphModule, in []any) (any, error) { return anyOf(Interpret(ctx, gm, in)) }
	return accuracyQuestion{
		Ref: ref, Res: res,
		Eager:    func() (any, error) { return eager(r.Module, cloneAll(inputs)) },
		Compiled: func() (any, error) { return anyOf(c.Run(cloneAll(inputs))) },
		Noise: func() (any, error) {
			return noise(any(ref), r.Module, inputs, func(gm *fx.GraphModule, in []any, rounding *accuracy.Rounding) (any, error) {
				out, err := fx.Run(ctx, gm, in, interp.Aten(ctx, rounding))
				return list(out), err
			})
		},
		Exact: exactly(r.Module, inputs, eager), SameStream: setting(r, "fallback_random") == "True", Options: opt,
	}.answer(ctx)
}

func asksAccuracy(r *repros.Repro) bool { return r.Accuracy != "" && r.Accuracy != repros.NoAccuracy }

func anyOf(v []any, err error) (any, error) { return v, err }

// sameAsEager applies PyTorch's rule, with a reference in float64.
func sameAsEager(ctx context.Context, module *fx.GraphModule, inputs []any, ref, res any) replay.Outcome {
	var fp64 any
	if gm, in := accuracy.Double(module, cloneAll(inputs)); gm != nil {
		if v, err := Interpret(ctx, gm, in); err == nil {
			fp64 = v
		}
	}
	rep := accuracy.Compare(any(ref), res, fp64, accuracy.Default())
	if rep.Same {
		return replay.Outcome{Status: replay.Pass}
	}
	return replay.Outcome{Status: replay.Failed, Message: rep.Message, Signature: accuracyError}
}

func setting(r *repros.Repro, name string) string {
	v, _ := r.Lookup(name)
	if v == "None" {
		return ""
	}
	return strings.Trim(v, `'"`)
}

// cloneAll copies inputs. Those that share memory still do.
func cloneAll(in []any) []any { return accuracy.Clone(in).([]any) }

// CompileOutcome is the outcome of a failed compilation.
func CompileOutcome(err error) replay.Outcome {
	var p *aten.Panic
	if errors.As(err, &p) {
		return panicOutcome("compile", p)
	}
	typ := "RuntimeError"
	var le *lowering.LoweringError
	var ce *lowering.CompileError
	msg := err.Error()
	switch {
	case errors.As(err, &le):
		typ = "LoweringException"
		msg = le.Type + ": " + le.Msg + " target: " + le.Target
	case errors.As(err, &ce):
		typ = "CppCompileError"
		msg = replay.CppError(ce.Output)
	case errors.Is(err, native.ErrNoCompiler):
		typ = "InvalidCxxCompiler"
	default:
		var sys syscall.Errno // files could not be written, or the compiler not be started
		if errors.As(err, &sys) {
			typ = "OSError"
		}
	}
	return replay.Outcome{Status: replay.Failed, Message: err.Error(), Signature: replay.NewSignature("compile", typ, msg, nil, nil)}
}

// accuracyError is the signature of wrong results.
var accuracyError = replay.Signature{Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected"}

// Signature is how a failure is known: by what a query that fails in the same way says.
func (s *Session) Signature(f *Failure) replay.Signature {
	var raised *vm.Raised
	switch {
	case f.Accuracy:
		return accuracyError
	case errors.As(f.Err, &raised):
		if f.Running {
			return s.pythonOutcome("run", f.Err).Signature
		}
		return s.pythonOutcome("compile", f.Err).Signature
	}
	return CompileOutcome(f.Err).Signature
}

// runDynamo runs an after-dynamo repro: its preamble defines the backend, the graph runs on Python values.
func runDynamo(ctx context.Context, q worker.Query, r *repros.Repro, cacheDir string, choices *choice.Matcher, mark func(string)) replay.Outcome {
	s := New(ctx, cacheDir)
	defer s.In.Abandon()
	s.Choices = choices
	s.In.Stdout, s.In.Stderr = io.Discard, io.Discard
	defer s.In.WithContext(ctx)()
	fail := func(err error) replay.Outcome { return replay.Outcome{Status: replay.Invalid, Message: err.Error()} }
	// Everything of the file but its main part: imports, settings, the backend.
	pre, _, _ := strings.Cut(q.Text, "if __name__ == '__main__':")
	if err := s.In.RunText("repro.py", pre); err != nil {
		return fail(err)
	}
	inputs, err := r.Tensors(r.Loader(q.Dir))
	if err != nil {
		return fail(err)
	}
	mark(engine.Loaded)
	d := newDynamoRun(s, r)
	if d.backend, err = s.lookup(r.Backend); err != nil {
		return fail(s.plain(err))
	}
	// As run_repro does: forward, and backward where something asks for gradients.
	both, err := s.attribute("torch._dynamo.debug_utils", "run_fwd_maybe_bwd")
	if err != nil {
		return fail(err)
	}
	run := func(f vm.Object) error {
		args, err := d.args(cloneAll(inputs), true)
		if err == nil {
			_, err = s.In.Call(both, []vm.Object{f, vm.NewList(args...)}, []vm.KwArg{{Name: "disable_clone", Value: vm.True}})
		}
		return err
	}
	gm, err := d.module(r.Module)
	if err != nil {
		return fail(err)
	}
	aten.DefaultGenerator.ManualSeed(0)
	if err := run(gm); err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: "eager: " + s.plain(err).Error()}
	}
	mark(engine.Eager)
	s.Failure = nil
	var refused error // by the backend
	compiled := false
	s.Dynamo.Observe.Failed = func(_ capture.Backend, _ *fx.GraphModule, _ []*tensor.Tensor, err error) { refused = err }
	s.Dynamo.Observe.Check = func(_ vm.Object, _ []vm.Object, _ vm.Object) error {
		if !compiled {
			mark(engine.Compiled)
		}
		compiled = true
		return nil
	}
	fn, err := d.optimized()
	if err != nil {
		return fail(s.plain(err))
	}
	aten.DefaultGenerator.ManualSeed(0)
	err = run(fn)
	switch {
	case err == nil:
	case s.Failure != nil: // in a backward graph that is compiled when it is first run, too
		return CompileOutcome(s.Failure.Err)
	case refused != nil:
		return s.pythonOutcome("compile", refused)
	default:
		return s.pythonOutcome("run", err)
	}
	if !compiled { // a graph without calls is not compiled
		mark(engine.Compiled)
	}
	mark(engine.Ran)
	if asksAccuracy(r) {
		return d.accuracy(ctx, inputs)
	}
	return replay.Outcome{Status: replay.Pass}
}

// exampleValues gives placeholders the metadata that backends may look at.
func (s *Session) exampleValues(gm *fx.GraphModule, args []vm.Object) {
	for i, n := range gm.Graph.Placeholders() {
		if v, ok := s.Torch.Value(args[i]); ok {
			if t, ok := v.(*tensor.Tensor); ok {
				n.Val = tensor.FakeLike(t)
			}
		}
	}
}

func (s *Session) lookup(name string) (vm.Object, error) {
	f, err := s.attribute("torch._dynamo.backends.registry", "lookup_backend")
	if err != nil {
		return nil, err
	}
	return s.In.Call(f, []vm.Object{vm.Str(name)}, nil)
}

func (s *Session) attribute(module, name string) (vm.Object, error) {
	m, err := s.In.Import(module)
	if err != nil {
		return nil, err
	}
	return s.In.GetAttr(m, name)
}

// pythonOutcome is the outcome of a Python exception.
func (s *Session) pythonOutcome(stage string, err error) replay.Outcome {
	typ, msg := "RuntimeError", err.Error()
	var r *vm.Raised
	var p *aten.Panic
	switch {
	case errors.As(err, &p):
		return panicOutcome(stage, p)
	case errors.As(err, &r):
		typ = r.Exc.Class.Name
		if text, serr := s.In.Str(r.Exc); serr == nil {
			msg = text
		}
	}
	return replay.Outcome{Status: replay.Failed, Message: fmt.Sprintf("%s: %s", typ, msg), Signature: replay.NewSignature(stage, typ, msg, nil, nil)}
}

// panicOutcome is the outcome of a kernel that panicked: a failure of the stack, and no exception of the graph's.
func panicOutcome(stage string, p *aten.Panic) replay.Outcome {
	return replay.Outcome{Status: replay.Failed, Message: p.Error(), Detail: p.Stack, Signature: replay.NewSignature(stage, "panic", fmt.Sprintf("%s: %v", p.Op, p.Value), nil, nil)}
}

// Execute runs an after-dynamo graph eagerly on Python values and shows each value, without its autograd history, for minify.EagerValues.
func Execute(ctx context.Context, cacheDir string, gm *fx.GraphModule, inputs []any, see func(n *fx.Node, v any)) error {
	s := New(ctx, cacheDir)
	defer s.In.WithContext(ctx)()
	if _, err := s.In.Import("torch"); err != nil {
		return err
	}
	args := make([]vm.Object, len(inputs))
	for i, v := range inputs {
		args[i] = s.Torch.Object(accuracy.Clone(v))
	}
	for i, n := range gm.Graph.Placeholders() {
		see(n, inputs[i])
	}
	obj, err := s.Torch.NewGraphModule(gm, nil)
	if err != nil {
		return err
	}
	_, err = s.Torch.RunGraphObserved(gm.Graph, s.Torch.NativeGraph(obj).Attribute, args, func(n *fx.Node, o vm.Object) {
		if x, ok := s.Torch.Value(o); ok && n.IsCall() {
			x = accuracy.Clone(x)
			if t, ok := x.(*tensor.Tensor); ok {
				t.Autograd, t.Py = nil, nil
			}
			see(n, x)
		}
	})
	return err
}
