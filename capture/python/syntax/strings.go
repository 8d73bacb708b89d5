package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/charnames"
	"whittle/capture/python/wtf8"
)

// strings reads a string literal or an implicit concatenation of several.
func (p *parser) strings(c *cst) Expr {
	parts := []*cst{c}
	if c.kind == "concatenated_string" {
		parts = c.namedKids()
	}
	b := exprNode{p.sp(c)}
	var (
		isBytes, isStr bool
		fstr           bool
		values         []Expr
		lit            strings.Builder
		litPos         Span
		haveLit        bool
	)
	flush := func() {
		if haveLit && lit.Len() > 0 {
			values = append(values, &Constant{exprNode{litPos}, lit.String()})
		}
		lit.Reset()
		haveLit = false
	}
	for _, part := range parts {
		raw := p.text(part)
		i := 0
		for i < len(raw) && raw[i] != '\'' && raw[i] != '"' {
			i++
		}
		prefix := strings.ToLower(raw[:i])
		q := 1
		if len(raw) >= i+6 && raw[i] == raw[i+1] && raw[i] == raw[i+2] {
			q = 3
		}
		if len(raw) < i+2*q {
			p.fail(p.sp(part), "unterminated string literal (detected at line %d)", part.span.Line)
		}
		body := raw[i+q : len(raw)-q]
		isRaw := strings.Contains(prefix, "r")
		if strings.Contains(prefix, "b") {
			isBytes = true
		} else {
			isStr = true
		}
		if isBytes && isStr {
			p.fail(b.Span, "cannot mix bytes and nonbytes literals")
		}
		if isBytes {
			for j := 0; j < len(body); j++ {
				if body[j] >= 0x80 {
					panic(fieldError{p.errAt("SyntaxError", p.sp(part), "bytes can only contain ASCII literal characters")})
				}
			}
			if isRaw {
				lit.WriteString(body)
			} else {
				lit.WriteString(p.unescapeBytes(part, body))
			}
			haveLit = true
			continue
		}
		if strings.Contains(prefix, "f") {
			fstr = true
			if !haveLit {
				litPos = b.Span
				haveLit = true
			}
			fp := &fparser{p: p, node: part, body: body, base: part.start + i + q, raw: isRaw}
			fp.parse(0, len(body), 0, func(s string) {
				lit.WriteString(s)
			}, func(e Expr) {
				if v, ok := e.(*FormattedValue); ok {
					v.Span = b.Span
				}
				flush()
				values = append(values, e)
				litPos, haveLit = b.Span, true
			})
			continue
		}
		if !haveLit {
			litPos = b.Span
			haveLit = true
		}
		if isRaw {
			lit.WriteString(body)
		} else {
			lit.WriteString(p.unescape(part, body))
		}
	}
	if isBytes {
		return &Constant{b, Bytes(lit.String())}
	}
	if !fstr {
		return &Constant{b, lit.String()}
	}
	flush()
	return &JoinedStr{b, values}
}

// plainEscape writes what an escape stands for that str and bytes have in common: up to three octal digits, or one letter; an
// unknown one stands for itself. i is where it goes on after the backslash; the index of its last byte comes back.
func plainEscape(sb *strings.Builder, s string, i int, text bool) int {
	j := i
	for j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7' {
		j++
	}
	if j > i {
		n, _ := strconv.ParseUint(s[i:j], 8, 16)
		if text {
			wtf8.WriteRune(sb, rune(n))
		} else {
			sb.WriteByte(byte(n))
		}
		return j - 1
	}
	if r, ok := simpleEscape(s[i]); ok {
		sb.WriteByte(r)
	} else {
		sb.WriteByte('\\')
		sb.WriteByte(s[i])
	}
	return i
}

// known warns of an escape that stands for itself, once for each literal. rest begins behind the backslash.
func (p *parser) known(c *cst, rest string) {
	if _, ok := simpleEscape(rest[0]); ok || rest[0] >= '0' && rest[0] <= '7' || p.judging {
		return
	}
	at := p.sp(c)
	if n := len(p.warnings); n > 0 && p.warnings[n-1].Span == at {
		return
	}
	r, _ := utf8.DecodeRuneInString(rest)
	p.warnings = append(p.warnings, Warning{Span: at, Deprecated: true, Text: fmt.Sprintf(`invalid escape sequence '\%c'`, r)})
}

// unescapeBytes replaces the escapes of a bytes literal.
func (p *parser) unescapeBytes(c *cst, s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			sb.WriteByte(s[i])
			continue
		}
		i++
		switch ch := s[i]; ch {
		case '\n':
		case 'x':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				p.fail(p.sp(c), "(value error) invalid \\x escape at position %d", i-1)
			}
			n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
			sb.WriteByte(byte(n))
			i += 2
		default:
			p.known(c, s[i:])
			i = plainEscape(&sb, s, i, false)
		}
	}
	return sb.String()
}

