package pyast

import (
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
)

// Classes are the classes of an interpreter.
type Classes struct {
	in     *vm.Interp
	byName map[string]*vm.Type
	single map[string]vm.Object // the instances of operators and contexts, which are made once
	base   *vm.Type
}

type classesKey struct{}

// classesOf are the classes of in, which are made when they are first asked for.
func classesOf(in *vm.Interp) *Classes {
	if c, ok := in.Ext[classesKey{}].(*Classes); ok {
		return c
	}
	c := &Classes{in: in, byName: map[string]*vm.Type{}, single: map[string]vm.Object{}}
	in.Ext[classesKey{}] = c
	c.base = in.NewNativeType(vm.Spec{Name: "AST", Module: "ast", New: func(_ *vm.Interp, t *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.NewInstance(t, nil), nil // what it is called with is for __init__
	}, Methods: map[string]vm.GoFunc{"__init__": c.init, "__reduce__": c.reduce},
		Attrs: map[string]vm.Object{"_fields": vm.NewTuple(), "_attributes": vm.NewTuple(), "__match_args__": vm.NewTuple()}})
	c.byName["AST"] = c.base
	position := strs("lineno", "col_offset", "end_lineno", "end_col_offset")
	for _, n := range nodes {
		attrs := map[string]vm.Object{"__doc__": vm.Str(n.doc)}
		var names []vm.Object
		for _, f := range n.fields {
			names = append(names, vm.Str(f.name))
			if f.opt {
				attrs[f.name] = vm.None
			}
		}
		attrs["_fields"] = vm.NewTuple(names...)
		attrs["__match_args__"] = attrs["_fields"]
		attrs["_attributes"] = vm.NewTuple()
		if n.attrs {
			attrs["_attributes"] = position
			if n.base == "AST" {
				attrs["end_lineno"], attrs["end_col_offset"] = vm.None, vm.None
			}
		}
		c.byName[n.name] = in.NewNativeType(vm.Spec{Name: n.name, Module: "ast", Bases: []*vm.Type{c.byName[n.base]}, Attrs: attrs})
	}
	return c
}

func strs(ss ...string) *vm.Tuple {
	out := make([]vm.Object, len(ss))
	for i, s := range ss {
		out[i] = vm.Str(s)
	}
	return vm.NewTuple(out...)
}

// init is AST.__init__: the fields by position, and anything by name.
func (c *Classes) init(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	self, rest := args[0], args[1:]
	names, err := in.GetAttr(self.Type(), "_fields")
	if err != nil {
		return nil, err
	}
	fields, err := in.IterAll(names)
	if err != nil {
		return nil, err
	}
	class := self.Type().Name
	if len(rest) > len(fields) {
		plural := "s"
		if len(fields) == 1 {
			plural = ""
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s constructor takes at most %d positional argument%s", class, len(fields), plural)
	}
	given := map[string]bool{}
	for i, v := range rest {
		name, _ := vm.AsStr(fields[i])
		given[name] = true
		if err := in.SetAttr(self, name, v); err != nil {
			return nil, err
		}
	}
	for _, k := range kw {
		if given[k.Name] {
			return nil, in.Errorf(in.Exc.TypeError, "%s got multiple values for argument '%s'", class, k.Name)
		}
		if err := in.SetAttr(self, k.Name, k.Value); err != nil {
			return nil, err
		}
	}
	return vm.None, nil
}

// reduce is AST.__reduce__: the class, and the attributes.
func (c *Classes) reduce(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	d, err := in.GetAttr(args[0], "__dict__")
	if err != nil {
		return nil, err
	}
	return vm.NewTuple(args[0].Type(), vm.NewTuple(), d), nil
}

// Module makes module _ast.
func Module(in *vm.Interp) (*vm.Module, error) {
	c := classesOf(in)
	hook(in)
	m := in.NewModule("_ast", "")
	for n, t := range c.byName {
		m.Set(n, t)
	}
	m.Set("PyCF_ONLY_AST", vm.Int(onlyAST))
	m.Set("PyCF_TYPE_COMMENTS", vm.Int(typeComments))
	m.Set("PyCF_ALLOW_TOP_LEVEL_AWAIT", vm.Int(topLevelAwait))
	return m, nil
}

// The flags of compile that are about trees.
const (
	onlyAST       = 0x400
	typeComments  = 0x1000
	topLevelAwait = 0x2000
)

// hook connects the trees to compile, exec and eval of an interpreter.
func hook(in *vm.Interp) {
	in.ParseTree = func(filename, src, mode string) (vm.Object, error) { return Parse(in, filename, src, mode) }
	in.CompileTree = func(level code.Optimize, tree vm.Object, filename, mode string) (*vm.Code, bool, error) {
		return compileTree(in, level, tree, filename, mode)
	}
}

// singleton is the one instance of an operator or a context.
func (c *Classes) singleton(class string) vm.Object {
	o, ok := c.single[class]
	if !ok {
		o = vm.NewInstance(c.byName[class], nil)
		c.single[class] = o
	}
	return o
}

// isOperator reports whether a type of the grammar is one of operators or contexts.
func isOperator(typ string) bool { return operators[typ] != nil || typ == "expr_context" }

// className is the constructor of the grammar that a Go type of package syntax stands for.
func className(goName string, async, star bool) string {
	switch {
	case async && (goName == "FunctionDef" || goName == "For" || goName == "With"):
		return "Async" + goName
	case star:
		return "TryStar"
	}
	for class, g := range goClasses {
		if g == goName && !strings.HasPrefix(class, "Async") && class != "TryStar" {
			return class
		}
	}
	return goName
}
