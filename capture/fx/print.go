package fx

import (
	"math/big"
	"sort"
	"strings"

	"whittle/capture/python/literal"
	"whittle/kernels/tensor"
)

// infix are the operators that print as expressions, by target.
var infix = map[string]string{
	"operator.eq": "==", "operator.ne": "!=", "operator.lt": "<", "operator.gt": ">", "operator.le": "<=", "operator.ge": ">=",
	"operator.add": "+", "operator.sub": "-", "operator.mul": "*", "operator.floordiv": "//", "operator.truediv": "/",
	"operator.mod": "%", "operator.pow": "**", "operator.lshift": "<<", "operator.rshift": ">>", "operator.and_": "&",
	"operator.or_": "|", "operator.xor": "^", "operator.matmul": "@",
}

// prefix are the operators that print before their operand, by target.
var prefix = map[string]string{"operator.pos": "+", "operator.neg": "-", "operator.invert": "~"}

// inplace print as statements; the node then is an alias of their first operand.
var inplace = map[string]string{
	"operator.iadd": "+=", "operator.iand": "&=", "operator.ifloordiv": "//=", "operator.ilshift": "<<=", "operator.imod": "%=",
	"operator.imul": "*=", "operator.imatmul": "@=", "operator.ior": "|=", "operator.ipow": "**=", "operator.irshift": ">>=",
	"operator.isub": "-=", "operator.itruediv": "/=", "operator.ixor": "^=",
}

// The same tables from text to target, for the parser. Printing and parsing share them, so that they stay inverse.
var infixTarget, prefixTarget, inplaceTarget = invert(infix), invert(prefix), invert(inplace)

// invert swaps keys and values. The values of the tables are distinct.
func invert(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[v] = k
	}
	return out
}

// String is the graph's forward as PyTorch generates it, not indented.
func (g *Graph) String() string { return g.Forward("") }

// Parts are the pieces of a graph's forward, for whoever puts it together in another way.
type Parts struct {
	Params  []string // behind self: with annotations and defaults
	Returns string   // the annotation of the result, "" for none
	Body    []string // statements, without that of the output
	Result  string   // what is given back; "" where the graph has no output
}

// Parts takes the graph's forward apart.
func (g *Graph) Parts() Parts {
	p := Parts{Returns: g.ReturnType}
	last := lastUses(g)
	users := make(map[*Node]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		n.WalkInputs(func(in *Node) { users[in] = true })
	}
	for _, n := range g.Nodes {
		var b strings.Builder
		switch n.Op {
		case Placeholder:
			b.WriteString(n.Target)
			if n.Type != "" {
				b.WriteString(" : " + n.Type)
			}
			if len(n.Args) > 0 {
				b.WriteString(" = ")
				writeArg(&b, n.Args[0])
			}
			p.Params = append(p.Params, b.String())
			if strings.TrimLeft(n.Target, "*") == n.Name {
				continue
			}
			b.Reset()
			writeStmt(&b, n)
		case Output:
			p.Result = "None"
			if len(n.Args) > 0 {
				p.Result = FormatArg(n.Args[0])
			}
			continue
		default:
			writeStmt(&b, n)
			b.WriteString(release(n, last, users))
		}
		p.Body = append(p.Body, b.String())
	}
	return p
}

// Forward prints `def forward(self, ...)` and its body, every line after indent. There is no newline at the end.
func (g *Graph) Forward(indent string) string {
	p := g.Parts()
	if p.Result != "" {
		p.Body = append(p.Body, "return "+p.Result)
	}
	if len(p.Body) == 0 {
		p.Body = []string{"pass"}
	}
	var b strings.Builder
	b.WriteString(indent + "def forward(" + strings.Join(append([]string{"self"}, p.Params...), ", ") + ")")
	if p.Returns != "" {
		b.WriteString(" -> " + p.Returns)
	}
	b.WriteString(":")
	for _, l := range p.Body {
		b.WriteString("\n" + indent + "    " + l)
	}
	return b.String()
}

