package capture

import (
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// GuardCheck gives a check of the guards of the newest compiled code of a function, and their number: locals are what the function
// is called with.
func (d *Dynamo) GuardCheck(name string, locals map[string]vm.Object, globals *vm.Dict) (check func() (bool, guard.Failure), guards int) {
	for c, st := range d.codes {
		if c.Name == name && len(st.entries) > 0 {
			en := st.entries[len(st.entries)-1]
			e := &source.Env{In: d.In, Locals: locals, Globals: globals}
			return func() (bool, guard.Failure) { return en.guards.Check(e) }, en.guards.Len()
		}
	}
	return nil, 0
}

// CallRule is a list of names that traces treat alike: see nameList.
type CallRule struct {
	Why, Torch, Home string
	Names            []string
}

// CallRules are the lists by the names that this package gives them.
func CallRules() map[string]CallRule {
	out := map[string]CallRule{}
	for name, l := range callRules {
		out[name] = CallRule{l.why, l.torch, l.home, l.names}
	}
	return out
}

// Watched are the instructions that a trace does something particular for.
func Watched() []code.Op {
	var out []code.Op
	for op, look := range watched {
		if look != nil {
			out = append(out, code.Op(op))
		}
	}
	return out
}
