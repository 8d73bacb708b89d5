package syntax

import (
	"strings"
	"unicode/utf8"

	"whittle/capture/python/ucd"
)

// tok is one token. CPython reads them one by one as its parser asks for more, so a mistake in a token counts only when the parser
// gets there: it is a token too, of kind "error" and the last one.
type tok struct {
	kind  string // "name", "num", "str", "op", "newline", "indent", "dedent", "end", "error"
	text  string
	span  Span // Col and EndCol are -1 for what has no text: indent, dedent, end
	level int  // open brackets after it
	cur   Span // where reading stopped: the position of an error that has no other
	bad   *Error
	late  bool   // the mistake counts only if the parser asks for the token: a later one found by looking ahead does not
	open  []open // of an error: the brackets that were open
}

// open is a bracket that waits for its other half.
type open struct {
	ch   byte
	span Span
}

var keywords = map[string]bool{"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true,
	"async": true, "await": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true,
	"else": true, "except": true, "finally": true, "for": true, "from": true, "global": true, "if": true, "import": true,
	"in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true, "raise": true,
	"return": true, "try": true, "while": true, "with": true, "yield": true}

const (
	maxBrackets = 200
	maxIndents  = 100
)

// scanner reads tokens by the rules of CPython 3.11's tokenizer.
type scanner struct {
	p         *parser
	src       string
	i         int
	line      int // from 1
	lineStart int
	logical   int // offset of the line that a backslash continued, or of this line
	stack     []open
	toks      []tok
}

// scan tokenizes a whole file. The last token is of kind "end" or "error".
func scan(p *parser) []tok {
	s := &scanner{p: p, src: p.src, line: 1}
	s.run()
	return s.toks
}

func (s *scanner) at(from, to int) Span {
	return Span{int32(s.line), int32(from - s.lineStart), int32(s.line), int32(to - s.lineStart)}
}

func (s *scanner) add(kind string, from, to int) {
	s.toks = append(s.toks, tok{kind: kind, text: s.src[from:to], span: s.at(from, to), level: len(s.stack), cur: s.at(s.i, s.i)})
}

// mark adds a token that has no text.
func (s *scanner) mark(kind string) {
	sp := Span{int32(s.line), -1, int32(s.line), -1}
	s.toks = append(s.toks, tok{kind: kind, span: sp, level: len(s.stack), cur: s.at(s.i, s.i)})
}

// fail ends the tokens with a mistake that counts wherever it is; the position is the character before off.
func (s *scanner) fail(off int, format string, args ...any) {
	e := s.p.errAt("SyntaxError", s.at(off, off), format, args...)
	e.Offset--
	e.EndOffset = e.Offset
	e.Text = strings.TrimSuffix(e.Text, "\n")
	s.toks = append(s.toks, tok{kind: "error", span: s.at(off, off), cur: s.at(off, off), bad: e, open: s.stack, level: len(s.stack)})
}

// failLate ends the tokens with a mistake that counts only if the parser gets there.
func (s *scanner) failLate(e *Error) {
	s.toks = append(s.toks, tok{kind: "error", span: s.at(s.i, s.i), cur: s.at(s.i, s.i), bad: e, late: true, open: s.stack, level: len(s.stack)})
}

func (s *scanner) newline() {
	s.i++
	s.line++
	s.lineStart = s.i
}

// peek is the byte d places on, 0 at the end.
func (s *scanner) peek(d int) byte {
	if s.i+d < len(s.src) {
		return s.src[s.i+d]
	}
	return 0
}

// run reads line by line: the indentation, and then the tokens up to a newline that ends a statement.
func (s *scanner) run() {
	indents, alts := []int{0}, []int{0}
	for {
		blank := false
		col, alt, contCol := 0, 0, 0
		s.logical = s.lineStart
	indent:
		for {
			switch s.peek(0) {
			case ' ':
				col++
				alt++
			case '\t':
				col = (col/8 + 1) * 8
				alt++
			case '\f':
				col, alt = 0, 0
			case '\\':
				if contCol == 0 {
					contCol = col
				}
				if !s.continued() {
					return
				}
				s.logical = s.lineStart // nothing of the statement was read yet
				continue
			default:
				break indent
			}
			s.i++
		}
		if c := s.peek(0); s.i < len(s.src) && (c == '#' || c == '\n') {
			blank = true
		}
		s.atEnd()
		if !blank {
			if contCol > 0 {
				col, alt = contCol, contCol
			}
			if !s.indent(&indents, &alts, col, alt) {
				return
			}
		}
		for {
			more, ok := s.token(blank)
			if !ok {
				return
			}
			if !more {
				break
			}
		}
	}
}

