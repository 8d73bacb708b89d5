package vm

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"slices"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/libm"
)

// PanicError is an internal failure of a native function that was turned into an error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v\n%s", e.Value, e.Stack) }

// EvalFrame runs a frame from its PC until it returns, yields or fails. It does not ask FrameHook.
func (in *Interp) EvalFrame(f *Frame) (Object, error) { return in.evalThrow(f, nil) }

func (in *Interp) evalThrow(f *Frame, thrown error) (result Object, err error) {
	in.depth++
	prev, prevExc := in.frame, in.exc
	f.Back = prev
	in.frame = f
	if in.depth > in.RecursionLimit {
		err = in.newRecursionError()
	} else if prev == nil {
		result, err = in.evalOutermost(f, thrown)
	} else {
		result, err = in.eval(f, thrown)
	}
	in.frame = prev
	in.depth--
	if err != nil {
		in.exc = prevExc
	}
	return result, err
}

// evalOutermost is the boundary where a panic becomes an error.
func (in *Interp) evalOutermost(f *Frame, thrown error) (result Object, err error) {
	depth, slab, top, reprs := in.depth, in.slab, in.top, len(in.reprs)
	defer func() {
		if r := recover(); r != nil {
			in.depth, in.slab, in.top, in.reprs = depth, slab, top, in.reprs[:reprs]
			result, err = nil, &PanicError{r, debug.Stack()}
		}
	}()
	return in.eval(f, thrown)
}

