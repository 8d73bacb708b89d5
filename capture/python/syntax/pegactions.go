package syntax

import "strings"

// What the grammar leaves to Go.

// pegKinds says what error texts call an expression.
var pegKinds = map[string]string{
	"Name": "name", "True": "True", "False": "False", "None": "None", "Ellipsis": "ellipsis", "Literal": "literal", "FString": "f-string expression",
	"Attribute": "attribute", "Subscript": "subscript", "Starred": "starred", "List": "list", "Tuple": "tuple", "Set": "set display", "Dict": "dict literal",
	"Lambda": "lambda", "Call": "function call", "BoolOp": "expression", "BinOp": "expression", "UnaryOp": "expression", "Compare": "comparison",
	"IfExp": "conditional expression", "NamedExpr": "named expression", "GeneratorExp": "generator expression", "ListComp": "list comprehension",
	"SetComp": "set comprehension", "DictComp": "dict comprehension", "Yield": "yield expression", "Await": "await expression",
}

func (r *peg) kindOf(n *pnode) string { return pegKinds[n.kind] }

var pegChecks = map[string]func(*peg, map[string]*pnode) bool{
	// Statements of Python 2.
	"legacy": func(r *peg, c map[string]*pnode) bool { return r.legacy(c["a"]) },
}

func (r *peg) legacy(n *pnode) bool {
	t := r.toks[n.first].text
	return n.first == n.last && (t == "print" || t == "exec")
}

// pegActions decide what the grammar cannot: they give a node, an error, or neither, which fails the rule.
var pegActions map[string]func(*peg, []*pnode) (*pnode, *Error)

func init() {
	pegActions = map[string]func(*peg, []*pnode) (*pnode, *Error){
		"comma":          missingComma,
		"star_target":    badTarget("cannot assign to %s", "star"),
		"for_target":     badTarget("cannot assign to %s", "for"),
		"del_target":     badTarget("cannot delete %s", "del"),
		"genexp":         nakedGenexp,
		"genexp_in_call": nakedGenexpInCall,
		"positional":     latePositional,
		"comp_target":    nakedCompTarget,
		"dict_colon":     missingDictColon,
		"real":           wantedNumber(false, "real number required in complex literal"),
		"imaginary":      wantedNumber(true, "imaginary number required in complex literal"),
		"strings":        readStrings,
	}
}

// between raises an error from the start of one node to the end of another.
func (r *peg) between(a, b *pnode, format string, args ...any) *Error {
	s, e := r.span(a), r.span(b)
	return r.raise("SyntaxError", Span{s.Line, s.Col, e.EndLine, e.EndCol}, format, args...)
}

// missingComma is for two expressions side by side in brackets.
func missingComma(r *peg, n []*pnode) (*pnode, *Error) {
	if r.legacy(n[0]) || r.toks[r.pos-1].level == 0 {
		return nil, nil
	}
	return nil, r.between(n[0], n[1], "invalid syntax. Perhaps you forgot a comma?")
}

// badTarget finds the part of an expression that cannot be assigned to or deleted.
func badTarget(format, how string) func(*peg, []*pnode) (*pnode, *Error) {
	return func(r *peg, n []*pnode) (*pnode, *Error) {
		if bad := r.invalidTarget(n[0], how); bad != nil {
			return nil, r.between(bad, bad, format, r.kindOf(bad))
		}
		return nil, nil
	}
}

// invalidTarget finds the part of n that cannot be a target; nil if it can be one.
func (r *peg) invalidTarget(n *pnode, how string) *pnode {
	switch n.kind {
	case "Name", "Attribute", "Subscript":
		return nil
	case "List", "Tuple":
		for _, k := range parts(n) {
			if bad := r.invalidTarget(k, how); bad != nil {
				return bad
			}
		}
		return nil
	case "Starred":
		if how == "del" {
			return n
		}
		return r.invalidTarget(n.kids[len(n.kids)-1], how)
	case "Compare":
		if how != "for" {
			return n
		}
		// `for a() in x` is a comparison to the rule.
		if r.toks[n.kids[1].first].text == "in" {
			return r.invalidTarget(n.kids[0], how)
		}
		return nil
	}
	return n
}

// parts are the expressions of a list or tuple, without its commas and brackets.
func parts(n *pnode) (out []*pnode) {
	for _, k := range n.kids {
		switch {
		case k.kind != "":
			out = append(out, k)
		case len(k.kids) > 0:
			out = append(out, parts(k)...)
		}
	}
	return out
}