// atEnd goes back to the last line: there is none behind its end.
func (s *scanner) atEnd() {
	if s.i >= len(s.src) && s.line > 1 && s.lineStart == len(s.src) {
		s.line--
		s.lineStart = s.p.lines[s.line-1]
	}
}

// indent compares the indentation of a line with those around it.
func (s *scanner) indent(indents, alts *[]int, col, alt int) bool {
	top := func(l *[]int) int { return (*l)[len(*l)-1] }
	mixed := func() bool {
		e := s.p.errAt("TabError", s.at(s.lineStart, s.lineStart), "inconsistent use of tabs and spaces in indentation")
		e.EndOffset = 0
		s.failLate(e)
		return false
	}
	switch {
	case col == top(indents):
		if alt != top(alts) {
			return mixed()
		}
	case col > top(indents):
		if len(*indents) >= maxIndents {
			e := s.p.errAt("IndentationError", s.at(s.lineStart, s.lineStart), "too many levels of indentation")
			e.EndOffset = 0
			s.failLate(e)
			return false
		}
		if alt <= top(alts) {
			return mixed()
		}
		*indents, *alts = append(*indents, col), append(*alts, alt)
		s.mark("indent")
	default:
		n := 0
		for len(*indents) > 1 && col < top(indents) {
			*indents, *alts = (*indents)[:len(*indents)-1], (*alts)[:len(*alts)-1]
			n++
		}
		if col != top(indents) {
			end := s.lineStart + len(s.p.lineText(s.line))
			e := s.p.errAt("IndentationError", s.at(end-1, end-1), "unindent does not match any outer indentation level")
			e.EndOffset = -1
			s.i = end
			s.failLate(e)
			return false
		}
		if alt != top(alts) {
			return mixed()
		}
		for range n {
			s.mark("dedent")
		}
	}
	return true
}

// continued steps over a backslash and its newline.
func (s *scanner) continued() bool {
	s.i++
	if s.peek(0) != '\n' {
		// The column counts from the line that the statement began on.
		e := s.p.errAt("SyntaxError", s.at(s.i, s.i), "unexpected character after line continuation character")
		e.Offset += charCol(s.src[s.logical:s.lineStart], s.lineStart-s.logical)
		e.EndOffset = 0
		s.i++
		s.failLate(e)
		return false
	}
	if s.i+1 >= len(s.src) {
		s.i++
		e := s.p.errAt("SyntaxError", s.at(s.i-1, s.i-1), "unexpected EOF while parsing")
		e.EndOffset = -1
		s.failLate(e)
		return false
	}
	s.newline()
	return true
}

// token reads one token. more is false at the end of a line that the next line's indentation counts after.
func (s *scanner) token(blank bool) (more, ok bool) {
	for c := s.peek(0); c == ' ' || c == '\t' || c == '\f'; c = s.peek(0) {
		s.i++
	}
	start := s.i
	if s.peek(0) == '#' {
		for s.i < len(s.src) && s.src[s.i] != '\n' {
			s.i++
		}
	}
	if s.i >= len(s.src) {
		s.atEnd()
		if len(s.stack) > 0 {
			b := s.stack[len(s.stack)-1]
			e := s.p.neverClosed(b)
			if s.line > int(b.span.Line) { // an earlier line is shown without its end
				e.Text = strings.TrimSuffix(e.Text, "\n")
			}
			s.failLate(e)
			return false, false
		}
		s.mark("end")
		return false, false
	}
	c := s.src[s.i]
	switch {
	case c == '\n':
		if blank || len(s.stack) > 0 {
			s.newline()
			s.logical = s.lineStart
			return len(s.stack) > 0, true
		}
		s.i++
		s.add("newline", start, s.i)
		t := &s.toks[len(s.toks)-1]
		t.span.EndCol--
		s.i--
		s.newline()
		return false, true
	case c == '\\':
		return true, s.continued()
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		return true, s.number()
	case isAlpha(c) || c == '_' || c >= utf8.RuneSelf:
		for s.i < len(s.src) && (isAlpha(s.src[s.i]) || isDigit(s.src[s.i]) || s.src[s.i] == '_' || s.src[s.i] >= utf8.RuneSelf) {
			s.i++
		}
		word := s.src[start:s.i]
		if q := s.peek(0); (q == '\'' || q == '"') && isStringPrefix(word) {
			return true, s.str(start)
		}
		if !s.identifier(start, word) {
			return false, false
		}
		s.add("name", start, s.i)
		return true, true
	case c == '\'' || c == '"':
		return true, s.str(start)
	}
	return true, s.operator(start)
}

