package vm

import (
	"bytes"
	"slices"

	"whittle/capture/python/code"
)

// CodeParts are the parts that CPython makes a code object of: the arguments of types.CodeType, and what module marshal stores.
type CodeParts struct {
	ArgCount, PosOnly, KwOnly, NLocals, StackSize, Flags int

	Code                                []byte
	Consts                              []Object
	Names, VarNames, CellVars, FreeVars []string
	Filename, Name, QualName            string
	FirstLine                           int
	LineTable, ExcTable                 []byte
	source                              *code.Source // of code that was compiled here
}

// Parts takes a code object apart.
func (c *Code) Parts() CodeParts {
	w := c.wire()
	return CodeParts{
		ArgCount: c.ArgCount, PosOnly: c.PosOnly, KwOnly: c.KwOnly, NLocals: len(c.VarNames), StackSize: c.Depth, Flags: int(c.Flags),
		Code: w.Code, Consts: c.Consts, Names: c.Names, VarNames: c.VarNames, CellVars: c.CellVars, FreeVars: c.FreeVars,
		Filename: c.Filename, Name: c.Name, QualName: c.QualName, FirstLine: c.FirstLine, LineTable: w.LineTable, ExcTable: w.ExcTable, source: c.Source,
	}
}

// wire is the code in CPython's form, made when it is first asked for.
func (c *Code) wire() *code.Wire {
	if c.bytes == nil {
		c.bytes = c.Wire()
	}
	return c.bytes
}

// lasti is CPython's number of instruction pc: where it lies in co_code.
func (c *Code) lasti(pc int) int {
	if w := c.wire(); pc >= 0 && pc < len(w.Units) {
		return 2 * int(w.Units[pc])
	}
	return -1
}

// instrAt is the number of the instruction at an offset of CPython's code, 0 for none.
func (c *Code) instrAt(lasti int) int {
	for i, u := range c.wire().Units {
		if 2*int(u) == lasti {
			return i
		}
	}
	return 0
}

// CodeOf makes a code object of its parts, with CPython's errors for what cannot be one. As there, bytes that are no code make a code object
// that may be looked at; calling it is an error here.
func (in *Interp) CodeOf(p CodeParts) (*Code, error) {
	if p.ArgCount < p.PosOnly || p.PosOnly < 0 || p.KwOnly < 0 || p.StackSize < 0 || p.Flags < 0 {
		return nil, in.Errorf(in.Exc.SystemError, "bad argument to internal function")
	}
	if len(p.Code)%2 != 0 {
		return nil, in.Errorf(in.Exc.ValueError, "code: co_code is malformed")
	}
	c := &code.Code{Name: p.Name, QualName: p.QualName, Filename: p.Filename, FirstLine: p.FirstLine, ArgCount: p.ArgCount, PosOnly: p.PosOnly, KwOnly: p.KwOnly,
		Flags: code.Flags(p.Flags), Names: p.Names, VarNames: p.VarNames, CellVars: p.CellVars, FreeVars: p.FreeVars, StackSize: p.StackSize + 2, Depth: p.StackSize, Source: p.source}
	if c.NumArgs() > len(p.VarNames) {
		return nil, in.Errorf(in.Exc.ValueError, "code: co_varnames is too small")
	}
	if p.NLocals != len(p.VarNames) {
		return nil, in.Errorf(in.Exc.ValueError, "code: co_nlocals != len(co_varnames)")
	}
	for _, k := range p.Consts {
		c.Consts = append(c.Consts, k)
	}
	w, err := c.ReadWire(p.Code, p.LineTable, p.ExcTable)
	if err == nil {
		err = c.Verify()
	}
	if err != nil {
		c.Instrs, c.ExcTable = nil, nil
		w.Units, w.Starts = nil, nil
	}
	v := NewCode(c)
	v.bytes = w
	if err != nil {
		v.broken, v.simple, v.nslots = err, false, max(v.nslots, c.NumArgs())
	}
	return v, nil
}

// newCode is types.CodeType(...).
func newCode(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	if len(kw) > 0 {
		return nil, in.Errorf(in.Exc.TypeError, "code() takes no keyword arguments")
	}
	if n := len(args); n < 16 {
		return nil, in.Errorf(in.Exc.TypeError, "code expected at least 16 arguments, got %d", n)
	} else if n > 18 {
		return nil, in.Errorf(in.Exc.TypeError, "code expected at most 18 arguments, got %d", n)
	}
	var p CodeParts
	for i, f := range codeFields {
		if i >= len(args) {
			break
		}
		if err := f.set(in, &p, i, args[i]); err != nil {
			return nil, err
		}
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"argcount", p.ArgCount}, {"posonlyargcount", p.PosOnly}, {"kwonlyargcount", p.KwOnly}, {"nlocals", p.NLocals}} {
		if n.n < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "code: %s must not be negative", n.name)
		}
	}
	return in.CodeOf(p)
}

