package stack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// python is a condition on Python values; data one on a tensor, at which the graph breaks.
func (g *torchPrograms) python() string {
	v := g.pick(func(v tvar) bool { return len(v.shape) > 0 })
	c := []string{"k > 2", "flag", "not flag", "k % 2 == 0", "s > 1", "isinstance(k, int)", "k in (1, 3, 5)", "flag and k > 1", "torch.is_grad_enabled()"}
	if v != nil {
		c = append(c, v.name+".shape[0] > 3", fmt.Sprintf("%s.dim() == %d", v.name, len(v.shape)), v.name+".dtype == torch.float32", "len("+v.name+") > 2", v.name+".numel() > 12", v.name+".size(0) != k", v.name+".is_floating_point()", v.name+".requires_grad")
	}
	return choose(g.r, c...)
}

func (g *torchPrograms) data(v tvar) string {
	return fmt.Sprintf(choose(g.r, "%s.sum() > 0.3", "(%s > 0.4).any()", "%s.abs().max().item() > 1", "bool((%s < 2).all())", "float(%s.mean()) > 0.05"), v.name)
}

// nested writes statements in a block and forgets the variables made there.
func (g *torchPrograms) nested(n int) {
	indent, vars := g.indent, len(g.vars)
	g.indent += "    "
	for range n {
		g.simple()
	}
	g.line("pass")
	g.indent, g.vars = indent, g.vars[:vars]
}

func (g *torchPrograms) branch() {
	v := g.float(0)
	if v == nil {
		return
	}
	cond := g.python()
	if g.one(4) {
		cond = g.data(*v)
	}
	t := g.fresh("t")
	switch g.r.IntN(4) {
	case 0:
		g.line("%s = %s if %s else %s", t, g.unary(*v), cond, g.unary(*v))
	case 1:
		g.line("%s = %s", t, v.name)
		g.line("if %s:\n    %s = %s", cond, t, g.unary(*v))
	default:
		g.line("if %s:", cond)
		g.nested(g.r.IntN(3))
		g.line("    %s = %s", t, g.unary(*v))
		g.line("else:")
		g.nested(g.r.IntN(2))
		g.line("    %s = %s", t, g.unary(*v))
	}
	g.vars = append(g.vars, tvar{t, v.shape, v.dt, true})
}

func (g *torchPrograms) loop() {
	v := g.float(0)
	if v == nil {
		return
	}
	t, i := g.fresh("t"), g.fresh("i")
	w := *v
	w.name, w.fixed = t, true
	g.line("%s = %s", t, v.name)
	body := fmt.Sprintf("%s = %s", t, g.unary(w))
	switch g.r.IntN(7) {
	case 0:
		g.line("for %s in range(%s):\n    %s\n    %s = %s + %s", i, choose(g.r, "2", "k", "3"), body, t, t, i)
	case 1:
		g.line("%s = 0\nwhile %s < %s:\n    %s += 1\n    if %s == 2:\n        continue\n    %s", i, i, choose(g.r, "3", "k"), i, i, body)
	case 2:
		g.line("for %s, h%s in enumerate([torch.sin, lambda a: a * 2, F.relu]):\n    %s = h%s(%s)\n    if %s == k:\n        break", i, i, t, i, t, i)
	case 3:
		g.line("for %s in (0.5, s, 2):\n    %s = %s * %s", i, t, t, i)
	case 4:
		g.line("for %s, h%s in zip(['sin', 'cos'], (1, 2)):\n    %s = getattr(torch, %s)(%s) + h%s", i, i, t, i, t, i)
	case 5:
		if len(v.shape) > 0 {
			g.line("for %s in %s.unbind(0):\n    %s = %s + %s.sum()", i, v.name, t, t, i)
		}
	case 6:
		g.line("for %s in range(3):\n    if %s:\n        break\n    %s\nelse:\n    %s = %s + 1", i, choose(g.r, g.python(), g.data(w)), body, t, t)
	}
	w.shape = v.shape
	g.vars = append(g.vars, w)
}

