package vm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/literal"
	"whittle/capture/python/wtf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// ascii is ascii(o).
func (in *Interp) ascii(o Object) (string, error) {
	s, err := in.Repr(o)
	if err != nil || isASCII(s) {
		return s, err
	}
	var sb strings.Builder
	for _, r := range wtf8.All(s) {
		switch {
		case r < utf8.RuneSelf:
			sb.WriteByte(byte(r))
		default:
			literal.Escape(&sb, r)
		}
	}
	return sb.String(), nil
}

// defaultRepr is object.__repr__: of a built-in value its text, of anything else the class and the identity.
func (in *Interp) defaultRepr(o Object) (string, error) {
	if s, ok, err := nativeRepr(in, o); ok || err != nil {
		return s, err
	}
	return "<" + o.Type().FullName() + " object at " + in.addr(o) + ">", nil
}

// Repr is repr(o).
func (in *Interp) Repr(o Object) (string, error) {
	if native(o) {
		s, _, err := nativeRepr(in, o)
		return s, err
	}
	f := o.Type().Lookup("__repr__")
	if f == nil {
		return in.defaultRepr(o)
	}
	if err := in.enter(); err != nil {
		return "", err
	}
	defer in.leave()
	v, err := in.callSpecial(f, o)
	if err != nil {
		return "", err
	}
	s, ok := AsStr(v)
	if !ok {
		return "", in.Errorf(in.Exc.TypeError, "__repr__ returned non-string (type %s)", TypeName(v))
	}
	return s, nil
}

// Str is str(o).
func (in *Interp) Str(o Object) (string, error) {
	if s, ok := o.(Str); ok {
		return string(s), nil
	}
	if native(o) {
		return in.Repr(o)
	}
	if p, ok := o.(*MappingProxy); ok {
		return in.Str(p.M)
	}
	f := o.Type().Lookup("__str__")
	v, err := in.callSpecial(f, o)
	if err != nil {
		return "", err
	}
	s, ok := AsStr(v)
	if !ok {
		return "", in.Errorf(in.Exc.TypeError, "__str__ returned non-string (type %s)", TypeName(v))
	}
	return s, nil
}

// str is what str(o) gives: the very object that __str__ gave, which may be of a class that derives from str.
func (in *Interp) str(o Object) (Object, error) {
	if _, ok := o.(*Instance); ok {
		v, err := in.callSpecial(o.Type().Lookup("__str__"), o)
		if err != nil {
			return nil, err
		}
		if _, ok := AsStr(v); !ok {
			return nil, in.Errorf(in.Exc.TypeError, "__str__ returned non-string (type %s)", TypeName(v))
		}
		return v, nil
	}
	s, err := in.Str(o)
	return Str(s), err
}

// ReprGuard runs f unless o is being printed already, as a container that holds itself is; then ok is false.
func (in *Interp) ReprGuard(o Object, f func() error) (ok bool, err error) {
	if slices.Contains(in.printing, o) {
		return false, nil
	}
	if err := in.enter(); err != nil {
		return true, err
	}
	in.printing = append(in.printing, o)
	err = f()
	last := len(in.printing) - 1
	in.printing[last] = nil // nobody keeps what was printed
	in.printing = in.printing[:last]
	in.leave()
	return true, err
}

// reprItems prints items with commas between them.
func reprItems(in *Interp, sb *strings.Builder, items []Object) error {
	for i, it := range items {
		if i > 0 {
			sb.WriteString(", ")
		}
		s, err := in.Repr(it)
		if err != nil {
			return err
		}
		sb.WriteString(s)
	}
	return nil
}

