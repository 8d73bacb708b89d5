package torch

import (
	"time"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// profiler notes what runs: operators, the nodes of backward passes, and what the program calls by a name of its own. While none is on, the engine
// has no Watcher. What becomes of the notes is up to torch.autograd.profiler.
type profiler struct {
	t              *Torch
	shapes, stacks bool
	start          time.Time
	events         []event
	open           []int // events that are not over, the innermost last
}

// event is one note.
type event struct {
	name     string
	from, to time.Duration
	parent   int         // -1 => none
	number   int64       // of the node of the backward pass that it made, or is; -1 => none
	kind     int         // as PyTorch numbers kinds of scopes
	dims     []vm.Object // per argument: sizes, strides, the type, and the value of what is no tensor
	memory   int64       // bytes of what it made
	stack    vm.Object
	over     bool
}

// The kinds of scopes.
const (
	scopeFunction = 0
	scopeBackward = 1
	scopeUser     = 7
)

func (p *profiler) begin(name string, kind int, number int64) int {
	e := event{name: name, parent: -1, number: number, kind: kind, stack: vm.None}
	if n := len(p.open); n > 0 {
		e.parent = p.open[n-1]
	}
	if p.stacks {
		if s, err := p.t.callIn("torch.autograd.profiler", "_program_stack"); err == nil {
			e.stack = s
		}
	}
	p.events = append(p.events, e)
	i := len(p.events) - 1
	p.open = append(p.open, i)
	p.events[i].from = time.Since(p.start)
	return i
}

// end ends an event, and those within it that an error left open.
func (p *profiler) end(i int) {
	now := time.Since(p.start)
	for n := len(p.open); n > 0 && p.open[n-1] >= i; n = len(p.open) {
		e := &p.events[p.open[n-1]]
		e.to, e.over = now, true
		p.open = p.open[:n-1]
	}
}

// Operator implements Watcher.
func (p *profiler) Operator(op *aten.Op, args []aten.Value, node int64) func(aten.Value) {
	sig := op.Sig()
	if sig.Namespace == "profiler" { // what begins and ends ranges is not in them
		return func(aten.Value) {}
	}
	i := p.begin(sig.Namespace+"::"+sig.Name, scopeFunction, node)
	if p.shapes {
		p.events[i].dims = p.describe(args)
	}
	if sig.Namespace == "aten" && (sig.Name == "detach" || sig.Name == "detach_") { // its kernel above autograd notes itself once more
		inner := p.begin(sig.Name, scopeFunction, -1)
		p.events[inner].dims = p.events[i].dims
	}
	return func(out aten.Value) {
		p.end(i)
		p.events[i].memory = made(out, args)
	}
}

// Node implements Watcher.
func (p *profiler) Node(name string, number int64, grads []*tensor.Tensor) func() {
	i := p.begin(name, scopeBackward, number)
	if p.shapes && grads != nil {
		vals := make([]aten.Value, len(grads))
		for j, g := range grads {
			vals[j] = g
		}
		p.events[i].dims = p.describe(vals)
	}
	return func() { p.end(i) }
}

// noted runs what PyTorch's dispatcher has an operator of that name for, and this one does by other means.
func (t *Torch) noted(name string, args []vm.Object, f func() (vm.Object, error)) (vm.Object, error) {
	p := t.profiler
	if p == nil {
		return f()
	}
	i := p.begin(name, scopeFunction, -1)
	if p.shapes {
		vals := make([]aten.Value, len(args))
		for j, a := range args {
			vals[j], _ = t.Value(a)
		}
		p.events[i].dims = p.describe(vals)
	}
	v, err := f()
	p.end(i)
	return v, err
}

// notedItem is noted for what takes the one number of a tensor.
func (t *Torch) notedItem(args []vm.Object, f func() (vm.Object, error)) (vm.Object, error) {
	if t.profiler == nil {
		return f()
	}
	return t.noted("aten::item", args, func() (vm.Object, error) { return t.noted("aten::_local_scalar_dense", args, f) })
}

// describe is what is noted of arguments: per argument its sizes, its strides, its type and its value.
func (p *profiler) describe(args []aten.Value) []vm.Object {
	out := make([]vm.Object, len(args))
	for i, a := range args {
		sizes, strides, typ, value := vm.NewList(), vm.NewList(), "", vm.Object(vm.Str(""))
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil {
				for _, n := range a.Shape {
					sizes.Items = append(sizes.Items, vm.MakeInt(n))
				}
				for _, n := range a.Stride {
					strides.Items = append(strides.Items, vm.MakeInt(n))
				}
				typ = cTypeName(a.DType)
			}
		case []aten.Value:
			if typ = "ScalarList"; len(a) > 0 {
				if _, tensors := a[0].(*tensor.Tensor); tensors {
					typ = "TensorList"
				}
			}
			if typ == "ScalarList" {
				value = p.text(a)
			}
		case nil, *tensor.Generator:
		default:
			typ, value = "Scalar", p.text(a)
		}
		out[i] = vm.NewTuple(sizes, strides, vm.Str(typ), value)
	}
	return out
}

