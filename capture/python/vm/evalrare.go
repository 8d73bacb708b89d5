package vm

import (
	"slices"
	"strings"

	"whittle/capture/python/code"
)

// evalRare runs the instructions that are not worth a place in eval's loop: none of them jumps or leaves the frame. It returns the new
// height of the stack. When it fails, the height does not matter, as a handler cuts the stack to its own.
func (in *Interp) evalRare(f *Frame, o op, sp int) (_ int, err error) {
	c, locals, stack := f.Code, f.LocalsPlus, f.Stack
	switch o.op() {
	case code.DELETE_FAST:
		if locals[o.arg] == nil {
			err = in.Errorf(in.Exc.UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", c.LocalsPlusName(int(o.arg)))
			return sp, err
		}
		old := locals[o.arg]
		locals[o.arg] = nil
		in.letGo(f, sp, old)
	case code.LOAD_NAME:
		v, e := f.loadName(in, c.Names[o.arg])
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp] = v
		sp++
	case code.STORE_NAME:
		sp--
		if d, ok := f.Locals.(*Dict); ok {
			old := in.held(d, c.Names[o.arg])
			d.SetStr(c.Names[o.arg], stack[sp])
			in.letGo(f, sp, old)
		} else if f.Locals == nil {
			err = in.Errorf(in.Exc.SystemError, "no locals found when storing '%s'", c.Names[o.arg])
			return sp, err
		} else if err = in.SetItem(f.Locals, Str(c.Names[o.arg]), stack[sp]); err != nil {
			return sp, err
		}
	case code.DELETE_NAME:
		if d, ok := f.Locals.(*Dict); ok {
			old := in.held(d, c.Names[o.arg])
			if !d.DelStr(c.Names[o.arg]) {
				err = in.nameError(c.Names[o.arg])
				return sp, err
			}
			in.letGo(f, sp, old)
		} else if err = in.DelItem(f.Locals, Str(c.Names[o.arg])); err != nil {
			return sp, err
		}
	case code.DELETE_GLOBAL:
		old := in.held(f.Globals, c.Names[o.arg])
		if !f.Globals.DelStr(c.Names[o.arg]) {
			err = in.nameError(c.Names[o.arg])
			return sp, err
		}
		in.letGo(f, sp, old)
	// Free variables have the last slots.
	case code.DELETE_DEREF:
		cell, ok := locals[o.arg].(*Cell)
		if !ok || cell.V == nil {
			err = c.unbound(in, int(o.arg))
			return sp, err
		}
		old := cell.V
		cell.V = nil
		in.letGo(f, sp, old)
	// A class body reads a name of an enclosing function from its own namespace first.
	case code.LOAD_CLASSDEREF:
		name := c.LocalsPlusName(int(o.arg))
		var v Object
		if d, ok := f.Locals.(*Dict); ok {
			v, _ = d.GetStr(name)
		} else if f.Locals != nil {
			v, err = in.GetItem(f.Locals, Str(name))
			if err != nil {
				if !in.Matches(err, in.Exc.KeyError) {
					return sp, err
				}
				v, err = nil, nil
			}
		}
		if v == nil {
			if cell, ok := locals[o.arg].(*Cell); ok {
				v = cell.V
			}
		}
		if v == nil {
			err = c.unbound(in, int(o.arg))
			return sp, err
		}
		stack[sp] = v
		sp++

	case code.UNARY_NEGATIVE, code.UNARY_POSITIVE, code.UNARY_INVERT:
		v, e := in.UnaryOp(unaryNames[o.op()], stack[sp-1])
		if e != nil {
			err = e
			return sp, err
		}
		if in.Made != nil {
			in.operated(f, f.PC+1, stack[sp-1], nil, v)
		}
		stack[sp-1] = v
	case code.DELETE_SUBSCR:
		old := in.heldItem(stack[sp-2], stack[sp-1])
		if err = in.DelItem(stack[sp-2], stack[sp-1]); err != nil {
			return sp, err
		}
		sp -= 2
		in.letGo(f, sp, old)

	case code.DELETE_ATTR:
		sp--
		old := in.heldAttr(stack[sp], c.Names[o.arg])
		if err = in.DelAttr(stack[sp], c.Names[o.arg]); err != nil {
			return sp, err
		}
		in.letGo(f, sp, old)
	case code.GET_YIELD_FROM_ITER:
		if _, ok := stack[sp-1].(*Coroutine); ok && c.Flags&(code.Coroutine|code.Iterable) == 0 {
			return sp, in.Errorf(in.Exc.TypeError, "cannot 'yield from' a coroutine object in a non-coroutine generator")
		} else if bodyOf(stack[sp-1]) == nil {
			v, e := in.Iter(stack[sp-1])
			if e != nil {
				err = e
				return sp, err
			}
			stack[sp-1] = v
		}
	case code.BUILD_SET:
		n := int(o.arg)
		s := NewSet()
		for i := sp - n; i < sp; i++ {
			if err = s.Add(in, stack[i]); err != nil {
				return sp, err
			}
		}
		sp -= n
		stack[sp] = s
		sp++
	case code.BUILD_CONST_KEY_MAP:
		n := int(o.arg)
		keys := stack[sp-1].(*Tuple).Items
		d := NewDict()
		sp--
		for i := range n {
			if err = d.Set(in, keys[i], stack[sp-n+i]); err != nil {
				return sp, err
			}
		}
		sp -= n
		stack[sp] = d
		sp++
	case code.BUILD_SLICE:
		n := int(o.arg)
		s := &Slice{stack[sp-n], stack[sp-n+1], None}
		if n == 3 {
			s.Step = stack[sp-1]
		}
		sp -= n
		stack[sp] = s
		sp++
	case code.BUILD_STRING:
		n := int(o.arg)
		size := 0
		for _, v := range f.Stack[sp-n : sp] {
			s, _ := AsStr(v)
			size += len(s)
		}
		var sb strings.Builder
		sb.Grow(size)
		for _, v := range f.Stack[sp-n : sp] {
			s, _ := AsStr(v)
			sb.WriteString(s)
		}
		sp -= n
		stack[sp] = Str(sb.String())
		sp++
	case code.FORMAT_VALUE:
		spec := ""
		if o.arg&4 != 0 {
			sp--
			spec, _ = AsStr(stack[sp])
		}
		if _, ok := stack[sp-1].(Str); ok && spec == "" && o.arg&3 < 2 {
			break // it is its own text
		}
		s, e := in.FormatValue(stack[sp-1], o.arg&3, spec)
		if e != nil {
			return sp, e
		}
		stack[sp-1] = Str(s)
	case code.LIST_TO_TUPLE:
		stack[sp-1] = NewTuple(stack[sp-1].(*List).Items...)
	case code.SET_ADD:
		sp--
		if err = stack[sp-int(o.arg)].(*Set).Add(in, stack[sp]); err != nil {
			return sp, err
		}
	// Only * in a list or a call compiles to this, so the error speaks of *.
	case code.LIST_EXTEND:
		sp--
		l := stack[sp-int(o.arg)].(*List)
		items, e := in.IterAll(stack[sp])
		if e != nil {
			err = e
			if stack[sp].Type().Lookup("__iter__") == nil && stack[sp].Type().Lookup("__getitem__") == nil {
				err = in.Errorf(in.Exc.TypeError, "Value after * must be an iterable, not %s", TypeName(stack[sp]))
			}
			return sp, err
		}
		l.Items = append(l.Items, items...)
	case code.SET_UPDATE:
		sp--
		if err = stack[sp-int(o.arg)].(*Set).update(in, stack[sp]); err != nil {
			return sp, err
		}
	case code.DICT_UPDATE:
		sp--
		if stack[sp].Type().Lookup("keys") == nil {
			err = in.Errorf(in.Exc.TypeError, "'%s' object is not a mapping", TypeName(stack[sp]))
			return sp, err
		}
		if err = stack[sp-int(o.arg)].(*Dict).update(in, stack[sp]); err != nil {
			return sp, err
		}
	case code.DICT_MERGE:
		sp--
		if err = stack[sp-int(o.arg)].(*Dict).merge(in, stack[sp], stack[sp-int(o.arg)-2]); err != nil {
			return sp, err
		}
	// Pushed from the last to the first, so that the first target finds its item on top.
	case code.UNPACK_EX:
		before, after := int(o.arg&0xff), int(o.arg>>8)
		sp--
		items, e := unpack(in, stack[sp], before, after)
		if e != nil {
			err = e
			return sp, err
		}
		for i := len(items) - 1; i >= len(items)-after; i-- {
			stack[sp] = items[i]
			sp++
		}
		stack[sp] = NewList(slices.Clone(items[before : len(items)-after])...)
		sp++
		for i := before - 1; i >= 0; i-- {
			stack[sp] = items[i]
			sp++
		}
	// The parts were pushed in the order of the bits, so they are taken in the other.
	case code.MAKE_FUNCTION:
		sp--
		co := stack[sp].(*Code)
		fn := &Function{Code: co, Globals: f.Globals, Builtins: f.Builtins, Name: co.Name, Qualname: co.QualName, Doc: None, Module: None}
		if len(co.Consts) > 0 && co.Flags&code.Optimized != 0 {
			if s, ok := co.Consts[0].(Str); ok {
				fn.Doc = s
			}
		}
		if m, ok := f.Globals.GetStr("__name__"); ok {
			fn.Module = m
		}
		if o.arg&8 != 0 {
			sp--
			cells := stack[sp].(*Tuple).Items
			fn.Closure = make([]*Cell, len(cells))
			for i, x := range cells {
				fn.Closure[i] = x.(*Cell)
			}
		}
		if o.arg&4 != 0 {
			sp--
			fn.Annots = stack[sp]
		}
		if o.arg&2 != 0 {
			sp--
			fn.KwDefaults = stack[sp].(*Dict)
		}
		if o.arg&1 != 0 {
			sp--
			fn.Defaults = stack[sp].(*Tuple).Items
		}
		stack[sp] = fn
		sp++
	case code.LOAD_BUILD_CLASS:
		v, ok := f.Builtins.GetStr("__build_class__")
		if !ok {
			err = in.Errorf(in.Exc.NameError, "__build_class__ not found")
			return sp, err
		}
		stack[sp] = v
		sp++
	case code.SETUP_ANNOTATIONS:
		if d, ok := f.Locals.(*Dict); ok {
			if _, ok := d.GetStr("__annotations__"); !ok {
				d.SetStr("__annotations__", NewDict())
			}
		} else if err = in.SetItem(f.Locals, Str("__annotations__"), NewDict()); err != nil {
			return sp, err
		}
	case code.LOAD_ASSERTION_ERROR:
		stack[sp] = in.Exc.AssertionError
		sp++
	// The fromlist is on top, the level below it.
	case code.IMPORT_NAME:
		level, _ := AsInt(stack[sp-2])
		v, e := f.importName(in, c.Names[o.arg], stack[sp-1], int(level))
		if e != nil {
			err = e
			return sp, err
		}
		sp--
		stack[sp-1] = v
	case code.IMPORT_FROM:
		v, e := importFrom(in, stack[sp-1], c.Names[o.arg])
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp] = v
		sp++
	case code.IMPORT_STAR:
		sp--
		if err = f.importStar(in, stack[sp]); err != nil {
			return sp, err
		}
	case code.PRINT_EXPR:
		sp--
		if err = in.display(stack[sp]); err != nil {
			return sp, err
		}

	// __exit__ is bound before __enter__ runs, and lies below what that returns until the block is left.
	case code.BEFORE_WITH:
		mgr := stack[sp-1]
		exit, enter, e := withMethods(in, mgr)
		if e != nil {
			err = e
			return sp, err
		}
		v, e := in.Call(enter, nil, nil)
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp-1] = exit
		stack[sp] = v
		sp++
	// __exit__ lies below what PUSH_EXC_INFO pushed; whether its result is true is for the jump that follows.
	case code.WITH_EXCEPT_START:
		exc := stack[sp-1].(*Exception)
		exit := stack[sp-4]
		tb := None
		if exc.Traceback != nil {
			tb = exc.Traceback
		}
		v, e := in.Call(exit, []Object{exc.Class, exc, tb}, nil)
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp] = v
		sp++
	// What was handled so far goes below the exception; POP_EXCEPT finds it there when the handler ends.
	case code.PUSH_EXC_INFO:
		v := stack[sp-1]
		if in.exc != nil {
			stack[sp-1] = in.exc
		} else {
			stack[sp-1] = None
		}
		stack[sp] = v
		sp++
		in.exc, _ = v.(*Exception)
	case code.POP_EXCEPT:
		sp--
		handled := in.exc
		in.exc, _ = stack[sp].(*Exception)
		stack[sp] = nil
		in.endHandling(f, sp, handled)
	// The part that a clause takes is what is handled while the clause runs.
	case code.CHECK_EG_MATCH:
		match, rest, err := starMatch(in, stack[sp-2], stack[sp-1])
		if err != nil {
			return sp, err
		}
		stack[sp-2], stack[sp-1] = rest, match
		if e, ok := match.(*Exception); ok {
			in.exc = e
		}
	case code.PREP_RERAISE_STAR:
		v, err := starRaise(in, stack[sp-2], stack[sp-1].(*List).Items)
		if err != nil {
			return sp, err
		}
		sp--
		stack[sp-1] = v
	case code.CHECK_EXC_MATCH:
		ok, e := excMatches(in, stack[sp-2], stack[sp-1])
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp-1] = MakeBool(ok)
	case code.GET_LEN:
		n, e := in.Len(stack[sp-1])
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp] = MakeInt(int64(n))
		sp++
	case code.MATCH_SEQUENCE:
		stack[sp] = MakeBool(stack[sp-1].Type().collection == Sequence)
		sp++
	case code.MATCH_MAPPING:
		stack[sp] = MakeBool(stack[sp-1].Type().collection == Mapping)
		sp++
	case code.MATCH_KEYS:
		v, e := matchKeys(in, stack[sp-2], stack[sp-1].(*Tuple))
		if e != nil {
			err = e
			return sp, err
		}
		stack[sp] = v
		sp++
	case code.MATCH_CLASS:
		v, e := matchClass(in, stack[sp-3], stack[sp-2], int(o.arg), stack[sp-1].(*Tuple))
		if e != nil {
			err = e
			return sp, err
		}
		sp -= 2
		stack[sp-1] = v
	// Errors about * and ** name the function, which lies below them.
	case code.CALL_FUNCTION_EX:
		var kw []KwArg
		if o.arg&1 != 0 {
			sp--
			if kw, err = kwFromMapping(in, stack[sp-2], stack[sp]); err != nil {
				return sp, err
			}
		}
		callable := stack[sp-2]
		var args []Object
		switch x := stack[sp-1].(type) {
		case *Tuple:
			args = x.Items
		default:
			if args, err = starArgs(in, callable, x); err != nil {
				return sp, err
			}
		}
		f.SP = sp
		in.passed = nil
		var v Object
		handled := false
		if in.CallHook != nil {
			v, handled, err = in.CallHook(in, callable, slices.Clone(args), kw)
			if err != nil {
				return sp, err
			}
		}
		if !handled {
			if v, err = in.Call(callable, args, kw); err != nil {
				return sp, err
			}
		}
		if (in.Made != nil || in.passed != nil) && !handled {
			in.valued(f, f.PC+1, callable, v)
		}
		sp -= 2
		stack[sp-1] = v
		if in.stop.Load() {
			f.SP = sp
			return sp, in.stopped()
		}
	case code.BUILD_MAP:
		n := 2 * int(o.arg)
		d := newDict(int(o.arg))
		for i := sp - n; i < sp; i += 2 {
			if err = d.Set(in, stack[i], stack[i+1]); err != nil {
				return sp, err
			}
		}
		sp -= n
		stack[sp] = d
		sp++
	case code.STORE_GLOBAL:
		sp--
		old := in.held(f.Globals, c.Names[o.arg])
		f.Globals.SetStr(c.Names[o.arg], stack[sp])
		in.letGo(f, sp, old)
	case code.LOAD_CLOSURE:
		stack[sp] = locals[o.arg]
		sp++
	case code.GET_AWAITABLE, code.GET_AITER, code.GET_ANEXT, code.ASYNC_GEN_WRAP, code.BEFORE_ASYNC_WITH:
		return in.evalAsync(f, o, sp)
	default:
		return sp, in.Errorf(in.Exc.SystemError, "unknown opcode %s", o.op())
	}
	return sp, nil
}
