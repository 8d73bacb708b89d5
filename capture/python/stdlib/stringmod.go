package stdlib

import (
	"strconv"
	"strings"

	"whittle/capture/python/vm"
)

// stringModule is _string, which takes format strings apart for string.Formatter.
func stringModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_string", "string helper module")
	text := func(in *vm.Interp, o vm.Object) (string, error) {
		s, ok := vm.AsStr(o)
		if !ok {
			return "", in.Errorf(in.Exc.TypeError, "expected str, got %s", vm.TypeName(o))
		}
		return s, nil
	}
	m.FuncN("formatter_parser", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		s, err := text(in, a[0])
		if err != nil {
			return nil, err
		}
		return &vm.GoIter{NextFn: func(in *vm.Interp) (vm.Object, error) {
			if s == "" {
				return nil, nil
			}
			p, rest, err := in.FormatPart(s)
			s = rest
			if err != nil {
				return nil, err
			}
			if !p.Field {
				return vm.NewTuple(vm.Str(p.Text), vm.None, vm.None, vm.None), nil
			}
			var conv vm.Object = vm.None
			if p.Conversion != 0 {
				conv = vm.Str(string(p.Conversion))
			}
			return vm.NewTuple(vm.Str(p.Text), vm.Str(p.Name), vm.Str(p.Spec), conv), nil
		}}, nil
	})
	m.FuncN("formatter_field_name_split", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		s, err := text(in, a[0])
		if err != nil {
			return nil, err
		}
		end := strings.IndexAny(s, ".[")
		if end < 0 {
			end = len(s)
		}
		rest := s[end:]
		return vm.NewTuple(fieldIndex(s[:end]), &vm.GoIter{NextFn: func(in *vm.Interp) (part vm.Object, err error) {
			if rest == "" {
				return nil, nil
			}
			part, rest, err = fieldPart(in, rest)
			return part, err
		}}), nil
	})
	return m, nil
}

// fieldIndex is a number where a part of a field name is one, else the text itself.
func fieldIndex(s string) vm.Object {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil && s[0] != '+' {
		return vm.MakeInt(int64(n))
	}
	return vm.Str(s)
}

// fieldPart takes ".name" or "[index]" from the front of a field name.
func fieldPart(in *vm.Interp, s string) (part vm.Object, rest string, err error) {
	fail := func(msg string) (vm.Object, string, error) { return nil, "", in.Errorf(in.Exc.ValueError, "%s", msg) }
	var key vm.Object
	attr := s[0] == '.'
	switch {
	case attr:
		end := strings.IndexAny(s[1:], ".[")
		if end < 0 {
			end = len(s) - 1
		}
		key, rest = vm.Str(s[1:1+end]), s[1+end:]
	case s[0] == '[':
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return fail("Missing ']' in format string")
		}
		key, rest = fieldIndex(s[1:end]), s[end+1:]
	default:
		return fail("Only '.' or '[' may follow ']' in format field specifier")
	}
	if key == vm.Object(vm.Str("")) {
		return fail("Empty attribute in format string")
	}
	return vm.NewTuple(vm.MakeBool(attr), key), rest, nil
}