// release is what follows the statement of a node: it lets go of the values that nobody uses behind it.
func release(n *Node, last map[*Node][]*Node, users map[*Node]bool) string {
	dead := last[n]
	if !users[n] {
		dead = append(dead, n)
	}
	if len(dead) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(";  ")
	for _, d := range dead {
		b.WriteString(d.Name + " = ")
	}
	b.WriteString("None")
	return b.String()
}

// lastUses lists, for each node, the nodes that it is the last to use, in the order of its arguments.
func lastUses(g *Graph) map[*Node][]*Node {
	seen := make(map[*Node]bool, len(g.Nodes))
	out := make(map[*Node][]*Node, len(g.Nodes))
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		n.WalkInputs(func(in *Node) {
			if !seen[in] {
				seen[in] = true
				out[n] = append(out[n], in)
			}
		})
	}
	return out
}

// writeStmt writes the statement of a node as PyTorch prints it: its annotation follows its name.
func writeStmt(b *strings.Builder, n *Node) {
	lhs := n.Name
	if n.Type != "" && n.Op != Placeholder {
		lhs += " : " + n.Type
	}
	writeStmtAs(b, n, lhs)
}

// writeStmtAs writes a node's statement with lhs as what it assigns.
func writeStmtAs(b *strings.Builder, n *Node, lhs string) {
	switch n.Op {
	case Placeholder:
		b.WriteString(n.Name + " = " + strings.TrimLeft(n.Target, "*"))
		return
	case Output:
		b.WriteString("return ")
		if len(n.Args) > 0 {
			writeArg(b, n.Args[0])
		} else {
			b.WriteString("None")
		}
		return
	case GetAttr:
		b.WriteString(lhs + " = " + attrPath("self", n.Target))
		return
	case CallModule:
		b.WriteString(lhs + " = " + attrPath("self", n.Target))
		writeCall(b, n.Args, n.Kwargs)
		return
	case CallMethod:
		b.WriteString(lhs + " = ")
		recv, rest := Arg(nil), n.Args
		if len(n.Args) > 0 {
			recv, rest = n.Args[0], n.Args[1:]
		}
		b.WriteString(attrPath(receiver(recv), n.Target))
		writeCall(b, rest, n.Kwargs)
		return
	}
	onNode := false // statements and brackets need a node in front
	if len(n.Args) > 0 {
		_, onNode = n.Args[0].(*Node)
	}
	if len(n.Kwargs) == 0 && onNode {
		if op, ok := inplace[n.Target]; ok && len(n.Args) == 2 {
			writeArg(b, n.Args[0])
			b.WriteString(" " + op + " ")
			writeArg(b, n.Args[1])
			b.WriteString(";  " + lhs + " = ")
			writeArg(b, n.Args[0])
			return
		}
		if n.Target == "operator.setitem" && len(n.Args) == 3 {
			writeArg(b, n.Args[0])
			b.WriteByte('[')
			writeArg(b, n.Args[1])
			b.WriteString("] = ")
			writeArg(b, n.Args[2])
			b.WriteString(";  " + lhs + " = ")
			writeArg(b, n.Args[0])
			return
		}
	}
	b.WriteString(lhs + " = ")
	if len(n.Kwargs) == 0 {
		if op, ok := infix[n.Target]; ok && len(n.Args) == 2 {
			b.WriteString(operand(n.Args[0], op == "**") + " " + op + " " + operand(n.Args[1], false))
			return
		}
		if op, ok := prefix[n.Target]; ok && len(n.Args) == 1 {
			b.WriteString(op + operand(n.Args[0], false))
			return
		}
		if n.Target == "operator.getitem" && len(n.Args) == 2 && onNode {
			b.WriteString(receiver(n.Args[0]))
			b.WriteByte('[')
			writeArg(b, n.Args[1])
			b.WriteByte(']')
			return
		}
		if n.Target == "getattr" && len(n.Args) == 2 {
			if s, ok := n.Args[1].(string); ok && onNode && isIdent(s) && !isKeyword(s) {
				b.WriteString(receiver(n.Args[0]) + "." + s)
				return
			}
		}
	}
	b.WriteString(funcText(n.Target))
	writeCall(b, n.Args, n.Kwargs)
}

// receiver is an argument in front of a dot or bracket: numbers need parentheses there.
func receiver(a Arg) string {
	switch a.(type) {
	case int64, *big.Int, float64, SymInt:
		return "(" + FormatArg(a) + ")"
	}
	return FormatArg(a)
}

