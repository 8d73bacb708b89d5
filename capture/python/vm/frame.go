package vm

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unsafe"

	"whittle/capture/python/code"
)

// Code is a code object as the interpreter and scripts see it. Its code.Code must not change once it runs.
type Code struct {
	*code.Code
	Consts []Object // the constants as objects
	Native bool     // stands for what CPython has in C: its frames leave no entry in tracebacks

	ops    []op     // Instrs
	fast   []op     // the same, with instructions of our own for pairs and types; see quicken
	names  []Object // Names as objects
	hashes []uint64 // of Names
	caches []inlineCache
	nslots int
	simple bool // only plain positional parameters
	gen    bool
}

type op struct {
	op  code.Op
	arg int32
}

// inlineCache remembers what an instruction found the last time.
type inlineCache struct {
	typ  *Type
	ver  uint32
	idx  int32
	dict *Dict          // of LOAD_GLOBAL
	key  unsafe.Pointer // data of the key at idx
	val  Object
	kind uint8 // of an attribute
}

// NewCode readies a compiled code object for running.
func NewCode(c *code.Code) *Code {
	v := &Code{Code: c}
	v.Consts = make([]Object, len(c.Consts))
	for i, k := range c.Consts {
		v.Consts[i] = constObject(k)
	}
	v.ops = make([]op, len(c.Instrs))
	for i := range c.Instrs {
		v.ops[i] = op{c.Instrs[i].Op, c.Instrs[i].Arg}
	}
	v.hashes = make([]uint64, len(c.Names))
	for i, n := range c.Names {
		v.hashes[i] = hashString(n)
	}
	v.names = make([]Object, len(c.Names))
	for i, n := range c.Names {
		v.names[i] = Str(n)
	}
	v.fast = quicken(v.ops)
	v.caches = make([]inlineCache, len(c.Instrs))
	v.nslots = c.NLocalsPlus()
	v.simple = c.KwOnly == 0 && c.Flags&(code.VarArgs|code.VarKeywords) == 0
	v.gen = c.Flags&code.Generator != 0
	return v
}

func constObject(k any) Object {
	switch k := k.(type) {
	case nil:
		return None
	case bool:
		return MakeBool(k)
	case int64:
		return MakeInt(k)
	case int:
		return MakeInt(int64(k))
	case *big.Int:
		return MakeBig(k)
	case float64:
		return Float(k)
	case complex128:
		return Complex(k)
	case string:
		return Str(k)
	case code.Bytes:
		return Bytes(k)
	case code.Ellipsis:
		return Ellipsis
	case code.Tuple:
		items := make([]Object, len(k))
		for i, e := range k {
			items[i] = constObject(e)
		}
		return NewTuple(items...)
	case code.FrozenSet:
		f := &FrozenSet{}
		in := &Interp{Raising: Raising{Exc: &excTypes}}
		for _, e := range k {
			_ = f.Add(in, constObject(e))
		}
		// Compiling merges equal constants, for which a set is built anew from its members: that decides their order.
		g := &FrozenSet{}
		for _, k := range f.Items() {
			_ = g.Add(in, k)
		}
		return g
	case *code.Code:
		return NewCode(k)
	case Object:
		return k
	}
	return Str(fmt.Sprintf("<constant %T>", k))
}

// Frame is one activation of a code object. It is valid until the call returns; Retain keeps it longer.
type Frame struct {
	Func       *Function
	Code       *Code
	Globals    *Dict
	Builtins   *Dict
	Locals     Object   // namespace of a module or class body; nil in functions
	LocalsPlus []Object // locals, cells, free variables; nil where unbound
	Stack      []Object // operand stack; Stack[:SP] is live
	SP         int
	PC         int // index of the instruction that runs, or that runs next
	Back       *Frame
	Gen        *Generator // of a generator's frame

	// Trace, if not nil, is called before every instruction of this frame. It sees PC and the operand stack, and may
	// change them. An error that is not *Raised ends the frame without running handlers.
	Trace func(f *Frame) error

	// Ext is free for embedders.
	Ext any

	retained bool
	yielded  bool
	heap     bool // LocalsPlus and Stack are its own
	base     int  // where its slots begin in the slab
	slab     []Object
}

// Retain keeps the frame and its contents after its call returns.
func (f *Frame) Retain() { f.retained = true }

// Line is the current source line.
func (f *Frame) Line() int {
	if f.PC >= 0 && f.PC < len(f.Code.Instrs) {
		return int(f.Code.Instrs[f.PC].Line)
	}
	return f.Code.FirstLine
}

