package pyast

import (
	"fmt"
	"slices"

	"whittle/capture/python/vm"
)

// validator refuses trees that the types of the grammar allow and the language does not, as CPython's Python/ast.c does: what follows the
// conversion of a tree that a program made. All fields are there by then, and of the right types.
type validator struct {
	*reader
}

// nonEmpty are the lists that may not be empty, by constructor, in the order in which they are looked at.
var nonEmpty = map[string][]string{"Delete": {"targets"}, "Assign": {"targets"}, "With": {"items", "body"}, "AsyncWith": {"items", "body"}, "Import": {"names"}, "ImportFrom": {"names"},
	"Global": {"names"}, "Nonlocal": {"names"}, "FunctionDef": {"body"}, "AsyncFunctionDef": {"body"}, "ClassDef": {"body"}, "For": {"body"}, "AsyncFor": {"body"}, "While": {"body"},
	"If": {"body"}, "Try": {"body"}, "TryStar": {"body"}, "ExceptHandler": {"body"}, "Match": {"cases"}, "match_case": {"body"}}

// order says which fields of a constructor are looked at first, and how many of them before the rules of the constructor itself.
var order = map[string]struct {
	fields []string
	before int
}{
	"arguments": {[]string{"posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"}, 5},
	"ListComp":  {[]string{"generators"}, 0}, "SetComp": {[]string{"generators"}, 0}, "GeneratorExp": {[]string{"generators"}, 0}, "DictComp": {[]string{"generators"}, 0},
}

// listNames are what errors call the lists of a type.
var listNames = map[string]string{"expr": "expression", "stmt": "statement"}

func (v validator) refuse(format string, args ...any) error {
	return v.in.Errorf(v.in.Exc.ValueError, format, args...)
}

// get is a field's value; a list's items.
func (v validator) get(o vm.Object, name string) (vm.Object, error) { return v.in.GetAttr(o, name) }

func (v validator) items(o vm.Object, name string) ([]vm.Object, error) {
	x, err := v.get(o, name)
	if err != nil {
		return nil, err
	}
	l, ok := vm.AsList(x)
	if !ok {
		return nil, nil
	}
	return l.Items, nil
}

// all validates the items of a list of some type.
func (v validator) all(items []vm.Object, typ, ctx string, noneAllowed bool) error {
	for _, it := range items {
		if it == vm.None {
			if noneAllowed {
				continue
			}
			return v.refuse("None disallowed in %s list", listNames[typ])
		}
		if err := v.node(it, typ, ctx); err != nil {
			return err
		}
	}
	return nil
}

// node validates a node and what is below it. ctx is the context that an expression has to have.
func (v validator) node(o vm.Object, typ, ctx string) error {
	class, _ := v.class(o)
	if typ == "pattern" {
		return v.pattern(o, class, false)
	}
	g := grammarOf[class]
	if g.attrs {
		if err := v.position(o); err != nil {
			return err
		}
	}
	if g.base == "expr" {
		if err := v.context(o, g, ctx); err != nil {
			return err
		}
	}
	for _, name := range nonEmpty[class] {
		items, err := v.items(o, name)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return v.refuse("empty %s on %s", name, class)
		}
	}
	fields := slices.Clone(g.fields)
	first := order[class]
	slices.SortStableFunc(fields, func(a, b field) int {
		rank := func(f field) int {
			if i := slices.Index(first.fields, f.name); i >= 0 {
				return i
			}
			return len(first.fields)
		}
		return rank(a) - rank(b)
	})
	for i, f := range fields {
		if i == first.before {
			if err := v.special(o, class); err != nil {
				return err
			}
		}
		if err := v.field(o, class, f, ctx); err != nil {
			return err
		}
	}
	return nil
}

