package vm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/literal"
)

func itoa(n int) string { return strconv.Itoa(n) }

// ascii is ascii(o).
func (in *Interp) ascii(o Object) (string, error) {
	s, err := in.Repr(o)
	if err != nil || isASCII(s) {
		return s, err
	}
	var sb strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			sb.WriteByte(byte(r))
		default:
			literal.Escape(&sb, r)
		}
	}
	return sb.String(), nil
}

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
		return "", in.Errorf(in.Exc.TypeError, "__repr__ returned non-string (type %s)", v.Type().Name)
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
		return "", in.Errorf(in.Exc.TypeError, "__str__ returned non-string (type %s)", v.Type().Name)
	}
	return s, nil
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
	in.printing = in.printing[:len(in.printing)-1]
	in.leave()
	return true, err
}

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

// nativeRepr prints built-in values.
func nativeRepr(in *Interp, o Object) (string, bool, error) {
	switch x := o.(type) {
	case Int:
		return strconv.FormatInt(int64(x), 10), true, nil
	case *BigInt:
		return x.V.String(), true, nil
	case Bool:
		if x {
			return "True", true, nil
		}
		return "False", true, nil
	case Float:
		return literal.Float(float64(x)), true, nil
	case Complex:
		return literal.Complex(complex128(x)), true, nil
	case Str:
		return literal.Str(string(x)), true, nil
	case Bytes:
		return literal.Bytes(string(x)), true, nil
	case *ByteArray:
		r := literal.Bytes(string(x.B))
		if r[1] == '"' { // unlike bytes, it marks single quotes even then
			r = strings.ReplaceAll(r, "'", `\'`)
		}
		return "bytearray(" + r + ")", true, nil
	case *NoneType:
		return "None", true, nil
	case *EllipsisType:
		return "Ellipsis", true, nil
	case *NotImplementedType:
		return "NotImplemented", true, nil
	case *List:
		var sb strings.Builder
		sb.WriteByte('[')
		ok, err := in.ReprGuard(x, func() error { return reprItems(in, &sb, x.Items) })
		if !ok {
			return "[...]", true, nil
		}
		sb.WriteByte(']')
		return sb.String(), true, err
	case *Tuple:
		var sb strings.Builder
		sb.WriteByte('(')
		ok, err := in.ReprGuard(x, func() error { return reprItems(in, &sb, x.Items) })
		if !ok {
			return "(...)", true, nil
		}
		if len(x.Items) == 1 {
			sb.WriteByte(',')
		}
		sb.WriteByte(')')
		return sb.String(), true, err
	case *Dict:
		var sb strings.Builder
		sb.WriteByte('{')
		first := true
		ok, err := in.ReprGuard(x, func() error {
			for i := 0; ; {
				j, k, v, ok := x.next(i)
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
		})
		if !ok {
			return "{...}", true, nil
		}
		sb.WriteByte('}')
		return sb.String(), true, err
	case *Set:
		s, err := setRepr(in, x, x.Items(), "set")
		return s, true, err
	case *FrozenSet:
		s, err := setRepr(in, x, x.Items(), "frozenset")
		return s, true, err
	case *Range:
		if x.Step == 1 {
			return fmt.Sprintf("range(%d, %d)", x.Start, x.Stop), true, nil
		}
		return fmt.Sprintf("range(%d, %d, %d)", x.Start, x.Stop, x.Step), true, nil
	case *longRange:
		return x.String(), true, nil
	case *Slice:
		var sb strings.Builder
		sb.WriteString("slice(")
		err := reprItems(in, &sb, []Object{x.Start, x.Stop, x.Step})
		sb.WriteByte(')')
		return sb.String(), true, err
	case *Module:
		name := x.Name
		if v, ok := x.Dict.GetStr("__name__"); ok {
			name, _ = AsStr(v)
		}
		if f, ok := x.Dict.GetStr("__file__"); ok {
			s, _ := in.Repr(f)
			return "<module '" + name + "' from " + s + ">", true, nil
		}
		return "<module '" + name + "' (built-in)>", true, nil
	case *MappingProxy:
		s, err := in.Repr(x.M)
		return "mappingproxy(" + s + ")", true, err
	case *Generator:
		return "<generator object " + x.Qualname + " at " + in.addr(x) + ">", true, nil
	case *Cell:
		if x.V == nil {
			return "<cell at " + in.addr(x) + ": empty>", true, nil
		}
		return "<cell at " + in.addr(x) + ": " + x.V.Type().Name + " object at " + in.addr(x.V) + ">", true, nil
	case *Frame:
		return fmt.Sprintf("<frame at %s, file %s, line %d, code %s>", in.addr(x), literal.Str(x.Code.Filename), x.Line(), x.Code.Name), true, nil
	case *GetSet:
		return "<attribute '" + x.Name + "' of '" + x.own.Name + "' objects>", true, nil
	case *Member:
		return "<member '" + x.Name + "' of '" + x.Own.Name + "' objects>", true, nil
	case *GenericAlias:
		var parts []string
		for _, a := range x.Args.Items {
			parts = append(parts, typeRepr(in, a))
		}
		if len(parts) == 0 {
			parts = []string{"()"}
		}
		return typeRepr(in, x.Origin) + "[" + strings.Join(parts, ", ") + "]", true, nil
	case *UnionType:
		var parts []string
		for _, a := range x.Args.Items {
			if a == NoneTypeType {
				parts = append(parts, "None")
				continue
			}
			parts = append(parts, typeRepr(in, a))
		}
		return strings.Join(parts, " | "), true, nil
	case *Super:
		if x.SelfCls != nil {
			return "<super: <class '" + x.Start.Name + "'>, <" + x.SelfCls.Name + " object>>", true, nil
		}
		return "<super: <class '" + x.Start.Name + "'>, NULL>", true, nil
	case *Instance:
		if v, ok := x.Native.(Object); ok {
			switch s := v.(type) {
			case *Set:
				r, err := setRepr(in, x, s.Items(), x.Class.Name)
				return r, true, err
			case *FrozenSet:
				r, err := setRepr(in, x, s.Items(), x.Class.Name)
				return r, true, err
			}
			return nativeRepr(in, v)
		}
	}
	return "", false, nil
}

// typeRepr prints a type the way generic aliases do: by its bare name.
func typeRepr(in *Interp, o Object) string {
	if t, ok := o.(*Type); ok {
		return t.FullName()
	}
	if o == Ellipsis {
		return "..."
	}
	s, _ := in.Repr(o)
	return s
}

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