// operand is an argument beside an infix operator; power binds tighter than a sign.
func operand(a Arg, base bool) string {
	s := FormatArg(a)
	if _, ok := a.(SymInt); ok && !isIdent(s) || base && s[0] == '-' {
		return "(" + s + ")"
	}
	return s
}

// isKeyword reports whether Python reserves a name.
func isKeyword(s string) bool {
	switch s {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
		"except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
		"return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// writeCall writes arguments in parentheses. PyTorch puts spaces around the = of keywords.
func writeCall(b *strings.Builder, args []Arg, kwargs []Kwarg) {
	b.WriteByte('(')
	writeSeq(b, args)
	for i, kw := range kwargs {
		if i > 0 || len(args) > 0 {
			b.WriteString(", ")
		}
		b.WriteString(kw.Name + " = ")
		writeArg(b, kw.Val)
	}
	b.WriteByte(')')
}

// attrPath is base.a.b, with getattr for parts that are no identifiers (the "0" of Sequential).
func attrPath(base, target string) string {
	for _, e := range strings.Split(target, ".") {
		if isIdent(e) {
			base += "." + e
		} else {
			base = "getattr(" + base + `, "` + e + `")`
		}
	}
	return base
}

// String is the module's class as a repro file holds it. Bodies of higher-order operators come first, each as a class of its
// own that __init__ makes.
func (gm *GraphModule) String() string {
	var b strings.Builder
	name := gm.ClassName
	if !isIdent(name) {
		name = "Repro"
	}
	gm.write(&b, name)
	return b.String()
}

// write writes the classes of the bodies, then that of the module. What __init__ did when the module was read is printed as it stood, so that
// a file which was read is printed again without loss.
func (gm *GraphModule) write(b *strings.Builder, name string) {
	subs := sortedKeys(gm.Submodules)
	for _, k := range subs {
		gm.Submodules[k].write(b, subClass(name, k))
		b.WriteByte('\n')
	}
	b.WriteString("class " + name + "(torch.nn.Module):\n    def __init__(self) -> None:\n        super().__init__()\n")
	for _, k := range subs {
		made := subClass(name, k) + "()"
		if gm.readsBody(k) {
			made = "torch.fx.symbolic_trace(" + made + ")"
		}
		b.WriteString("        " + InitLine{Name: k, Expr: made}.String() + "\n")
	}
	for _, l := range gm.initLines() {
		b.WriteString("        " + l.String() + "\n")
	}
	b.WriteString("\n" + gm.Graph.Forward("    ") + "\n")
}

// readsBody reports whether an operator looks at the graph of the body called name, and so needs more than a module.
func (gm *GraphModule) readsBody(name string) bool {
	for _, n := range gm.Graph.Nodes {
		if strings.TrimPrefix(n.Target, "torch.ops.") != "higher_order.tag_activation_checkpoint" || len(n.Args) == 0 {
			continue
		}
		if b, ok := n.Args[0].(*Node); ok && b.Op == GetAttr && b.Target == name {
			return true
		}
	}
	return false
}

// subClass is what the class of a body is called: Repro_true_graph_0.
func subClass(owner, name string) string {
	return owner + "_" + strings.Map(func(r rune) rune {
		if r < 0x80 && isIdent("a"+string(r)) {
			return r
		}
		return '_'
	}, name)
}

// String is the statement as __init__ holds it.
func (l InitLine) String() string {
	if l.Buffer {
		return "self.register_buffer(" + literal.Str(l.Name) + ", " + l.Expr + ")"
	}
	for _, e := range strings.Split(l.Name, ".") {
		if !isIdent(e) {
			return "setattr(self, " + literal.Str(l.Name) + ", " + l.Expr + ")"
		}
	}
	return "self." + l.Name + " = " + l.Expr
}

// initLines is Init, or what the maps say when a module was made in Go.
func (gm *GraphModule) initLines() []InitLine {
	if len(gm.Init) > 0 {
		return gm.Init
	}
	var out []InitLine
	for _, k := range sortedKeys(gm.Modules) {
		out = append(out, InitLine{Name: k, Expr: gm.Modules[k].Text})
	}
	for _, k := range sortedKeys(gm.Attrs) {
		out = append(out, InitLine{Name: k, Expr: attrExpr(gm.Attrs[k]), Buffer: true})
	}
	return out
}

// InitLines are the statements that String prints in __init__.
func (gm *GraphModule) InitLines() []InitLine { return gm.initLines() }

// sortedKeys are the keys of a map in order: text does not depend on how a map is walked.
func sortedKeys[V any](m map[string]V) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

// attrExpr is an expression that makes a tensor like t: its value if it is a single element, else random
// values of its shape and dtype, as PyTorch prints constants.
func attrExpr(t *tensor.Tensor) string {
	if t == nil {
		return "None"
	}
	var dims []Arg
	for _, s := range t.Shape {
		dims = append(dims, s)
	}
	if len(dims) == 0 && !t.Fake {
		switch t.DType {
		case tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16:
			v := strings.TrimSuffix(literal.Float(t.Item().(float64)), "0")
			if t.DType == tensor.Float32 {
				return "tensor(" + v + ")"
			}
			return "tensor(" + v + ", dtype=torch." + t.DType.String() + ")"
		case tensor.Int64, tensor.Bool:
			return "tensor(" + FormatArg(t.Item()) + ")"
		case tensor.Int32, tensor.Int16, tensor.Int8, tensor.UInt8:
			return "tensor(" + FormatArg(t.Item()) + ", dtype=torch." + t.DType.String() + ")"
		}
	}
	fn := "torch.randn("
	if !t.DType.IsFloat() {
		fn = "torch.randint(1, size="
	}
	return fn + FormatArg(List(dims)) + ", dtype=torch." + t.DType.String() + ")"
}

// lateOps are higher-order operators that `import torch` alone does not make.
var lateOps = map[string]bool{"higher_order.tag_activation_checkpoint": true, "higher_order.wrap": true, "higher_order.wrap_activation_checkpoint": true}

// HelperImports are the statements that bind the names that the module's text uses beyond torch's own: functions of other Python
// modules, which generated code calls _operator_floordiv and math_ceil, and operators that torch makes late.
func HelperImports(gm *GraphModule) []string {
	lines := map[string]bool{}
	note := func(target string) {
		text := funcText(target)
		mod, name, ok := cutLast(target)
		switch {
		case lateOps[strings.TrimPrefix(target, "torch.ops.")]:
			lines["import torch._higher_order_ops.wrap"] = true
		case strings.HasPrefix(target, "torch.Tensor."):
			lines[text+" = "+target] = true
		case strings.HasPrefix(text, "torch."), !ok, text == target:
		case mod == "operator" || mod == "math":
			lines["from "+mod+" import "+name+" as "+text] = true
		}
	}
	var walk func(gm *GraphModule)
	walk = func(gm *GraphModule) {
		for _, n := range gm.Graph.Nodes {
			var b strings.Builder
			if n.Op == CallFunction {
				writeStmt(&b, n)
				if strings.Contains(b.String(), funcText(n.Target)+"(") {
					note(n.Target)
				}
			}
			for _, a := range n.Args {
				walkRefs(a, note)
			}
			for _, kw := range n.Kwargs {
				walkRefs(kw.Val, note)
			}
		}
		for _, k := range sortedKeys(gm.Submodules) {
			walk(gm.Submodules[k])
		}
	}
	walk(gm)
	return sortedKeys(lines)
}

// cutLast splits a qualified name at its last dot; ok is false for a name without one.
func cutLast(target string) (mod, name string, ok bool) {
	i := strings.LastIndexByte(target, '.')
	if i < 0 {
		return "", target, false
	}
	return target[:i], target[i+1:], true
}

// walkRefs visits the functions that an argument names.
func walkRefs(a Arg, visit func(string)) {
	switch a := a.(type) {
	case FnRef:
		visit(string(a))
	case List:
		for _, x := range a {
			walkRefs(x, visit)
		}
	case Tuple:
		for _, x := range a {
			walkRefs(x, visit)
		}
	case Dict:
		for _, it := range a {
			walkRefs(it.Key, visit)
			walkRefs(it.Val, visit)
		}
	}
}
