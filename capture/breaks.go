package capture

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// resumable reports whether a frame can go on behind a break at pc: a resume function cannot start inside a try block, nor inside a
// with block of a context manager that capture does not know.
func resumable(f *vm.Frame, pc int) bool {
	for _, b := range resume.Blocks(f.Code.Code, pc) {
		if !b.With {
			return false
		}
		if _, known := openMode(f.Stack[b.Depth-1]); !known && !nullBlock(f.Stack[b.Depth-1]) {
			return false
		}
	}
	return true
}

// openMode is the context manager whose __exit__ a with block left on the stack, if it is one that switches gradients or autocast.
func openMode(exit vm.Object) (*vm.Instance, bool) {
	m, ok := exit.(*vm.BoundMethod)
	if !ok {
		return nil, false
	}
	i, ok := m.Self.(*vm.Instance)
	return i, ok && (i.Class.Module == "torch.autograd.grad_mode" || isAutocast(i))
}

// isAutocast reports whether an object is a region of automatic mixed precision.
func isAutocast(i *vm.Instance) bool { return isA(i.Class, "torch.amp.autocast_mode", "autocast") }

// nullBlock reports whether the context manager whose __exit__ a with block left on the stack changes nothing: code can go on inside of the
// block without entering it again.
func nullBlock(exit vm.Object) bool {
	m, ok := exit.(*vm.BoundMethod)
	if !ok {
		return false
	}
	i, ok := m.Self.(*vm.Instance)
	return ok && nullContexts.has(i.Class.FullName())
}

