package capture

import "whittle/capture/python/vm"

// GuardCheck gives a check of the guards of the newest compiled code of a function, and their number: locals are what the function
// is called with.
func (d *Dynamo) GuardCheck(name string, locals map[string]vm.Object, globals *vm.Dict) (check func() (bool, string), guards int) {
	for c, st := range d.codes {
		if c.Name == name && len(st.entries) > 0 {
			en := st.entries[len(st.entries)-1]
			e := &env{in: d.In, locals: locals, globals: globals}
			return func() (bool, string) { return en.holds(e) }, len(en.guards)
		}
	}
	return nil, 0
}
