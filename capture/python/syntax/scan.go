package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tok is one token of the scanner that explains wrong files.
type tok struct {
	kind string // "name", "num", "str", "op", "newline", "indent", "dedent", "end"
	text string
	span Span
}

var keywords = map[string]bool{"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true,
	"async": true, "await": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true,
	"else": true, "except": true, "finally": true, "for": true, "from": true, "global": true, "if": true, "import": true,
	"in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true, "raise": true,
	"return": true, "try": true, "while": true, "with": true, "yield": true}

// scan tokenizes a whole file; its error is the first lexical mistake.
func scan(p *parser) ([]tok, *Error) {
	src := p.src
	var toks []tok
	type bracket struct {
		ch        byte
		line, col int
	}
	var stack []bracket
	indents := []int{0}
	line, lineStart := 1, 0
	i := 0
	at := func(off, end int) Span {
		return Span{int32(line), int32(off - lineStart), int32(line), int32(end - lineStart)}
	}
	bol := true
	pendingBlock := false // the last logical line ended with a colon
	blockLine := 0
	blockWord := ""
	lastOp := ""
	for i < len(src) {
		if bol && len(stack) == 0 {
			col, altcol, j := 0, 0, i
			for j < len(src) && (src[j] == ' ' || src[j] == '\t' || src[j] == '\f') {
				switch src[j] {
				case ' ':
					col++
					altcol++
				case '\t':
					col = (col/8 + 1) * 8
					altcol++
				case '\f':
					col, altcol = 0, 0
				}
				j++
			}
			if j >= len(src) {
				break
			}
			if src[j] == '\n' {
				line++
				i = j + 1
				lineStart = i
				continue
			}
			if src[j] == '#' {
				for j < len(src) && src[j] != '\n' {
					j++
				}
				i = j
				if i < len(src) {
					i++
					line++
					lineStart = i
				}
				continue
			}
			top := indents[len(indents)-1]
			i = j
			end := j
			for end < len(src) && src[end] != '\n' {
				end++
			}
			if pendingBlock && col <= top {
				return nil, p.errAt("IndentationError", tokenSpan(src, at(j, j+1), j), "expected an indented block after %s on line %d", blockWord, blockLine)
			}
			if col > top {
				if !pendingBlock {
					if ls := logicalLines(append(toks, tok{kind: "end"})); len(ls) > 0 {
						if e := p.explainLine(ls[len(ls)-1]); e != nil {
							return nil, e
						}
					}
					return nil, p.errAt("IndentationError", at(j-1, end), "unexpected indent")
				}
				indents = append(indents, col)
				toks = append(toks, tok{"indent", "", at(j, j)})
			}
			for col < indents[len(indents)-1] {
				indents = indents[:len(indents)-1]
				toks = append(toks, tok{"dedent", "", at(j, j)})
				if col > indents[len(indents)-1] {
					return nil, p.errAt("IndentationError", Span{int32(line), int32(end - lineStart), int32(line), -1}, "unindent does not match any outer indentation level")
				}
			}
			_ = altcol
			pendingBlock = false
			bol = false
		}
		c := src[i]
		switch {
		case c == '\n':
			if len(stack) == 0 {
				if len(toks) > 0 && toks[len(toks)-1].kind != "newline" {
					if lastOp == ":" {
						if w, l, ok := blockOpener(toks); ok {
							pendingBlock, blockWord, blockLine = true, w, l
						}
					}
					toks = append(toks, tok{"newline", "\n", at(i, i+1)})
				}
				bol = true
			}
			line++
			i++
			lineStart = i
			continue
		case c == ' ' || c == '\t' || c == '\f':
			i++
			continue
		case c == '#':
			for i < len(src) && src[i] != '\n' {
				i++
			}
			continue
		case c == '\\':
			if i+1 < len(src) && src[i+1] == '\n' {
				i += 2
				line++
				lineStart = i
				if i >= len(src) {
					return nil, p.errAt("SyntaxError", Span{int32(line - 1), 1, int32(line - 1), 1}, "unexpected EOF while parsing")
				}
				continue
			}
			return nil, p.errAt("SyntaxError", at(i+1, i+2), "unexpected character after line continuation character")
		}
		start := i
		if isDigit(c) || c == '.' && i+1 < len(src) && isDigit(src[i+1]) {
			i = scanNumber(src, i)
			if i < len(src) && (isAlpha(src[i]) || src[i] == '_') {
				// A keyword may follow a number at once ("1if x else y"); a name may not.
				j := i
				for j < len(src) && (isAlpha(src[j]) || isDigit(src[j]) || src[j] == '_') {
					j++
				}
				w := src[i:j]
				if !(w == "if" || w == "else" || w == "and" || w == "or" || w == "in" || w == "is" || w == "not" || w == "for") {
					kind := "decimal"
					if start+1 < len(src) && src[start] == '0' {
						switch src[start+1] {
						case 'x', 'X':
							kind = "hexadecimal"
						case 'o', 'O':
							kind = "octal"
						case 'b', 'B':
							kind = "binary"
						}
					}
					return nil, p.errAt("SyntaxError", at(i-1, i), "invalid %s literal", kind)
				}
			}
			text := src[start:i]
			if len(text) > 1 && text[0] == '0' && isDigit(text[1]) && strings.Trim(text, "0_") != "" && !strings.ContainsAny(text, ".eEjJ") {
				return nil, p.errAt("SyntaxError", at(start, start+1), "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
			}
			toks = append(toks, tok{"num", text, at(start, i)})
			lastOp = ""
			continue
		}
		if isAlpha(c) || c == '_' || c >= utf8.RuneSelf {
			for i < len(src) {
				if isAlpha(src[i]) || isDigit(src[i]) || src[i] == '_' {
					i++
					continue
				}
				if src[i] < utf8.RuneSelf {
					break
				}
				r, n := utf8.DecodeRuneInString(src[i:])
				if !unicode.IsLetter(r) && !(i > start && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r))) && !unicode.Is(unicode.Nl, r) {
					if !unicode.IsPrint(r) {
						return nil, p.errAt("SyntaxError", at(i, i+n), "invalid non-printable character U+%04X", r)
					}
					return nil, p.errAt("SyntaxError", at(i, i+n), "invalid character '%c' (U+%04X)", r, r)
				}
				i += n
			}
			word := src[start:i]
			if i < len(src) && (src[i] == '\'' || src[i] == '"') && isStringPrefix(word) {
				// falls to the string below
			} else {
				toks = append(toks, tok{"name", word, at(start, i)})
				lastOp = ""
				continue
			}
		}
		if i < len(src) && (src[i] == '\'' || src[i] == '"') {
			q := src[i]
			triple := strings.HasPrefix(src[i:], strings.Repeat(string(q), 3))
			sl, sls := line, lineStart
			at0 := Span{int32(line), int32(start - lineStart), int32(line), int32(start - lineStart + 1)}
			closed := false
			if triple {
				i += 3
			} else {
				i++
			}
			for i < len(src) {
				if src[i] == '\\' && i+1 < len(src) {
					if src[i+1] == '\n' {
						line++
						lineStart = i + 2
					}
					i += 2
					continue
				}
				if src[i] == q && (!triple || strings.HasPrefix(src[i:], strings.Repeat(string(q), 3))) {
					closed = true
					if triple {
						i += 3
					} else {
						i++
					}
					break
				}
				if src[i] == '\n' {
					if !triple {
						break
					}
					line++
					lineStart = i + 1
				}
				i++
			}
			if !closed {
				if triple {
					detected := line
					if strings.HasSuffix(src, "\n") {
						detected--
					}
					e := p.errAt("SyntaxError", at0, "unterminated triple-quoted string literal (detected at line %d)", detected)
					return nil, e
				}
				return nil, p.errAt("SyntaxError", at0, "unterminated string literal (detected at line %d)", line)
			}
			toks = append(toks, tok{"str", src[start:i], Span{int32(sl), int32(start - sls), int32(line), int32(i - lineStart)}})
			lastOp = ""
			continue
		}
		op := operatorAt(src[i:])
		if op == "" {
			if c == '!' || c == '$' || c == '?' || c == '`' {
				return toks, p.errAt("SyntaxError", at(i, i+1), "invalid syntax")
			}
			return nil, p.errAt("SyntaxError", at(i, i+1), "invalid non-printable character U+%04X", rune(c))
		}
		switch op {
		case "(", "[", "{":
			if len(stack) >= 200 {
				return nil, p.errAt("SyntaxError", at(i, i+1), "too many nested parentheses")
			}
			stack = append(stack, bracket{op[0], line, i - lineStart})
		case ")", "]", "}":
			if len(stack) == 0 {
				return nil, p.errAt("SyntaxError", at(i, i+1), "unmatched '%s'", op)
			}
			b := stack[len(stack)-1]
			want := map[byte]string{'(': ")", '[': "]", '{': "}"}[b.ch]
			if op != want {
				if b.line != line {
					return nil, p.errAt("SyntaxError", at(i, i+1), "closing parenthesis '%s' does not match opening parenthesis '%c' on line %d", op, b.ch, b.line)
				}
				return nil, p.errAt("SyntaxError", at(i, i+1), "closing parenthesis '%s' does not match opening parenthesis '%c'", op, b.ch)
			}
			stack = stack[:len(stack)-1]
		}
		i += len(op)
		toks = append(toks, tok{"op", op, at(start, i)})
		lastOp = op
		if len(stack) > 0 {
			lastOp = ""
		}
	}
	if len(stack) > 0 {
		b := stack[len(stack)-1]
		// A mistake on the line of the bracket comes first.
		for k := 1; k < len(toks); k++ {
			t := &toks[k]
			if int(t.span.Line) == b.line && int(t.span.Col) > b.col && !canFollow(&toks[k-1], t) && !(operandEnd(&toks[k-1]) && operandStart(t)) {
				return nil, p.errAt("SyntaxError", t.span, "invalid syntax")
			}
			if t.text == ":" && toks[k-1].text == "(" && int(t.span.Line) == b.line && t.kind == "op" {
				return nil, p.errAt("SyntaxError", t.span, "invalid syntax")
			}
		}
		return nil, p.errAt("SyntaxError", Span{int32(b.line), int32(b.col), int32(b.line), int32(b.col + 1)}, "'%c' was never closed", b.ch)
	}
	if pendingBlock {
		last := toks[len(toks)-1].span
		e := p.errAt("IndentationError", Span{last.Line, last.Col, last.Line, -1}, "expected an indented block after %s on line %d", blockWord, blockLine)
		return nil, e
	}
	toks = append(toks, tok{"end", "", at(len(src), len(src))})
	return toks, nil
}

