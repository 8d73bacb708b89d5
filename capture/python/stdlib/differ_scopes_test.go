package stdlib

import (
	"math/rand/v2"
	"strings"
)

// scopes writes random programs about where names live: few names, and every way to bind, declare, read and delete them.
type scopes struct {
	r     *rand.Rand
	lines []string
	left  int // statements that may still be written
}

// scopeShow prints values without what differs from run to run.
const scopeShow = `def tx(v):
  if isinstance(v, (list, tuple)): return '[' + ' '.join(map(tx, v)) + ']'
  if isinstance(v, dict): return '{' + ' '.join(tx(x) + ':' + tx(y) for x, y in v.items()) + '}'
  if isinstance(v, (int, str, type(None))): return repr(v)
  return getattr(v, '__qualname__', type(v).__name__)
def show(*v): print(*map(tx, v))
`

func (g *scopes) program() string {
	g.left = 22
	g.body("", 0, false)
	return scopeShow + strings.Join(g.lines, "\n") + "\n"
}

func (g *scopes) name() string { return pick(g.r, []string{"a", "b", "c"}) }

// expr fills a template: N is a name, E an expression, I something to walk over, P parameters, A arguments.
func (g *scopes) expr(depth int) string {
	if depth > 2 {
		return g.name()
	}
	t := pick(g.r, []string{"N", "N", "N", "[E for N in I]", "list(E for N in I if E)", "(lambda P: E)(A)", "(N := E)", "{E: E for N in I}", "[E for N in I for N in I]", "__class__", "super",
		"(lambda: E)()", "locals().get('N')", "[(N := E) for N in I]", "(E, E)"})
	return g.fill(t, depth+1)
}

func (g *scopes) fill(t string, depth int) string {
	var b strings.Builder
	for _, c := range t {
		switch c {
		case 'N':
			b.WriteString(g.name())
		case 'E':
			b.WriteString(g.expr(depth))
		case 'I':
			b.WriteString(g.fill(pick(g.r, []string{"range(2)", "(1, 2)", "[N]", "(E,)"}), depth))
		case 'P':
			b.WriteString(pick(g.r, []string{"", "a", "b=1", "a, b=2", "*c", "a=c"}))
		case 'A':
			b.WriteString(pick(g.r, []string{"", "1"}))
		case 'H':
			b.WriteString(pick(g.r, []string{"global", "nonlocal"}))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (g *scopes) line(indent, t string) { g.lines = append(g.lines, indent+g.fill(t, 0)) }

// body writes the statements of a module, a function or a class.
func (g *scopes) body(indent string, depth int, function bool) {
	for range 1 + g.r.IntN(4) {
		if g.left--; g.left < 0 {
			break
		}
		switch k := g.r.IntN(20); {
		case k < 8 || depth > 3:
			g.line(indent, pick(g.r, []string{"N = 1", "N = E", "show(N)", "show(E)", "show(lambda: N)", "H N", "H N", "del N"}))
		case k < 11:
			f := pick(g.r, []string{"f", "g", "a", "__p"})
			g.line(indent, "def "+f+"(P):")
			g.body(indent+"  ", depth+1, true)
			g.line(indent, "try: show("+f+"(A))")
			g.line(indent, "except Exception as e: show(type(e).__name__, str(e))")
		case k < 13:
			g.line(indent, "class "+pick(g.r, []string{"C", "b"})+":")
			g.body(indent+"  ", depth+1, false)
		case k < 15:
			g.line(indent, "try: N")
			g.line(indent, "except Exception as N: show(1)")
		default:
			g.line(indent, pick(g.r, []string{"for N in I: show(N)", "N: int", "N: int = 5", "import math as N", "N += 1", "show(sorted(k for k in locals() if k in 'abc'))", "with __import__('io').StringIO() as N: show(N)"}))
		}
	}
	g.lines = append(g.lines, indent+"pass")
	if function && g.r.IntN(2) == 0 {
		g.line(indent, "return E")
	}
}
