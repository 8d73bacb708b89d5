package stdlib

import (
	"slices"

	"whittle/capture/python/vm"
)

// What marshal says of a code object's variables, one byte each.
const (
	kindLocal = 0x20
	kindCell  = 0x40 // also of a parameter that inner functions see
	kindFree  = 0x80
)

// code writes a code object: what types.CodeType takes, with all variables in one tuple.
func (w *marshalWriter) code(c *vm.Code, depth int) error {
	done, flag := w.shared(c)
	if done {
		return nil
	}
	w.out = append(w.out, 'c'|flag)
	p := c.Parts()
	for _, n := range []int{p.ArgCount, p.PosOnly, p.KwOnly, p.StackSize, p.Flags} {
		w.long(n)
	}
	var names []string
	var kinds []byte
	for _, v := range p.VarNames {
		kind := byte(kindLocal)
		if slices.Contains(p.CellVars, v) {
			kind |= kindCell
		}
		names, kinds = append(names, v), append(kinds, kind)
	}
	for _, v := range p.CellVars {
		if !slices.Contains(p.VarNames, v) {
			names, kinds = append(names, v), append(kinds, kindCell)
		}
	}
	for _, v := range p.FreeVars {
		names, kinds = append(names, v), append(kinds, kindFree)
	}
	for _, o := range []vm.Object{vm.Bytes(p.Code), vm.NewTuple(p.Consts...), textTuple(p.Names), textTuple(names), vm.Bytes(kinds), vm.Str(p.Filename), vm.Str(p.Name),
		vm.Str(p.QualName)} {
		if err := w.put(o, depth+1); err != nil {
			return err
		}
	}
	w.long(p.FirstLine)
	w.sized('s', string(p.LineTable))
	w.sized('s', string(p.ExcTable))
	return nil
}

func textTuple(ss []string) vm.Object {
	items := make([]vm.Object, len(ss))
	for i, s := range ss {
		items[i] = vm.Str(s)
	}
	return vm.NewTuple(items...)
}

// code reads a code object. The first mistake sticks in err.
func (r *marshalReader) code(depth int) (vm.Object, error) {
	var p vm.CodeParts
	var err error
	long := func(to *int) {
		if err == nil {
			*to, err = r.long()
		}
	}
	object := func() (o vm.Object) {
		if err == nil {
			if o, err = r.get(depth + 1); o == nil && err == nil {
				err = r.in.Errorf(r.in.Exc.TypeError, "NULL object in marshal data for code object")
			}
		}
		return o
	}
	for _, n := range []*int{&p.ArgCount, &p.PosOnly, &p.KwOnly, &p.StackSize, &p.Flags} {
		long(n)
	}
	bytes := func() []byte {
		b, ok := object().(vm.Bytes)
		if !ok && err == nil {
			err = r.bad("code")
		}
		return []byte(b)
	}
	items := func() []vm.Object {
		t, ok := object().(*vm.Tuple)
		if !ok {
			if err == nil {
				err = r.bad("code")
			}
			return nil
		}
		return t.Items
	}
	text := func(o vm.Object) string {
		s, ok := o.(vm.Str)
		if !ok && err == nil {
			err = r.bad("code")
		}
		return string(s)
	}
	texts := func() (out []string) {
		for _, o := range items() {
			out = append(out, text(o))
		}
		return out
	}
	p.Code = bytes()
	p.Consts = items()
	p.Names = texts()
	names, kinds := texts(), bytes()
	p.Filename, p.Name, p.QualName = text(object()), text(object()), text(object())
	long(&p.FirstLine)
	p.LineTable, p.ExcTable = bytes(), bytes()
	if err == nil && len(kinds) != len(names) {
		err = r.bad("code")
	}
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		if kinds[i]&kindLocal != 0 {
			p.VarNames = append(p.VarNames, n)
		}
		if kinds[i]&kindCell != 0 {
			p.CellVars = append(p.CellVars, n)
		}
		if kinds[i]&kindFree != 0 {
			p.FreeVars = append(p.FreeVars, n)
		}
	}
	p.NLocals = len(p.VarNames)
	return r.in.CodeOf(p)
}
