package stdlib

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// classes writes random families of classes and then does everything to their objects: what each special method gives, a
// wrong type among it, decides what operators, builtins and statements do, and what their errors say.
type classes struct {
	r *rand.Rand
	b strings.Builder
}

const classPrelude = `def tx(r):
    if type(r) in (int, str, float, bool, type(None), bytes, type(NotImplemented), complex): return repr(r)
    if type(r) in (list, tuple, set): return type(r).__name__ + '(' + ', '.join(map(tx, r)) + ')'
    if type(r) is dict: return '{' + ', '.join(tx(k) + ': ' + tx(v) for k, v in r.items()) + '}'
    return r.__qualname__ if isinstance(r, type) else '<' + type(r).__name__ + '>'
def show(label, f):
    try: print(label, tx(f()))
    except RecursionError: print(label, 'RecursionError')
    except BaseException as e: print(label, type(e).__name__, *map(tx, e.args), tx(e.__context__), tx(e.__cause__))
class D:
    def __init__(self, k): self.k = k
    def __set_name__(self, owner, name): print('named', owner.__name__, name)
    def __get__(self, o, t): return (self.k, 'class' if o is None else 'object')
class DD(D):
    def __set__(self, o, v): print('set', v)
    def __delete__(self, o): print('deleted')
`

// classBody are the parts of a class; K is its name, V a value, R what a method may return.
var classBody = []string{
	"tag = 'K'", "d = D('K')", "d = DD('K')", "__hash__ = None", "v: int = V", "__match_args__ = ('tag', 'v')",
	"def m(self, *a, **k): return ['K', *a] + super().m(*a)", "def m(self, a=V): return ['K', a]", "@classmethod\ndef make(cls, a=V): return [cls.__name__, a]", "@staticmethod\ndef stat(a, b=V): return (a, b)",
	"@property\ndef v(self): return V", "@property\ndef v(self): return self._v\n@v.setter\ndef v(self, k): self._v = k", "@functools.cached_property\ndef v(self): return R",
	"def __init__(self, *a, **k): self.a = a; super().__init__()", "def __init__(self, a=V): self.__dict__.update(a=a)", "def __init__(self): return V", "def __new__(cls, *a): return super().__new__(cls)", "def __new__(cls, *a): return V",
	"def __init_subclass__(cls, **k): super().__init_subclass__(); print('sub', cls.__name__, k)", "def __class_getitem__(cls, k): return (cls.__name__, k)",
	"def __getattr__(self, n): return 'K.' + n", "def __getattr__(self, n): raise AttributeError(n)", "def __getattribute__(self, n): return object.__getattribute__(self, n)", "def __setattr__(self, n, v): print('setattr', n); object.__setattr__(self, n, v)", "def __delattr__(self, n): print('delattr', n)",
	"def __repr__(self): return 'K()'", "def __str__(self): return R", "def __repr__(self): return R", "def __format__(self, s): return 'K:' + s", "def __bytes__(self): return R",
	"def __len__(self): return 2", "def __len__(self): return 's'", "def __bool__(self): return R", "def __hash__(self): return R", "def __index__(self): return R", "def __int__(self): return R", "def __float__(self): return R", "def __complex__(self): return R",
	"def __getitem__(self, k): return [1, 2][k]", "def __getitem__(self, k): return ('K', k) if k in (0, 1, 'k') else 1 / 0", "def __getitem__(self, k): raise LookupError(k)", "def __setitem__(self, k, v): print('setitem', k, v)", "def __delitem__(self, k): print('delitem', k)", "def __contains__(self, k): return R", "def __missing__(self, k): return k",
	"def __iter__(self): return iter((1, V))", "def __iter__(self): return R", "def __iter__(self):\n    yield 'K'\n    yield V", "def __next__(self): raise StopIteration(V)", "def __reversed__(self): return R", "def __length_hint__(self): return 3",
	"def __call__(self, *a, **k): return ('K', a, k)", "def __enter__(self): return R", "def __exit__(self, *e): print('exit', e[0]); return R", "def __del__(self): pass", "def __dir__(self): return ['b', 'a']", "def __sizeof__(self): return 8",
	"def __eq__(self, o): return R", "def __ne__(self, o): return R", "def __lt__(self, o): return R", "def __gt__(self, o): return R", "def __le__(self, o): return R", "def __add__(self, o): return R", "def __radd__(self, o): return R", "def __iadd__(self, o): return R", "def __sub__(self, o): return R", "def __rsub__(self, o): return R",
	"def __mul__(self, o): return R", "def __rmul__(self, o): return R", "def __matmul__(self, o): return R", "def __truediv__(self, o): return R", "def __rtruediv__(self, o): return R", "def __floordiv__(self, o): return R", "def __mod__(self, o): return R", "def __rmod__(self, o): return R", "def __divmod__(self, o): return R", "def __pow__(self, o, m=None): return R", "def __rpow__(self, o): return R", "def __lshift__(self, o): return R",
	"def __and__(self, o): return R", "def __ror__(self, o): return R", "def __ixor__(self, o): return R", "def __neg__(self): return R", "def __invert__(self): return R", "def __abs__(self): return R", "def __round__(self, n=None): return ('round', n)", "def __floor__(self): return R",
	"def __instancecheck__(self, o): return R", "def __get__(self, o, t=None): return ('got', tx(t))", "def __set__(self, o, v): print('put', v)",
}

