package syntax

import "strings"

// Typed says how to read a text that a person is typing, as the mode and flags of compile() do.
type Typed struct {
	Single     bool // one statement, or several simple ones on a line
	Incomplete bool // a text that lacks its end is a SyntaxError "incomplete input": PyCF_ALLOW_INCOMPLETE_INPUT
	KeepIndent bool // an indented block goes on until a line ends it: PyCF_DONT_IMPLY_DEDENT

	cut bool // the text has no newline at its end
}

// ParseTyped parses a module, or what else how says. The error is always an *Error.
func ParseTyped(filename, src string, how Typed) (*File, error) {
	rule := "file"
	if how.Single {
		rule = "interactive"
	}
	return parse(filename, src, rule, how)
}

// incomplete is the error of a text whose end was reached before the grammar had all that it wants, nil where it was not reached.
func (r *peg) incomplete() *Error {
	if !r.typed.Incomplete || r.fill == 0 || !r.atEnd(r.fill-1) {
		return nil
	}
	e := r.uncut(r.raiseLast("SyntaxError", "incomplete input"))
	switch t := &r.toks[r.fill-1]; {
	case unfinished(t):
		e.Offset, e.EndOffset = e.Offset-1, -1
	case t.kind == "error" || t.kind == "newline" || t.span.Col < 0:
		e.Offset, e.EndOffset = charCol(e.Text, len(e.Text)), -1
	}
	return e
}

// unfinished reports whether a token is a string without an end.
func unfinished(t *tok) bool {
	return t.kind == "error" && t.bad != nil && strings.HasPrefix(t.bad.Msg, "unterminated")
}

// atEnd reports whether reading a token has reached the end of the text.
func (r *peg) atEnd(i int) bool {
	t := &r.toks[i]
	if t.kind == "error" {
		triple := unfinished(t) && strings.HasPrefix(t.bad.Msg, "unterminated triple-quoted")
		return len(t.open) > 0 && t.late || triple || strings.HasPrefix(t.bad.Msg, "unexpected EOF") || r.typed.cut && unfinished(t) && int(t.span.Line) >= len(r.p.lines)-1
	}
	for _, next := range r.toks[i+1:] {
		rest := next.kind == "newline" || next.kind == "error" && next.late // of the end that the text lacks
		if next.kind != "dedent" && next.kind != "end" && !(r.typed.cut && rest) {
			return false
		}
	}
	return t.kind == "end" || t.kind == "dedent" || r.typed.cut
}

// uncut takes from an error's line the newline that the text does not have.
func (r *peg) uncut(e *Error) *Error {
	if e != nil && r.typed.cut && e.Line >= len(r.p.lines)-1 {
		e.Text = strings.TrimSuffix(e.Text, "\n")
	}
	return e
}

// single finds what is wrong with a text that the rule interactive has matched: a block that is not closed, or a second statement.
func (r *peg) single() *Error {
	end := min(r.pos, len(r.toks)-1)
	if r.toks[end].kind != "end" {
		return r.raise("SyntaxError", r.toks[end-1].span, "multiple statements found while compiling a single statement")
	}
	if !r.typed.cut {
		return nil
	}
	r.pos = 0
	_, compound := r.rule(r.g.byName["compound_stmt"])
	if !compound || r.toks[end-1].kind == "dedent" && !r.typed.KeepIndent {
		return nil
	}
	r.fill = max(r.fill, end+1)
	if e := r.incomplete(); e != nil {
		return e
	}
	line := r.toks[end-1].span.Line
	return r.raise("SyntaxError", Span{line, -1, line, -1}, "invalid syntax")
}
