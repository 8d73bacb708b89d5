package stdlib

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"whittle/capture/python/literal"
)

// Flags of patterns, with Python's values.
const (
	reIgnoreCase = 2
	reLocale     = 4
	reMultiline  = 8
	reDotAll     = 16
	reUnicode    = 32
	reVerbose    = 64
	reASCII      = 256
	reKind       = reASCII | reUnicode | reLocale
)

var reFlags = map[rune]int{'i': reIgnoreCase, 'L': reLocale, 'm': reMultiline, 's': reDotAll, 'x': reVerbose, 'a': reASCII, 'u': reUnicode}

// reError is what is wrong with a pattern. pos counts characters; -1: nowhere in particular.
type reError struct {
	msg string
	pos int
}

func (e *reError) Error() string { return e.msg }

const reMax = 1 << 31

// piece is a part of a pattern in the spelling of the matching library, and how many characters it can match.
type piece struct {
	text   string
	lo, hi int
	one    bool // a quantifier after it would apply to all of it
	kind   byte // 'a' an anchor, 'r' repeated, else 0
}

// reParser reads a pattern as CPython 3.11 does, with its errors. It writes all groups without their names, so that they are
// numbered from left to right, and spells out what flags mean where the matching library has another idea of it.
type reParser struct {
	src    []rune
	at     int
	bytes  bool
	flags  int  // in force at this point
	global int  // of the whole pattern
	again  bool // the verbose flag came up inside: to be read anew

	names  []string // of groups 1, 2, ...; "" for none
	open   map[int]bool
	behind int         // groups there were when the outermost look-behind began; -1 outside
	refs   map[int]int // groups that conditions ask for, and where
}

func (p *reParser) fail(pos int, format string, args ...any) {
	panic(&reError{fmt.Sprintf(format, args...), pos})
}

// next is the coming character and whether there is one; an escape is one with what follows it.
func (p *reParser) peek() string {
	if p.at >= len(p.src) {
		return ""
	}
	if p.src[p.at] == '\\' {
		if p.at+1 >= len(p.src) {
			p.fail(p.at, "bad escape (end of pattern)")
		}
		return string(p.src[p.at : p.at+2])
	}
	return string(p.src[p.at])
}

func (p *reParser) get() string {
	s := p.peek()
	p.at += len([]rune(s))
	return s
}

func (p *reParser) match(s string) bool {
	if p.peek() == s {
		p.at += len([]rune(s))
		return true
	}
	return false
}

func (p *reParser) while(n int, chars string) string {
	i := p.at
	for p.at < len(p.src) && p.at-i < n && strings.ContainsRune(chars, p.src[p.at]) {
		p.at++
	}
	return string(p.src[i:p.at])
}