// classUses are what is done with objects o and q and a class K.
var classUses = []string{
	"o + q", "q + o", "o + 1", "1 + o", "'a' + o", "[1] + o", "o - q", "2 - o", "o * 2", "2 * o", "'ab' * o", "[0] * o", "o @ q", "o / q", "1 / o", "o // 2", "o % 2", "'%s' % o", "'%r %r' % (o, q)", "divmod(o, 2)", "o ** 2", "2 ** o", "o << 1", "o & q", "1 | o", "-o", "+o", "~o", "abs(o)", "round(o)", "round(o, 1)", "math.floor(o)", "math.trunc(o)",
	"o == q", "o != q", "o == 1", "o < q", "o > q", "o <= 1", "1 < o", "o < 1 < q", "o is o", "not o", "o and 1", "o or 1", "1 if o else 2", "bool(o)", "sorted([o, q]) and 1", "max(o, q) and 1", "o in [q]", "[o, q].index(q)", "[o].count(1)", "{o: 1, q: 2} and 1", "len({o, q})", "hash(o) == hash(o)",
	"len(o)", "o[0]", "o[-1]", "o[5]", "o['k']", "o[0:2]", "o[::2]", "o[1, 2]", "1 in o", "list(o)", "tuple(o)", "set(o) and 1", "sum(o)", "[*o]", "(lambda *a: a)(*o)", "iter(o) and 1", "next(o)", "list(reversed(o))", "list(zip(o, 'ab'))", "list(enumerate(o))", "''.join(o)", "any(o)", "min(o)", "list(map(str, o))", "str(o)", "repr(o)", "ascii(o)", "f'{o}'", "f'{o!r:>8}'", "f'{o:>8}'", "format(o, 'x')", "'{0.tag} {0[0]}'.format(o)",
	"int(o)", "float(o)", "complex(o)", "range(o)", "[1, 2, 3][o]", "'abc'[o:]", "hex(o)", "chr(o)", "operator.index(o)", "operator.length_hint(o)", "math.sqrt(o)", "int('11', o)", "isinstance(o, K)", "issubclass(K, type(o))", "callable(o)", "o()", "o(1, *[2], a=3)", "K[int]", "K()", "K(1)", "K(1, 2, a=3) and 1", "K.tag", "K.v and 1", "K.m(o)", "K.m()", "K.make()", "o.make(2)", "o.stat(1)", "K.stat(1, 2, 3)", "super(K, o).m()", "super(K, type(o)).make()",
	"o.tag", "o.m()", "o.m(1, 2)", "o.d", "K.d", "o.v", "o.nope", "K.nope", "getattr(o, 'zz', 5)", "hasattr(o, 'zz')", "setattr(o, 'v', 3)", "setattr(o, 'zz', 3)", "setattr(o, 'd', 3)", "setattr(o, 's', 3)", "o.s", "delattr(o, 'zz')", "delattr(o, 'd')", "delattr(o, 'v')", "vars(o)", "[c.__name__ for c in type(o).__mro__]", "sorted(k for k in vars(K) if k[0] != '_')", "object.__getattribute__(o, 'tag')", "object.__setattr__(o, 'y', 1)", "type(o).__name__", "K.__bases__", "K.__doc__", "operator.eq(o, q)", "functools.reduce(operator.add, [o, q])", "sum([o, q])", "itertools.chain(o) and 1", "list(itertools.islice(o, 2))", "iter(o, 1) and 1", "print(o)", "type('N', (type(o),), {}).__name__", "exec('o.tag')", "eval('o.tag', {'o': o})", "o.__eq__(1)", "o.__init__()", "o.__class__", "K.__len__(o)", "abs(q) + len(o)",
}

