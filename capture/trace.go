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
	"whittle/capture/python/code"
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

// step runs before every instruction of a traced frame.
func (tr *tracer) step(f *vm.Frame) error { return tr.journal.located(tr.watch(f)) }

// located notes the user's stack when err ends the trace.
func (jo *journal) located(err error) error {
	var u *Unsupported
	if jo.stack == nil && errors.As(err, &u) {
		jo.stack, jo.breakAt = jo.userStack(), jo.stackFrames()
	}
	return err
}

func (tr *tracer) watch(f *vm.Frame) error {
	if f == tr.root {
		tr.steps++
		tr.at = point{tr.steps, f.PC}
		if tr.stop != nil && tr.stop.step == tr.steps {
			return errStop
		}
	} else if _, known := tr.bindings.funcs[f]; !known {
		tr.bindings.enter(f)
		tr.journal.logInlined(f)
	}
	tr.reads.after(f)
	ins := f.Code.Instrs[f.PC]
	if tr.d.logs.any {
		tr.journal.logStep(f, ins, tr.world.variableName)
	}
	tr.reads.useStack(f, ins)
	if err := tr.reads.use(f, ins); err != nil {
		return err
	}
	top := func(k int) vm.Object { return f.Stack[f.SP-1-k] }
	switch ins.Op {
	case code.LOAD_FAST:
		if f != tr.root {
			tr.bindings.seeDefault(f, int(ins.Arg))
		} else {
			if v := f.LocalsPlus[ins.Arg]; v != nil {
				name := f.Code.LocalsPlusName(int(ins.Arg))
				if orig := tr.env.Locals[name]; orig == v && !tr.bindings.stored[int(ins.Arg)] {
					if s := tr.symbols.lifted(v, source.Local{Var: name}); s != nil {
						f.LocalsPlus[ins.Arg] = s
						return nil
					}
					tr.world.see(v, source.Local{Var: name})
				}
			}
		}
	case code.LOAD_DEREF, code.LOAD_CLASSDEREF:
		if f != tr.root {
			tr.bindings.seeFree(f, int(ins.Arg))
		} else if c, ok := f.LocalsPlus[ins.Arg].(*vm.Cell); ok && c.V != nil {
			name := f.Code.LocalsPlusName(int(ins.Arg))
			if tr.env.Locals[name] == c.V {
				tr.world.loaded(f, c.V, source.Local{Var: name})
			}
		}
	case code.LOAD_GLOBAL, code.LOAD_NAME:
		arg := ins.Arg
		if ins.Op == code.LOAD_GLOBAL {
			arg >>= 1
		}
		if s := tr.world.swapping(func() { tr.reads.seeGlobal(f, f.Code.Names[arg]) }); s != nil {
			if n, ok := s.(*torch.Scalar); ok {
				tr.out.exprNode(n.Expr) // unlike a local variable, a global is an input from when it is loaded
			}
			f.Ext = &pending{swap: s}
		}
	case code.STORE_GLOBAL:
		tr.effects.StoreGlobal(f.Globals, f.Code.Names[ins.Arg])
	case code.DELETE_GLOBAL:
		return unsupported(breaks.DeleteGlobal)
	case code.RAISE_VARARGS:
		if ins.Arg > 0 {
			if c, ok := top(0).(*vm.Type); ok && tr.userException(c, nil) != nil {
				return unsupported(breaks.RaiseUserException, c.Name)
			}
		}
	case code.STORE_ATTR:
		if err := tr.reads.storesTensor(top(0), f.Code.Names[ins.Arg]); err != nil {
			return err
		}
		tr.world.touch(top(0))
		tr.reads.assigned(top(0), f.Code.Names[ins.Arg], top(1))
	case code.STORE_SUBSCR:
		tr.world.touch(top(1))
	case code.STORE_DEREF:
		own := int(ins.Arg) < len(f.LocalsPlus)-len(f.Code.FreeVars)
		if c, ok := f.LocalsPlus[ins.Arg].(*vm.Cell); ok && (f == tr.root || !own) { // the cells of an inlined call are its own
			tr.effects.Save(c)
		}
		if f == tr.root {
			tr.out.nameAfter(top(0), f.Code.LocalsPlusName(int(ins.Arg)))
		}
	case code.LOAD_ATTR, code.LOAD_METHOD:
		if err := tr.strictMode(top(0), f.Code.Names[ins.Arg]); err != nil {
			return err
		}
		tr.reads.readsAttr(top(0), f.Code.Names[ins.Arg])
		tr.reads.note(f, top(0), f.Code.Names[ins.Arg])
		if p, ok := f.Ext.(*pending); ok && p != nil {
			p.method = ins.Op == code.LOAD_METHOD
		}
		tr.reads.hasMethod(f, top(0), f.Code.Names[ins.Arg])
	case code.COMPARE_OP:
		tr.reads.content(top(0))
		tr.reads.content(top(1))
		if isSequence(top(0)) && isSequence(top(1)) && int(ins.Arg) < len(code.CmpOps) && strings.ContainsAny(code.CmpOps[ins.Arg], "<>") {
			tr.world.usePolyfill("list_cmp", nil)
		}
	case code.IS_OP:
		tr.reads.different(top(0), top(1))
	case code.FORMAT_VALUE:
		tr.reads.content(top(0))
	case code.BINARY_OP:
		tr.reads.content(top(0))
		tr.reads.content(top(1))
	case code.IMPORT_NAME:
		tr.reads.imports(f, f.Code.Names[ins.Arg], top(0), top(1))
	case code.IMPORT_FROM:
		tr.reads.readsAttr(top(0), f.Code.Names[ins.Arg])
		tr.reads.note(f, top(0), f.Code.Names[ins.Arg])
	case code.CONTAINS_OP:
		if d, ok := vm.AsDict(top(0)); ok {
			if src := tr.world.sourceOf(top(0)); src != nil {
				tr.world.memberGuard(src, d, top(1))
			}
		} else {
			tr.guards.Covertly(func() {
				if src := tr.world.sourceOf(top(0)); src != nil {
					tr.world.membersGuard(src, top(0))
				}
			})
		}
		if err := tr.reads.searched(top(0), top(1)); err != nil {
			return err
		}
	case code.BINARY_SUBSCR:
		if _, ok := top(0).(*vm.Slice); ok {
			tr.reads.content(top(1))
		}
		tr.reads.note(f, top(1), top(0))
	case code.FOR_ITER:
		switch it := top(0).(type) {
		case *replayIter:
			tr.reads.stepped(it)
		case *vm.Generator:
			if tr.world.sources[it] != nil { // running it here would use it up
				return unsupported(breaks.OuterGenerator)
			}
		}
	case code.BEFORE_WITH:
		if i, ok := top(0).(*vm.Instance); ok && tr.world.sources[i] != nil && !strings.HasPrefix(i.Class.Module, "torch") {
			return unsupported(breaks.ContextManager, i.Class.Name)
		} else if !ok { // a file, a lock: an object of plain Python
			id := breaks.ContextManager
			if isFile(top(0).Type()) {
				id = breaks.FileContext
			}
			return unsupported(id, top(0).Type().Name)
		}
	case code.GET_ITER:
		rows, err := tr.unpackTensor(top(0))
		if err != nil {
			return err
		}
		if rows != nil {
			tr.reads.iterated(top(0))
			f.Stack[f.SP-1] = rows
			return nil
		}
		tr.reads.walked(top(0))
		tr.world.seeItems(top(0))
		if _, ok := top(0).(*vm.Instance); ok {
			tr.reads.content(top(0))
		}
	case code.UNPACK_SEQUENCE:
		rows, err := tr.unpackTensor(top(0))
		if err != nil {
			return err
		}
		if rows != nil {
			f.Stack[f.SP-1] = rows
			return nil
		}
		if t := tr.world.liftItems(top(0)); t != nil {
			f.Stack[f.SP-1] = t
			return nil
		}
		tr.world.seeItems(top(0))
	case code.UNPACK_EX, code.LIST_EXTEND, code.DICT_MERGE, code.DICT_UPDATE, code.SET_UPDATE, code.CALL_FUNCTION_EX:
		tr.world.seeItems(top(0))
		tr.reads.content(top(0))
		if ins.Op == code.CALL_FUNCTION_EX && f.SP > 1 {
			tr.world.seeItems(top(1))
			tr.reads.content(top(1))
		}
	case code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_FORWARD_IF_TRUE, code.POP_JUMP_BACKWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_TRUE,
		code.JUMP_IF_FALSE_OR_POP, code.JUMP_IF_TRUE_OR_POP, code.UNARY_NOT:
		if s, ok := top(0).(*torch.Scalar); ok && ins.Op != code.UNARY_NOT && !tr.symbols.decidable(s) {
			return tr.branchesOn(f)
		}
		if p, ok := top(0).(*torch.Tensor); ok {
			if ins.Op == code.UNARY_NOT {
				return nil
			}
			tr.standIns.fake(p)
			return tr.branchesOn(f)
		}
	case code.STORE_FAST, code.DELETE_FAST:
		if ins.Op == code.STORE_FAST {
			if s, ok := top(0).(*torch.Scalar); ok && tr.symbols.liftedFrom[s] != nil {
				tr.out.exprNode(s.Expr)
			}
			tr.out.nameAfter(top(0), f.Code.LocalsPlusName(int(ins.Arg)))
		}
		if f == tr.root {
			tr.bindings.stored[int(ins.Arg)] = true
		}
	case code.MAKE_FUNCTION:
		f.Ext = &pending{made: true}
	case code.YIELD_VALUE, code.RETURN_GENERATOR:
		if f == tr.root {
			return unsupported(breaks.GeneratorFrame)
		}
	}
	return nil
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
