package capture

import (
	"fmt"
	"sort"

	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// Backends is where capture finds compilers by name: whoever wires the program fills it.
type Backends map[string]func(gm vm.Object, inputs []vm.Object) (vm.Object, error)

// contextObject is the Python handle of a Context.
type contextObject struct {
	ctx   *Context
	class *vm.Type
}

// Type is the handle's class.
func (c *contextObject) Type() *vm.Type { return c.class }

// Register installs torch._C._dynamo, the native side of the torch._dynamo package.
func (d *Dynamo) Register(backends Backends) {
	d.backends = backends
	d.T.Natives["_dynamo"] = d.module
	// Both are imported like parts of a package, too.
	part := func(of, name string) func(in *vm.Interp) (*vm.Module, error) {
		return func(in *vm.Interp) (*vm.Module, error) {
			p, err := in.Import(of)
			if err != nil {
				return nil, err
			}
			v, err := in.GetAttr(p, name)
			if err != nil {
				return nil, err
			}
			return v.(*vm.Module), nil
		}
	}
	d.In.RegisterModule("torch._C._dynamo", part("torch._C", "_dynamo"))
	d.In.RegisterModule("torch._C._dynamo.guards", part("torch._C._dynamo", "guards"))
}

// module makes torch._C._dynamo; what torch/_dynamo does in Python calls it.
func (d *Dynamo) module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("torch._C._dynamo", "")
	in.Modules.SetStr("torch._C._dynamo", m)
	d.contextModule(m)
	d.stateModule(m)
	d.seenModule(m)
	d.metricsModule(m)
	d.structuredModule(m)
	d.rewriteModule(m)
	d.guardsModule(m)
	d.fakeModule(m)
	d.rulesNatives(m)
	d.comptimeModule(m)
	d.explainModule(m)
	d.ddpModule(m)
	if d.Extra != nil {
		d.Extra(m)
	}
	return m, nil
}

// contextModule binds what calls functions with frames compiled, or not.
func (d *Dynamo) contextModule(m *vm.Module) {
	in := d.In
	class := in.NewNativeType(vm.Spec{Name: "_Context", Module: "torch._C._dynamo", NoDict: true})
	ctxOf := func(o vm.Object) (*Context, error) {
		c, ok := o.(*contextObject)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a compile context, not %s", o.Type().Name)
		}
		return c.ctx, nil
	}
	call := func(o vm.Object) (args []vm.Object, kw []vm.KwArg, err error) {
		t, ok := vm.AsTuple(o)
		if !ok {
			return nil, nil, in.Errorf(in.Exc.TypeError, "expected a tuple of arguments")
		}
		return t.Items, nil, nil
	}
	keywords := func(o vm.Object) (kw []vm.KwArg) {
		if dict, ok := vm.AsDict(o); ok {
			dict.Each(func(k, v vm.Object) bool {
				n, _ := vm.AsStr(k)
				kw = append(kw, vm.KwArg{Name: n, Value: v})
				return true
			})
		}
		return kw
	}
	m.Func("context", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		name, _ := vm.AsStr(a[0])
		fn := a[1]
		full, err := in.Truth(a[2])
		if err != nil {
			return nil, err
		}
		c := &Context{FullGraph: full, Backend: Backend{Name: name, Fn: fn, Compile: func(gm vm.Object, inputs []vm.Object) (vm.Object, error) {
			return in.Call(fn, []vm.Object{gm, vm.NewList(inputs...)}, nil)
		}}}
		if b, ok := a[3].(vm.Bool); ok {
			v := bool(b)
			c.Dynamic = &v
		}
		if len(a) > 4 && a[4] != vm.None {
			c.GuardFailed = a[4]
		}
		if len(a) > 5 && a[5] != vm.None {
			if c.Export, err = d.exporting(a[5]); err != nil {
				return nil, err
			}
		}
		return &contextObject{c, class}, nil
	})
	asItIs := func(fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		v, err := in.Call(fn, args, kw)
		in.Made = nil // who has the result is not known
		return v, err
	}
	compiled := m.Func("call", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		ctx, err := ctxOf(a[0])
		if err != nil {
			return nil, err
		}
		args, _, err := call(a[2])
		if err != nil {
			return nil, err
		}
		kw := keywords(a[3])
		if d.active != nil {
			return asItIs(a[1], args, kw) // already inside a trace: the call is simply inlined
		}
		switch d.stance.name {
		case "", "default", "eager_on_recompile", "fail_on_recompile":
		case "force_eager":
			return asItIs(a[1], args, kw)
		default:
			return nil, in.Errorf(in.Exc.RuntimeError, "invalid torch.compile stance '%s'", d.stance.text)
		}
		if b := d.stance.force; b != nil {
			forced := *ctx
			forced.Backend = *b
			ctx = &forced
		}
		outer, own := d.lone, &result{}
		d.lone = own
		v, err := d.Call(ctx, a[1], args, kw)
		d.lone = outer
		if in.Made = nil; err == nil && v == own.value {
			in.Made = v
		}
		return v, err
	})
	compiled.Fresh = true
	m.Func("disabled", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		args, _, err := call(a[1])
		if err != nil {
			return nil, err
		}
		return d.Disabled(a[0], args, keywords(a[2]))
	})
	m.Func("run_only", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		args, _, err := call(a[1])
		if err != nil {
			return nil, err
		}
		ctx := &Context{RunOnly: true}
		return d.Call(ctx, a[0], args, keywords(a[2]))
	})
	m.Func("enter", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		ctx, err := ctxOf(a[0])
		if err != nil {
			return nil, err
		}
		old := d.ctx
		d.ctx, in.FrameHook = ctx, d.frame
		if old == nil {
			return vm.None, nil
		}
		return &contextObject{old, class}, nil
	})
	m.Func("leave", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if c, ok := a[0].(*contextObject); ok {
			d.ctx = c.ctx
			return vm.None, nil
		}
		d.ctx, in.FrameHook = nil, nil
		return vm.None, nil
	})
}

