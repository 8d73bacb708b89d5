package pyast

import (
	"fmt"
	"math/big"
	"reflect"

	"whittle/capture/python/code"
	"whittle/capture/python/syntax"
	"whittle/capture/python/vm"
)

// reader makes nodes of package syntax of objects.
type reader struct {
	*Classes
	depth int
}

// goTypes are the structs of package syntax, by the constructors of the grammar.
var goTypes = func() map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, v := range []any{syntax.Constant{}, syntax.Name{}, syntax.Attribute{}, syntax.Subscript{}, syntax.SliceExpr{}, syntax.Keyword{}, syntax.Call{}, syntax.BinOp{},
		syntax.UnaryOp{}, syntax.BoolOp{}, syntax.Compare{}, syntax.IfExp{}, syntax.Lambda{}, syntax.NamedExpr{}, syntax.Tuple{}, syntax.List{}, syntax.Set{}, syntax.Dict{},
		syntax.Comprehension{}, syntax.ListComp{}, syntax.SetComp{}, syntax.GeneratorExp{}, syntax.DictComp{}, syntax.Starred{}, syntax.Yield{}, syntax.YieldFrom{}, syntax.Await{},
		syntax.JoinedStr{}, syntax.FormattedValue{}, syntax.Arg{}, syntax.Arguments{}, syntax.FunctionDef{}, syntax.ClassDef{}, syntax.Return{}, syntax.Delete{}, syntax.Assign{},
		syntax.AugAssign{}, syntax.AnnAssign{}, syntax.For{}, syntax.While{}, syntax.If{}, syntax.WithItem{}, syntax.With{}, syntax.Raise{}, syntax.ExceptHandler{}, syntax.Try{},
		syntax.Assert{}, syntax.Alias{}, syntax.Import{}, syntax.ImportFrom{}, syntax.Global{}, syntax.Nonlocal{}, syntax.ExprStmt{}, syntax.Pass{}, syntax.Break{}, syntax.Continue{},
		syntax.Match{}, syntax.MatchCase{}, syntax.MatchValue{}, syntax.MatchSingleton{}, syntax.MatchSequence{}, syntax.MatchMapping{}, syntax.MatchClass{}, syntax.MatchStar{},
		syntax.MatchAs{}, syntax.MatchOr{}} {
		t := reflect.TypeOf(v)
		m[t.Name()] = t
	}
	return m
}()

// compileTree compiles a tree; ok says whether the object is one.
func compileTree(in *vm.Interp, level code.Optimize, tree vm.Object, filename, mode string) (co *vm.Code, ok bool, err error) {
	r := &reader{Classes: classesOf(in)}
	if !tree.Type().IsSubtype(r.base) {
		return nil, false, nil
	}
	want := map[string]string{"exec": "Module", "eval": "Expression", "single": "Interactive"}[mode]
	if !tree.Type().IsSubtype(r.byName[want]) {
		return nil, true, in.Errorf(in.Exc.TypeError, "expected %s node, got %s", want, vm.TypeName(tree))
	}
	body, err := in.GetAttr(tree, "body")
	if err != nil {
		return nil, true, err
	}
	var stmts []syntax.Stmt
	if mode == "eval" {
		var e syntax.Expr
		if err := r.read(body, field{typ: "expr", name: "body"}, want, reflect.ValueOf(&e).Elem()); err != nil {
			return nil, true, err
		}
		s := &syntax.ExprStmt{Value: e}
		s.Span = e.Pos()
		stmts = []syntax.Stmt{s}
	} else if err := r.read(body, field{typ: "stmt", name: "body", list: true}, want, reflect.ValueOf(&stmts).Elem()); err != nil {
		return nil, true, err
	}
	if err := r.validate(body, mode); err != nil {
		return nil, true, err
	}
	c, err := level.Tree(filename, stmts, code.Mode(mode))
	if err != nil {
		return nil, true, in.SyntaxError(err)
	}
	return vm.NewCode(c), true, nil
}

// class is the constructor of the grammar that an object is an instance of, through classes that a program derives.
func (r *reader) class(o vm.Object) (string, bool) {
	for _, t := range o.Type().MRO {
		if r.byName[t.Name] == t {
			_, sum := grammarOf[t.Name]
			return t.Name, sum
		}
	}
	return "", false
}

