package stack

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// FailingProgram is a script with a random PyTorch program and a backend, written in Python, that fails on something in its graphs.
type FailingProgram struct {
	Source string
	Env    []string // for whittle run
	What   string   // what the backend fails on, how, and what it is
}

// graphNode is a node as the backend of a program sees it.
type graphNode struct {
	Graph  int
	Op     string
	Name   string // of its target
	Words  []string
	From   []string // the names of the targets of its arguments
	DType  string
	Shape  []int
	Consts []string
	Users  int
}

// spying is a backend that shows the nodes of the graphs it gets.
const spying = `
graphs = 0
def backend(gm, inputs):
    global graphs
    for m in [gm] + [x for x in gm.children() if isinstance(x, torch.fx.GraphModule)]:
        for n in m.graph.nodes:
            v = n.meta.get('example_value')
            row = dict(Graph=graphs, Op=n.op, Name=name(n), Words=list(n.kwargs), From=[name(a) for a in n.all_input_nodes if a.op != 'placeholder'], Users=len(n.users),
                       Consts=[repr(a) for a in n.args if type(a) in (int, float, bool)])
            if isinstance(v, torch.Tensor):
                row.update(DType=str(v.dtype), Shape=[s for s in v.shape if type(s) is int])
            print('@', json.dumps(row))
    graphs += 1
    return gm.forward
`

// naming is the function that the backends know operators by.
const naming = `
def name(n):
    return getattr(n.target, '__name__', str(n.target))
`

// calling calls the compiled function, forward and backward, with sizes that differ.
const calling = `
compiled = torch.compile(f, backend=%s, dynamic=%s)
for v in (0, 1):
    r = compiled(*inputs(v))
    loss = [t.double().sum() for t in leaves(r) if t.requires_grad and t.is_floating_point()]
    if loss:
        sum(loss).backward()
`

// programParts are the imports of programs.py, the world of its programs, and leaves.
func programParts() string {
	head, rest, _ := strings.Cut(programsHarness, "WORLD = '''")
	world, rest, _ := strings.Cut(rest, "'''")
	_, rest, _ = strings.Cut(rest, "\ndef leaves(")
	leaves, _, _ := strings.Cut(rest, "\n\n\n")
	return head + world + "\ndef leaves(" + leaves + "\n"
}

