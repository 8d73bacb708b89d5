package syntax

import (
	"fmt"
	"strconv"
	"strings"
)

// Reading the grammar's notation.

// pegReader reads the words of one rule.
type pegReader struct {
	g     *pegGrammar
	words []string
	i     int
}

// readPeg reads a grammar: rules begin at the left margin, and go on in lines that begin with a tab.
func readPeg(src string) *pegGrammar {
	g := &pegGrammar{byName: map[string]int{}, tokens: map[string]int{}}
	var defs [][]string
	for _, line := range strings.Split(src, "\n") {
		words := pegWords(line)
		if len(words) == 0 {
			continue
		}
		if line[0] != '\t' {
			defs = append(defs, nil)
		}
		defs[len(defs)-1] = append(defs[len(defs)-1], words...)
	}
	for i, d := range defs {
		g.byName[d[0]] = i
		g.rules = append(g.rules, &pegRule{name: d[0]})
	}
	for i, d := range defs {
		u := g.rules[i]
		r := &pegReader{g: g, words: d, i: 1}
		for r.peek() == "(" {
			switch r.words[r.i+1] {
			case "memo":
				u.memo = true
			case "left":
				u.left = true
			case "plain":
				u.plain = true
			}
			r.i += 3
		}
		r.expect(":")
		u.alts = r.alternatives("")
	}
	for _, u := range g.rules {
		g.firstOfRule(u)
		g.firstOfAll(u.alts)
	}
	return g
}

// pegWords parts a line of the grammar into its words; a text keeps its quotes.
func pegWords(line string) (out []string) {
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == '#' && (i+1 >= len(line) || !isAlpha(line[i+1])):
			return out
		case c == ' ' || c == '\t':
			i++
		case c == '\'' || c == '"':
			j := i + 1
			for j < len(line) && line[j] != c {
				if line[j] == '\\' {
					j++
				}
				j++
			}
			out = append(out, line[i:j+1])
			i = j + 1
		case isAlpha(c) || c == '_':
			j := i
			for j < len(line) && (isAlpha(line[j]) || isDigit(line[j]) || line[j] == '_') {
				j++
			}
			out = append(out, line[i:j])
			i = j
		default:
			n := 1
			for _, w := range []string{"..>", "..", "&&", "=>"} {
				if strings.HasPrefix(line[i:], w) {
					n = len(w)
					break
				}
			}
			out = append(out, line[i:i+n])
			i += n
		}
	}
	return out
}

func (r *pegReader) peek() string {
	if r.i < len(r.words) {
		return r.words[r.i]
	}
	return ""
}

func (r *pegReader) next() string {
	w := r.peek()
	r.i++
	return w
}

func (r *pegReader) expect(w string) {
	if got := r.next(); got != w {
		panic(fmt.Sprintf("python.peg: rule %s: want %s, got %q", r.words[0], w, got))
	}
}

// alternatives reads what stands between bars, up to the word end.
func (r *pegReader) alternatives(end string) (out []*pegAlt) {
	if r.peek() == "|" {
		r.i++
	}
	for {
		a := r.alternative(end)
		a.invalid = len(a.items) == 1 && a.items[0].op == opRule && strings.HasPrefix(a.items[0].text, "invalid_")
		out = append(out, a)
		if r.peek() != "|" {
			return out
		}
		r.i++
	}
}

// alternative reads items and what they make.
func (r *pegReader) alternative(end string) *pegAlt {
	a := &pegAlt{}
	for {
		switch w := r.peek(); w {
		case "", "|", end:
			return a
		case "#":
			r.i++
			a.kind = r.next()
		case "=>":
			r.i++
			a.result = r.next()
		case "!":
			if t := r.words[r.i+1]; isWord(t) && r.i+2 < len(r.words) && !isRuleOrToken(r.g, t) {
				r.i++
				r.verdict(a)
				continue
			}
			a.items = append(a.items, r.item())
		default:
			a.items = append(a.items, r.item())
		}
	}
}

func isWord(w string) bool { return w != "" && (isAlpha(w[0]) || w[0] == '_') }

func isRuleOrToken(g *pegGrammar, w string) bool {
	_, rule := g.byName[w]
	return rule && pegActions[w] == nil || pegTokenKinds[w]
}

var pegTokenKinds = map[string]bool{"NAME": true, "NUMBER": true, "STRING": true, "NEWLINE": true, "INDENT": true, "DEDENT": true, "END": true, "SOFT": true}

// verdict reads what follows the "!" of an error.
func (r *pegReader) verdict(a *pegAlt) {
	w := r.next()
	if r.peek() == "(" {
		a.action = w
		a.args = r.names()
		return
	}
	f := &pegFail{from: w}
	switch r.peek() {
	case "..>":
		r.i++
		f.to = ">"
	case "..":
		r.i++
		f.to = r.next()
	}
	text, err := strconv.Unquote(r.next())
	if err != nil {
		// The grammar is part of the binary: each test of the package would fail.
		panic("python.peg: rule " + r.words[0] + ": a text is wanted")
	}
	f.text = text
	for w := r.peek(); w == "kind" || w == "text" || w == "line"; w = r.peek() {
		r.i++
		f.args = append(f.args, [2]string{w, r.names()[0]})
	}
	a.fail = f
}

