package vm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/wtf8"
)

// FormatException prints an error as CPython 3.11 prints an uncaught exception.
func (in *Interp) FormatException(err error) string {
	var r *Raised
	if !errors.As(err, &r) {
		return err.Error() + "\n"
	}
	var sb strings.Builder
	formatExc(in, &sb, r.Exc, format{seen: map[*Exception]bool{}, suggest: true, chain: true})
	return sb.String()
}

// FormatSyntaxError prints an error of package syntax as the SyntaxError that it is for a script.
func (in *Interp) FormatSyntaxError(err error) string {
	return in.FormatException(syntaxError(in, err))
}

// FormatExceptionObj prints an exception object, with its chain if asked, as the traceback module does: that makes no
// suggestions for misspelt names.
func (in *Interp) FormatExceptionObj(e *Exception, chain bool) string {
	var sb strings.Builder
	formatExc(in, &sb, e, format{seen: map[*Exception]bool{}, chain: chain})
	return sb.String()
}

// format is how exceptions are printed.
type format struct {
	seen    map[*Exception]bool
	suggest bool
	chain   bool
	depth   int // of groups
}

// Groups print this many members, to this depth.
const groupWidth, groupDepth = 15, 10

// margin puts the bar of a group's depth before every line.
func (f format) margin(sb *strings.Builder, bar, text string) {
	if f.depth == 0 {
		sb.WriteString(text)
		return
	}
	for line := range strings.Lines(text) {
		sb.WriteString(strings.Repeat("  ", f.depth) + bar + " " + line)
	}
}

// formatExc prints an exception with what it was caused by, or raised while handling, above it; seen keeps cycles out.
func formatExc(in *Interp, sb *strings.Builder, e *Exception, f format) {
	f.seen[e] = true
	if c, ok := e.Cause.(*Exception); ok && f.chain && !f.seen[c] {
		formatExc(in, sb, c, f)
		f.margin(sb, "|", "\nThe above exception was the direct cause of the following exception:\n\n")
	} else if f.chain && e.Context != nil && !e.Suppress && !f.seen[e.Context] {
		formatExc(in, sb, e.Context, f)
		f.margin(sb, "|", "\nDuring handling of the above exception, another exception occurred:\n\n")
	}
	if e.Class.IsSubtype(in.Exc.BaseExceptionGroup) {
		formatGroup(in, sb, e, f)
		return
	}
	if e.Traceback != nil {
		f.margin(sb, "|", "Traceback (most recent call last):\n"+in.FormatTB(e.Traceback))
	}
	f.margin(sb, "|", exceptionOnly(in, e, f.suggest))
}

// formatGroup prints a group with its members indented in boxes, groupWidth of them at most and groupDepth deep.
func formatGroup(in *Interp, sb *strings.Builder, e *Exception, f format) {
	if f.depth > groupDepth {
		f.margin(sb, "|", fmt.Sprintf("... (max_group_depth is %d)\n", groupDepth))
		return
	}
	bar := "|"
	if f.depth == 0 {
		f.depth, bar = 1, "+"
	}
	if e.Traceback != nil {
		f.margin(sb, bar, "Exception Group Traceback (most recent call last):\n")
		f.margin(sb, "|", in.FormatTB(e.Traceback))
	}
	f.margin(sb, "|", exceptionOnly(in, e, f.suggest))
	members := groupMembers(e)
	indent := strings.Repeat("  ", f.depth)
	inner := f
	inner.depth++
	closed := false
	for i, m := range members {
		corner, title := "  ", fmt.Sprint(i+1)
		if i == 0 {
			corner = "+-"
		}
		if i == groupWidth {
			title = "..."
		}
		sb.WriteString(indent + corner + "+---------------- " + title + " ----------------\n")
		if i == groupWidth {
			pl := "s"
			if len(members) == i+1 {
				pl = ""
			}
			inner.margin(sb, "|", fmt.Sprintf("and %d more exception%s\n", len(members)-i, pl))
			break
		}
		sub, ok := m.(*Exception)
		if !ok {
			continue
		}
		formatExc(in, sb, sub, inner)
		// A group that comes last has drawn the closing line already.
		closed = sub.Class.IsSubtype(in.Exc.BaseExceptionGroup)
	}
	if !closed || len(members) > groupWidth {
		sb.WriteString(strings.Repeat("  ", inner.depth) + "+------------------------------------\n")
	}
}

// FormatTB prints the entries of a traceback.
func (in *Interp) FormatTB(t *Traceback) string {
	var sb strings.Builder
	last, count := "", 0
	flush := func() {
		if count > 3 {
			pl := "s"
			if count == 4 {
				pl = ""
			}
			fmt.Fprintf(&sb, "  [Previous line repeated %d more time%s]\n", count-3, pl)
		}
	}
	for ; t != nil; t = t.Next {
		key := fmt.Sprintf("%s:%d:%s", t.Code.Filename, t.Line(), t.Code.Name)
		if key == last {
			count++
			if count > 3 {
				continue
			}
		} else {
			flush()
			last, count = key, 1
		}
		sb.WriteString(in.FormatEntry(t.Code, t.PC))
	}
	flush()
	return sb.String()
}

