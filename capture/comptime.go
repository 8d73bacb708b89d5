package capture

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// ahead runs f for good while tracing: what it changes stays, whatever becomes of the trace.
func (tr *tracer) ahead(f func() (vm.Object, error)) (vm.Object, error) {
	return tr.effects.Accept(func() (vm.Object, error) { return tr.outside(f) })
}

// comptime is comptime(fn): fn runs now, with a context that shows the trace.
func (tr *tracer) comptime(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) == 0 {
		return nil, false, tr.in.Errorf(tr.in.Exc.TypeError, "comptime() takes a function")
	}
	fn := args[0]
	if _, bound := fn.(*vm.Instance); bound && len(args) > 1 { // called with self
		fn = args[1]
	}
	return tr.atCompileTime(func(ctx vm.Object) (vm.Object, error) { return tr.in.Call(fn, []vm.Object{ctx}, nil) })
}

// comptimeMethod is comptime.NAME(...): the method of the context, called now.
func comptimeMethod(name string) directive {
	return func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
		tr.guards.Add(guard.Part(source.Import{Module: "torch._dynamo.comptime"}.Name()))
		now := make([]vm.Object, len(args))
		for i, a := range args {
			if p, ok := a.(*torch.Tensor); ok {
				f, err := tr.standIns.fake(p)
				if err != nil {
					return nil, false, err
				}
				a = tr.t.Wrap(f)
			}
			now[i] = a
		}
		return tr.atCompileTime(func(ctx vm.Object) (vm.Object, error) {
			if comptimeVars[name] {
				if err := tr.asVars(now); err != nil {
					return nil, err
				}
			}
			m, err := tr.in.GetAttr(ctx, name)
			if err != nil {
				return nil, err
			}
			return tr.in.Call(m, now, kw)
		})
	}
}

// atCompileTime calls f with a comptime context, which shows the frame that runs.
func (tr *tracer) atCompileTime(f func(ctx vm.Object) (vm.Object, error)) (vm.Object, bool, error) {
	frame := tr.in.Frame()
	old := tr.looking
	tr.looking = frame
	defer func() { tr.looking = old }()
	_, err := tr.outside(func() (vm.Object, error) {
		m, err := tr.in.Import("torch._dynamo.comptime")
		if err != nil {
			return nil, err
		}
		cls, err := tr.in.GetAttr(m, "ComptimeContext")
		if err != nil {
			return nil, err
		}
		ctx, err := tr.in.Call(cls, nil, nil)
		if err != nil {
			return nil, err
		}
		return f(ctx)
	})
	var r *vm.Raised
	if errors.As(err, &r) {
		err = &escaped{err}
	}
	return vm.None, err == nil, err
}

// comptimeVars are the methods that take values of the trace.
var comptimeVars = map[string]bool{"print": true, "assert_static": true, "force_static": true}

// asVars puts values of the trace into the objects by which comptime functions know them.
func (tr *tracer) asVars(values []vm.Object) error {
	m, err := tr.in.Import("torch._dynamo.comptime")
	if err != nil {
		return err
	}
	cls, err := tr.in.GetAttr(m, "ComptimeVar")
	if err != nil {
		return err
	}
	for i, v := range values {
		if values[i], err = tr.in.Call(cls, []vm.Object{v}, nil); err != nil {
			return err
		}
	}
	return nil
}

// escaped is an exception of code that runs while a function is captured: it is nothing that the function raises, and ends the
// compilation.
type escaped struct{ err error }

func (e *escaped) Error() string { return e.err.Error() }

// Abort marks the error as no Python exception of the program.
func (e *escaped) Abort() bool { return true }

