package code

import (
	"errors"
	"sort"
)

// Wire is a code object's instructions as CPython 3.11 keeps them: what co_code, co_linetable and co_exceptiontable are, and where in the
// bytes each instruction begins. An instruction is one unit of two bytes, its opcode and argument, behind EXTENDED_ARG units for arguments
// over 255 and before the units in which CPython caches what it learns. Jumps count units from the one that follows.
type Wire struct {
	Code      []byte
	LineTable []byte
	ExcTable  []byte
	Units     []int32 // of each instruction: the number of its own unit, which f_lasti is twice
	Starts    []int32 // of each instruction, and of the end: the number of its first unit, an EXTENDED_ARG where it has one
}

// extendedArg is CPython's EXTENDED_ARG, which our instructions do not need.
const extendedArg = 144

// numbers are CPython 3.11's opcodes of our instructions, and caches how many units follow each.
var numbers = [NumOps]byte{
	CACHE: 0, POP_TOP: 1, PUSH_NULL: 2, NOP: 9, UNARY_POSITIVE: 10, UNARY_NEGATIVE: 11, UNARY_NOT: 12, UNARY_INVERT: 15, BINARY_SUBSCR: 25, GET_LEN: 30,
	MATCH_MAPPING: 31, MATCH_SEQUENCE: 32, MATCH_KEYS: 33, PUSH_EXC_INFO: 35, CHECK_EXC_MATCH: 36, CHECK_EG_MATCH: 37, WITH_EXCEPT_START: 49, GET_AITER: 50,
	GET_ANEXT: 51, BEFORE_ASYNC_WITH: 52, BEFORE_WITH: 53, END_ASYNC_FOR: 54, STORE_SUBSCR: 60, DELETE_SUBSCR: 61, GET_ITER: 68, GET_YIELD_FROM_ITER: 69,
	PRINT_EXPR: 70, LOAD_BUILD_CLASS: 71, LOAD_ASSERTION_ERROR: 74, RETURN_GENERATOR: 75, LIST_TO_TUPLE: 82, RETURN_VALUE: 83, IMPORT_STAR: 84,
	SETUP_ANNOTATIONS: 85, YIELD_VALUE: 86, ASYNC_GEN_WRAP: 87, PREP_RERAISE_STAR: 88, POP_EXCEPT: 89, STORE_NAME: 90, DELETE_NAME: 91, UNPACK_SEQUENCE: 92,
	FOR_ITER: 93, UNPACK_EX: 94, STORE_ATTR: 95, DELETE_ATTR: 96, STORE_GLOBAL: 97, DELETE_GLOBAL: 98, SWAP: 99, LOAD_CONST: 100, LOAD_NAME: 101,
	BUILD_TUPLE: 102, BUILD_LIST: 103, BUILD_SET: 104, BUILD_MAP: 105, LOAD_ATTR: 106, COMPARE_OP: 107, IMPORT_NAME: 108, IMPORT_FROM: 109, JUMP_FORWARD: 110,
	JUMP_IF_FALSE_OR_POP: 111, JUMP_IF_TRUE_OR_POP: 112, POP_JUMP_FORWARD_IF_FALSE: 114, POP_JUMP_FORWARD_IF_TRUE: 115, LOAD_GLOBAL: 116, IS_OP: 117,
	CONTAINS_OP: 118, RERAISE: 119, COPY: 120, BINARY_OP: 122, SEND: 123, LOAD_FAST: 124, STORE_FAST: 125, DELETE_FAST: 126,
	POP_JUMP_FORWARD_IF_NOT_NONE: 128, POP_JUMP_FORWARD_IF_NONE: 129, RAISE_VARARGS: 130, GET_AWAITABLE: 131, MAKE_FUNCTION: 132, BUILD_SLICE: 133,
	JUMP_BACKWARD_NO_INTERRUPT: 134, MAKE_CELL: 135, LOAD_CLOSURE: 136, LOAD_DEREF: 137, STORE_DEREF: 138, DELETE_DEREF: 139, JUMP_BACKWARD: 140,
	CALL_FUNCTION_EX: 142, LIST_APPEND: 145, SET_ADD: 146, MAP_ADD: 147, LOAD_CLASSDEREF: 148, COPY_FREE_VARS: 149, RESUME: 151, MATCH_CLASS: 152,
	FORMAT_VALUE: 155, BUILD_CONST_KEY_MAP: 156, BUILD_STRING: 157, LOAD_METHOD: 160, LIST_EXTEND: 162, SET_UPDATE: 163, DICT_MERGE: 164, DICT_UPDATE: 165,
	PRECALL: 166, CALL: 171, KW_NAMES: 172, POP_JUMP_BACKWARD_IF_NOT_NONE: 173, POP_JUMP_BACKWARD_IF_NONE: 174, POP_JUMP_BACKWARD_IF_FALSE: 175,
	POP_JUMP_BACKWARD_IF_TRUE: 176,
}