// FormatEntry prints one entry of a traceback: file, line, function, source and the carets below it.
func (in *Interp) FormatEntry(c *Code, pc int) string {
	line := c.FirstLine
	var ins code.Instr
	ins.Col = -1
	if pc >= 0 && pc < len(c.Instrs) {
		ins = c.Instrs[pc]
		line = int(ins.Line)
	}
	s := fmt.Sprintf("  File \"%s\", line %d, in %s\n", c.Filename, line, c.Name)
	text := c.sourceLine(in, line)
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return s
	}
	s += "    " + trimmed + "\n"
	if ins.Col < 0 {
		return s
	}
	indent := len(text) - len(strings.TrimLeft(text, " \t\f"))
	body := strings.TrimRight(text, " \t\r\n\f")
	start, end := int(ins.Col), int(ins.EndCol)
	if ins.EndLine != ins.Line {
		end = len(body)
	}
	start, end = min(start, len(body)), min(end, len(body))
	if start < indent || end <= start {
		return s
	}
	from := wtf8.RuneCountInString(body[indent:start])
	n := wtf8.RuneCountInString(body[start:end])
	carets := strings.Repeat("^", n)
	if ins.EndLine == ins.Line {
		if l, r, ok := anchors(ins, body[start:end], c, pc); ok {
			carets = strings.Repeat("~", l) + strings.Repeat("^", r-l) + strings.Repeat("~", n-r)
		}
	}
	// No markers where they would cover the whole line.
	if from == 0 && n == wtf8.RuneCountInString(body[indent:]) && !strings.Contains(carets, "~") {
		return s
	}
	return s + "    " + strings.Repeat(" ", from) + carets + "\n"
}

// anchors finds the operator of a binary operation, or the brackets of a subscript, inside its source.
func anchors(ins code.Instr, seg string, c *Code, pc int) (l, r int, ok bool) {
	switch ins.Op {
	case code.BINARY_OP:
		if ins.Arg >= code.InPlace {
			return 0, 0, false
		}
		op := code.BinOps[ins.Arg]
		// The operator stands after the left operand: its end is where the operand's instruction ends.
		depth := 0
		best := -1
		var quote byte
		for i := 0; i < len(seg); i++ {
			ch := seg[i]
			if quote != 0 {
				if ch == '\\' {
					i++
				} else if ch == quote {
					quote = 0
				}
				continue
			}
			switch ch {
			case '\'', '"':
				quote = ch
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			default:
				if depth == 0 && i > 0 && strings.HasPrefix(seg[i:], op) {
					// Not part of a longer operator.
					next := ""
					if i+len(op) < len(seg) {
						next = seg[i+len(op) : i+len(op)+1]
					}
					if (op == "*" || op == "/") && next == op {
						i++
						continue
					}
					if op == "-" || op == "+" {
						p := strings.TrimRight(seg[:i], " \t")
						if p == "" || strings.HasSuffix(p, "e") && len(p) > 1 && p[len(p)-2] >= '0' && p[len(p)-2] <= '9' || strings.IndexByte("+-*/%@<>&|^~,(=", p[len(p)-1]) >= 0 {
							continue
						}
					}
					best = i
					if op == "**" {
						goto done
					}
					i += len(op) - 1
				}
			}
		}
	done:
		if best < 0 {
			return 0, 0, false
		}
		return wtf8.RuneCountInString(seg[:best]), wtf8.RuneCountInString(seg[:best]) + len(op), true
	case code.BINARY_SUBSCR:
		// The subscript that ends the segment.
		depth := 0
		for i := len(seg) - 1; i > 0; i-- {
			switch seg[i] {
			case ']', ')', '}':
				depth++
			case '[', '(', '{':
				depth--
				if depth == 0 {
					if seg[i] != '[' || !strings.HasSuffix(seg, "]") {
						return 0, 0, false
					}
					return wtf8.RuneCountInString(seg[:i]), wtf8.RuneCountInString(seg), true
				}
			}
		}
	}
	return 0, 0, false
}

// sourceLine is the text of a line, "" if there is none to show.
func (c *Code) sourceLine(in *Interp, line int) string {
	text := ""
	if c.Source != nil {
		text = c.Source.Text
	} else if t, ok := in.SourceText(c.Filename); ok {
		text = t
	}
	if c.Source != nil && strings.HasPrefix(c.Filename, "<") {
		return "" // <string> and <stdin> have no file to show
	}
	for i := 1; i < line; i++ {
		j := strings.IndexByte(text, '\n')
		if j < 0 {
			return ""
		}
		text = text[j+1:]
	}
	if j := strings.IndexByte(text, '\n'); j >= 0 {
		text = text[:j]
	}
	return text
}

