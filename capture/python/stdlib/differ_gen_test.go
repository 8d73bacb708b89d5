package stdlib

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// programs writes random Python programs: templates whose holes are filled by random expressions of a kind. Kinds are
// i (int), f (float), s (str), b (bool), L (list of ints), W (list of strs), T (tuple), D (dict from str to int), S (set of ints),
// n (small int of 0 to 9), v (any of them), x (a fresh name); a hole {i} is an expression of its kind, {=i} one variable of that kind.
type programs struct {
	r     *rand.Rand
	names int
	vars  map[byte][]string
}

var hole = regexp.MustCompile(`\{(=?)([ifsbLWTDSnvx])(\d?)\}`)

// fill replaces the holes of a template; {x1} is the same fresh name wherever it stands in one template.
func (g *programs) fill(t string, depth int) string {
	fresh := map[string]string{}
	return hole.ReplaceAllStringFunc(t, func(h string) string {
		m := hole.FindStringSubmatch(h)
		if m[2] == "x" {
			if fresh[m[3]] == "" || m[3] == "" {
				g.names++
				fresh[m[3]] = fmt.Sprintf("v%d", g.names)
			}
			return fresh[m[3]]
		}
		if m[1] == "=" {
			if vs := g.vars[m[2][0]]; len(vs) > 0 {
				return vs[g.r.IntN(len(vs))]
			}
		}
		return g.expr(m[2][0], depth-1)
	})
}

func pick[T any](r *rand.Rand, l []T) T { return l[r.IntN(len(l))] }

// expr is a random expression of a kind, in parentheses where it has operators.
func (g *programs) expr(kind byte, depth int) string {
	r := g.r
	switch kind {
	case 'v':
		kind = "ifsbLWTDS"[r.IntN(9)]
	case 'n':
		return fmt.Sprint(r.IntN(10))
	}
	if vs := g.vars[kind]; len(vs) > 0 && r.IntN(3) == 0 {
		return pick(r, vs)
	}
	if depth <= 0 || r.IntN(4) == 0 {
		return g.literal(kind)
	}
	return "(" + g.fill(pick(r, expressions[kind]), depth) + ")"
}

var words = strings.Fields("a b ab abc Hello world x-y foo_bar 42 -7 3.5 tEsT aa,b,,c é ß ünï")

func (g *programs) literal(kind byte) string {
	r := g.r
	list := func(kind byte, n int) string {
		var parts []string
		for range n {
			parts = append(parts, g.literal(kind))
		}
		return strings.Join(parts, ", ")
	}
	switch kind {
	case 'i':
		return pick(r, []string{"0", "1", "-1", "2", "3", "7", "-5", "10", "255", "1000", "12345678901234567890", fmt.Sprint(r.IntN(100)), fmt.Sprint(-r.IntN(50))})
	case 'f':
		return pick(r, []string{"0.0", "1.0", "-1.5", "0.1", "2.5", "3.14159", "1e10", "1e-7", "1e22", "123456.789", "float('inf')", "-0.0", "1/3"})
	case 's':
		return pick(r, append([]string{"''", "' '", "'a\\tb\\n'", "'it\\'s'", "'%d items'", "'{}'"}, "'"+pick(r, words)+"'", "'"+pick(r, words)+"'", "'"+pick(r, words)+"'"))
	case 'b':
		return pick(r, []string{"True", "False"})
	case 'L':
		return "[" + list('i', r.IntN(5)) + "]"
	case 'W':
		return "[" + list('w', r.IntN(4)) + "]"
	case 'w':
		return "'" + pick(r, words) + "'"
	case 'T':
		n := r.IntN(4)
		s := list("ifwb"[r.IntN(4)], n)
		if n == 1 {
			s += ","
		}
		return "(" + s + ")"
	case 'D':
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, "'"+pick(r, words)+"': "+g.literal('i'))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case 'S':
		if n := r.IntN(4); n > 0 {
			return "{" + list('n', n) + "}"
		}
		return "set()"
	case 'n':
		return fmt.Sprint(r.IntN(10))
	}
	return "None"
}