const wantBrackets = "Generator expression must be parenthesized"

// clauseEnd is the last condition of the last for clause, or what it walks over.
func clauseEnd(n *pnode) *pnode {
	clauses := parts(n)
	all := parts(clauses[len(clauses)-1])
	return all[len(all)-1]
}

// nakedGenexp is for `f(x for x in y, ...)` and for one behind other arguments.
func nakedGenexp(r *peg, n []*pnode) (*pnode, *Error) {
	return nil, r.between(n[0], clauseEnd(n[1]), wantBrackets)
}

// nakedGenexpInCall is for `f(1, x for x in y)`; a generator that is the only argument needs no brackets of its own.
func nakedGenexpInCall(r *peg, n []*pnode) (*pnode, *Error) {
	args := parts(n[0])
	positional := 0
	for _, a := range args {
		if a.kind != "Keyword" && a.kind != "Unpack" {
			positional++
		}
	}
	if positional <= 1 {
		return nil, nil
	}
	return nil, r.between(args[positional-1], clauseEnd(n[1]), wantBrackets)
}

// latePositional is for a positional argument behind a keyword.
func latePositional(r *peg, n []*pnode) (*pnode, *Error) {
	for _, a := range parts(n[0]) {
		if a.kind == "Unpack" {
			return nil, r.raiseLast("SyntaxError", "positional argument follows keyword argument unpacking")
		}
	}
	return nil, r.raiseLast("SyntaxError", "positional argument follows keyword argument")
}

// nakedCompTarget is for `[x, y for x, y in z]`.
func nakedCompTarget(r *peg, n []*pnode) (*pnode, *Error) {
	all := parts(n[1])
	if n[1].kind != "" {
		all = []*pnode{n[1]}
	}
	return nil, r.between(n[0], all[len(all)-1], "did you forget parentheses around the comprehension target?")
}

// missingDictColon points at the last character of a key.
func missingDictColon(r *peg, n []*pnode) (*pnode, *Error) {
	sp := r.span(n[0])
	e := r.raise("SyntaxError", Span{sp.Line, sp.EndCol - 1, sp.EndLine, -1}, "':' expected after dictionary key")
	return nil, e
}

// wantedNumber is for a complex literal in a pattern whose parts are not of the kinds that their places want.
func wantedNumber(imaginary bool, text string) func(*peg, []*pnode) (*pnode, *Error) {
	return func(r *peg, n []*pnode) (*pnode, *Error) {
		if t := r.toks[n[0].first].text; strings.HasSuffix(strings.ToLower(t), "j") != imaginary && !isHexNumber(t) || imaginary && isHexNumber(t) {
			return nil, r.between(n[0], n[0], "%s", text)
		}
		return n[0], nil
	}
}

func isHexNumber(t string) bool { return strings.HasPrefix(strings.ToLower(t), "0x") }

// readStrings reads strings side by side; the mistakes in them have no place of their own, but f-strings name theirs.
func readStrings(r *peg, n []*pnode) (*pnode, *Error) {
	out := &pnode{kind: "Literal", first: n[0].first, last: n[0].last, kids: n[0].kids}
	for _, t := range r.toks[out.first : out.last+1] {
		if prefix := t.text[:strings.IndexAny(t.text, "'\"")]; strings.ContainsAny(prefix, "fF") {
			out.kind = "FString"
		}
	}
	if e, placed := r.p.badStrings(r.toks[out.first : out.last+1]); placed {
		r.foreign = e
		return nil, e
	} else if e != nil {
		return nil, r.raiseLast(e.Kind, "%s", e.Msg)
	}
	return out, nil
}

// fieldError is a mistake in a replacement field, which has a place of its own; those of strings have none.
type fieldError struct{ err *Error }

// badStrings converts strings side by side and gives the mistake in them, and whether it has a place.
func (p *parser) badStrings(toks []tok) (bad *Error, placed bool) {
	all := &cst{kind: "concatenated_string", span: toks[0].span}
	for _, t := range toks {
		start := p.lines[t.span.Line-1] + int(t.span.Col)
		all.kids = append(all.kids, &cst{kind: "string", start: start, end: start + len(t.text), span: t.span, named: true})
	}
	q := *p
	q.judging = true
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			bad = r
		case fieldError:
			bad, placed = r.err, true
		default:
			panic(r)
		}
	}()
	q.strings(all)
	return nil, false
}