// names reads "(a, b)".
func (r *pegReader) names() (out []string) {
	r.expect("(")
	for {
		out = append(out, r.next())
		if w := r.next(); w != "," {
			return out
		}
	}
}

// item reads one item with what stands before and behind it.
func (r *pegReader) item() *pegItem {
	w := r.peek()
	if isWord(w) && r.i+1 < len(r.words) && r.words[r.i+1] == "=" {
		r.i += 2
		it := *r.item()
		it.name = w
		return &it
	}
	switch w {
	case "&":
		r.i++
		return &pegItem{op: opAhead, sub: []*pegItem{r.item()}}
	case "!":
		r.i++
		return &pegItem{op: opNot, sub: []*pegItem{r.item()}}
	case "&&":
		r.i++
		it := r.atom()
		return &pegItem{op: opForce, arg: it.arg, text: it.text}
	case "~":
		r.i++
		return &pegItem{op: opCut}
	case "%":
		r.i++
		it := &pegItem{op: opCheck, text: r.next()}
		r.names()
		return it
	}
	it := r.atom()
	switch r.peek() {
	case "?":
		r.i++
		return &pegItem{op: opMaybe, sub: []*pegItem{it}}
	case "*":
		r.i++
		return &pegItem{op: opStar, sub: []*pegItem{it}}
	case "+":
		r.i++
		return &pegItem{op: opPlus, sub: []*pegItem{it}}
	case ".":
		r.i++
		elem := r.atom()
		r.expect("+")
		return &pegItem{op: opGather, sub: []*pegItem{elem, it}}
	}
	return it
}

// atom reads a token, a rule's name, or a group.
func (r *pegReader) atom() *pegItem {
	w := r.next()
	switch {
	case w == "(":
		it := &pegItem{op: opGroup, alts: r.alternatives(")")}
		r.expect(")")
		return it
	case w[0] == '\'':
		text := w[1 : len(w)-1]
		return &pegItem{op: opToken, arg: r.g.token(text), text: text}
	case w[0] == '"':
		r.g.token("NAME")
		return &pegItem{op: opSoft, text: w[1 : len(w)-1]}
	case w == "SOFT":
		return &pegItem{op: opSoft}
	case pegTokenKinds[w]:
		return &pegItem{op: opToken, arg: r.g.token(w)}
	}
	id, ok := r.g.byName[w]
	if !ok {
		panic(fmt.Sprintf("python.peg: rule %s: no rule %q", r.words[0], w))
	}
	return &pegItem{op: opRule, arg: id, text: w}
}

// token numbers a literal or a kind of token.
func (g *pegGrammar) token(text string) int {
	n, ok := g.tokens[text]
	if !ok {
		n = len(g.tokens)
		g.tokens[text] = n
	}
	return n
}

// First tokens: in the first pass, which tries no rule for mistakes, an alternative that cannot begin with the token at
// hand is not tried.

// firstOfRule finds the tokens that a rule can begin with.
func (g *pegGrammar) firstOfRule(u *pegRule) {
	if u.state != 0 {
		u.any = u.any || u.state == 1
		return
	}
	u.state = 1
	for _, a := range u.alts {
		g.firstOfAlt(a)
		u.any = u.any || a.any && !a.invalid
		if !a.invalid {
			u.first.join(a.first)
		}
		if u.left { // the others follow the first
			for _, b := range u.alts[1:] {
				g.firstOfAlt(b)
			}
			break
		}
	}
	u.state = 2
}

// firstOfAll does it for the groups within, too.
func (g *pegGrammar) firstOfAll(alts []*pegAlt) {
	for _, a := range alts {
		g.firstOfAlt(a)
		var within func(items []*pegItem)
		within = func(items []*pegItem) {
			for _, it := range items {
				g.firstOfAll(it.alts)
				within(it.sub)
			}
		}
		within(a.items)
	}
}

func (g *pegGrammar) firstOfAlt(a *pegAlt) {
	a.any = !g.firstOfItems(a.items, &a.first)
}

// firstOfItems adds what the items may begin with; false if they may be empty or it is not known.
func (g *pegGrammar) firstOfItems(items []*pegItem, into *tokenSet) bool {
	for _, it := range items {
		switch it.op {
		case opToken, opForce:
			if it.op == opForce {
				return false
			}
			into.add(it.arg)
			return true
		case opSoft:
			into.add(g.tokens["NAME"])
			return true
		case opRule:
			u := g.rules[it.arg]
			g.firstOfRule(u)
			if u.any {
				return false
			}
			into.join(u.first)
			return true
		case opGroup:
			for _, a := range it.alts {
				g.firstOfAlt(a)
			}
			for _, a := range it.alts {
				if a.any {
					return false
				}
				into.join(a.first)
			}
			return true
		case opPlus, opGather:
			return g.firstOfItems(it.sub[:1], into)
		case opMaybe, opStar:
			if !g.firstOfItems(it.sub, into) {
				return false
			}
		case opAhead:
			return g.firstOfItems(it.sub, into)
		default:
			return false
		}
	}
	return false
}
