package syntax

import (
	_ "embed"
	"strings"
	"sync"
)

// pegSource is the grammar; its head explains the notation.
//
//go:embed python.peg
var pegSource string

// A pegItem is one element of an alternative.
type pegItem struct {
	op   pegOp
	arg  int        // token number or rule number
	sub  []*pegItem // what is repeated, looked for, or stands between
	alts []*pegAlt  // of a group
	name string     // what an action calls it
	text string     // of a soft keyword, a forced token or a check
}

// pegOp is what an item of the grammar asks for: a token, a soft keyword, a rule, a group, any of these optional or repeated, a look ahead,
// an error if it is missing (opForce), the end of going back (opCut), or a check.
type pegOp uint8

const (
	opToken pegOp = iota
	opSoft
	opRule
	opGroup
	opMaybe
	opStar
	opPlus
	opGather
	opAhead
	opNot
	opForce
	opCut
	opCheck
)

// pegAlt is an alternative of a rule: its items in a row, and what they make.
type pegAlt struct {
	items   []*pegItem
	kind    string // "#Kind"
	result  string // "=> n"
	fail    *pegFail
	action  string
	args    []string
	invalid bool // is tried in the second pass only
	first   tokenSet
	any     bool // may begin with any token, or none
}

// A tokenSet holds numbers of tokens, of which there are fewer than 128.
type tokenSet [2]uint64

func (s *tokenSet) add(t int)      { s[t>>6&1] |= 1 << (t & 63) }
func (s *tokenSet) has(t int) bool { return t >= 0 && s[t>>6&1]>>(t&63)&1 != 0 }
func (s *tokenSet) join(o tokenSet) {
	s[0] |= o[0]
	s[1] |= o[1]
}

// A pegFail is the error that an alternative stands for.
type pegFail struct {
	from, to string // captures, "last" or "indent"; to may be ">"
	text     string
	args     [][2]string // function and capture
}

// pegRule is a rule: the first alternative that matches counts. What memo, left and plain mean is said at the head of the grammar.
type pegRule struct {
	name              string
	alts              []*pegAlt
	memo, left, plain bool
	first             tokenSet
	any               bool
	state             uint8 // of the search for first tokens: 0 not begun, 1 begun, 2 done
}

// pegGrammar is the grammar as it is read from python.peg.
type pegGrammar struct {
	rules  []*pegRule
	byName map[string]int
	tokens map[string]int // literals and token kinds
}

// loadPeg reads the grammar once; it is embedded, so a mistake in it is ours.
var loadPeg = sync.OnceValue(func() *pegGrammar { return readPeg(pegSource) })

// pnode is what matched a rule. The kind is one of pegKinds, "" for a list or a token.
type pnode struct {
	kind        string
	first, last int // tokens
	kids        []*pnode
}

// pegMemo is what a rule came to at a token: the next one is of another rule at the same token.
type pegMemo struct {
	rule int
	node *pnode
	end  int
	ok   bool
	next *pegMemo
}

// peg is one run of the grammar over the tokens of a file.
type peg struct {
	g       *pegGrammar
	p       *parser
	toks    []tok
	types   []int
	pos     int
	fill    int // tokens that were asked for; errors without a position are at the last of them
	invalid bool
	err     *Error
	foreign *Error // one of a token, or of a field within: not found by this grammar
	memo    []*pegMemo
	depth   int
	typed   Typed
	nodes   []pnode // room for more
	memos   []pegMemo
}

// node makes a node; they are many and short-lived, so they are made by the hundred.
func (r *peg) node(kind string, first, last int, kids []*pnode) *pnode {
	if len(r.nodes) == 0 {
		r.nodes = make([]pnode, 200)
	}
	n := &r.nodes[0]
	r.nodes = r.nodes[1:]
	*n = pnode{kind, first, last, kids}
	return n
}

// remember notes what a rule came to at a token, and where that ended.
func (r *peg) remember(at, rule int, n *pnode, ok bool) {
	if len(r.memos) == 0 {
		r.memos = make([]pegMemo, 200)
	}
	m := &r.memos[0]
	r.memos = r.memos[1:]
	*m = pegMemo{rule, n, r.pos, ok, r.memo[at]}
	r.memo[at] = m
}