// graphsOf are the nodes that a backend gets for a program; nil where the program fails with a backend that does nothing.
func graphsOf(cache, program, dynamic string) []graphNode {
	out, err := runPrograms(cache, program+naming+spying+fmt.Sprintf(calling, "backend", dynamic))
	if err != nil {
		return nil
	}
	var nodes []graphNode
	for _, line := range strings.Split(out, "\n") {
		text, ok := strings.CutPrefix(line, "@ ")
		var n graphNode
		if ok && json.Unmarshal([]byte(text), &n) == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// failingPrograms writes the backend of one program.
type failingPrograms struct {
	r     *rand.Rand
	nodes []graphNode
}

func (g *failingPrograms) node(ok func(n graphNode) bool) *graphNode {
	var l []graphNode
	for _, n := range g.nodes {
		if ok(n) {
			l = append(l, n)
		}
	}
	if len(l) == 0 {
		return nil
	}
	n := choose(g.r, l...)
	return &n
}

func isCall(n graphNode) bool { return strings.HasPrefix(n.Op, "call_") }

func plainName(n graphNode) bool { return !strings.ContainsAny(n.Name, "'\"\\") }

// onNode is a condition on a node n, in Python; "" where the graphs have nothing for it.
func (g *failingPrograms) onNode() string {
	call := g.node(func(n graphNode) bool { return isCall(n) && plainName(n) })
	if call == nil {
		return ""
	}
	switch g.r.IntN(12) {
	case 0:
		if n := g.node(func(n graphNode) bool { return n.Op == "call_method" }); n != nil {
			return fmt.Sprintf("n.op == 'call_method' and n.target == '%s'", n.Name)
		}
	case 1:
		if n := g.node(func(n graphNode) bool { return len(n.Words) > 0 }); n != nil {
			return fmt.Sprintf("'%s' in n.kwargs", choose(g.r, n.Words...))
		}
	case 2:
		if n := g.node(func(n graphNode) bool { return isCall(n) && len(n.From) > 0 && plainName(n) }); n != nil {
			return fmt.Sprintf("name(n) == '%s' and '%s' in [name(a) for a in n.all_input_nodes]", n.Name, choose(g.r, n.From...))
		}
	case 3:
		if n := g.node(func(n graphNode) bool { return isCall(n) && len(n.Shape) > 0 }); n != nil {
			return fmt.Sprintf("n.op != 'placeholder' and getattr(n.meta.get('example_value'), 'shape', None) == torch.Size(%s)", strings.ReplaceAll(fmt.Sprint(n.Shape), " ", ", "))
		}
	case 4:
		if n := g.node(func(n graphNode) bool { return isCall(n) && n.DType != "" }); n != nil {
			return fmt.Sprintf("name(n) == '%s' and n.meta['example_value'].dtype == %s", n.Name, n.DType)
		}
	case 5:
		if n := g.node(func(n graphNode) bool { return isCall(n) && len(n.Consts) > 0 && plainName(n) }); n != nil {
			return fmt.Sprintf("name(n) == '%s' and %s in n.args", n.Name, choose(g.r, n.Consts...))
		}
	case 6:
		if n := g.node(func(n graphNode) bool { return isCall(n) && n.Users > 1 }); n != nil {
			return "n.op != 'placeholder' and len(n.users) > 1"
		}
	case 7:
		if n := g.node(func(n graphNode) bool { return n.Op == "get_attr" || n.Op == "call_module" }); n != nil {
			return fmt.Sprintf("n.op == '%s'", n.Op)
		}
	case 8:
		return fmt.Sprintf("any(name(u) == '%s' for u in n.users)", call.Name)
	}
	return fmt.Sprintf("name(n) == '%s'", call.Name)
}

// onGraph is a condition on a graph module gm.
func (g *failingPrograms) onGraph() string {
	calls := map[int]int{}
	for _, n := range g.nodes {
		if isCall(n) {
			calls[n.Graph]++
		}
	}
	for range 20 {
		one := g.onNode()
		if one == "" {
			continue
		}
		switch g.r.IntN(12) {
		case 0, 1:
			first := g.node(func(n graphNode) bool { return isCall(n) && plainName(n) })
			second := g.node(func(n graphNode) bool { return n.Graph == first.Graph && isCall(n) && plainName(n) })
			return fmt.Sprintf("{'%s', '%s'} <= {name(n) for n in gm.graph.nodes}", first.Name, second.Name)
		case 2:
			most := 0
			for _, n := range calls {
				most = max(most, n)
			}
			return fmt.Sprintf("len([n for n in gm.graph.nodes if n.op.startswith('call_')]) >= %d", 1+g.r.IntN(max(most, 1)))
		case 3:
			n := g.node(func(n graphNode) bool { return isCall(n) && plainName(n) })
			return fmt.Sprintf("'%s(' in gm.code", n.Name)
		case 4:
			return fmt.Sprintf("len([n for n in gm.graph.nodes if %s]) > 1", one)
		case 5:
			return fmt.Sprintf("any(%s for m in gm.modules() if isinstance(m, torch.fx.GraphModule) for n in m.graph.nodes)", one)
		case 6:
			if n := g.node(func(n graphNode) bool { return n.Op == "placeholder" && n.DType != "" }); n != nil {
				return fmt.Sprintf("any(n.op == 'placeholder' and getattr(n.meta.get('example_value'), 'dtype', None) == %s for n in gm.graph.nodes)", n.DType)
			}
		}
		return fmt.Sprintf("any(%s for n in gm.graph.nodes)", one)
	}
	return "len(gm.graph.nodes) > 1"
}

// raising is a statement that raises.
func (g *failingPrograms) raising() string {
	return choose(g.r, "raise RuntimeError('not supported')", "raise AssertionError", "raise KeyError('missing')", "raise Unlucky('no luck')", "raise NotImplementedError(f'no lowering for {WHAT}')", "{}['absent']",
		"assert False, 'the pass failed'", "raise ValueError('a message: with\\ntwo lines')", "try:\n    [][1]\nexcept IndexError as e:\n    raise Unlucky('wrapped') from e", "None.shape", "lower(None)")
}

// raisers is what raising uses.
const raisers = `
WHAT = 'this'
class Unlucky(Exception):
    pass
def lower(n):
    raise TypeError('cannot lower it')
`

func indented(text string, n int) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

// mutating are statements that change a graph before its compiler fails.
var mutating = []string{
	"for n in gm.graph.nodes:\n    if n.op.startswith('call_'):\n        n.name = 'renamed_' + n.name",
	"for n in list(gm.graph.nodes):\n    if n.op == 'call_function':\n        n.target = torch.neg\ngm.recompile()",
	"gm.graph.eliminate_dead_code()\nlast = [n for n in gm.graph.nodes][-1]\nlast.args = ((),)\ngm.graph.eliminate_dead_code()\ngm.recompile()",
	"for n in list(gm.graph.nodes):\n    if n.op == 'call_method':\n        n.op, n.target = 'call_function', torch.clone",
}

// body is the body of a backend of gm and inputs that fails where bad(gm); level 4 has it compute something else.
func (g *failingPrograms) body() (body, how string, level int) {
	raise := g.raising()
	switch g.r.IntN(10) {
	case 0: // raises when the compiled code runs
		return "wrong = bad(gm)\ndef run(*args):\n    if wrong:\n" + indented(raise, 8) + "\n    return gm(*args)\nreturn run", "raises at run", 2
	case 1: // in an interpreter
		one := g.onNode()
		return "class Run(torch.fx.Interpreter):\n    def run_node(self, n):\n        if " + one + ":\n" + indented(raise, 12) + "\n        return super().run_node(n)\nreturn Run(gm).run", "raises at run of a node, " + one, 2
	case 2:
		one := g.onNode()
		return "class Run(torch.fx.Interpreter):\n    def run_node(self, n):\n        r = super().run_node(n)\n        if n.op != 'placeholder' and " + one + " and isinstance(r, torch.Tensor) and r.is_floating_point():\n            return r * 1.5 + 1\n        return r\nreturn Run(gm).run", "wrong at a node, " + one, 4
	case 3: // edits the graph that it got
		a := g.node(func(n graphNode) bool { return n.Op == "call_function" && plainName(n) })
		if a == nil {
			break
		}
		return "for n in gm.graph.nodes:\n    if n.op == 'call_function' and name(n) == '" + a.Name + "' and isinstance(n.args[0], torch.fx.Node):\n        n.replace_all_uses_with(n.args[0])\ngm.recompile()\nreturn gm.forward", "drops " + a.Name, 4
	case 4:
		return "if bad(gm):\n" + indented(choose(g.r, mutating...)+"\n"+raise, 4) + "\nreturn gm.forward", "raises after changing the graph", 2
	}
	return "if bad(gm):\n" + indented(raise, 4) + "\nreturn gm.forward", "raises", 2
}

// backend is the definition of a backend, and the expression for it.
func (g *failingPrograms) backend(body string) (text, expr string) {
	def := func(head string) string { return head + "\n" + indented(body, 4) + "\n" }
	plain := def("def failing(gm, inputs):")
	switch g.r.IntN(16) {
	case 0:
		return "def make(depth):\n    def failing(gm, inputs):\n        assert depth\n" + indented(body, 8) + "\n    return failing\nfailing = make(3)\n", "failing"
	case 1:
		return "def make(depth, more):\n    def failing(gm, inputs):\n        assert depth and more\n" + indented(body, 8) + "\n    return failing\n", "make(3, ['a'])"
	case 2:
		return "class Failing:\n    def __init__(self, depth):\n        self.depth = depth\n    def __call__(self, gm, inputs):\n        assert self.depth\n" + indented(body, 8) + "\n", "Failing(2)"
	case 3:
		return "class Failing:\n    def __call__(self, gm, inputs):\n" + indented(body, 8) + "\ncompiler = Failing()\n", "compiler"
	case 4:
		return def("def failing(gm, inputs, depth):"), "functools.partial(failing, depth=2)"
	case 5:
		return "from torch._dynamo import register_backend\n@register_backend\n" + plain, "'failing'"
	case 6:
		return plain, "lambda gm, inputs: failing(gm, inputs)"
	case 7:
		return "class Compiler:\n    depth = 1\n    def compile(self, gm, inputs):\n" + indented(body, 8) + "\n", "Compiler().compile"
	case 8:
		return "class Compiler:\n    @staticmethod\n    def compile(gm, inputs):\n" + indented(body, 8) + "\n", "Compiler.compile"
	case 9:
		return "def passed(fn):\n    @functools.wraps(fn)\n    def inner(gm, inputs):\n        return fn(gm, inputs)\n    return inner\n@passed\n" + plain, "failing"
	}
	return plain, "failing"
}

// NewFailingProgram is the program of a seed; "" as its source where the program itself raises or has no graph.
func NewFailingProgram(cache string, seed uint64) FailingProgram {
	r := rand.New(rand.NewPCG(seed, 23))
	program := programParts() + newTorchProgram(seed)
	dynamic := choose(r, "None", "None", "False", "True")
	if r.IntN(4) == 0 { // modules stay calls in the graph
		program += "\ntorch._dynamo.config.inline_inbuilt_nn_modules = False\n"
	}
	g := &failingPrograms{r: r, nodes: graphsOf(cache, program, dynamic)}
	if !slices.ContainsFunc(g.nodes, isCall) {
		return FailingProgram{}
	}
	bad := g.onGraph()
	body, how, level := g.body()
	text, expr := g.backend(body)
	p := FailingProgram{Env: []string{"TORCHDYNAMO_REPRO_AFTER=dynamo", fmt.Sprintf("TORCHDYNAMO_REPRO_LEVEL=%d", level)}}
	if level == 2 && !strings.Contains(how, "at run") && r.IntN(2) == 0 {
		p.Env = nil
	}
	p.Source = program + naming + raisers + "def bad(gm):\n    return " + bad + "\n" + text + fmt.Sprintf(calling, expr, dynamic)
	p.What = fmt.Sprintf("%s; bad: %s; backend=%s dynamic=%s %s", how, bad, expr, dynamic, strings.Join(p.Env, " "))
	return p
}

// ProgramFlags are the first seed of random programs, and the folder that keeps them.
func ProgramFlags() (seed uint64, keep string) { return *programSeed, *programKeep }