func (g *torchPrograms) container() {
	a := g.float(0)
	if a == nil {
		return
	}
	l, t := g.fresh("l"), g.fresh("t")
	w := *a
	w.name, w.fixed = t, true
	u := func() string { return g.unary(*a) }
	switch g.r.IntN(14) {
	case 0:
		g.line("%s = [%s, %s]\n%s.append(%s)\n%s = sum(%s)", l, u(), u(), l, a.name, t, l)
	case 1:
		g.line("%s = {'a': %s, 'b': %s}\n%s['c'] = %s['a'] + 1\n%s = %s['b'] * %s.get('c', 0) + %s.pop('a')", l, u(), u(), l, l, t, l, l, l)
	case 2:
		g.line("%s = [%s * j for j in range(1, 4) if j != k]\n%s = torch.stack(%s).sum(0) if %s else %s", l, a.name, t, l, l, a.name)
	case 3:
		g.line("%s, *%s = (%s, %s, 3)\n%s = %s + %s[0] * %s[-1]", t, l, u(), u(), t, t, l, l)
	case 4:
		g.line("%s = Pair(%s, k)\n%s = %s.x * %s.n + %s[1]", l, u(), t, l, l, l)
	case 5:
		g.line("%s = Box(%s)\n%s.scale(2).scale(s)\n%s = %s.value + len(%s.log)", l, u(), l, t, l, l)
	case 6:
		g.line("%s = Record(%s, tag='r')\n%s = %s.a * 2 if %s.tag == 'r' else %s.a", l, u(), t, l, l, l)
	case 7:
		g.line("%s = dict(p=%s, q=%s)\n%s = functools.reduce(lambda x, y: x + y, [%s[n] * (i + 1) for i, n in enumerate(sorted(%s))])", l, u(), u(), t, l, l)
	case 8:
		g.line("%s = collections.defaultdict(list)\n%s[k].append(%s)\n%s[k].append(%s)\n%s = torch.stack(%s[k]).mean(0) + len(%s)", l, l, u(), l, u(), t, l, l)
	case 9:
		g.line("%s = {k: %s, 'z': %s}\n%s = %s[k]\nfor key, value in %s.items():\n    if key == 'z':\n        %s = %s + value", l, u(), u(), t, l, l, t, t)
	case 10:
		g.line("%s = list(map(lambda q: q + 1, [%s, %s]))\n%s = %s[0] - %s[1] * any(j > 2 for j in range(k))", l, u(), u(), t, l, l)
	case 11:
		g.line("%s = collections.deque([%s], maxlen=2)\n%s.appendleft(%s)\n%s.append(%s)\n%s = %s[0] + %s.pop()", l, u(), l, u(), l, u(), t, l, l)
	case 12:
		g.line("%s = f'{k}-{%s.dim()}-{flag}'\n%s = %s * (1 if %s.startswith('3') else len(%s))", l, a.name, t, a.name, l, l)
	case 13:
		g.line("%s = set([k, 2, 3]) | {k + 1}\n%s = %s * len(%s) + max(%s) + sum(%s)", l, t, a.name, l, l, l)
	}
	g.vars = append(g.vars, w)
}

func (g *torchPrograms) function() {
	a := g.float(0)
	if a == nil {
		return
	}
	h, t := g.fresh("h"), g.fresh("t")
	w := *a
	w.name, w.fixed = t, true
	p := *a
	p.name = "p"
	u := g.unary(p)
	switch g.r.IntN(13) {
	case 0:
		g.line("def %s(p, n=2, *rest, **kw):\n    return %s + n + len(rest) + kw.get('z', 0)\n%s = %s(%s, k, 1, z=2)", h, u, t, h, a.name)
	case 1:
		g.line("count%s = 0\ndef %s(p):\n    nonlocal count%s\n    count%s += 1\n    return %s * count%s\n%s = %s(%s(%s))", h, h, h, h, u, h, t, h, h, a.name)
	case 2:
		g.line("%s = lambda p, m=s: (%s) * m\n%s = %s(%s)", h, u, t, h, a.name)
	case 3:
		g.line("%s = functools.partial(torch.add, alpha=2)\n%s = %s(%s, %s)", h, t, h, a.name, g.unary(*a))
	case 4:
		g.line("def %s(n):\n    for j in range(n):\n        yield %s * j\n%s = sum(%s(3))", h, a.name, t, h)
	case 5:
		g.line("try:\n    if %s:\n        raise ValueError('no')\n    %s = %s\nexcept ValueError as e:\n    %s = %s + len(str(e))\nfinally:\n    %s = %s * 2", g.python(), t, g.unary(*a), t, a.name, t, t)
	case 6:
		g.line("with %s:\n    %s = %s\n%s = %s + %s", choose(g.r, "torch.no_grad()", "torch.enable_grad()", "scaled(2)", "contextlib.nullcontext()", "torch.set_grad_enabled(False)", "torch.autograd.set_grad_enabled(flag)"), t, g.unary(*a), t, t, a.name)
	case 7:
		g.line("def %s(p, d):\n    return p if d == 0 else %s(%s, d - 1)\n%s = %s(%s, 2)", h, h, u, t, h, a.name)
	case 8:
		g.line("def %s(q):\n    def inner(p):\n        return %s + q\n    return inner\n%s = %s(2)(%s) - %s(s)(%s)", h, u, t, h, a.name, h, a.name)
	case 9:
		g.line("%s = helper(%s, k)", t, a.name)
	case 10:
		g.line("%s = Double.apply(%s)", t, a.name)
	case 11:
		g.line("@decorated\ndef %s(p):\n    return %s\n%s = %s(%s)", h, u, t, h, a.name)
	case 12:
		g.line("%s = torch.utils.checkpoint.checkpoint(lambda p: %s, %s, use_reentrant=False)", t, u, a.name)
	}
	g.vars = append(g.vars, w)
}

