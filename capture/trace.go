package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/sizes"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Unsupported ends a trace at the instruction that runs: a graph break, or the end of the frame's capture.
type Unsupported struct {
	Reason string
	// Jump marks a branch on a tensor: the break is known without a second attempt.
	Jump bool
	// NoBreak says that no graph break can help: the whole frame runs as plain Python.
	NoBreak bool
}

func (u *Unsupported) Error() string { return u.Reason }

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
	env *env

	root  *vm.Frame
	steps int    // instructions of the root frame so far
	stop  *point // where an earlier attempt learned to break; nil => run to the end
	at    point  // where the root frame is

	scope  // the graph, and the nodes in it
	inputs []input
	fakes  map[*tensor.Tensor]*tensor.Tensor // real tensor => its stand-in
	reals  map[*tensor.Tensor]*torch.Tensor  // stand-in => the real tensor's object
	attrs  map[string]*tensor.Tensor

	guards  guardSet
	sources map[vm.Object]Source // objects that existed before the trace
	funcs   map[*vm.Frame]Source // functions that the running frames are calls of
	cells   map[*vm.Cell]Source  // cells of functions that were called, with the way to their contents; nil for those without
	globals []*globalWrite       // globals that the trace assigned
	refusal error                // of the operator that ran last on fakes, if it refused its arguments
	opError error                // what the last operator that failed on fakes said
	onStack map[int]stackValue   // what lies untouched on a resume function's stack, by slot
	called  calledFunc           // the function that the next frame is a call of
	order   []vm.Object          // of first sight
	saved   map[vm.Object]snapshot

	savedOrder []vm.Object               // the objects of saved, and assigned globals, in order of first sight
	viaAttr    map[*tensor.Tensor]Source // views that are attributes of inputs

	stack       []StackEntry // user stack of the break
	depth       int          // inside torch API calls: nothing is captured
	grad        bool         // grad mode on entry
	inference   bool         // likewise
	autocasting bool         // likewise
	calls       int

	logs    []logCall                  // calls put off until the graph has run
	looking *vm.Frame                  // what a comptime context shows
	made    map[vm.Object]bool         // functions that the trace made
	branch  *branch                    // the branch of a cond that is being traced
	subs    map[string]*fx.GraphModule // branches that were
	conds   int
	bodies  int          // of checkpoints
	stored  map[int]bool // local variables that the root frame assigned

	defaults map[*vm.Frame]map[int]defaultValue // of running inlined calls, by slot

	draws         randomDraws
	generators    map[*vm.Instance]vm.Object // those that the trace drew from, with the states before
	tensorNumbers map[*fx.Node]bool          // numbers that are 0-d tensors when the graph runs

	ended      bool                   // the frame has run
	variables  map[*torch.Tensor]bool // tensors that are called after a variable
	loggedLine map[*vm.Frame]int      // the line that was last logged of each frame
	breakAt    []stackFrame           // where the frames of stack are, for the log

	// Dynamic shapes: see dynamic.go.
	unknowns     *symbolic.Env
	sizes        *sizes.Tracker
	shapes       shapeConfig
	inputSizes   map[string]*inputSizes              // by source
	liftedAs     map[string]vm.Object                // numbers from outside that became symbols, by source
	liftedFrom   map[vm.Object]Source                // where they come from
	fresh        []unknownSize                       // sizes that the call under way made unknown
	defined      []definition                        // nodes of unbacked symbols
	symbolTo     *vm.Object                          // where see may leave a symbol to take the place of a number; nil => nowhere
	later        map[string]func() *fx.Node          // makes the input of a number that was not used yet, by symbol
	inputNumbers []symbolic.Input                    // numbers that guards may relate
	numbers      map[string]func(e *env) (any, bool) // how to read them
}

