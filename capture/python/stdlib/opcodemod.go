package stdlib

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
)

// opcodeModule is _opcode, on which opcode and dis stand.
func opcodeModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_opcode", "Opcode support module.")
	clinic.Def(m, "stack_effect", "opcode:int, oparg=None, /, *, jump=None", func(c *clinic.Call) (vm.Object, error) {
		var arg *int
		if !c.None(1) {
			n, err := c.Index(c.Args[1])
			if err != nil {
				return nil, err
			}
			a := int(n)
			arg = &a
		}
		var jump *bool
		switch c.Args[2] {
		case vm.None:
		case vm.True, vm.False:
			b := c.Args[2] == vm.True
			jump = &b
		default:
			return nil, c.Errorf(c.Exc.ValueError, "stack_effect: jump must be False, True or None")
		}
		n, err := code.StackEffect(int(c.Int(0)), arg, jump)
		if err != nil {
			return nil, c.Errorf(c.Exc.ValueError, "%s", err.Error())
		}
		return vm.MakeInt(int64(n)), nil
	})
	clinic.Def(m, "get_specialization_stats", "", func(*clinic.Call) (vm.Object, error) { return vm.None, nil })
	return m, nil
}

func init() { natives["_opcode"] = opcodeModule }
