package stdlib

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// flow writes random functions and generators that are all control: every statement that decides where to go on, within each
// other, with a label printed wherever they pass. Loops are short, so all of them end.
type flow struct {
	r       *rand.Rand
	b       strings.Builder
	left    int // statements that may still be written
	labels  int
	loops   int  // loops around
	group   bool // inside an except* clause, which nothing may leave
	gen     bool
	handler bool
}

// Of a name that is unbound the columns are not compared: once code has run a few times CPython may have joined two loads of names in one
// instruction, and gives the place of the first for either.
const flowPrelude = `n = 1
def p(k=3):
    global n
    n = (n * 7 + 3) % 31
    return n % k == 0
def t(*a):
    print('.', *a)
    return a[0]
class E(Exception): pass
class F(E): pass
class cm:
    def __init__(self, k): self.k = k
    def __enter__(self):
        t('in', self.k)
        if self.k % 7 == 6: raise F('enter')
        return self.k
    def __exit__(self, c, e, tb):
        t('out', self.k, c and c.__name__, repr(e))
        if self.k % 7 == 5: raise E('exit')
        return self.k % 3 == 0
def sub(k):
    try:
        got = yield k
        t('sub got', got)
        yield k + 1
        return k * 2
    except ValueError as e:
        t('sub caught', repr(e))
        yield 'v'
def chain(e, seen=0):
    while e is not None and seen < 6:
        tb = traceback.extract_tb(e.__traceback__)
        where = [(x.name, x.lineno) for x in tb] + [(x.end_lineno, x.colno, x.end_colno) for x in tb[-1:] if not isinstance(e, UnboundLocalError)]
        print('!', type(e).__name__, e, e.__suppress_context__, where[1:] if seen == 0 else where)
        if isinstance(e, BaseExceptionGroup):
            for k in e.exceptions: chain(k, seen + 2)
        e, seen = e.__cause__ or e.__context__, seen + 1
`

func (g *flow) program() string {
	g.b.WriteString(flowPrelude)
	for k := range 2 {
		g.left, g.gen = 14, k == 1
		fmt.Fprintf(&g.b, "def f%d(a=1, *b):\n    x = 0\n", k)
		g.block("    ", 0)
	}
	g.b.WriteString("for k in range(4):\n    try: print('returned', f0(k))\n    except BaseException as e: chain(e)\n")
	g.b.WriteString("for k in range(3) if f1.__code__.co_flags & 32 else ():\n    g = f1(k)\n")
	g.b.WriteString("    for op in [lambda: next(g)")
	for range 5 {
		g.b.WriteString(", lambda: " + pick(g.r, []string{"next(g)", "g.send(k)", "g.throw(ValueError('thrown'))", "g.throw(KeyError, 'k')", "g.close()", "g.send('s')", "list(g)"}))
	}
	g.b.WriteString("]:\n        try: print('got', op())\n        except BaseException as e: chain(e)\n")
	// What is left of the generator is run now: when CPython drops one is its own affair.
	g.b.WriteString("    for _ in range(40):\n        try: g.close()\n        except BaseException as e: print(type(e).__name__)\n")
	return g.b.String()
}

func (g *flow) line(indent, s string) {
	for strings.Contains(s, "#") { // a label
		g.labels++
		s = strings.Replace(s, "#", fmt.Sprint(g.labels), 1)
	}
	g.b.WriteString(indent + s + "\n")
}

func (g *flow) block(indent string, depth int) {
	n := 1 + g.r.IntN(3)
	for range n {
		if g.left--; g.left < 0 || depth > 5 {
			break
		}
		g.statement(indent, depth)
	}
	g.line(indent, "t(#)")
}

// within writes the head of a compound statement and its block; loop says that it is a loop.
func (g *flow) within(indent, head string, depth int, loop bool) {
	g.line(indent, head)
	if loop {
		g.loops++
	}
	g.block(indent+"    ", depth+1)
	if loop {
		g.loops--
	}
}

var flowSimple = []string{"x += #", "t(x)", "x = [k for k in range(3) if p(2)]", "a = (lambda: p())()", "x = t(#) if p() else a", "x = p() and t(#) or p() or x", "t(*b, a, x)", "del x", "x = f'{a!r:>{a + 3}} {p()}'",
	"assert p(2), #", "raise E(#)", "raise F(#) from KeyError(#)", "raise E(#) from None", "raise E", "1 // (a * 0)", "[][a]", "{}['k']", "nope", "x.nope", "t(a + 'x')", "a, x = x, a", "x, *b = [1, 2, #]", "a, b = (1, 2, 3)", "raise ValueError(#, #)", "raise KeyError('k')"}