// field validates what a field holds.
func (v validator) field(o vm.Object, class string, f field, ctx string) error {
	if !holdsNodes(f.typ) {
		return nil
	}
	x, err := v.get(o, f.name)
	if err != nil {
		return err
	}
	inner := stored[class+"."+f.name]
	switch {
	case inner != "":
	case class == "Starred" || f.name == "elts" && class != "Set":
		inner = ctx
	default:
		inner = "Load"
	}
	if l, ok := vm.AsList(x); ok && f.list {
		return v.all(l.Items, f.typ, inner, f.name == "kw_defaults" || class == "Dict" && f.name == "keys")
	}
	if f.list || x == vm.None {
		return nil
	}
	return v.node(x, f.typ, inner)
}

// position refuses an end that comes before the beginning.
func (v validator) position(o vm.Object) error {
	class, _ := v.class(o)
	sp, err := v.span(o, class)
	if err != nil {
		return err
	}
	switch {
	case sp.Line > sp.EndLine:
		return v.refuse("AST node line range (%d, %d) is not valid", sp.Line, sp.EndLine)
	case sp.Line < 0 && sp.EndLine != sp.Line || sp.Col < 0 && sp.Col != sp.EndCol:
		return v.refuse("AST node column range (%d, %d) for line range (%d, %d) is not valid", sp.Col, sp.EndCol, sp.Line, sp.EndLine)
	case sp.Line == sp.EndLine && sp.Col > sp.EndCol:
		return v.refuse("line %d, column %d-%d is not a valid range", sp.Line, sp.Col, sp.EndCol)
	}
	return nil
}

// context refuses an expression whose context is another than where it stands.
func (v validator) context(o vm.Object, g node, want string) error {
	for _, f := range g.fields {
		if f.typ != "expr_context" {
			continue
		}
		x, err := v.get(o, f.name)
		if err != nil {
			return err
		}
		if has, _ := v.class(x); has != want {
			return v.refuse("expression must have %s context but has %s instead", want, has)
		}
		return nil
	}
	if want != "Load" {
		return v.refuse("expression which can't be assigned to in %s context", want)
	}
	return nil
}

// special are the rules of single constructors.
func (v validator) special(o vm.Object, class string) error {
	lens := func(names ...string) (out []int, err error) {
		for _, name := range names {
			items, err := v.items(o, name)
			if err != nil {
				return nil, err
			}
			out = append(out, len(items))
		}
		return out, nil
	}
	absent := func(name string) (bool, error) {
		x, err := v.get(o, name)
		return x == nil || x == vm.None, err
	}
	switch class {
	case "BoolOp":
		n, err := lens("values")
		if err == nil && n[0] < 2 {
			err = v.refuse("BoolOp with less than 2 values")
		}
		return err
	case "Compare":
		n, err := lens("comparators", "ops")
		switch {
		case err != nil:
			return err
		case n[0] == 0:
			return v.refuse("Compare has no comparators")
		case n[0] != n[1]:
			return v.refuse("Compare has a different number of comparators and operands")
		}
	case "Dict":
		n, err := lens("keys", "values")
		if err == nil && n[0] != n[1] {
			err = v.refuse("Dict doesn't have the same number of keys as values")
		}
		return err
	case "ListComp", "SetComp", "DictComp", "GeneratorExp":
		n, err := lens("generators")
		if err == nil && n[0] == 0 {
			err = v.refuse("comprehension with no generators")
		}
		return err
	case "Name":
		x, err := v.get(o, "id")
		if err != nil {
			return err
		}
		return v.identifier(x)
	case "arguments":
		n, err := lens("defaults", "args", "posonlyargs", "kw_defaults", "kwonlyargs")
		switch {
		case err != nil:
			return err
		case n[0] > n[1]+n[2]:
			return v.refuse("more positional defaults than args on arguments")
		case n[3] != n[4]:
			return v.refuse("length of kwonlyargs is not the same as kw_defaults on arguments")
		}
	case "Raise":
		noExc, err := absent("exc")
		if err != nil {
			return err
		}
		noCause, err := absent("cause")
		if err == nil && noExc && !noCause {
			err = v.refuse("Raise with cause but no exception")
		}
		return err
	case "Try", "TryStar":
		n, err := lens("handlers", "finalbody", "orelse")
		switch {
		case err != nil:
			return err
		case n[0] == 0 && n[1] == 0:
			return v.refuse("%s has neither except handlers nor finalbody", class)
		case n[0] == 0 && n[2] > 0:
			return v.refuse("%s has orelse but no except handlers", class)
		}
	case "ImportFrom":
		x, err := v.get(o, "level")
		if n, ok := vm.AsInt(x); err == nil && ok && n < 0 {
			err = v.refuse("Negative ImportFrom level")
		}
		return err
	case "AnnAssign":
		simple, err := v.get(o, "simple")
		if err != nil {
			return err
		}
		target, err := v.get(o, "target")
		if err != nil {
			return err
		}
		if n, _ := vm.AsInt(simple); n != 0 {
			if c, _ := v.class(target); c != "Name" {
				return v.in.Errorf(v.in.Exc.TypeError, "AnnAssign with simple non-Name target")
			}
		}
	}
	return nil
}