func tokenSpan(src string, s Span, off int) Span {
	j := off
	for j < len(src) && (isAlpha(src[j]) || isDigit(src[j]) || src[j] == '_') {
		j++
	}
	if j > off {
		s.EndCol = s.Col + int32(j-off)
	}
	return s
}

// blockOpener looks at the logical line that ends with a colon and says which statement it opens.
func blockOpener(toks []tok) (string, int, bool) {
	i := len(toks) - 1
	for i > 0 && toks[i-1].kind != "newline" && toks[i-1].kind != "indent" && toks[i-1].kind != "dedent" {
		i--
	}
	// `else: pass; x = {1:` cannot occur here: the colon is the line's last token and outside brackets.
	t := toks[i]
	line := int(t.span.Line)
	switch t.text {
	case "if", "elif", "else", "while", "for", "with":
		if t.text == "else" || t.text == "elif" {
			return "'" + t.text + "' statement", line, true
		}
		if t.text == "for" {
			return "'for' statement", line, true
		}
		return "'" + t.text + "' statement", line, true
	case "try", "finally":
		return "'" + t.text + "' statement", line, true
	case "except":
		return "'except' statement", line, true
	case "def", "async":
		return "function definition", line, true
	case "class":
		return "class definition", line, true
	case "match", "case":
		return "'" + t.text + "' statement", line, true
	}
	return "", 0, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isStringPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

func scanNumber(s string, i int) int {
	if s[i] == '0' && i+1 < len(s) && strings.IndexByte("xXoObB", s[i+1]) >= 0 {
		hex := s[i+1] == 'x' || s[i+1] == 'X'
		i += 2
		for i < len(s) && (isDigit(s[i]) || s[i] == '_' || hex && isHex(s[i])) {
			i++
		}
		return i
	}
	digits := func() {
		for i < len(s) && (isDigit(s[i]) || s[i] == '_' && i+1 < len(s) && isDigit(s[i+1])) {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
		digits()
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			i = j
			digits()
		}
	}
	if i < len(s) && (s[i] == 'j' || s[i] == 'J') {
		i++
	}
	return i
}

var operators = []string{"**=", "//=", ">>=", "<<=", "...", "->", ":=", "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=",
	"==", "!=", "<=", ">=", "<>", "<<", ">>", "**", "//", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")",
	"[", "]", "{", "}", ",", ":", ".", ";", "="}

func operatorAt(s string) string {
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			return o
		}
	}
	return ""
}

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