func (p *profiler) text(a aten.Value) vm.Object {
	o := p.t.Object(a)
	if tup, ok := o.(*vm.Tuple); ok {
		o = vm.NewList(tup.Items...)
	}
	s, err := p.t.In.Str(o)
	if err != nil {
		return vm.Str("")
	}
	return vm.Str(s)
}

// cTypeName is C++'s name of a dtype's numbers.
func cTypeName(d tensor.DType) string {
	switch d {
	case tensor.Float32:
		return "float"
	case tensor.Float64:
		return "double"
	case tensor.Int64:
		return "long int"
	case tensor.Int32:
		return "int"
	case tensor.Bool:
		return "bool"
	}
	return d.String()
}

// made is how many bytes a result has that no argument has.
func made(out aten.Value, args []aten.Value) int64 {
	var bytes int64
	switch x := out.(type) {
	case *tensor.Tensor:
		if x == nil || x.Storage == nil || x.Fake || shared(x, args) {
			return 0
		}
		return tensor.Numel(x.Shape) * int64(x.DType.Size())
	case []aten.Value:
		for _, y := range x {
			bytes += made(y, args)
		}
	}
	return bytes
}

func shared(x *tensor.Tensor, args []aten.Value) bool {
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && a.Storage == x.Storage {
				return true
			}
		case []aten.Value:
			if shared(x, a) {
				return true
			}
		}
	}
	return false
}

// Region begins a part of the program's run that the profiler shows under a name. What it gives ends the part; nobody need be looking on.
func (t *Torch) Region(name string) (end func()) {
	p := t.profiler
	if p == nil {
		return func() {}
	}
	i := p.begin(name, scopeUser, -1)
	return func() {
		if p == t.profiler {
			p.end(i)
		}
	}
}

// profilerNames binds the profiler in torch._C._autograd.
func (t *Torch) profilerNames(autograd *vm.Module) {
	truth := func(in *vm.Interp, a []vm.Object, i int) bool {
		if i >= len(a) {
			return false
		}
		b, err := in.Truth(a[i])
		return err == nil && b
	}
	autograd.Func("_profiler_enabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.profiler != nil), nil
	})
	autograd.Func("_profiler_start", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if t.profiler != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "Can't disable Kineto profiler when it's not running")
		}
		t.profiler = &profiler{t: t, shapes: truth(in, a, 0), stacks: truth(in, a, 1), start: time.Now()}
		t.Grad.Watch(t.profiler)
		return vm.MakeInt(t.profiler.start.UnixNano()), nil
	})
	// _profiler_stop gives the events: name, begin and end in nanoseconds, parent, number, kind, what was noted of the arguments, bytes, stack.
	autograd.Func("_profiler_stop", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if t.profiler == nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "Can't disable Kineto profiler when it's not running")
		}
		p := t.profiler
		t.profiler = nil
		t.Grad.Watch(nil)
		p.end(0)
		out := vm.NewList()
		for _, e := range p.events {
			dims := vm.Object(vm.None)
			if e.dims != nil {
				dims = vm.NewList(e.dims...)
			}
			out.Items = append(out.Items, vm.NewTuple(vm.Str(e.name), vm.MakeInt(int64(e.from)), vm.MakeInt(int64(e.to)), vm.MakeInt(int64(e.parent)), vm.MakeInt(e.number),
				vm.MakeInt(int64(e.kind)), dims, vm.MakeInt(e.memory), e.stack))
		}
		return out, nil
	})
	// _record_enter begins a part of the program that has a name; -1 where nobody looks on.
	autograd.Func("_record_enter", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if t.profiler == nil {
			return vm.MakeInt(-1), nil
		}
		name, _ := vm.AsStr(a[0])
		return vm.MakeInt(int64(t.profiler.begin(name, scopeUser, -1))), nil
	})
	autograd.Func("_record_exit", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		i, ok := vm.AsInt(a[0])
		if h, isTensor := a[0].(*Tensor); isTensor && !h.T.Fake {
			i, ok = h.T.AtInt(0), true
		}
		if ok && t.profiler != nil && i >= 0 && int(i) < len(t.profiler.events) {
			t.profiler.end(int(i))
		}
		return vm.None, nil
	})
}