// input is a placeholder with the source it is read from at run time.
type input struct {
	node   *fx.Node
	source Source
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

func newTracer(d *Dynamo, f *vm.Frame, e *env, stop *point) *tracer {
	unknowns := symbolic.NewEnv()
	tr := &tracer{unknowns: unknowns, sizes: sizes.New(unknowns), inputSizes: map[string]*inputSizes{}, liftedAs: map[string]vm.Object{}, liftedFrom: map[vm.Object]Source{}, later: map[string]func() *fx.Node{}, numbers: map[string]func(*env) (any, bool){},
		d: d, in: d.In, t: d.T, env: e, stop: stop, guards: newGuardSet(d.uniqueName("__builtins_dict__")), funcs: map[*vm.Frame]Source{}, cells: map[*vm.Cell]Source{}, scope: newScope(),
		fakes: map[*tensor.Tensor]*tensor.Tensor{}, reals: map[*tensor.Tensor]*torch.Tensor{}, attrs: map[string]*tensor.Tensor{},
		made: map[vm.Object]bool{}, stored: map[int]bool{}, sources: map[vm.Object]Source{}, saved: map[vm.Object]snapshot{}, viaAttr: map[*tensor.Tensor]Source{}, grad: d.T.Grad.Enabled(), inference: d.T.Inference, autocasting: d.T.Autocast.Enabled}
	tr.guards.place = tr.userPlace
	for name, c := range e.cells {
		tr.sources[c] = cellSource{name}
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
	oldHook, oldCall, oldFrame := d.T.Hook, d.In.CallHook, d.active
	oldDispatch, oldLift, oldSwitch := d.T.Dispatch, d.T.Lift, d.T.GradSwitch
	d.T.Hook, d.In.CallHook, d.active = tr.api, tr.call, tr
	d.T.Lift, d.T.Sizes, d.T.Numel = nil, tr.sizesOf, tr.numelOf
	defer func() {
		d.T.Sizes, d.T.Numel = nil, nil
		d.T.Hook, d.In.CallHook, d.active = oldHook, oldCall, oldFrame
		d.T.Dispatch, d.T.Lift, d.T.GradSwitch = oldDispatch, oldLift, oldSwitch
	}()
	autocast, inference := d.T.Autocast, d.T.Inference
	defer func() { d.T.Inference = inference }()
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
	d.T.Grad.SetEnabled(tr.grad)
	autocast, d.T.Autocast = d.T.Autocast, autocast
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
				if orig := tr.env.locals[name]; orig == v && !tr.stored[int(ins.Arg)] {
					if s := tr.lifted(v, localSource{name}); s != nil {
						f.LocalsPlus[ins.Arg] = s
						return nil
					}
					tr.see(v, localSource{name})
				}
			}
		}
	case code.LOAD_DEREF, code.LOAD_CLASSDEREF:
		if f != tr.root {
			tr.seeFree(f, int(ins.Arg))
		} else if c, ok := f.LocalsPlus[ins.Arg].(*vm.Cell); ok && c.V != nil {
			name := f.Code.LocalsPlusName(int(ins.Arg))
			if tr.env.locals[name] == c.V {
				tr.loaded(f, c.V, localSource{name})
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
		return &Unsupported{Reason: "Unsupported: missing: DELETE_GLOBAL"}
	case code.RAISE_VARARGS:
		if ins.Arg > 0 {
			if c, ok := top(0).(*vm.Type); ok && tr.userException(c, nil) != nil {
				return &Unsupported{Reason: "Unsupported: raise " + c.Name, NoBreak: true}
			}
		}
	case code.STORE_ATTR:
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
		tr.note(f, top(0), f.Code.Names[ins.Arg])
		if p, ok := f.Ext.(*pending); ok && p != nil {
			p.method = ins.Op == code.LOAD_METHOD
		}
		tr.hasMethod(f, top(0), f.Code.Names[ins.Arg])
	case code.COMPARE_OP:
		if isSequence(top(0)) && isSequence(top(1)) && int(ins.Arg) < len(code.CmpOps) && strings.ContainsAny(code.CmpOps[ins.Arg], "<>") {
			tr.usePolyfill("list_cmp", nil)
		}
	case code.CONTAINS_OP:
		if err := tr.searched(top(0), top(1)); err != nil {
			return err
		}
	case code.BINARY_SUBSCR:
		tr.note(f, top(1), top(0))
	case code.FOR_ITER:
		switch it := top(0).(type) {
		case *replayIter:
			tr.stepped(it)
		case *vm.Generator:
			if tr.sources[it] != nil { // running it here would use it up
				return &Unsupported{Reason: "FOR_ITER over a generator from outside", NoBreak: true}
			}
		}
	case code.BEFORE_WITH:
		if i, ok := top(0).(*vm.Instance); ok && tr.sources[i] != nil && !strings.HasPrefix(i.Class.Module, "torch") {
			return &Unsupported{Reason: "BEFORE_WITH UserDefinedObjectVariable(" + i.Class.Name + ")", NoBreak: true}
		} else if !ok { // a file, a lock: an object of plain Python
			return &Unsupported{Reason: "BEFORE_WITH UserDefinedObjectVariable(" + top(0).Type().Name + ")", NoBreak: true}
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
		if ins.Op == code.CALL_FUNCTION_EX && f.SP > 1 {
			tr.seeItems(top(1))
		}
	case code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_FORWARD_IF_TRUE, code.POP_JUMP_BACKWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_TRUE,
		code.JUMP_IF_FALSE_OR_POP, code.JUMP_IF_TRUE_OR_POP, code.UNARY_NOT:
		if s, ok := top(0).(*torch.Scalar); ok && ins.Op != code.UNARY_NOT && !tr.decidable(s) {
			return &Unsupported{Reason: "Data-dependent jump", Jump: f == tr.root}
		}
		if p, ok := top(0).(*torch.Tensor); ok {
			if ins.Op == code.UNARY_NOT {
				return nil
			}
			tr.fake(p)
			return &Unsupported{Reason: "Data-dependent jump", Jump: f == tr.root}
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
			return &Unsupported{Reason: "generator", NoBreak: true}
		}
	}
	return nil
}

// pending is what the next step of a frame has to finish: the source of a loaded value.
type pending struct {
	owner vm.Object
	name  string
	key   vm.Object
	made  bool      // the instruction made a function
	swap  vm.Object // takes the place of what the instruction loads

	method bool // LOAD_METHOD: self lies above what was found, or a null below it
}

func (tr *tracer) note(f *vm.Frame, owner vm.Object, what any) {
	if tr.sources[keyOf(owner)] == nil {
		f.Ext = nil
		return
	}
	if i, ok := owner.(*vm.Instance); ok && (wholeInstances[i.Class.FullName()] || isEnumMember(i) && tr.d.isLibrary(f.Code.Filename)) {
		f.Ext = nil
		return
	}
	if tr.quiet() {
		switch owner.(type) {
		case *vm.Module, *vm.Type, *vm.Function:
			f.Ext = nil
			return
		}
	}
	p := &pending{owner: owner}
	switch w := what.(type) {
	case string:
		p.name = w
	case vm.Object:
		p.key = w
	}
	f.Ext = p
}

// after gives the value that the last instruction loaded its source.
func (tr *tracer) after(f *vm.Frame) {
	p, ok := f.Ext.(*pending)
	if !ok || p == nil {
		return
	}
	f.Ext = nil
	if f.SP == 0 {
		return
	}
	v := f.Stack[f.SP-1]
	if v == nil {
		return
	}
	if p.made {
		tr.made[v] = true
		return
	}
	if p.swap != nil {
		f.Stack[f.SP-1] = p.swap
		return
	}
	if p.method && f.SP > 1 && f.Stack[f.SP-2] != nil {
		return
	}
	base := tr.sources[keyOf(p.owner)]
	if p.key != nil {
		if s := tr.swapping(func() { tr.seeItem(p.owner, base, p.key, v) }); s != nil {
			f.Stack[f.SP-1] = s
		}
		return
	}
	if owner, isTensor := p.owner.(*torch.Tensor); isTensor {
		if p.name == "data" || p.name == "requires_grad" || p.name == "grad_fn" || p.name == "shape" && !fixedSize(v) {
			tr.guards.add(tr.typeGuard(owner, base))
		}
		if p.name == "shape" && hasNumber(v) {
			tr.guards.add(tr.typeGuard(owner, base))
		}
		if p.name == "grad" {
			tr.see(v, attrSource{base, p.name})
		}
		if r, ok := v.(*torch.Tensor); ok && (p.name == "T" || p.name == "mT" || p.name == "H" || p.name == "real" || p.name == "imag") {
			tr.viaAttr[r.T] = attrSource{base, p.name}
		}
		return
	}
	if _, module := p.owner.(*vm.Module); !module {
		if _, bound := v.(*vm.BoundMethod); bound {
			return
		}
		if b, isB := v.(*vm.Builtin); isB && b.Self != nil {
			return
		}
	}
	if s := tr.swapping(func() { tr.seeAttr(p.owner, base, p.name, v) }); s != nil {
		f.Stack[f.SP-1] = s
	}
}

// seeItem gives owner[key] its source. Only what the container held before the trace has one: a defaultdict makes items, and
// classes compute them.
func (tr *tracer) seeItem(owner vm.Object, base Source, key, v vm.Object) {
	if !tr.held(owner, key, v) {
		return
	}
	if t, ok := owner.(*vm.Tuple); ok && tr.constantTuple(t, base) {
		return
	}
	switch key.(type) {
	case vm.Int, vm.Str, vm.Bool:
		if i, ok := vm.AsInt(key); ok && i < 0 && listLen(owner)+tupleLen(owner) >= 0 {
			key = vm.MakeInt(i + int64(max(listLen(owner), tupleLen(owner))))
		}
		if r, err := tr.in.Repr(key); err == nil {
			tr.see(v, itemSource{base, key, r})
		}
	default:
		// A key that came from outside itself: state[param].
		if ks := tr.sources[keyOf(key)]; ks != nil && tr.sources[keyOf(v)] == nil {
			tr.see(v, keyedSource{base, ks})
		}
	}
}

// held reports whether a container held v under key before the trace.
func (tr *tracer) held(owner, key, v vm.Object) bool {
	if i, ok := owner.(*vm.Instance); ok {
		if n, ok := i.Native.(vm.Object); ok {
			owner = n
		}
	}
	at := func(items []vm.Object) bool {
		i, ok := vm.AsInt(key)
		if i < 0 {
			i += int64(len(items))
		}
		return ok && i >= 0 && i < int64(len(items)) && items[i] == v
	}
	switch o := owner.(type) {
	case *vm.Tuple:
		return at(o.Items)
	case *vm.List:
		return at(tr.saved[o].items)
	case *vm.Dict:
		return same(tr.saved[o].items, key, v)
	}
	return false
}

// same reports whether a list of keys and values has v under key.
func same(items []vm.Object, key, v vm.Object) bool {
	for i := 0; i+1 < len(items); i += 2 {
		if items[i] == key {
			return items[i+1] == v
		}
	}
	return false
}

// kept reports whether an attribute of an instance is what it was before the trace.
func (tr *tracer) kept(i *vm.Instance, name string, v vm.Object) bool {
	if i.Dict == nil {
		return true
	}
	s, saved := tr.saved[i]
	if _, own := i.Dict.GetStr(name); !own || !saved {
		return true
	}
	return same(s.items, vm.Str(name), v)
}

// keyOf is the identity under which an object's source is kept; immutable scalars have none.
func keyOf(o vm.Object) vm.Object {
	switch o.(type) {
	case vm.Int, vm.Float, vm.Str, vm.Bool, vm.Bytes, vm.Complex, *vm.NoneType:
		return nil
	}
	return o
}

// see registers a value that existed before the trace: its source, its guards, and its content.
func (tr *tracer) see(v vm.Object, src Source) {
	if into := tr.symbolTo; into != nil {
		tr.symbolTo = nil
		defer func() { tr.symbolTo = into }()
		if s := tr.lifted(v, src); s != nil {
			*into = s
			return
		}
	}
	if p, ok := v.(*torch.Tensor); ok && p.T.Fake {
		return
	}
	if k := keyOf(v); k != nil {
		if first := tr.sources[k]; first != nil {
			tr.seeAgain(v, first, src)
			return
		}
		tr.sources[k] = src
		tr.order = append(tr.order, v)
	}
	if _, ok := v.(*torch.Tensor); ok {
		return // guarded when it is used
	}
	tr.guard(v, src)
	tr.save(v)
}

// seeItems registers the members of a container that native code is about to walk.
func (tr *tracer) seeItems(o vm.Object) {
	src := tr.sources[keyOf(o)]
	if o == nil || src == nil {
		return
	}
	switch c := o.(type) {
	case *vm.List:
		for i, x := range c.Items {
			tr.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Tuple:
		for i, x := range c.Items {
			tr.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Dict:
		c.Each(func(k, v vm.Object) bool {
			if keyOf(k) == nil {
				tr.seeItem(c, src, k, v)
			}
			return true
		})
	}
}

func moduleTable(i *vm.Instance, table string) (*vm.Dict, bool) {
	if i.Dict == nil {
		return nil, false
	}
	t, ok := i.Dict.GetStr(table)
	if !ok {
		return nil, false
	}
	return vm.AsDict(t)
}

// save remembers the content of a mutable object, so that writes can be found and undone.
func (tr *tracer) save(o vm.Object) {
	if _, done := tr.saved[keyOf(o)]; done || keyOf(o) == nil {
		return
	}
	switch c := o.(type) {
	case *vm.List:
		tr.keep(o, snapshot{items: append([]vm.Object(nil), c.Items...)})
	case *vm.Dict:
		tr.keep(o, snapshot{items: pairs(c)})
	case *vm.Instance:
		s := snapshot{}
		if c.Dict != nil {
			s.dict = c.Dict
			s.items = pairs(c.Dict)
		}
		tr.keep(o, s)
		if n, ok := c.Native.(vm.Object); ok { // a subclass of dict or list: its items
			if src := tr.sources[keyOf(o)]; src != nil && keyOf(n) != nil && tr.sources[n] == nil {
				tr.sources[n] = nativeSource{src}
			}
			tr.save(n)
		}
		if c.Dict != nil {
			c.Dict.Each(func(_, v vm.Object) bool {
				if d, ok := vm.AsDict(v); ok {
					if inst, isInst := v.(*vm.Instance); isInst {
						_ = inst
						return true
					}
					if _, done := tr.saved[v]; !done {
						tr.keep(v, snapshot{items: pairs(d)})
					}
				}
				return true
			})
		}
	}
}

// keep files a snapshot.
func (tr *tracer) keep(o vm.Object, s snapshot) {
	tr.saved[o] = s
	tr.savedOrder = append(tr.savedOrder, o)
}

func pairs(d *vm.Dict) []vm.Object {
	var out []vm.Object
	d.Each(func(k, v vm.Object) bool {
		out = append(out, k, v)
		return true
	})
	return out
}

// touch is save for an object about to be written.
func (tr *tracer) touch(o vm.Object) {
	if tr.sources[keyOf(o)] != nil {
		tr.save(o)
	}
}

func (tr *tracer) touchCell(c *vm.Cell) {
	if _, done := tr.saved[c]; !done {
		tr.keep(c, snapshot{items: []vm.Object{c.V}})
	}
}

// fake is the stand-in of a tensor: itself when it is of this trace, a placeholder's value otherwise.
func (tr *tracer) fake(p *torch.Tensor) (*tensor.Tensor, error) {
	if tr.branch != nil {
		return tr.branch.fake(tr, p)
	}
	x := p.T
	if tr.nodes[x] != nil {
		return x, nil
	}
	if f := tr.fakes[x]; f != nil {
		return f, nil
	}
	src := tr.sources[p]
	if src == nil {
		if x.Fake {
			return nil, &Unsupported{Reason: "tensor of another trace", NoBreak: true}
		}
		// A tensor that the trace reached without passing through a load it watches is a constant of the graph.
		name := fmt.Sprintf("_tensor_constant%d", len(tr.attrs))
		tr.attrs[name] = x
		n := tr.graph.GetAttr(name)
		f := tensor.FakeLike(x)
		n.Val = f
		tr.nodes[f], tr.fakes[x], tr.reals[f] = n, f, p
		return f, nil
	}
	name := src.Name()
	tr.guard(p, src) // a value of the frame's stack is guarded when it is first used
	dims := tr.sizesAt(p, src)
	tr.bindSymbols(dims.bound)
	n := tr.placeholder(placeholderName(name))
	f := tensor.FakeLike(x)
	if len(dims.bound) > 0 || !constants(dims.size) || !constants(dims.stride) {
		tr.sizes.Set(f, dims.size, dims.stride)
	}
	n.Val = f
	n.Type = "torch.Tensor"
	if p.Type().Name == "Parameter" {
		n.Type = "torch.nn.parameter.Parameter"
	}
	n.Meta = map[string]any{fx.MetaSource: name}
	tr.nodes[f], tr.fakes[x], tr.reals[f] = n, f, p
	if err := tr.asDifferentiable(f, x); err != nil {
		return nil, err
	}
	tr.inputs = append(tr.inputs, input{node: n, source: src, val: x})
	tr.logInput(n, name)
	return f, nil
}

// asDifferentiable makes gradients flow to the stand-in f as they do to x: to a leaf, or to the result of an operator, which may be
// written in place.
func (tr *tracer) asDifferentiable(f, x *tensor.Tensor) error {
	grad := tr.t.Grad
	if !grad.RequiresGrad(x) {
		return nil
	}
	if grad.IsLeaf(x) {
		return grad.SetRequiresGrad(f, true)
	}
	leaf := tensor.FakeLike(x)
	if err := grad.SetRequiresGrad(leaf, true); err != nil {
		return err
	}
	on := grad.Enabled()
	grad.SetEnabled(true)
	grad.Record(grad.GradFn(x), []*tensor.Tensor{leaf}, []*tensor.Tensor{f}, func([]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return nil, errors.New("a tensor of a trace has no gradient") // a backward in a graph breaks it
	})
	grad.SetEnabled(on)
	return nil
}

// dataDependent are the methods that read a tensor's data.
var dataDependent = map[string]string{"item": "Tensor.item", "tolist": "Tensor.tolist", "numpy": "Tensor.numpy", "__float__": "Tensor.item", "__int__": "Tensor.item",
	"__index__": "Tensor.item", "backward": "Tensor.backward", "__bool__": "Data-dependent jump", "data_ptr": "Tensor.data_ptr"}

// api is the hook under every torch call: it records the call and runs it on fakes.
func (tr *tracer) api(c *torch.Call) (vm.Object, error) {
	v, err := tr.record(c)
	return v, tr.located(err)
}

func (tr *tracer) record(c *torch.Call) (vm.Object, error) {
	if tr.depth > 0 {
		return c.Run(c.Args, c.Kw)
	}
	if v, ok, err := tr.item(c); ok || err != nil {
		return v, err
	}
	if why := dataDependent[c.Target]; why != "" && c.Op == fx.CallMethod {
		return nil, &Unsupported{Reason: "Unsupported: " + why}
	}
	if c.Op == fx.CallMethod && c.Target == "requires_grad_" && (len(c.Args) < 2 || c.Args[1] == vm.True) {
		if p, ok := c.Args[0].(*torch.Tensor); ok && !tr.t.Grad.RequiresGrad(p.T) {
			return nil, &Unsupported{Reason: "Unsupported: Tensor.requires_grad_"}
		}
	}
	if v, done, err := tr.rewritten(c); done {
		return v, err
	}
	if c.Target == "torch._C._set_grad_enabled" && len(c.Args) == 1 && (c.Args[0] == vm.True) == tr.t.Grad.Enabled() {
		return vm.None, nil // nothing changes
	}
	if c.Target == "torch.is_inference_mode_enabled" {
		return nil, &Unsupported{Reason: "Unsupported: torch.* op returned non-Tensor bool call_function <built-in function is_inference_mode_enabled>"}
	}
	if c.Target == torch.MakeSubclass {
		return nil, &Unsupported{Reason: "Unsupported: Workaround for issues with nn_parameter construction"}
	}
	node := func(o vm.Object) (fx.Arg, bool, error) {
		if s, ok := o.(*torch.Scalar); ok {
			a, err := tr.scalarArg(s)
			return a, true, err
		}
		if m, ok := o.(torch.Region); ok {
			n := *m.EnteredBy()
			if n == nil || tr.graph.Node(n.Name) != n {
				return nil, false, &Unsupported{Reason: "Unsupported: end of an autocast or inference region that began outside of the graph", NoBreak: true}
			}
			return n, true, nil
		}
		p, ok := o.(*torch.Tensor)
		if !ok {
			return nil, false, nil
		}
		f, err := tr.fake(p)
		if err != nil {
			return nil, false, err
		}
		return tr.nodes[f], true, nil
	}
	if c.Target == "operator.getitem" && len(c.Args) == 2 {
		_, isTensor := c.Args[0].(*torch.Tensor)
		if i, ok := c.Args[1].(*torch.Scalar); ok && isTensor && i.Kind == tensor.Int64 {
			return tr.inTorch("select", c.Args[0], vm.MakeInt(0), i)
		}
	}
	if v, done, err := tr.numbersOnly(c); done || err != nil {
		return v, err
	}
	for _, a := range c.Args {
		tr.seeItems(a)
	}
	if err := tr.useArguments(c); err != nil {
		return nil, err
	}
	args := make([]fx.Arg, len(c.Args))
	for i, a := range c.Args {
		v, err := tr.t.GraphArg(a, node)
		if err != nil {
			return nil, tr.unsupportedArg(err)
		}
		args[i] = v
	}
	var kwargs []fx.Kwarg
	for _, k := range c.Kw {
		v, err := tr.t.GraphArg(k.Value, node)
		if err != nil {
			return nil, tr.unsupportedArg(err)
		}
		kwargs = append(kwargs, fx.Kwarg{Name: k.Name, Val: v})
	}
	runArgs, runKw := tr.swap(c.Args), append([]vm.KwArg(nil), c.Kw...)
	for i := range runKw {
		runKw[i].Value = tr.swapOne(runKw[i].Value)
	}
	res, err := tr.onFakes(func() (vm.Object, error) { return c.Run(runArgs, runKw) })
	if err != nil {
		if u := unsupportedNumber(err); u != nil {
			return nil, u
		}
		var ae *aten.Error
		if errors.As(err, &ae) && ae.Kind == aten.DataDependentError {
			return nil, &Unsupported{Reason: "Unsupported: dynamic shape operator: " + strings.TrimSuffix(ae.Op, ".default")}
		}
		if u := tr.wrongCall(c, err); u != nil {
			return nil, u
		}
		if f := tr.wrongValues(c, runArgs, runKw, err); f != nil {
			return nil, f
		}
		tr.opError = err
		return nil, err
	}
	n := tr.graph.CreateNode(c.Op, c.Target, args, kwargs, overloadStem(c))
	n.SetOrigin(tr.origin())
	tr.calls++
	res = tr.bind(n, res)
	tr.bindFresh()
	tr.logNode(n)
	return res, nil
}

// overloadStem is what the node of an overload that the program calls is named after: its name and the overload's. "" for other calls.
func overloadStem(c *torch.Call) string {
	if c.Op != fx.CallFunction || !fx.IsOverload(c.Target) {
		return ""
	}
	_, name, _ := strings.Cut(c.Target, ".")
	return fx.SnakeCase(strings.ReplaceAll(name, ".", "_"))
}

func (tr *tracer) unsupportedArg(err error) error {
	var r *vm.Raised
	if errors.As(err, &r) {
		return &Unsupported{Reason: "Unsupported: " + r.Error()}
	}
	return err
}

// onFakes runs f with operators computing metadata only.
func (tr *tracer) onFakes(f func() (vm.Object, error)) (vm.Object, error) {
	tr.depth++
	oldHook, oldDispatch, oldLift := tr.t.Hook, tr.t.Dispatch, tr.t.Lift
	tr.t.Hook = nil
	oldSymbolic := tr.t.Symbolic
	tr.t.Symbolic = true
	tr.refusal = nil
	tr.t.Dispatch = fakeDispatch{tr.t.Grad, tr.sizes, &tr.refusal}
	tr.t.Lift = func(x *tensor.Tensor) (*tensor.Tensor, error) { return tensor.FakeLike(x), nil }
	defer func() {
		tr.depth--
		tr.t.Hook, tr.t.Dispatch, tr.t.Lift, tr.t.Symbolic = oldHook, oldDispatch, oldLift, oldSymbolic
	}()
	return f()
}

// fakeDispatch computes metadata, and keeps track of what requires gradients and of symbolic sizes.
type fakeDispatch struct {
	grad  torch.Autograd
	sizes *sizes.Tracker
	// refusal is set to what an operator says that refuses its arguments.
	refusal *error
}

// Dispatch runs op on fakes; results inherit requires_grad as autograd would give it.
func (d fakeDispatch) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	below := d.grad.(interface {
		DispatchFake(op *aten.Op, args []aten.Value) (aten.Value, error)
	})
	v, err := d.sizes.Dispatch(op, args, func(args []aten.Value) (aten.Value, error) { return below.DispatchFake(op, args) })
	if err != nil {
		*d.refusal = err
	}
	return v, err
}

func (tr *tracer) swap(args []vm.Object) []vm.Object {
	out := make([]vm.Object, len(args))
	for i, a := range args {
		out[i] = tr.swapOne(a)
	}
	return out
}

// swapOne puts stand-ins for real tensors, inside containers too.
func (tr *tracer) swapOne(o vm.Object) vm.Object {
	switch v := o.(type) {
	case *torch.Tensor:
		if f := tr.fakes[v.T]; f != nil {
			return tr.t.Wrap(f)
		}
	case *vm.List:
		return vm.NewList(tr.swap(v.Items)...)
	case *vm.Tuple:
		return vm.NewTuple(tr.swap(v.Items)...)
	}
	return o
}

// bind names the results of a node: tensors become values of the trace, the parts of a tuple get getitem nodes.
func (tr *tracer) bind(n *fx.Node, res vm.Object) vm.Object {
	switch v := res.(type) {
	case *torch.Scalar:
		tr.scalars[v] = n
		return v
	case torch.Region:
		*v.EnteredBy() = n
		return res
	case *torch.Tensor:
		if tr.nodes[v.T] != nil {
			// An in-place call returned its input: the result is a value of its own, the input keeps its node.
			x := *v.T
			x.Py = nil
			tr.sizes.Copy(&x, v.T)
			v = tr.t.WrapAs(&x, v.Type())
		}
		n.Val = v.T
		tr.nodes[v.T] = n
		return v
	case *vm.Tuple:
		vals := make([]any, len(v.Items))
		items := make([]vm.Object, len(v.Items))
		for i, x := range v.Items {
			p, ok := x.(*torch.Tensor)
			if !ok {
				items[i] = x
				continue
			}
			vals[i] = p.T
			g := tr.graph.CallFunction("operator.getitem", n, int64(i))
			g.SetOrigin(tr.origin())
			items[i] = tr.bind(g, p)
		}
		n.Val = vals
		return vm.NewTuple(items...)
	case *vm.Instance:
		if tup, ok := vm.AsTuple(v); ok {
			t := tr.bind(n, tup).(*vm.Tuple)
			return &vm.Instance{Class: v.Class, Native: t}
		}
	}
	return res
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
		tr.guards.add(&Guard{Kind: "HASATTR", Expr: fmt.Sprintf("hasattr(%s, '%s')", src.Name(), name), Source: attrSource{src, name}, hidden: true})
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
