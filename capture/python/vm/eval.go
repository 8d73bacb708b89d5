package vm

import (
	"math/bits"

	"whittle/capture/python/code"
)

// eval runs a frame's instructions from its PC until it returns, yields or fails; thrown, if not nil, is what the current instruction fails
// with first. It is one switch over the instructions, long because a call for each would cost more than most of them do; what they do to the
// stack is beside their names in package code and in quicken.go.
//
// The loop keeps the program counter and the height of the stack in variables of its own. The frame's PC is set before each instruction, so
// that whoever looks at the frame, a traceback or an embedder, sees where it is; its SP only where something may look at the stack: before
// Trace, before calls, and where the frame is left. What is one load away from the frame has no variable: each is one more to be kept through
// the whole loop. Slots of the stack above sp may hold what was there; they are cleared only where that
// would keep large things alive, and all of them by popFrame.
//
// A call of a Python function is a call of this function: going on with the callee's frame in the same loop was measured, and is slower, as the
// loop then has to keep the frame, its instructions and its stack in variables that change.
//
// A failing instruction sets err and goes to fail, which adds the frame to the traceback; one that passes on an exception that has this
// frame in its traceback already goes to unwind. Both either find a handler, whose place and height of the stack the loop takes over, or
// leave.
//
// Arithmetic, comparisons, subscripts, attributes and calls try the usual cases of built-in types here and leave the rest to the methods
// that know all of the language; the usual cases must behave as those methods do.
func (in *Interp) eval(f *Frame, thrown error) (Object, error) {
	var (
		ops   = f.Code.fast
		stack = f.Stack
		sp    = f.SP
		pc    = f.PC
	)
	if thrown != nil {
		if sp, pc, thrown = in.unwind(f, thrown, true); thrown != nil {
			return nil, thrown
		}
	} else if pc < len(ops) && ops[pc].op() == code.RESUME && f.Trace == nil && !in.stop.Load() {
		pc++
	}
loop:
	for {
		var (
			o   op
			err error
		)
		f.PC = pc
		if f.Trace != nil {
			f.SP = sp
			if e := f.Trace(f); e != nil {
				err = e
				goto fail
			}
			sp, pc = f.SP, f.PC
			o = f.Code.ops[pc] // one step for each instruction
		} else {
			o = ops[pc]
		}
		pc++
		switch o.op() {
		case code.RESUME:
			if in.stop.Load() {
				if err = in.stopped(); err != nil {
					goto fail
				}
			}
		case code.NOP, code.PRECALL, code.KW_NAMES, code.CACHE:
		case code.POP_TOP:
			sp--
			if in.awaited != 0 && stack[sp] != None {
				old := stack[sp]
				stack[sp] = nil
				in.drop(f, sp, old, guessed)
			}
			stack[sp] = nil
		case fastPopJump:
			if in.awaited != 0 && stack[sp-1] != None {
				sp--
				old := stack[sp]
				stack[sp] = nil
				in.drop(f, sp, old, guessed)
				continue loop
			}
			sp--
			stack[sp] = nil
			if !in.stop.Load() {
				pc = int(ops[pc].arg)
			}
		case code.PUSH_NULL:
			stack[sp] = nil
			sp++
		case fastNullLoad:
			v := f.LocalsPlus[ops[pc].arg]
			if v == nil {
				f.PC = pc
				err = f.Code.unset(in, ops[pc].arg)
				goto fail
			}
			stack[sp], stack[sp+1] = nil, v
			sp += 2
			pc++
		case fastNullDeref:
			stack[sp] = nil
			sp++
			if cell, ok := f.LocalsPlus[ops[pc].arg].(*Cell); ok && cell.V != nil {
				stack[sp] = cell.V
				sp++
				pc++
			}
		case code.LOAD_FAST:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			stack[sp] = v
			sp++
		case fastLoadLoad:
			v, w := f.LocalsPlus[o.arg], f.LocalsPlus[ops[pc].arg]
			if v == nil || w == nil {
				if v != nil {
					f.PC, o.arg = pc, ops[pc].arg
				}
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			stack[sp], stack[sp+1] = v, w
			sp += 2
			pc++
		case fastLoadConst:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			stack[sp], stack[sp+1] = v, f.Code.Consts[ops[pc].arg]
			sp += 2
			pc++
		case fastLoadConstOp:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			w := f.Code.Consts[ops[pc].arg]
			if r := in.quickBinary(v, w, ops[pc+1].arg); r != nil {
				stack[sp] = r
				sp++
				pc += 2
				continue
			}
			stack[sp], stack[sp+1] = v, w
			sp += 2
			pc++
		case fastLoadLoadOp:
			v, w := f.LocalsPlus[o.arg], f.LocalsPlus[ops[pc].arg]
			if v == nil || w == nil {
				if v != nil {
					f.PC, o.arg = pc, ops[pc].arg
				}
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			if r := in.quickBinary(v, w, ops[pc+1].arg); r != nil {
				stack[sp] = r
				sp++
				pc += 2
				continue
			}
			stack[sp], stack[sp+1] = v, w
			sp += 2
			pc++
		case fastConstOp:
			w := f.Code.Consts[o.arg]
			if r := in.quickBinary(stack[sp-1], w, ops[pc].arg); r != nil {
				stack[sp-1] = r
				pc++
				continue
			}
			stack[sp] = w
			sp++
		case fastLoadOp:
			w := f.LocalsPlus[o.arg]
			if w == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			if r := in.quickBinary(stack[sp-1], w, ops[pc].arg); r != nil {
				stack[sp-1] = r
				pc++
				continue
			}
			stack[sp] = w
			sp++
		case fastLoadAttr:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			if x, ok := v.(*Instance); ok {
				if at := f.Code.caches[pc].ownAt(x); at != nil && *at != nil {
					v = *at
					pc++
				}
			}
			stack[sp] = v
			sp++
		case fastLoadMethod:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			if x, ok := v.(*Instance); ok {
				ic := &f.Code.caches[pc]
				if ic.typ == x.Class && ic.ver == x.Class.version && (x.Dict == nil || x.Dict.live == 0 || x.Dict.findStr(f.Code.Names[ops[pc].arg], f.Code.hashes[ops[pc].arg]) < 0) {
					stack[sp] = ic.val
					sp++
					pc++
				}
			}
			stack[sp] = v
			sp++
		case fastStoreAttr:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			if x, ok := v.(*Instance); ok && (in.awaited == 0 || stack[sp-1] != None) {
				if at := f.Code.caches[pc].ownAt(x); at != nil {
					sp--
					*at = stack[sp]
					pc++
					continue loop
				}
			}
			stack[sp] = v
			sp++
		case fastConstStore:
			v := f.Code.Consts[o.arg]
			if in.awaited != 0 && v == None {
				in.storeNone(f, sp, ops[pc].arg)
			} else {
				f.LocalsPlus[ops[pc].arg] = v
			}
			pc++
		case fastStoreStore:
			sp -= 2
			f.LocalsPlus[o.arg] = stack[sp+1]
			f.LocalsPlus[ops[pc].arg] = stack[sp]
			pc++
		case fastStoreJump:
			sp--
			f.LocalsPlus[o.arg] = stack[sp]
			if !in.stop.Load() {
				pc = int(ops[pc].arg)
			}
		case fastLoadReturn:
			v := f.LocalsPlus[o.arg]
			if v == nil {
				err = f.Code.unset(in, o.arg)
				goto fail
			}
			f.PC, f.SP = pc, sp
			return v, nil
		case fastConstReturn:
			f.PC, f.SP = pc, sp
			return f.Code.Consts[o.arg], nil
		case fastStoreLoad:
			f.LocalsPlus[o.arg] = stack[sp-1]
			v := f.LocalsPlus[ops[pc].arg]
			if v == nil {
				f.PC = pc
				err = f.Code.unset(in, ops[pc].arg)
				goto fail
			}
			stack[sp-1] = v
			pc++
		case code.LOAD_CONST:
			stack[sp] = f.Code.Consts[o.arg]
			sp++
		case code.STORE_FAST:
			sp--
			if in.awaited != 0 && stack[sp] == None {
				in.storeNone(f, sp, o.arg)
				continue
			}
			f.LocalsPlus[o.arg] = stack[sp]
		// The cached entry is the name's as long as its key is the same string, which says that no other key has moved there. For a builtin,
		// the globals have to be the same and to have got no key since.
		case code.LOAD_GLOBAL:
			i := o.arg >> 1
			if o.arg&1 != 0 {
				stack[sp] = nil
				sp++
			}
			ic := &f.Code.caches[f.PC]
			var v Object
			if ic.dict != nil && (ic.typ == nil && ic.dict == f.Globals || ic.typ != nil && ic.dict == f.Builtins && ic.val == Object(f.Globals) && ic.ver == f.Globals.keysVer) {
				if int(ic.idx) < len(ic.dict.entries) {
					if e := &ic.dict.entries[ic.idx]; dataOf(e.key) == ic.key {
						v = e.val
					}
				}
			}
			if v == nil {
				if v = f.loadGlobal(ic, int(i)); v == nil {
					err = in.nameError(f.Code.Names[i])
					goto fail
				}
			}
			stack[sp] = v
			sp++
		case code.MAKE_CELL:
			f.LocalsPlus[o.arg] = &Cell{f.LocalsPlus[o.arg]}
		case fastFreeResume, code.COPY_FREE_VARS:
			base := len(f.LocalsPlus) - int(o.arg)
			for i, cell := range f.Func.Closure[:o.arg] {
				f.LocalsPlus[base+i] = cell
			}
			if o.op() == fastFreeResume && !in.stop.Load() {
				pc++
			}
		case code.LOAD_DEREF:
			cell, ok := f.LocalsPlus[o.arg].(*Cell)
			if !ok || cell.V == nil {
				err = f.Code.unbound(in, int(o.arg))
				goto fail
			}
			stack[sp] = cell.V
			sp++
		// A frame that an embedder begins in the middle may lack its cells.
		case code.STORE_DEREF:
			sp--
			if cell, ok := f.LocalsPlus[o.arg].(*Cell); ok {
				old := cell.V
				cell.V = stack[sp]
				if in.awaited != 0 && cell.V == None {
					in.letGo(f, sp, old)
				}
			} else {
				f.LocalsPlus[o.arg] = &Cell{stack[sp]}
			}
		case fastAdd:
			b, a := stack[sp-1], stack[sp-2]
			var v Object
			if x, ok := a.(Int); ok {
				if y, ok := b.(Int); ok {
					if s := x + y; (x^s)&(y^s) >= 0 {
						v = in.boxInt(int64(s))
					}
				}
			} else if x, ok := a.(Float); ok {
				if y, ok := b.(Float); ok {
					v = in.boxFloat(float64(x) + float64(y))
				}
			} else if x, ok := a.(Str); ok {
				if y, ok := b.(Str); ok {
					v = x + y
				}
			}
			if v == nil {
				f.SP = sp
				if v, err = in.binaryArg(a, b, o.arg); err != nil {
					goto fail
				}
				if in.Made != nil {
					in.operated(f, pc, a, b, v)
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case fastSub:
			b, a := stack[sp-1], stack[sp-2]
			var v Object
			if x, ok := a.(Int); ok {
				if y, ok := b.(Int); ok {
					if s := x - y; (x^y)&(x^s) >= 0 {
						v = in.boxInt(int64(s))
					}
				}
			} else if x, ok := a.(Float); ok {
				if y, ok := b.(Float); ok {
					v = in.boxFloat(float64(x) - float64(y))
				}
			}
			if v == nil {
				f.SP = sp
				if v, err = in.binaryArg(a, b, o.arg); err != nil {
					goto fail
				}
				if in.Made != nil {
					in.operated(f, pc, a, b, v)
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case fastMul:
			b, a := stack[sp-1], stack[sp-2]
			var v Object
			if x, ok := a.(Int); ok {
				if y, ok := b.(Int); ok {
					hi, lo := bits.Mul64(uint64(x), uint64(y))
					if int64(x) >= 0 && int64(y) >= 0 && hi == 0 && int64(lo) >= 0 {
						v = in.boxInt(int64(lo))
					} else if x > -(1<<31) && x < 1<<31 && y > -(1<<31) && y < 1<<31 {
						v = in.boxInt(int64(x * y))
					}
				}
			} else if x, ok := a.(Float); ok {
				if y, ok := b.(Float); ok {
					v = in.boxFloat(float64(x) * float64(y))
				}
			}
			if v == nil {
				f.SP = sp
				if v, err = in.binaryArg(a, b, o.arg); err != nil {
					goto fail
				}
				if in.Made != nil {
					in.operated(f, pc, a, b, v)
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case code.BINARY_OP:
			b, a := stack[sp-1], stack[sp-2]
			v := in.quickBinary(a, b, o.arg)
			if v == nil {
				f.SP = sp
				if v, err = in.binaryArg(a, b, o.arg); err != nil {
					goto fail
				}
				if in.Made != nil {
					in.operated(f, pc, a, b, v)
				}
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		// Both instructions at once, without a bool between them, for what has no methods; else only the first is done.
		case fastCompareJump:
			b, a := stack[sp-1], stack[sp-2]
			t, ok := quickCompare(a, b, o.arg)
			if !ok {
				goto compare
			}
			sp -= 2
			stack[sp], stack[sp+1] = nil, nil
			o = ops[pc]
			pc++
			switch o.op() {
			case code.POP_JUMP_FORWARD_IF_FALSE:
				if !t {
					pc = int(o.arg)
				}
			case code.POP_JUMP_FORWARD_IF_TRUE:
				if t {
					pc = int(o.arg)
				}
			default: // back to the head of a loop
				if in.stop.Load() {
					if err = in.stopped(); err != nil {
						f.PC = pc - 1
						goto fail
					}
				}
				if t == (o.op() == code.POP_JUMP_BACKWARD_IF_TRUE) {
					pc = int(o.arg)
				}
			}
			continue
		compare:
			v, e := in.Compare(code.CmpOps[o.arg], a, b)
			if e != nil {
				err = e
				goto fail
			}
			sp--
			stack[sp] = nil
			stack[sp-1] = v
		case code.COMPARE_OP:
			b, a := stack[sp-1], stack[sp-2]
			var v Object
			if t, ok := quickCompare(a, b, o.arg); ok {
				v = MakeBool(t)
			} else if v, err = in.Compare(code.CmpOps[o.arg], a, b); err != nil {
				goto fail
			} else if in.Made != nil {
				in.operated(f, pc, a, b, v)
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
			old := stack[sp-1]
			stack[sp-1] = MakeBool(!t)
			if in.awaited != 0 {
				in.drop(f, sp, old, guessed)
			}
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
			case Str:
				if i, ok := key.(Int); ok && i >= 0 {
					if rs, n := in.runes(string(x)); rs == nil && int(i) < n {
						v = charStrs[x[i]]
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
		case fastSlice:
			if o.arg == 2 {
				if v := in.quickSlice(stack[sp-3], stack[sp-2], stack[sp-1]); v != nil {
					sp -= 2
					stack[sp], stack[sp+1] = nil, nil
					stack[sp-1] = v
					pc++
					continue loop
				}
			}
			o.word = uint32(code.BUILD_SLICE)
			if sp, err = in.evalRare(f, o, sp); err != nil {
				goto fail
			}
		case fastSetJump, code.STORE_SUBSCR:
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
			if o.op() == fastSetJump && !in.stop.Load() && f.Trace == nil {
				pc = int(ops[pc].arg)
			}
		// With the class and its version unchanged, the cache says what kind of attribute the name is, and only the instance is looked at.
		case code.LOAD_ATTR:
			a := stack[sp-1]
			if x, ok := a.(*Instance); ok {
				ic := &f.Code.caches[f.PC]
				if ic.typ == x.Class && ic.ver == x.Class.version {
					switch d := x.Dict; {
					case ic.kind == attrDict:
						if d != nil && int(ic.idx) < len(d.entries) {
							if e := &d.entries[ic.idx]; dataOf(e.key) == ic.key {
								stack[sp-1] = e.val
								continue loop
							}
						}
					case ic.kind == attrSlot:
						if int(ic.idx) < len(x.Slots) && x.Slots[ic.idx] != nil {
							stack[sp-1] = x.Slots[ic.idx]
							continue loop
						}
					case ic.kind == attrProperty:
						f.SP = sp
						v, e := ic.val.(*Function).call(in, f.Stack[sp-1:sp], nil)
						if e != nil {
							err = e
							goto fail
						}
						stack[sp-1] = v
						continue loop
					case d == nil || d.findStr(f.Code.Names[o.arg], f.Code.hashes[o.arg]) < 0: // attrClass
						stack[sp-1] = ic.val
						continue loop
					}
				}
				if v := ic.fillAttr(x, f.Code.Names[o.arg], f.Code.hashes[o.arg]); v != nil {
					stack[sp-1] = v
					continue loop
				}
			} else if m, ok := a.(*Module); ok && m.class == nil {
				if v, ok := m.Dict.GetStr(f.Code.Names[o.arg]); ok {
					stack[sp-1] = v
					continue loop
				}
			}
			v, e := in.GetAttr(a, f.Code.Names[o.arg])
			if e != nil {
				err = e
				goto fail
			}
			stack[sp-1] = v
		// The cache says that the class has nothing to do with the store: a known entry of the instance's dict, one of its slots, or a new
		// entry.
		case code.STORE_ATTR:
			a, v := stack[sp-1], stack[sp-2]
			if in.awaited != 0 && v == None { // it lets go of the attribute's value
				old := in.heldAttr(a, f.Code.Names[o.arg])
				if err = in.SetAttr(a, f.Code.Names[o.arg], v); err != nil {
					goto fail
				}
				sp -= 2
				in.letGo(f, sp, old)
				continue
			}
			if x, ok := a.(*Instance); ok {
				ic := &f.Code.caches[f.PC]
				if ic.typ == x.Class && ic.ver == x.Class.version {
					if ic.kind == attrSlot {
						x.Slots[ic.idx] = v
						sp -= 2
						continue loop
					}
					d := x.Dict
					if d != nil && int(ic.idx) < len(d.entries) {
						if e := &d.entries[ic.idx]; dataOf(e.key) == ic.key {
							e.val = v
							d.valsVer++
							sp -= 2
							continue loop
						}
					}
					ic.store(x, f.Code.names[o.arg], f.Code.hashes[o.arg], v)
					sp -= 2
					continue loop
				}
				if ic.fillStore(x, f.Code.Names[o.arg]) {
					if ic.kind == attrSlot {
						x.Slots[ic.idx] = v
					} else {
						ic.store(x, f.Code.names[o.arg], f.Code.hashes[o.arg], v)
					}
					sp -= 2
					continue loop
				}
			}
			if err = in.SetAttr(a, f.Code.Names[o.arg], v); err != nil {
				goto fail
			}
			sp -= 2
		// A method is found in the class if the instance's dict has no such name. Then it is not bound, and CALL passes self.
		case code.LOAD_METHOD:
			a := stack[sp-1]
			name := f.Code.Names[o.arg]
			ic := &f.Code.caches[f.PC]
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
				if d == nil || d.live == 0 || d.findStr(name, f.Code.hashes[o.arg]) < 0 {
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

		case fastCall: // PRECALL and what follows it
			o = ops[pc]
			f.PC = pc
			pc++
			fallthrough
		// Below the arguments lie a function and self, or NULL and a function. Python functions, classes that only make an object and run a
		// Python __init__, and Go functions that keep no arguments are called with the arguments where they lie.
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
			args := f.Stack[base:sp]
			var v Object
			var kwnames *Tuple
			if o.word&namedCall != 0 {
				kwnames = f.Code.argNames(f.PC)
			}
			if in.passed != nil {
				in.passed = nil
			}
			f.SP = sp
			if in.CallHook != nil {
				v, err = in.callHooked(callable, args, kwnames)
			} else if fn, ok := callable.(*Function); ok && kwnames == nil && fn.Override == nil {
				v, err = in.callPlain(fn, args)
			} else if t, ok := callable.(*Type); ok && kwnames == nil && t.constructs() {
				v, err = t.construct(in, args)
			} else if b, ok := callable.(*Builtin); ok && kwnames == nil && b.shared && b.NoKw && b.Self == nil {
				k := len(args)
				if b.Method {
					k--
				}
				if k < b.Min || b.Max >= 0 && k > b.Max || b.strict && args[0].Type() != b.Owner {
					v, err = b.call(in, args, nil)
				} else {
					v, err = b.Fn(in, args, nil)
					if v == nil {
						v = None
					}
				}
			} else {
				v, err = in.callVector(callable, args, kwnames)
			}
			if err != nil {
				goto fail
			}
			if in.awaited != 0 {
				in.endOperands(f, drop, sp, callable, v)
			}
			for i := sp - 1; i > drop; i-- {
				stack[i] = nil
			}
			stack[drop] = v
			sp = drop + 1
			if in.Made != nil || in.passed != nil {
				in.valued(f, pc, callable, v)
			}
			if in.stop.Load() { // what came while it ran, or what it asked for
				f.SP = sp
				if err = in.stopped(); err != nil {
					goto fail
				}
			}
		case code.RETURN_VALUE:
			sp--
			v := stack[sp]
			f.SP = sp
			if f.leaving != nil {
				if f.leaving == v {
					in.passed = v
				}
				f.leaving = nil
			}
			return v, nil

		case code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_FALSE:
			sp--
			t, known := quickTruth(stack[sp])
			if !known {
				if t, err = in.Truth(stack[sp]); err != nil {
					goto fail
				}
				if in.awaited != 0 {
					in.drop(f, sp, stack[sp], guessed)
				}
			}
			if !t {
				if o.op() == code.POP_JUMP_BACKWARD_IF_FALSE && in.stop.Load() {
					if err = in.stopped(); err != nil {
						goto fail
					}
				}
				pc = int(o.arg)
			}
		case code.POP_JUMP_FORWARD_IF_TRUE, code.POP_JUMP_BACKWARD_IF_TRUE:
			sp--
			t, known := quickTruth(stack[sp])
			if !known {
				if t, err = in.Truth(stack[sp]); err != nil {
					goto fail
				}
				if in.awaited != 0 {
					in.drop(f, sp, stack[sp], guessed)
				}
			}
			if t {
				if o.op() == code.POP_JUMP_BACKWARD_IF_TRUE && in.stop.Load() {
					if err = in.stopped(); err != nil {
						goto fail
					}
				}
				pc = int(o.arg)
			}
		case code.POP_JUMP_FORWARD_IF_NONE, code.POP_JUMP_BACKWARD_IF_NONE:
			sp--
			if stack[sp] == None {
				if o.op() == code.POP_JUMP_BACKWARD_IF_NONE && in.stop.Load() {
					if err = in.stopped(); err != nil {
						goto fail
					}
				}
				pc = int(o.arg)
			}
		case code.POP_JUMP_FORWARD_IF_NOT_NONE, code.POP_JUMP_BACKWARD_IF_NOT_NONE:
			sp--
			if stack[sp] != None {
				if o.op() == code.POP_JUMP_BACKWARD_IF_NOT_NONE && in.stop.Load() {
					if err = in.stopped(); err != nil {
						goto fail
					}
				}
				pc = int(o.arg)
			}
		case code.JUMP_IF_FALSE_OR_POP, code.JUMP_IF_TRUE_OR_POP:
			t, e := in.Truth(stack[sp-1])
			if e != nil {
				err = e
				goto fail
			}
			if t == (o.op() == code.JUMP_IF_TRUE_OR_POP) {
				pc = int(o.arg)
			} else {
				sp--
				if in.awaited != 0 {
					in.drop(f, sp, stack[sp], guessed)
				}
			}
		case code.JUMP_FORWARD, code.JUMP_BACKWARD_NO_INTERRUPT:
			pc = int(o.arg)
		case code.JUMP_BACKWARD:
			if in.stop.Load() {
				if err = in.stopped(); err != nil {
					goto fail
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
		// The iterators of range and list are walked here; the rest has a method.
		case fastForStore:
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
				if v, err = it.Next(in); err != nil && in.Matches(err, in.Exc.StopIteration) {
					err = nil // raised by what map or filter called, say
				}
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
				f.LocalsPlus[ops[pc].arg] = v
				pc++
			}
		case fastForPair:
			a, b, known, e := in.nextPair(stack[sp-1])
			switch {
			case e != nil:
				err = e
				goto fail
			case a != nil:
				stack[sp], stack[sp+1] = b, a
				sp += 2
				pc++
				continue
			case known:
				sp--
				stack[sp] = nil
				pc = int(o.arg)
				continue
			}
			fallthrough
		case code.FOR_ITER:
			var v Object
			if it, ok := stack[sp-1].(*listIter); ok && it.l != nil && it.i < len(it.l.Items) {
				v = it.l.Items[it.i]
				it.i++
			} else if v, err = in.Next(stack[sp-1]); err != nil {
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
		case code.SEND:
			v, ret, e := send(in, stack[sp-2], stack[sp-1])
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
		// The frame becomes the generator's, and its call returns the generator: evaluation goes on behind this instruction when it is
		// resumed.
		case code.RETURN_GENERATOR:
			f.retained = true
			f.SP, f.PC = sp, pc
			return in.newSuspended(f), nil
		// The frame is left as it is. yielded tells resume that this was no return.
		case code.YIELD_VALUE:
			sp--
			v := stack[sp]
			f.SP, f.PC = sp, pc
			f.yielded = true
			return v, nil

		case code.BUILD_TUPLE:
			n := int(o.arg)
			t := emptyTuple
			if n > 0 {
				t = newItems(n)
				copy(t.Items, f.Stack[sp-n:sp])
			}
			sp -= n
			stack[sp] = t
			sp++
		case code.BUILD_LIST:
			n := int(o.arg)
			l := newList(n)
			copy(l.Items, f.Stack[sp-n:sp])
			sp -= n
			stack[sp] = l
			sp++
		case fastAppendJump:
			sp--
			stack[sp-int(o.arg)].(*List).Append(stack[sp])
			if !in.stop.Load() {
				pc = int(ops[pc].arg)
			}
		case code.LIST_APPEND:
			sp--
			stack[sp-int(o.arg)].(*List).Append(stack[sp])
		case code.MAP_ADD:
			sp -= 2
			if err = stack[sp-int(o.arg)].(*Dict).Set(in, stack[sp], stack[sp+1]); err != nil {
				goto fail
			}
		case fastUnpackTwo, code.UNPACK_SEQUENCE:
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
			if o.op() == fastUnpackTwo && len(items) == 2 {
				stack[sp] = nil
				f.LocalsPlus[ops[pc].arg], f.LocalsPlus[ops[pc+1].arg] = items[0], items[1]
				pc += 2
				continue loop
			}
			if len(items) != n || items == nil {
				if items, err = unpack(in, v, n, -1); err != nil {
					goto fail
				}
			}
			for i := n - 1; i >= 0; i-- {
				stack[sp] = items[i]
				sp++
			}
		case code.SWAP:
			i := sp - int(o.arg)
			stack[sp-1], stack[i] = stack[i], stack[sp-1]
		case code.COPY:
			stack[sp] = stack[sp-int(o.arg)]
			sp++

		// A bare raise does not add this frame to the traceback again; the other forms do.
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
		// The exception goes on as it came: this frame is in its traceback, and its context stays.
		case code.RERAISE:
			sp--
			e, ok := stack[sp].(*Exception)
			if !ok {
				err = in.Errorf(in.Exc.SystemError, "nothing to re-raise")
				goto fail
			}
			at := f.PC
			if o.arg > 0 { // it comes from where it was raised first
				if n, ok := stack[sp-int(o.arg)].(Int); ok {
					at = int(n)
				}
			}
			if sp, pc, err = f.handle(&Raised{e}, at); err != nil {
				return nil, err
			}

		case code.END_ASYNC_FOR:
			sp -= 2
			if err = in.endAsyncFor(stack[sp+1]); err != nil {
				goto unwind
			}
		default:
			if sp, err = in.evalRare(f, o, sp); err != nil {
				goto fail
			}
		}
		continue

	fail:
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