// NewFrame makes a frame of its own memory for a function and a code object, which need not be the function's. All
// LocalsPlus are unbound and PC is 0; a caller that starts in the middle sets LocalsPlus, Stack, SP and PC.
// Cells and free variables are then the caller's to set, too, as MAKE_CELL and COPY_FREE_VARS do not run.
func (in *Interp) NewFrame(fn *Function, c *Code) *Frame {
	n := c.nslots
	mem := make([]Object, n+c.StackSize+1)
	f := &Frame{Func: fn, Code: c, heap: true, retained: true, LocalsPlus: mem[:n:n], Stack: mem[n:]}
	f.Globals, f.Builtins = fn.Globals, fn.Builtins
	if f.Builtins == nil {
		f.Builtins = in.Builtins.Dict
	}
	return f
}

// runFrame evaluates a frame, by the hook if there is one.
func (in *Interp) runFrame(f *Frame) (Object, error) {
	f.Back = in.frame
	if in.FrameHook != nil {
		return in.FrameHook(in, f)
	}
	return in.EvalFrame(f)
}

// LocalsDict is locals() of the frame: the namespace of a module or class, a fresh dict for a function.
func (f *Frame) LocalsDict() Object {
	if f.Locals != nil {
		return f.Locals
	}
	d := NewDict()
	for i, v := range f.LocalsPlus {
		name := f.Code.LocalsPlusName(i)
		if c, ok := v.(*Cell); ok && (i >= len(f.Code.VarNames) || slices.Contains(f.Code.CellVars, name)) {
			v = c.V
		}
		if v != nil {
			d.SetStr(name, v)
		}
	}
	return d
}

// Calls.

// Call calls a callable.
func (in *Interp) Call(callable Object, args []Object, kw []KwArg) (Object, error) {
	switch f := callable.(type) {
	case *Function:
		return in.callFunction(f, args, kw)
	case *Builtin:
		return in.callBuiltin(f, args, kw)
	case *BoundMethod:
		full := make([]Object, 0, len(args)+1)
		full = append(append(full, f.Self), args...)
		return in.Call(f.Func, full, kw)
	case *Type:
		return in.callType(f, args, kw)
	}
	return in.callOther(callable, args, kw)
}

// Caller is implemented by embedder's own Go objects that can be called.
type Caller interface {
	Call(in *Interp, args []Object, kw []KwArg) (Object, error)
}