func (in *Interp) eval(f *Frame, err error) (Object, error) {
	var (
		c       = f.Code
		ops     = c.ops
		locals  = f.LocalsPlus
		stack   = f.Stack
		sp      = f.SP
		pc      = f.PC
		kwnames *Tuple
		o       op
	)
	if err != nil {
		if sp, pc, err = in.unwind(f, err, true); err != nil {
			return nil, err
		}
	}
loop:
	for {
		f.PC = pc
		if f.Trace != nil {
			f.SP = sp
			if err = f.Trace(f); err != nil {
				goto fail
			}
			sp, pc = f.SP, f.PC
		}
		o = ops[pc]
		pc++
		switch o.op {
		case code.RESUME:
			if in.stop.Load() {
				if err = in.stopped(); err != nil {
					return nil, err
				}
			}
		case code.NOP, code.PRECALL, code.CACHE:
		case code.POP_TOP:
			sp--
			stack[sp] = nil
		case code.PUSH_NULL:
			stack[sp] = nil
			sp++
		case code.LOAD_FAST:
			v := locals[o.arg]
			if v == nil {
				err = in.Errorf(in.Exc.UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", c.LocalsPlusName(int(o.arg)))
				goto fail
			}
			stack[sp] = v
			sp++
		case code.LOAD_CONST:
			stack[sp] = c.Consts[o.arg]
			sp++
		case code.STORE_FAST:
			sp--
			locals[o.arg] = stack[sp]
		case code.DELETE_FAST:
			if locals[o.arg] == nil {
				err = in.Errorf(in.Exc.UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", c.LocalsPlusName(int(o.arg)))
				goto fail
			}
			locals[o.arg] = nil
		case code.LOAD_GLOBAL:
			i := o.arg >> 1
			if o.arg&1 != 0 {
				stack[sp] = nil
				sp++
			}
			ic := &c.caches[pc-1]
			var v Object
			if ic.dict != nil {
				if ic.typ == nil {
					if ic.dict == f.Globals && int(ic.idx) < len(ic.dict.entries) {
						e := &ic.dict.entries[ic.idx]
						if e.hash == c.hashes[i] {
							if k, ok := e.key.(Str); ok && string(k) == c.Names[i] {
								v = e.val
							}
						}
					}
				} else if f.Globals.keysVer == ic.ver && ic.dict == f.Builtins && int(ic.idx) < len(ic.dict.entries) && ic.val == Object(f.Globals) {
					e := &ic.dict.entries[ic.idx]
					if e.hash == c.hashes[i] {
						if k, ok := e.key.(Str); ok && string(k) == c.Names[i] {
							v = e.val
						}
					}
				}
			}
			if v == nil {
				if v = in.loadGlobal(f, ic, int(i)); v == nil {
					err = in.nameError(f, c.Names[i])
					goto fail
				}
			}
			stack[sp] = v
			sp++
		case code.LOAD_NAME:
			v, e := in.loadName(f, c.Names[o.arg])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp] = v
			sp++
		case code.STORE_NAME:
			sp--
			if d, ok := f.Locals.(*Dict); ok {
				d.SetStr(c.Names[o.arg], stack[sp])
			} else if f.Locals == nil {
				err = in.Errorf(in.Exc.SystemError, "no locals found when storing '%s'", c.Names[o.arg])
				goto fail
			} else if err = in.SetItem(f.Locals, Str(c.Names[o.arg]), stack[sp]); err != nil {
				goto fail
			}
		case code.DELETE_NAME:
			if d, ok := f.Locals.(*Dict); ok {
				if !d.DelStr(c.Names[o.arg]) {
					err = in.nameError(f, c.Names[o.arg])
					goto fail
				}
			} else if err = in.DelItem(f.Locals, Str(c.Names[o.arg])); err != nil {
				goto fail
			}
		case code.STORE_GLOBAL:
			sp--
			f.Globals.SetStr(c.Names[o.arg], stack[sp])
		case code.DELETE_GLOBAL:
			if !f.Globals.DelStr(c.Names[o.arg]) {
				err = in.nameError(f, c.Names[o.arg])
				goto fail
			}
		case code.MAKE_CELL:
			locals[o.arg] = &Cell{locals[o.arg]}
		case code.COPY_FREE_VARS:
			n := int(o.arg)
			base := len(locals) - n
			for i := range n {
				locals[base+i] = f.Func.Closure[i]
			}
		case code.LOAD_CLOSURE:
			stack[sp] = locals[o.arg]
			sp++
		case code.LOAD_DEREF:
			cell, ok := locals[o.arg].(*Cell)
			if !ok || cell.V == nil {
				err = in.unboundDeref(c, int(o.arg))
				goto fail
			}
			stack[sp] = cell.V
			sp++
		case code.STORE_DEREF:
			sp--
			if cell, ok := locals[o.arg].(*Cell); ok {
				cell.V = stack[sp]
			} else {
				locals[o.arg] = &Cell{stack[sp]}
			}
		case code.DELETE_DEREF:
			cell, ok := locals[o.arg].(*Cell)
			if !ok || cell.V == nil {
				err = in.unboundDeref(c, int(o.arg))
				goto fail
			}
			cell.V = nil
		case code.LOAD_CLASSDEREF:
			name := c.LocalsPlusName(int(o.arg))
			var v Object
			if d, ok := f.Locals.(*Dict); ok {
				v, _ = d.GetStr(name)
			} else if f.Locals != nil {
				v, err = in.GetItem(f.Locals, Str(name))
				if err != nil {
					if !in.Matches(err, in.Exc.KeyError) {
						goto fail
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
				err = in.unboundDeref(c, int(o.arg))
				goto fail
			}
			stack[sp] = v
			sp++

		case code.BINARY_OP:
			b, a := stack[sp-1], stack[sp-2]
			var v Object
			switch x := a.(type) {
			case Int:
				if y, ok := b.(Int); ok {
					switch o.arg {
					case 0, 13:
						s := x + y
						if (x^s)&(y^s) >= 0 {
							v = in.boxInt(int64(s))
						}
					case 10, 23:
						s := x - y
						if (x^y)&(x^s) >= 0 {
							v = in.boxInt(int64(s))
						}
					case 5, 18:
						hi, lo := bits.Mul64(uint64(x), uint64(y))
						if int64(x) >= 0 && int64(y) >= 0 && hi == 0 && int64(lo) >= 0 {
							v = in.boxInt(int64(lo))
						} else if x > -(1<<31) && x < 1<<31 && y > -(1<<31) && y < 1<<31 {
							v = in.boxInt(int64(x * y))
						}
					case 2, 15:
						if y > 0 {
							q := x / y
							if x%y < 0 {
								q--
							}
							v = in.boxInt(int64(q))
						}
					case 6, 19:
						if y > 0 {
							m := x % y
							if m < 0 {
								m += y
							}
							v = in.boxInt(int64(m))
						}
					case 1, 14:
						v = in.boxInt(int64(x & y))
					case 7, 20:
						v = in.boxInt(int64(x | y))
					case 12, 25:
						v = in.boxInt(int64(x ^ y))
					case 9, 22:
						if y >= 0 && y < 64 {
							v = in.boxInt(int64(x >> uint(y)))
						}
					case 3, 16:
						if y >= 0 && y < 31 && x >= 0 && x < 1<<31 {
							v = in.boxInt(int64(x << uint(y)))
						}
					case 11, 24:
						if y != 0 && x > -(1<<53) && x < 1<<53 && y > -(1<<53) && y < 1<<53 {
							v = in.boxFloat(float64(x) / float64(y))
						}
					}
				} else if y, ok := b.(Float); ok {
					v = in.floatOp(float64(x), float64(y), o.arg)
				}
			case Float:
				switch y := b.(type) {
				case Float:
					v = in.floatOp(float64(x), float64(y), o.arg)
				case Int:
					v = in.floatOp(float64(x), float64(y), o.arg)
				}
			case Str:
				if y, ok := b.(Str); ok && (o.arg == 0 || o.arg == 13) {
					v = x + y
				}
			}
			if v == nil {
				f.SP = sp
				if o.arg >= code.InPlace {
					v, err = in.InplaceOp(code.BinOps[o.arg-code.InPlace], a, b)
				} else {
					v, err = in.BinaryOp(code.BinOps[o.arg], a, b)
				}
				if err != nil {
					goto fail
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case code.COMPARE_OP:
			b, a := stack[sp-1], stack[sp-2]
			var v Object
			if x, ok := a.(Int); ok {
				if y, ok := b.(Int); ok {
					switch o.arg {
					case 0:
						v = MakeBool(x < y)
					case 1:
						v = MakeBool(x <= y)
					case 2:
						v = MakeBool(x == y)
					case 3:
						v = MakeBool(x != y)
					case 4:
						v = MakeBool(x > y)
					case 5:
						v = MakeBool(x >= y)
					}
				}
			} else if x, ok := a.(Str); ok && (o.arg == 2 || o.arg == 3) {
				if y, ok := b.(Str); ok {
					v = MakeBool((x == y) == (o.arg == 2))
				}
			}
			if v == nil {
				if v, err = in.Compare(code.CmpOps[o.arg], a, b); err != nil {
					goto fail
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case code.IS_OP:
			sp--
			stack[sp-1] = MakeBool(Is(stack[sp-1], stack[sp]) == (o.arg == 0))
		case code.CONTAINS_OP:
			ok, e := in.Contains(stack[sp-1], stack[sp-2])
			if e != nil {
				err = e
				goto fail
			}
			sp--
			stack[sp-1] = MakeBool(ok == (o.arg == 0))
		case code.UNARY_NOT:
			t, e := in.Truth(stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp-1] = MakeBool(!t)
		case code.UNARY_NEGATIVE, code.UNARY_POSITIVE, code.UNARY_INVERT:
			v, e := in.UnaryOp(unaryNames[o.op], stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp-1] = v
		case code.BINARY_SUBSCR:
			key, a := stack[sp-1], stack[sp-2]
			var v Object
			switch x := a.(type) {
			case *List:
				if i, ok := key.(Int); ok {
					if i < 0 {
						i += Int(len(x.Items))
					}
					if i >= 0 && int(i) < len(x.Items) {
						v = x.Items[i]
					}
				}
			case *Tuple:
				if i, ok := key.(Int); ok {
					if i < 0 {
						i += Int(len(x.Items))
					}
					if i >= 0 && int(i) < len(x.Items) {
						v = x.Items[i]
					}
				}
			case *Dict:
				var ok bool
				v, ok, err = x.Get(in, key)
				if err != nil {
					goto fail
				}
				if !ok {
					err = in.KeyError(key)
					goto fail
				}
			}
			if v == nil {
				if v, err = in.GetItem(a, key); err != nil {
					goto fail
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case code.STORE_SUBSCR:
			key, a, v := stack[sp-1], stack[sp-2], stack[sp-3]
			done := false
			switch x := a.(type) {
			case *Dict:
				if err = x.Set(in, key, v); err != nil {
					goto fail
				}
				done = true
			case *List:
				if i, ok := key.(Int); ok {
					if i < 0 {
						i += Int(len(x.Items))
					}
					if i >= 0 && int(i) < len(x.Items) {
						x.Items[i] = v
						done = true
					}
				}
			}
			if !done {
				if err = in.SetItem(a, key, v); err != nil {
					goto fail
				}
			}
			sp -= 3
		case code.DELETE_SUBSCR:
			if err = in.DelItem(stack[sp-2], stack[sp-1]); err != nil {
				goto fail
			}
			sp -= 2

		case code.LOAD_ATTR:
			a := stack[sp-1]
			if x, ok := a.(*Instance); ok {
				ic := &c.caches[pc-1]
				if ic.typ == x.Class && ic.ver == x.Class.version {
					if ic.dict == nil { // in the instance's dict
						if d := x.Dict; d != nil && int(ic.idx) < len(d.entries) {
							e := &d.entries[ic.idx]
							if k, ok := e.key.(Str); ok && e.hash == c.hashes[o.arg] && string(k) == c.Names[o.arg] {
								stack[sp-1] = e.val
								continue loop
							}
						}
					} else if int(ic.idx) < len(x.Slots) && x.Slots[ic.idx] != nil {
						stack[sp-1] = x.Slots[ic.idx]
						continue loop
					}
				}
				if v := in.cacheAttr(ic, x, c.Names[o.arg], c.hashes[o.arg]); v != nil {
					stack[sp-1] = v
					continue loop
				}
			} else if m, ok := a.(*Module); ok {
				if v, ok := m.Dict.GetStr(c.Names[o.arg]); ok {
					stack[sp-1] = v
					continue loop
				}
			}
			v, e := in.GetAttr(a, c.Names[o.arg])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp-1] = v
		case code.STORE_ATTR:
			a, v := stack[sp-1], stack[sp-2]
			if x, ok := a.(*Instance); ok {
				ic := &c.caches[pc-1]
				if ic.typ == x.Class && ic.ver == x.Class.version {
					d := x.Dict
					if d != nil && int(ic.idx) < len(d.entries) {
						e := &d.entries[ic.idx]
						if k, ok := e.key.(Str); ok && e.hash == c.hashes[o.arg] && string(k) == c.Names[o.arg] {
							e.val = v
							sp -= 2
							continue loop
						}
					}
					ic.idx = int32(storeNew(x, c.Names[o.arg], c.hashes[o.arg], v))
					sp -= 2
					continue loop
				}
				if x.Class.HasDict && x.Class.hooks().setattr == nil && x.Class.Lookup(c.Names[o.arg]) == nil && c.Names[o.arg] != "__class__" && c.Names[o.arg] != "__dict__" {
					ic.typ, ic.ver = x.Class, x.Class.version
					ic.idx = int32(storeNew(x, c.Names[o.arg], c.hashes[o.arg], v))
					sp -= 2
					continue loop
				}
			}
			if err = in.SetAttr(a, c.Names[o.arg], v); err != nil {
				goto fail
			}
			sp -= 2
		case code.DELETE_ATTR:
			sp--
			if err = in.DelAttr(stack[sp], c.Names[o.arg]); err != nil {
				goto fail
			}
		case code.LOAD_METHOD:
			a := stack[sp-1]
			name := c.Names[o.arg]
			ic := &c.caches[pc-1]
			var t *Type
			var d *Dict
			switch x := a.(type) {
			case *Instance:
				t, d = x.Class, x.Dict
			case *List:
				t = ListType
			case Str:
				t = StrType
			case *Dict:
				t = DictType
			}
			if t != nil && ic.typ == t && ic.ver == t.version {
				if d == nil || d.live == 0 || d.findStr(name, c.hashes[o.arg]) < 0 {
					stack[sp-1] = ic.val
					stack[sp] = a
					sp++
					continue loop
				}
			}
			m, self, e := in.loadMethod(a, name)
			if e != nil {
				err = e
				goto fail
			}
			if self != nil {
				if t != nil {
					ic.typ, ic.ver, ic.val = t, t.version, m
				}
				stack[sp-1] = m
				stack[sp] = self
			} else {
				stack[sp-1] = nil
				stack[sp] = m
			}
			sp++

		case code.KW_NAMES:
			kwnames = c.Consts[o.arg].(*Tuple)
		case code.CALL:
			n := int(o.arg)
			base := sp - n // first argument
			callable := stack[base-1]
			if stack[base-2] != nil {
				base--
				callable = stack[base-1]
			} else {
				stack[base-2] = callable
			}
			drop := sp - n - 2
			args := stack[base:sp]
			var v Object
			f.SP = sp
			if in.CallHook != nil {
				v, err = in.callHooked(callable, args, kwnames)
			} else if fn, ok := callable.(*Function); ok && kwnames == nil {
				nf := in.pushFrame(fn)
				if fc := fn.Code; fc.simple && len(args) == fc.ArgCount {
					copy(nf.LocalsPlus, args)
				} else if err = in.bindArgs(fn, nf.LocalsPlus, args, nil); err != nil {
					in.popFrame(nf)
					goto fail
				}
				if in.FrameHook != nil {
					nf.Back = f
					v, err = in.FrameHook(in, nf)
				} else {
					v, err = in.evalThrow(nf, nil)
				}
				in.popFrame(nf)
			} else if b, ok := callable.(*Builtin); ok && kwnames == nil && b.shared && b.NoKw && b.Self == nil {
				k := len(args)
				if b.Method {
					k--
				}
				if k < b.Min || b.Max >= 0 && k > b.Max {
					err = in.builtinArity(b, k, false)
				} else {
					v, err = b.Fn(in, args, nil)
					if v == nil {
						v = None
					}
				}
			} else {
				v, err = in.callVector(callable, args, kwnames)
			}
			kwnames = nil
			if err != nil {
				goto fail
			}
			for i := sp - 1; i > drop; i-- {
				stack[i] = nil
			}
			stack[drop] = v
			sp = drop + 1
		case code.CALL_FUNCTION_EX:
			var kw []KwArg
			if o.arg&1 != 0 {
				sp--
				if kw, err = in.kwFromMapping(stack[sp-2], stack[sp]); err != nil {
					goto fail
				}
			}
			callable := stack[sp-2]
			var args []Object
			switch x := stack[sp-1].(type) {
			case *Tuple:
				args = x.Items
			default:
				if args, err = in.starArgs(callable, x); err != nil {
					goto fail
				}
			}
			f.SP = sp
			var v Object
			handled := false
			if in.CallHook != nil {
				v, handled, err = in.CallHook(in, callable, slices.Clone(args), kw)
				if err != nil {
					goto fail
				}
			}
			if !handled {
				if v, err = in.Call(callable, args, kw); err != nil {
					goto fail
				}
			}
			sp -= 2
			stack[sp-1] = v
		case code.RETURN_VALUE:
			sp--
			v := stack[sp]
			f.SP = sp
			return v, nil

		case code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_FALSE:
			sp--
			var t bool
			if b, ok := stack[sp].(Bool); ok {
				t = bool(b)
			} else if t, err = in.Truth(stack[sp]); err != nil {
				goto fail
			}
			if !t {
				pc = int(o.arg)
			}
		case code.POP_JUMP_FORWARD_IF_TRUE, code.POP_JUMP_BACKWARD_IF_TRUE:
			sp--
			var t bool
			if b, ok := stack[sp].(Bool); ok {
				t = bool(b)
			} else if t, err = in.Truth(stack[sp]); err != nil {
				goto fail
			}
			if t {
				if o.op == code.POP_JUMP_BACKWARD_IF_TRUE && in.stop.Load() {
					if err = in.stopped(); err != nil {
						return nil, err
					}
				}
				pc = int(o.arg)
			}
		case code.POP_JUMP_FORWARD_IF_NONE, code.POP_JUMP_BACKWARD_IF_NONE:
			sp--
			if stack[sp] == None {
				pc = int(o.arg)
			}
		case code.POP_JUMP_FORWARD_IF_NOT_NONE, code.POP_JUMP_BACKWARD_IF_NOT_NONE:
			sp--
			if stack[sp] != None {
				pc = int(o.arg)
			}
		case code.JUMP_IF_FALSE_OR_POP, code.JUMP_IF_TRUE_OR_POP:
			t, e := in.Truth(stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			if t == (o.op == code.JUMP_IF_TRUE_OR_POP) {
				pc = int(o.arg)
			} else {
				sp--
			}
		case code.JUMP_FORWARD, code.JUMP_BACKWARD_NO_INTERRUPT:
			pc = int(o.arg)
		case code.JUMP_BACKWARD:
			if in.stop.Load() {
				if err = in.stopped(); err != nil {
					return nil, err
				}
			}
			pc = int(o.arg)

		case code.GET_ITER:
			if _, ok := stack[sp-1].(Iterator); !ok {
				v, e := in.Iter(stack[sp-1])
				if e != nil {
					err = e
					goto fail
				}
				stack[sp-1] = v
			}
		case code.FOR_ITER:
			var v Object
			switch it := stack[sp-1].(type) {
			case *rangeIter:
				if it.n > 0 {
					v = in.boxInt(it.cur)
					it.cur += it.step
					it.n--
				}
			case *listIter:
				if it.l != nil {
					if it.i < len(it.l.Items) {
						v = it.l.Items[it.i]
						it.i++
					} else {
						it.l = nil
					}
				}
			case Iterator:
				v, err = it.Next(in)
			default:
				v, err = in.Next(it)
			}
			if err != nil {
				goto fail
			}
			if v == nil {
				sp--
				stack[sp] = nil
				pc = int(o.arg)
			} else {
				stack[sp] = v
				sp++
			}
		case code.GET_YIELD_FROM_ITER:
			if _, ok := stack[sp-1].(*Generator); !ok {
				v, e := in.Iter(stack[sp-1])
				if e != nil {
					err = e
					goto fail
				}
				stack[sp-1] = v
			}
		case code.SEND:
			v, ret, e := in.send(stack[sp-2], stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			if ret != nil {
				sp--
				stack[sp-1] = ret
				pc = int(o.arg)
			} else {
				stack[sp-1] = v
			}
		case code.RETURN_GENERATOR:
			g := &Generator{Name: f.Func.Name, Qualname: f.Func.Qualname, frame: f}
			f.Gen = g
			f.retained = true
			f.SP, f.PC = sp, pc
			return g, nil
		case code.YIELD_VALUE:
			sp--
			v := stack[sp]
			f.SP, f.PC = sp, pc
			f.yielded = true
			return v, nil

		case code.BUILD_TUPLE:
			n := int(o.arg)
			items := make([]Object, n)
			copy(items, stack[sp-n:sp])
			sp -= n
			stack[sp] = NewTuple(items...)
			sp++
		case code.BUILD_LIST:
			n := int(o.arg)
			items := make([]Object, n)
			copy(items, stack[sp-n:sp])
			sp -= n
			stack[sp] = &List{items}
			sp++
		case code.BUILD_SET:
			n := int(o.arg)
			s := NewSet()
			for i := sp - n; i < sp; i++ {
				if err = s.Add(in, stack[i]); err != nil {
					goto fail
				}
			}
			sp -= n
			stack[sp] = s
			sp++
		case code.BUILD_MAP:
			n := 2 * int(o.arg)
			d := NewDict()
			for i := sp - n; i < sp; i += 2 {
				if err = d.Set(in, stack[i], stack[i+1]); err != nil {
					goto fail
				}
			}
			sp -= n
			stack[sp] = d
			sp++
		case code.BUILD_CONST_KEY_MAP:
			n := int(o.arg)
			keys := stack[sp-1].(*Tuple).Items
			d := NewDict()
			sp--
			for i := range n {
				if err = d.Set(in, keys[i], stack[sp-n+i]); err != nil {
					goto fail
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
			var sb strings.Builder
			for i := sp - n; i < sp; i++ {
				s, _ := AsStr(stack[i])
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
			v := stack[sp-1]
			s := ""
			switch o.arg & 3 {
			case 1:
				s, err = in.Str(v)
				v = Str(s)
			case 2:
				s, err = in.Repr(v)
				v = Str(s)
			case 3:
				s, err = in.ascii(v)
				v = Str(s)
			}
			if err != nil {
				goto fail
			}
			if s, err = in.Format(v, spec); err != nil {
				goto fail
			}
			stack[sp-1] = Str(s)
		case code.LIST_TO_TUPLE:
			stack[sp-1] = NewTuple(stack[sp-1].(*List).Items...)
		case code.LIST_APPEND:
			sp--
			stack[sp-int(o.arg)].(*List).Append(stack[sp])
		case code.SET_ADD:
			sp--
			if err = stack[sp-int(o.arg)].(*Set).Add(in, stack[sp]); err != nil {
				goto fail
			}
		case code.MAP_ADD:
			sp -= 2
			if err = stack[sp-int(o.arg)].(*Dict).Set(in, stack[sp], stack[sp+1]); err != nil {
				goto fail
			}
		case code.LIST_EXTEND:
			sp--
			l := stack[sp-int(o.arg)].(*List)
			items, e := in.IterAll(stack[sp])
			if e != nil {
				err = e
				if stack[sp].Type().Lookup("__iter__") == nil && stack[sp].Type().Lookup("__getitem__") == nil {
					err = in.Errorf(in.Exc.TypeError, "Value after * must be an iterable, not %s", stack[sp].Type().Name)
				}
				goto fail
			}
			l.Items = append(l.Items, items...)
		case code.SET_UPDATE:
			sp--
			if err = stack[sp-int(o.arg)].(*Set).update(in, stack[sp]); err != nil {
				goto fail
			}
		case code.DICT_UPDATE:
			sp--
			if stack[sp].Type().Lookup("keys") == nil {
				err = in.Errorf(in.Exc.TypeError, "'%s' object is not a mapping", stack[sp].Type().Name)
				goto fail
			}
			if err = in.dictUpdate(stack[sp-int(o.arg)].(*Dict), stack[sp]); err != nil {
				goto fail
			}
		case code.DICT_MERGE:
			sp--
			if err = in.dictMerge(stack[sp-int(o.arg)].(*Dict), stack[sp], stack[sp-int(o.arg)-2]); err != nil {
				goto fail
			}
		case code.UNPACK_SEQUENCE:
			n := int(o.arg)
			sp--
			v := stack[sp]
			var items []Object
			switch x := v.(type) {
			case *Tuple:
				items = x.Items
			case *List:
				items = x.Items
			}
			if len(items) != n || items == nil {
				if items, err = in.unpack(v, n, -1); err != nil {
					goto fail
				}
			}
			for i := n - 1; i >= 0; i-- {
				stack[sp] = items[i]
				sp++
			}
		case code.UNPACK_EX:
			before, after := int(o.arg&0xff), int(o.arg>>8)
			sp--
			items, e := in.unpack(stack[sp], before, after)
			if e != nil {
				err = e
				goto fail
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
		case code.SWAP:
			i := sp - int(o.arg)
			stack[sp-1], stack[i] = stack[i], stack[sp-1]
		case code.COPY:
			stack[sp] = stack[sp-int(o.arg)]
			sp++

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
				goto fail
			}
			stack[sp] = v
			sp++
		case code.SETUP_ANNOTATIONS:
			if d, ok := f.Locals.(*Dict); ok {
				if _, ok := d.GetStr("__annotations__"); !ok {
					d.SetStr("__annotations__", NewDict())
				}
			} else if err = in.SetItem(f.Locals, Str("__annotations__"), NewDict()); err != nil {
				goto fail
			}
		case code.LOAD_ASSERTION_ERROR:
			stack[sp] = in.Exc.AssertionError
			sp++
		case code.IMPORT_NAME:
			level, _ := AsInt(stack[sp-2])
			v, e := in.importName(f, c.Names[o.arg], stack[sp-1], int(level))
			if e != nil {
				err = e
				goto fail
			}
			sp--
			stack[sp-1] = v
		case code.IMPORT_FROM:
			v, e := in.importFrom(stack[sp-1], c.Names[o.arg])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp] = v
			sp++
		case code.IMPORT_STAR:
			sp--
			if err = in.importStar(f, stack[sp]); err != nil {
				goto fail
			}
		case code.PRINT_EXPR:
			sp--
			if stack[sp] != None {
				s, e := in.Repr(stack[sp])
				if e == nil {
					e = in.Write(s + "\n")
				}
				if e != nil {
					err = e
					goto fail
				}
			}

		case code.BEFORE_WITH:
			mgr := stack[sp-1]
			exit, enter, e := in.withMethods(mgr)
			if e != nil {
				err = e
				goto fail
			}
			v, e := in.Call(enter, nil, nil)
			if e != nil {
				err = e
				goto fail
			}
			stack[sp-1] = exit
			stack[sp] = v
			sp++
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
				goto fail
			}
			stack[sp] = v
			sp++
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
			in.exc, _ = stack[sp].(*Exception)
			stack[sp] = nil
		case code.CHECK_EXC_MATCH:
			ok, e := in.excMatches(stack[sp-2], stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp-1] = MakeBool(ok)
		case code.RAISE_VARARGS:
			switch o.arg {
			case 0:
				if in.exc == nil {
					err = in.Errorf(in.Exc.RuntimeError, "No active exception to reraise")
					goto fail
				}
				err = &Raised{in.exc}
				goto unwind
			default:
				var cause Object
				if o.arg == 2 {
					sp--
					cause = stack[sp]
				}
				sp--
				err = in.raise(stack[sp], cause)
			}
			goto fail
		case code.RERAISE:
			sp--
			e, ok := stack[sp].(*Exception)
			if !ok {
				err = in.Errorf(in.Exc.SystemError, "nothing to re-raise")
				goto fail
			}
			if o.arg != 0 && sp >= int(o.arg) {
				if li, ok := AsInt(stack[sp-int(o.arg)]); ok && o.arg == 1 {
					_ = li
				}
			}
			err = &Raised{e}
			goto unwind

		case code.GET_LEN:
			n, e := in.Len(stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp] = MakeInt(int64(n))
			sp++
		case code.MATCH_SEQUENCE:
			stack[sp] = MakeBool(isMatchSequence(in, stack[sp-1]))
			sp++
		case code.MATCH_MAPPING:
			stack[sp] = MakeBool(isMatchMapping(in, stack[sp-1]))
			sp++
		case code.MATCH_KEYS:
			v, e := in.matchKeys(stack[sp-2], stack[sp-1].(*Tuple))
			if e != nil {
				err = e
				goto fail
			}
			stack[sp] = v
			sp++
		case code.MATCH_CLASS:
			v, e := in.matchClass(stack[sp-3], stack[sp-2], int(o.arg), stack[sp-1].(*Tuple))
			if e != nil {
				err = e
				goto fail
			}
			sp -= 2
			stack[sp-1] = v
		default:
			err = in.Errorf(in.Exc.SystemError, "unknown opcode %s", o.op)
			goto fail
		}
		continue

	fail:
		kwnames = nil
		if sp, pc, err = in.unwind(f, err, true); err != nil {
			return nil, err
		}
		continue
	unwind:
		if sp, pc, err = in.unwind(f, err, false); err != nil {
			return nil, err
		}
	}
}

// unwind finds the handler of a failure at f.PC and readies the stack for it. Without one, or for an error that is not a
// Python exception, it returns the error. entry says that the frame is added to the traceback.
func (in *Interp) unwind(f *Frame, err error, entry bool) (sp, pc int, _ error) {
	c := f.Code
	r, ok := err.(*Raised)
	if !ok && !errors.As(err, &r) {
		return 0, 0, err
	}
	if entry {
		r.Exc.Traceback = &Traceback{Code: c, Globals: f.Globals, PC: f.PC, Next: r.Exc.Traceback, frame: retainedFrame(f)}
	}
	h, ok := c.HandlerAt(f.PC)
	if !ok {
		return 0, 0, r
	}
	sp = int(h.Depth)
	clear(f.Stack[sp:])
	if h.Lasti {
		f.Stack[sp] = MakeInt(int64(f.PC))
		sp++
	}
	f.Stack[sp] = r.Exc
	return sp + 1, int(h.Target), nil
}

func retainedFrame(f *Frame) *Frame {
	if f.heap {
		return f
	}
	return nil
}

var unaryNames = map[code.Op]string{code.UNARY_NEGATIVE: "-", code.UNARY_POSITIVE: "+", code.UNARY_INVERT: "~"}

func (in *Interp) floatOp(x, y float64, arg int32) Object {
	switch arg {
	case 0, 13:
		return in.boxFloat(x + y)
	case 10, 23:
		return in.boxFloat(x - y)
	case 5, 18:
		return in.boxFloat(x * y)
	case 11, 24:
		if y != 0 {
			return in.boxFloat(x / y)
		}
	case 8, 21:
		if x > 0 || y == math.Trunc(y) && x != 0 {
			if r := libm.Pow(x, y); !math.IsInf(r, 0) {
				return in.boxFloat(r)
			}
		}
	}
	return nil
}