// expressions are the templates by kind.
var expressions = map[byte][]string{
	'i': {"{i} + {i}", "{i} - {i}", "{i} * {i}", "{i} // {i}", "{i} % {i}", "{n} ** {n}", "-{i}", "~{i}", "{i} & {i}", "{i} | {i}", "{i} ^ {i}", "{i} << {n}", "{i} >> {n}",
		"len({L})", "len({s})", "len({D})", "{L}[{i}]", "{L}[{n}]", "{L}[-{n}]", "sum({L})", "max({L})", "min({L})", "max({i}, {i})", "max({L}, default={i})", "{D}['a']", "{D}.get('a', {i})", "{i} if {b} else {i}", "abs({i})",
		"divmod({i}, {i})[0]", "pow({n}, {n}, {i})", "hash({i})", "({i}).bit_length()", "int({f})", "round({f})", "int({s})", "int('{n}{n}', 3)", "int({b})", "(lambda a, b={i}: a * b)({i})",
		"next(iter({L}))", "next(iter({L}), {i})", "{s}.find({s})", "{s}.count({s})", "{s}.index({s})", "ord({s}[:1])", "{L}.index({i})", "{L}.count({i})", "len(set({L}))", "sum(a * a for a in {L})", "sum({L}, {i})",
		"functools.reduce(lambda a, b: a * 2 + b, {L}, {i})", "functools.reduce(lambda a, b: a - b, {L})", "({i}, {i})[{n} % 2]", "{T}.count({i})", "({L} or [{i}])[0]", "[*{L}, {i}][0]", "bool({v}) + {i}",
		"operator.add({i}, {i})", "operator.itemgetter(0)({L})", "math.gcd({i}, {i})", "math.floor({f})", "math.comb({n}, {n})", "math.factorial({n})", "math.isqrt({n})", "int.from_bytes(b'ab', 'big')", "len(range({n}, {n}, {n} + 1))", "len(str({i}))"},
	'f': {"{f} + {f}", "{f} * {i}", "{f} / {f}", "{i} / {i}", "{f} // {f}", "{f} % {f}", "round({f} ** {n}, 6)", "-{f}", "abs({f})", "float({i})", "round({f}, {n})", "float({s})", "math.sqrt({f})", "math.fsum({L})", "sum([0.1] * {n})", "max({f}, {f})", "min({f}, {i})",
		"divmod({f}, {f})[1]", "({f}).__add__({f})", "math.fmod({f}, {f})", "math.copysign({f}, {f})", "round(math.hypot({f}, {f}), 9)", "float('1e{n}')", "{f} if {b} else {f}", "({f}) * 1.0", "round(math.exp({n}), 9)", "round(math.log({f}), 9)", "round(math.atan2({f}, {f}), 9)", "math.modf({f})[0]", "math.frexp({f})[0]", "math.ldexp({f}, {n})"},
	's': {"{s} + {s}", "{s} * {n}", "str({v})", "repr({v})", "{s}.upper()", "{s}.lower()", "{s}.title()", "{s}.capitalize()", "{s}.swapcase()", "{s}.strip()", "{s}.strip({s})", "{s}.lstrip()", "{s}.rstrip({s})", "{s}.replace({s}, {s})", "{s}.replace({s}, {s}, {n})",
		"{s}.center({n}, '*')", "{s}.ljust({n})", "{s}.rjust({n}, '-')", "{s}.zfill({n})", "{s}[{i}]", "{s}[{n}]", "{s}[{n}:]", "{s}[:{n}]", "{s}[::-1]", "{s}[{i}:{i}]", "{s}[{i}:{i}:{i}]", "{s}.join({W})", "', '.join({W})", "','.join(map(str, {L}))", "{W}[{n}]",
		"'%d-%s' % ({i}, {v})", "'%5.2f|%-6s|%r' % ({f}, {s}, {v})", "'%x %o %e' % ({i}, {i}, {f})", "'%(a)s' % {D}", "'{} {}'.format({v}, {v})", "'{0!r:>10} {1:^7}'.format({s}, {s})",
		"'{a} {b!s}'.format(a={v}, b={v})", "'{0[0]}'.format({L})", "chr({n} + 97)", "hex({i})", "bin({i})", "oct({i})", "format({i}, '{n}d')", "format({f}, '.{n}f')", "format({i}, '_')", "type({v}).__name__", "{s}.partition({s})[0]", "{s}.removeprefix({s})", "{s}.removesuffix({s})", "{s}.expandtabs({n})",
		"{s}.translate(str.maketrans('ab', 'xy'))", "{s}.casefold()", "max({W})", "min({W}, key=len)", "{s}.encode().decode()", "''.join(sorted({s}))", "''.join(reversed({s}))", "ascii({s})", "{s} if {b} else {s}", "{s} or {s}", "{D}.__class__.__name__", "textwrap.dedent({s})", "{b} and {s} or 'no'"},
	'b': {"{i} < {i}", "{i} == {f}", "{s} < {s}", "{L} < {L}", "{T} == {T}", "{i} in {L}", "{s} in {s}", "{s} not in {D}", "not {v}", "{b} and {b}", "{b} or {b}", "{i} < {i} <= {i}", "isinstance({v}, (int, str))", "any({L})", "all({L})", "{s}.isdigit()", "{s}.isalpha()", "{s}.isupper()", "{s}.isspace()", "{s}.isidentifier()", "{s}.startswith({s})", "{s}.endswith(('a', 'b'))",
		"{S} <= {S}", "{S} == {S}", "{S}.isdisjoint({S})", "bool({v})", "{v} is None", "{v} == {v}", "callable(len)", "hasattr({v}, 'upper')", "{D} == {D}", "{f} == {f}", "math.isnan({f})", "math.isclose({f}, {f})", "({f}).is_integer()", "any(a > {i} for a in {L})", "all(a for a in {W})", "issubclass(bool, int)", "{s}.isnumeric()", "{s}.istitle()", "{b} ^ {b}", "{b} == {i}"},
	'L': {"{L} + {L}", "{L} * {n}", "sorted({L})", "sorted({L}, reverse={b})", "sorted({L}, key=lambda a: -a)", "sorted({L}, key=lambda a: (a % 3, a))", "list(reversed({L}))", "{L}[{n}:]", "{L}[:{n}]", "{L}[::{i}]", "{L}[{i}:{i}]", "[a * 2 for a in {L}]", "[a for a in {L} if a > {i}]", "[a + b for a in {L} for b in {L} if a != b]", "list(range({n}))", "list(range({n}, -{n}, -2))", "list(map(lambda a: a + {i}, {L}))",
		"list(filter(None, {L}))", "list({S})", "sorted({S})", "list({D}.values())", "[len(a) for a in {W}]", "list(itertools.chain({L}, {L}))", "list(itertools.islice(itertools.count({i}, {n}), {n}))", "list(itertools.accumulate({L}))", "list(itertools.accumulate({L}, lambda a, b: a * b))", "list(itertools.takewhile(lambda a: a > 0, {L}))", "list(itertools.dropwhile(lambda a: a > 0, {L}))",
		"list(itertools.compress({L}, [1, 0, 1, 1]))", "list(itertools.filterfalse(lambda a: a % 2, {L}))", "list(itertools.starmap(pow, [(2, 3), ({n}, {n})]))", "[*{L}, *{L}]", "list(dict.fromkeys({L}))", "list({b} for _ in range({n}))", "[a if a else b for a, b in zip({L}, {L})]", "list(itertools.repeat({i}, {n}))", "list(itertools.islice(itertools.cycle({L}), {n}))", "[i * a for i, a in enumerate({L})]", "list(b'abc')", "[ord(c) for c in {s}]", "list(divmod({i}, {i}))", "list({T})", "[a for a in {L}][:{n}]", "list(bytes([{n}, {n}]))"},
	'W': {"{s}.split()", "{s}.split(',')", "{s}.split(',', {n})", "{s}.rsplit('-', 1)", "{s}.splitlines()", "list({s})", "sorted({W})", "sorted({W}, key=len)", "sorted({W}, key=str.lower)", "[a.upper() for a in {W}]", "[str(a) for a in {L}]", "{W} + {W}", "list({D})", "sorted({D})", "list({D}.keys())", "list(map(str, {L}))", "list(map(repr, {T}))", "{W}[{n}:]", "[k for k, g in itertools.groupby({s})]", "[a + b for a, b in itertools.product({s}, {s})][:5]", "[''.join(p) for p in itertools.permutations('abc', 2)]", "[*{s}]", "[a for a in {W} if a]", "list(filter(str.isalpha, {W}))"},
	'T': {"tuple({L})", "{T} + {T}", "{T} * {n}", "{T}[{n}:]", "divmod({i}, {i})", "({v}, {v})", "(*{L}, {i})", "tuple(sorted({L}))", "tuple(zip({L}, {W}))", "tuple(enumerate({W}, {n}))", "tuple({D}.items())", "{s}.partition({s})", "{s}.rpartition({s})", "tuple(itertools.combinations({L}, 2))[:4]", "tuple(itertools.zip_longest({L}, {W}, fillvalue=0))", "tuple(itertools.pairwise({L}))", "(lambda *a, **k: (a, k))({i}, *{L}, z={s})", "tuple(a for a in {L})", "tuple(reversed({T}))", "math.frexp({f})", "math.modf({f})", "tuple({s})", "tuple(map(max, {L}, {L}))", "slice({i}, {i}).indices({n})", "({f}).as_integer_ratio()", "tuple(itertools.tee({L})[1])"},
	'D': {"dict({D})", "{**{D}, 'a': {i}}", "{D} | {D}", "{a: len(a) for a in {W}}", "{str(a): a for a in {L}}", "dict(zip({W}, {L}))", "dict(a={i}, b={i})", "dict.fromkeys({W}, {i})", "{k: v + 1 for k, v in {D}.items()}", "{k: v for k, v in {D}.items() if v > {i}}", "dict(sorted({D}.items()))", "dict(collections.Counter({s}))", "dict(collections.Counter({s}).most_common({n}))", "{**{D}}", "dict([('k', {i}), ('j', {i})])", "{c: i for i, c in enumerate({s})}"},
	'S': {"set({L})", "{S} | {S}", "{S} & {S}", "{S} - {S}", "{S} ^ {S}", "{a % 3 for a in {L}}", "set(range({n}))", "{S}.union({L})", "{S}.intersection({L})", "frozenset({L})", "{S}.difference({L}, {S})", "set(map(abs, {L}))", "{*{L}}"},
}

