package capture

import (
	"errors"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/levels"
)

// Unsupported ends a trace at the instruction that runs: a graph break, or the end of the frame's capture.
type Unsupported struct{ Reason breaks.Reason }

// unsupported ends a trace for a reason of the table; args fill its slots.
func unsupported(id breaks.ID, args ...string) *Unsupported {
	return &Unsupported{breaks.New(id, args...)}
}

func (u *Unsupported) Error() string { return u.Reason.String() }

// Abort marks the error as no Python exception.
func (u *Unsupported) Abort() bool { return true }

// errStop ends a trace that has reached the point where it is to break.
var errStop = errors.New("capture: reached the break point")

// point is an instruction of the root frame, counted over the whole trace.
type point struct{ step, pc int }

// tracer is one attempt to capture one frame. It runs the frame's code and decides, instruction by instruction and call by call, what
// becomes of it; what it knows is kept by its parts. They are made together by newTracer and live as long as it does. A part uses only
// those that it has as fields, which stand before it here, and never the tracer.
type tracer struct {
	*ground
	journal  *journal
	out      *output
	symbols  *symbols
	effects  *effects.Log
	world    *world
	standIns *standIns
	reads    *reads
	bindings *bindings
	random   *randomness
	bodies   *bodies

	steps int    // instructions of the root frame so far
	stop  *point // where an earlier attempt learned to break; nil => run to the end
	at    point  // where the root frame is
	// restart is where compiled code can hand over to plain Python, with nothing on the stack of the root frame, and more than one call in the
	// graph: where a trace ends that cannot go on behind its break. Zero => nowhere.
	restart point

	refusal error // of the operator that ran last on fakes, if it refused its arguments
	opError error // what the last operator that failed on fakes said

	looking *vm.Frame // what a comptime context shows
	entered vm.Object // the context manager that the root frame entered last
}

// newTracer prepares to capture f, a private copy of the frame that e describes.
func newTracer(d *Dynamo, f *vm.Frame, e *source.Env, stop *point) *tracer {
	g := newGround(d, f, e)
	tr := &tracer{ground: g, stop: stop}
	tr.journal = &journal{ground: g, loggedLine: map[*vm.Frame]int{}, decided: map[*symbolic.Expr]guard.Place{}, firstUse: map[string]guard.Place{}}
	tr.guards = guard.NewDraft(g.userPlace)
	tr.out = newOutput(g)
	tr.symbols = newSymbols(g, tr.journal, tr.out)
	tr.effects = effects.New(g.in)
	tr.world = newWorld(g, tr.symbols, tr.effects)
	tr.standIns = newStandIns(g, tr.journal, tr.out, tr.symbols, tr.world)
	tr.reads = newReads(g, tr.out, tr.symbols, tr.effects, tr.world, tr.standIns)
	tr.bindings = newBindings(g, tr.effects, tr.world, tr.standIns, tr.reads)
	tr.random = newRandomness(g, tr.out, tr.symbols, tr.world)
	tr.bodies = newBodies(g, tr.journal, tr.out, tr.symbols, tr.effects, tr.world, tr.standIns, tr.bindings, tr.call)
	tr.bodies.onFakes, tr.bodies.trail = tr.onFakes, tr.trail
	return tr
}

// outcome of a traced frame.
type outcome struct {
	result vm.Object // of a frame that ran to its end
	broke  bool      // stopped before instruction at
	jump   bool      // which is a branch on a tensor
	rest   bool      // what follows runs as plain Python
	at     point

	// The modes at the end, which compiled code sets when it has run: the trace itself brings back those that it found.
	gradEnd     bool
	autocastEnd torch.Autocast
	modesEnd    []vm.Object // of __torch_function__
}

