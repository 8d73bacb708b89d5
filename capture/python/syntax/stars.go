package syntax

import (
	"slices"
	"strings"
)

// The grammar knows starred items of a tuple without brackets only for names: `x = 1, *[2]` is an error to it. Such a
// tuple is given brackets and the file parsed again; positions are mapped back.

// wrapStars returns the source with brackets around tuples that hold starred items, and where it put them.
func wrapStars(p *parser, toks []tok) (string, []int) {
	var at []int // offsets in the source, in order; each gets a bracket, opening and closing in turn
	offset := func(s Span) int { return p.lines[s.Line-1] + int(s.Col) }
	endOffset := func(s Span) int { return p.lines[s.EndLine-1] + int(s.EndCol) }
	for _, line := range logicalLines(toks) {
		depth := 0
		start := 0 // first token of the current expression list
		star, lambda := false, false
		flush := func(end int, assign bool) {
			if star && !lambda && !assign && end > start {
				at = append(at, offset(line[start].span), endOffset(line[end-1].span))
			}
			start, star, lambda = end+1, false, false
		}
		for i, t := range line {
			if t.kind == "newline" || t.kind == "end" {
				flush(i, false)
				break
			}
			if t.kind == "name" && depth == 0 {
				switch t.text {
				case "return", "yield", "in", "del", "import", "from":
					start, star, lambda = i+1, false, false
				case "lambda":
					lambda = true
				}
				continue
			}
			if t.kind != "op" {
				continue
			}
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			case "*":
				if i > 0 && line[i-1].text == "except" {
					break
				}
				if depth == 0 && i >= start && (i == start || !operandEnd(&line[i-1])) {
					star = true
				}
			case "=":
				if depth == 0 {
					flush(i, true)
				}
			case ":", ";":
				if depth == 0 && !lambda {
					flush(i, false)
				}
			default:
				if depth == 0 && len(t.text) > 1 && strings.HasSuffix(t.text, "=") && !slices.Contains([]string{"==", "!=", "<=", ">=", ":="}, t.text) {
					flush(i, true)
				}
			}
		}
	}
	if len(at) == 0 {
		return "", nil
	}
	var sb strings.Builder
	last := 0
	for i, o := range at {
		if o < last {
			return "", nil
		}
		sb.WriteString(p.src[last:o])
		sb.WriteByte("()"[i%2])
		last = o
	}
	sb.WriteString(p.src[last:])
	return sb.String(), at
}

// unwrapped maps a position in the bracketed source back to the original.
func (p *parser) unwrapped(s Span) Span {
	if p.orig == nil {
		return s
	}
	back := func(line, col int32) int32 {
		off := p.lines[line-1] + int(col)
		n := int32(0)
		for i, o := range p.inserted {
			at := o + i // where the bracket stands in the bracketed source
			if at >= off {
				break
			}
			if at >= p.lines[line-1] {
				n++
			}
		}
		return col - n
	}
	return Span{s.Line, back(s.Line, s.Col), s.EndLine, back(s.EndLine, s.EndCol)}
}

// operandEnd reports whether a token can be the last one of an operand.
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

// logicalLines parts tokens into statements' lines.
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

// joined parses the source with each bracket on one line, and f-strings as strings: the tree-sitter grammar does not know every
// place in which a line may end, nor every expression of a replacement field, which are read on their own later. Nil if that
// does not help. Nothing moves, so positions are those of the source.
func (p *parser) joined(toks []tok) *cst {
	b := []byte(p.src)
	for i := range toks {
		t := &toks[i]
		if t.kind == "str" {
			start := p.lines[t.span.Line-1] + int(t.span.Col)
			for k := start; k < start+len(t.text); k++ {
				if b[k] == '{' || b[k] == '}' {
					b[k] = '_'
				}
			}
		}
		if i == 0 || toks[i-1].level == 0 || t.span.Col < 0 {
			continue
		}
		from := p.lines[toks[i-1].span.EndLine-1] + int(toks[i-1].span.EndCol)
		for k := from; k < p.lines[t.span.Line-1]+int(t.span.Col); k++ {
			b[k] = ' '
		}
	}
	root := parseTree(string(b))
	if root == nil || root.err || root.kind == "ERROR" {
		return nil
	}
	var place func(c *cst)
	place = func(c *cst) {
		line, col := p.position(c.start)
		endLine, endCol := p.position(c.end)
		c.span = Span{int32(line), int32(col), int32(endLine), int32(endCol)}
		for _, k := range c.kids {
			place(k)
		}
	}
	place(root)
	return root
}
