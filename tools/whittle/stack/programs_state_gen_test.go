package stack

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// statePrograms writes programs whose compiled function f reads Python values from all kinds of places. inputs(v) changes what lies
// there before the call with variant v, so that code compiled for one call is wrong for the next unless a guard sees the change. What
// the values are made of stands in STATE of programs.py.
type statePrograms struct {
	r     *rand.Rand
	top   strings.Builder // classes and functions before f
	body  strings.Builder // of f
	turn  strings.Builder // of inputs(v)
	names int
	param []string // further arguments of f
	given []string // what inputs(v) passes for them
}

// valueKind is a kind of values that a place may hold: sets of them for the three variants, and expressions that make a tensor of one,
// with $ for the value and % for a tensor of three numbers.
type valueKind struct {
	name   string
	values []string // three expressions each, separated by |
	uses   []string
	inside []string // statements that change a value in place to what @ is; nil => only another object can take its place
}

// valueKinds are what programs keep.
var valueKinds = []valueKind{
	{name: "number",
		values: []string{"1|2|3", "1.5|2.5|1.5", "True|False|True", "None|2|None", "1|1.0|True", "0.0|-0.0|0.0", "2|2|7", "0|1|0", "10**20|3|10**20", "2.0|2|2.0"},
		uses: []string{"% * ($ or 2)", "% + ($ or 0)", "% if $ else -%", "% / ($ if $ is not None else 1)", "(% + 1 if $ == 1 else % - 1)", "% + (1 if type($) is int else 2)", "% * (2 if isinstance($, bool) else 3)",
			"% + (0 if $ is None else $)", "torch.full_like(%, float($ or 0))", "% + len(str($))", "% * (5 if $ in (1, 2.5) else 3)", "% + [4, 5, 6][int($ or 0) & 1]", "% + {1: 2}.get($, 3)", "(% > 0) * ($ or 1)", "% + len('{}'.format($))",
			"% + (($ or 1) > 1)", "% + hash(type($).__name__ == 'int')", "% * min(($ or 1), 2)", "% + math.copysign(1.0, $ or 0.0)", "% - int(bool($))", "torch.tensor([$ or 0.5] * 3) + %", "% + (not $)"}},
	{name: "string",
		values: []string{"'ab'|'abc'|'b'", "'sin'|'cos'|'tanh'", "''|'a'|''", "'ab'|'ba'|'ab'"},
		uses:   []string{"% + len($)", "% * (2 if $ == 'ab' else 3)", "getattr(torch, $ if len($) > 2 and $ != 'abc' else 'exp')(%)", "% + (1 if $.startswith('a') else 2)", "% + len('{:>3}'.format($))", "% * (2 if 'b' in $ else 3)", "% if $ else -%", "% + ($ > 'aa')", "% + sum(ord(c) for c in $)", "% + {'ab': 1, '': 2}.get($, 3)", "% + len($.upper().split('B'))", "% + ($[:1] == 'a')"}},
	{name: "tensor",
		values: []string{"torch.ones(3)|torch.full((3,), 2.0)|torch.arange(3.0)", "torch.ones(3)|torch.ones(3, dtype=torch.float64)|torch.ones(3)", "torch.ones(3)|torch.ones(1)|torch.ones(2, 3)", "torch.tensor(1)|torch.tensor(2.5)|torch.tensor(True)", "torch.ones(3)|nn.Parameter(torch.ones(3))|torch.ones(3)", "torch.ones(3)|torch.ones(3, requires_grad=True)|torch.ones(3)", "torch.ones(3)|torch.ones(1).expand(3)|torch.ones(6)[::2]", "None|torch.ones(3)|None"},
		uses:   []string{"% + ($ if $ is not None else 0)", "% * ($.sum() if $ is not None else 2)", "% + (2 if $ is None else $.dim())", "% + ($ is None or $.is_floating_point())", "% + isinstance($, nn.Parameter)", "% + (0 if $ is None else $.numel())", "(% if $ is None else %.to($.dtype))", "% + ($ is not None and $.requires_grad)", "% + (0 if $ is None else $.stride(-1) if $.dim() else 7)", "(% if $ is None else $ * 2 + %)"}},
	{name: "dtype",
		values: []string{"torch.float32|torch.float64|torch.float32", "torch.int64|torch.float16|torch.float32", "torch.bool|torch.int64|torch.bool"},
		uses:   []string{"%.to($)", "torch.ones(3, dtype=$) + %", "% + (1 if $ == torch.float32 else 2)", "% + $.is_floating_point", "% + {torch.float32: 1, torch.int64: 3}.get($, 2)", "% + ($ in (torch.float64, torch.bool))", "% + len(str($))", "% + $.itemsize"}},
	{name: "function",
		values: []string{"torch.sin|torch.cos|torch.tanh", "first|second|first", "lambda q: q + 1|lambda q: q + 2|lambda q: q * 3", "make(1)|make(2)|make(3)", "Box(1.0).scale|Box(2.0).scale|Box(3.0).scale", "Box(1.0).scale|Box(1.0).shift|Small(1.0).scale", "functools.partial(both, 2)|functools.partial(both, 3)|functools.partial(both, 4)",
			"functools.partial(named, by=2)|functools.partial(named, by=3)|functools.partial(named)", "Box(1.0)|Box(2.0)|Small(1.0)", "Box.fixed|Small.fixed|Box.fixed", "Box.of|Small.of|Box.of", "functools.partial(Box(1.0).scale)|functools.partial(Box(2.0).scale)|functools.partial(Box(2.0).shift)", "wrapped(torch.sin)|wrapped(torch.cos)|torch.sin",
			"F.relu|F.silu|first", "Net(1.0)|Net(2.0)|Net(3.0)", "torch.Tensor.sin|torch.Tensor.cos|torch.Tensor.sin", "operator.neg|operator.pos|operator.neg", "defaulted(1)|defaulted(2)|defaulted(3)", "[1.0, 2.0].count|[2.0].count|[].count", "{'a': 1}.get|{'a': 2}.get|{}.get", "Net(1.0).forward|Net(2.0).forward|Net(1.0).other", "nested(1)|nested(2)|nested(1)", "Box(nested(1)).value|Box(nested(2)).value|first", "Box(1.0).scale.__func__.__get__(Box(2.0))|Box(1.0).scale|Small(4.0).scale", "wrapped(make(1))|wrapped(make(2))|wrapped(first)", "abs|torch.abs|abs"},
		uses: []string{"call($, %)", "call($, %) + call($, %)", "list(map(lambda q: call($, q), [%]))[0]", "% + (1 if $ is first else 2)", "% + callable($)", "call(lambda q: call($, q), %)", "% + hasattr($, '__self__')", "call(functools.partial($), %)", "call(wrapped($), %) if hasattr($, '__name__') else %"}},
	{name: "list",
		values: []string{"[1, 2]|[1, 3]|[2, 1]", "[1, 2]|[1, 2, 3]|[]", "[1, 2]|[1.0, 2]|[True, 2]", "[[1], [2]]|[[1], [3]]|[[1, 2]]", "['a', 'b']|['b', 'a']|['a']", "[0, 1, 2]|[2, 1, 0]|[1, 1, 1]", "[None, 1]|[1, None]|[None, None]", "[(1, 2), (3, 4)]|[(1, 2), (4, 3)]|[(0, 0)]"},
		uses: []string{"% * total($)", "% + len($)", "% + total($[:1])", "% + total($[-1:])", "% + (1 if 2 in $ else 3)", "fold(%, $)", "% + sum(total(q) for q in $)", "% * (2 if $ == [1, 2] else 3)", "% + total(sorted($, key=str))", "% + total(list(reversed($))[:1])", "% + total([a for a, b in zip($, [1, 1])])", "% + sum(i * total(q) for i, q in enumerate($))", "% + $.count(1)", "spread(%, *$)", "% + total(tuple($))", "% if $ else -%",
			"% + total(($ + [5])[0:2])", "% + any(total(q) for q in $)", "% + total(list($)[1:])", "% + len($ * 2)", "% + ($.index(1) if 1 in $ else 9)", "% + len(str($))", "% + total(max($, key=str, default=0))", "% + total(next(iter($), 4))", "% + total(list(itertools.chain($, [1])))", "% + total(functools.reduce(lambda a, b: b, $, 0))", "% + ($ < [1, 3])  if all(isinstance(q, int) for q in $) else %", "% + total($.copy())", "% + len(set(map(str, $)))", "% + isinstance($, list)"},
		inside: []string{"$[:] = @", "$.clear()\n    $.extend(@)"}},
	{name: "tensors",
		values: []string{"[torch.ones(3), torch.zeros(3)]|[torch.ones(3)]|[torch.zeros(3), torch.ones(3) * 2]", "[torch.ones(3)]|[torch.ones(3, dtype=torch.float64)]|[torch.ones(3)] * 2"},
		uses:   []string{"% + sum($)", "% * torch.stack(list($)).sum(0)", "% - $[0]", "% + $[-1] * len($)", "torch.cat([*$, %])[:3]", "fold(%, $)", "% + sum(q * i for i, q in enumerate($, 1))", "% + ($[0] is $[-1])"},
		inside: []string{"$[:] = @"}},
	{name: "tuple",
		values: []string{"(1, 2)|(1, 3)|(2, 1)", "()|(1,)|(1, 2, 3)", "(1, (2, 3))|(1, (3, 2))|((1, 2), 3)", "Pair(1, 2)|Pair(2, 1)|Pair(1, 2)", "Pair(1, 2)|(1, 2)|Pair(1, 3)", "(1, 'a')|(1, 'b')|(1, None)", "torch.Size([1, 2])|torch.Size([2, 1])|(1, 2)"},
		uses:   []string{"% * total($)", "% + len($)", "% + total($[:1])", "% + (1 if 2 in $ else 3)", "% * (2 if $ == (1, 2) else 3)", "fold(%, $)", "spread(%, *$)", "% + hasattr($, '_fields')", "% + (getattr($, 'n', 0))", "% + {(1, 2): 5}.get($, 4)", "% + len(str($))", "% + total($ + (1,))", "% + type($).__name__.count('P')", "% + isinstance($, torch.Size)", "% if $ else -%"}},
	{name: "dict",
		values: []string{"{'a': 1, 'b': 2}|{'b': 2, 'a': 1}|{'a': 1, 'c': 2}", "{'a': 1}|{'a': 2}|{}", "{'a': {'b': 1}}|{'a': {'b': 2}}|{'a': {'c': 1}}", "{'a': [1, 2]}|{'a': [2, 1]}|{'a': [1]}", "{1: 2}|{True: 2}|{1.0: 2}", "{'a': None}|{'a': 1}|{'a': None}", "{(1, 2): 1}|{(1, 3): 1}|{(1, 2): 2}", "{torch.float32: 1}|{torch.float64: 1}|{torch.float32: 2}", "{first: 1}|{second: 1}|{first: 2}",
			"collections.OrderedDict(a=1, b=2)|collections.OrderedDict(b=2, a=1)|dict(a=1, b=2)", "collections.defaultdict(int, a=1)|collections.defaultdict(int, b=1)|collections.defaultdict(list, c=[2])", "collections.Counter('aab')|collections.Counter('abb')|collections.Counter()", "{'a': 1, 'b': 2}|{'a': 2, 'b': 1}|{'a': 1, 'b': 2, 'd': 3}"},
		uses: []string{"% * total($.get('a', 3))", "% + total($.get('b', 5))", "% + total([q for k, q in $.items()])", "% + ('b' in $)", "% + len($)", "% + (next(iter($), None) == 'a')", "% * total(next(iter($.values()), 3))", "fold(%, $.values())", "% + len(str(sorted($, key=str)))", "% + total(list({**$}.values())[:1])", "% + ($ == {'a': 1, 'b': 2})", "% + total(list($.items())[:1])", "% + sum(isinstance(k, bool) for k in $)", "% + total([$[k] for k in $])", "% if $ else -%", "% + ('a' not in $)", "% + total(dict($).pop('a', 7))",
			"% + total(list(reversed($))[:1] == ['b'])", "% + len($.keys() & {'a', 'c'})", "% + len({**$, 'z': 1})", "% + len($ | {'a': 5})", "% + total($['a'] if 'a' in $ else 6)", "% + total([i for i, k in enumerate($) if k == 'b'])", "% + total(max($.values(), key=str, default=1))", "% + len(str($))", "keyed(%, **$) if all(isinstance(k, str) for k in $) else %", "% + total($.copy().setdefault('a', 8))", "% + sum(k == 1 and type(k) is int for k in $)", "% + (1 if first in $ else 2)", "% + type($).__name__.count('C')", "% + isinstance($, collections.OrderedDict)"},
		inside: []string{"$.clear()\n    $.update(@)"}},
	{name: "set",
		values: []string{"{1, 2}|{1, 3}|{2}", "{'a', 'b'}|{'a'}|{'c'}", "frozenset([1])|frozenset([2])|frozenset()", "{torch.float32}|{torch.float64}|set()", "{first}|{second}|{first, second}", "{1}|frozenset([1])|{True}", "{(1, 2)}|{(2, 1)}|set()", "{Box}|{Small}|{Box, Small}"},
		uses:   []string{"% + (2 in $)", "% + len($)", "% + len($ & {1, 'a'})", "% + ($ == {1, 2})", "fold(%, sorted($, key=str))", "% + (torch.float32 in $)", "% + (first in $)", "% if $ else -%", "% + sum(total(q) for q in $)", "% + ($ <= {1, 2, 3})", "% + len($ | {9})", "% + isinstance($, frozenset)", "% + (1 not in $)", "% + ((2, 1) in $)", "% + (Box in $)", "% + $.isdisjoint({1})", "% + any(q == 2 for q in $)", "% + len($ - {1})"},
		inside: nil},
	{name: "class",
		values: []string{"Box|Small|Box", "int|float|int", "Box|Small|Other", "nn.Linear|nn.ReLU|nn.Module", "ValueError|KeyError|ValueError", "(int, float)|(str,)|(int,)"},
		uses:   []string{"% + isinstance(2, $)", "% + isinstance(a_box, $)", "(% * $(2.0).value if $ in (Box, Small) else %)", "% + getattr($, 'level', 3)", "% + ($ is Box)", "% + (0 if isinstance($, tuple) else len($.__name__))", "(% if isinstance($, tuple) else % + issubclass($, Box))", "(($(3.0).scale(%)) if $ in (Box, Small) else %)", "% + {Box: 1, int: 2}.get($, 3)", "% + (0 if isinstance($, tuple) else len($.__mro__))", "caught(%, $)", "% + hasattr($, 'fixed')"}},
	{name: "object",
		values: []string{"Box(1.0)|Box(2.0)|Box(3.0)", "Box(1.0)|Small(1.0)|Box(1.0)", "Box(1.0)|Box(1)|Box(True)", "Box(1.0, extra=2)|Box(1.0)|Box(1.0, extra=3)", "Box(1.0)|a_box|Box(1.0)", "Slotted(1)|Slotted(2)|Slotted(3)", "Record(1)|Record(1, 'q')|Record(2)", "Dynamic(1)|Dynamic(2)|Dynamic(3)", "Frozen(1)|Frozen(2)|Frozen(1)", "types.SimpleNamespace(value=1.0)|types.SimpleNamespace(value=2.0)|types.SimpleNamespace(value=1.0, extra=1)", "Colour.RED|Colour.BLUE|Colour.GREEN", "Listed([1, 2])|Listed([2, 1])|Listed([1])", "Mapped(a=1)|Mapped(a=2)|Mapped(b=1)", "Mixed(1)|Mixed(2)|Mixed(1)", "None|Box(1.0)|None"},
		uses: []string{"% * getattr($, 'value', 2)", "% + hasattr($, 'extra')", "% + getattr($, 'extra', 3)", "(% + len($) if hasattr($, '__len__') else %)", "($ + % if isinstance($, Box) else %)", "% if $ else -%", "% + ($ == a_box)", "% + isinstance($, Small)", "% + ($ is a_box)", "% + len(type($).__name__)", "(% + $.double if hasattr($, 'double') else % * 3)", "($(%) if callable($) else %)", "($.scale(%) if isinstance($, Box) else %)", "(% * $[0] if isinstance($, Box) else %)", "% + total(getattr($, '__dict__', {}).get('value', 1))", "% + getattr(type($), 'level', 4)", "% + ($.missing if isinstance($, Dynamic) else 2)", "% + ($ in (Colour.RED, None))",
			"% + getattr($, 'tag', 'none').count('q')", "% + (total(list($)) if isinstance($, (list, Listed)) else 1)", "(% + $.fixed(%) if isinstance($, Box) else %)", "(% + $.of(%) if isinstance($, Box) else %)", "% + (2.0 in $ if isinstance($, Box) else 5)", "(entered(%, $) if isinstance($, Box) else %)", "% + (hash($) == hash(a_box)) if isinstance($, Frozen) else %", "% + ($ < 2 if isinstance($, Mixed) else 2)", "% + ($.lazy if isinstance($, Box) else 2)", "% + getattr($, '_hidden', 1)", "% + ($.name == 'RED' if isinstance($, Colour) else 3)", "% + (sum(q for q in $) if isinstance($, Box) else 1)", "(-$ if isinstance($, Box) else 1) * %"},
		inside: nil},
	{name: "module",
		values: []string{"Net(1.0)|Net(2.0)|Net(3.0)", "Net(1.0)|Net(1.0).eval()|Net(1.0)", "nn.Sequential(Net(1.0))|nn.Sequential(Net(1.0), Net(2.0))|nn.Sequential()", "nn.ReLU()|nn.Sigmoid()|nn.ReLU()", "nn.ModuleList([Net(1.0)])|nn.ModuleList([Net(2.0)])|nn.ModuleList()", "Net(1.0)|Net(1.0, frozen=True)|Net(1.0)", "nn.Dropout(0.0)|nn.Dropout(1.0)|nn.Dropout(1.0).eval()", "nn.LeakyReLU(0.1)|nn.LeakyReLU(0.5)|nn.LeakyReLU(0.1)", "nn.ModuleDict({'a': Net(1.0)})|nn.ModuleDict({'b': Net(1.0)})|nn.ModuleDict({'a': Net(2.0)})", "nn.Softplus(1)|nn.Softplus(2)|nn.Softplus(1)", "nn.ParameterList([torch.ones(3)])|nn.ParameterList()|nn.ParameterList([torch.ones(3)] * 2)"},
		uses:   []string{"applied($, %)", "% + $.training", "% + len(list($.parameters()))", "% + sum(p.sum() for p in $.parameters())", "% + len(list($.children()))", "applied($, %) + applied($, -%)", "% + isinstance($, Net)", "% + (len($) if hasattr($, '__len__') else 2)", "% + ('a' in $ if isinstance($, nn.ModuleDict) else 3)", "% + sum(p.requires_grad for p in $.parameters())", "% + getattr($, 'gain', 2)", "% + hasattr($, 'by')", "% + getattr($, 'negative_slope', 1)", "% + sum(len(n) for n, _ in $.named_parameters())", "% + sum(len(n) for n in $.state_dict())", "% + len(list($.buffers()))", "% + len(list($.modules()))"}},
	{name: "misc",
		values: []string{"range(3)|range(4)|range(1, 4)", "slice(0, 1)|slice(1, 3)|slice(None)", "1j|2j|1 + 1j", "b'ab'|b'b'|b''", "collections.deque([1, 2])|collections.deque([2, 1])|collections.deque([1])", "Ellipsis|None|Ellipsis", "torch.device('cpu')|torch.device('meta')|torch.device('cpu')", "torch.contiguous_format|torch.preserve_format|torch.contiguous_format", "datetime.timedelta(1)|datetime.timedelta(2)|datetime.timedelta(1)", "fractions.Fraction(1, 2)|fractions.Fraction(1, 3)|fractions.Fraction(1, 2)", "bytearray(b'a')|bytearray(b'bb')|bytearray(b'c')", "re.compile('a')|re.compile('b')|re.compile('a')", "types.MappingProxyType({'a': 1})|types.MappingProxyType({'a': 2})|types.MappingProxyType({})"},
		uses:   []string{"% + (total(list($)) if hasattr($, '__iter__') else 3)", "(%[$] if isinstance($, slice) else %)", "% + len(repr($) if not isinstance($, (range, slice)) else str($))", "% + (len($) if hasattr($, '__len__') else 2)", "% * ($.imag if isinstance($, complex) else 2)", "% + ($ == 1j)", "% + ($ is Ellipsis)", "% + ($ == torch.device('cpu'))", "% + ($.stop or 0 if isinstance($, (range, slice)) else 1)", "% + ($.days if hasattr($, 'days') else 2)", "% + (float($) if isinstance($, fractions.Fraction) else 2)", "% + (total($[0]) if isinstance($, (range, bytes, bytearray, collections.deque)) and len($) else 7)", "% + ($.pattern == 'a' if hasattr($, 'pattern') else 2)", "% + (total($.get('a')) if hasattr($, 'get') else 4)", "(% * $).real if isinstance($, complex) else %"}},
}

