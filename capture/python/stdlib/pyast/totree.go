package pyast

import (
	"fmt"
	"reflect"
	"strings"

	"whittle/capture/python/syntax"
	"whittle/capture/python/vm"
)

// maker makes the objects of one tree.
type maker struct {
	*Classes
	lines []string // of the source, for the prefix of strings
	depth int
}

// deepest is how many times sys.getrecursionlimit() a tree may be deep, as CPython has it.
const deepest = 3

// Parse parses a text: mode is exec, eval or single.
func Parse(in *vm.Interp, filename, src, mode string) (vm.Object, error) {
	m := &maker{Classes: classesOf(in), lines: strings.Split(src, "\n")}
	list := func(body []syntax.Stmt) (vm.Object, error) {
		return m.value(reflect.ValueOf(body), field{typ: "stmt", list: true}, "Load")
	}
	if mode == "eval" {
		e, _, err := syntax.ParseExpr(filename, src, syntax.Typed{})
		if err != nil {
			return nil, in.SyntaxError(err)
		}
		body, err := m.node(reflect.ValueOf(e), "Load")
		if err != nil {
			return nil, err
		}
		return m.build("Expression", map[string]vm.Object{"body": body}, nil), nil
	}
	f, err := syntax.ParseTyped(filename, src, syntax.Typed{Single: mode == "single"})
	if err != nil {
		return nil, in.SyntaxError(err)
	}
	body, err := list(f.Body)
	if err != nil {
		return nil, err
	}
	if mode == "single" {
		return m.build("Interactive", map[string]vm.Object{"body": body}, nil), nil
	}
	return m.build("Module", map[string]vm.Object{"body": body, "type_ignores": &vm.List{}}, nil), nil
}

// build makes a node of its fields, in the order of the grammar.
func (m *maker) build(class string, fields map[string]vm.Object, at *syntax.Span) vm.Object {
	t := m.byName[class]
	o := vm.NewInstance(t, nil)
	d := o.AttrDict(true)
	for _, f := range grammarOf[class].fields {
		if v := fields[f.name]; v != nil {
			d.SetStr(f.name, v)
		}
	}
	if at != nil {
		d.SetStr("lineno", vm.MakeInt(int64(at.Line)))
		d.SetStr("col_offset", vm.MakeInt(int64(at.Col)))
		d.SetStr("end_lineno", vm.MakeInt(int64(at.EndLine)))
		d.SetStr("end_col_offset", vm.MakeInt(int64(at.EndCol)))
	}
	return o
}

// grammarOf finds a constructor by its name.
var grammarOf = func() map[string]node {
	m := map[string]node{}
	for _, n := range nodes {
		m[n.name] = n
	}
	return m
}()

// stored are the fields that are assigned to, and deleted those that are deleted: their contexts.
var stored = map[string]string{"Assign.targets": "Store", "AugAssign.target": "Store", "AnnAssign.target": "Store", "For.target": "Store", "AsyncFor.target": "Store",
	"comprehension.target": "Store", "NamedExpr.target": "Store", "withitem.optional_vars": "Store", "Delete.targets": "Del"}

// node is the object of a node of package syntax; ctx is the context that its parent puts it in.
func (m *maker) node(v reflect.Value, ctx string) (vm.Object, error) {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return vm.None, nil
		}
		v = v.Elem()
	}
	m.depth++
	defer func() { m.depth-- }()
	if m.depth > deepest*m.in.RecursionLimit {
		return nil, m.in.Errorf(m.in.Exc.RecursionError, "maximum recursion depth exceeded during ast construction")
	}
	flag := func(name string) bool {
		f := v.FieldByName(name)
		return f.IsValid() && f.Kind() == reflect.Bool && f.Bool()
	}
	class := className(v.Type().Name(), flag("Async"), flag("Star"))
	g, ok := grammarOf[class]
	if !ok {
		return nil, m.in.Errorf(m.in.Exc.SystemError, "no class for %s", v.Type().Name())
	}
	fields := map[string]vm.Object{}
	for _, f := range g.fields {
		inner := "Load"
		if c := stored[class+"."+f.name]; c != "" {
			inner = c
		} else if f.name == "elts" || class == "Starred" {
			inner = ctx
		}
		o, err := m.field(v, class, f, ctx, inner)
		if err != nil {
			return nil, err
		}
		fields[f.name] = o
	}
	var at *syntax.Span
	if g.attrs {
		sp := v.Addr().Interface().(syntax.Node).Pos()
		at = &sp
	}
	return m.build(class, fields, at), nil
}

// field is one field of a node.
func (m *maker) field(v reflect.Value, class string, f field, ctx, inner string) (vm.Object, error) {
	switch {
	case f.typ == "expr_context":
		return m.singleton(ctx), nil
	case f.name == "type_comment":
		return vm.None, nil
	case class == "Constant" && f.name == "kind":
		return m.kind(v), nil
	}
	gv := v.FieldByName(goField(class, f.name))
	if !gv.IsValid() {
		return nil, fmt.Errorf("pyast: %s has no field for %s", v.Type(), f.name)
	}
	return m.value(gv, f, inner)
}

// value is a value of a field.
func (m *maker) value(v reflect.Value, f field, ctx string) (vm.Object, error) {
	if f.list {
		l := &vm.List{}
		one := f
		one.list = false
		for i := range v.Len() {
			o, err := m.value(v.Index(i), one, ctx)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, o)
		}
		return l, nil
	}
	switch {
	case isOperator(f.typ):
		for class, spelt := range operators[f.typ] {
			if spelt == v.String() {
				return m.singleton(class), nil
			}
		}
		return nil, fmt.Errorf("pyast: unknown %s %q", f.typ, v.String())
	case f.typ == "constant":
		switch k := v.Interface().(type) {
		case syntax.Bytes:
			return vm.Bytes(k), nil
		case syntax.EllipsisValue:
			return vm.Ellipsis, nil
		default:
			return vm.ConstObject(k), nil
		}
	case f.name == "conversion":
		if v.Uint() == 0 {
			return vm.Int(-1), nil
		}
		return vm.MakeInt(int64(v.Uint())), nil
	case f.typ == "identifier" || f.typ == "string":
		if v.String() == "" && f.opt {
			return vm.None, nil
		}
		return vm.Str(v.String()), nil
	case f.typ == "int" && v.Kind() == reflect.Bool:
		if v.Bool() {
			return vm.Int(1), nil
		}
		return vm.Int(0), nil
	case f.typ == "int":
		return vm.MakeInt(v.Int()), nil
	}
	return m.node(v, ctx)
}

// kind is "u" for a string that is written with that prefix.
func (m *maker) kind(v reflect.Value) vm.Object {
	if _, ok := v.FieldByName("Value").Interface().(string); !ok {
		return vm.None
	}
	at := v.Addr().Interface().(syntax.Node).Pos()
	if n := int(at.Line) - 1; n >= 0 && n < len(m.lines) && int(at.Col)+1 < len(m.lines[n]) {
		if c := m.lines[n][at.Col]; (c == 'u' || c == 'U') && strings.ContainsRune(`"'`, rune(m.lines[n][at.Col+1])) {
			return vm.Str("u")
		}
	}
	return vm.None
}