// run traces the frame: it evaluates the copy with every hook in place. Whatever way that ends, the session is as it was; the writes of the
// trace alone are left in the objects, for finish to plan, and are undone there.
func (tr *tracer) run() (*outcome, error) {
	f := tr.root
	tr.sizes.Fresh = func(size *symbolic.Expr) { tr.out.fresh = append(tr.out.fresh, size) }
	f.Trace = tr.step
	d := tr.d
	var err error
	if tr.symbols.shapes, err = d.shapeConfig(); err != nil {
		return nil, err
	}
	if tr.sizes.Unbacked, err = d.configBool("capture_dynamic_output_shape_ops"); err != nil {
		return nil, err
	}
	if l := d.T.Levels.Top(); l != nil && l.Kind != levels.Functionalize && d.ctx.Backend.Name != "eager" {
		return nil, unsupported(breaks.InTransform, strings.ToLower(l.Kind.String()), strings.ToLower(l.Kind.String()), strings.ToLower(l.Kind.String()))
	}
	tr.journal.logSymbols()
	tr.reads.seeStack(f)
	for i, m := range tr.env.Modes {
		tr.world.see(m, source.Mode{I: i})
	}
	// Dispatch stays what it is: calls of torch come to the hook, which runs them on fakes itself (see onFakes).
	defer d.push(func(u *underway, a *torch.Ambient) {
		u.active = tr
		a.Hook, a.CallHook, a.LookupHook, a.ArrayHook = tr.api, tr.call, tr.reads.lookedUp, tr.arrayUse
		a.ImportHook, a.BindHook, a.RaiseHook = tr.imports, tr.mismatch, tr.raised
		a.Lift, a.Sizes, a.Numel = nil, tr.standIns.sizesOf, tr.standIns.numelOf
	})()
	defer d.T.KeepModes()() // what the frame leaves open is in the outcome
	if err := tr.enterModes(f); err != nil {
		return nil, err
	}
	res, err := d.In.EvalFrame(f)
	tr.ended = true
	if perr := tr.random.putBack(); perr != nil {
		return nil, perr
	}
	grad, autocast := d.T.Grad.Enabled(), d.T.Autocast // inside of the blocks that leaveModes ends
	if errors.Is(err, errStop) {
		f.Trace = nil
		if err := tr.standIns.useAll(append([]vm.Object(nil), f.Stack[:f.SP]...)); err != nil {
			return nil, err
		}
		if err := tr.leaveModes(f); err != nil {
			return nil, err
		}
	}
	if errors.Is(err, errStop) {
		return &outcome{broke: true, at: tr.at, gradEnd: grad, autocastEnd: autocast, modesEnd: d.T.Functions.Stack}, nil
	}
	if u := unsupportedNumber(err); u != nil {
		return nil, u
	}
	if err != nil {
		return nil, err
	}
	return &outcome{result: res, gradEnd: grad, autocastEnd: autocast, modesEnd: d.T.Functions.Stack}, nil
}

// over lets go of what the frame was given, and of all that the trace met. Guards and recipes are functions that may keep parts of the trace, and the
// graph keeps its sizes, for as long as there is compiled code; its values are the program's to drop.
func (tr *tracer) over() {
	tr.sizes.Fresh = nil
	tr.unknowns.Created, tr.unknowns.Guarded, tr.unknowns.Replaced = nil, nil, nil
	tr.root = &vm.Frame{Code: tr.root.Code, Globals: tr.root.Globals, Builtins: tr.root.Builtins}
	tr.env = &source.Env{In: tr.in, Globals: tr.env.Globals}
	tr.guards = guard.NewDraft(tr.userPlace)
	tr.world.sources, tr.world.order, tr.world.made, tr.world.anchored, tr.world.faces = nil, nil, nil, nil, nil
	tr.standIns.fakes, tr.standIns.reals, tr.standIns.known = nil, nil, nil
	tr.reads.onStack, tr.reads.frozen = nil, nil
	tr.bindings.called, tr.bindings.funcs, tr.bindings.cells, tr.bindings.defaults = calledFunc{}, nil, nil, nil
	tr.random.generators = nil
	tr.journal.loggedLine = nil
	tr.effects.Forget()
	tr.out.inputs, tr.out.members, tr.out.variables, tr.out.later = nil, nil, nil, nil
	tr.symbols.liftedFrom, tr.symbols.liftedAs = nil, nil
}

// branchesOn is the break at a branch of f on a tensor.
func (tr *tracer) branchesOn(f *vm.Frame) *Unsupported {
	if f == tr.root {
		return unsupported(breaks.DataDependentJump)
	}
	return unsupported(breaks.DataDependentJumpInlined)
}
