package vm

import (
	"slices"
	"strings"
)

// NewStructSequence makes a class of tuples whose items have names, such as os.stat_result: the first visible of the fields are the tuple's
// items, the rest are attributes alone. A field without a name is an item alone.
//
// Its instances are made by NewStructValue, or in Python from a sequence of at least the visible fields and a dict of the others.
func NewStructSequence(in *Interp, module, name, doc string, visible int, fields ...string) *Type {
	var t *Type
	unnamed := 0
	s := Spec{Name: name, Module: module, Doc: doc, Bases: []*Type{TupleType}, Attrs: map[string]Object{}, Methods: map[string]GoFunc{}}
	for i, n := range fields {
		if n == "" {
			unnamed++
			continue
		}
		s.GetSet = append(s.GetSet, &GetSet{Name: n, Get: func(in *Interp, self Object) (Object, error) { return structField(self, i, n), nil },
			Set: func(in *Interp, _, _ Object) error { return in.Errorf(in.Exc.AttributeError, "readonly attribute") }})
	}
	s.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs(name, args, kw, "sequence, dict=None")
		if err != nil {
			return nil, err
		}
		return structFrom(in, cls, a, visible, fields)
	}
	s.Methods["__repr__"] = func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		items, _ := AsTuple(args[0])
		var parts []string
		for i, it := range items.Items {
			r, err := in.Repr(it)
			if err != nil {
				return nil, err
			}
			if i < len(fields) && fields[i] != "" {
				r = fields[i] + "=" + r
			}
			parts = append(parts, r)
		}
		return Str(t.FullName() + "(" + strings.Join(parts, ", ") + ")"), nil
	}
	s.Methods["__reduce__"] = func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		items, _ := AsTuple(args[0])
		rest := NewDict()
		for i := visible; i < len(fields); i++ {
			rest.SetStr(fields[i], structField(args[0], i, fields[i]))
		}
		return NewTuple(t, NewTuple(NewTuple(items.Items...), rest)), nil
	}
	t = in.NewNativeType(s)
	t.Native = fields
	t.Dict.SetStr("n_fields", MakeInt(int64(len(fields))))
	t.Dict.SetStr("n_sequence_fields", MakeInt(int64(visible)))
	t.Dict.SetStr("n_unnamed_fields", MakeInt(int64(unnamed)))
	if unnamed == 0 {
		names := make([]Object, visible)
		for i := range names {
			names[i] = Str(fields[i])
		}
		t.Dict.SetStr("__match_args__", NewTuple(names...))
	}
	return t
}

// structRest holds, in an instance's own attributes, the fields that are no items.
const structRest = " fields"

func structField(self Object, i int, name string) Object {
	t, ok := AsTuple(self)
	if ok && i < len(t.Items) {
		return t.Items[i]
	}
	if inst, ok := self.(*Instance); ok {
		if d := inst.AttrDict(false); d != nil {
			if rest, ok := d.GetStr(structRest); ok {
				if v, ok := rest.(*Dict).GetStr(name); ok {
					return v
				}
			}
		}
	}
	return None
}

// NewStructValue makes an instance of a structure sequence, of its visible fields and then the others.
func NewStructValue(t *Type, values ...Object) *Instance {
	n, _ := t.Dict.GetStr("n_sequence_fields")
	visible, _ := AsInt(n)
	inst := NewInstance(t, NewTuple(values[:visible]...))
	if len(values) > int(visible) {
		rest := NewDict()
		i := 0
		for _, g := range structNames(t) {
			if i >= int(visible) && i < len(values) {
				rest.SetStr(g, values[i])
			}
			i++
		}
		inst.AttrDict(true).SetStr(structRest, rest)
	}
	return inst
}

// structNames are the names of all fields, in order.
func structNames(t *Type) []string {
	f, _ := t.Native.([]string)
	return f
}

// structFrom makes an instance as a program does.
func structFrom(in *Interp, cls *Type, a []Object, visible int, fields []string) (Object, error) {
	items, err := in.IterAll(a[0])
	if err != nil {
		if in.Matches(err, in.Exc.TypeError) {
			return nil, in.Errorf(in.Exc.TypeError, "constructor requires a sequence")
		}
		return nil, err
	}
	many := func(what string, want int) error {
		return in.Errorf(in.Exc.TypeError, "%s() takes %s %d-sequence (%d-sequence given)", cls.FullName(), what, want, len(items))
	}
	switch {
	case len(items) < visible && visible == len(fields), len(items) > len(fields) && visible == len(fields):
		return nil, many("a", visible)
	case len(items) < visible:
		return nil, many("an at least", visible)
	case len(items) > len(fields):
		return nil, many("an at most", len(fields))
	}
	values := make([]Object, len(fields))
	copy(values, items)
	for i := len(items); i < len(fields); i++ {
		values[i] = None
		if d, ok := AsDict(a[1]); ok {
			if v, ok := d.GetStr(fields[i]); ok {
				values[i] = v
			}
		}
	}
	return NewStructValue(cls, values...), nil
}

// setStructField replaces a visible field of an instance that no program has seen yet.
func setStructField(self *Instance, name string, v Object) {
	if t, ok := AsTuple(self); ok {
		if i := slices.Index(structNames(self.Type()), name); i >= 0 && i < len(t.Items) {
			t.Items[i] = v
		}
	}
}