// effect changes what outlives the call, or leaves the graph.
func (g *torchPrograms) effect() {
	a := g.float(0)
	if a == nil {
		return
	}
	switch g.r.IntN(9) {
	case 0:
		g.line("print('at', k, tuple(%s.shape))", a.name)
	case 1:
		g.line("state['n'] = state.get('n', 0) + %s", choose(g.r, "k", "1"))
	case 2:
		if !strings.Contains(g.b.String(), "counter") { // a name is declared before it is read
			g.line("global counter\ncounter += 1")
		}
	case 3:
		g.line("history.append(%s)", choose(g.r, "k", a.name+".dim()", a.name+".detach()", "flag"))
	case 4:
		v := tvar{shape: a.shape, dt: a.dt}
		g.define(v, fmt.Sprintf("%s + %s", a.name, choose(g.r, a.name+".sum().item()", "float("+a.name+".mean())", "int("+a.name+".shape[0]) if "+a.name+".dim() else 1")))
	case 5:
		g.line("torch._dynamo.graph_break()")
	case 6:
		g.line("holder.value = %s\nholder.log.append(k)", g.unary(*a))
	case 7:
		if len(a.shape) > 0 {
			g.line("print(%s.sum() > 1e9)", a.name)
		}
	case 8:
		g.line("%s = helper(%s, counter)", g.fresh("u"), a.name)
	}
}

func (g *torchPrograms) module() {
	a := g.pick(func(v tvar) bool {
		return v.dt == 'f' && len(v.shape) >= 1 && slices.Contains([]string{"4", "3", "2"}, v.shape[len(v.shape)-1])
	})
	if a == nil {
		return
	}
	last := a.shape[len(a.shape)-1]
	m := g.fresh("M")
	inst := g.fresh("net")
	init, fwd := []string{}, []string{}
	add := func(i, f string) {
		if i != "" {
			init = append(init, strings.ReplaceAll(i, "LAST", last))
		}
		fwd = append(fwd, strings.ReplaceAll(f, "LAST", last))
	}
	parts := [][2]string{
		{"self.lin = nn.Linear(LAST, LAST)", "x = self.lin(x)"}, {"self.norm = nn.LayerNorm(LAST)", "x = self.norm(x)"}, {"self.seq = nn.Sequential(nn.Linear(LAST, 5), nn.ReLU(), nn.Linear(5, LAST))", "x = x + self.seq(x)"},
		{"self.scale = nn.Parameter(torch.ones(LAST) * 1.5)", "x = x * self.scale"}, {"self.register_buffer('shift', torch.arange(LAST, dtype=torch.float32))", "x = x + self.shift"},
		{"self.list = nn.ModuleList([nn.Linear(LAST, LAST) for _ in range(2)])", "for layer in self.list:\n    x = torch.tanh(layer(x))"}, {"self.count = 0", "self.count += 1\nx = x + self.count"},
		{"self.drop = nn.Dropout(0.5).eval()", "x = self.drop(x)"}, {"self.gate = nn.ModuleDict({'a': nn.Linear(LAST, LAST), 'b': nn.Identity()})", "x = self.gate['a' if k > 2 else 'b'](x)"}, {"self.act = nn.GELU()", "x = self.act(x)"},
		{"self.register_buffer('seen', torch.zeros(()))", "self.seen += 1\nx = x * self.seen"}, {"self.bn = nn.BatchNorm1d(LAST)", "x = self.bn(x.reshape(-1, LAST)).reshape(x.shape) if x.numel() > LAST else x"},
		{"", "x = x if self.training else -x"}, {"self.w = nn.Parameter(torch.full((LAST, LAST), 0.25))", "x = F.linear(x, self.w) + x @ self.w"}, {"", "x = self.step(x)"}, {"self.conv = nn.Conv1d(1, 2, 2, padding=1)", "x = x + self.conv(x.reshape(-1, 1, LAST)).mean() "},
		{"self.emb = nn.Embedding(7, LAST)", "x = x + self.emb(torch.tensor([1, 2])).sum(0)"}, {"self.rms = nn.Parameter(torch.ones(LAST))", "x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.rms"},
	}
	perm := g.r.Perm(len(parts))
	for _, i := range perm[:1+g.r.IntN(3)] {
		add(parts[i][0], parts[i][1])
	}
	indented := func(l []string) string {
		return "        " + strings.ReplaceAll(strings.Join(l, "\n"), "\n", "\n        ")
	}
	fmt.Fprintf(&g.top, "class %s(nn.Module):\n    def __init__(self):\n        super().__init__()\n%s\n    def step(self, x):\n        return x * 0.5\n    def forward(self, x, k=1):\n%s\n        return x\n", m, strings.TrimRight(indented(append(init, "pass")), " "), indented(fwd))
	fmt.Fprintf(&g.top, "%s = %s()\nfill(%s)\n", inst, m, inst)
	if !g.grad { // backward would meet what is written in place
		fmt.Fprintf(&g.top, "%s.requires_grad_(False)\n", inst)
	}
	g.line("%s = %s(%s%s)", g.fresh("t"), inst, a.name, choose(g.r, "", ", k", ", k=k"))
	w := *a
	w.name, w.fixed = fmt.Sprintf("t%d", g.names), true
	g.vars = append(g.vars, w)
}

