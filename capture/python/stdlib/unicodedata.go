package stdlib

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/charnames"
	"whittle/capture/python/clinic"
	"whittle/capture/python/ucd"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// unicodeVersion is a version of the character database: the functions of the module, or the methods of ucd_3_2_0.
type unicodeVersion struct {
	old bool
	def func(name, params string, fn clinic.Func)
}

// of are a character's properties.
func (v unicodeVersion) of(r rune) *ucd.Props {
	if v.old {
		return ucd.Old(r)
	}
	return ucd.Of(r)
}

// longestName is as long as a name may be that is looked for.
const longestName = 256

// unicodedataModule is unicodedata.
func unicodedataModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("unicodedata", "Access to the Unicode Character Database.")
	m.Set("unidata_version", vm.Str(ucd.Version()))
	unicodeVersion{def: func(name, params string, fn clinic.Func) { clinic.Def(m, name, params, fn) }}.functions()
	methods := map[string]vm.GoFunc{}
	unicodeVersion{old: true, def: func(name, params string, fn clinic.Func) { methods[name] = clinic.Method(name, params, fn) }}.functions()
	class := in.NewNativeType(vm.Spec{Name: "UCD", Module: "unicodedata", NoDict: true, Strict: true, Final: true, Methods: methods,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'unicodedata.UCD' instances")
		},
		GetSet: []*vm.GetSet{{Name: "unidata_version", Get: func(*vm.Interp, vm.Object) (vm.Object, error) { return vm.Str("3.2.0"), nil }}}})
	m.Set("UCD", class)
	m.Set("ucd_3_2_0", vm.NewInstance(class, nil))
	return m, nil
}

// functions defines everything that a version answers.
func (v unicodeVersion) functions() {
	v.property("category", func(p *ucd.Props) vm.Object { return vm.Str(p.Category()) })
	v.property("bidirectional", func(p *ucd.Props) vm.Object { return vm.Str(p.Bidirectional()) })
	v.property("east_asian_width", func(p *ucd.Props) vm.Object { return vm.Str(p.Width()) })
	v.property("combining", func(p *ucd.Props) vm.Object { return vm.MakeInt(int64(p.Combining())) })
	v.property("mirrored", func(p *ucd.Props) vm.Object {
		if p.Is(ucd.Mirrored) {
			return vm.Int(1)
		}
		return vm.Int(0)
	})
	v.value("decimal", "not a decimal", func(r rune) vm.Object { return intOrNil(v.of(r).Decimal()) })
	v.value("digit", "not a digit", func(r rune) vm.Object { return intOrNil(v.of(r).Digit()) })
	v.value("numeric", "not a numeric character", func(r rune) vm.Object {
		if f, ok := v.of(r).Numeric(); ok {
			return vm.Float(f)
		}
		return nil
	})
	v.value("name", "no such name", func(r rune) vm.Object {
		if n := charnames.Name(r); n != "" && v.of(r).Assigned() {
			return vm.Str(n)
		}
		return nil
	})
	v.def("decomposition", "chr, /", func(c *clinic.Call) (vm.Object, error) {
		r, err := character(c, "decomposition() argument")
		if err != nil || !v.of(r).Assigned() {
			return vm.Str(""), err
		}
		text, parts := ucd.Decomposition(r)
		for _, p := range parts {
			if text != "" {
				text += " "
			}
			text += fmt.Sprintf("%04X", p)
		}
		return vm.Str(text), nil
	})
	v.def("lookup", "name, /", v.lookup)
	v.normalForms()
}

// character is the first argument, a text of one character.
func character(c *clinic.Call, what string) (rune, error) {
	if s, ok := vm.AsStr(c.Args[0]); ok && s != "" {
		if r, n := wtf8.DecodeRuneInString(s); n == len(s) {
			return r, nil
		}
	}
	return 0, c.Errorf(c.Exc.TypeError, "%s must be a unicode character, not %s", what, vm.TypeName(c.Args[0]))
}

// property defines a function that all characters have an answer to.
func (v unicodeVersion) property(name string, f func(p *ucd.Props) vm.Object) {
	v.def(name, "chr, /", func(c *clinic.Call) (vm.Object, error) {
		r, err := character(c, name+"() argument")
		if err != nil {
			return nil, err
		}
		return f(v.of(r)), nil
	})
}

// value defines a function that gives something else, or raises an error, where f gives nil.
func (v unicodeVersion) value(name, missing string, f func(r rune) vm.Object) {
	v.def(name, "chr, default=nil, /", func(c *clinic.Call) (vm.Object, error) {
		r, err := character(c, name+"() argument 1")
		if err != nil {
			return nil, err
		}
		if o := f(r); o != nil {
			return o, nil
		}
		if c.Args[1] != nil {
			return c.Args[1], nil
		}
		return nil, c.Errorf(c.Exc.ValueError, "%s", missing)
	})
}

func intOrNil(n int, ok bool) vm.Object {
	if !ok {
		return nil
	}
	return vm.MakeInt(int64(n))
}

// lookup finds a character, or a sequence of them, by name.
func (v unicodeVersion) lookup(c *clinic.Call) (vm.Object, error) {
	name, ok := vm.AsStr(c.Args[0])
	if b, isBytes := vm.AsBytes(c.Args[0]); isBytes {
		name, ok = string(b), true
	}
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(c.Args[0]))
	}
	if len(name) > longestName {
		return nil, c.KeyError(vm.Str("name too long"))
	}
	text, found := ucd.Named(name)
	if r, ok := charnames.Named(name); ok {
		text, found = wtf8.Char(r), true
	}
	if r, _ := wtf8.DecodeRuneInString(text); !found || v.old && (!ucd.Old(r).Assigned() || charnames.Name(r) != strings.ToUpper(name)) {
		return nil, c.KeyError(vm.Str("undefined character name '" + name + "'"))
	}
	return vm.Str(text), nil
}

// normalForms defines normalize and is_normalized.
func (v unicodeVersion) normalForms() {
	def := func(name string, f func(before, after []rune) vm.Object) {
		v.def(name, "form, unistr, /", func(c *clinic.Call) (vm.Object, error) {
			for i, a := range c.Args {
				if _, ok := vm.AsStr(a); !ok {
					return nil, c.Errorf(c.Exc.TypeError, "%s() argument %d must be str, not %s", name, i+1, vm.ArgName(a))
				}
			}
			form, ok := ucd.Forms[str(c.Args[0])]
			text := wtf8.Runes(str(c.Args[1]))
			if !ok && len(text) > 0 {
				return nil, c.Errorf(c.Exc.ValueError, "invalid normalization form")
			}
			return f(text, form.Normalize(text, v.old)), nil
		})
	}
	def("normalize", func(_, after []rune) vm.Object { return vm.Str(wtf8.String(after)) })
	def("is_normalized", func(before, after []rune) vm.Object { return vm.MakeBool(slices.Equal(before, after)) })
}