var classStatements = []string{
	"o += 1", "o ^= q", "o[0] = 1", "del o[0]", "del o.v", "o.v += 1", "a, b = o", "a, *b = o", "for a in o: print(tx(a))", "with o as a: print(tx(a))", "with o: raise ValueError('w')", "with q as a, o: 1 / 0", "del o.zz", "o.tag = 1", "assert o", "raise o", "raise K", "raise ValueError from o", "match o:\n        case K(a): print('one', tx(a))\n        case K(a, v=b): print('two', tx(b))\n        case [a, *_]: print('seq')\n        case {'a': _}: print('map')\n        case _: print('none')",
	"if o: print('true')\n    else: print('false')", "while not o: break", "print(*o)", "global z; z = o[0:1]", "o.x: int = 3", "for o.v in (1, 2): pass", "[o.v for o.v in (1, 2)]",
}

func (g *classes) fill(t, name string) string {
	for strings.Contains(t, "V") && !strings.Contains(t, "Value") {
		t = strings.Replace(t, "V", pick(g.r, []string{"0", "1", "-1", "3", "'s'", "None", "2.5", "[1]", "(1, 2)"}), 1)
	}
	if i := strings.LastIndex(t, "R"); i >= 0 && !strings.Contains(t, "Error") {
		t = t[:i] + pick(g.r, []string{"0", "1", "-1", "True", "'s'", "None", "2.5", "[1, 2]", "NotImplemented", "(1, 2)", "self", "b'x'", "1j", "1 / 0", "iter([1])", "{}['k']", "('K', type(self).__name__)"}) + t[i+1:]
	}
	return strings.ReplaceAll(t, "K", name)
}

func (g *classes) program() string {
	r := g.r
	g.b.WriteString(classPrelude)
	n := 2 + r.IntN(4)
	for k := range n {
		name := fmt.Sprintf("C%d", k)
		var bases []string
		for b := range k {
			if r.IntN(3) == 0 {
				bases = append(bases, fmt.Sprintf("C%d", b))
			}
		}
		if len(bases) == 0 && r.IntN(3) == 0 {
			bases = append(bases, pick(r, []string{"object", "abc.ABC"}))
		}
		r.Shuffle(len(bases), func(i, j int) { bases[i], bases[j] = bases[j], bases[i] })
		if r.IntN(12) == 0 {
			bases = append(bases, pick(r, []string{"flag=1", "metaclass=abc.ABCMeta", "metaclass=type"}))
		}
		fmt.Fprintf(&g.b, "try:\n    class %s(%s):\n", name, strings.Join(bases, ", "))
		for range 1 + r.IntN(6) {
			for _, l := range strings.Split(g.fill(pick(r, classBody), name), "\n") {
				g.b.WriteString("        " + l + "\n")
			}
		}
		fmt.Fprintf(&g.b, "except Exception as e:\n    print('%s', type(e).__name__, e, tx(e.__cause__))\n    class %s: tag = 'spare'\n", name, name)
	}
	object := func() string { return fmt.Sprintf("C%d", n-1-r.IntN(min(n, 3))) }
	for range 14 {
		o, q := object(), object()
		g.b.WriteString("try: o, q = " + o + "(), " + q + "()\nexcept Exception as e:\n    print('new', type(e).__name__, e)\n    o = q = 7\n")
		for range 3 {
			u := strings.ReplaceAll(pick(r, classUses), "K", object())
			fmt.Fprintf(&g.b, "show(%q, lambda: %s)\n", u, u)
		}
		u := strings.ReplaceAll(pick(r, classStatements), "K", object())
		fmt.Fprintf(&g.b, "def f(o, q):\n    %s\nshow(%q, lambda: f(o, q))\n", u, u)
	}
	return g.b.String()
}
