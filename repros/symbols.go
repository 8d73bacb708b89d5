package repros

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
)

// evalInt computes an integer expression over symbols as sympy prints it into repros:
// 4*s0*(((s2 - 1)//16) + 1)**2, Max(1, s0), FloorDiv(s0, 2).
func evalInt(text string, syms map[string]int64) (int64, error) {
	p := &intParser{text: text, syms: syms}
	v := p.sum()
	p.space()
	if p.err == nil && p.pos < len(text) {
		p.fail("%q is left over", text[p.pos:])
	}
	return v, p.err
}

type intParser struct {
	text  string
	pos   int
	syms  map[string]int64
	seen  map[string]bool // symbols met, when not nil
	err   error
	depth int
}

func (p *intParser) fail(format string, args ...any) int64 {
	if p.err == nil {
		p.err = fmt.Errorf("size %q: %s", p.text, fmt.Sprintf(format, args...))
	}
	return 1
}

func (p *intParser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\n') {
		p.pos++
	}
}

func (p *intParser) accept(tok string) bool {
	p.space()
	if len(p.text)-p.pos >= len(tok) && p.text[p.pos:p.pos+len(tok)] == tok {
		p.pos += len(tok)
		return true
	}
	return false
}

func (p *intParser) sum() int64 {
	v := p.product()
	for p.err == nil {
		if p.accept("+") {
			v += p.product()
		} else if p.accept("-") {
			v -= p.product()
		} else {
			break
		}
	}
	return v
}

func (p *intParser) product() int64 {
	v := p.power()
	for p.err == nil {
		switch {
		case p.accept("//"), p.accept("/"):
			d := p.power()
			if d == 0 {
				return p.fail("division by zero")
			}
			v = floorDiv(v, d)
		case p.accept("%"):
			d := p.power()
			if d == 0 {
				return p.fail("division by zero")
			}
			v -= d * floorDiv(v, d)
		case p.peekPower():
			return v
		case p.accept("*"):
			v *= p.power()
		default:
			return v
		}
	}
	return v
}

func (p *intParser) peekPower() bool {
	p.space()
	return p.pos+1 < len(p.text) && p.text[p.pos:p.pos+2] == "**"
}

func (p *intParser) power() int64 {
	if p.depth++; p.depth > 200 {
		return p.fail("too deep")
	}
	defer func() { p.depth-- }()
	if p.accept("-") {
		return -p.power()
	}
	v := p.atom()
	if p.accept("**") {
		e := p.power()
		if e < 0 || e > 64 {
			return p.fail("power %d", e)
		}
		r := int64(1)
		for ; e > 0; e-- {
			r *= v
		}
		return r
	}
	return v
}

func (p *intParser) atom() int64 {
	if p.err != nil {
		return 1
	}
	if p.accept("(") {
		v := p.sum()
		if !p.accept(")") {
			return p.fail("a parenthesis is not closed")
		}
		return v
	}
	p.space()
	start := p.pos
	for p.pos < len(p.text) && isWord(p.text[p.pos]) {
		p.pos++
	}
	w := p.text[start:p.pos]
	if w == "" {
		return p.fail("a number or symbol is missing at %q", p.text[start:])
	}
	if w[0] >= '0' && w[0] <= '9' {
		v, err := strconv.ParseInt(w, 0, 64)
		if err != nil {
			return p.fail("number %s", w)
		}
		return v
	}
	if p.accept("(") {
		var args []int64
		for p.err == nil {
			args = append(args, p.sum())
			if !p.accept(",") {
				break
			}
		}
		if !p.accept(")") {
			return p.fail("a parenthesis is not closed")
		}
		return p.call(w, args)
	}
	if p.seen != nil {
		p.seen[w] = true
		return 1
	}
	v, ok := p.syms[w]
	if !ok {
		return p.fail("symbol %s has no value", w)
	}
	return v
}

func (p *intParser) call(name string, args []int64) int64 {
	switch name {
	case "Max", "max":
		v := args[0]
		for _, a := range args {
			v = max(v, a)
		}
		return v
	case "Min", "min":
		v := args[0]
		for _, a := range args {
			v = min(v, a)
		}
		return v
	case "FloorDiv", "CleanDiv", "Mod", "PythonMod":
		if len(args) == 2 && args[1] != 0 {
			q := floorDiv(args[0], args[1])
			if name == "FloorDiv" || name == "CleanDiv" {
				return q
			}
			return args[0] - q*args[1]
		}
		if p.seen != nil {
			return 1
		}
	case "int", "IntTrueDiv", "CeilToInt", "ceiling", "floor":
		if len(args) == 1 {
			return args[0]
		}
	}
	return p.fail("function %s", name)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// symbolsIn adds the symbols of an expression to seen.
func symbolsIn(text string, seen map[string]bool) {
	p := &intParser{text: text, seen: seen}
	p.sum()
}

// assignments lists the ways to give symbols their values, likeliest first. After dynamo, inputs are named after
// symbols. After aot, PyTorch prints the hints of symint inputs without their symbols: both are ordered by their numbers
// (primals_1 before primals_4, s0 before s3), and where their counts differ every order-preserving choice is one way.
func assignments(used []string, named map[string]int64, inputs []Input) []map[string]int64 {
	base := map[string]int64{}
	var left []string
	for _, s := range used {
		if v, ok := named[s]; ok {
			base[s] = v
		} else {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return []map[string]int64{base}
	}
	sort.SliceStable(left, func(i, j int) bool { return symNumber(left[i]) < symNumber(left[j]) })
	var vals []int64
	var nums []int
	for _, in := range inputs {
		v, ok := in.Value.(int64)
		if in.Kind != SymIntInput || !ok {
			continue
		}
		if m := numberedInput.FindStringSubmatch(in.Name); m != nil {
			n, _ := strconv.Atoi(m[1])
			vals, nums = append(vals, v), append(nums, n)
		}
	}
	sort.Sort(byNumber{nums, vals})
	var out []map[string]int64
	const limit = 400
	var choose func(i, j int, cur map[string]int64, skipped int)
	choose = func(i, j int, cur map[string]int64, skipped int) {
		if len(out) >= limit {
			return
		}
		if i == len(left) {
			m := map[string]int64{}
			for k, v := range base {
				m[k] = v
			}
			for k, v := range cur {
				m[k] = v
			}
			out = append(out, m)
			return
		}
		for k := j; k < len(vals); k++ {
			cur[left[i]] = vals[k]
			choose(i+1, k+1, cur, skipped)
		}
		if skipped > 0 {
			cur[left[i]] = 2 // no input tells; any size above one
			choose(i+1, j, cur, skipped-1)
		}
		delete(cur, left[i])
	}
	choose(0, 0, map[string]int64{}, max(0, len(left)-len(vals)))
	if len(out) == 0 {
		out = append(out, base)
	}
	return out
}

var numberedInput = regexp.MustCompile(`^(?:primals_|arg)(\d+)(?:_1)?$`)

type byNumber struct {
	nums []int
	vals []int64
}

func (b byNumber) Len() int           { return len(b.nums) }
func (b byNumber) Less(i, j int) bool { return b.nums[i] < b.nums[j] }
func (b byNumber) Swap(i, j int) {
	b.nums[i], b.nums[j] = b.nums[j], b.nums[i]
	b.vals[i], b.vals[j] = b.vals[j], b.vals[i]
}

func symNumber(s string) int {
	for i := range s {
		if n, err := strconv.Atoi(s[i:]); err == nil {
			return n
		}
	}
	return 0
}