// nativeRepr prints built-in values; ok is false for what is none. A switch over the built-in types.
func nativeRepr(in *Interp, o Object) (text string, ok bool, err error) {
	switch x := o.(type) {
	case Int:
		text = strconv.FormatInt(int64(x), 10)
	case *BigInt:
		text, err = in.decimal(x.V)
	case Bool:
		text = "False"
		if x {
			text = "True"
		}
	case Float:
		text = literal.Float(float64(x))
	case Complex:
		text = literal.Complex(complex128(x))
	case Str:
		text = literal.Str(string(x))
	case Bytes:
		text = literal.Bytes(string(x))
	case *ByteArray:
		r := literal.Bytes(string(x.B))
		if r[1] == '"' { // unlike bytes, it marks single quotes even then
			r = strings.ReplaceAll(r, "'", `\'`)
		}
		text = "bytearray(" + r + ")"
	case *NoneType:
		text = "None"
	case *EllipsisType:
		text = "Ellipsis"
	case *NotImplementedType:
		text = "NotImplemented"
	case *List:
		text, err = containerRepr(in, x, "[", "]", func(sb *strings.Builder) error { return reprItems(in, sb, x.Items) })
	case *Tuple:
		end := ")"
		if len(x.Items) == 1 {
			end = ",)"
		}
		text, err = containerRepr(in, x, "(", end, func(sb *strings.Builder) error { return reprItems(in, sb, x.Items) })
	case *Dict:
		text, err = containerRepr(in, x, "{", "}", func(sb *strings.Builder) error { return reprPairs(in, sb, x) })
	case *Set:
		text, err = setRepr(in, x, x.Items(), "set")
	case *FrozenSet:
		text, err = setRepr(in, x, x.Items(), "frozenset")
	case *Range:
		text = fmt.Sprintf("range(%d, %d, %d)", x.Start, x.Stop, x.Step)
		if x.Step == 1 {
			text = fmt.Sprintf("range(%d, %d)", x.Start, x.Stop)
		}
	case *longRange:
		text = x.String()
	case *Slice:
		var sb strings.Builder
		err = reprItems(in, &sb, []Object{x.Start, x.Stop, x.Step})
		text = "slice(" + sb.String() + ")"
	case *Module:
		text, err = moduleRepr(in, x)
	case *MappingProxy:
		text, err = in.Repr(x.M)
		text = "mappingproxy(" + text + ")"
	case *Generator:
		text = "<generator object " + x.Qualname + " at " + in.addr(x) + ">"
	case *Coroutine:
		text = "<coroutine object " + x.body.Qualname + " at " + in.addr(x) + ">"
	case *AsyncGenerator:
		text = "<async_generator object " + x.body.Qualname + " at " + in.addr(x) + ">"
	case *Cell:
		text = "<cell at " + in.addr(x) + ": empty>"
		if x.V != nil {
			text = "<cell at " + in.addr(x) + ": " + TypeName(x.V) + " object at " + in.addr(x.V) + ">"
		}
	case *Frame:
		text = fmt.Sprintf("<frame at %s, file %s, line %d, code %s>", in.addr(x), literal.Str(x.Code.Filename), x.Line(), x.Code.Name)
	case *GetSet:
		kind := "attribute"
		if x.member {
			kind = "member"
		}
		text = "<" + kind + " '" + x.Name + "' of '" + x.own.errName() + "' objects>"
	case *Member:
		text = "<member '" + x.Name + "' of '" + x.Own.errName() + "' objects>"
	case *GenericAlias:
		text, err = aliasRepr(in, x)
		return text, true, err
	case *UnionType:
		text, err = unionRepr(in, x)
		return text, true, err
	case *Super:
		text = "<super: <class '" + x.Start.Name + "'>, NULL>"
		if x.SelfCls != nil {
			text = "<super: <class '" + x.Start.Name + "'>, <" + x.SelfCls.Name + " object>>"
		}
	case *Instance:
		return instanceRepr(in, x)
	default:
		return "", false, nil
	}
	return text, true, err
}

// containerRepr prints a container's items between brackets; a container that is being printed already is three dots.
func containerRepr(in *Interp, o Object, open, end string, items func(sb *strings.Builder) error) (string, error) {
	var sb strings.Builder
	sb.WriteString(open)
	fresh, err := in.ReprGuard(o, func() error { return items(&sb) })
	if !fresh {
		return open + "..." + end[len(end)-1:], nil
	}
	sb.WriteString(end)
	return sb.String(), err
}

// reprPairs prints the items of a dict, which a __repr__ among them may change meanwhile.
func reprPairs(in *Interp, sb *strings.Builder, d *Dict) error {
	first := true
	for i := 0; ; {
		j, k, v, ok := d.next(i)
		if !ok {
			return nil
		}
		i = j
		if !first {
			sb.WriteString(", ")
		}
		first = false
		ks, err := in.Repr(k)
		if err != nil {
			return err
		}
		vs, err := in.Repr(v)
		if err != nil {
			return err
		}
		sb.WriteString(ks + ": " + vs)
	}
}

// instanceRepr prints an instance of a subclass of a built-in type as the value inside it; of sets, the class's name is part of that.
func instanceRepr(in *Interp, x *Instance) (text string, ok bool, err error) {
	v, ok := x.Native.(Object)
	if !ok {
		return "", false, nil
	}
	switch s := v.(type) {
	case *Set:
		text, err = setRepr(in, x, s.Items(), x.Class.Name)
		return text, true, err
	case *FrozenSet:
		text, err = setRepr(in, x, s.Items(), x.Class.Name)
		return text, true, err
	}
	return nativeRepr(in, v)
}

// unionRepr prints the type of None as None, which an alias does not.
func unionRepr(in *Interp, x *UnionType) (string, error) {
	var parts []string
	for _, a := range x.Args.Items {
		if a == NoneTypeType {
			parts = append(parts, "None")
			continue
		}
		s, err := argRepr(in, a)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " | "), nil
}

// argRepr prints an argument of an alias or a union: what has a qualified name and a module, and is no alias itself, by these.
func argRepr(in *Interp, o Object) (string, error) {
	if o == Ellipsis {
		return "...", nil
	}
	attr := func(name string) (Object, error) { return in.GetAttrOpt(o, name) }
	origin, err := attr("__origin__")
	if err != nil {
		return "", err
	}
	if origin != nil {
		if args, err := attr("__args__"); err != nil || args != nil {
			if err != nil {
				return "", err
			}
			return in.Repr(o)
		}
	}
	name, err := attr("__qualname__")
	if err != nil {
		return "", err
	}
	if name == nil {
		return in.Repr(o)
	}
	module, err := attr("__module__")
	if err != nil {
		return "", err
	}
	if module == nil || module == None {
		return in.Repr(o)
	}
	text, err := in.Str(name)
	if s, ok := AsStr(module); ok && s == "builtins" || err != nil {
		return text, err
	}
	home, err := in.Str(module)
	return home + "." + text, err
}

// setRepr prints a set of a class of that name: only set itself has bare brackets.
func setRepr(in *Interp, o Object, items []Object, name string) (string, error) {
	if len(items) == 0 {
		return name + "()", nil
	}
	var sb strings.Builder
	ok, err := in.ReprGuard(o, func() error { return reprItems(in, &sb, items) })
	if !ok {
		return name + "(...)", nil
	}
	if name == "set" {
		return "{" + sb.String() + "}", err
	}
	return name + "({" + sb.String() + "})", err
}