// belongs reports whether a constructor is of a type of the grammar.
func belongs(class, typ string) bool {
	g, ok := grammarOf[class]
	return ok && (class == typ || g.base == typ && goTypeOf(class) != nil)
}

// holdsNodes reports whether a field of a type holds nodes of syntax trees.
func holdsNodes(typ string) bool {
	_, ok := grammarOf[typ]
	return ok && !isOperator(typ) && typ != "type_ignore"
}

// goTypeOf is the struct for a constructor, nil for a sum type.
func goTypeOf(class string) reflect.Type {
	if g, ok := goClasses[class]; ok {
		return goTypes[g]
	}
	return goTypes[class]
}

// read puts a field's value where it goes.
func (r *reader) read(o vm.Object, f field, class string, to reflect.Value) error {
	in := r.in
	if f.list {
		l, ok := vm.AsList(o)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "%s field \"%s\" must be a list, not a %s", class, f.name, vm.TypeName(o))
		}
		one := f
		one.list = false
		out := reflect.MakeSlice(to.Type(), len(l.Items), len(l.Items))
		for i, it := range l.Items {
			// A list may hold None where the grammar has nothing: the keys of a dict, the defaults of keyword-only parameters. Validation
			// refuses it elsewhere.
			if it == vm.None && holdsNodes(f.typ) {
				continue
			}
			if err := r.read(it, one, class, out.Index(i)); err != nil {
				return err
			}
		}
		if len(l.Items) > 0 {
			to.Set(out)
		}
		return nil
	}
	if o == vm.None && f.typ != "constant" {
		if f.opt || f.name == "keys" {
			return nil
		}
		return in.Errorf(in.Exc.ValueError, "field '%s' is required for %s", f.name, class)
	}
	switch {
	case f.typ == "expr_context":
		return nil
	case operators[f.typ] != nil:
		name, _ := r.class(o)
		spelt, ok := operators[f.typ][name]
		if !ok {
			return r.wrong(f.typ, o)
		}
		to.SetString(spelt)
		return nil
	case f.typ == "constant":
		v, err := r.constant(o)
		if err == nil && v != nil {
			to.Set(reflect.ValueOf(v))
		}
		return err
	case f.typ == "identifier" || f.typ == "string":
		s, ok := vm.AsStr(o)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "AST identifier must be of type str")
		}
		to.SetString(s)
		return nil
	case f.typ == "int":
		n, ok := vm.AsInt(o)
		if !ok {
			s, err := in.Repr(o)
			if err != nil {
				return err
			}
			return in.Errorf(in.Exc.ValueError, "invalid integer value: %s", s)
		}
		switch to.Kind() {
		case reflect.Bool:
			to.SetBool(n != 0)
		case reflect.Uint8:
			to.SetUint(uint64(max(n, 0)))
		default:
			to.SetInt(n)
		}
		return nil
	}
	return r.node(o, f, to)
}

func (r *reader) wrong(typ string, o vm.Object) error {
	s, err := r.in.Repr(o)
	if err != nil {
		return err
	}
	return r.in.Errorf(r.in.Exc.TypeError, "expected some sort of %s, but got %s", typ, s)
}