// place is where a value lies: how it comes to be there, how inputs(v) puts another there, and how f reads it. # is a number of its own, @ the
// value of the variant, $ stands for the value at first. What is read from a class itself is not among them: PyTorch does not guard that, and goes on with
// the value at first.
type place struct{ setup, assign, read string }

var places = []place{
	{"g# = $", "global g#\n    g# = @", "g#"},
	{"g# = $", "globals()['g#'] = @", "g#"},
	{"class C#: pass\no# = C#()\no#.n = $", "o#.n = @", "o#.n"},
	{"class C#: n = $\no# = C#()", "C#.n = @", "o#.n"},
	{"class C#: n = $\no# = C#()", "if v == 1: o#.n = @\n    else: o#.__dict__.pop('n', None)", "o#.n"},
	{"class C#: pass\no# = C#()\no#.n = $", "o#.__dict__['n'] = @", "o#.__dict__['n']"},
	{"class C#: pass\no# = C#()\no#.n = $", "o#.n = @", "vars(o#)['n']"},
	{"class C#: pass\no# = C#()\no#.n = $", "o#.n = @", "getattr(o#, 'n')"},
	{"class C#:\n    def __init__(self): self._n = $\n    @property\n    def n(self): return self._n\no# = C#()", "o#._n = @", "o#.n"},
	{"class C#:\n    def __init__(self): self._n = $\n    def get(self): return self._n\no# = C#()", "o#._n = @", "o#.get()"},
	{"class C#:\n    __slots__ = ['n']\no# = C#()\no#.n = $", "o#.n = @", "o#.n"},
	{"class C#: pass\no# = [C#() for _ in range(3)]\nfor q in o#: q.n = $", "o#[1].n = @", "o#[1].n"},
	{"m# = types.ModuleType('m#')\nm#.n = $", "m#.n = @", "m#.n"},
	{"m# = types.SimpleNamespace(n=$)", "m#.n = @", "m#.n"},
	{"d# = {'n': $}", "d#['n'] = @", "d#['n']"},
	{"d# = {'n': {'m': $}}", "d#['n']['m'] = @", "d#['n']['m']"},
	{"d# = {'n': {'m': $}}", "d#['n'] = {'m': @}", "d#['n'].get('m')"},
	{"l# = [$]", "l#[0] = @", "l#[0]"},
	{"l# = [[0, $]]", "l#[0][-1] = @", "l#[0][-1]"},
	{"t# = ([$],)", "t#[0][0] = @", "t#[0][0]"},
	{"c# = collections.deque([$])", "c#[0] = @", "c#[0]"},
	{"p# = Pair($, 1)", "global p#\n    p# = Pair(@, 1)", "p#.x"},
	{"def h#(q=$): return q", "h#.__defaults__ = (@,)", "h#()"},
	{"def h#(*, q=$): return q", "h#.__kwdefaults__ = {'q': @}", "h#()"},
	{"def h#(*, q=$): return q", "h#.__kwdefaults__['q'] = @", "h#()"},
	{"def h#(): return h#.n\nh#.n = $", "h#.n = @", "h#()"},
	{"def outer#():\n    n = $\n    def get(): return n\n    def put(m):\n        nonlocal n\n        n = m\n    return get, put\nget#, put# = outer#()", "put#(@)", "get#()"},
	{"def outer#():\n    n = $\n    return lambda: n\nget# = outer#()", "get#.__closure__[0].cell_contents = @", "get#()"},
	{"def outer#():\n    n = $\n    def get(): return (lambda: n)()\n    def put(m):\n        nonlocal n\n        n = m\n    return get, put\nget#, put# = outer#()", "put#(@)", "get#()"},
	{"w# = functools.partial(lambda q: q, $)", "global w#\n    w# = functools.partial(lambda q: q, @)", "w#()"},
	{"w# = functools.partial(lambda q=0: q, q=$)", "w#.keywords['q'] = @", "w#()"},
	{"class N#(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = $\n    def forward(self): return self.n\nn# = N#()", "n#.n = @", "n#()"},
	{"class N#(nn.Module):\n    n = $\nn# = N#()", "N#.n = @", "n#.n"},
	{"class C#:\n    def __init__(self): self.n = $\n    def m(self): return self.n\nb# = C#().m", "b#.__self__.n = @", "b#()"},
	{"class C#:\n    def __init__(self): self.n = $\n    def __getattr__(self, a): return self.__dict__['n']\no# = C#()", "o#.n = @", "o#.other"},
	{"class D#:\n    def __get__(self, o, t): return self.n\nclass C#: d = D#()\nC#.__dict__['d'].n = $\no# = C#()", "C#.__dict__['d'].n = @", "o#.d"},
	{"r# = Record($)", "r#.value = @", "r#.value"},
	{"e# = Listed([$])", "e#[0] = @", "e#[0]"},
	{"e# = Mapped(n=$)", "e#['n'] = @", "e#['n']"},
	{"e# = collections.OrderedDict(n=$)", "e#['n'] = @", "e#['n']"},
	{"e# = collections.defaultdict(list, n=$)", "e#['n'] = @", "e#['n']"},
	{"m# = types.ModuleType('m#')\nexec('def get(): return n', m#.__dict__)\nm#.n = $", "m#.n = @", "m#.get()"},
	{"class C#:\n    def __init__(self): self.n = $\n    def __call__(self): return self.n\no# = C#()", "o#.n = @", "o#()"},
	{"class C#:\n    def __init__(self): self.n = $\no# = C#()\nw# = weakref.ref(o#)", "o#.n = @", "w#().n"},
	{"class C#:\n    def m(self, q=$): return q\no# = C#()", "C#.m.__defaults__ = (@,)", "o#.m()"},
	{"class C#:\n    @classmethod\n    def m(cls, q=$): return q", "C#.m.__func__.__defaults__ = (@,)", "C#.m()"},
	{"class C#:\n    def __add__(self, o, q=$): return q\no# = C#()", "C#.__add__.__defaults__ = (@,)", "(o# + 1)"},
	{"class C#:\n    @property\n    def m(self, q=$): return q\no# = C#()", "C#.m.fget.__defaults__ = (@,)", "o#.m"},
	{"class B#:\n    def m(self): return self.k#\nclass C#(B#):\n    def m(self): return super().m()\no# = C#()\nB#.k# = $", "B#.k# = @", "o#.m()"},
}

