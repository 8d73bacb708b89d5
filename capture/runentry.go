package capture

import (
	"errors"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// runEntry runs compiled code in place of a frame.
func (d *Dynamo) runEntry(en *entry, f *vm.Frame, e *source.Env) (vm.Object, error) {
	r := &rebuild{env: e, made: map[part]vm.Object{}}
	var args []vm.Object
	lone := false
	if err := en.plan.draws.make(d.T, e); err != nil {
		return nil, err
	}
	if en.fn != nil {
		args = make([]vm.Object, len(en.inputs))
		for i, in := range en.inputs {
			v, err := in.source.Get(e)
			if err != nil {
				return nil, err
			}
			args[i] = v
		}
		end := func(error) {}
		if d.Observe.Run != nil {
			end = d.Observe.Run(en.ctx.Backend, en.gm, args, !en.ran)
		}
		en.ran = true
		restore := d.T.SuspendFunctionModes()
		depth := len(d.T.Levels.Levels)
		region := d.T.Region("Torch-Compiled Region: " + en.id)
		res, err := d.Disabled(en.fn, args, nil)
		if b, ok := en.fn.(*vm.Builtin); ok && b.Fresh && d.In.Made == res {
			lone = true
		}
		d.In.Made = nil
		region()
		restore()
		d.T.EndLevels(depth) // those that a graph which failed has left open
		end(err)
		if err != nil {
			return nil, err
		}
		if r.outs, err = d.outputs(res); err != nil {
			return nil, err
		}
	}
	if err := d.applyEffects(en.plan, r); err != nil {
		return nil, err
	}
	if err := d.runLogs(en.plan, r); err != nil {
		return nil, err
	}
	if en.plan.modesChanged {
		modes, err := r.all(en.plan.modes)
		if err != nil {
			return nil, err
		}
		d.T.Functions.Stack = modes
	}
	if !en.plan.breaks {
		d.T.Grad.SetEnabled(en.plan.grad)
		d.T.Autocast = en.plan.autocast
		v, err := en.plan.result(r)
		if err == nil && lone && d.lone != nil && len(en.plan.effects) == 0 && len(en.plan.logs) == 0 && d.unshared(v, r.outs, args) {
			*d.lone = result{f, v}
		}
		return v, err
	}
	return d.goOn(en, f, r)
}

// A result is what a frame gives that nobody else has.
type result struct {
	frame *vm.Frame
	value vm.Object
}

// unshared reports whether v, what compiled code makes of outs, is a tensor with memory that no other of outs has, and no argument.
func (d *Dynamo) unshared(v vm.Object, outs, args []vm.Object) bool {
	x, ok := v.(*torch.Tensor)
	if !ok || !d.T.Unshared(x, args) {
		return false
	}
	n := 0
	for _, o := range outs {
		if y, ok := o.(*torch.Tensor); ok && y.T.Storage == x.T.Storage {
			n++
		}
	}
	return n == 1
}

// outputs lists what a compiled graph gave: one tensor, or a sequence of values.
func (d *Dynamo) outputs(res vm.Object) ([]vm.Object, error) {
	switch v := res.(type) {
	case *vm.Tuple:
		return v.Items, nil
	case *vm.List:
		return v.Items, nil
	case *torch.Tensor:
		return []vm.Object{v}, nil
	}
	return d.In.IterAll(res)
}

// applyEffects writes what the trace wrote, in order of first sight.
func (d *Dynamo) applyEffects(p *plan, r *rebuild) error {
	for _, ef := range p.effects {
		target := ef.object
		if ef.source != nil {
			o, err := ef.source.Get(r.env)
			if err != nil {
				return err
			}
			target = o
		}
		items, err := r.all(ef.items)
		if err != nil {
			return err
		}
		if ef.global != "" {
			target.(*vm.Dict).SetStr(ef.global, items[0])
			continue
		}
		ef.apply(d.In, target, items)
	}
	return nil
}

// errResume ends the real execution of the breaking instruction.
var errResume = errors.New("capture: behind the break")

// goOn runs the instruction that broke the graph as plain Python, then the rest of the frame as a resume function.
func (d *Dynamo) goOn(en *entry, f *vm.Frame, r *rebuild) (vm.Object, error) {
	p := en.plan
	g := d.In.NewFrame(f.Func, f.Code)
	g.Globals, g.Builtins = f.Globals, f.Builtins
	for i, rc := range p.locals {
		if rc == nil {
			if c, ok := f.LocalsPlus[i].(*vm.Cell); ok {
				g.LocalsPlus[i] = c
			}
			continue
		}
		v, err := rc(r)
		if err != nil {
			return nil, err
		}
		g.LocalsPlus[i] = v
	}
	for i, rc := range p.stack {
		v, err := rc(r)
		if err != nil {
			return nil, err
		}
		g.Stack[i] = v
	}
	g.SP, g.PC = len(p.stack), p.pc
	d.T.Grad.SetEnabled(p.grad)
	d.T.Autocast = p.autocast
	if p.rest {
		return d.In.EvalFrame(g)
	}
	first := true
	g.Trace = func(*vm.Frame) error {
		if first {
			first = false
			return nil
		}
		return errResume
	}
	res, err := d.In.EvalFrame(g)
	if !errors.Is(err, errResume) {
		return res, err // the frame ended with that instruction
	}
	h := d.In.NewFrame(f.Func, d.resume.At(f.Code, p.pc, g.PC, g.SP))
	h.Globals, h.Builtins = f.Globals, f.Builtins
	copy(h.LocalsPlus, g.LocalsPlus)
	for i, v := range g.Stack[:g.SP] {
		h.Stack[i] = replayable(v)
	}
	h.SP, h.PC = g.SP, g.PC
	if err := d.outsideModes(h); err != nil {
		return nil, err
	}
	return d.compiled(h)
}
