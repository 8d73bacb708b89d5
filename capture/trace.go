package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/sizes"
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

// tracer is one attempt to capture one frame.
type tracer struct {
	d   *Dynamo
	in  *vm.Interp
	t   *torch.Torch
	env *source.Env

	root  *vm.Frame
	steps int    // instructions of the root frame so far
	stop  *point // where an earlier attempt learned to break; nil => run to the end
	at    point  // where the root frame is

	scope  // the graph, and the nodes in it
	inputs []input
	fakes  map[*tensor.Tensor]*tensor.Tensor // real tensor => its stand-in
	reals  map[*tensor.Tensor]*torch.Tensor  // stand-in => the real tensor's object
	attrs  map[string]*tensor.Tensor

	guards   *guard.Draft
	builtins string                      // the global under which guards reach the builtins
	sources  map[vm.Object]source.Source // objects that existed before the trace
	funcs    map[*vm.Frame]source.Source // functions that the running frames are calls of
	cells    map[*vm.Cell]source.Source  // cells of functions that were called, with the way to their contents; nil for those without
	globals  []*globalWrite              // globals that the trace assigned
	refusal  error                       // of the operator that ran last on fakes, if it refused its arguments
	opError  error                       // what the last operator that failed on fakes said
	onStack  map[int]stackValue          // what lies untouched on a resume function's stack, by slot
	called   calledFunc                  // the function that the next frame is a call of
	order    []vm.Object                 // of first sight
	saved    map[vm.Object]snapshot

	savedOrder []vm.Object                      // the objects of saved, and assigned globals, in order of first sight
	viaAttr    map[*tensor.Tensor]source.Source // views that are attributes of inputs

	stack       []StackEntry // user stack of the break
	depth       int          // inside torch API calls: nothing is captured
	grad        bool         // grad mode on entry
	inference   bool         // likewise
	state       globalState  // on entry
	autocasting bool         // likewise
	calls       int

	logs    []logCall          // calls put off until the graph has run
	looking *vm.Frame          // what a comptime context shows
	made    map[vm.Object]bool // functions that the trace made

	classes    map[*vm.Type]*classFacts // what was looked up in classes
	classOrder []*vm.Type
	anchored   map[vm.Object]bool         // objects without a source that are the same in every call
	fixedCount int                        // of their sources
	keyNumbers map[vm.Object]int          // of keys of dicts that guards name
	branch     *branch                    // the branch of a cond that is being traced
	subs       map[string]*fx.GraphModule // branches that were
	conds      int
	bodies     int          // of checkpoints
	stored     map[int]bool // local variables that the root frame assigned

	defaults map[*vm.Frame]map[int]defaultValue // of running inlined calls, by slot

	draws         randomDraws
	generators    map[*vm.Instance]vm.Object // those that the trace drew from, with the states before
	tensorNumbers map[*fx.Node]bool          // numbers that are 0-d tensors when the graph runs

	ended      bool                   // the frame has run
	variables  map[*torch.Tensor]bool // tensors that are called after a variable
	loggedLine map[*vm.Frame]int      // the line that was last logged of each frame
	breakAt    []guard.Place          // where the frames of stack are, for the log

	// Dynamic shapes: see dynamic.go.
	unknowns     *symbolic.Env
	sizes        *sizes.Tracker
	shapes       shapeConfig
	inputSizes   map[string]*inputSizes                     // by source
	liftedAs     map[string]vm.Object                       // numbers from outside that became symbols, by source
	liftedFrom   map[vm.Object]source.Source                // where they come from
	fresh        []unknownSize                              // sizes that the call under way made unknown
	defined      []definition                               // nodes of unbacked symbols
	symbolTo     *vm.Object                                 // where see may leave a symbol to take the place of a number; nil => nowhere
	later        map[string]func() *fx.Node                 // makes the input of a number that was not used yet, by symbol
	inputNumbers []symbolic.Input                           // numbers that guards may relate
	numbers      map[string]func(e *source.Env) (any, bool) // how to read them
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

// snapshot is the content of a mutable object before the trace touched it.
type snapshot struct {
	items []vm.Object // list items; dict keys and values in turn; set members; a cell's value
	dict  *vm.Dict    // an instance's __dict__
}

func newTracer(d *Dynamo, f *vm.Frame, e *source.Env, stop *point) *tracer {
	unknowns := symbolic.NewEnv()
	tr := &tracer{unknowns: unknowns, sizes: sizes.New(unknowns), inputSizes: map[string]*inputSizes{}, liftedAs: map[string]vm.Object{}, liftedFrom: map[vm.Object]source.Source{}, later: map[string]func() *fx.Node{}, numbers: map[string]func(*source.Env) (any, bool){},
		d: d, in: d.In, t: d.T, env: e, stop: stop, builtins: d.uniqueName("__builtins_dict__"), funcs: map[*vm.Frame]source.Source{}, cells: map[*vm.Cell]source.Source{}, scope: newScope(),
		fakes: map[*tensor.Tensor]*tensor.Tensor{}, reals: map[*tensor.Tensor]*torch.Tensor{}, attrs: map[string]*tensor.Tensor{},
		made: map[vm.Object]bool{}, stored: map[int]bool{}, sources: map[vm.Object]source.Source{}, saved: map[vm.Object]snapshot{}, viaAttr: map[*tensor.Tensor]source.Source{}, grad: d.T.Grad.Enabled(), inference: d.T.Inference, autocasting: d.T.Autocast.Enabled}
	tr.guards = guard.NewDraft(tr.userPlace)
	tr.state = d.globalState(tr.grad)
	for name, c := range e.Cells {
		tr.sources[c] = source.Cell{Var: name}
	}
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

// run traces frame f, a private copy of the real one.
func (tr *tracer) run(f *vm.Frame) (*outcome, error) {
	tr.root = f
	tr.sizes.Fresh = func(of *tensor.Tensor, dim int, size *symbolic.Expr) {
		tr.fresh = append(tr.fresh, unknownSize{of, dim, size})
	}
	f.Trace = tr.step
	d := tr.d
	var err error
	if tr.shapes, err = d.shapeConfig(); err != nil {
		return nil, err
	}
	if tr.sizes.Unbacked, err = d.configBool("capture_dynamic_output_shape_ops"); err != nil {
		return nil, err
	}
	tr.logSymbols()
	tr.seeStack(f)
	defer d.push(func(u *underway, a *torch.Ambient) {
		u.active = tr
		a.Hook, a.CallHook, a.LookupHook = tr.api, tr.call, tr.lookedUp
		a.Lift, a.Sizes, a.Numel = nil, tr.sizesOf, tr.numelOf
	})()
	defer d.T.KeepModes()() // what the frame leaves open is in the outcome
	if err := tr.enterModes(f); err != nil {
		return nil, err
	}
	res, err := d.In.EvalFrame(f)
	tr.ended = true
	if perr := tr.putBack(); perr != nil {
		return nil, perr
	}
	grad := d.T.Grad.Enabled()
	if errors.Is(err, errStop) {
		f.Trace = nil
		if err := tr.useAll(append([]vm.Object(nil), f.Stack[:f.SP]...)); err != nil {
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
func (tr *tracer) step(f *vm.Frame) error { return tr.located(tr.watch(f)) }

// located notes the user's stack when err ends the trace.
func (tr *tracer) located(err error) error {
	var u *Unsupported
	if tr.stack == nil && errors.As(err, &u) {
		tr.stack, tr.breakAt = tr.userStack(), tr.stackFrames()
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
	} else if _, known := tr.funcs[f]; !known {
		tr.enter(f)
		tr.logInlined(f)
	}
	tr.after(f)
	ins := f.Code.Instrs[f.PC]
	if tr.d.logs.any {
		tr.logStep(f, ins)
	}
	tr.useStack(f, ins)
	if err := tr.use(f, ins); err != nil {
		return err
	}
	top := func(k int) vm.Object { return f.Stack[f.SP-1-k] }
	switch ins.Op {
	case code.LOAD_FAST:
		if f != tr.root {
			tr.seeDefault(f, int(ins.Arg))
		} else {
			if v := f.LocalsPlus[ins.Arg]; v != nil {
				name := f.Code.LocalsPlusName(int(ins.Arg))
				if orig := tr.env.Locals[name]; orig == v && !tr.stored[int(ins.Arg)] {
					if s := tr.lifted(v, source.Local{Var: name}); s != nil {
						f.LocalsPlus[ins.Arg] = s
						return nil
					}
					tr.see(v, source.Local{Var: name})
				}
			}
		}
	case code.LOAD_DEREF, code.LOAD_CLASSDEREF:
		if f != tr.root {
			tr.seeFree(f, int(ins.Arg))
		} else if c, ok := f.LocalsPlus[ins.Arg].(*vm.Cell); ok && c.V != nil {
			name := f.Code.LocalsPlusName(int(ins.Arg))
			if tr.env.Locals[name] == c.V {
				tr.loaded(f, c.V, source.Local{Var: name})
			}
		}
	case code.LOAD_GLOBAL, code.LOAD_NAME:
		arg := ins.Arg
		if ins.Op == code.LOAD_GLOBAL {
			arg >>= 1
		}
		if s := tr.swapping(func() { tr.seeGlobal(f, f.Code.Names[arg]) }); s != nil {
			if n, ok := s.(*torch.Scalar); ok {
				tr.exprNode(n.Expr) // unlike a local variable, a global is an input from when it is loaded
			}
			f.Ext = &pending{swap: s}
		}
	case code.STORE_GLOBAL:
		tr.storeGlobal(f, f.Code.Names[ins.Arg])
	case code.DELETE_GLOBAL:
		return unsupported(breaks.DeleteGlobal)
	case code.RAISE_VARARGS:
		if ins.Arg > 0 {
			if c, ok := top(0).(*vm.Type); ok && tr.userException(c, nil) != nil {
				return unsupported(breaks.RaiseUserException, c.Name)
			}
		}
	case code.STORE_ATTR:
		if err := tr.storesTensor(top(0), f.Code.Names[ins.Arg]); err != nil {
			return err
		}
		tr.touch(top(0))
		tr.assigned(top(0), f.Code.Names[ins.Arg], top(1))
	case code.STORE_SUBSCR:
		tr.touch(top(1))
	case code.STORE_DEREF:
		own := int(ins.Arg) < len(f.LocalsPlus)-len(f.Code.FreeVars)
		if c, ok := f.LocalsPlus[ins.Arg].(*vm.Cell); ok && (f == tr.root || !own) { // the cells of an inlined call are its own
			tr.touchCell(c)
		}
		if f == tr.root {
			tr.nameAfter(top(0), f.Code.LocalsPlusName(int(ins.Arg)))
		}
	case code.LOAD_ATTR, code.LOAD_METHOD:
		if err := tr.strictMode(top(0), f.Code.Names[ins.Arg]); err != nil {
			return err
		}
		tr.readsAttr(top(0), f.Code.Names[ins.Arg])
		tr.note(f, top(0), f.Code.Names[ins.Arg])
		if p, ok := f.Ext.(*pending); ok && p != nil {
			p.method = ins.Op == code.LOAD_METHOD
		}
		tr.hasMethod(f, top(0), f.Code.Names[ins.Arg])
	case code.COMPARE_OP:
		tr.content(top(0))
		tr.content(top(1))
		if isSequence(top(0)) && isSequence(top(1)) && int(ins.Arg) < len(code.CmpOps) && strings.ContainsAny(code.CmpOps[ins.Arg], "<>") {
			tr.usePolyfill("list_cmp", nil)
		}
	case code.IS_OP:
		tr.different(top(0), top(1))
	case code.FORMAT_VALUE:
		tr.content(top(0))
	case code.BINARY_OP:
		tr.content(top(0))
		tr.content(top(1))
	case code.IMPORT_NAME:
		tr.imports(f, f.Code.Names[ins.Arg], top(0), top(1))
	case code.IMPORT_FROM:
		tr.readsAttr(top(0), f.Code.Names[ins.Arg])
		tr.note(f, top(0), f.Code.Names[ins.Arg])
	case code.CONTAINS_OP:
		if d, ok := vm.AsDict(top(0)); ok {
			if src := tr.sourceOf(top(0)); src != nil {
				tr.memberGuard(src, d, top(1))
			}
		} else {
			tr.guards.Covertly(func() {
				if src := tr.sourceOf(top(0)); src != nil {
					tr.membersGuard(src, top(0))
				}
			})
		}
		if err := tr.searched(top(0), top(1)); err != nil {
			return err
		}
	case code.BINARY_SUBSCR:
		if _, ok := top(0).(*vm.Slice); ok {
			tr.content(top(1))
		}
		tr.note(f, top(1), top(0))
	case code.FOR_ITER:
		switch it := top(0).(type) {
		case *replayIter:
			tr.stepped(it)
		case *vm.Generator:
			if tr.sources[it] != nil { // running it here would use it up
				return unsupported(breaks.OuterGenerator)
			}
		}
	case code.BEFORE_WITH:
		if i, ok := top(0).(*vm.Instance); ok && tr.sources[i] != nil && !strings.HasPrefix(i.Class.Module, "torch") {
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
			tr.iterated(top(0))
			f.Stack[f.SP-1] = rows
			return nil
		}
		tr.walked(top(0))
		tr.seeItems(top(0))
		if _, ok := top(0).(*vm.Instance); ok {
			tr.content(top(0))
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
		if t := tr.liftItems(top(0)); t != nil {
			f.Stack[f.SP-1] = t
			return nil
		}
		tr.seeItems(top(0))
	case code.UNPACK_EX, code.LIST_EXTEND, code.DICT_MERGE, code.DICT_UPDATE, code.SET_UPDATE, code.CALL_FUNCTION_EX:
		tr.seeItems(top(0))
		tr.content(top(0))
		if ins.Op == code.CALL_FUNCTION_EX && f.SP > 1 {
			tr.seeItems(top(1))
			tr.content(top(1))
		}
	case code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_FORWARD_IF_TRUE, code.POP_JUMP_BACKWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_TRUE,
		code.JUMP_IF_FALSE_OR_POP, code.JUMP_IF_TRUE_OR_POP, code.UNARY_NOT:
		if s, ok := top(0).(*torch.Scalar); ok && ins.Op != code.UNARY_NOT && !tr.decidable(s) {
			return tr.branchesOn(f)
		}
		if p, ok := top(0).(*torch.Tensor); ok {
			if ins.Op == code.UNARY_NOT {
				return nil
			}
			tr.fake(p)
			return tr.branchesOn(f)
		}
	case code.STORE_FAST, code.DELETE_FAST:
		if ins.Op == code.STORE_FAST {
			if s, ok := top(0).(*torch.Scalar); ok && tr.liftedFrom[s] != nil {
				tr.exprNode(s.Expr)
			}
			tr.nameAfter(top(0), f.Code.LocalsPlusName(int(ins.Arg)))
		}
		if f == tr.root {
			tr.stored[int(ins.Arg)] = true
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
func (tr *tracer) userStack() []StackEntry {
	var out []StackEntry
	for f := tr.in.Frame(); f != nil; f = f.Back {
		out = append([]StackEntry{{f.Code.Name, f.Line(), shortFile(f.Code.Filename)}}, out...)
		if f == tr.root {
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
func (tr *tracer) hasMethod(f *vm.Frame, o vm.Object, name string) {
	t, ok := o.(*torch.Tensor)
	if !ok || f != tr.root && !tr.mirrored(f) || !callable(t.Type().Lookup(name)) {
		return
	}
	if src := tr.sources[t]; src != nil {
		tr.guards.Add(guard.New(guard.Hasattr, fmt.Sprintf("hasattr(%s, '%s')", src.Name(), name), source.Attr{Base: src, Of: name}, nil).Hide())
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
func (tr *tracer) nameAfter(o vm.Object, variable string) {
	t, ok := o.(*torch.Tensor)
	if !ok || tr.variables[t] {
		return
	}
	if n := tr.nodes[t.T]; n != nil && n.Op != fx.Placeholder {
		if tr.variables == nil {
			tr.variables = map[*torch.Tensor]bool{}
		}
		tr.variables[t] = true
		tr.graph.NameAfter(n, variable)
	}
}