// stateModule binds what resets capture, switches its stance, and names the backends.
func (d *Dynamo) stateModule(m *vm.Module) {
	m.Func("reset", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		d.Reset()
		return vm.None, nil
	})
	m.Func("forget", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		d.Forget(a[0])
		return vm.None, nil
	})
	m.Func("fake_like", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x, ok := a[0].(*torch.Tensor)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a tensor, not %s", a[0].Type().Name)
		}
		return d.T.Wrap(tensor.FakeLike(x.T)), nil
	})
	m.Func("is_compiling", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeBool(d.Compiling()), nil })
	m.Func("substitute", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		f, ok := a[1].(*vm.Function)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a function, not %s", a[1].Type().Name)
		}
		if d.polyfills == nil {
			d.polyfills = map[vm.Object]*substitute{}
		}
		d.polyfills[called(a[0])] = &substitute{f: f, folds: a[2] == vm.True}
		return vm.None, nil
	})
	m.Func("substituted", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(d.polyfills[called(a[0])] != nil), nil
	})
	m.Func("set_stance", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if in.FrameHook != nil || d.active != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "attempted to set_stance in a torch.compile region")
		}
		name, _ := vm.AsStr(a[0])
		text, _ := vm.AsStr(a[1])
		d.stance = stance{name: name, text: text}
		if c, ok := a[2].(*contextObject); ok {
			d.stance.force = &c.ctx.Backend
		}
		return vm.None, nil
	})
	m.Func("backends", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		var names []string
		for n := range d.backends {
			names = append(names, n)
		}
		sort.Strings(names)
		l := vm.NewList()
		for _, n := range names {
			l.Items = append(l.Items, vm.Str(n))
		}
		return l, nil
	})
	m.Func("backend", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		name, _ := vm.AsStr(a[0])
		f := d.backends[name]
		if f == nil {
			return nil, fmt.Errorf("no backend named %q", name)
		}
		return &vm.Builtin{Name: name, Module: "torch._dynamo.backends", Max: -1, Fn: func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(args) < 2 {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes a graph module and example inputs", name)
			}
			inputs, err := in.IterAll(args[1])
			if err != nil {
				return nil, err
			}
			return f(args[0], inputs)
		}}, nil
	})
}

// seenModule binds what tells of breaks, recompiles and times so far, and what logs need to know.
func (d *Dynamo) seenModule(m *vm.Module) {
	m.Func("breaks_seen", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeInt(int64(len(d.breaks))), nil
	})
	m.Func("breaks_since", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n, _ := vm.AsInt(a[0])
		l := vm.NewList()
		for _, b := range d.breaks[min(int(n), len(d.breaks)):] {
			stack := vm.NewList()
			for _, s := range b.Stack {
				stack.Items = append(stack.Items, vm.NewTuple(vm.Str(s.File), vm.MakeInt(int64(s.Line)), vm.Str(s.Function)))
			}
			l.Items = append(l.Items, vm.NewTuple(vm.Str(b.Reason.Explain()), stack))
		}
		return l, nil
	})
	m.Func("failures_seen", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeInt(int64(len(d.failures))), nil
	})
	m.Func("failures_since", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n, _ := vm.AsInt(a[0])
		out := vm.NewList()
		for _, f := range d.failures[min(int(n), len(d.failures)):] {
			why := vm.NewList()
			for _, r := range f.Reasons {
				why.Items = append(why.Items, vm.Str(r.String()))
			}
			out.Items = append(out.Items, vm.NewTuple(vm.Str(f.Function), vm.Str(f.File), vm.MakeInt(int64(f.Line)), why))
		}
		return out, nil
	})
	m.Func("replay", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		file, ok := vm.AsStr(a[0])
		if !ok || d.Observe.ReplayFile == nil {
			return nil, in.Errorf(in.Exc.TypeError, "replay() takes the name of a file")
		}
		return vm.None, d.Observe.ReplayFile(file)
	})
	m.Func("forget_times", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		d.times = nil
		return vm.None, nil
	})
	m.Func("compile_times", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		l := vm.NewList()
		for _, c := range d.times {
			if len(c.seconds) == 0 { // it has begun
				continue
			}
			ts := vm.NewList()
			for _, s := range c.seconds {
				ts.Items = append(ts.Items, vm.Float(s))
			}
			l.Items = append(l.Items, vm.NewTuple(vm.Str(c.name), ts))
		}
		return l, nil
	})
	m.Func("log_modules", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		l := vm.NewList()
		for _, p := range logPoints {
			l.Items = append(l.Items, vm.Str(p.module))
		}
		return l, nil
	})
	m.Func("log_traced_frames", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		d.lookAtLogs()
		d.logTracedFrames()
		return vm.None, nil
	})
	m.Func("trace_id", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.Str(d.logs.traceID), nil })
}