// FormatExceptionOnly prints the last part: the exception itself, and its notes.
func (in *Interp) FormatExceptionOnly(e *Exception) string { return exceptionOnly(in, e, false) }

// exceptionOnly prints the exception itself with its notes, below the frames. suggest adds what a misspelt name might have meant.
func exceptionOnly(in *Interp, e *Exception, suggest bool) string {
	name := strings.TrimPrefix(e.Class.FullName(), "__main__.")
	var sb strings.Builder
	msg, err := in.Str(e)
	if err != nil {
		msg = "<exception str() failed>"
	}
	if e.Class.IsSubtype(in.Exc.SyntaxError) && e.Field("lineno") != None && e.Field("msg") != None {
		formatSyntax(in, &sb, e, name, !suggest)
	} else if e.Class.IsSubtype(in.Exc.NameError) || e.Class.IsSubtype(in.Exc.AttributeError) {
		if suggest {
			msg += e.didYouMean(in)
		}
		sb.WriteString(strings.TrimSuffix(name+": "+msg, ": ") + "\n")
	} else if msg == "" {
		sb.WriteString(name + "\n")
	} else {
		sb.WriteString(name + ": " + msg + "\n")
	}
	if n, ok := e.Dict.GetStr("__notes__"); ok {
		notes, _ := in.IterAll(n)
		for _, note := range notes {
			s, _ := in.Str(note)
			sb.WriteString(s + "\n")
		}
	}
	return sb.String()
}

// formatSyntax prints where a SyntaxError is. What prints an error that nobody caught, and the traceback module (module is
// true), treat a mistake of several lines and white space each in its own way.
func formatSyntax(in *Interp, sb *strings.Builder, e *Exception, name string, module bool) {
	file, _ := AsStr(e.Field("filename"))
	if file == "" {
		file = "<string>"
	}
	line, _ := AsInt(e.Field("lineno"))
	fmt.Fprintf(sb, "  File \"%s\", line %d\n", file, line)
	if text, ok := AsStr(e.Field("text")); ok {
		white := " \t\f"
		if module {
			white = " \n\f"
		}
		body := strings.TrimRight(text, "\n")
		shown := strings.TrimLeft(body, white)
		sb.WriteString("    " + shown + "\n")
		if off, ok := AsInt(e.Field("offset")); ok && off >= 1 {
			end, _ := AsInt(e.Field("end_offset"))
			if endLine, _ := AsInt(e.Field("end_lineno")); !module && endLine > line {
				end = int64(len(text))
			}
			if end == 0 || end == off || end == -1 || !module && end < off {
				end = off + 1
			}
			if past := int64(wtf8.RuneCountInString(body)) + 1; !module && end > past {
				end = max(past, off+1)
			}
			if col := int(off) - 1 - wtf8.RuneCountInString(body) + wtf8.RuneCountInString(shown); col >= 0 {
				sb.WriteString("    " + caretSpace(shown, col, module) + strings.Repeat("^", max(0, int(end-off))) + "\n")
			}
		}
	}
	msg, _ := in.Str(e.Field("msg"))
	sb.WriteString(name + ": " + msg + "\n")
}

// caretSpace is what stands before the carets under column col; the traceback module keeps white space such as tabs.
func caretSpace(text string, col int, keep bool) string {
	if !keep {
		return strings.Repeat(" ", col)
	}
	var sb strings.Builder
	for _, r := range text {
		if col--; col < 0 {
			break
		}
		if !isSpace(r) {
			r = ' '
		}
		wtf8.WriteRune(&sb, r)
	}
	return sb.String()
}

// didYouMean suggests a name for NameError and AttributeError.
func (e *Exception) didYouMean(in *Interp) string {
	wrong, ok := AsStr(e.Field("name"))
	if !ok {
		return ""
	}
	var groups [][]string // the first that has a likely name gives it
	addKeys := func(d *Dict) {
		var names []string
		d.Each(func(k, _ Object) bool {
			if s, ok := k.(Str); ok {
				names = append(names, string(s))
			}
			return true
		})
		groups = append(groups, names)
	}
	if e.Class.IsSubtype(in.Exc.AttributeError) {
		obj := e.Field("obj")
		if obj == None {
			return ""
		}
		l, err := in.dir(obj)
		if err != nil {
			return ""
		}
		var names []string
		for _, n := range l.Items {
			if s, ok := n.(Str); ok {
				names = append(names, string(s))
			}
		}
		groups = append(groups, names)
	} else {
		t := e.Traceback
		if t == nil {
			return ""
		}
		for t.Next != nil {
			t = t.Next
		}
		if t.Code.Flags&code.Optimized != 0 {
			groups = append(groups, slices.Concat(t.Code.VarNames, t.Code.CellVars, t.Code.FreeVars))
		}
		addKeys(t.Globals)
		addKeys(in.builtinsOf(t.Globals))
	}
	for _, names := range groups {
		if s := suggest(wrong, names); s != "" {
			return ". Did you mean: '" + s + "'?"
		}
	}
	return ""
}
