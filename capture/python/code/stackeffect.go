package code

import "errors"

// What StackEffect refuses.
var (
	ErrNoOpcode   = errors.New("invalid opcode or oparg")
	ErrNeedsArg   = errors.New("stack_effect: opcode requires oparg but oparg was not specified")
	ErrTakesNoArg = errors.New("stack_effect: opcode does not permit oparg but oparg was specified")
)

// StackEffect is what one of CPython's opcodes adds to the stack, as CPython's compiler counts: jump says whether it jumps; nil is for the
// larger of both. A nil arg is for none.
func StackEffect(opcode int, arg *int, jump *bool) (int, error) {
	if opcode < haveArgument && arg != nil {
		return 0, ErrTakesNoArg
	}
	if opcode >= haveArgument && arg == nil {
		return 0, ErrNeedsArg
	}
	if opcode < 0 || opcode > 255 {
		return 0, ErrNoOpcode
	}
	n := 0
	if arg != nil {
		n = *arg
	}
	o := byNumber[opcode]
	switch {
	case opcode == extendedArg:
		return 0, nil
	case o == NumOps:
		return 0, ErrNoOpcode
	case o == PRECALL: // CPython counts a call's arguments here
		return -n, nil
	case o == CALL:
		return -1, nil
	case o == BUILD_SLICE && n != 3:
		return -1, nil
	case o == RETURN_GENERATOR: // and what is sent first nowhere
		return 0, nil
	}
	stay, leave := effect(o, n, false), effect(o, n, true)
	switch {
	case !o.HasJump() || jump != nil && !*jump:
		return stay, nil
	case jump != nil:
		return leave, nil
	}
	return max(stay, leave), nil
}
