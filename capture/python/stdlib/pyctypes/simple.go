package pyctypes

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
)

// newSimple makes a class of a simple type, and one with the other byte order beside it.
func (c *lib) newSimple(in *vm.Interp, meta *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	cls, l, err := c.newClass(meta, args, kw)
	if err != nil || cls == nil {
		return nil, err
	}
	letter, err := in.GetAttrOpt(cls, "_type_")
	if err != nil {
		return nil, err
	}
	if letter == nil {
		return nil, in.Errorf(in.Exc.AttributeError, "class must define a '_type_' attribute")
	}
	s, ok := vm.AsStr(letter)
	switch {
	case !ok:
		return nil, in.Errorf(in.Exc.TypeError, "class must define a '_type_' string attribute")
	case len(s) != 1:
		return nil, in.Errorf(in.Exc.ValueError, "class must define a '_type_' attribute which must be a string of length 1")
	case codes[s[0]] == nil:
		return nil, in.Errorf(in.Exc.AttributeError, "class must define a '_type_' attribute which must be\na single character string containing one of '%s'.", codeLetters)
	}
	if l == nil {
		l = &layout{class: cls, kind: simpleKind}
		cls.Native = l
	}
	l.code = codes[s[0]]
	l.size, l.align, l.pointers = l.code.size, l.code.size, strings.Contains("zZPO", s)
	if meta == c.metaSimple && cls.Bases[0] == c.simple && l.code.swappable() {
		return cls, c.addSwapped(cls, l, args)
	}
	return cls, nil
}

// addSwapped makes the type's twin in the other byte order; each knows both.
func (c *lib) addSwapped(cls *vm.Type, l *layout, args []vm.Object) error {
	name, _ := vm.AsStr(args[0])
	made, err := vm.TypeType.New(c.in, c.metaSimple, []vm.Object{vm.Str(name + "_be"), args[1], args[2]}, nil)
	if err != nil {
		return err
	}
	twin := made.(*vm.Type)
	other := *l
	other.class, other.swapped = twin, true
	twin.Native = &other
	for _, t := range []*vm.Type{cls, twin} {
		t.SetAttr("__ctype_le__", cls)
		t.SetAttr("__ctype_be__", twin)
	}
	return nil
}

// simpleType is _SimpleCData.
func (c *lib) simpleType() *vm.Type {
	set := func(in *vm.Interp, o, v vm.Object) error {
		d := dataOf(o)
		if v == nil {
			return in.Errorf(in.Exc.TypeError, "can't delete attribute")
		}
		return d.layout.set(d, 0, d.mem, v)
	}
	return c.in.NewNativeType(vm.Spec{Name: "_SimpleCData", Module: "_ctypes", Bases: []*vm.Type{c.cdata}, Meta: c.metaSimple, NoDict: true, New: c.newData,
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(kw) > 0 || len(args) > 2 {
					return nil, in.Errorf(in.Exc.TypeError, "__init__() takes at most 1 argument (%d given)", len(args)-1+len(kw))
				}
				if len(args) == 2 {
					return vm.None, set(in, args[0], args[1])
				}
				return vm.None, nil
			},
			"__bool__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				for _, b := range dataOf(args[0]).mem {
					if b != 0 {
						return vm.Bool(true), nil
					}
				}
				return vm.Bool(false), nil
			},
			"__repr__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := dataOf(args[0])
				if d == nil || !d.layout.plain(c) {
					return vm.Str(fmt.Sprintf("<%s object at 0x%x>", args[0].Type().Name, in.ID(args[0]))), nil
				}
				v, err := d.layout.get(d, d.mem)
				if err != nil {
					return nil, err
				}
				s, err := in.Repr(v)
				return vm.Str(d.layout.class.Name + "(" + s + ")"), err
			},
			"__ctypes_from_outparam__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := dataOf(args[0])
				return d.read(d.layout, 0, 0)
			},
		},
		GetSet: []*vm.GetSet{{Name: "value", Set: set, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			d := dataOf(o)
			return d.layout.get(d, d.mem)
		}}}})
}