// simpleEscape is what a letter behind a backslash stands for.
func simpleEscape(c byte) (byte, bool) {
	switch c {
	case '\\', '\'', '"':
		return c, true
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'a':
		return 7, true
	case 'b':
		return 8, true
	case 'f':
		return 12, true
	case 'v':
		return 11, true
	}
	return 0, false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unescape replaces the escapes of a string. What is wrong with one is said in the words of CPython's codec, with places inside the literal.
func (p *parser) unescape(c *cst, s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			sb.WriteByte(s[i])
			continue
		}
		i++
		switch ch := s[i]; ch {
		case '\n':
		case 'x', 'u', 'U':
			n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[ch]
			j := i + 1
			for j < len(s) && j < i+1+n && isHex(s[j]) {
				j++
			}
			if j != i+1+n {
				what := map[byte]string{'x': `\xXX`, 'u': `\uXXXX`, 'U': `\UXXXXXXXX`}[ch]
				p.fail(p.sp(c), "(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: truncated %s escape", i-1, j-1, what)
			}
			v, _ := strconv.ParseUint(s[i+1:j], 16, 64)
			if v > utf8.MaxRune {
				p.fail(p.sp(c), "(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: illegal Unicode character", i-1, j-1)
			}
			wtf8.WriteRune(&sb, rune(v))
			i = j - 1
		case 'N':
			end := strings.IndexByte(s[i:], '}')
			if i+1 >= len(s) || s[i+1] != '{' || end < 0 {
				last := i
				if i+1 < len(s) && s[i+1] == '{' {
					last = len(s) - 1
				}
				p.fail(p.sp(c), "(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: malformed \\N character escape", i-1, last)
			}
			r, ok := charnames.Named(s[i+2 : i+end])
			if !ok {
				p.fail(p.sp(c), "(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: unknown Unicode character name", i-1, i+end)
			}
			sb.WriteRune(r)
			i += end
		default:
			p.known(c, s[i:])
			i = plainEscape(&sb, s, i, true)
		}
	}
	return sb.String()
}

// fparser reads the body of one f-string, by the rules of 3.11: an expression ends at its bracket, `!`, `:` or `=`,
// and may hold neither a backslash nor a comment.
type fparser struct {
	p    *parser
	node *cst
	body string
	base int // offset of body in the source
	raw  bool
}

func (f *fparser) fail(format string, args ...any) {
	f.p.fail(f.p.sp(f.node), "f-string: "+format, args...)
}

// parse reads body[i:end]; in a format spec (depth > 0) a closing bracket ends it. It returns where it stopped.
func (f *fparser) parse(i, end, depth int, text func(string), value func(Expr)) int {
	s := f.body
	start := i
	emit := func(to int) {
		if to > start {
			t := s[start:to]
			if !f.raw {
				t = f.p.unescape(f.node, t)
			}
			text(t)
		}
	}
	for i < end {
		switch s[i] {
		case '\\':
			if !f.raw && i+2 < end && s[i+1] == 'N' && s[i+2] == '{' {
				if j := strings.IndexByte(s[i:end], '}'); j > 0 {
					i += j + 1
					continue
				}
			}
			if i+1 < end && (s[i+1] == '{' || s[i+1] == '}') {
				i++
				continue
			}
			i += 2
			continue
		case '{':
			if depth == 0 && i+1 < end && s[i+1] == '{' {
				emit(i + 1)
				i += 2
				start = i
				continue
			}
			emit(i)
			i = f.field(i+1, end, depth, text, value)
			start = i
			continue
		case '}':
			if depth > 0 {
				emit(i)
				return i
			}
			if i+1 < end && s[i+1] == '}' {
				emit(i + 1)
				i += 2
				start = i
				continue
			}
			f.fail("single '}' is not allowed")
		}
		i++
	}
	if i > end {
		i = end
	}
	emit(i)
	return i
}

// field reads one replacement field: an expression, then perhaps "=", a conversion and a format spec. i stands behind its opening bracket;
// the result behind the closing one. Of "=", what the source says up to there is text, white space included.
func (f *fparser) field(i, end, depth int, text func(string), value func(Expr)) int {
	if depth >= 2 {
		f.fail("expressions nested too deeply")
	}
	s := f.body
	start := i
	i = f.exprEnd(i, end)
	if i >= end {
		f.fail("expecting '}'")
	}
	if strings.TrimSpace(s[start:i]) == "" {
		if s[i] == '}' {
			f.fail("empty expression not allowed")
		}
		f.fail("expression required before '%c'", s[i])
	}
	fv := &FormattedValue{Value: f.expr(start, i)}
	debug := ""
	if s[i] == '=' {
		i++
		for i < end && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
		debug = s[start:i]
	}
	if i < end && s[i] == '!' {
		i++
		if i >= end {
			f.fail("expecting '}'")
		}
		fv.Conversion = s[i]
		i++
		if !strings.ContainsRune("sra", rune(fv.Conversion)) {
			f.fail("invalid conversion character: expected 's', 'r', or 'a'")
		}
	}
	if i < end && s[i] == ':' {
		i = f.spec(fv, i+1, end, depth)
	}
	if i >= end || s[i] != '}' {
		f.fail("expecting '}'")
	}
	if debug != "" {
		text(debug)
		if fv.Conversion == 0 && fv.Spec == nil {
			fv.Conversion = 'r'
		}
	}
	value(fv)
	return i + 1
}