// simple writes a statement without blocks.
func (g *torchPrograms) simple() {
	switch n := g.r.IntN(20); {
	case n < 5:
		g.pointwise()
	case n < 9:
		g.binary()
	case n < 11:
		g.reduction()
	case n < 15:
		g.view()
	case n < 17:
		g.matmul()
	case n < 18:
		g.indexing()
	default:
		g.inplace()
	}
}

func (g *torchPrograms) statement() {
	switch n := g.r.IntN(40); {
	case n < 3:
		g.branch()
	case n < 5:
		g.loop()
	case n < 8:
		g.container()
	case n < 11:
		g.function()
	case n < 13:
		g.effect()
	case n < 15:
		g.module()
	default:
		g.simple()
	}
}

// program is the source of one program.
func (g *torchPrograms) program() string {
	var in strings.Builder
	g.grad = g.one(2)
	g.indent = "    "
	var args, made []string
	shapes := [][]string{{"A", "B"}, {"A", "4"}, {"B", "4"}, {"B"}, {"4"}, {"A", "A"}, {"2", "A", "4"}, {"C", "B", "4"}, {"A", "1"}, {"1", "4"}, {}, {"3", "B"}, {"2", "3"}, {"C", "A", "B"}}
	for i := range 2 + g.r.IntN(3) {
		v := tvar{name: fmt.Sprintf("x%d", i), shape: choose(g.r, shapes...), dt: choose(g.r, []byte("ffffffdib")...)}
		if i == 0 {
			v.dt = 'f'
		}
		n := product(append([]string{"1"}, v.shape...))
		var e string
		switch v.dt {
		case 'i':
			e = fmt.Sprintf("((torch.arange(%s) * 7 + %d + v) %% 11 - 3)", n, i)
		case 'b':
			e = fmt.Sprintf("((torch.arange(%s) * 5 + %d) %% 3 > 0)", n, i)
		default:
			e = fmt.Sprintf("torch.sin(torch.arange(%s, dtype=torch.float%s) * 1.37 + %d + v * 0.3)", n, map[byte]string{'f': "32", 'd': "64"}[v.dt], i)
		}
		e += ".reshape([" + strings.Join(v.shape, ", ") + "])"
		if g.one(6) && len(v.shape) == 2 { // strides of a transposed tensor
			e += ".t().contiguous().t()"
		}
		if g.grad && float(v) {
			if i == 0 || !g.one(3) {
				e += ".requires_grad_()"
			}
			v.fixed = true
		}
		g.vars = append(g.vars, v)
		args = append(args, v.name)
		made = append(made, e)
	}
	for range 3 + g.r.IntN(7) {
		g.statement()
	}
	var outs []string
	for _, v := range g.vars {
		if g.one(3) || v.name == g.vars[len(g.vars)-1].name {
			outs = append(outs, v.name)
		}
	}
	switch result := strings.Join(outs, ", "); g.r.IntN(5) {
	case 0:
		g.line("return %s", outs[len(outs)-1])
	case 1:
		g.line("return {'r': [%s], 'k': k}", result)
	case 2:
		g.line("return (%s,), k + 1, s", result)
	case 3:
		g.line("return [%s, None]", result)
	default:
		g.line("return (%s,)", result)
	}
	in.WriteString(g.top.String())
	fmt.Fprintf(&in, "def inputs(v):\n    A, B, C = [(4, 3, 2), (5, 4, 3), (7, 6, 2)][v]\n    return [%s, [3, 3, 1][v], %s, %s]\n", strings.Join(made, ", "), choose(g.r, "1.5", "0.5", "[1.5, 1.5, 0.25][v]"), choose(g.r, "True", "False", "v != 1"))
	fmt.Fprintf(&in, "def f(%s, k, s, flag):\n%s", strings.Join(args, ", "), g.b.String())
	return in.String()
}

func newTorchProgram(seed uint64) string {
	return (&torchPrograms{r: rand.New(rand.NewPCG(seed, 11))}).program()
}
