package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
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

	refusal error // of the operator that ran last on fakes, if it refused its arguments
	opError error // what the last operator that failed on fakes said

	looking *vm.Frame // what a comptime context shows
}

// input is a placeholder with the source it is read from at run time.
type input struct {
	node   *fx.Node
	source source.Source
	val    *tensor.Tensor // the real tensor seen while tracing; nil for a number
	symbol string         // the symbol that a number is, "" for tensors
}

// StackEntry is one frame of a user stack: function, line, file.
type StackEntry struct {
	Function string
	Line     int
	File     string
}

// newTracer prepares to capture f, a private copy of the frame that e describes.
func newTracer(d *Dynamo, f *vm.Frame, e *source.Env, stop *point) *tracer {
	g := newGround(d, f, e)
	tr := &tracer{ground: g, stop: stop}
	tr.journal = &journal{ground: g, loggedLine: map[*vm.Frame]int{}}
	tr.guards = guard.NewDraft(g.userPlace)
	tr.out = newOutput(g, tr.journal)
	tr.symbols = newSymbols(g, tr.out)
	tr.effects = effects.New(g.in)
	tr.world = newWorld(g, tr.out, tr.symbols, tr.effects)
	tr.standIns = newStandIns(g, tr.journal, tr.out, tr.symbols, tr.world)
	tr.reads = newReads(g, tr.out, tr.symbols, tr.effects, tr.world, tr.standIns)
	tr.bindings = newBindings(g, tr.effects, tr.world, tr.standIns, tr.reads)
	tr.random = newRandomness(g, tr.out, tr.symbols, tr.world)
	tr.bodies = newBodies(g, tr.journal, tr.out, tr.symbols, tr.world, tr.standIns, tr.bindings, tr.call)
	return tr
}

// outcome of a traced frame.
type outcome struct {
	result  vm.Object // of a frame that ran to its end
	broke   bool      // stopped before instruction at
	jump    bool      // which is a branch on a tensor
	at      point
	gradEnd bool
	// autocastEnd is the autocast state at the end, likewise.
	autocastEnd torch.Autocast
}

// run traces the frame.
func (tr *tracer) run() (*outcome, error) {
	f := tr.root
	tr.sizes.Fresh = func(of *tensor.Tensor, dim int, size *symbolic.Expr) {
		tr.out.fresh = append(tr.out.fresh, unknownSize{of, dim, size})
	}
	f.Trace = tr.step
	d := tr.d
	var err error
	if tr.symbols.shapes, err = d.shapeConfig(); err != nil {
		return nil, err
	}
	if tr.sizes.Unbacked, err = d.configBool("capture_dynamic_output_shape_ops"); err != nil {
		return nil, err
	}
	tr.journal.logSymbols()
	tr.reads.seeStack(f)
	defer d.push(func(u *underway, a *torch.Ambient) {
		u.active = tr
		a.Hook, a.CallHook, a.LookupHook = tr.api, tr.call, tr.reads.lookedUp
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
	grad := d.T.Grad.Enabled()
	if errors.Is(err, errStop) {
		f.Trace = nil
		if err := tr.standIns.useAll(append([]vm.Object(nil), f.Stack[:f.SP]...)); err != nil {
			return nil, err
		}
		if err := tr.leaveModes(f); err != nil {
			return nil, err
		}
	}
	autocast := d.T.Autocast
	if errors.Is(err, errStop) {
		return &outcome{broke: true, at: tr.at, gradEnd: grad, autocastEnd: autocast}, nil
	}
	if u := unsupportedNumber(err); u != nil {
		return nil, u
	}
	if err != nil {
		return nil, err
	}
	return &outcome{result: res, gradEnd: grad, autocastEnd: autocast}, nil
}

// located notes the user's stack when err ends the trace.
func (jo *journal) located(err error) error {
	var u *Unsupported
	if jo.stack == nil && errors.As(err, &u) {
		jo.stack, jo.breakAt = jo.userStack(), jo.stackFrames()
	}
	return err
}

// branchesOn is the break at a branch of f on a tensor.
func (tr *tracer) branchesOn(f *vm.Frame) *Unsupported {
	if f == tr.root {
		return unsupported(breaks.DataDependentJump)
	}
	return unsupported(breaks.DataDependentJumpInlined)
}

// pending is what the next step of a frame has to finish: the source of a loaded value.
type pending struct {
	owner    vm.Object
	name     string
	key      vm.Object
	made     bool      // the instruction made a function
	imported string    // the instruction imported this module
	swap     vm.Object // takes the place of what the instruction loads

	method bool // LOAD_METHOD: self lies above what was found, or a null below it
}

// userStack lists the traced frames that lie outside of the library, outermost first.
func (jo *journal) userStack() []StackEntry {
	var out []StackEntry
	for f := jo.in.Frame(); f != nil; f = f.Back {
		out = append([]StackEntry{{f.Code.Name, f.Line(), shortFile(f.Code.Filename)}}, out...)
		if f == jo.root {
			break
		}
	}
	return out
}

// shortFile is a file as records name it: the script by its name, library files from torch/ on.
func shortFile(p string) string {
	if i := strings.Index(p, "torch/"); i >= 0 && strings.HasPrefix(p[i:], "torch/") {
		return p[i:]
	}
	return filepath.Base(p)
}

// hasMethod notes that the trace relies on a method of a tensor from outside. PyTorch asks whether it is there; the guard shows
// nothing but the way to it, and cannot fail here.
func (rd *reads) hasMethod(f *vm.Frame, o vm.Object, name string) {
	t, ok := o.(*torch.Tensor)
	if !ok || f != rd.root && !rd.mirrored(f) || !callable(t.Type().Lookup(name)) {
		return
	}
	if src := rd.world.sources[t]; src != nil {
		rd.guards.Add(guard.New(guard.Hasattr, fmt.Sprintf("hasattr(%s, '%s')", src.Name(), name), source.Attr{Base: src, Of: name}, nil).Hide())
	}
}

// callable reports whether a value is a method or function.
func callable(v vm.Object) bool {
	switch v.(type) {
	case *vm.BoundMethod, *vm.Builtin, *vm.Function:
		return true
	}
	return false
}

// nameAfter names the node of a tensor after the first variable that it is assigned to.
func (og *output) nameAfter(o vm.Object, variable string) {
	t, ok := o.(*torch.Tensor)
	if !ok || og.variables[t] {
		return
	}
	if n := og.nodes[t.T]; n != nil && n.Op != fx.Placeholder {
		og.variables[t] = true
		og.graph.NameAfter(n, variable)
	}
}