// replaceCode is code.replace: a copy with other values of some attributes.
func replaceCode(in *Interp, args []Object, kw []KwArg) (Object, error) {
	if len(args) > 1 {
		return nil, in.Errorf(in.Exc.TypeError, "replace() takes 0 positional arguments but %d were given", len(args)-1)
	}
	p := args[0].(*Code).Parts()
	for _, k := range kw {
		i := slices.IndexFunc(codeFields, func(f codeField) bool { return f.name == k.Name })
		if i < 0 {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for replace()", k.Name)
		}
		if err := codeFields[i].set(in, &p, -1, k.Value); err != nil {
			return nil, err
		}
		if n, ok := codeFields[i].field(&p).(*int); ok && *n < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "%s must be a positive integer", k.Name)
		}
	}
	v, err := in.CodeOf(p)
	if err == nil {
		v.Native = args[0].(*Code).Native
	}
	return v, err
}

// codeField is a part under its attribute's name; field points to it.
type codeField struct {
	name  string
	field func(p *CodeParts) any
}

// codeFields are the parts in the order of CodeType's arguments.
var codeFields = []codeField{
	{"co_argcount", func(p *CodeParts) any { return &p.ArgCount }}, {"co_posonlyargcount", func(p *CodeParts) any { return &p.PosOnly }},
	{"co_kwonlyargcount", func(p *CodeParts) any { return &p.KwOnly }}, {"co_nlocals", func(p *CodeParts) any { return &p.NLocals }},
	{"co_stacksize", func(p *CodeParts) any { return &p.StackSize }}, {"co_flags", func(p *CodeParts) any { return &p.Flags }},
	{"co_code", func(p *CodeParts) any { return &p.Code }}, {"co_consts", func(p *CodeParts) any { return &p.Consts }},
	{"co_names", func(p *CodeParts) any { return &p.Names }}, {"co_varnames", func(p *CodeParts) any { return &p.VarNames }},
	{"co_filename", func(p *CodeParts) any { return &p.Filename }}, {"co_name", func(p *CodeParts) any { return &p.Name }},
	{"co_qualname", func(p *CodeParts) any { return &p.QualName }}, {"co_firstlineno", func(p *CodeParts) any { return &p.FirstLine }},
	{"co_linetable", func(p *CodeParts) any { return &p.LineTable }}, {"co_exceptiontable", func(p *CodeParts) any { return &p.ExcTable }},
	{"co_freevars", func(p *CodeParts) any { return &p.FreeVars }}, {"co_cellvars", func(p *CodeParts) any { return &p.CellVars }},
}

// set converts an argument: number i of CodeType, or for -1 the keyword of replace.
func (f codeField) set(in *Interp, p *CodeParts, i int, v Object) error {
	wrong := func(want string) error {
		if i < 0 {
			return in.Errorf(in.Exc.TypeError, "replace() argument '%s' must be %s, not %s", f.name, want, ArgName(v))
		}
		return in.Errorf(in.Exc.TypeError, "code() argument %d must be %s, not %s", i+1, want, ArgName(v))
	}
	switch to := f.field(p).(type) {
	case *int:
		n, err := in.Index(v)
		if err != nil {
			return err
		}
		*to = int(n)
	case *string:
		s, ok := AsStr(v)
		if !ok {
			return wrong("str")
		}
		*to = s
	case *[]byte:
		b, ok := v.(Bytes)
		if !ok {
			return wrong("bytes")
		}
		*to = []byte(b)
	case *[]Object:
		t, ok := AsTuple(v)
		if !ok {
			return wrong("tuple")
		}
		*to = slices.Clone(t.Items)
	case *[]string:
		t, ok := AsTuple(v)
		if !ok {
			return wrong("tuple")
		}
		names := make([]string, len(t.Items))
		for i, x := range t.Items {
			if names[i], ok = AsStr(x); !ok {
				return in.Errorf(in.Exc.TypeError, "name tuples must contain only strings, not '%s'", TypeName(x))
			}
		}
		*to = names
	}
	return nil
}

// equal is code equality: the same instructions at the same lines over the same names and constants. The file's name does not count.
func (c *Code) equal(in *Interp, d *Code) (bool, error) {
	if c == d {
		return true, nil
	}
	a, b := c.wire(), d.wire()
	same := c.Name == d.Name && c.ArgCount == d.ArgCount && c.PosOnly == d.PosOnly && c.KwOnly == d.KwOnly && c.Flags == d.Flags && c.FirstLine == d.FirstLine &&
		bytes.Equal(a.Code, b.Code) && bytes.Equal(a.LineTable, b.LineTable) && bytes.Equal(a.ExcTable, b.ExcTable) && slices.Equal(c.Names, d.Names) &&
		slices.Equal(c.VarNames, d.VarNames) && slices.Equal(c.CellVars, d.CellVars) && slices.Equal(c.FreeVars, d.FreeVars) && len(c.Consts) == len(d.Consts)
	if !same {
		return false, nil
	}
	for i, k := range c.Consts {
		if ok, err := in.sameConstant(k, d.Consts[i]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameConstant tells apart what is equal and yet another constant: 1 and True, 0.0 and -0.0, and tuples of such.
func (in *Interp) sameConstant(a, b Object) (bool, error) {
	if a.Type() != b.Type() {
		return false, nil
	}
	switch x := a.(type) {
	case *Tuple:
		y := b.(*Tuple)
		if len(x.Items) != len(y.Items) {
			return false, nil
		}
		for i := range x.Items {
			if ok, err := in.sameConstant(x.Items[i], y.Items[i]); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	case Float, Complex:
		r, err := in.Repr(a)
		if err != nil {
			return false, err
		}
		s, err := in.Repr(b)
		return r == s, err
	}
	return in.Eq(a, b)
}
