package pyast

import "strings"

// grammar is the abstract grammar of Python 3.11: a sum type, its constructors with their fields. A field's type ends with ? where it may be
// absent and with * where it is a list. (…) behind a sum type are attributes that all its constructors have.
const grammar = `
mod: Module(stmt* body, type_ignore* type_ignores) | Interactive(stmt* body) | Expression(expr body) | FunctionType(expr* argtypes, expr returns)
stmt @: FunctionDef(identifier name, arguments args, stmt* body, expr* decorator_list, expr? returns, string? type_comment)
 | AsyncFunctionDef(identifier name, arguments args, stmt* body, expr* decorator_list, expr? returns, string? type_comment)
 | ClassDef(identifier name, expr* bases, keyword* keywords, stmt* body, expr* decorator_list) | Return(expr? value) | Delete(expr* targets)
 | Assign(expr* targets, expr value, string? type_comment) | AugAssign(expr target, operator op, expr value)
 | AnnAssign(expr target, expr annotation, expr? value, int simple) | For(expr target, expr iter, stmt* body, stmt* orelse, string? type_comment)
 | AsyncFor(expr target, expr iter, stmt* body, stmt* orelse, string? type_comment) | While(expr test, stmt* body, stmt* orelse)
 | If(expr test, stmt* body, stmt* orelse) | With(withitem* items, stmt* body, string? type_comment) | AsyncWith(withitem* items, stmt* body, string? type_comment)
 | Match(expr subject, match_case* cases) | Raise(expr? exc, expr? cause) | Try(stmt* body, excepthandler* handlers, stmt* orelse, stmt* finalbody)
 | TryStar(stmt* body, excepthandler* handlers, stmt* orelse, stmt* finalbody) | Assert(expr test, expr? msg) | Import(alias* names)
 | ImportFrom(identifier? module, alias* names, int? level) | Global(identifier* names) | Nonlocal(identifier* names) | Expr(expr value) | Pass | Break | Continue
expr @: BoolOp(boolop op, expr* values) | NamedExpr(expr target, expr value) | BinOp(expr left, operator op, expr right) | UnaryOp(unaryop op, expr operand)
 | Lambda(arguments args, expr body) | IfExp(expr test, expr body, expr orelse) | Dict(expr* keys, expr* values) | Set(expr* elts)
 | ListComp(expr elt, comprehension* generators) | SetComp(expr elt, comprehension* generators) | DictComp(expr key, expr value, comprehension* generators)
 | GeneratorExp(expr elt, comprehension* generators) | Await(expr value) | Yield(expr? value) | YieldFrom(expr value)
 | Compare(expr left, cmpop* ops, expr* comparators) | Call(expr func, expr* args, keyword* keywords) | FormattedValue(expr value, int conversion, expr? format_spec)
 | JoinedStr(expr* values) | Constant(constant value, string? kind) | Attribute(expr value, identifier attr, expr_context ctx)
 | Subscript(expr value, expr slice, expr_context ctx) | Starred(expr value, expr_context ctx) | Name(identifier id, expr_context ctx)
 | List(expr* elts, expr_context ctx) | Tuple(expr* elts, expr_context ctx) | Slice(expr? lower, expr? upper, expr? step)
expr_context: Load | Store | Del
boolop: And | Or
operator: Add | Sub | Mult | MatMult | Div | Mod | Pow | LShift | RShift | BitOr | BitXor | BitAnd | FloorDiv
unaryop: Invert | Not | UAdd | USub
cmpop: Eq | NotEq | Lt | LtE | Gt | GtE | Is | IsNot | In | NotIn
= comprehension(expr target, expr iter, expr* ifs, int is_async)
excepthandler @: ExceptHandler(expr? type, identifier? name, stmt* body)
= arguments(arg* posonlyargs, arg* args, arg? vararg, arg* kwonlyargs, expr* kw_defaults, arg? kwarg, expr* defaults)
= arg @(identifier arg, expr? annotation, string? type_comment)
= keyword @(identifier? arg, expr value)
= alias @(identifier name, identifier? asname)
= withitem(expr context_expr, expr? optional_vars)
= match_case(pattern pattern, expr? guard, stmt* body)
pattern @: MatchValue(expr value) | MatchSingleton(constant value) | MatchSequence(pattern* patterns) | MatchMapping(expr* keys, pattern* patterns, identifier? rest)
 | MatchClass(expr cls, pattern* patterns, identifier* kwd_attrs, pattern* kwd_patterns) | MatchStar(identifier? name) | MatchAs(pattern? pattern, identifier? name)
 | MatchOr(pattern* patterns)
type_ignore: TypeIgnore(int lineno, string tag)
`