var caches = [NumOps]int32{BINARY_SUBSCR: 4, STORE_SUBSCR: 1, UNPACK_SEQUENCE: 1, STORE_ATTR: 4, LOAD_ATTR: 4, COMPARE_OP: 2, LOAD_GLOBAL: 5, BINARY_OP: 1,
	LOAD_METHOD: 10, PRECALL: 1, CALL: 4}

// byNumber finds an instruction by CPython's opcode; NumOps for none.
var byNumber = func() (t [256]Op) {
	for i := range t {
		t[i] = NumOps
	}
	for o, n := range numbers {
		t[n] = Op(o)
	}
	return t
}()

// haveArgument is the first of CPython's opcodes that use their argument.
const haveArgument = 90

// goesBack reports whether a jump counts its units backwards.
func goesBack(o Op) bool {
	switch o {
	case JUMP_BACKWARD, JUMP_BACKWARD_NO_INTERRUPT, POP_JUMP_BACKWARD_IF_FALSE, POP_JUMP_BACKWARD_IF_TRUE, POP_JUMP_BACKWARD_IF_NONE, POP_JUMP_BACKWARD_IF_NOT_NONE:
		return true
	}
	return false
}

// prefixes is how many EXTENDED_ARG units an argument needs.
func prefixes(arg int32) int32 {
	n := int32(0)
	for a := uint32(arg) >> 8; a != 0; a >>= 8 {
		n++
	}
	return n
}

// Wire writes c in CPython's form.
func (c *Code) Wire() *Wire {
	n := len(c.Instrs)
	w := &Wire{Units: make([]int32, n), Starts: make([]int32, n+1)}
	args := make([]int32, n)
	longer := make([]int32, n) // EXTENDED_ARG units of each
	for i, in := range c.Instrs {
		if !in.Op.HasJump() {
			args[i] = in.Arg
			longer[i] = prefixes(in.Arg)
		}
	}
	// How far a jump goes depends on how many units lie between, some of which may be there for jumps that go far: instructions grow until
	// all jumps have room.
	for grown := true; grown; {
		grown = false
		at := int32(0)
		for i := range c.Instrs {
			w.Starts[i] = at
			w.Units[i] = at + longer[i]
			at = w.Units[i] + 1 + caches[c.Instrs[i].Op]
		}
		w.Starts[n] = at
		for i, in := range c.Instrs {
			if !in.Op.HasJump() {
				continue
			}
			d := w.Starts[min(int(in.Arg), n)] - (w.Units[i] + 1)
			if goesBack(in.Op) {
				d = -d
			}
			args[i] = max(d, 0)
			if k := prefixes(args[i]); k > longer[i] {
				longer[i], grown = k, true
			}
		}
	}
	for i, in := range c.Instrs {
		for k := longer[i]; k > 0; k-- {
			w.Code = append(w.Code, extendedArg, byte(uint32(args[i])>>(8*k)))
		}
		w.Code = append(w.Code, numbers[in.Op], byte(args[i]))
		w.Code = append(w.Code, make([]byte, 2*caches[in.Op])...)
	}
	w.LineTable = c.lineTable(w.Starts)
	for _, h := range c.ExcTable {
		lasti := int32(0)
		if h.Lasti {
			lasti = 1
		}
		start := w.Starts[h.Start]
		for i, v := range []int32{start, w.Starts[h.End] - start, w.Starts[h.Target], h.Depth<<1 | lasti} {
			w.ExcTable = appendBigVarint(w.ExcTable, uint32(v), i == 0)
		}
	}
	return w
}

