package fx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/capture/python/literal"
	"whittle/kernels/tensor"
)

// MetaOrigin is the Meta key of a node's Origin.
const MetaOrigin = "origin"

// Origin is the line of a program that made a node.
type Origin struct {
	File string
	Line int
	Func string
	Code string // the line's text, without the space around it

	Trail *Trail // nil where it is not known
}

// Trail is how a program came to a line, and what it called there.
type Trail struct {
	Stack   func() []Origin // the lines, from the captured function's inwards
	Modules []ModuleCall    // the modules that were being called, the outermost first
	Within  []any           // the operators in whose bodies the call stands, the outermost first, as the language of the program has them
	Node    string          // what the call's node in the captured graph was called when it was made
	Op      Op
	Target  string
}

// ModuleCall is a module of the program at the time of its call.
type ModuleCall struct {
	Key   string // tells modules apart
	Path  string // how the program reaches it
	Class any    // its class, as the language of the program has it
}

// place tells lines apart: with those that called what is on them, where they are known.
func (o Origin) place() string {
	s := o.String()
	if o.Trail != nil && o.Trail.Stack != nil {
		for _, f := range o.Trail.Stack() {
			s += "\n" + f.String()
		}
	}
	return s
}

// String is the comment that Readable prints above the nodes of a line.
func (o Origin) String() string {
	return fmt.Sprintf("# File: %s:%d in %s, code: %s", o.File, o.Line, o.Func, o.Code)
}