// identifier checks the letters of a name.
func (s *scanner) identifier(start int, word string) bool {
	for k, r := range word {
		if r < utf8.RuneSelf || ucd.Of(r).Is(ucd.IDStart) || k > 0 && ucd.Of(r).Is(ucd.IDContinue) {
			continue
		}
		off := start + k + utf8.RuneLen(r)
		if ucd.Of(r).Is(ucd.Printable) {
			s.fail(off, "invalid character '%c' (U+%04X)", r, r)
		} else {
			s.fail(off, "invalid non-printable character U+%04X", r)
		}
		return false
	}
	return true
}

// operator reads an operator or a bracket, and keeps track of which brackets are open.
func (s *scanner) operator(start int) bool {
	op := operatorAt(s.src[s.i:])
	if op == "" {
		c := s.src[s.i]
		s.i++
		if c < ' ' || c == 0x7f {
			s.fail(s.i, "invalid non-printable character U+%04X", rune(c))
			return false
		}
		s.add("op", start, s.i) // one that no rule knows
		return true
	}
	s.i += len(op)
	switch op {
	case "(", "[", "{":
		if len(s.stack) >= maxBrackets {
			s.fail(s.i, "too many nested parentheses")
			return false
		}
		s.stack = append(s.stack[:len(s.stack):len(s.stack)], open{op[0], s.at(start, s.i)})
	case ")", "]", "}":
		if len(s.stack) == 0 {
			s.fail(s.i, "unmatched '%s'", op)
			return false
		}
		b := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if op != closing(b.ch) {
			if int(b.span.Line) != s.line {
				s.fail(s.i, "closing parenthesis '%s' does not match opening parenthesis '%c' on line %d", op, b.ch, b.span.Line)
			} else {
				s.fail(s.i, "closing parenthesis '%s' does not match opening parenthesis '%c'", op, b.ch)
			}
			return false
		}
	}
	s.add("op", start, s.i)
	return true
}

// closing is the bracket that closes b.
func closing(b byte) string {
	switch b {
	case '(':
		return ")"
	case '[':
		return "]"
	}
	return "}"
}

// neverClosed is the mistake of a bracket that is still open at the end of the file.
func (p *parser) neverClosed(b open) *Error {
	e := p.errAt("SyntaxError", b.span, "'%c' was never closed", b.ch)
	e.EndOffset = 0
	return e
}

// str reads a string from its prefix on.
func (s *scanner) str(start int) bool {
	first, firstStart := s.line, s.lineStart
	q := s.src[s.i]
	size := 1
	if s.peek(1) == q && s.peek(2) == q {
		size = 3
	}
	s.i += size
	for run := 0; run < size; {
		if s.i >= len(s.src) || size == 1 && s.src[s.i] == '\n' {
			last := s.line
			if s.i >= len(s.src) && s.lineStart == len(s.src) {
				last--
			}
			s.line, s.lineStart = first, firstStart
			if size == 3 {
				s.fail(start+1, "unterminated triple-quoted string literal (detected at line %d)", last)
			} else {
				s.fail(start+1, "unterminated string literal (detected at line %d)", last)
			}
			return false
		}
		c := s.src[s.i]
		if c == q {
			run++
		} else {
			run = 0
		}
		if c == '\\' && s.i+1 < len(s.src) {
			s.i++
			c = s.src[s.i]
		}
		if c == '\n' {
			s.newline()
		} else {
			s.i++
		}
	}
	sp := Span{int32(first), int32(start - firstStart), int32(s.line), int32(s.i - s.lineStart)}
	s.toks = append(s.toks, tok{kind: "str", text: s.src[start:s.i], span: sp, level: len(s.stack), cur: s.at(s.i, s.i)})
	return true
}

// digits reads digits that may be parted by single underscores, from a digit on.
func (s *scanner) digits(ok func(byte) bool, what string) bool {
	for {
		for ok(s.peek(0)) {
			s.i++
		}
		if s.peek(0) != '_' {
			return true
		}
		s.i++
		if !ok(s.peek(0)) {
			s.fail(s.i, "invalid %s literal", what)
			return false
		}
	}
}

