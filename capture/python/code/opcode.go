package code

// Op is an instruction's code: our own numbers, CPython 3.11's names.
type Op uint8

// The instructions, in the order of CPython's numbers.
const (
	CACHE Op = iota
	POP_TOP
	PUSH_NULL
	NOP
	UNARY_POSITIVE
	UNARY_NEGATIVE
	UNARY_NOT
	UNARY_INVERT
	BINARY_SUBSCR
	GET_LEN
	MATCH_MAPPING
	MATCH_SEQUENCE
	MATCH_KEYS
	PUSH_EXC_INFO
	CHECK_EXC_MATCH
	CHECK_EG_MATCH
	WITH_EXCEPT_START
	BEFORE_WITH
	STORE_SUBSCR
	DELETE_SUBSCR
	GET_ITER
	GET_YIELD_FROM_ITER
	PRINT_EXPR
	LOAD_BUILD_CLASS
	LOAD_ASSERTION_ERROR
	RETURN_GENERATOR
	LIST_TO_TUPLE
	RETURN_VALUE
	IMPORT_STAR
	SETUP_ANNOTATIONS
	YIELD_VALUE
	PREP_RERAISE_STAR
	POP_EXCEPT
	STORE_NAME
	DELETE_NAME
	UNPACK_SEQUENCE
	FOR_ITER
	UNPACK_EX
	STORE_ATTR
	DELETE_ATTR
	STORE_GLOBAL
	DELETE_GLOBAL
	SWAP
	LOAD_CONST
	LOAD_NAME
	BUILD_TUPLE
	BUILD_LIST
	BUILD_SET
	BUILD_MAP
	LOAD_ATTR
	COMPARE_OP
	IMPORT_NAME
	IMPORT_FROM
	JUMP_FORWARD
	JUMP_IF_FALSE_OR_POP
	JUMP_IF_TRUE_OR_POP
	POP_JUMP_FORWARD_IF_FALSE
	POP_JUMP_FORWARD_IF_TRUE
	LOAD_GLOBAL
	IS_OP
	CONTAINS_OP
	RERAISE
	COPY
	BINARY_OP
	SEND
	LOAD_FAST
	STORE_FAST
	DELETE_FAST
	POP_JUMP_FORWARD_IF_NOT_NONE
	POP_JUMP_FORWARD_IF_NONE
	RAISE_VARARGS
	MAKE_FUNCTION
	BUILD_SLICE
	JUMP_BACKWARD_NO_INTERRUPT
	MAKE_CELL
	LOAD_CLOSURE
	LOAD_DEREF
	STORE_DEREF
	DELETE_DEREF
	JUMP_BACKWARD
	CALL_FUNCTION_EX
	LIST_APPEND
	SET_ADD
	MAP_ADD
	LOAD_CLASSDEREF
	COPY_FREE_VARS
	RESUME
	MATCH_CLASS
	FORMAT_VALUE
	BUILD_CONST_KEY_MAP
	BUILD_STRING
	LOAD_METHOD
	LIST_EXTEND
	SET_UPDATE
	DICT_MERGE
	DICT_UPDATE
	PRECALL
	CALL
	KW_NAMES
	POP_JUMP_BACKWARD_IF_NOT_NONE
	POP_JUMP_BACKWARD_IF_NONE
	POP_JUMP_BACKWARD_IF_FALSE
	POP_JUMP_BACKWARD_IF_TRUE

	NumOps = iota
)

// argKind says how an instruction's argument is read and printed.
type argKind uint8

const (
	argNone argKind = iota
	argInt
	argName   // index in Names
	argConst  // index in Consts
	argLocal  // slot of the frame
	argGlobal // index in Names, shifted left by one; the low bit asks for a NULL below the value
	argJump   // index of an instruction
	argCmp    // index in CmpOps
	argBinOp  // index in BinOps
)

