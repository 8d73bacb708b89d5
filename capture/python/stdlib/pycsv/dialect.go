package pycsv

import (
	"slices"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// The ways of quoting.
const (
	quoteMinimal = iota
	quoteAll
	quoteNonNumeric
	quoteNone
)

// quotings are their names.
var quotings = []string{"QUOTE_MINIMAL", "QUOTE_ALL", "QUOTE_NONNUMERIC", "QUOTE_NONE"}

// unset is a character that a dialect does not have.
const unset rune = -1

// dialect says how fields are told apart. It never changes.
type dialect struct {
	vm.Identity
	m              *module
	delimiter      rune
	doubleQuote    bool
	escape         rune
	lineTerminator string
	quote          rune
	quoting        int
	skipSpace      bool
	strict         bool
}

// Type implements vm.Object.
func (d *dialect) Type() *vm.Type { return d.m.dialect }

// attributes are the parts of a dialect, in the order in which they are checked.
var attributes = []string{"delimiter", "doublequote", "escapechar", "lineterminator", "quotechar", "quoting", "skipinitialspace", "strict"}

// newDialect is Dialect(dialect, **attributes): what is not given is taken from another dialect, or any object with such attributes.
func (m *module) newDialect(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	names := append([]string{"dialect"}, attributes...)
	if n := len(args) + len(kw); n > len(names) {
		return nil, in.Errorf(in.Exc.TypeError, "function takes at most %d arguments (%d given)", len(names), n)
	}
	given := make([]vm.Object, len(names))
	copy(given, args)
	for _, k := range kw {
		i := slices.Index(names, k.Name)
		if i < 0 {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for this function", k.Name)
		}
		if given[i] != nil {
			return nil, in.Errorf(in.Exc.TypeError, "argument for function given by name ('%s') and position (%d)", k.Name, i+1)
		}
		given[i] = k.Value
	}
	base := given[0]
	if base == vm.None {
		base = nil
	}
	if base != nil {
		if _, ok := vm.AsStr(base); ok {
			var err error
			if base, err = m.registered(in, base); err != nil {
				return nil, err
			}
		}
		if d, ok := base.(*dialect); ok && !slices.ContainsFunc(given[1:], func(o vm.Object) bool { return o != nil }) {
			return d, nil
		}
		for i, name := range attributes {
			if given[i+1] == nil {
				if v, err := in.GetAttrOpt(base, name); err == nil {
					given[i+1] = v
				}
			}
		}
	}
	return m.makeDialect(in, given[1:])
}

// makeDialect checks the attributes; nil ones are not given.
func (m *module) makeDialect(in *vm.Interp, given []vm.Object) (vm.Object, error) {
	d := &dialect{m: m, delimiter: ',', doubleQuote: true, escape: unset, lineTerminator: "\r\n", quote: '"', quoting: quoteMinimal}
	terminated := true
	setters := []func(o vm.Object, name string) error{
		func(o vm.Object, name string) error { return setChar(in, &d.delimiter, o, name, false) },
		func(o vm.Object, _ string) error { return setBool(in, &d.doubleQuote, o) },
		func(o vm.Object, name string) error { return setChar(in, &d.escape, o, name, true) },
		func(o vm.Object, name string) (err error) {
			if terminated = o != vm.None; !terminated {
				return nil
			}
			s, ok := vm.AsStr(o)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "\"%s\" must be a string", name)
			}
			d.lineTerminator = s
			return nil
		},
		func(o vm.Object, name string) error { return setChar(in, &d.quote, o, name, true) },
		func(o vm.Object, name string) error {
			if o.Type() != vm.IntType {
				return in.Errorf(in.Exc.TypeError, "\"%s\" must be an integer", name)
			}
			n, err := in.Index(o)
			d.quoting = int(n)
			return err
		},
		func(o vm.Object, _ string) error { return setBool(in, &d.skipSpace, o) },
		func(o vm.Object, _ string) error { return setBool(in, &d.strict, o) },
	}
	for i, set := range setters {
		if given[i] != nil {
			if err := set(given[i], attributes[i]); err != nil {
				return nil, err
			}
		}
	}
	if given[4] == vm.None && given[5] == nil {
		d.quoting = quoteNone
	}
	switch {
	case d.quoting < quoteMinimal || d.quoting > quoteNone:
		return nil, in.Errorf(in.Exc.TypeError, "bad \"quoting\" value")
	case d.quoting != quoteNone && d.quote == unset:
		return nil, in.Errorf(in.Exc.TypeError, "quotechar must be set if quoting enabled")
	case !terminated:
		return nil, in.Errorf(in.Exc.TypeError, "lineterminator must be set")
	}
	return d, nil
}

// setChar sets a character, which may be none.
func setChar(in *vm.Interp, to *rune, o vm.Object, name string, optional bool) error {
	s, ok := vm.AsStr(o)
	switch {
	case o == vm.None && optional:
		*to = unset
		return nil
	case !ok && optional:
		return in.Errorf(in.Exc.TypeError, "\"%s\" must be string or None, not %s", name, vm.TypeName(o))
	case !ok:
		return in.Errorf(in.Exc.TypeError, "\"%s\" must be string, not %s", name, vm.TypeName(o))
	}
	r, n := wtf8.DecodeRuneInString(s)
	if s == "" || n != len(s) {
		return in.Errorf(in.Exc.TypeError, "\"%s\" must be a 1-character string", name)
	}
	*to = r
	return nil
}

func setBool(in *vm.Interp, to *bool, o vm.Object) (err error) {
	*to, err = in.Truth(o)
	return err
}

// makeDialectClass makes Dialect.
func (m *module) makeDialectClass(in *vm.Interp) {
	char := func(r rune) vm.Object {
		if r == unset {
			return vm.None
		}
		return vm.Str(wtf8.Char(r))
	}
	values := []func(d *dialect) vm.Object{
		func(d *dialect) vm.Object { return char(d.delimiter) },
		func(d *dialect) vm.Object { return vm.MakeBool(d.doubleQuote) },
		func(d *dialect) vm.Object { return char(d.escape) },
		func(d *dialect) vm.Object { return vm.Str(d.lineTerminator) },
		func(d *dialect) vm.Object { return char(d.quote) },
		func(d *dialect) vm.Object { return vm.MakeInt(int64(d.quoting)) },
		func(d *dialect) vm.Object { return vm.MakeBool(d.skipSpace) },
		func(d *dialect) vm.Object { return vm.MakeBool(d.strict) },
	}
	var gets []*vm.GetSet
	for i, name := range attributes {
		gets = append(gets, &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return values[i](dialectOf(o)), nil }})
	}
	noPickle := func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return nil, in.Errorf(in.Exc.TypeError, "cannot pickle '%s' instances", a[0].Type().Name)
	}
	m.dialect = in.NewNativeType(vm.Spec{Name: "Dialect", Module: "_csv", NoDict: true, Strict: true, GetSet: gets, Doc: "CSV dialect\n\nThe Dialect type records CSV dialect options.",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			d, err := m.newDialect(in, args, kw)
			if err != nil || cls == m.dialect {
				return d, err
			}
			return vm.NewInstance(cls, d), nil
		},
		Methods: map[string]vm.GoFunc{"__reduce__": noPickle, "__reduce_ex__": noPickle,
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil }}})
}

// dialectOf is the dialect that an object is or holds.
func dialectOf(o vm.Object) *dialect {
	if i, ok := o.(*vm.Instance); ok {
		o, _ = i.Native.(vm.Object)
	}
	return o.(*dialect)
}