// maxPegDepth holds the recursion; CPython's own limit is 6000 levels.
const maxPegDepth = 6000

// wrongness returns what CPython would say of the tokens, nil if they follow the rule.
func wrongness(p *parser, toks []tok, rule string, how Typed) *Error {
	r := newPeg(p, toks)
	r.typed = how
	e := r.run(rule)
	if e == nil && how.Single {
		e = r.single()
	}
	return r.uncut(e)
}

// wrongField is wrongness of a replacement field: what its own grammar finds says so.
func wrongField(p *parser) *Error {
	r := newPeg(p, scan(p))
	e := r.run("fstring")
	if e != nil && e != r.foreign {
		e.Msg = "f-string: " + e.Msg
	}
	return e
}

// newPeg readies a run over the tokens.
func newPeg(p *parser, toks []tok) *peg {
	r := &peg{g: loadPeg(), p: p, toks: toks}
	r.types = make([]int, len(toks))
	for i := range toks {
		r.types[i] = r.g.tokenType(&toks[i])
	}
	return r
}

// run matches a rule: a first time without the alternatives that name mistakes, and, where that fails, a second time with them, as they
// would slow a right file down.
func (r *peg) run(rule string) *Error {
	start := r.g.byName[rule]
	r.memo = make([]*pegMemo, len(r.toks)+1)
	if _, ok := r.rule(start); ok && r.err == nil {
		return nil
	}
	if e := r.incomplete(); e != nil {
		return e
	}
	if r.err != nil {
		return r.lookAhead(r.err)
	}
	last := r.fill - 1 // the second pass may read further: a mistake without a name is where the first one stopped
	r.memo = make([]*pegMemo, len(r.toks)+1)
	r.pos, r.invalid, r.depth = 0, true, 0
	r.rule(start)
	if r.err != nil {
		return r.lookAhead(r.err)
	}
	t := &r.toks[last]
	switch t.kind {
	case "indent":
		return r.raiseLast("IndentationError", "unexpected indent")
	case "dedent":
		return r.raiseLast("IndentationError", "unexpected unindent")
	}
	if r.typed.cut && t.kind == "newline" && int(t.span.Line) >= len(r.p.lines)-1 {
		return r.lookAhead(r.raise("SyntaxError", Span{t.span.Line, -1, t.span.Line, -1}, "invalid syntax"))
	}
	return r.lookAhead(r.raise("SyntaxError", t.span, "invalid syntax"))
}

// lookAhead gives a later mistake of the tokens, which counts more than one of the grammar, or e.
func (r *peg) lookAhead(e *Error) *Error {
	if r.fill > 0 && r.toks[r.fill-1].kind == "error" {
		return e
	}
	if e.Kind != "SyntaxError" && e.Kind != "IndentationError" {
		return e
	}
	t := &r.toks[len(r.toks)-1]
	if t.kind != "error" {
		return e
	}
	if !t.late {
		r.foreign = t.bad
		return t.bad
	}
	if n := len(t.open); n > 0 && r.fill > 0 && r.toks[r.fill-1].span.Line > t.open[n-1].span.Line {
		e := r.p.neverClosed(t.open[n-1])
		if t.cur.Line > t.open[n-1].span.Line {
			e.Text = strings.TrimSuffix(e.Text, "\n")
		}
		return e
	}
	return e
}

// raise makes an error of a span; a column of -1 counts as the place before the line.
func (r *peg) raise(kind string, sp Span, format string, args ...any) *Error {
	e := r.p.errAt(kind, sp, format, args...)
	if sp.Col < 0 {
		e.Offset = 0
	}
	if r.fill > 0 && r.toks[r.fill-1].cur.Line > sp.Line { // an earlier line is shown without its end
		e.Text = strings.TrimSuffix(e.Text, "\n")
	}
	if sp.EndLine != sp.Line && !r.p.bytes { // CPython counts the characters of the end in the first line, too
		e.EndOffset = charCol(e.Text, int(sp.EndCol)) + 1
	}
	if sp.EndCol < 0 {
		e.EndOffset = 0
	}
	return e
}

// raiseLast makes an error at the token that was read last.
func (r *peg) raiseLast(kind, format string, args ...any) *Error {
	t := &r.toks[r.fill-1]
	if t.span.Col >= 0 {
		return r.raise(kind, t.span, format, args...)
	}
	e := r.raise(kind, Span{t.span.Line, t.cur.Col, t.span.Line, t.cur.Col}, format, args...)
	e.Offset--
	e.EndOffset = -1
	return e
}