// identifier refuses a name that is a constant.
func (v validator) identifier(o vm.Object) error {
	if s, _ := vm.AsStr(o); s == "None" || s == "True" || s == "False" {
		return v.refuse("identifier field can't represent '%s' constant", s)
	}
	return nil
}

// capture refuses a name that a pattern cannot bind.
func (v validator) capture(o vm.Object) error {
	if s, _ := vm.AsStr(o); s == "_" {
		return v.refuse("can't capture name '_' in patterns")
	}
	return v.identifier(o)
}

// patterns validates the patterns in a list.
func (v validator) patterns(items []vm.Object, star bool) error {
	for _, it := range items {
		if it == vm.None {
			return v.refuse("None disallowed in pattern list")
		}
		class, _ := v.class(it)
		if err := v.pattern(it, class, star); err != nil {
			return err
		}
	}
	return nil
}

// pattern validates a pattern; star says whether it may be starred.
func (v validator) pattern(o vm.Object, class string, star bool) error {
	if err := v.position(o); err != nil {
		return err
	}
	got := map[string]vm.Object{}
	lists := map[string][]vm.Object{}
	for _, f := range grammarOf[class].fields {
		x, err := v.get(o, f.name)
		if err != nil {
			return err
		}
		got[f.name] = x
		if l, ok := vm.AsList(x); ok && f.list {
			lists[f.name] = l.Items
		}
	}
	name, named := got["name"], got["name"] != nil && got["name"] != vm.None
	switch class {
	case "MatchValue":
		return v.literal(got["value"])
	case "MatchSingleton":
		if _, ok := got["value"].(vm.Bool); !ok && got["value"] != vm.None {
			return v.refuse("MatchSingleton can only contain True, False and None")
		}
	case "MatchSequence":
		return v.patterns(lists["patterns"], true)
	case "MatchMapping":
		if len(lists["keys"]) != len(lists["patterns"]) {
			return v.refuse("MatchMapping doesn't have the same number of keys as patterns")
		}
		if got["rest"] != vm.None {
			if err := v.capture(got["rest"]); err != nil {
				return err
			}
		}
		for _, k := range lists["keys"] {
			if c, _ := v.class(k); c == "Constant" {
				x, err := v.get(k, "value")
				if err != nil {
					return err
				}
				if _, ok := x.(vm.Bool); ok || x == vm.None {
					continue
				}
			}
			if err := v.literal(k); err != nil {
				return err
			}
		}
		return v.patterns(lists["patterns"], false)
	case "MatchClass":
		return v.classPattern(got["cls"], lists)
	case "MatchStar":
		if !star {
			return v.refuse("can't use MatchStar here")
		}
		if named {
			return v.capture(name)
		}
	case "MatchAs":
		if named {
			if err := v.capture(name); err != nil {
				return err
			}
		}
		p := got["pattern"]
		switch {
		case p == vm.None:
		case !named:
			return v.refuse("MatchAs must specify a target name if a pattern is given")
		default:
			return v.patterns([]vm.Object{p}, false)
		}
	case "MatchOr":
		if len(lists["patterns"]) < 2 {
			return v.refuse("MatchOr requires at least 2 patterns")
		}
		return v.patterns(lists["patterns"], false)
	}
	return nil
}