// comptimeModule adds what torch._dynamo.comptime reads of the trace in progress.
func (d *Dynamo) comptimeModule(m *vm.Module) {
	// The frame that a context looks at, level frames up from the one that called comptime.
	frame := func(in *vm.Interp, a []vm.Object, i int) (*tracer, *vm.Frame, error) {
		tr := d.outer
		if tr == nil || tr.looking == nil {
			return nil, nil, in.Errorf(in.Exc.RuntimeError, "comptime functions can only be called while a function is captured")
		}
		level, _ := vm.AsInt(a[i])
		f := tr.looking
		for ; level > 0 && f.Back != nil; level-- {
			f = f.Back
		}
		return tr, f, nil
	}
	show := func(tr *tracer, v vm.Object) (vm.Object, error) {
		if p, ok := v.(*torch.Tensor); ok {
			f, err := tr.standIns.fake(p)
			if err != nil {
				return nil, err
			}
			return tr.t.Wrap(f), nil
		}
		return v, nil
	}
	m.Func("trace_local", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr, f, err := frame(in, a, 1)
		if err != nil {
			return nil, err
		}
		name, _ := vm.AsStr(a[0])
		for i, v := range f.LocalsPlus {
			if c, ok := v.(*vm.Cell); ok {
				v = c.V
			}
			if v != nil && f.Code.LocalsPlusName(i) == name {
				if f == tr.root && tr.env.Locals[name] == v {
					tr.world.see(v, source.Local{Var: name})
				}
				return show(tr, v)
			}
		}
		return nil, in.Errorf(in.Exc.KeyError, "%s", name)
	})
	m.Func("trace_locals", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr, f, err := frame(in, a, 0)
		if err != nil {
			return nil, err
		}
		l := vm.NewList()
		for i, v := range f.LocalsPlus {
			if c, ok := v.(*vm.Cell); ok {
				v = c.V
			}
			if v == nil {
				continue
			}
			name := f.Code.LocalsPlusName(i)
			if f == tr.root && tr.env.Locals[name] == v {
				tr.world.see(v, source.Local{Var: name})
			}
			text, err := tr.debugRepr(v)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, vm.NewTuple(vm.Str(name), vm.Str(text)))
		}
		return l, nil
	})
	m.Func("trace_stack", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr, f, err := frame(in, a, 0)
		if err != nil {
			return nil, err
		}
		var lines []string
		for ; f != nil; f = f.Back {
			lines = append([]string{fmt.Sprintf("  File \"%s\", line %d, in %s\n%s", f.Code.Filename, f.Line(), f.Code.Name, sourceLine(f.Code, f.Line()))}, lines...)
			if f == tr.root {
				break
			}
		}
		return vm.Str(strings.Join(lines, "")), nil
	})
	m.Func("trace_values", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr, f, err := frame(in, a, 0)
		if err != nil {
			return nil, err
		}
		l := vm.NewList()
		top := f.SP
		if ins := f.Code.Instrs[f.PC]; ins.Op == code.CALL { // what is called, and with what, is off the stack by now
			top = max(0, top-int(ins.Arg)-2)
		}
		for _, v := range f.Stack[:top] {
			if v == nil {
				continue
			}
			text, err := tr.debugRepr(v)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, vm.Str(text))
		}
		return l, nil
	})
	m.Func("trace_guards", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr, _, err := frame(in, []vm.Object{vm.MakeInt(0)}, 0)
		if err != nil {
			return nil, err
		}
		gs := tr.guards.List()
		rank := map[string]int{"LOCAL": 0, "GLOBAL": 1, "SHAPE_ENV": 2}
		sort.SliceStable(gs, func(i, j int) bool {
			a, b := gs[i], gs[j]
			if rank[a.Where] != rank[b.Where] {
				return rank[a.Where] < rank[b.Where]
			}
			if len(a.Name) != len(b.Name) {
				return len(a.Name) < len(b.Name)
			}
			return a.Name < b.Name
		})
		l := vm.NewList()
		for _, g := range gs {
			l.Items = append(l.Items, vm.NewTuple(vm.Str(g.Name), vm.Str(g.Where), vm.Str(g.Maker), vm.None, vm.None))
		}
		return l, nil
	})
	m.Func("trace_code", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		_, f, err := frame(in, a, 0)
		if err != nil {
			return nil, err
		}
		return vm.Str(f.Code.Dis(f.PC + 1)), nil
	})
	m.Func("trace_break", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		msg, _ := vm.AsStr(a[0])
		return nil, unsupported(breaks.ComptimeBreak, msg)
	})
	m.Func("trace_graph", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr := d.outer
		if tr == nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "comptime functions can only be called while a function is captured")
		}
		gm, err := d.T.NewGraphModule(&fx.GraphModule{Graph: tr.out.graph, ClassName: "GraphModule", Attrs: tr.out.attrs}, nil)
		if err != nil {
			return nil, err
		}
		return in.GetAttr(gm, "graph")
	})
	m.Func("trace_graph_text", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		tr := d.outer
		if tr == nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "comptime functions can only be called while a function is captured")
		}
		if len(a) > 0 && a[0] == vm.True {
			return vm.Str("\n\n\n" + strings.TrimSuffix(tr.out.graph.ReadableForward("", func(n *fx.Node) string {
				t := tr.journal.described(n)
				if i := strings.Index(t, "]["); i > 0 {
					t = t[:i+1]
				}
				return t
			}), "\n")), nil
		}
		return vm.Str("\n\n\n" + fx.ShownCalls(tr.out.graph.Forward("")) + "\n    "), nil
	})
}

// debugRepr is a traced value as print_locals shows it.
func (tr *tracer) debugRepr(v vm.Object) (string, error) {
	switch o := v.(type) {
	case *torch.Tensor:
		f, err := tr.standIns.fake(o)
		if err != nil {
			return "", err
		}
		return tr.in.Repr(tr.t.Wrap(f))
	case vm.Int, vm.Float, vm.Str, vm.Bool, *vm.NoneType, *vm.BigInt, vm.Bytes:
		return tr.in.Repr(v)
	case *vm.List:
		return tr.debugItems("[", o.Items, "]")
	case *vm.Tuple:
		return tr.debugItems("(", o.Items, ")")
	}
	return tr.world.variableName(v), nil
}

// debugItems is debugRepr for the items of a container, between brackets.
func (tr *tracer) debugItems(open string, items []vm.Object, end string) (string, error) {
	parts := make([]string, len(items))
	for i, x := range items {
		s, err := tr.debugRepr(x)
		if err != nil {
			return "", err
		}
		parts[i] = s
	}
	return open + strings.Join(parts, ", ") + end, nil
}

// sourceLine is a line of the source of c, indented as in tracebacks; "" when it is not at hand.
func sourceLine(c *vm.Code, line int) string {
	if c.Source == nil {
		return ""
	}
	lines := strings.Split(c.Source.Text, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return "    " + strings.TrimSpace(lines[line-1]) + "\n"
}
