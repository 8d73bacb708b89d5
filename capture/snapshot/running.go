package snapshot

import (
	"encoding/base64"
	"fmt"
	"strings"

	"whittle/capture/python/stdlib/pyio"
	"whittle/capture/python/vm"
)

// Values that are more than their content are written by what they would go on with: a generator by its frame, a file by what is
// unread, an operator of the program by its definition.

// generator writes a generator that waits at a yield.
func (e *encoder) generator(g *vm.Generator) int {
	f, started, ok := g.Suspended()
	if !ok || f.Func == nil {
		return e.refuse(g, "a %s that runs or has ended has no written form", g.Type().FullName())
	}
	i := e.place(g, node{Kind: "generator", Text: fmt.Sprintf("%t %d %s %s", started, f.PC, g.Name, g.Qualname)})
	refs := []int{e.add(f.Func), e.add(f.Code)}
	for _, v := range f.LocalsPlus {
		refs = append(refs, e.addOrNil(v))
	}
	for _, v := range f.Stack[:f.SP] {
		refs = append(refs, e.addOrNil(v))
	}
	return e.fill(i, refs)
}

func (e *encoder) addOrNil(o vm.Object) int {
	if o == nil {
		return -1
	}
	return e.add(o)
}

// generator makes a generator that waits where the other did.
func (d *decoder) generator(n *node) (vm.Object, error) {
	parts := strings.SplitN(n.Text, " ", 4)
	var pc int
	if len(parts) != 4 {
		return nil, fmt.Errorf("a generator of the snapshot lacks parts")
	}
	if _, err := fmt.Sscan(parts[1], &pc); err != nil {
		return nil, fmt.Errorf("a generator of the snapshot: %w", err)
	}
	fn, err := as[*vm.Function](d, n.Refs[0])
	if err != nil {
		return nil, err
	}
	c, err := as[*vm.Code](d, n.Refs[1])
	if err != nil {
		return nil, err
	}
	if fn == nil || c == nil {
		return nil, fmt.Errorf("a generator of the snapshot has no function")
	}
	state, nlocals := n.Refs[2:], c.NLocalsPlus()
	if len(state) < nlocals || len(state) > nlocals+c.StackSize+1 || pc < 0 || pc >= len(c.Instrs) {
		return nil, fmt.Errorf("a generator of the snapshot does not fit its code")
	}
	f := d.vm.NewFrame(fn, c)
	for k, ref := range state {
		v, err := d.get(ref)
		if err != nil {
			return nil, err
		}
		if k < nlocals {
			f.LocalsPlus[k] = v
		} else {
			f.Stack[k-nlocals] = v
		}
	}
	f.SP, f.PC = len(state)-nlocals, pc
	return vm.NewSuspended(parts[2], parts[3], f, parts[0] == "true"), nil
}

// file writes a file that is open for reading.
func (e *encoder) file(o vm.Object, u pyio.Unread, ok bool) int {
	if !ok {
		return e.refuse(o, "a %s that is not open for reading alone has no written form", o.Type().FullName())
	}
	i := e.place(o, node{Kind: "file", Text: base64.StdEncoding.EncodeToString(u.Data)})
	return e.fill(i, []int{e.add(vm.Str(u.Name)), e.add(vm.Str(u.Mode)), e.add(vm.Str(u.Encoding))})
}

// file makes a file of what was unread.
func (d *decoder) file(n *node) (vm.Object, error) {
	data, err := base64.StdEncoding.DecodeString(n.Text)
	if err != nil {
		return nil, err
	}
	var parts [3]string
	for k := range parts {
		s, err := as[vm.Str](d, n.Refs[k])
		if err != nil {
			return nil, err
		}
		parts[k] = string(s)
	}
	return pyio.Unread{Name: parts[0], Mode: parts[1], Encoding: parts[2], Data: data}.Open(d.vm)
}

// operator writes torch.ops.NAMESPACE.NAME, or an overload of it, with its definition where the program made it.
func (e *encoder) operator(o vm.Object, target string) int {
	name := strings.Split(strings.TrimPrefix(target, "torch.ops."), ".")
	def := vm.Object(nil)
	schema := ""
	if ops := definedOperators(e.in); ops != nil && len(name) > 1 {
		if v, ok := ops.GetStr(name[0] + "::" + name[1]); ok {
			s, err := e.in.GetAttr(v, "schema")
			if err != nil {
				return e.refuse(o, "operator %s: %s", target, err)
			}
			def = v
			schema, _ = vm.AsStr(s)
		}
	}
	i := e.place(o, node{Kind: "operator", Text: target + "\n" + schema})
	return e.fill(i, []int{e.addOrNil(def)})
}

// operator finds an operator, and defines it first if the program had.
func (d *decoder) operator(n *node) (vm.Object, error) {
	target, schema, _ := strings.Cut(n.Text, "\n")
	if schema != "" {
		m, err := d.vm.Import("torch.library")
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(schema, "(")
		if ops := definedOperators(d.vm); ops != nil {
			if _, known := ops.GetStr(name); !known {
				def, err := d.get(n.Refs[0])
				if err != nil {
					return nil, err
				}
				restore, err := d.vm.GetAttr(m, "_restore")
				if err != nil {
					return nil, err
				}
				if _, err := d.vm.Call(restore, []vm.Object{vm.Str(name), vm.Str(schema), def}, nil); err != nil {
					return nil, err
				}
			}
		}
	}
	return d.t.Resolve(target)
}

// definedOperators are the operators that the program defined, by qualified name; nil for none.
func definedOperators(in *vm.Interp) *vm.Dict {
	v, ok := in.Modules.GetStr("torch.library")
	m, isModule := v.(*vm.Module)
	if !ok || !isModule {
		return nil
	}
	ops, _ := m.Dict.GetStr("_defined")
	d, _ := vm.AsDict(ops)
	return d
}

// Operators writes the operators that the program defined, whether or not an object of the snapshot refers to them: code may name
// them by torch.ops.
func (x *Encoder) Operators() ([]int, error) {
	ops := definedOperators(x.e.in)
	if ops == nil {
		return nil, nil
	}
	var out []int
	for _, k := range ops.Keys() {
		name, _ := vm.AsStr(k)
		ns, op, _ := strings.Cut(name, "::")
		o, err := x.e.t.Resolve("torch.ops." + ns + "." + op)
		if err != nil {
			return nil, err
		}
		i, err := x.Try(o)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}
