package pyjson

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// Module makes _json.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_json", "json speedups\n")
	fast := map[vm.Object]func(s string) string{}
	for name, ascii := range map[string]bool{"encode_basestring": false, "encode_basestring_ascii": true} {
		f := clinic.Def(m, name, "string, /", func(c *clinic.Call) (vm.Object, error) {
			s, ok := vm.AsStr(c.Args[0])
			if !ok {
				return nil, c.Errorf(c.Exc.TypeError, "first argument must be a string, not %s", vm.TypeName(c.Args[0]))
			}
			return vm.Str(quote(s, ascii)), nil
		})
		fast[f] = func(s string) string { return quote(s, ascii) }
	}
	m.Func("scanstring", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		switch n := len(args); {
		case len(kw) > 0:
			return nil, in.Errorf(in.Exc.TypeError, "scanstring() takes no keyword arguments")
		case n < 2:
			return nil, in.Errorf(in.Exc.TypeError, "scanstring() takes at least 2 arguments (%d given)", n)
		case n > 3:
			return nil, in.Errorf(in.Exc.TypeError, "scanstring() takes at most 3 arguments (%d given)", n)
		}
		return scanString(in, args)
	})
	m.Set("make_scanner", makeScanner(in))
	m.Set("make_encoder", makeEncoder(in, fast))
	return m, nil
}

// scanString is scanstring(string, end, strict=True): the string whose content begins at end, and the place behind it.
func scanString(in *vm.Interp, args []vm.Object) (vm.Object, error) {
	end, err := in.Index(args[1])
	if err != nil {
		return nil, err
	}
	strict := true
	if len(args) == 3 {
		if strict, err = in.Truth(args[2]); err != nil {
			return nil, err
		}
	}
	s, ok := vm.AsStr(args[0])
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "first argument must be a string, not %s", vm.TypeName(args[0]))
	}
	t := newText(in, s)
	i, ok := t.offset(int(max(end, 0)))
	if !ok || end < 0 {
		return nil, in.Errorf(in.Exc.ValueError, "end is out of bounds")
	}
	v, i, err := t.scan(i, strict)
	if err != nil {
		return nil, err
	}
	return vm.NewTuple(vm.Str(v), vm.MakeInt(int64(t.place(i)))), nil
}