// classPattern validates the parts of MatchClass.
func (v validator) classPattern(cls vm.Object, lists map[string][]vm.Object) error {
	if len(lists["kwd_attrs"]) != len(lists["kwd_patterns"]) {
		return v.refuse("MatchClass doesn't have the same number of keyword attributes as patterns")
	}
	if err := v.node(cls, "expr", "Load"); err != nil {
		return err
	}
	for {
		class, _ := v.class(cls)
		if class == "Name" {
			break
		}
		if class != "Attribute" {
			return v.refuse("MatchClass cls field can only contain Name or Attribute nodes.")
		}
		var err error
		if cls, err = v.get(cls, "value"); err != nil {
			return err
		}
	}
	for _, name := range lists["kwd_attrs"] {
		if err := v.identifier(name); err != nil {
			return err
		}
	}
	if err := v.patterns(lists["patterns"], false); err != nil {
		return err
	}
	return v.patterns(lists["kwd_patterns"], false)
}

// literal validates what a pattern compares with: a number, also a negative or a complex one, a string, bytes, an attribute.
func (v validator) literal(o vm.Object) error {
	if err := v.node(o, "expr", "Load"); err != nil {
		return err
	}
	class, _ := v.class(o)
	switch class {
	case "Attribute", "JoinedStr": // the compiler refuses the latter
		return nil
	case "Constant":
		x, err := v.get(o, "value")
		if err != nil {
			return err
		}
		if kind(x) == "" {
			return v.refuse("unexpected constant inside of a literal pattern")
		}
		return nil
	case "UnaryOp":
		if ok, err := v.number(o, true, true); ok || err != nil {
			return err
		}
	case "BinOp":
		op, err := v.operator(o)
		if err != nil {
			return err
		}
		left, err := v.get(o, "left")
		if err != nil {
			return err
		}
		right, err := v.get(o, "right")
		if err != nil {
			return err
		}
		real, err := v.number(left, true, false)
		if err != nil {
			return err
		}
		x, _ := v.in.GetAttrOpt(right, "value")
		if rc, _ := v.class(right); (op == "Add" || op == "Sub") && real && rc == "Constant" && kind(x) == "complex" {
			return nil
		}
	}
	return v.refuse("patterns may only match literals and attribute lookups")
}

// operator is the class of an expression's operator.
func (v validator) operator(o vm.Object) (string, error) {
	x, err := v.get(o, "op")
	if err != nil {
		return "", err
	}
	class, _ := v.class(x)
	return class, nil
}

// number reports whether an expression is a literal number, or the negative of one.
func (v validator) number(o vm.Object, real, imaginary bool) (bool, error) {
	class, _ := v.class(o)
	if class == "UnaryOp" {
		op, err := v.operator(o)
		if err != nil || op != "USub" {
			return false, err
		}
		if o, err = v.get(o, "operand"); err != nil {
			return false, err
		}
		if class, _ = v.class(o); class != "Constant" {
			return false, nil
		}
	}
	if class != "Constant" {
		return false, nil
	}
	x, err := v.get(o, "value")
	k := kind(x)
	return real && k == "real" || imaginary && k == "complex", err
}

// kind sorts the constants that patterns may compare with: real, complex, text; empty for others.
func kind(o vm.Object) string {
	switch o.(type) {
	case vm.Bool:
		return ""
	case vm.Float:
		return "real"
	case vm.Complex:
		return "complex"
	case vm.Str, vm.Bytes:
		return "text"
	}
	if o != nil && o.Type() == vm.IntType {
		return "real"
	}
	return ""
}

// validate refuses the tree of a module, an expression or what is typed at a prompt.
func (r *reader) validate(body vm.Object, mode string) error {
	v := validator{r}
	if mode == "eval" {
		return v.node(body, "expr", "Load")
	}
	l, ok := vm.AsList(body)
	if !ok {
		return fmt.Errorf("pyast: a body of %s", vm.TypeName(body))
	}
	return v.all(l.Items, "stmt", "", false)
}