// exprEnd finds where the expression that begins at i ends: at the first bracket, "!", ":" or "=" that stands in no string and in no
// brackets. Comparison operators are part of the expression.
func (f *fparser) exprEnd(i, end int) int {
	s := f.body
	var open []byte // brackets
	for i < end {
		ch := s[i]
		switch ch {
		case '\\':
			f.p.fail(f.p.sp(f.node), "f-string expression part cannot include a backslash")
		case '#':
			f.p.fail(f.p.sp(f.node), "f-string expression part cannot include '#'")
		case '\'', '"':
			i = f.quoted(i, end)
			continue
		case '(', '[', '{':
			open = append(open, ch)
		case ')', ']', '}':
			if len(open) == 0 {
				if ch == '}' {
					return i
				}
				f.fail("unmatched '%c'", ch)
			}
			last := open[len(open)-1]
			if want := map[byte]byte{'(': ')', '[': ']', '{': '}'}[last]; ch != want {
				f.fail("closing parenthesis '%c' does not match opening parenthesis '%c'", ch, last)
			}
			open = open[:len(open)-1]
		case '!', '=', '<', '>', ':':
			if len(open) > 0 {
				break
			}
			if ch != ':' && i+1 < end && s[i+1] == '=' {
				i++
			} else if ch == '!' || ch == '=' || ch == ':' {
				return i
			}
		}
		i++
	}
	if len(open) > 0 {
		f.fail("unmatched '%c'", open[len(open)-1])
	}
	return i
}

// quoted skips the string that begins at i.
func (f *fparser) quoted(i, end int) int {
	s := f.body
	quote := s[i : i+1]
	if i+2 < end && s[i+1] == s[i] && s[i+2] == s[i] {
		quote = s[i : i+3]
	}
	for i += len(quote); i < end; i++ {
		if s[i] == '\\' {
			f.p.fail(f.p.sp(f.node), "f-string expression part cannot include a backslash")
		}
		if strings.HasPrefix(s[i:end], quote) {
			return i + len(quote)
		}
	}
	f.fail("unterminated string")
	return end
}

// spec reads a format spec, which may hold fields of its own, up to the bracket that closes the field of fv.
func (f *fparser) spec(fv *FormattedValue, i, end, depth int) int {
	var vals []Expr
	var lit strings.Builder
	sp := f.p.sp(f.node)
	flush := func() {
		if lit.Len() > 0 {
			vals = append(vals, &Constant{exprNode{sp}, lit.String()})
			lit.Reset()
		}
	}
	i = f.parse(i, end, depth+1, func(t string) { lit.WriteString(t) }, func(e Expr) {
		flush()
		if v, ok := e.(*FormattedValue); ok {
			v.Span = sp
		}
		vals = append(vals, e)
	})
	flush()
	fv.Spec = &JoinedStr{exprNode{sp}, vals}
	return i
}

// expr parses an expression inside an f-string as a small file of its own.
func (f *fparser) expr(start, end int) Expr {
	src := "(" + f.body[start:end] + ")\n"
	off := f.base + start
	line, col := f.p.position(off)
	q := newParser(f.p.filename, src)
	q.fstring = true
	q.lineShift = int32(line - 1)
	q.colShift = int32(col - 1)
	if f.p.fstring {
		q.lineShift += f.p.lineShift
		if line == 1 {
			q.colShift += f.p.colShift
		}
	}
	if f.p.judging {
		j := newParser(f.p.filename, src)
		j.bytes = true
		if e := wrongField(j); e != nil {
			// Columns are taken back by where the field begins, on its other lines, too.
			if brace := f.p.colOf(off - 1); strings.Trim(f.body[start:end], " \t\f")[:1] != "\n" {
				if e.Line > 1 {
					e.Offset -= brace
				}
				if e.EndLine > 1 {
					e.EndOffset -= brace
				}
			}
			e.Line += int(q.lineShift)
			e.EndLine += int(q.lineShift)
			panic(fieldError{e})
		}
		return nil
	}
	root := parseTree(src)
	if root == nil || root.err || len(root.kids) != 1 || root.kids[0].kind != "expression_statement" || len(root.kids[0].kids) != 1 {
		f.fail("invalid syntax")
	}
	return q.expr(root.kids[0].kids[0])
}

func (p *parser) colOf(off int) int {
	_, col := p.position(off)
	return col
}

// position gives line (from 1) and byte column of an offset.
func (p *parser) position(off int) (line, col int) {
	lo, hi := 0, len(p.lines)
	for hi-lo > 1 {
		m := (lo + hi) / 2
		if p.lines[m] <= off {
			lo = m
		} else {
			hi = m
		}
	}
	return lo + 1, off - p.lines[lo]
}
