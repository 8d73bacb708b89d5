package vm

import "whittle/capture/python/code"

// Instructions of our own, which a code object runs instead of CPython's unless it is traced: pairs, and a few runs of three. What follows the
// first stays in its place, where a jump finds it, so that numbers of instructions mean the same in both; arguments are taken from there.
// The pictures of the stack are as in package code.
const (
	fastLoadLoad    code.Op = 200 + iota // - LOAD_FAST, LOAD_FAST x y
	fastLoadConst                        // - LOAD_FAST, LOAD_CONST x k
	fastStoreLoad                        // x STORE_FAST, LOAD_FAST y
	fastForStore                         // iter FOR_ITER, STORE_FAST iter | iter FOR_ITER -
	fastCompareJump                      // x y COMPARE_OP, POP_JUMP_... -; values that take a method to compare are left to the two instructions
	fastCall                             // function self x1..xn PRECALL, CALL result
	fastAdd                              // x y BINARY_OP + or += result; these three differ from BINARY_OP in what they try first
	fastSub                              // x y BINARY_OP - or -= result
	fastMul                              // x y BINARY_OP * or *= result
	fastLoadAttr                         // - LOAD_FAST, LOAD_ATTR x.name; like the next three, the first alone where the second takes more than a look
	fastLoadMethod                       // - LOAD_FAST, LOAD_METHOD method x
	fastStoreAttr                        // v LOAD_FAST, STORE_ATTR -; the first alone where None may let go of an object whose end is awaited
	fastConstStore                       // - LOAD_CONST, STORE_FAST -
	fastStoreJump                        // x STORE_FAST, JUMP_BACKWARD -
	fastPopJump                          // x POP_TOP, JUMP_BACKWARD -; the first alone where somebody waits for an object's end
	fastLoadReturn                       // - LOAD_FAST, RETURN_VALUE
	fastStoreStore                       // x y STORE_FAST, STORE_FAST -
	fastUnpackTwo                        // pair UNPACK_SEQUENCE 2, STORE_FAST, STORE_FAST -; the first alone for what is no tuple or list of two
	fastSlice                            // a x y BUILD_SLICE 2, BINARY_SUBSCR a[x:y]; the first alone for what is no str or list, with integers
	fastConstReturn                      // - LOAD_CONST, RETURN_VALUE
	fastNullLoad                         // - PUSH_NULL, LOAD_FAST NULL x
	fastNullDeref                        // - PUSH_NULL, LOAD_DEREF NULL x; the first alone where the cell is empty
	fastFreeResume                       // - COPY_FREE_VARS, RESUME -
	fastSetJump                          // v a k STORE_SUBSCR, JUMP_BACKWARD -
	fastAppendJump                       // list ... v LIST_APPEND, JUMP_BACKWARD list ...
	fastForPair                          // iter FOR_ITER, UNPACK_SEQUENCE 2 iter y x | iter FOR_ITER, UNPACK_SEQUENCE 2 -; the first alone for what does not give pairs one by one
	fastConstOp                          // x LOAD_CONST, BINARY_OP result; like the next three, all but the last of them for what is no small built-in value
	fastLoadOp                           // x LOAD_FAST, BINARY_OP result
	fastLoadConstOp                      // - LOAD_FAST, LOAD_CONST, BINARY_OP result
	fastLoadLoadOp                       // - LOAD_FAST, LOAD_FAST, BINARY_OP result
)

// pairs has what two instructions in a row become.
var pairs = map[[2]code.Op]code.Op{
	{code.LOAD_FAST, code.LOAD_FAST}:                   fastLoadLoad,
	{code.LOAD_FAST, code.LOAD_CONST}:                  fastLoadConst,
	{code.LOAD_FAST, code.LOAD_ATTR}:                   fastLoadAttr,
	{code.LOAD_FAST, code.LOAD_METHOD}:                 fastLoadMethod,
	{code.LOAD_FAST, code.STORE_ATTR}:                  fastStoreAttr,
	{code.LOAD_FAST, code.RETURN_VALUE}:                fastLoadReturn,
	{code.LOAD_CONST, code.RETURN_VALUE}:               fastConstReturn,
	{code.LOAD_CONST, code.STORE_FAST}:                 fastConstStore,
	{code.STORE_FAST, code.LOAD_FAST}:                  fastStoreLoad,
	{code.STORE_FAST, code.STORE_FAST}:                 fastStoreStore,
	{code.STORE_FAST, code.JUMP_BACKWARD}:              fastStoreJump,
	{code.POP_TOP, code.JUMP_BACKWARD}:                 fastPopJump,
	{code.FOR_ITER, code.STORE_FAST}:                   fastForStore,
	{code.COMPARE_OP, code.POP_JUMP_FORWARD_IF_FALSE}:  fastCompareJump,
	{code.COMPARE_OP, code.POP_JUMP_FORWARD_IF_TRUE}:   fastCompareJump,
	{code.COMPARE_OP, code.POP_JUMP_BACKWARD_IF_FALSE}: fastCompareJump,
	{code.COMPARE_OP, code.POP_JUMP_BACKWARD_IF_TRUE}:  fastCompareJump,
	{code.BUILD_SLICE, code.BINARY_SUBSCR}:             fastSlice,
	{code.PRECALL, code.CALL}:                          fastCall,
	{code.PUSH_NULL, code.LOAD_FAST}:                   fastNullLoad,
	{code.PUSH_NULL, code.LOAD_DEREF}:                  fastNullDeref,
	{code.COPY_FREE_VARS, code.RESUME}:                 fastFreeResume,
	{code.STORE_SUBSCR, code.JUMP_BACKWARD}:            fastSetJump,
	{code.LIST_APPEND, code.JUMP_BACKWARD}:             fastAppendJump,
	{code.LOAD_CONST, code.BINARY_OP}:                  fastConstOp,
	{code.LOAD_FAST, code.BINARY_OP}:                   fastLoadOp,
}

// pairOf is pairs by the numbers of the instructions: all code is quickened when it is loaded.
var pairOf = func() (t [256][256]code.Op) {
	for p, op := range pairs {
		t[p[0]][p[1]] = op
	}
	return t
}()

// quicken gives the instructions that run where none is watched: the first of a pair or a run becomes that of all.
func quicken(ops []op) []op {
	out := make([]op, len(ops))
	copy(out, ops)
	for i := range ops {
		o := &out[i]
		if i+1 < len(ops) {
			if pair := pairOf[ops[i].op()][ops[i+1].op()]; pair != 0 {
				o.become(pair)
			}
		}
		switch ops[i].op() {
		case code.LOAD_FAST:
			if i+2 < len(ops) && ops[i+2].op() == code.BINARY_OP {
				switch ops[i+1].op() {
				case code.LOAD_FAST:
					o.become(fastLoadLoadOp)
				case code.LOAD_CONST:
					o.become(fastLoadConstOp)
				}
			}
		case code.FOR_ITER:
			if i+1 < len(ops) && ops[i+1].op() == code.UNPACK_SEQUENCE && ops[i+1].arg == 2 {
				o.become(fastForPair)
			}
		case code.UNPACK_SEQUENCE:
			if ops[i].arg == 2 && i+2 < len(ops) && ops[i+1].op() == code.STORE_FAST && ops[i+2].op() == code.STORE_FAST {
				o.become(fastUnpackTwo)
			}
		case code.BINARY_OP:
			switch code.BinOps[ops[i].arg%code.InPlace] {
			case "+":
				o.become(fastAdd)
			case "-":
				o.become(fastSub)
			case "*":
				o.become(fastMul)
			}
		}
	}
	return out
}