// numberEnds refuses a name that follows a number at once; a keyword may follow.
func (s *scanner) numberEnds(what string) bool {
	c := s.peek(0)
	if !isAlpha(c) && !isDigit(c) && c != '_' {
		return true
	}
	rest := s.src[s.i:]
	for _, w := range []string{"if", "in", "is"} {
		if strings.HasPrefix(rest, w) {
			return true
		}
	}
	for _, w := range []string{"and", "else", "for", "or", "not"} {
		if next, ok := strings.CutPrefix(rest, w); ok && (next == "" || !isAlpha(next[0]) && !isDigit(next[0]) && next[0] != '_' && next[0] < utf8.RuneSelf) {
			return true
		}
	}
	s.fail(s.i, "invalid %s literal", what)
	return false
}

// number reads a number, and finds what is wrong with one that ends too early.
func (s *scanner) number() bool {
	start := s.i
	done := func(what string) bool {
		if !s.numberEnds(what) {
			return false
		}
		s.add("num", start, s.i)
		return true
	}
	if s.peek(0) == '0' {
		what, ok := "", func(byte) bool { return false }
		switch s.peek(1) {
		case 'x', 'X':
			what, ok = "hexadecimal", isHex
		case 'o', 'O':
			what, ok = "octal", func(c byte) bool { return c >= '0' && c <= '7' }
		case 'b', 'B':
			what, ok = "binary", func(c byte) bool { return c == '0' || c == '1' }
		}
		if what != "" {
			s.i += 2
			for {
				if s.peek(0) == '_' {
					s.i++
				}
				if c := s.peek(0); !ok(c) {
					return s.badDigit(c, what)
				}
				for ok(s.peek(0)) {
					s.i++
				}
				if s.peek(0) != '_' {
					break
				}
			}
			if c := s.peek(0); isDigit(c) {
				return s.badDigit(c, what)
			}
			return done(what)
		}
	}
	zeros := 0
	if s.peek(0) != '.' {
		if s.peek(0) == '0' {
			if !s.digits(func(c byte) bool { return c == '0' }, "decimal") {
				// An underscore may stand before another digit.
				if !isDigit(s.peek(0)) {
					return false
				}
				s.toks = s.toks[:len(s.toks)-1]
			}
			zeros = s.i
		}
		nonzero := isDigit(s.peek(0))
		if (nonzero || zeros == 0) && !s.digits(isDigit, "decimal") {
			return false
		}
		if c := s.peek(0); zeros > 0 && nonzero && c != '.' && c != 'e' && c != 'E' && c != 'j' && c != 'J' {
			e := s.p.errAt("SyntaxError", s.at(start, zeros), "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
			e.Text = strings.TrimSuffix(e.Text, "\n")
			s.toks = append(s.toks, tok{kind: "error", span: s.at(s.i, s.i), cur: s.at(s.i, s.i), bad: e, open: s.stack, level: len(s.stack)})
			return false
		}
	}
	if s.peek(0) == '.' {
		s.i++
		if isDigit(s.peek(0)) && !s.digits(isDigit, "decimal") {
			return false
		}
	}
	if c := s.peek(0); c == 'e' || c == 'E' {
		d := 1
		if n := s.peek(1); n == '+' || n == '-' {
			d = 2
		}
		switch {
		case isDigit(s.peek(d)):
			s.i += d
			if !s.digits(isDigit, "decimal") {
				return false
			}
		case d == 2:
			s.i += d
			s.fail(s.i, "invalid decimal literal")
			return false
		default:
			return done("decimal")
		}
	}
	if c := s.peek(0); c == 'j' || c == 'J' {
		s.i++
		return done("imaginary")
	}
	return done("decimal")
}

// badDigit refuses what follows 0x, 0o or 0b.
func (s *scanner) badDigit(c byte, what string) bool {
	if isDigit(c) {
		s.i++
		s.fail(s.i, "invalid digit '%c' in %s literal", c, what)
	} else {
		s.fail(s.i, "invalid %s literal", what)
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isStringPrefix reports whether these letters may stand before a quote.
func isStringPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

var operators = []string{"**=", "//=", ">>=", "<<=", "...", "->", ":=", "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=",
	"==", "!=", "<=", ">=", "<>", "<<", ">>", "**", "//", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")",
	"[", "]", "{", "}", ",", ":", ".", ";", "="}

// operatorAt is the longest operator that a text begins with.
func operatorAt(s string) string {
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			return o
		}
	}
	return ""
}
