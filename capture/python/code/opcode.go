package code

// Op is an instruction's code: our own numbers, CPython 3.11's names.
type Op uint8

// The instructions, in the order of CPython's numbers. Beside each stands its picture: what it takes from the top of the operand stack, its
// name, and what it leaves there, the top at the right; "-" is nothing. After a bar stands the picture of an instruction that jumps. In
// pictures n is the argument:
//
//	x1..xn  n values; k1,v1..kn,vn is n pairs of them
//	..      what lies between, so that the value on the left is the n-th from the top (of what is left, where something was taken)
//	[x]     a value that is there only if a bit of the argument says so
//
// A handler of the exception table finds [lasti] exc on the stack, cut to its depth; see Handler.
const (
	CACHE                         Op = iota // - CACHE -; never in our code
	POP_TOP                                 // x POP_TOP -
	PUSH_NULL                               // - PUSH_NULL NULL; below a function, for CALL
	NOP                                     // - NOP -
	UNARY_POSITIVE                          // x UNARY_POSITIVE +x
	UNARY_NEGATIVE                          // x UNARY_NEGATIVE -x
	UNARY_NOT                               // x UNARY_NOT bool
	UNARY_INVERT                            // x UNARY_INVERT ~x
	BINARY_SUBSCR                           // obj key BINARY_SUBSCR item
	GET_LEN                                 // obj GET_LEN obj len
	MATCH_MAPPING                           // obj MATCH_MAPPING obj bool
	MATCH_SEQUENCE                          // obj MATCH_SEQUENCE obj bool
	MATCH_KEYS                              // obj keys MATCH_KEYS obj keys values; None for values if a key is missing
	PUSH_EXC_INFO                           // exc PUSH_EXC_INFO outer exc; exc is now handled, outer was until now
	CHECK_EXC_MATCH                         // exc class CHECK_EXC_MATCH exc bool
	CHECK_EG_MATCH                          // exc class CHECK_EG_MATCH rest match; None for either if it is empty
	WITH_EXCEPT_START                       // exit lasti outer exc WITH_EXCEPT_START exit lasti outer exc result; calls exit
	GET_AITER                               // obj GET_AITER aiter
	GET_ANEXT                               // aiter GET_ANEXT aiter awaitable
	BEFORE_ASYNC_WITH                       // manager BEFORE_ASYNC_WITH exit awaitable; of __aenter__
	BEFORE_WITH                             // manager BEFORE_WITH exit entered
	END_ASYNC_FOR                           // aiter exc END_ASYNC_FOR -; any other exception than StopAsyncIteration is raised again
	STORE_SUBSCR                            // value obj key STORE_SUBSCR -
	DELETE_SUBSCR                           // obj key DELETE_SUBSCR -
	GET_ITER                                // obj GET_ITER iter
	GET_YIELD_FROM_ITER                     // obj GET_YIELD_FROM_ITER iter
	PRINT_EXPR                              // x PRINT_EXPR -
	LOAD_BUILD_CLASS                        // - LOAD_BUILD_CLASS function
	LOAD_ASSERTION_ERROR                    // - LOAD_ASSERTION_ERROR class
	RETURN_GENERATOR                        // - RETURN_GENERATOR sent; the call returns here, with a generator of the frame, which goes on with what is sent first
	LIST_TO_TUPLE                           // list LIST_TO_TUPLE tuple
	RETURN_VALUE                            // x RETURN_VALUE -; leaves the frame
	IMPORT_STAR                             // module IMPORT_STAR -
	SETUP_ANNOTATIONS                       // - SETUP_ANNOTATIONS -
	YIELD_VALUE                             // x YIELD_VALUE sent; leaves the frame, which goes on with what is sent
	ASYNC_GEN_WRAP                          // x ASYNC_GEN_WRAP wrapped; what an async generator yields, told from what it awaits
	PREP_RERAISE_STAR                       // orig list PREP_RERAISE_STAR exc; what except* clauses raised or left, in one exception; None for nothing
	POP_EXCEPT                              // outer POP_EXCEPT -; outer is handled again
	STORE_NAME                              // x STORE_NAME -
	DELETE_NAME                             // - DELETE_NAME -
	UNPACK_SEQUENCE                         // seq UNPACK_SEQUENCE xn..x1; the first item on top
	FOR_ITER                                // iter FOR_ITER iter item | iter FOR_ITER -; jumps at the end
	UNPACK_EX                               // seq UNPACK_EX yb..y1 list xa..x1; a is the low byte of the argument, b the rest
	STORE_ATTR                              // value obj STORE_ATTR -
	DELETE_ATTR                             // obj DELETE_ATTR -
	STORE_GLOBAL                            // x STORE_GLOBAL -
	DELETE_GLOBAL                           // - DELETE_GLOBAL -
	SWAP                                    // x .. y SWAP y .. x
	LOAD_CONST                              // - LOAD_CONST x
	LOAD_NAME                               // - LOAD_NAME x
	BUILD_TUPLE                             // x1..xn BUILD_TUPLE tuple
	BUILD_LIST                              // x1..xn BUILD_LIST list
	BUILD_SET                               // x1..xn BUILD_SET set
	BUILD_MAP                               // k1,v1..kn,vn BUILD_MAP dict
	LOAD_ATTR                               // obj LOAD_ATTR value
	COMPARE_OP                              // x y COMPARE_OP result
	IMPORT_NAME                             // level names IMPORT_NAME module
	IMPORT_FROM                             // module IMPORT_FROM module value
	JUMP_FORWARD                            // - JUMP_FORWARD - | - JUMP_FORWARD -
	JUMP_IF_FALSE_OR_POP                    // x JUMP_IF_FALSE_OR_POP - | x JUMP_IF_FALSE_OR_POP x
	JUMP_IF_TRUE_OR_POP                     // x JUMP_IF_TRUE_OR_POP - | x JUMP_IF_TRUE_OR_POP x
	POP_JUMP_FORWARD_IF_FALSE               // x POP_JUMP_FORWARD_IF_FALSE - | x POP_JUMP_FORWARD_IF_FALSE -
	POP_JUMP_FORWARD_IF_TRUE                // x POP_JUMP_FORWARD_IF_TRUE - | x POP_JUMP_FORWARD_IF_TRUE -
	LOAD_GLOBAL                             // - LOAD_GLOBAL [NULL] x; a builtin where the globals have no such name
	IS_OP                                   // x y IS_OP bool; argument 1: is not
	CONTAINS_OP                             // x seq CONTAINS_OP bool; argument 1: not in
	RERAISE                                 // exc RERAISE -; argument 1 or 2: lasti lies below, this far down
	COPY                                    // x .. COPY x .. x
	BINARY_OP                               // x y BINARY_OP result
	SEND                                    // iter sent SEND iter yielded | iter sent SEND result; jumps when iter returns
	LOAD_FAST                               // - LOAD_FAST x
	STORE_FAST                              // x STORE_FAST -
	DELETE_FAST                             // - DELETE_FAST -
	POP_JUMP_FORWARD_IF_NOT_NONE            // x POP_JUMP_FORWARD_IF_NOT_NONE - | x POP_JUMP_FORWARD_IF_NOT_NONE -
	POP_JUMP_FORWARD_IF_NONE                // x POP_JUMP_FORWARD_IF_NONE - | x POP_JUMP_FORWARD_IF_NONE -
	RAISE_VARARGS                           // x1..xn RAISE_VARARGS -; the exception and its cause; without either, what is handled is raised again
	GET_AWAITABLE                           // obj GET_AWAITABLE iter; argument 1, 2: obj is what __aenter__, __aexit__ gave
	MAKE_FUNCTION                           // [defaults] [kwdefaults] [annotations] [closure] code MAKE_FUNCTION function; a bit of the argument for each
	BUILD_SLICE                             // x1..xn BUILD_SLICE slice; start, stop, step
	JUMP_BACKWARD_NO_INTERRUPT              // - JUMP_BACKWARD_NO_INTERRUPT - | - JUMP_BACKWARD_NO_INTERRUPT -
	MAKE_CELL                               // - MAKE_CELL -; a slot's value, a parameter or nothing, goes into a cell in that slot
	LOAD_CLOSURE                            // - LOAD_CLOSURE cell
	LOAD_DEREF                              // - LOAD_DEREF x
	STORE_DEREF                             // x STORE_DEREF -
	DELETE_DEREF                            // - DELETE_DEREF -
	JUMP_BACKWARD                           // - JUMP_BACKWARD - | - JUMP_BACKWARD -
	CALL_FUNCTION_EX                        // NULL function args [kwargs] CALL_FUNCTION_EX result
	LIST_APPEND                             // list .. x LIST_APPEND list ..
	SET_ADD                                 // set .. x SET_ADD set ..
	MAP_ADD                                 // dict .. key value MAP_ADD dict ..
	LOAD_CLASSDEREF                         // - LOAD_CLASSDEREF x; the class's own name first, then the cell
	COPY_FREE_VARS                          // - COPY_FREE_VARS -; the function's closure goes into the last slots
	RESUME                                  // - RESUME -; argument 0: a function begins; 1: after yield; 2: after yield from; 3: after await
	MATCH_CLASS                             // obj class names MATCH_CLASS values; None if it does not match; the argument counts positional patterns
	FORMAT_VALUE                            // x [spec] FORMAT_VALUE str; bits 0 and 1: str, repr or ascii first; bit 2: there is a spec
	BUILD_CONST_KEY_MAP                     // v1..vn keys BUILD_CONST_KEY_MAP dict
	BUILD_STRING                            // x1..xn BUILD_STRING str
	LOAD_METHOD                             // obj LOAD_METHOD function self; or NULL and a bound method
	LIST_EXTEND                             // list .. iterable LIST_EXTEND list ..
	SET_UPDATE                              // set .. iterable SET_UPDATE set ..
	DICT_MERGE                              // dict .. mapping DICT_MERGE dict ..; a repeated key is a TypeError about the function below dict
	DICT_UPDATE                             // dict .. mapping DICT_UPDATE dict ..
	PRECALL                                 // - PRECALL -
	CALL                                    // function self x1..xn CALL result; or NULL and a function; the last arguments are KW_NAMES's
	KW_NAMES                                // - KW_NAMES -; names the last arguments of the next CALL
	POP_JUMP_BACKWARD_IF_NOT_NONE           // x POP_JUMP_BACKWARD_IF_NOT_NONE - | x POP_JUMP_BACKWARD_IF_NOT_NONE -
	POP_JUMP_BACKWARD_IF_NONE               // x POP_JUMP_BACKWARD_IF_NONE - | x POP_JUMP_BACKWARD_IF_NONE -
	POP_JUMP_BACKWARD_IF_FALSE              // x POP_JUMP_BACKWARD_IF_FALSE - | x POP_JUMP_BACKWARD_IF_FALSE -
	POP_JUMP_BACKWARD_IF_TRUE               // x POP_JUMP_BACKWARD_IF_TRUE - | x POP_JUMP_BACKWARD_IF_TRUE -

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
	GET_AITER:                     {"GET_AITER", argNone},
	GET_ANEXT:                     {"GET_ANEXT", argNone},
	BEFORE_ASYNC_WITH:             {"BEFORE_ASYNC_WITH", argNone},
	BEFORE_WITH:                   {"BEFORE_WITH", argNone},
	END_ASYNC_FOR:                 {"END_ASYNC_FOR", argNone},
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
	ASYNC_GEN_WRAP:                {"ASYNC_GEN_WRAP", argNone},
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
	GET_AWAITABLE:                 {"GET_AWAITABLE", argInt},
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

// String is the instruction's name.
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
