package syntax

import (
	"strings"
)

// What is wrong with a text that does not parse, in CPython's words.

// diagnose says what is wrong with a file that the grammar refused.
func (p *parser) diagnose(root *cst, toks []tok) *Error {
	bad := firstError(root)
	if bad == nil {
		bad = root
	}
	for i, t := range toks {
		if t.kind == "str" && strings.ContainsAny(t.text[:strings.IndexAny(t.text, "'\"")], "fF") {
			if e := p.badFString(t); e != nil {
				return e
			}
		}
		if t.text == "try" && t.kind == "name" && (i == 0 || toks[i-1].kind != "name" && toks[i-1].kind != "op") {
			if e := p.loneTry(toks[i:]); e != nil {
				return e
			}
			if e := p.mixedTry(toks[i:]); e != nil {
				return e
			}
		}
		if t.text == "except" && i+2 < len(toks) && toks[i+1].text == "*" && toks[i+2].text == ":" {
			return p.errAt("SyntaxError", toks[i+2].span, "expected one or more exception types")
		}
	}
	// Words by which 3.11 explains itself are tried on the logical lines around the error.
	lines := logicalLines(toks)
	limit := bad.span.EndLine
	for _, l := range lines {
		if len(l) == 0 || l[0].span.Line > limit+1 {
			break
		}
		if l[len(l)-1].span.EndLine < bad.span.Line-1 {
			continue
		}
		if e := p.explainLine(l); e != nil {
			return e
		}
	}
	for _, t := range toks {
		if t.kind == "name" && (t.text == "async" || t.text == "await") {
			return p.errAt("SyntaxError", t.span, "invalid syntax")
		}
	}
	// The token at which the prefix stops making sense.
	pos := bad.span
	if bad.missing {
		for i, t := range toks {
			if before(pos, t.span) {
				if t.kind == "newline" || i == 0 {
					return p.errAt("SyntaxError", t.span, "invalid syntax")
				}
				return p.errAt("SyntaxError", t.span, "invalid syntax")
			}
		}
	}
	if e := p.furthest(bad, toks); e != nil {
		return e
	}
	return p.errAt("SyntaxError", pos, "invalid syntax")
}

// furthest picks, within the error node, the first token that cannot follow its predecessor.
func (p *parser) furthest(bad *cst, toks []tok) *Error {
	var prev *tok
	for i := range toks {
		t := &toks[i]
		if t.kind == "indent" || t.kind == "dedent" {
			continue
		}
		if t.span.Line > bad.span.EndLine+1 {
			break
		}
		if prev != nil && !before(t.span, bad.span) && !canFollow(prev, t) {
			if operandEnd(prev) && operandStart(t) && p.inBrackets(toks, i) {
				return p.errAt("SyntaxError", Span{prev.span.Line, prev.span.Col, t.span.EndLine, t.span.EndCol}, "invalid syntax. Perhaps you forgot a comma?")
			}
			return p.errAt("SyntaxError", t.span, "invalid syntax")
		}
		prev = t
	}
	for i := range toks {
		t := &toks[i]
		if !before(t.span, bad.span) && t.kind != "indent" && t.kind != "dedent" {
			return p.errAt("SyntaxError", t.span, "invalid syntax")
		}
	}
	return nil
}

func (p *parser) inBrackets(toks []tok, i int) bool {
	d := 0
	for _, t := range toks[:i] {
		if t.kind == "op" {
			switch t.text {
			case "(", "[", "{":
				d++
			case ")", "]", "}":
				d--
			}
		}
	}
	return d > 0
}

func before(a, b Span) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

func operandStart(t *tok) bool {
	switch t.kind {
	case "num", "str":
		return true
	case "name":
		return !keywords[t.text] || t.text == "None" || t.text == "True" || t.text == "False" || t.text == "lambda"
	}
	return false
}

func operandEnd(t *tok) bool {
	switch t.kind {
	case "num", "str":
		return true
	case "name":
		return !keywords[t.text] || t.text == "None" || t.text == "True" || t.text == "False"
	case "op":
		return t.text == ")" || t.text == "]" || t.text == "}" || t.text == "..."
	}
	return false
}