// until reads a name up to its end mark.
func (p *reParser) until(end, what string) string {
	s := ""
	for {
		c := p.get()
		if c == "" {
			if s == "" {
				p.fail(p.at, "missing %s", what)
			}
			p.fail(p.at-len([]rune(s)), "missing %s, unterminated name", end)
		}
		if c == end {
			if s == "" {
				p.fail(p.at-1, "missing %s", what)
			}
			return s
		}
		s += c
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// groupName reads a group's name and its end mark.
func (p *reParser) groupName(end string) string {
	name := p.until(end, "group name")
	if !isIdentifier(name) {
		p.fail(p.at-len([]rune(name))-1, "bad character in group name %s", literal.Str(name))
	}
	return name
}

// parseRegexp translates a pattern.
func parseRegexp(pattern string, flags int, isBytes bool) (text string, names []string, all int, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*reError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	for {
		p := &reParser{src: []rune(pattern), bytes: isBytes, flags: flags, global: flags, open: map[int]bool{}, behind: -1, refs: map[int]int{}}
		out := p.alternatives(true)
		if p.again {
			flags |= p.global
			continue
		}
		if p.at < len(p.src) {
			p.fail(p.at, "unbalanced parenthesis")
		}
		for _, g := range slices.Sorted(keysOf(p.refs)) {
			if g > len(p.names) {
				p.fail(p.refs[g], "invalid group reference %d", g)
			}
		}
		return out.text, p.names, p.global, nil
	}
}

func keysOf[K comparable, V any](m map[K]V) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (p *reParser) alternatives(first bool) piece {
	var out piece
	var texts []string
	for {
		s := p.sequence(first && len(texts) == 0)
		if p.again {
			return out
		}
		if len(texts) == 0 {
			out.lo, out.hi = s.lo, s.hi
		}
		out.lo, out.hi = min(out.lo, s.lo), max(out.hi, s.hi)
		texts = append(texts, s.text)
		if !p.match("|") {
			break
		}
	}
	out.text = strings.Join(texts, "|")
	return out
}

func (p *reParser) sequence(first bool) piece {
	var items []piece
	for !p.again {
		c := p.peek()
		if c == "" || c == "|" || c == ")" {
			break
		}
		start := p.at
		p.get()
		if p.flags&reVerbose != 0 {
			if strings.ContainsAny(c, " \t\n\r\v\f") && len(c) == 1 {
				continue
			}
			if c == "#" {
				for p.at < len(p.src) && p.get() != "\n" {
				}
				continue
			}
		}
		switch {
		case c[0] == '\\':
			items = append(items, p.escape(c))
		case c == "[":
			items = append(items, p.class(start))
		case c == "*" || c == "+" || c == "?" || c == "{":
			items = p.repeat(items, c)
		case c == ".":
			t := `[^\n]`
			if p.flags&reDotAll != 0 {
				t = `[\s\S]`
			}
			items = append(items, piece{text: t, lo: 1, hi: 1, one: true})
		case c == "(":
			items = p.group(items, start, first && len(items) == 0)
		case c == "^":
			items = append(items, p.anchor(`\A`, `(?m:^)`))
		case c == "$":
			items = append(items, p.anchor(`\Z`, `(?m:$)`))
		default:
			items = append(items, piece{text: spell([]rune(c)[0]), lo: 1, hi: 1, one: true})
		}
	}
	var out piece
	var sb strings.Builder
	for _, it := range items {
		sb.WriteString(it.text)
		out.lo, out.hi = min(out.lo+it.lo, reMax), min(out.hi+it.hi, reMax)
	}
	out.text = sb.String()
	return out
}

func (p *reParser) anchor(text, lines string) piece {
	if p.flags&reMultiline != 0 {
		text = lines
	}
	return piece{text: text, one: true, kind: 'a'}
}

// spell writes one character.
func spell(r rune) string {
	switch {
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'):
		return string(r)
	case r < 0x80 && unicode.IsPrint(r) && r != ' ':
		return `\` + string(r)
	case r < 0x10000 && (r < 0xd800 || r > 0xdfff):
		return fmt.Sprintf(`\u%04x`, r)
	}
	return string(r)
}

// repeat applies a quantifier to the last item.
func (p *reParser) repeat(items []piece, c string) []piece {
	here := p.at
	lo, hi := 0, reMax
	switch c {
	case "?":
		hi = 1
	case "+":
		lo = 1
	case "{":
		brace := piece{text: `\{`, lo: 1, hi: 1, one: true}
		if p.peek() == "}" {
			return append(items, brace)
		}
		from := p.while(1<<30, "0123456789")
		to := from
		if p.match(",") {
			to = p.while(1<<30, "0123456789")
		}
		if !p.match("}") {
			p.at = here
			return append(items, brace)
		}
		number := func(s string, n *int) {
			if s == "" {
				return
			}
			v, err := strconv.ParseUint(s, 10, 32)
			if err != nil || v == 1<<32-1 {
				panic(&reError{"the repetition number is too large", -2})
			}
			*n = int(v)
		}
		number(from, &lo)
		number(to, &hi)
		if hi < lo {
			p.fail(here, "min repeat greater than max repeat")
		}
	}
	if len(items) == 0 || items[len(items)-1].kind == 'a' {
		p.fail(here-1, "nothing to repeat")
	}
	it := items[len(items)-1]
	if it.kind == 'r' {
		p.fail(here-1, "multiple repeat")
	}
	text := it.text
	if !it.one {
		text = "(?:" + text + ")"
	}
	switch {
	case c != "{":
		text += c
	case hi == reMax:
		text += fmt.Sprintf("{%d,}", lo)
	default:
		text += fmt.Sprintf("{%d,%d}", lo, hi)
	}
	if p.match("?") {
		text += "?"
	} else if p.match("+") {
		text = "(?>" + text + ")"
	}
	times := func(n, k int) int {
		if n != 0 && k > reMax/n {
			return reMax
		}
		return n * k
	}
	items[len(items)-1] = piece{text: text, lo: times(lo, it.lo), hi: times(hi, it.hi), kind: 'r'}
	return items
}

func (p *reParser) ascii() bool {
	return p.flags&reASCII != 0 || p.bytes
}

// category spells \d and its like, alone or, where it is no negation, inside a class.
func (p *reParser) category(c byte, alone bool) string {
	set, not := "", false
	switch c {
	case 'd', 'D':
		set, not = `\d`, c == 'D'
		if p.ascii() {
			set = "0-9"
		}
	case 's', 'S':
		set, not = `\s\x1c-\x1f`, c == 'S'
		if p.ascii() {
			set = ` \t\n\r\f\v`
		}
	case 'w', 'W':
		set, not = `\p{L}\p{N}_`, c == 'W'
		if p.ascii() {
			set = "a-zA-Z0-9_"
		}
	}
	switch {
	case not:
		return "[^" + set + "]"
	case alone:
		return "[" + set + "]"
	}
	return set
}

// numeric reads the escapes that give a character by number or name; ok false if it is none of them.
func (p *reParser) numeric(esc string) (r rune, ok bool) {
	const hex = "0123456789abcdefABCDEF"
	start := p.at - 2
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[esc[1]]
	if n > 0 && (esc[1] == 'x' || !p.bytes) {
		digits := p.while(n, hex)
		if len(digits) != n {
			p.fail(start, "incomplete escape %s", esc+digits)
		}
		v, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || v > unicode.MaxRune {
			p.fail(start, "bad escape %s", esc+digits)
		}
		return rune(v), true
	}
	if esc[1] == 'N' && !p.bytes {
		if !p.match("{") {
			p.fail(p.at, "missing {")
		}
		name := p.until("}", "character name")
		p.fail(start, "undefined character name %s", literal.Str(name))
	}
	return 0, false
}

var reEscapes = map[string]rune{`\a`: '\a', `\f`: '\f', `\n`: '\n', `\r`: '\r', `\t`: '\t', `\v`: '\v', `\\`: '\\'}

func (p *reParser) octal(start int, digits string) rune {
	v, err := strconv.ParseUint(digits, 8, 32)
	if err != nil || v > 0o377 {
		p.fail(start, `octal escape value \%s outside of range 0-0o377`, digits)
	}
	return rune(v)
}

const wordBoundary = `(?:(?<=[a-zA-Z0-9_])(?![a-zA-Z0-9_])|(?<![a-zA-Z0-9_])(?=[a-zA-Z0-9_]))`

// escape reads an escape outside of a class.
func (p *reParser) escape(esc string) piece {
	start := p.at - 2
	char := func(r rune) piece { return piece{text: spell(r), lo: 1, hi: 1, one: true} }
	if r, ok := reEscapes[esc]; ok {
		return char(r)
	}
	c := esc[1]
	switch c {
	case 'A':
		return piece{text: `\A`, one: true, kind: 'a'}
	case 'Z':
		return piece{text: `\z`, one: true, kind: 'a'}
	case 'b', 'B':
		t := esc
		if p.ascii() {
			t = wordBoundary
			if c == 'B' {
				t = "(?!" + wordBoundary + ")"
			}
		}
		return piece{text: t, one: true, kind: 'a'}
	case 'd', 'D', 's', 'S', 'w', 'W':
		return piece{text: p.category(c, true), lo: 1, hi: 1, one: true}
	case '0':
		return char(p.octal(start, "0"+p.while(2, "01234567")))
	}
	if r, ok := p.numeric(esc); ok {
		return char(r)
	}
	if c >= '1' && c <= '9' {
		digits := esc[1:]
		if d := p.while(1, "0123456789"); d != "" {
			digits += d
			if c <= '7' && d <= "7" {
				if o := p.while(1, "01234567"); o != "" {
					return char(p.octal(start, digits+o))
				}
			}
		}
		g, _ := strconv.Atoi(digits)
		if g > len(p.names) {
			p.fail(start+1, "invalid group reference %d", g)
		}
		return p.reference(g, start)
	}
	if c < 0x80 && unicode.IsLetter(rune(c)) {
		p.fail(start, "bad escape %s", esc)
	}
	return char([]rune(esc)[1])
}

// reference is what a group matched.
func (p *reParser) reference(g, pos int) piece {
	if p.open[g] {
		p.fail(pos, "cannot refer to an open group")
	}
	if p.behind >= 0 && g > p.behind {
		p.fail(pos, "cannot refer to group defined in the same lookbehind subpattern")
	}
	return piece{text: fmt.Sprintf(`(?:\%d)`, g), lo: 0, hi: reMax, one: true}
}

// class reads a set of characters.
func (p *reParser) class(start int) piece {
	var sb strings.Builder
	var others []string // what is not in a category, as classes of their own
	not := p.match("^")
	empty := true
	item := func() (src string, r rune, set string) {
		src = p.get()
		if src == "" {
			p.fail(start, "unterminated character set")
		}
		if src[0] != '\\' {
			return src, []rune(src)[0], ""
		}
		at := p.at - 2
		if r, ok := reEscapes[src]; ok {
			return src, r, ""
		}
		c := src[1]
		if c == 'b' {
			return src, '\b', ""
		}
		if strings.IndexByte("dDsSwW", c) >= 0 {
			return src, 0, p.category(c, c < 'a')
		}
		if r, ok := p.numeric(src); ok {
			return string(p.src[at:p.at]), r, ""
		}
		if c >= '0' && c <= '7' {
			digits := src[1:] + p.while(2, "01234567")
			return `\` + digits, p.octal(at, digits), ""
		}
		if c < 0x80 && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) {
			p.fail(at, "bad escape %s", src)
		}
		return src, []rune(src)[1], ""
	}
	for {
		if p.peek() == "]" && !empty {
			p.get()
			break
		}
		empty = false
		from := p.at
		src, lo, set := item()
		one := func() {
			if strings.HasPrefix(set, "[^") {
				others = append(others, set)
			} else if set != "" {
				sb.WriteString(set)
			} else {
				sb.WriteString(spell(lo))
			}
		}
		if !p.match("-") {
			one()
			continue
		}
		if p.peek() == "]" {
			p.get()
			one()
			sb.WriteString(`\-`)
			break
		}
		src2, hi, set2 := item()
		if set != "" || set2 != "" || hi < lo {
			p.fail(from, "bad character range %s-%s", src, src2)
		}
		sb.WriteString(spell(lo) + "-" + spell(hi))
	}
	text := sb.String()
	switch {
	case len(others) > 0:
		if text != "" {
			others = append(others, "["+text+"]")
		}
		text = "(?:" + strings.Join(others, "|") + ")"
		if not {
			text = "(?:(?!" + text + `)[\s\S])`
		}
	case not:
		text = "[^" + text + "]"
	default:
		text = "[" + text + "]"
	}
	return piece{text: text, lo: 1, hi: 1, one: true}
}

func (p *reParser) closing(start int) {
	if !p.match(")") {
		p.fail(start, "missing ), unterminated subpattern")
	}
}

// group reads what an opening bracket begins.
func (p *reParser) group(items []piece, start int, first bool) []piece {
	name, capture, prefix := "", true, "("
	flags := p.flags
	if p.match("?") {
		capture = false
		c := p.get()
		switch {
		case c == "":
			p.fail(p.at, "unexpected end of pattern")
		case c == "P":
			if p.match("<") {
				name, capture = p.groupName(">"), true
				break
			}
			if p.match("=") {
				ref := p.groupName(")")
				pos := p.at - len([]rune(ref)) - 1
				g := slices.Index(p.names, ref) + 1
				if g == 0 {
					p.fail(pos, "unknown group name %s", literal.Str(ref))
				}
				return append(items, p.reference(g, pos))
			}
			c = p.get()
			if c == "" {
				p.fail(p.at, "unexpected end of pattern")
			}
			p.fail(p.at-2-len([]rune(c)), "unknown extension ?P%s", c)
		case c == ":":
			prefix = "(?:"
		case c == ">":
			prefix = "(?>"
		case c == "#":
			for {
				c := p.get()
				if c == "" {
					p.fail(start, "missing ), unterminated comment")
				}
				if c == ")" {
					return items
				}
			}
		case c == "=" || c == "!" || c == "<":
			return append(items, p.look(c, start))
		case c == "(":
			return append(items, p.condition(start))
		case c == "-" || len(c) == 1 && reFlags[rune(c[0])] != 0:
			add, del, scoped := p.readFlags(c)
			if !scoped {
				if !first {
					p.fail(start, "global flags not at the start of the expression")
				}
				p.again = add&reVerbose != 0 && p.global&reVerbose == 0
				p.global |= add
				p.flags |= add
				return items
			}
			if add&reKind != 0 {
				p.flags &^= reKind
			}
			p.flags = (p.flags | add) &^ del
			prefix = "(?:"
			if add&reIgnoreCase != 0 {
				prefix = "(?i:"
			} else if del&reIgnoreCase != 0 {
				prefix = "(?-i:"
			}
		default:
			p.fail(p.at-1-len([]rune(c)), "unknown extension ?%s", c)
		}
	}
	g := 0
	if capture {
		if was := slices.Index(p.names, name) + 1; name != "" && was > 0 {
			p.fail(p.at-len([]rune(name))-1, "redefinition of group name %s as group %d; was group %d", literal.Str(name), len(p.names)+1, was)
		}
		p.names = append(p.names, name)
		g = len(p.names)
		p.open[g] = true
	}
	body := p.alternatives(false)
	p.closing(start)
	delete(p.open, g)
	p.flags = flags
	return append(items, piece{text: prefix + body.text + ")", lo: body.lo, hi: body.hi, one: true})
}

// look reads a look-ahead or a look-behind.
func (p *reParser) look(c string, start int) piece {
	prefix, behind := "(?"+c, p.behind
	if c == "<" {
		c = p.get()
		if c == "" {
			p.fail(p.at, "unexpected end of pattern")
		}
		if c != "=" && c != "!" {
			p.fail(p.at-2-len([]rune(c)), "unknown extension ?<%s", c)
		}
		prefix += c
		if p.behind < 0 {
			p.behind = len(p.names)
		}
	}
	body := p.alternatives(false)
	p.closing(start)
	p.behind = behind
	if strings.HasPrefix(prefix, "(?<") && body.lo != body.hi {
		p.fail(-1, "look-behind requires fixed-width pattern")
	}
	return piece{text: prefix + body.text + ")", one: true}
}

// condition reads (?(group)yes|no).
func (p *reParser) condition(start int) piece {
	name := p.until(")", "group name")
	pos := p.at - len([]rune(name)) - 1
	g := 0
	if isIdentifier(name) {
		if g = slices.Index(p.names, name) + 1; g == 0 {
			p.fail(pos, "unknown group name %s", literal.Str(name))
		}
	} else {
		n, err := strconv.ParseUint(name, 10, 31)
		if err != nil {
			p.fail(pos, "bad character in group name %s", literal.Str(name))
		}
		if g = int(n); g == 0 {
			p.fail(pos, "bad group number")
		}
	}
	if _, ok := p.refs[g]; !ok {
		p.refs[g] = pos
	}
	yes := p.sequence(false)
	no := piece{}
	if p.match("|") {
		no = p.sequence(false)
		if p.peek() == "|" {
			p.fail(p.at, "conditional backref with more than two branches")
		}
	}
	p.closing(start)
	return piece{text: fmt.Sprintf("(?(%d)%s|%s)", g, yes.text, no.text), lo: min(yes.lo, no.lo), hi: max(yes.hi, no.hi), one: true}
}

// readFlags reads flags inside a pattern from their first character on; scoped says that they hold for the group that follows.
func (p *reParser) readFlags(c string) (add, del int, scoped bool) {
	flag := func(c, missing string) int {
		if c == "" {
			p.fail(p.at, "%s", missing)
		}
		r := []rune(c)[0]
		f := reFlags[r]
		if f == 0 {
			if unicode.IsLetter(r) {
				missing = "unknown flag"
			}
			p.fail(p.at-len([]rune(c)), "%s", missing)
		}
		return f
	}
	if c != "-" {
		for {
			f := flag(c, "missing -, : or )")
			if f == reLocale && !p.bytes {
				p.fail(p.at, "bad inline flags: cannot use 'L' flag with a str pattern")
			}
			if f == reUnicode && p.bytes {
				p.fail(p.at, "bad inline flags: cannot use 'u' flag with a bytes pattern")
			}
			add |= f
			if f&reKind != 0 && add&reKind != f {
				p.fail(p.at, "bad inline flags: flags 'a', 'u' and 'L' are incompatible")
			}
			c = p.get()
			if c == ")" {
				return add, 0, false
			}
			if c == "-" || c == ":" {
				break
			}
			if c == "" {
				p.fail(p.at, "missing -, : or )")
			}
		}
	}
	if c == "-" {
		c = p.get()
		for missing := "missing flag"; ; missing = "missing :" {
			f := flag(c, missing)
			if f&reKind != 0 {
				p.fail(p.at, "bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
			}
			del |= f
			if c = p.get(); c == ":" {
				break
			}
		}
	}
	if add&del != 0 {
		p.fail(p.at-1, "bad inline flags: flag turned on and off")
	}
	return add, del, true
}