// changes are things that programs change whole: statements for the start, for inputs(v), and expressions of %. Hooks of modules are not
// among them: PyTorch does not guard them unless torch._dynamo.config.skip_nnmodule_hook_guards is False.
var changes = []struct{ setup, turn, use string }{
	{"class A#:\n    def m(self, q): return q + 1\nclass B#:\n    def m(self, q): return q + 2\no# = A#()", "o#.__class__ = [A#, B#, A#][v]", "o#.m(%)"},
	{"class A#:\n    def m(self, q): return q + 1\no# = A#()", "A#.m = [lambda s, q: q + 1, lambda s, q: q * 2, lambda s, q: q - 3][v]", "o#.m(%)"},
	{"class A#:\n    def m(self, q): return q + 1\no# = A#()", "o#.m = [lambda q: q + 1, lambda q: q * 2, lambda q: q - 3][v]", "o#.m(%)"},
	{"class A#:\n    def m(self, q): return q + 1\no# = A#()", "if v == 1: o#.m = lambda q: q * 5\n    else: o#.__dict__.pop('m', None)", "o#.m(%)"},
	{"class A#:\n    @staticmethod\n    def m(q): return q + 1\no# = A#()", "A#.m = staticmethod([lambda q: q + 1, lambda q: q * 2, lambda q: q - 3][v])", "o#.m(%)"},
	{"class A#:\n    @classmethod\n    def m(cls, q): return q + 1\no# = A#()", "A#.m = classmethod([lambda c, q: q + 1, lambda c, q: q * 2, lambda c, q: q - 3][v])", "o#.m(%)"},
	{"class A#:\n    @property\n    def p(self): return 1\no# = A#()", "A#.p = property([lambda s: 1, lambda s: 2, lambda s: 3][v])", "% + o#.p"},
	{"class A#:\n    def __call__(self, q): return q + 1\no# = A#()", "A#.__call__ = [lambda s, q: q + 1, lambda s, q: q * 2, lambda s, q: q - 3][v]", "o#(%)"},
	{"class A#: pass\no# = A#()", "A#.__add__ = [lambda s, q: q + 1, lambda s, q: q * 2, lambda s, q: q - 3][v]", "o# + %"},
	{"class A#: pass\no# = A#()", "A#.__len__ = [lambda s: 1, lambda s: 2, lambda s: 0][v]", "% + len(o#)"},
	{"class A#: pass\no# = A#()", "A#.__bool__ = [lambda s: True, lambda s: False, lambda s: True][v]", "% if o# else -%"},
	{"class A#: pass\no# = A#()", "A#.__getitem__ = [lambda s, i: 1, lambda s, i: 2, lambda s, i: 3][v]", "% + o#[0]"},
	{"class A#: pass\no# = A#()", "A#.__getattr__ = [lambda s, i: 1, lambda s, i: 2, lambda s, i: 3][v]", "% + o#.some"},
	{"class A#: pass\no# = A#()", "A#.__eq__ = [lambda s, i: True, lambda s, i: False, lambda s, i: True][v]", "% + (o# == 1)"},
	{"class A#: pass\no# = A#()", "A#.__contains__ = [lambda s, i: True, lambda s, i: False, lambda s, i: True][v]", "% + (3 in o#)"},
	{"class A#: pass\no# = A#()", "A#.__iter__ = [lambda s: iter([1]), lambda s: iter([2, 3]), lambda s: iter([1])][v]", "% + sum(q for q in o#)"},
	{"class A#: pass\no# = A#()", "if v == 1: A#.extra = 1\n    elif hasattr(A#, 'extra'): del A#.extra", "% + hasattr(o#, 'extra')"},
	{"class A#: pass\no# = A#()", "if v == 1: o#.extra = 1\n    elif hasattr(o#, 'extra'): del o#.extra", "% + hasattr(o#, 'extra')"},
	{"class A#: pass\no# = A#()", "if v == 1: o#.extra = 1\n    elif hasattr(o#, 'extra'): del o#.extra", "% + getattr(o#, 'extra', 7)"},
	{"class A#: pass\no# = A#()", "if v == 1: o#.extra = 1\n    elif hasattr(o#, 'extra'): del o#.extra", "% + ('extra' in o#.__dict__)"},
	{"class A#: pass\no# = A#()", "if v == 1: o#.extra = 1\n    elif hasattr(o#, 'extra'): del o#.extra", "% + len(vars(o#))"},
	{"class A#:\n    def m(self): return 1\nclass B#:\n    def m(self): return 2\nclass C#(A#): pass\no# = C#()", "C#.__bases__ = [(A#,), (B#,), (A#,)][v]", "% + o#.m()"},
	{"class A#:\n    def m(self): return 1\nclass C#(A#):\n    def m(self): return super().m() + 1\no# = C#()", "A#.m = [lambda s: 1, lambda s: 2, lambda s: 3][v]", "% + o#.m()"},
	{"class A#:\n    def m(self): return 1\nclass C#(A#): pass\no# = C#()", "if v == 1: C#.m = lambda s: 5\n    elif 'm' in C#.__dict__: del C#.m", "% + o#.m()"},
	{"def h#(q): return q + 1\ncodes# = [(lambda q: q + 1).__code__, (lambda q: q * 2).__code__, (lambda q: q - 3).__code__]", "h#.__code__ = codes#[v]", "h#(%)"},
	{"", "if v == 1: globals()['len'] = lambda q: 7\n    else: globals().pop('len', None)", "% + len([1, 2])"},
	{"", "if v == 1: globals()['opt#'] = 1\n    else: globals().pop('opt#', None)", "% + ('opt#' in globals())"},
	{"", "torch.set_grad_enabled(v != 1)", "(%.clone() if torch.is_grad_enabled() else % * 2)"},
	{"w# = torch.ones(3, requires_grad=True)", "torch.set_grad_enabled(v != 1)", "% * w#"},
	{"w# = torch.ones(3, requires_grad=True)", "torch.set_grad_enabled(v != 1)", "% + (% * w#).requires_grad"},
	{"", "torch.set_default_dtype([torch.float32, torch.float64, torch.float16][v])", "% + torch.ones(3)"},
	{"", "torch.set_default_dtype([torch.float32, torch.float64, torch.float16][v])", "% * torch.tensor(1.1)"},
	{"", "torch.set_default_dtype([torch.float32, torch.float64, torch.float16][v])", "% + (torch.get_default_dtype() == torch.float64)"},
	{"", "torch.set_default_dtype([torch.float32, torch.float64, torch.float16][v])", "(%.long() / 2)"},
	{"", "torch.use_deterministic_algorithms(v == 1)", "% + torch.are_deterministic_algorithms_enabled()"},
	{"", "torch.use_deterministic_algorithms(v > 0, warn_only=v == 2)", "% + torch.is_deterministic_algorithms_warn_only_enabled()"},
	{"", "torch.set_num_threads([1, 2, 1][v])", "% + torch.get_num_threads()"},
	{"", "torch.set_float32_matmul_precision(['highest', 'high', 'medium'][v])", "% + len(torch.get_float32_matmul_precision())"},
	{"a# = torch.ones(3, 3)", "torch.set_autocast_enabled('cpu', v == 1)", "% + (a# @ a#).sum()"},
	{"a# = torch.ones(3, 3)", "torch.set_autocast_enabled('cpu', v == 1)", "% + ((a# @ a#).dtype == torch.bfloat16)"},
	{"", "torch.set_autocast_enabled('cpu', v == 1)", "% + torch.is_autocast_enabled('cpu')"},
	{"a# = torch.ones(3, 3)\ntorch.set_autocast_enabled('cpu', True)", "torch.set_autocast_enabled('cpu', True)\n    torch.set_autocast_dtype('cpu', [torch.bfloat16, torch.float16, torch.bfloat16][v])", "% + ((a# @ a#).dtype == torch.float16)"},
	{"n# = nn.Dropout(1.0)", "n#.train(v == 1)", "n#(%)"},
	{"n# = nn.Sequential(nn.Dropout(1.0), Net(2.0))", "n#[0].train(v == 1)", "n#(%)"},
	{"n# = Net(1.0)", "n#.weight.requires_grad_(v != 1)", "n#(%)"},
	{"n# = Net(1.0)", "n#.weight = nn.Parameter(torch.ones(3) * (v + 1))", "n#(%)"},
	{"n# = Net(1.0)", "n#.shift = torch.ones(3, dtype=[torch.float32, torch.float64, torch.float32][v])", "n#(%)"},
	{"n# = Net(1.0)", "n#.forward = [n#.other, lambda q: q * 3, n#.other][v]", "n#(%)"},
	{"n# = nn.Sequential(Net(1.0))", "n#[0] = [Net(1.0), nn.ReLU(), Net(2.0)][v]", "n#(%)"},
	{"n# = nn.Sequential(Net(1.0))", "while len(n#) > v: del n#[-1]\n    while len(n#) < v: n#.append(Net(1.0))", "n#(%)"},
	{"class T#(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.sub = Net(1.0)\n    def forward(self, q): return self.sub(q)\nn# = T#()", "n#.sub = [Net(1.0), Net(2.0), nn.ReLU()][v]", "n#(%)"},
	{"class T#(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.sub = None\n    def forward(self, q): return q if self.sub is None else self.sub(q)\nn# = T#()", "n#.sub = [None, Net(2.0), None][v]", "n#(%)"},
	{"os.environ.pop('K#', None)", "if v == 1: os.environ['K#'] = 'abc'\n    else: os.environ.pop('K#', None)", "% + len(os.environ.get('K#', ''))"},
	{"", "random.seed(v)", "% + random.random()"},
	{"import contextvars\ncv# = contextvars.ContextVar('cv#', default=1)", "cv#.set(v)", "% + cv#.get()"},
	{"import threading\ntl# = threading.local()", "tl#.n = v", "% + tl#.n"},
	{"l# = []", "l#.append(v)", "% + len(l#)"},
	{"it# = [1, 2]", "it#.reverse()", "% + it#[0]"},
	{"d# = {'a': 1, 'b': 2}", "d#['a'] = d#.pop('a')\n    if v == 1: d#['b'] = d#.pop('b')", "% + (list(d#)[0] == 'a')"},
	{"@functools.lru_cache(None)\ndef h#(k): return glob#[0] + k\nglob# = [1]", "glob#[0] = v\n    h#.cache_clear()", "% + h#(1)"},
	{"def h#(q): return q + 1", "global h#\n    h# = [first, second, lambda q: q * 7][v]", "h#(%)"},
	{"def h#(fn): return lambda q: fn(q) + 1\nk# = h#(first)", "global k#\n    k# = h#([first, second, first][v])", "k#(%)"},
	{"class A#:\n    def __init__(self): self.fn = first\n    def run(self, q): return self.fn(q)\no# = A#()", "o#.fn = [first, second, Box(3.0).scale][v]", "o#.run(%)"},
	{"class A#:\n    fn = staticmethod(first)\n    def run(self, q): return self.fn(q)\no# = A#()", "A#.fn = [staticmethod(first), staticmethod(second), Box(3.0).scale][v]", "o#.run(%)"},
	{"o1# = Box(1.0)\no2# = Box(1.0)\no# = o1#", "global o#\n    o# = [o1#, o2#, o1#][v]", "% + (o# is o1#)"},
	{"l1# = [1]\nl2# = [1]\nl# = l1#", "global l#\n    l# = [l1#, l2#, l1#][v]", "% + (l# is l1#)"},
	{"t1# = torch.ones(3)\nt2# = torch.ones(3)\nt# = t1#", "global t#\n    t# = [t1#, t2#, t1#][v]", "% + (t# is t1#)"},
	{"t1# = torch.ones(3)\nt2# = torch.ones(3)\nt# = t1#", "global t#\n    t# = [t1#, t2#, t1#][v]\n    t1#.fill_(1)\n    t2#.fill_(5)", "t#.mul_(2) + t1# + %"},
	{"t# = torch.ones(3)", "t#.tag = [1, 2, 'q'][v]", "% + (t#.tag == 1)"},
	{"t# = torch.ones(3)", "t#.grad = [None, torch.ones(3), None][v]", "% + (t#.grad is None)"},
	{"t# = torch.ones(3)", "t#.grad = [None, torch.ones(3), torch.zeros(3)][v]", "% + (0 if t#.grad is None else t#.grad)"},
	{"t# = torch.ones(3)", "t#.requires_grad_(v == 1)", "% + t#.requires_grad + (t# * %).requires_grad"},
	{"t# = torch.ones(3)", "t#.resize_([3, 6, 3][v])", "% + t#.numel()"},
	{"t# = torch.ones(3, 3)", "if v == 1: t#.t_()", "% + t#.is_contiguous()"},
	{"t# = torch.ones(3)", "t#.data = [torch.ones(3), torch.ones(3, dtype=torch.float64), torch.ones(3) * 4][v]", "% + t#"},
	{"t# = torch.ones(3)", "t#.fill_(v)", "% + t#"},
	{"gen# = torch.Generator()", "gen#.manual_seed(v)", "% + gen#.initial_seed()"},
	{"", "torch.manual_seed(v)", "% + torch.rand(3)"},
	{"", "torch.manual_seed(v)", "% + torch.initial_seed()"},
	{"", "warnings.simplefilter(['ignore', 'ignore', 'ignore'][v])", "% + 1"},
	{"class A#: pass\no# = A#()\no#.inner = A#()\no#.inner.items = [1]", "o#.inner.items = [[1], [2], [1, 2]][v]", "% + sum(o#.inner.items)"},
	{"class A#: pass\no# = A#()\no#.inner = A#()\no#.inner.n = 1", "o#.inner = A#()\n    o#.inner.n = v", "% + o#.inner.n"},
	{"import importlib.util\nmod# = types.ModuleType('mod#')\nsys.modules['mod#'] = mod#\nmod#.n = 1", "mod#.n = v", "% + imported#()"},
	{"class E#(enum.Enum):\n    A = 1\n    B = 2\no# = E#.A", "global o#\n    o# = [E#.A, E#.B, E#.A][v]", "% + o#.value"},
	{"class K#(enum.IntEnum):\n    A = 1\n    B = 2\no# = K#.A", "global o#\n    o# = [K#.A, K#.B, 1][v]", "% + o#"},
	{"class S#(str): pass\no# = S#('a')", "global o#\n    o# = [S#('a'), S#('bb'), 'a'][v]", "% + len(o#) + isinstance(o#, S#)"},
	{"class I#(int): pass\no# = I#(1)", "global o#\n    o# = [I#(1), I#(2), 1][v]", "% + o# + isinstance(o#, I#)"},
	{"class P#(float): pass\no# = P#(1)", "global o#\n    o# = [P#(1), P#(2), 1.0][v]", "% * o# + isinstance(o#, P#)"},
	{"class T#(tuple): pass\no# = T#((1,))", "global o#\n    o# = [T#((1,)), T#((2,)), (1,)][v]", "% + o#[0] + isinstance(o#, T#)"},
	{"gen# = None", "global gen#\n    gen# = [[1, 2], (1, 2), range(1, 3)][v]", "% + sum(gen#)"},
}