// A field of a constructor.
type field struct {
	typ  string
	name string
	opt  bool // may be absent
	list bool
}

// A node is a class of syntax trees: a sum type or a constructor.
type node struct {
	name   string
	base   string // the sum type; AST for a sum type itself and for a type of one constructor
	fields []field
	attrs  bool // has a position
	doc    string
}

// nodes are the classes of the grammar, bases first.
var nodes = readGrammar(grammar)

// readGrammar reads the grammar.
func readGrammar(text string) (out []node) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n |", " |")
	for _, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "= "); ok {
			name, _, _ := strings.Cut(rest, "(")
			attrs := strings.HasSuffix(name, " @")
			out = append(out, constructor(strings.Replace(rest, " @", "", 1), "AST", attrs))
			continue
		}
		name, rest, _ := strings.Cut(line, ": ")
		name, attrs := strings.CutSuffix(name, " @")
		out = append(out, node{name: name, base: "AST", attrs: attrs, doc: name + " = " + rest})
		if strings.Contains(rest, "(") { // a line for each constructor, unless none has fields
			out[len(out)-1].doc = name + " = " + strings.ReplaceAll(rest, " | ", "\n"+strings.Repeat(" ", len(name)+1)+"| ")
		}
		for _, c := range strings.Split(rest, " | ") {
			out = append(out, constructor(c, name, attrs))
		}
	}
	return out
}

// constructor reads NAME(TYPE FIELD, ...).
func constructor(text, base string, attrs bool) node {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "(")
	n := node{name: name, base: base, attrs: attrs, doc: strings.TrimSpace(text)}
	for _, f := range strings.Split(strings.TrimSuffix(rest, ")"), ", ") {
		typ, id, ok := strings.Cut(f, " ")
		if !ok {
			continue
		}
		fl := field{name: id}
		fl.typ, fl.opt = strings.CutSuffix(typ, "?")
		fl.typ, fl.list = strings.CutSuffix(fl.typ, "*")
		n.fields = append(n.fields, fl)
	}
	return n
}

// operators are the classes of operators and how package syntax spells them.
var operators = map[string]map[string]string{
	"boolop":   {"And": "and", "Or": "or"},
	"operator": {"Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "Mod": "%", "Pow": "**", "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "FloorDiv": "//"},
	"unaryop":  {"Invert": "~", "Not": "not", "UAdd": "+", "USub": "-"},
	"cmpop":    {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in"},
}

// goFields are the fields that package syntax calls otherwise than the grammar does.
var goFields = map[string]string{
	"decorator_list": "Decorators", "finalbody": "Final", "orelse": "Else", "context_expr": "Context", "optional_vars": "Vars",
	"posonlyargs": "PosOnly", "kwonlyargs": "KwOnly", "arg.arg": "Name", "slice": "Index", "is_async": "Async", "format_spec": "Spec", "asname": "AsName",
}

// goClasses are the constructors that package syntax calls otherwise.
var goClasses = map[string]string{"Slice": "SliceExpr", "Expr": "ExprStmt", "arguments": "Arguments", "arg": "Arg", "keyword": "Keyword", "alias": "Alias", "withitem": "WithItem",
	"match_case": "MatchCase", "comprehension": "Comprehension", "AsyncFunctionDef": "FunctionDef", "AsyncFor": "For", "AsyncWith": "With", "TryStar": "Try"}

// goField is what package syntax calls a field.
func goField(class, name string) string {
	if g, ok := goFields[class+"."+name]; ok {
		return g
	}
	if g, ok := goFields[name]; ok {
		return g
	}
	var sb strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			sb.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return sb.String()
}