// ops names every instruction and the kind of its argument.
var ops = [NumOps]struct {
	name string
	arg  argKind
}{
	CACHE:                         {"CACHE", argNone},
	POP_TOP:                       {"POP_TOP", argNone},
	PUSH_NULL:                     {"PUSH_NULL", argNone},
	NOP:                           {"NOP", argNone},
	UNARY_POSITIVE:                {"UNARY_POSITIVE", argNone},
	UNARY_NEGATIVE:                {"UNARY_NEGATIVE", argNone},
	UNARY_NOT:                     {"UNARY_NOT", argNone},
	UNARY_INVERT:                  {"UNARY_INVERT", argNone},
	BINARY_SUBSCR:                 {"BINARY_SUBSCR", argNone},
	GET_LEN:                       {"GET_LEN", argNone},
	MATCH_MAPPING:                 {"MATCH_MAPPING", argNone},
	MATCH_SEQUENCE:                {"MATCH_SEQUENCE", argNone},
	MATCH_KEYS:                    {"MATCH_KEYS", argNone},
	PUSH_EXC_INFO:                 {"PUSH_EXC_INFO", argNone},
	CHECK_EXC_MATCH:               {"CHECK_EXC_MATCH", argNone},
	CHECK_EG_MATCH:                {"CHECK_EG_MATCH", argNone},
	PREP_RERAISE_STAR:             {"PREP_RERAISE_STAR", argNone},
	WITH_EXCEPT_START:             {"WITH_EXCEPT_START", argNone},
	BEFORE_WITH:                   {"BEFORE_WITH", argNone},
	STORE_SUBSCR:                  {"STORE_SUBSCR", argNone},
	DELETE_SUBSCR:                 {"DELETE_SUBSCR", argNone},
	GET_ITER:                      {"GET_ITER", argNone},
	GET_YIELD_FROM_ITER:           {"GET_YIELD_FROM_ITER", argNone},
	PRINT_EXPR:                    {"PRINT_EXPR", argNone},
	LOAD_BUILD_CLASS:              {"LOAD_BUILD_CLASS", argNone},
	LOAD_ASSERTION_ERROR:          {"LOAD_ASSERTION_ERROR", argNone},
	RETURN_GENERATOR:              {"RETURN_GENERATOR", argNone},
	LIST_TO_TUPLE:                 {"LIST_TO_TUPLE", argNone},
	RETURN_VALUE:                  {"RETURN_VALUE", argNone},
	IMPORT_STAR:                   {"IMPORT_STAR", argNone},
	SETUP_ANNOTATIONS:             {"SETUP_ANNOTATIONS", argNone},
	YIELD_VALUE:                   {"YIELD_VALUE", argNone},
	POP_EXCEPT:                    {"POP_EXCEPT", argNone},
	STORE_NAME:                    {"STORE_NAME", argName},
	DELETE_NAME:                   {"DELETE_NAME", argName},
	UNPACK_SEQUENCE:               {"UNPACK_SEQUENCE", argInt},
	FOR_ITER:                      {"FOR_ITER", argJump},
	UNPACK_EX:                     {"UNPACK_EX", argInt},
	STORE_ATTR:                    {"STORE_ATTR", argName},
	DELETE_ATTR:                   {"DELETE_ATTR", argName},
	STORE_GLOBAL:                  {"STORE_GLOBAL", argName},
	DELETE_GLOBAL:                 {"DELETE_GLOBAL", argName},
	SWAP:                          {"SWAP", argInt},
	LOAD_CONST:                    {"LOAD_CONST", argConst},
	LOAD_NAME:                     {"LOAD_NAME", argName},
	BUILD_TUPLE:                   {"BUILD_TUPLE", argInt},
	BUILD_LIST:                    {"BUILD_LIST", argInt},
	BUILD_SET:                     {"BUILD_SET", argInt},
	BUILD_MAP:                     {"BUILD_MAP", argInt},
	LOAD_ATTR:                     {"LOAD_ATTR", argName},
	COMPARE_OP:                    {"COMPARE_OP", argCmp},
	IMPORT_NAME:                   {"IMPORT_NAME", argName},
	IMPORT_FROM:                   {"IMPORT_FROM", argName},
	JUMP_FORWARD:                  {"JUMP_FORWARD", argJump},
	JUMP_IF_FALSE_OR_POP:          {"JUMP_IF_FALSE_OR_POP", argJump},
	JUMP_IF_TRUE_OR_POP:           {"JUMP_IF_TRUE_OR_POP", argJump},
	POP_JUMP_FORWARD_IF_FALSE:     {"POP_JUMP_FORWARD_IF_FALSE", argJump},
	POP_JUMP_FORWARD_IF_TRUE:      {"POP_JUMP_FORWARD_IF_TRUE", argJump},
	LOAD_GLOBAL:                   {"LOAD_GLOBAL", argGlobal},
	IS_OP:                         {"IS_OP", argInt},
	CONTAINS_OP:                   {"CONTAINS_OP", argInt},
	RERAISE:                       {"RERAISE", argInt},
	COPY:                          {"COPY", argInt},
	BINARY_OP:                     {"BINARY_OP", argBinOp},
	SEND:                          {"SEND", argJump},
	LOAD_FAST:                     {"LOAD_FAST", argLocal},
	STORE_FAST:                    {"STORE_FAST", argLocal},
	DELETE_FAST:                   {"DELETE_FAST", argLocal},
	POP_JUMP_FORWARD_IF_NOT_NONE:  {"POP_JUMP_FORWARD_IF_NOT_NONE", argJump},
	POP_JUMP_FORWARD_IF_NONE:      {"POP_JUMP_FORWARD_IF_NONE", argJump},
	RAISE_VARARGS:                 {"RAISE_VARARGS", argInt},
	MAKE_FUNCTION:                 {"MAKE_FUNCTION", argInt},
	BUILD_SLICE:                   {"BUILD_SLICE", argInt},
	JUMP_BACKWARD_NO_INTERRUPT:    {"JUMP_BACKWARD_NO_INTERRUPT", argJump},
	MAKE_CELL:                     {"MAKE_CELL", argLocal},
	LOAD_CLOSURE:                  {"LOAD_CLOSURE", argLocal},
	LOAD_DEREF:                    {"LOAD_DEREF", argLocal},
	STORE_DEREF:                   {"STORE_DEREF", argLocal},
	DELETE_DEREF:                  {"DELETE_DEREF", argLocal},
	JUMP_BACKWARD:                 {"JUMP_BACKWARD", argJump},
	CALL_FUNCTION_EX:              {"CALL_FUNCTION_EX", argInt},
	LIST_APPEND:                   {"LIST_APPEND", argInt},
	SET_ADD:                       {"SET_ADD", argInt},
	MAP_ADD:                       {"MAP_ADD", argInt},
	LOAD_CLASSDEREF:               {"LOAD_CLASSDEREF", argLocal},
	COPY_FREE_VARS:                {"COPY_FREE_VARS", argInt},
	RESUME:                        {"RESUME", argInt},
	MATCH_CLASS:                   {"MATCH_CLASS", argInt},
	FORMAT_VALUE:                  {"FORMAT_VALUE", argInt},
	BUILD_CONST_KEY_MAP:           {"BUILD_CONST_KEY_MAP", argInt},
	BUILD_STRING:                  {"BUILD_STRING", argInt},
	LOAD_METHOD:                   {"LOAD_METHOD", argName},
	LIST_EXTEND:                   {"LIST_EXTEND", argInt},
	SET_UPDATE:                    {"SET_UPDATE", argInt},
	DICT_MERGE:                    {"DICT_MERGE", argInt},
	DICT_UPDATE:                   {"DICT_UPDATE", argInt},
	PRECALL:                       {"PRECALL", argInt},
	CALL:                          {"CALL", argInt},
	KW_NAMES:                      {"KW_NAMES", argConst},
	POP_JUMP_BACKWARD_IF_NOT_NONE: {"POP_JUMP_BACKWARD_IF_NOT_NONE", argJump},
	POP_JUMP_BACKWARD_IF_NONE:     {"POP_JUMP_BACKWARD_IF_NONE", argJump},
	POP_JUMP_BACKWARD_IF_FALSE:    {"POP_JUMP_BACKWARD_IF_FALSE", argJump},
	POP_JUMP_BACKWARD_IF_TRUE:     {"POP_JUMP_BACKWARD_IF_TRUE", argJump},
}

func (o Op) String() string {
	if int(o) < len(ops) {
		return ops[o].name
	}
	return "UNKNOWN"
}

// HasJump reports whether the argument is the index of an instruction.
func (o Op) HasJump() bool { return ops[o].arg == argJump }

// OpNamed finds an instruction by its name.
func OpNamed(name string) (Op, bool) {
	o, ok := opByName[name]
	return o, ok
}

var opByName = func() map[string]Op {
	m := map[string]Op{}
	for i := range ops {
		m[ops[i].name] = Op(i)
	}
	return m
}()

// CmpOps are the arguments of COMPARE_OP.
var CmpOps = []string{"<", "<=", "==", "!=", ">", ">="}

// BinOps are the arguments of BINARY_OP; from 13 on they are in place.
var BinOps = []string{"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^",
	"+=", "&=", "//=", "<<=", "@=", "*=", "%=", "|=", "**=", ">>=", "-=", "/=", "^="}

// InPlace is added to a BINARY_OP argument to make it in place.
const InPlace = 13