// Where is the line as a message names it, "" for the zero Origin.
func (o Origin) Where() string {
	if o == (Origin{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d: %s", o.File, o.Line, o.Code)
}

// SetOrigin notes where a node comes from; the zero Origin is not noted.
func (n *Node) SetOrigin(o Origin) {
	if o == (Origin{}) {
		return
	}
	if n.Meta == nil {
		n.Meta = map[string]any{}
	}
	n.Meta[MetaOrigin] = o
}

// Origin is where a node comes from; the zero value where that is not known.
func (n *Node) Origin() Origin {
	o, _ := n.Meta[MetaOrigin].(Origin)
	return o
}

// Readable prints the graph for people, as print_readable does: a class whose forward says what each value is, and
// which line of the program it comes from. describe gives a node's annotation; nil => Described. class is the name that is printed.
func (gm *GraphModule) Readable(class string, describe func(n *Node) string) string {
	if describe == nil {
		describe = func(n *Node) string { return Described(n.Val) }
	}
	var b strings.Builder
	b.WriteString("class " + class + "(torch.nn.Module):\n" + ShownCalls(gm.Graph.ReadableForward("    ", describe)))
	for _, k := range gm.bodies() {
		sub := gm.Submodules[k].Readable(k, describe)
		b.WriteString("    " + strings.ReplaceAll(strings.TrimSuffix(sub, "\n"), "\n", "\n    ") + "\n")
	}
	return b.String()
}

// bodies are the names of the submodules in the order in which the graph reads them; those that it does not read come last.
func (gm *GraphModule) bodies() []string {
	var out []string
	for _, n := range gm.Graph.Nodes {
		if n.Op == GetAttr && gm.Submodules[n.Target] != nil && !slices.Contains(out, n.Target) {
			out = append(out, n.Target)
		}
	}
	for _, k := range sortedKeys(gm.Submodules) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// ReadableForward is the forward that Readable prints, every line after indent.
func (g *Graph) ReadableForward(indent string, describe func(n *Node) string) string {
	var b strings.Builder
	b.WriteString(indent + "def forward(self")
	for _, n := range g.Placeholders() {
		b.WriteString(", " + n.Target)
		if t := describe(n); t != "" && n.Meta[MetaUndescribed] == nil {
			b.WriteString(`: "` + t + `"`)
		} else if n.Type != "" {
			b.WriteString(" : " + n.Type)
		}
	}
	b.WriteString("):\n")
	g.readableBody(&b, indent+"    ", describe)
	return b.String()
}

// readableBody writes the statements of print_readable: each line of the program stands before the first node that came from it.
func (g *Graph) readableBody(b *strings.Builder, indent string, describe func(n *Node) string) {
	last := lastUses(g)
	users := make(map[*Node]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		n.WalkInputs(func(in *Node) { users[in] = true })
	}
	var at string
	known, lost := false, false
	for _, n := range g.Nodes {
		_, ok := n.Meta[MetaOrigin].(Origin)
		known = known || ok
	}
	lines := 0
	for _, n := range g.Nodes {
		if n.Op == Placeholder && strings.TrimLeft(n.Target, "*") == n.Name {
			continue
		}
		o, ok := n.Meta[MetaOrigin].(Origin)
		switch {
		case !n.IsCall() && (n.Op != GetAttr || !ok):
		case ok && o.place() != at:
			at, lost = o.place(), false
			if lines > 0 {
				b.WriteString(indent + "\n")
			}
			b.WriteString(indent + " " + o.String() + "\n")
		case !ok && known && !lost:
			at, lost = "", true
			if lines > 0 {
				b.WriteString(indent + "\n")
			}
			b.WriteString(indent + "# No stacktrace found for following nodes\n")
		}
		lines++
		b.WriteString(indent)
		lhs := n.Name
		if t := describe(n); t != "" && n.Op != Placeholder {
			lhs += `: "` + t + `"`
		}
		writeStmtAs(b, n, lhs)
		if n.Op != Placeholder && n.Op != Output {
			b.WriteString(release(n, last, users))
		}
		b.WriteString("\n")
	}
	b.WriteString(indent + "\n")
}

// Described is what Readable says of a value: dtype, sizes, strides and device of a tensor, Sym(expr) of a number, "" of others.
func Described(v any) string {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil {
			return ""
		}
		return v.DType.Short() + dims(v.Shape) + dims(v.Stride) + "cpu"
	case SymInt:
		return ValString(v)
	}
	return ""
}

// DescribedSizes is Described without strides and device, as print_readable shows values unless it is asked for more.
func DescribedSizes(v any) string {
	if t, ok := v.(*tensor.Tensor); ok && t != nil {
		return t.DType.Short() + dims(t.Shape)
	}
	return Described(v)
}

// Table prints the graph as a table with a row for each node, aligned as the tabulate package does it.
func (g *Graph) Table() string {
	rows := [][]string{{"opcode", "name", "target", "args", "kwargs"}}
	for _, n := range g.Nodes {
		kw := "{"
		for i, k := range n.Kwargs {
			if i > 0 {
				kw += ", "
			}
			kw += literal.Str(k.Name) + ": " + FormatArg(k.Val)
		}
		target := n.Target
		if n.Op == CallFunction {
			target = strings.TrimSuffix(ShownCalls(funcText(n.Target)+"("), "(")
		}
		rows = append(rows, []string{string(n.Op), n.Name, target, FormatArg(Tuple(n.Args)), kw + "}"})
	}
	return Tabulate(rows)
}

// Tabulate aligns the columns of a table whose first row is its head, as the tabulate package does it. There is no newline at the end.
func Tabulate(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], len(c))
		}
	}
	rule := make([]string, len(width))
	for i, w := range width {
		rule[i] = strings.Repeat("-", w)
	}
	lines := make([]string, 0, len(rows)+1)
	for _, r := range slices.Insert(slices.Clone(rows), 1, rule) {
		cells := slices.Clone(r)
		for j := range len(cells) - 1 {
			cells[j] = fmt.Sprintf("%-*s", width[j], r[j])
		}
		lines = append(lines, strings.Join(cells, "  "))
	}
	return strings.Join(lines, "\n")
}

// Sizes lists the sizes of the graph's tensors by node, a line each; describe gives a node's sizes, "" for what is no tensor.
func (g *Graph) Sizes(describe func(n *Node) string) string {
	if describe == nil {
		describe = func(n *Node) string {
			t, ok := n.Val.(*tensor.Tensor)
			if !ok || t == nil {
				return ""
			}
			parts := make([]string, len(t.Shape))
			for i, s := range t.Shape {
				parts[i] = strconv.FormatInt(s, 10)
			}
			if len(parts) == 1 {
				return "(" + parts[0] + ",)"
			}
			return "(" + strings.Join(parts, ", ") + ")"
		}
	}
	var b strings.Builder
	for _, n := range g.Nodes {
		if s := describe(n); s != "" {
			b.WriteString(n.Name + ": " + s + "\n")
		}
	}
	return b.String()
}