// fill puts a number in place of each #.
func (g *statePrograms) fill(text string, n int) string {
	return strings.ReplaceAll(text, "#", fmt.Sprint(n))
}

// held is an expression that reads a value of one of valueKinds from one of places, and expressions of it.
func (g *statePrograms) held() (read string, uses []string) {
	g.names++
	n := g.names
	k := choose(g.r, valueKinds...)
	vals := strings.Split(choose(g.r, k.values...), "|")
	if g.r.IntN(4) == 0 {
		vals[1], vals[2] = vals[2], vals[1]
	}
	list := fmt.Sprintf("values%d", n)
	fmt.Fprintf(&g.top, "def %s(v): return [lambda: %s][v]()\n", list, strings.Join(vals, ", lambda: "))
	if g.r.IntN(3) == 0 { // the same objects each time
		fmt.Fprintf(&g.top, "kept%[1]d = [%[2]s(v) for v in range(3)]\n%[2]s = kept%[1]d.__getitem__\n", n, list)
	}
	p := choose(g.r, places...)
	g.names++
	m := g.names
	first := list + "(0)"
	read = g.fill(p.read, m)
	assign := strings.ReplaceAll(g.fill(p.assign, m), "@", list+"(v)")
	if g.r.IntN(6) == 0 { // an argument of f
		name := fmt.Sprintf("a%d", m)
		g.param = append(g.param, name)
		g.given = append(g.given, list+"(v)")
		return name, k.uses
	}
	g.top.WriteString(strings.ReplaceAll(g.fill(p.setup, m), "$", first) + "\n")
	if len(k.inside) > 0 && g.r.IntN(3) == 0 {
		assign = strings.NewReplacer("$", read, "@", list+"(v)").Replace(choose(g.r, k.inside...))
		fmt.Fprintf(&g.turn, "    %s\n", assign)
		return read, k.uses
	}
	fmt.Fprintf(&g.turn, "    %s\n", assign)
	if g.r.IntN(4) == 0 { // read by a function of its own
		fmt.Fprintf(&g.top, "def read%d(): return %s\n", m, read)
		read = fmt.Sprintf("read%d()", m)
	}
	return read, k.uses
}