func (in *Interp) callOther(callable Object, args []Object, kw []KwArg) (Object, error) {
	switch f := callable.(type) {
	case Caller:
		return f.Call(in, slices.Clone(args), kw)
	case *StaticMethod:
		return in.Call(f.Func, args, kw)
	case *GenericAlias:
		v, err := in.Call(f.Origin, args, kw)
		if err == nil {
			if i, ok := v.(*Instance); ok && i.Class.HasDict && i.Class.hooks().setattr == nil {
				i.AttrDict(true).SetStr("__orig_class__", f)
			}
		}
		return v, err
	}
	c := callable.Type().Lookup("__call__")
	if c == nil {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not callable", callable.Type().Name)
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.leave()
	switch c.(type) {
	case *Function, *Builtin:
		full := make([]Object, 0, len(args)+1)
		full = append(append(full, callable), args...)
		return in.Call(c, full, kw)
	}
	b, err := in.bindDescr(c, callable, callable.Type())
	if err != nil {
		return nil, err
	}
	return in.Call(b, args, kw)
}

func (in *Interp) callBuiltin(b *Builtin, args []Object, kw []KwArg) (v Object, err error) {
	if b.NoKw {
		n := len(args)
		if b.Method && b.Self == nil {
			n--
		}
		if len(kw) > 0 || n < b.Min || b.Max >= 0 && n > b.Max {
			return nil, in.builtinArity(b, n, len(kw) > 0)
		}
	}
	if b.Self != nil && b.Method {
		args = append([]Object{b.Self}, args...)
	} else if !b.shared {
		args = slices.Clone(args)
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	v, err = b.Fn(in, args, kw)
	in.depth--
	if v == nil && err == nil {
		v = None
	}
	return v, err
}

func (in *Interp) builtinArity(b *Builtin, n int, kw bool) error {
	name := b.Name
	if b.Owner != nil {
		name = b.Owner.Name + "." + name
	}
	if n < 0 {
		return in.Errorf(in.Exc.TypeError, "unbound method %s() needs an argument", name)
	}
	if kw {
		return in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", name)
	}
	pl := func(k int) string {
		if k == 1 {
			return ""
		}
		return "s"
	}
	switch {
	case b.Max == 0:
		return in.Errorf(in.Exc.TypeError, "%s() takes no arguments (%d given)", name, n)
	case b.Min == b.Max && b.Min == 1:
		return in.Errorf(in.Exc.TypeError, "%s() takes exactly one argument (%d given)", name, n)
	case b.Owner != nil:
		name = b.Name
	}
	switch {
	case b.Min == b.Max:
		return in.Errorf(in.Exc.TypeError, "%s expected %d argument%s, got %d", name, b.Min, pl(b.Min), n)
	case n < b.Min:
		return in.Errorf(in.Exc.TypeError, "%s expected at least %d argument%s, got %d", name, b.Min, pl(b.Min), n)
	}
	return in.Errorf(in.Exc.TypeError, "%s expected at most %d argument%s, got %d", name, b.Max, pl(b.Max), n)
}

func (in *Interp) callFunction(fn *Function, args []Object, kw []KwArg) (Object, error) {
	f := in.pushFrame(fn)
	if err := in.bindArgs(fn, f.LocalsPlus, args, kw); err != nil {
		in.popFrame(f)
		return nil, err
	}
	v, err := in.runFrame(f)
	in.popFrame(f)
	return v, err
}

// BindArgs binds call arguments to a function's parameters as a call would: the result's slots are the parameters in
// the order of Code.VarNames.
func (in *Interp) BindArgs(fn *Function, args []Object, kw []KwArg) ([]Object, error) {
	locals := make([]Object, fn.Code.NumArgs())
	return locals, in.bindArgs(fn, locals, args, kw)
}

func (in *Interp) bindArgs(fn *Function, locals []Object, args []Object, kw []KwArg) error {
	c := fn.Code
	if c.simple && len(kw) == 0 && len(args) == c.ArgCount {
		copy(locals, args)
		return nil
	}
	n := c.ArgCount
	total := n + c.KwOnly
	pos := min(len(args), n)
	copy(locals, args[:pos])
	varargs := c.Flags&code.VarArgs != 0
	slot := total
	if varargs {
		if len(args) > n {
			locals[slot] = NewTuple(slices.Clone(args[n:])...)
		} else {
			locals[slot] = emptyTuple
		}
		slot++
	}
	var extra *Dict
	if c.Flags&code.VarKeywords != 0 {
		extra = NewDict()
		locals[slot] = extra
	}
	if len(kw) > 0 {
	next:
		for _, k := range kw {
			for i := c.PosOnly; i < total; i++ {
				if c.VarNames[i] == k.Name {
					if locals[i] != nil {
						return in.Errorf(in.Exc.TypeError, "%s() got multiple values for argument '%s'", fn.Qualname, k.Name)
					}
					locals[i] = k.Value
					continue next
				}
			}
			if extra != nil {
				extra.SetStr(k.Name, k.Value)
				continue
			}
			var posonly []string
			for _, q := range kw {
				if i := slices.Index(c.VarNames[:c.PosOnly], q.Name); i >= 0 {
					posonly = append(posonly, q.Name)
				}
			}
			if len(posonly) > 0 {
				return in.Errorf(in.Exc.TypeError, "%s() got some positional-only arguments passed as keyword arguments: '%s'", fn.Qualname, strings.Join(posonly, ", "))
			}
			return in.Errorf(in.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", fn.Qualname, k.Name)
		}
	}
	if len(args) > n && !varargs {
		return in.tooMany(fn, len(args), locals)
	}
	if len(args) < n {
		first := n - len(fn.Defaults)
		var missing []string
		for i := range n {
			if locals[i] == nil {
				if i >= first {
					locals[i] = fn.Defaults[i-first]
				} else {
					missing = append(missing, c.VarNames[i])
				}
			}
		}
		if len(missing) > 0 {
			return in.missing(fn, "positional", missing)
		}
	}
	if c.KwOnly > 0 {
		var missing []string
		for i := n; i < total; i++ {
			if locals[i] != nil {
				continue
			}
			if d, ok := fn.KwDefaults.GetStr(c.VarNames[i]); ok {
				locals[i] = d
			} else {
				missing = append(missing, c.VarNames[i])
			}
		}
		if len(missing) > 0 {
			return in.missing(fn, "keyword-only", missing)
		}
	}
	return nil
}

func (in *Interp) missing(fn *Function, kind string, names []string) error {
	for i := range names {
		names[i] = "'" + names[i] + "'"
	}
	s := ""
	switch len(names) {
	case 1:
		s = names[0]
	case 2:
		s = names[0] + " and " + names[1]
	default:
		s = strings.Join(names[:len(names)-1], ", ") + ", and " + names[len(names)-1]
	}
	pl := "s"
	if len(names) == 1 {
		pl = ""
	}
	return in.Errorf(in.Exc.TypeError, "%s() missing %d required %s argument%s: %s", fn.Qualname, len(names), kind, pl, s)
}

func (in *Interp) tooMany(fn *Function, given int, locals []Object) error {
	c := fn.Code
	n := c.ArgCount
	takes := fmt.Sprint(n)
	plural := n != 1
	if d := len(fn.Defaults); d > 0 {
		takes = fmt.Sprintf("from %d to %d", n-d, n)
		plural = true
	}
	s := ""
	if plural {
		s = "s"
	}
	kwGiven := 0
	for i := n; i < n+c.KwOnly; i++ {
		if locals[i] != nil {
			kwGiven++
		}
	}
	was := "were"
	if given == 1 && kwGiven == 0 {
		was = "was"
	}
	extra := ""
	if kwGiven > 0 {
		p1, p2 := "s", "s"
		if given == 1 {
			p1 = ""
		}
		if kwGiven == 1 {
			p2 = ""
		}
		extra = fmt.Sprintf(" positional argument%s (and %d keyword-only argument%s)", p1, kwGiven, p2)
	}
	return in.Errorf(in.Exc.TypeError, "%s() takes %s positional argument%s but %d%s %s given", fn.Qualname, takes, s, given, extra, was)
}

// callType makes an instance: the metaclass's __call__, then __new__ and __init__.
func (in *Interp) callType(t *Type, args []Object, kw []KwArg) (Object, error) {
	if t.Meta != nil {
		if c := t.Meta.Lookup("__call__"); c != nil && c != typeCall {
			b, err := in.bindDescr(c, t, t.Meta)
			if err != nil {
				return nil, err
			}
			return in.Call(b, args, kw)
		}
	}
	return in.instantiate(t, args, kw)
}

func (in *Interp) instantiate(t *Type, args []Object, kw []KwArg) (Object, error) {
	if t == TypeType && len(args) == 1 && len(kw) == 0 {
		return args[0].Type(), nil
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.leave()
	nw := t.Lookup("__new__")
	initf := t.Lookup("__init__")
	var o Object
	var err error
	if b, ok := nw.(*Builtin); ok {
		if b == objectNewB {
			if (len(args) > 0 || len(kw) > 0) && initf == objectInit {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes no arguments", t.Name)
			}
			o, err = objectNew(in, t, nil, nil)
		} else if b.Owner != nil && b.Owner.New != nil && b.Name == "__new__" {
			if !b.shared {
				args = slices.Clone(args)
			}
			o, err = b.Owner.New(in, t, args, kw)
		} else {
			o, err = in.Call(b, append([]Object{t}, args...), kw)
		}
	} else {
		f := nw
		if s, ok := nw.(*StaticMethod); ok {
			f = s.Func
		} else if _, ok := nw.(*Function); !ok && nw != nil {
			if f, err = in.bindDescr(nw, t, t.Type()); err != nil {
				return nil, err
			}
		}
		if f == nil {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", t.FullName())
		}
		full := make([]Object, 0, len(args)+1)
		o, err = in.Call(f, append(append(full, t), args...), kw)
	}
	if err != nil {
		return nil, err
	}
	if initf == nil || initf == objectInit || initf == excInitBuiltin {
		return o, nil
	}
	ot := o.Type()
	if ot != t && !ot.IsSubtype(t) {
		return o, nil
	}
	if ot != t {
		initf = ot.Lookup("__init__")
	}
	var r Object
	switch f := initf.(type) {
	case *Function:
		full := make([]Object, 0, 8)
		r, err = in.callFunction(f, append(append(full, o), args...), kw)
	case *Builtin:
		full := make([]Object, 0, len(args)+1)
		r, err = in.callBuiltin(f, append(append(full, o), args...), kw)
	default:
		var b Object
		if b, err = in.bindDescr(initf, o, ot); err == nil {
			r, err = in.Call(b, args, kw)
		}
	}
	if err != nil {
		return nil, err
	}
	if r != None && r != nil {
		return nil, in.Errorf(in.Exc.TypeError, "__init__() should return None, not '%s'", r.Type().Name)
	}
	return o, nil
}