func (g *flow) statement(indent string, depth int) {
	r := g.r
	switch k := r.IntN(26); {
	case k < 7:
		s := pick(r, flowSimple)
		if g.r.IntN(3) > 0 && (strings.HasPrefix(s, "raise") || strings.HasPrefix(s, "del")) {
			s = "if p(): " + s
		}
		g.line(indent, s)
	case k < 9 && g.gen:
		g.line(indent, pick(r, []string{"x = yield #", "yield a", "x = yield from sub(#)", "t((yield), (yield #))", "x = [k for k in range(2) if t(k)]; yield x", "x = [(yield #), #]"}))
	case k < 11 && g.loops > 0 && !g.group:
		g.line(indent, pick(r, []string{"break", "continue", "if p(2): break", "if p(2): continue", "if not p(): continue"}))
	case k == 11 && !g.group:
		g.line(indent, pick(r, []string{"return #", "if p(2): return x", "return t(#)", "return"}))
	case k == 12 && g.handler:
		g.line(indent, pick(r, []string{"raise", "raise e", "raise F(#) from e", "if p(2): raise", "t(repr(e))", "raise E('again')"}))
	case k < 15:
		g.within(indent, pick(r, []string{"if p(2):", "if p() and x:", "if (x := p()) or a:", "if not (p() or a > 1):", "if 0 <= a < 2 != x:"}), depth, false)
		if r.IntN(3) == 0 {
			g.within(indent, "elif p(2):", depth, false)
		}
		if r.IntN(2) == 0 {
			g.within(indent, "else:", depth, false)
		}
	case k < 18:
		if r.IntN(2) == 0 {
			g.within(indent, pick(r, []string{"for i in range(3):", "for i, x in enumerate('ab'):", "for i in sub(#):", "for x in (a, *b):"}), depth, true)
		} else {
			g.labels++
			v := fmt.Sprintf("w%d", g.labels)
			g.line(indent, v+" = 3")
			g.line(indent, pick(r, []string{"while " + v + ":", "while (" + v + " > 0):", "while " + v + " and not p(5):", "while True:"}))
			g.line(indent+"    ", v+" -= 1")
			g.line(indent+"    ", "if "+v+" < 0: break")
			g.loops++
			g.block(indent+"    ", depth+1)
			g.loops--
		}
		if r.IntN(3) == 0 {
			g.within(indent, "else:", depth, false)
		}
	case k < 22:
		g.try(indent, depth)
	case k < 24:
		g.within(indent, pick(r, []string{"with cm(#):", "with cm(#) as x:", "with cm(#), cm(#) as x:", "with (cm(#) as x, contextlib.suppress(KeyError)):"}), depth, false)
	default:
		g.line(indent, pick(r, []string{"match x:", "match (a, x):", "match b:"}))
		for _, c := range []string{"case 0 | None:", "case int(k) if p(2):", "case [a, *rest]:", "case (1, k) | (k, 1):"} {
			if r.IntN(2) == 0 {
				g.within(indent+"    ", c, depth+1, false)
			}
		}
		g.within(indent+"    ", "case _:", depth+1, false)
	}
}

func (g *flow) try(indent string, depth int) {
	r := g.r
	star := r.IntN(5) == 0
	handlers := r.IntN(3)
	g.within(indent, "try:", depth, false)
	group, handler := g.group, g.handler
	for k := range handlers {
		head := "except " + pick(r, []string{"E", "F", "(ValueError, KeyError)", "Exception", "ZeroDivisionError", "TypeError", "LookupError", "NameError"}) + " as e:"
		if star {
			head = strings.Replace(head, "except", "except*", 1)
		} else if k == handlers-1 && r.IntN(4) == 0 {
			head = "except:"
		}
		g.handler = !strings.HasSuffix(head, "except:")
		loops := g.loops
		if star {
			g.group, g.loops = true, 0
		}
		g.within(indent, head, depth, false)
		g.group, g.loops = group, loops
	}
	g.handler = handler
	if handlers > 0 && r.IntN(3) == 0 {
		g.within(indent, "else:", depth, false)
	}
	if handlers == 0 || r.IntN(2) == 0 {
		g.within(indent, "finally:", depth, false)
	}
}
