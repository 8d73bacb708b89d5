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
