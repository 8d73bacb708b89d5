package vm

import "whittle/capture/python/code"

// Instructions of our own, which a code object runs instead of CPython's unless it is traced. A pair's second instruction stays
// in its place, where a jump finds it, so that numbers of instructions mean the same in both; the pair takes its argument from there.
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
)

// quicken gives the instructions that run where none is watched: the first of a pair becomes the pair's.
func quicken(ops []op) []op {
	out := make([]op, len(ops))
	copy(out, ops)
	for i := range ops {
		next := code.NOP
		if i+1 < len(ops) {
			next = ops[i+1].op
		}
		o := &out[i].op
		switch ops[i].op {
		case code.LOAD_FAST:
			switch next {
			case code.LOAD_FAST:
				*o = fastLoadLoad
			case code.LOAD_CONST:
				*o = fastLoadConst
			}
		case code.STORE_FAST:
			if next == code.LOAD_FAST {
				*o = fastStoreLoad
			}
		case code.FOR_ITER:
			if next == code.STORE_FAST {
				*o = fastForStore
			}
		case code.COMPARE_OP:
			switch next {
			case code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_FORWARD_IF_TRUE, code.POP_JUMP_BACKWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_TRUE:
				*o = fastCompareJump
			}
		case code.PRECALL:
			if next == code.CALL {
				*o = fastCall
			}
		case code.BINARY_OP:
			switch code.BinOps[ops[i].arg%code.InPlace] {
			case "+":
				*o = fastAdd
			case "-":
				*o = fastSub
			case "*":
				*o = fastMul
			}
		}
	}
	return out
}