// program writes a program.
func (g *statePrograms) program() string {
	t := "x"
	step := func(use, read string) {
		g.names++
		next := fmt.Sprintf("t%d", g.names)
		fmt.Fprintf(&g.body, "    %s = %s\n", next, strings.NewReplacer("%", t, "$", read).Replace(use))
		t = next
	}
	for range 1 + g.r.IntN(3) {
		if g.r.IntN(8) == 0 {
			g.body.WriteString("    torch._dynamo.graph_break()\n")
		}
		if g.r.IntN(4) == 0 {
			c := choose(g.r, changes...)
			g.names++
			n := g.names
			if strings.Contains(c.use, "imported#") {
				fmt.Fprintf(&g.top, "def imported%[1]d():\n    import mod%[1]d\n    return mod%[1]d.n\n", n)
			}
			g.top.WriteString(g.fill(c.setup, n) + "\n")
			fmt.Fprintf(&g.turn, "    %s\n", g.fill(c.turn, n))
			step(g.fill(c.use, n), "")
			continue
		}
		read, uses := g.held()
		for range 1 + g.r.IntN(2) {
			step(choose(g.r, uses...), read)
		}
	}
	args := "x"
	if len(g.param) > 0 {
		args += ", " + strings.Join(g.param, ", ")
	}
	given := append([]string{"torch.arange(3.0) + 1 + v"}, g.given...)
	return fmt.Sprintf("exec(compile(STATE, 'state', 'exec'))\n%sdef inputs(v):\n%s    return [%s]\ndef f(%s):\n%s    return %s\n", g.top.String(), g.turn.String(), strings.Join(given, ", "), args, g.body.String(), t)
}

func newStateProgram(seed uint64) string {
	return (&statePrograms{r: rand.New(rand.NewPCG(seed, 17))}).program()
}