// node puts the node that an object stands for where it goes.
func (r *reader) node(o vm.Object, f field, to reflect.Value) error {
	in := r.in
	class, _ := r.class(o)
	if !belongs(class, f.typ) {
		return r.wrong(f.typ, o)
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > in.RecursionLimit {
		return in.Errorf(in.Exc.RecursionError, "maximum recursion depth exceeded during ast construction")
	}
	goType := goTypeOf(class)
	if goType == nil { // one of the abstract classes
		return r.wrong(f.typ, o)
	}
	p := reflect.New(goType)
	v := p.Elem()
	g := grammarOf[class]
	if g.attrs {
		sp, err := r.span(o, class)
		if err != nil {
			return err
		}
		v.FieldByName("Span").Set(reflect.ValueOf(sp))
	}
	for _, f := range g.fields {
		if f.name == "type_comment" || f.name == "kind" || f.typ == "expr_context" {
			continue
		}
		x, err := in.GetAttrOpt(o, f.name)
		if err != nil {
			return err
		}
		if x == nil {
			if f.opt || f.list && f.name == "type_ignores" {
				continue
			}
			return in.Errorf(in.Exc.TypeError, "required field \"%s\" missing from %s", f.name, class)
		}
		gv := v.FieldByName(goField(class, f.name))
		if !gv.IsValid() {
			return fmt.Errorf("pyast: %s has no field for %s", v.Type(), f.name)
		}
		if err := r.read(x, f, class, gv); err != nil {
			return err
		}
	}
	for name, on := range map[string]bool{"Async": class == "AsyncFunctionDef" || class == "AsyncFor" || class == "AsyncWith", "Star": class == "TryStar",
		"HasRest": class == "MatchMapping" && v.FieldByName("Rest").IsValid() && v.FieldByName("Rest").String() != ""} {
		if on {
			v.FieldByName(name).SetBool(true)
		}
	}
	if !p.Type().AssignableTo(to.Type()) {
		return r.wrong(f.typ, o)
	}
	to.Set(p)
	return nil
}

// span is a node's position. The end, which may be absent, is then where it begins.
func (r *reader) span(o vm.Object, class string) (syntax.Span, error) {
	var ns [4]int32
	for i, name := range []string{"lineno", "col_offset", "end_lineno", "end_col_offset"} {
		v, err := r.in.GetAttrOpt(o, name)
		if err != nil {
			return syntax.Span{}, err
		}
		if v == nil || v == vm.None && i >= 2 {
			if i < 2 {
				return syntax.Span{}, r.in.Errorf(r.in.Exc.TypeError, "required field \"%s\" missing from %s", name, sumOf(class))
			}
			ns[i] = ns[i-2]
			continue
		}
		n, ok := vm.AsInt(v)
		if !ok {
			s, err := r.in.Repr(v)
			if err != nil {
				return syntax.Span{}, err
			}
			return syntax.Span{}, r.in.Errorf(r.in.Exc.ValueError, "invalid integer value: %s", s)
		}
		ns[i] = int32(n)
	}
	return syntax.Span{Line: ns[0], Col: ns[1], EndLine: ns[2], EndCol: ns[3]}, nil
}

// sumOf is the type that errors about positions name.
func sumOf(class string) string {
	if g := grammarOf[class]; g.base != "AST" {
		return g.base
	}
	return class
}

// constant is a constant's value for the compiler: as a literal has it, or a tuple or a frozenset of such.
func (r *reader) constant(o vm.Object) (any, error) {
	k, other, err := r.constantOf(o)
	switch {
	case err != nil:
		return nil, err
	case other != nil:
		return nil, r.in.Errorf(r.in.Exc.TypeError, "got an invalid type in Constant: %s", vm.TypeName(other))
	}
	switch x := k.(type) {
	case code.Bytes:
		return syntax.Bytes(x), nil
	case code.Ellipsis:
		return syntax.EllipsisValue{}, nil
	}
	return k, nil
}

// constantOf is an object as a constant of code; other is the object that cannot be one, that itself or an item.
func (r *reader) constantOf(o vm.Object) (k any, other vm.Object, err error) {
	switch x := o.(type) {
	case *vm.NoneType:
		return nil, nil, nil
	case vm.Bool:
		return bool(x), nil, nil
	case vm.Float:
		return float64(x), nil, nil
	case vm.Complex:
		return complex128(x), nil, nil
	case vm.Str:
		return string(x), nil, nil
	case vm.Bytes:
		return code.Bytes(x), nil, nil
	case *vm.EllipsisType:
		return code.Ellipsis{}, nil, nil
	case vm.Int:
		return int64(x), nil, nil
	case *vm.Tuple, *vm.FrozenSet:
		items, err := r.in.IterAll(o)
		if err != nil {
			return nil, nil, err
		}
		all := code.Tuple{}
		for _, it := range items {
			k, other, err := r.constantOf(it)
			if err != nil || other != nil {
				return nil, other, err
			}
			all = append(all, k)
		}
		if _, ok := o.(*vm.Tuple); ok {
			return all, nil, nil
		}
		return code.FrozenSet(all), nil, nil
	}
	if b, ok := vm.AsBig(o); ok && o.Type() == vm.IntType {
		return new(big.Int).Set(b), nil, nil
	}
	return nil, o, nil
}