// program is one function and the call of it.
func (g *programs) program(name string) string {
	g.vars = map[byte][]string{}
	g.names = 0
	var b strings.Builder
	fmt.Fprintf(&b, "def %s():\n", name)
	for n := 3 + g.r.IntN(6); n > 0; n-- {
		g.statement(&b, "    ")
	}
	fmt.Fprintf(&b, "%s()\n", name)
	return b.String()
}

func (g *programs) statement(b *strings.Builder, indent string) {
	kinds := "ifsbLWTDS"
	if g.r.IntN(5) < 2 {
		k := kinds[g.r.IntN(len(kinds))]
		g.names++
		v := fmt.Sprintf("%c%d", k+32*btoi(k < 'a'), g.names)
		fmt.Fprintf(b, "%s%s = %s\n", indent, v, g.expr(k, 3))
		g.vars[k] = append(g.vars[k], v)
		if g.r.IntN(2) == 0 {
			fmt.Fprintf(b, "%sprint(%s)\n", indent, show(k, v))
		}
		return
	}
	from := statements
	switch g.r.IntN(3) {
	case 0:
		from = libraryStatements
	case 1:
		from = deepStatements
	}
	text := g.fill(pick(g.r, from), 3)
	for _, l := range strings.Split(strings.Trim(text, "\n"), "\n") {
		fmt.Fprintf(b, "%s%s\n", indent, l)
	}
}

func btoi(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// show prints a value; the order of a set is shown, too: small ints make it the same everywhere.
func show(kind byte, v string) string {
	if kind == 's' {
		return "repr(" + v + ")"
	}
	return v
}