// peek is the type of the next token; reading a wrong one ends the run.
func (r *peg) peek() int {
	if r.pos >= len(r.toks) {
		return -1
	}
	if r.pos == r.fill {
		r.fill++
		if t := &r.toks[r.pos]; t.kind == "error" {
			r.err = t.bad
			if !t.late {
				r.foreign = t.bad
			}
		}
	}
	return r.types[r.pos]
}

func (r *peg) leaf() *pnode {
	n := r.node("", r.pos, r.pos, nil)
	r.pos++
	return n
}

// rule matches one rule at the current token.
func (r *peg) rule(id int) (*pnode, bool) {
	if r.err != nil {
		return nil, false
	}
	u := r.g.rules[id]
	start := r.pos
	typ := r.peek()
	if r.err != nil {
		return nil, false
	}
	if u.memo || u.left {
		for m := r.memo[start]; m != nil; m = m.next {
			if m.rule == id {
				r.pos = m.end
				return m.node, m.ok
			}
		}
	}
	if !u.any && !u.first.has(typ) && !r.invalid {
		return nil, false
	}
	r.depth++
	if r.depth > maxPegDepth {
		r.err = r.raise("MemoryError", Span{1, 0, 1, 0}, "")
		return nil, false
	}
	invalid := r.invalid
	if u.plain {
		r.invalid = false
	}
	var n *pnode
	var ok bool
	if u.left {
		n, ok = r.alts(u.alts[:1], nil, start)
		for ok && r.err == nil {
			at := r.pos
			next, more := r.alts(u.alts[1:], n, start)
			if !more {
				r.pos = at
				break
			}
			n = next
		}
	} else {
		n, ok = r.alts(u.alts, nil, start)
	}
	r.invalid = invalid
	r.depth--
	if r.err != nil {
		return nil, false
	}
	if !ok {
		r.pos = start
	}
	if u.memo || u.left {
		r.remember(start, id, n, ok)
	}
	return n, ok
}

// alts tries alternatives in order. seed is what a left-recursive rule has so far: it becomes the first part of what begins at from.
func (r *peg) alts(alts []*pegAlt, seed *pnode, from int) (*pnode, bool) {
	start := r.pos
	for _, a := range alts {
		if a.invalid && !r.invalid {
			continue
		}
		if !r.invalid && !a.any && !a.first.has(r.peek()) {
			continue
		}
		if r.err != nil {
			return nil, false
		}
		r.pos = start
		n, ok, stop := r.alt(a, seed, from)
		if r.err != nil {
			return nil, false
		}
		if ok {
			return n, true
		}
		r.pos = start
		if stop {
			return nil, false
		}
	}
	return nil, false
}

// alt matches one alternative; stop says that no other may be tried. Only the second pass looks into what matched.
func (r *peg) alt(a *pegAlt, seed *pnode, from int) (n *pnode, ok, stop bool) {
	var kids []*pnode
	count, only := 0, seed
	if seed != nil {
		kids = append(kids, seed)
		count++
	}
	var caps map[string]*pnode
	for _, it := range a.items {
		switch it.op {
		case opCut:
			stop = true
			continue
		case opCheck:
			if !pegChecks[it.text](r, caps) {
				return nil, false, true
			}
			continue
		}
		k, ok := r.item(it)
		if !ok || r.err != nil {
			return nil, false, stop
		}
		if k != nil {
			count++
			only = k
			if r.invalid {
				kids = append(kids, k)
			}
		}
		if it.name != "" {
			if caps == nil {
				caps = map[string]*pnode{}
			}
			caps[it.name] = k
		}
	}
	switch {
	case a.fail != nil:
		r.err = r.failure(a.fail, caps)
		return nil, false, true
	case a.action != "":
		var args []*pnode
		for _, c := range a.args {
			args = append(args, caps[c])
		}
		n, r.err = pegActions[a.action](r, args)
		return n, n != nil, true
	case a.result != "":
		return caps[a.result], true, true
	case a.kind == "" && count == 1:
		return only, true, true
	}
	return r.node(a.kind, from, r.pos-1, kids), true, true
}