// canFollow is a rough grammar of neighbours: enough to find the token that an ERROR node is about.
func canFollow(a, b *tok) bool {
	if operandEnd(a) {
		switch b.kind {
		case "name":
			if operandStart(b) {
				// Soft keywords and statement heads: `match x`, `print x` are explained elsewhere.
				return a.kind == "name" && (a.text == "match" || a.text == "case" || a.text == "type")
			}
			switch b.text {
			case "and", "or", "in", "is", "if", "else", "not", "for", "as", "from", "import":
				return true
			}
			return false
		case "num":
			return false
		case "str":
			return a.kind == "str"
		}
		return true
	}
	if a.kind == "op" && a.text != ":" && a.text != ";" && a.text != "," && a.text != "*" && a.text != "/" {
		if b.kind == "newline" || b.kind == "end" {
			return false
		}
		if b.kind == "op" {
			switch b.text {
			case "(", "[", "{", "-", "+", "~", "...", "*", "**", ":", "@":
				return true
			case ")", "]", "}":
				return a.text == "(" || a.text == "[" || a.text == "{"
			}
			return false
		}
		if b.kind == "name" {
			switch b.text {
			case "and", "or", "in", "is", "if", "else", "for", "as", "from", "import", "def", "class", "return", "while", "with", "try", "raise", "pass":
				return false
			}
		}
		return true
	}
	if a.kind == "name" { // a keyword
		switch a.text {
		case "and", "or", "in", "is", "not", "if", "elif", "while", "for", "with", "import", "as", "assert", "del", "global", "nonlocal", "def", "class":
			if b.kind == "newline" || b.kind == "end" {
				return false
			}
			if b.kind == "op" {
				switch b.text {
				case "(", "[", "{", "-", "+", "~", "...", "*":
					return true
				}
				return false
			}
			if (a.text == "def" || a.text == "class" || a.text == "import" || a.text == "as" || a.text == "global" || a.text == "nonlocal") && (b.kind != "name" || keywords[b.text]) {
				return false
			}
		}
	}
	return true
}

func firstError(c *cst) *cst {
	if c.kind == "ERROR" || c.missing {
		if c.kind == "ERROR" && c.span.Line == 1 && len(c.kids) > 0 {
			// The whole file became an error: an inner one is closer to the cause.
			for _, k := range c.kids {
				if k.err {
					if e := firstError(k); e != nil {
						return e
					}
				}
			}
		}
		return c
	}
	if !c.err {
		return nil
	}
	for _, k := range c.kids {
		if e := firstError(k); e != nil {
			return e
		}
	}
	return nil
}

func logicalLines(toks []tok) (out [][]tok) {
	var cur []tok
	for _, t := range toks {
		switch t.kind {
		case "newline", "end":
			if len(cur) > 0 {
				out = append(out, append(cur, t))
				cur = nil
			}
		case "indent", "dedent":
		default:
			cur = append(cur, t)
		}
	}
	return out
}