// appendBigVarint adds a number in groups of six bits, the highest first; the top bit marks the first byte of a row.
func appendBigVarint(b []byte, v uint32, first bool) []byte {
	at := len(b)
	for shift := 30; shift > 0; shift -= 6 {
		if v>>shift != 0 {
			b = append(b, byte(v>>shift)&0x3f|0x40)
		}
	}
	b = append(b, byte(v)&0x3f)
	if first {
		b[at] |= 0x80
	}
	return b
}

// errWire says that bytes are no code of CPython 3.11 that can be run here.
var errWire = errors.New("code: malformed bytecode")

// ReadWire sets the instructions and the exception table of c from CPython's form, and gives it back with the places of the instructions.
// FirstLine must have been set. It is an error if the bytes hold what no instruction is, or jumps into the middle of one.
func (c *Code) ReadWire(code, lines, exc []byte) (*Wire, error) {
	w := &Wire{Code: code, LineTable: lines, ExcTable: exc}
	c.Instrs, c.ExcTable = nil, nil
	units := int32(len(code) / 2)
	arg, start := uint32(0), int32(0)
	for u := int32(0); u < units; {
		op, a := code[2*u], code[2*u+1]
		arg |= uint32(a)
		if op == extendedArg {
			arg <<= 8
			u++
			continue
		}
		o := byNumber[op]
		if o == NumOps || int32(arg) < 0 {
			return w, errWire
		}
		if op < haveArgument {
			arg = 0
		}
		c.Instrs = append(c.Instrs, Instr{Op: o, Arg: int32(arg)})
		w.Units, w.Starts = append(w.Units, u), append(w.Starts, start)
		u += 1 + caches[o]
		start, arg = u, 0
	}
	if start > units {
		return w, errWire
	}
	w.Starts = append(w.Starts, units)
	// index is the number of the instruction that begins at a unit.
	index := func(u int32) (int32, bool) {
		i := sort.Search(len(w.Starts), func(i int) bool { return w.Starts[i] >= u })
		return int32(i), i < len(w.Starts) && w.Starts[i] == u
	}
	for i := range c.Instrs {
		in := &c.Instrs[i]
		if !in.Op.HasJump() {
			continue
		}
		to := w.Units[i] + 1 + in.Arg
		if goesBack(in.Op) {
			to = w.Units[i] + 1 - in.Arg
		}
		var ok bool
		if in.Arg, ok = index(to); !ok {
			return w, errWire
		}
	}
	c.readLines(lines, w)
	return w, c.readHandlers(exc, index)
}

// readHandlers reads the exception table.
func (c *Code) readHandlers(exc []byte, index func(int32) (int32, bool)) error {
	for p := 0; p < len(exc); {
		var v [4]int32
		for i := range v {
			more := true
			for more {
				if p >= len(exc) {
					return errWire
				}
				v[i] = v[i]<<6 | int32(exc[p]&0x3f)
				more = exc[p]&0x40 != 0
				p++
			}
		}
		start, _ := index(v[0])
		end, _ := index(v[0] + v[1])
		target, ok := index(v[2])
		if !ok {
			return errWire
		}
		c.ExcTable = append(c.ExcTable, Handler{start, end, target, v[3] >> 1, v[3]&1 != 0})
	}
	return nil
}