// item matches one item.
func (r *peg) item(it *pegItem) (*pnode, bool) {
	if r.err != nil {
		return nil, false
	}
	switch it.op {
	case opToken:
		if r.peek() != it.arg || r.err != nil {
			return nil, false
		}
		return r.leaf(), true
	case opSoft:
		if r.peek() != r.g.tokens["NAME"] || !softMatch(it.text, r.toks[r.pos].text) {
			return nil, false
		}
		return r.leaf(), true
	case opRule:
		return r.rule(it.arg)
	case opGroup:
		return r.alts(it.alts, nil, r.pos)
	case opMaybe:
		at := r.pos
		n, ok := r.item(it.sub[0])
		if !ok {
			r.pos = at
			n = nil
		}
		return n, r.err == nil
	case opStar, opPlus, opGather:
		list := r.node("", r.pos, r.pos, nil)
		count := 0
		for ; ; count++ {
			at := r.pos
			if it.op == opGather && count > 0 {
				if _, ok := r.item(it.sub[1]); !ok {
					r.pos = at
					break
				}
			}
			n, ok := r.item(it.sub[0])
			if !ok || r.pos == at {
				r.pos = at
				break
			}
			if r.invalid {
				list.kids = append(list.kids, n)
			}
		}
		list.last = r.pos - 1
		return list, r.err == nil && (it.op == opStar || count > 0)
	case opAhead, opNot:
		at := r.pos
		_, ok := r.item(it.sub[0])
		r.pos = at
		return nil, ok == (it.op == opAhead) && r.err == nil
	case opForce:
		if r.peek() != it.arg && r.err == nil {
			r.err = r.raise("SyntaxError", r.toks[r.pos].span, "expected '%s'", it.text)
		}
		if r.err != nil {
			return nil, false
		}
		return r.leaf(), true
	}
	return nil, false
}

// softMatch compares a name with a soft keyword, or, without one, with the beginnings of all: CPython takes a name
// `c` or `ma` for one of them where it looks for a missing comma.
func softMatch(word, name string) bool {
	if word != "" {
		return name == word
	}
	for _, w := range []string{"_", "case", "match"} {
		if strings.HasPrefix(w, name) {
			return true
		}
	}
	return false
}

// span is where a node stands, without the line ends behind it.
func (r *peg) span(n *pnode) Span {
	last := n.last
	for last > n.first && r.toks[last].span.Col < 0 || last > n.first && r.toks[last].kind == "newline" {
		last--
	}
	a, b := r.toks[n.first].span, r.toks[last].span
	return Span{a.Line, a.Col, b.EndLine, b.EndCol}
}

// failure is the error where no alternative had one of its own.
func (r *peg) failure(f *pegFail, caps map[string]*pnode) *Error {
	var args []any
	for _, a := range f.args {
		n := caps[a[1]]
		switch a[0] {
		case "kind":
			args = append(args, r.kindOf(n))
		case "text":
			args = append(args, r.toks[n.first].text)
		case "line":
			args = append(args, r.toks[n.first].span.Line)
		}
	}
	switch f.from {
	case "last":
		return r.raiseLast("SyntaxError", f.text, args...)
	case "indent":
		return r.raiseLast("IndentationError", f.text, args...)
	}
	sp := r.span(caps[f.from])
	switch f.to {
	case "":
	case ">":
		cur := r.toks[r.fill-1].cur
		sp.EndLine, sp.EndCol = cur.EndLine, cur.EndCol-1 // the column is not counted from 1 here
	default:
		end := r.span(caps[f.to])
		sp.EndLine, sp.EndCol = end.EndLine, end.EndCol
	}
	return r.raise("SyntaxError", sp, f.text, args...)
}

// tokenType is the number of a token for the grammar.
func (g *pegGrammar) tokenType(t *tok) int {
	switch t.kind {
	case "name":
		if keywords[t.text] {
			return g.tokens[t.text]
		}
		return g.tokens["NAME"]
	case "num":
		return g.tokens["NUMBER"]
	case "str":
		return g.tokens["STRING"]
	case "op":
		if n, ok := g.tokens[t.text]; ok {
			return n
		}
		return -1
	case "error":
		return -1
	}
	return g.tokens[strings.ToUpper(t.kind)]
}