// explainLine recognises the mistakes that CPython 3.11 has words for.
func (p *parser) explainLine(l []tok) *Error {
	first := l[0]
	depth := 0
	colon := -1
	for i, t := range l {
		if t.kind != "op" {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ":":
			if depth == 0 && colon < 0 {
				lambda := false
				for _, q := range l[:i] {
					if q.text == "lambda" {
						lambda = true
					}
				}
				if !lambda {
					colon = i
				}
			}
		}
	}
	end := l[len(l)-1]
	switch first.text {
	case "if", "elif", "while", "for", "with", "class", "else", "try", "finally", "except", "def":
		if first.kind != "name" {
			break
		}
		if first.text == "if" || first.text == "elif" || first.text == "while" {
			d := 0
			for i, t := range l {
				switch {
				case t.text == "(" || t.text == "[" || t.text == "{":
					d++
				case t.text == ")" || t.text == "]" || t.text == "}":
					d--
				case d == 0 && t.kind == "op" && t.text == "=" && i > 1 && (colon < 0 || i < colon):
					lhs := l[1]
					if i == 2 && lhs.kind == "name" && !keywords[lhs.text] {
						sp := Span{lhs.span.Line, lhs.span.Col, l[i+1].span.EndLine, l[i+1].span.EndCol}
						return p.errAt("SyntaxError", sp, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?")
					}
					sp := Span{lhs.span.Line, lhs.span.Col, l[i-1].span.EndLine, l[i-1].span.EndCol}
					what := "attribute"
					if l[i-1].text == "]" {
						what = "subscript"
					} else if l[i-1].text == ")" {
						what = "function call"
					} else if l[i-1].kind == "num" || l[i-1].kind == "str" {
						what = "literal"
					}
					return p.errAt("SyntaxError", sp, "cannot assign to %s here. Maybe you meant '==' instead of '='?", what)
				}
			}
		}
		if colon < 0 {
			// Where the header stops being one, a colon was expected.
			for i := 1; i < len(l); i++ {
				if !canFollow(&l[i-1], &l[i]) {
					if l[i].kind == "newline" && operandEnd(&l[i-1]) {
						break
					}
					return p.errAt("SyntaxError", l[i].span, "invalid syntax")
				}
			}
			return p.errAt("SyntaxError", end.span, "expected ':'")
		}
	case "print", "exec":
		if len(l) > 2 && (operandStart(&l[1])) {
			sp := Span{first.span.Line, first.span.Col, l[len(l)-2].span.EndLine, l[len(l)-2].span.EndCol}
			return p.errAt("SyntaxError", sp, "Missing parentheses in call to '%s'. Did you mean %s(...)?", first.text, first.text)
		}
	case "async":
		return p.errAt("SyntaxError", first.span, "async code is not supported")
	}
	if colon > 0 && first.text == "try" {
		return nil
	}
	if first.text == "import" || first.text == "from" {
		if len(l) >= 2 && l[len(l)-2].text == "," {
			return p.errAt("SyntaxError", l[len(l)-2].span, "trailing comma not allowed without surrounding parentheses")
		}
	}
	// Assignments to what cannot be assigned: `1 = x`, `f() = 3`, `None = 1`.
	d := 0
	for i, t := range l {
		switch t.text {
		case "(", "[", "{":
			if t.kind == "op" {
				d++
			}
		case ")", "]", "}":
			if t.kind == "op" {
				d--
			}
		case "=":
			if d != 0 || t.kind != "op" || i == 0 {
				continue
			}
			if src := p.slice2(l[0].span, l[i-1].span); src != "" && (colon < 0 || colon > i) {
				if e := p.badTarget(src, l[0].span, l[i-1].span); e != nil {
					return e
				}
			}
		}
	}
	if e := p.keywordCall(l); e != nil {
		return e
	}
	return nil
}

// keywordCall finds `f(1=2)`, `f(True=1)` and `f(a.b=1)`.
func (p *parser) keywordCall(l []tok) *Error {
	for i := 2; i < len(l); i++ {
		if l[i].kind != "op" || l[i].text != "=" {
			continue
		}
		if !p.inBrackets(l, i) {
			continue
		}
		b := l[i-1]
		if b.kind == "name" && (b.text == "True" || b.text == "False" || b.text == "None") {
			return p.errAt("SyntaxError", Span{b.span.Line, b.span.Col, l[i].span.EndLine, l[i].span.EndCol}, "cannot assign to %s", b.text)
		}
		if b.kind == "num" || b.kind == "str" || b.text == ")" || b.text == "]" || i >= 3 && b.kind == "name" && l[i-2].text == "." {
			start := i - 1
			for start > 0 && l[start-1].text != "(" && l[start-1].text != "," {
				start--
			}
			return p.errAt("SyntaxError", Span{l[start].span.Line, l[start].span.Col, l[i].span.EndLine, l[i].span.EndCol}, `expression cannot contain assignment, perhaps you meant "=="?`)
		}
	}
	return nil
}

func (p *parser) slice2(a, b Span) string {
	s := p.lines[a.Line-1] + int(a.Col)
	e := p.lines[b.EndLine-1] + int(b.EndCol)
	if s > e || e > len(p.src) {
		return ""
	}
	return p.src[s:e]
}

// badTarget parses the left side of an assignment on its own and refuses it if it cannot be a target.
func (p *parser) badTarget(src string, a, b Span) (out *Error) {
	root := parseTree(src + "\n")
	if root == nil || root.err || len(root.kids) != 1 || root.kids[0].kind != "expression_statement" {
		return nil
	}
	q := newParser(p.filename, src+"\n")
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				return
			}
			sp := Span{a.Line + int32(e.Line) - 1, int32(e.Offset - 1), a.Line + int32(e.EndLine) - 1, int32(e.EndOffset - 1)}
			if e.Line == 1 {
				sp.Col += a.Col
			}
			if e.EndLine == 1 {
				sp.EndCol += a.Col
			}
			out = p.errAt("SyntaxError", sp, "%s", e.Msg)
		}
	}()
	s := q.exprStmt(root.kids[0])
	if es, ok := s.(*ExprStmt); ok {
		q.checkTarget(es.Value, "assign")
	}
	return nil
}

// badFString converts one f-string by itself and gives its mistake.
func (p *parser) badFString(t tok) (out *Error) {
	start := p.lines[t.span.Line-1] + int(t.span.Col)
	c := &cst{kind: "string", start: start, end: start + len(t.text), span: t.span}
	defer func() {
		if e, ok := recover().(*Error); ok && strings.HasPrefix(e.Msg, "f-string") {
			out = e
		}
	}()
	p.strings(c)
	return nil
}

// mixedTry finds a try that has both except and except*.
func (p *parser) mixedTry(toks []tok) *Error {
	d, plain, star := 0, false, false
	for i, t := range toks {
		switch {
		case t.kind == "indent":
			d++
		case t.kind == "dedent":
			d--
		case d == 0 && t.kind == "name" && t.text == "try" && i > 0:
			return nil
		case d == 0 && t.kind == "name" && t.text == "except" && i+1 < len(toks):
			if toks[i+1].text == "*" {
				star = true
			} else {
				plain = true
			}
			if plain && star {
				return p.errAt("SyntaxError", t.span, "cannot have both 'except' and 'except*' on the same 'try'")
			}
		}
		if d < 0 {
			return nil
		}
	}
	return nil
}

// loneTry finds a try block that is followed by neither except nor finally.
func (p *parser) loneTry(toks []tok) *Error {
	if len(toks) < 4 || toks[1].text != ":" || toks[2].kind != "newline" {
		return nil
	}
	d := 0
	for _, t := range toks[3:] {
		switch t.kind {
		case "indent":
			d++
		case "dedent":
			d--
		default:
			if d == 0 {
				if t.text == "except" || t.text == "finally" {
					return nil
				}
				return p.errAt("SyntaxError", t.span, "expected 'except' or 'finally' block")
			}
		}
	}
	return nil
}