// leaveModes ends the modes that a break leaves open: the graph has to give the mode back as it found it.
func (tr *tracer) leaveModes(f *vm.Frame) error {
	for i := f.SP - 1; i >= 0; i-- {
		if _, ok := openMode(f.Stack[i]); ok {
			if _, err := tr.in.Call(f.Stack[i], []vm.Object{vm.None, vm.None, vm.None}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// enterModes starts the modes that were open at the break before a resume function, as its first act.
func (tr *tracer) enterModes(f *vm.Frame) error {
	for _, v := range f.Stack[:f.SP] {
		i, ok := openMode(v)
		if !ok {
			continue
		}
		src := source.Local{Var: fmt.Sprintf("___stack%d", tr.reads.stackIndex(f, v))}
		tr.world.sources[v] = src
		tr.guards.Add(sameMode(i, src))
		tr.world.save(i)
		if _, err := tr.in.CallMethod(i, "__enter__"); err != nil {
			return err
		}
	}
	return nil
}

// sameMode holds for the exit of a with block that switches gradients or autocast as i does. Each run of the program has another; what PyTorch has in this
// place of the stack, and guards, is the class.
func sameMode(i *vm.Instance, src source.Source) *guard.Guard {
	settings := func(i *vm.Instance) (vs []vm.Object) {
		for _, name := range []string{"mode", "device", "fast_dtype", "_enabled", "_cache_enabled"} {
			var v vm.Object
			if i.Dict != nil {
				v, _ = i.Dict.GetStr(name)
			}
			vs = append(vs, v)
		}
		return vs
	}
	are := settings(i)
	return guard.New(guard.IDMatch, "___check_obj_id("+src.Name()+", <id>)", src, func(_ *source.Env, now vm.Object) (bool, guard.Failure) {
		m, ok := openMode(now)
		return ok && m.Class == i.Class && slices.Equal(settings(m), are), guard.Failure{}
	})
}

// insideMode is the state at a break inside a with block. Compiled code begins outside of the block, and enters it
// again; plain Python goes on inside.
type insideMode struct {
	grad, inference bool
	autocast        torch.Autocast
}

// plain runs a frame as it is.
func (d *Dynamo) plain(f *vm.Frame) (vm.Object, error) {
	if d.logs.traceID != "" {
		defer d.within("", 0)()
	}
	if m, ok := f.Ext.(insideMode); ok {
		f.Ext = nil
		d.T.Grad.SetEnabled(m.grad)
		d.T.Inference, d.T.Autocast = m.inference, m.autocast
	}
	return d.In.EvalFrame(f)
}

// outsideModes steps out of the modes that are open on a resume function's stack: those of the outermost blocks say what was there before.
func (d *Dynamo) outsideModes(f *vm.Frame) error {
	inside := insideMode{d.T.Grad.Enabled(), d.T.Inference, d.T.Autocast}
	var gradients, autocast bool // whether one was found
	for k, v := range f.Stack[:f.SP] {
		i, ok := openMode(v)
		if !ok {
			continue
		}
		f.Ext = inside
		if isAutocast(i) {
			if m, ok := d.entered(i); ok && !autocast {
				autocast, d.T.Autocast = true, m.Before()
			}
			continue
		}
		if gradients {
			continue
		}
		gradients = true
		prev, err := d.In.GetAttr(i, "prev")
		if err != nil {
			return err
		}
		d.T.Grad.SetEnabled(prev == vm.True)
		if i.Class.Name == "inference_mode" {
			if _, err := d.In.Call(f.Stack[k], []vm.Object{vm.None, vm.None, vm.None}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// entered is what an autocast region that is open has to leave it by.
func (d *Dynamo) entered(i *vm.Instance) (*torch.AutocastMode, bool) {
	if i.Dict == nil {
		return nil, false
	}
	v, _ := i.Dict.GetStr("_mode")
	m, ok := v.(*torch.AutocastMode)
	return m, ok
}

// wrongCall is the break at a call that torch itself refuses: plain Python makes it again, and raises the error.
func (tr *tracer) wrongCall(c *torch.Call, err error) *Unsupported {
	var r *vm.Raised
	if !errors.As(err, &r) || r.Exc.Class != tr.in.Exc.TypeError {
		return nil
	}
	name := c.Target[strings.LastIndex(c.Target, ".")+1:]
	msg, serr := tr.in.Str(r.Exc)
	if serr != nil {
		return nil
	}
	what := "<built-in method " + name + " of type object at 0xADDR>"
	if w := wrappedRepr(c.Target); w != "" {
		what = w
		if !strings.Contains(msg, "argument") {
			return nil
		}
	}
	if c.Op == fx.CallMethod {
		what = "method " + name
	}
	return unsupported(breaks.WrongCall, what, msg)
}

// unpackTensor lists the rows of a tensor that the trace iterates over: PyTorch indexes all of them at once.
func (tr *tracer) unpackTensor(o vm.Object) (*vm.List, error) {
	p, ok := o.(*torch.Tensor)
	if !ok || len(p.T.Shape) == 0 {
		return nil, nil
	}
	rows := vm.NewList()
	for i := int64(0); i < p.T.Shape[0]; i++ {
		var row vm.Object
		var err error
		if tr.t.IsFace(p) {
			if row, err = tr.tensorOperator("getitem", []vm.Object{p, vm.MakeInt(i)}); err == nil {
				row = tr.withFaces(row)
			}
		} else {
			row, err = tr.in.GetItem(p, vm.MakeInt(i))
		}
		if err != nil {
			return nil, err
		}
		rows.Items = append(rows.Items, row)
	}
	return rows, nil
}

// globalEffect plans the assignment to a global; nil when it was deleted again.
func (p *planner) globalEffect(c effects.Change) (*effect, error) {
	w := c.Global
	v, ok := w.Dict.GetStr(w.Name)
	if !ok {
		return nil, nil
	}
	r, err := p.value(v)
	if err != nil {
		return nil, err
	}
	return &effect{object: w.Dict, global: w.Name, items: []recipe{r}}, nil
}

// observed is the break at an exception that traced code raises and does not catch; nil for errors of torch's own operators.
func (tr *tracer) observed(err error) *BreakEvent {
	var r *vm.Raised
	if !errors.As(err, &r) || tr.opError != nil && errors.Is(err, tr.opError) {
		return nil
	}
	b := &BreakEvent{Kind: "skip", Reason: breaks.New(breaks.ObservedException)}
	for t := r.Exc.Traceback; t != nil; t = t.Next {
		b.Stack = append(b.Stack, StackEntry{t.Code.Name, t.Line(), shortFile(t.Code.Filename)})
		b.at = append(b.at, guard.Place{Code: t.Code, Line: t.Line()})
	}
	if len(b.Stack) == 0 {
		return nil
	}
	b.Line = breakLine(b.Stack)
	return b
}

// userException is the break at a call of a script's own exception class.
func (tr *tracer) userException(c *vm.Type, args []vm.Object) error {
	if !c.Heap || !isA(c, "builtins", "BaseException") || c.Module == "builtins" || strings.HasPrefix(c.Module, "torch") {
		return nil
	}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = tr.world.variableName(a)
	}
	return unsupported(breaks.UserException, c.Module+"."+c.Qualname, strings.Join(names, ", "))
}

// crossEntropy is torch.nn.CrossEntropyLoss made inside a trace: PyTorch's capture knows it as a function that is given the
// settings along with the tensors, all by position.
func (tr *tracer) crossEntropy(args []vm.Object, kw []vm.KwArg) vm.Object {
	names := []string{"weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing"}
	set := []vm.Object{vm.None, vm.None, vm.MakeInt(-100), vm.None, vm.Str("mean"), vm.Float(0)}
	if len(args) > len(set) {
		return nil
	}
	copy(set, args)
	for _, k := range kw {
		at := slices.Index(names, k.Name)
		if at < 0 {
			return nil
		}
		set[at] = k.Value
	}
	return &vm.Builtin{Name: "cross_entropy", Module: "torch", Max: 2, Min: 2, Fn: func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		m, err := in.Import("torch.nn.functional")
		if err != nil {
			return nil, err
		}
		fn, err := in.GetAttr(m, "cross_entropy")
		if err != nil {
			return nil, err
		}
		return tr.record(&torch.Call{Op: fx.CallFunction, Target: "torch.nn.functional.cross_entropy", Args: append(append([]vm.Object(nil), a...), set...),
			Run: func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return in.Call(fn, a, kw) }})
	}}
}

// fakeFailed ends a trace at an operator that refuses its arguments: the program is wrong, and the error of capture says so.
type fakeFailed struct {
	msg string
	at  []guard.Place
}

func (f *fakeFailed) Error() string { return f.msg }

// Abort marks the error as no Python exception: the program's own handlers do not see it.
func (f *fakeFailed) Abort() bool { return true }

// pythonRepr is how Python shows the function of a node that is a function in Python in PyTorch: whatever one raises is the end of the trace; "" for
// other targets.
func pythonRepr(target string) string {
	if name, ok := strings.CutPrefix(target, "torch.nn.functional."); ok && !nativeFunctional.has(name) {
		if strings.Contains(name, "max_pool") && !strings.Contains(name, "unpool") { // one of a pair, by whether indices are asked for
			name = "boolean_dispatch.<locals>.fn"
		}
		return "<function " + name + " at 0x0>"
	}
	for _, home := range []string{"torch.functional.", "torch."} {
		if name, ok := strings.CutPrefix(target, home); ok && pythonFunctions.has(name) {
			return "<function " + name + " at 0x0>"
		}
	}
	return ""
}

// wrongValues is the end of the trace at an operator that failed on stand-ins because of their shapes or values; nil for errors
// of another kind, which plain Python may not have.
func (tr *tracer) wrongValues(c *torch.Call, args []vm.Object, kw []vm.KwArg, err error) error {
	var r *vm.Raised
	if !errors.As(err, &r) {
		return nil
	}
	wrapped := wrappedRepr(c.Target)
	if wrapped == "" && c.Op == fx.CallFunction {
		wrapped = pythonRepr(c.Target)
	}
	if wrapped == "" && c.Op == fx.CallFunction && strings.HasSuffix(c.Target, ".getitem") && r.Exc.Class == tr.in.Exc.IndexError {
		wrapped = "<built-in function getitem>"
	}
	if wrapped == "" && c.Op == fx.CallMethod && toDevices.has(c.Target) {
		wrapped = c.Target
	}
	if wrapped == "" && tr.refusal == nil {
		return nil
	}
	if e := tr.in.Exc; wrapped == "" && r.Exc.Class != e.RuntimeError && r.Exc.Class != e.IndexError && r.Exc.Class != e.ValueError {
		return nil
	}
	inner, serr := tr.in.Str(r.Exc)
	if serr != nil || wrapped == "" && !strings.Contains(tr.refusal.Error(), inner) {
		return nil
	}
	target := c.Target
	if wrapped != "" {
		target = wrapped
	} else if of, ok := strings.CutPrefix(target, "torch.ops."); ok {
		target = of
	} else if c.Op == fx.CallFunction {
		name := target[strings.LastIndex(target, ".")+1:]
		target = "<built-in function " + name + ">"
		if c.Target == "torch."+name {
			target = "<built-in method " + name + " of type object at 0x0>"
		}
	}
	given, err1 := tr.argumentText(vm.NewTuple(args...))
	options := make([]string, len(kw))
	for i, k := range kw {
		text, err := tr.argumentText(k.Value)
		if err != nil {
			return nil
		}
		options[i] = "'" + k.Name + "': " + text
	}
	if err1 != nil {
		return nil
	}
	msg := fmt.Sprintf("Failed running %s %s(*%s, **%s):\n%s", c.Op, target, given, "{"+strings.Join(options, ", ")+"}", inner)
	if wrapped != "" && r.Exc.Class == tr.in.Exc.NotImplementedError {
		return unsupported(breaks.Argument, msg)
	}
	return &fakeFailed{msg: msg, at: tr.journal.stackFrames()}
}

// argumentText is how the error of a failing call shows an argument: sizes and numbers by their expressions, and tuples as a graph has them, whatever was given.
func (tr *tracer) argumentText(o vm.Object) (string, error) {
	list := func(items []vm.Object, open, end string) (string, error) {
		texts := make([]string, len(items))
		for i, x := range items {
			var err error
			if texts[i], err = tr.argumentText(x); err != nil {
				return "", err
			}
		}
		if len(items) == 1 && open == "(" {
			end = ",)"
		}
		return open + strings.Join(texts, ", ") + end, nil
	}
	switch v := o.(type) {
	case *torch.Scalar:
		return v.Expr.String(), nil
	case *torch.Tensor:
		if standsIn(v.T) {
			dims := make([]string, len(v.T.Shape))
			for i, e := range tr.sizes.Size(v.T) {
				dims[i] = e.String()
			}
			return tr.t.FakeText(v, dims), nil
		}
	case *vm.List:
		return list(v.Items, "[", "]")
	case *vm.Tuple:
		return list(v.Items, "(", ")")
	case *vm.Slice:
		return list([]vm.Object{v.Start, v.Stop, v.Step}, "slice(", ")")
	case *vm.Instance:
		if items, ok := v.Native.(*vm.Tuple); ok && v.Class == tr.t.SizeType {
			return list(items.Items, "(", ")")
		}
	}
	return tr.in.Repr(o)
}
