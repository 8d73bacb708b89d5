package fx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"

	"whittle/kernels/tensor"
)

// Parse reads the graph in a Python text: the first class with a forward method, or a bare `def forward`.
// file is used in errors only.
func Parse(file, text string) (*GraphModule, error) {
	s, err := ParseSource(file, text)
	if err != nil {
		return nil, err
	}
	return s.Module()
}

// ParseGraph is Parse for a bare `def forward`.
func ParseGraph(text string) (*Graph, error) {
	gm, err := Parse("graph", text)
	if err != nil {
		return nil, err
	}
	return gm.Graph, nil
}

// Module reads the file's graph: the class called Repro, else the first class with a forward method that no other
// class makes, or a forward outside of any class. Sub-graphs of higher-order operators may be classes inside of it,
// classes beside it that __init__ makes, or such classes in comments.
func (s *Source) Module() (*GraphModule, error) {
	s.findClasses()
	name := s.MainClass()
	if name != "" {
		return s.namedClass(name)
	}
	for i := 0; i < int(s.Root.NamedChildCount()); i++ {
		n := s.Root.NamedChild(i)
		if n.Type() == "function_definition" && s.Content(n.ChildByFieldName("name")) == "forward" {
			gm := &GraphModule{ClassName: "GraphModule"}
			return gm, s.forward(gm, n)
		}
	}
	return nil, &ParseError{s.File, 1, "no class with a forward method, and no `def forward`"}
}

// MainClass is the name of the class that Module reads, "" for none.
func (s *Source) MainClass() string {
	s.findClasses()
	if c := s.classes["Repro"]; c != nil && c.src == s {
		return "Repro"
	}
	made := map[string]bool{}
	for _, c := range s.classes {
		for _, m := range madeClass().FindAllStringSubmatch(c.src.Content(c.node), -1) {
			made[m[1]] = true
		}
	}
	for i := 0; i < int(s.Root.NamedChildCount()); i++ {
		if n := s.Root.NamedChild(i); n.Type() == "class_definition" {
			name := s.Content(n.ChildByFieldName("name"))
			if c := s.classes[name]; c != nil && c.src == s && !made[name] {
				return name
			}
		}
	}
	return ""
}

// UnusedClasses lists the classes with a forward that Module did not come across.
func (s *Source) UnusedClasses() []*sitter.Node {
	s.findClasses()
	var out []*sitter.Node
	for i := 0; i < int(s.Root.NamedChildCount()); i++ {
		n := s.Root.NamedChild(i)
		if n.Type() == "class_definition" && s.IsGraph(n) && !s.used[s.Content(n.ChildByFieldName("name"))] {
			out = append(out, n)
		}
	}
	return out
}

// IsGraph reports whether a class at the top of the file holds a graph: a forward method.
func (s *Source) IsGraph(class *sitter.Node) bool {
	return s.forwardOf(class.ChildByFieldName("body")) != nil
}

// The forms of a class that __init__ makes, self.body = Body() or symbolic_trace(Body()), and of one that stands in comments.
var (
	madeClass    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`self\.\w+ = (?:[\w.]+\()?(\w+)\(\)`) })
	commentClass = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#\s?class (\w+)\(.*\):`) })
)

// findClasses lists the classes of the file once.
func (s *Source) findClasses() {
	if s.classes != nil {
		return
	}
	s.classes = map[string]*classAt{}
	for i := 0; i < int(s.Root.NamedChildCount()); i++ {
		n := s.Root.NamedChild(i)
		if n.Type() == "class_definition" && s.IsGraph(n) {
			if name := s.Content(n.ChildByFieldName("name")); s.classes[name] == nil {
				s.classes[name] = &classAt{s, n}
			}
		}
	}
	if !strings.Contains(string(s.Text), "class ") {
		return
	}
	lines := strings.Split(string(s.Text), "\n")
	for i := 0; i < len(lines); i++ {
		m := commentClass().FindStringSubmatch(lines[i])
		if m == nil || s.classes[m[1]] != nil {
			continue
		}
		first := i
		var body []string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "#") && (i == first || !commentClass().MatchString(lines[i])); i++ {
			body = append(body, strings.TrimPrefix(strings.TrimPrefix(lines[i], "#"), " "))
		}
		i--
		c, err := ParseSource(s.File, strings.Repeat("\n", first)+strings.Join(body, "\n")+"\n")
		if err != nil || c.Root.NamedChildCount() == 0 || c.Root.NamedChild(0).Type() != "class_definition" || !c.IsGraph(c.Root.NamedChild(0)) {
			continue // a comment like any other
		}
		c.classes = s.classes
		c.building, c.used = s.building, s.used
		s.classes[m[1]] = &classAt{c, c.Root.NamedChild(0)}
	}
}

// namedClass reads a class of the file, for the module or for an __init__ that makes it. One that makes itself, by whatever way, has no end,
// and is an error.
func (s *Source) namedClass(name string) (*GraphModule, error) {
	c := s.classes[name]
	if s.building[name] {
		return nil, c.src.Errorf(c.node, "class %s makes itself", name)
	}
	s.building[name] = true
	s.used[name] = true
	defer delete(s.building, name)
	return c.src.class(c.node)
}

// forwardOf is the forward method in the body of a class, nil for none.
func (s *Source) forwardOf(body *sitter.Node) *sitter.Node {
	if body == nil {
		return nil
	}
	for i := 0; i < int(body.NamedChildCount()); i++ {
		if n := body.NamedChild(i); n.Type() == "function_definition" && s.Content(n.ChildByFieldName("name")) == "forward" {
			return n
		}
	}
	return nil
}

// class reads a class with __init__ and forward; other methods are an error, as what they do would be lost. Bodies of higher-order operators
// may be classes inside of it.
func (s *Source) class(n *sitter.Node) (*GraphModule, error) {
	gm := &GraphModule{ClassName: s.Content(n.ChildByFieldName("name"))}
	if gm.ClassName == lambdaName {
		gm.ClassName = "GraphModule"
	}
	body := n.ChildByFieldName("body")
	for i := 0; i < int(body.NamedChildCount()); i++ {
		c := body.NamedChild(i)
		switch c.Type() {
		case "function_definition":
			name := s.Content(c.ChildByFieldName("name"))
			var err error
			switch name {
			case "__init__":
				err = s.initMethod(gm, c)
			case "forward":
				err = s.forward(gm, c)
			default:
				err = s.Errorf(c, "method %s: only __init__ and forward are understood", name)
			}
			if err != nil {
				return nil, err
			}
		case "class_definition": // bodies of higher-order operators, as print_readable shows them
			sub, err := s.class(c)
			if err != nil {
				return nil, err
			}
			gm.setSubmodule(sub.ClassName, sub)
		case "comment", "pass_statement":
		case "expression_statement":
			if c.NamedChildCount() == 1 && c.NamedChild(0).Type() == "string" {
				continue
			}
			return nil, s.Errorf(c, "statement %s in a class body is not understood", s.snippet(c))
		default:
			return nil, s.Errorf(c, "%s in a class body is not understood", c.Type())
		}
	}
	if gm.Graph == nil {
		return nil, s.Errorf(n, "class %s has no forward method", gm.ClassName)
	}
	// A body that __init__ does not show may stand elsewhere in the file.
	for _, l := range slices.Clone(gm.Init) {
		if _, known := gm.Submodules[l.Name]; !l.Unread || known || s.classes[l.Name] == nil {
			continue
		}
		sub, err := s.namedClass(l.Name)
		if err != nil {
			return nil, err
		}
		gm.setSubmodule(l.Name, sub)
	}
	gm.standIns()
	gm.Init = slices.DeleteFunc(gm.Init, func(l InitLine) bool { _, known := gm.Submodules[l.Name]; return l.Unread && known })
	return gm, nil
}

// tensorType is an annotation as print_readable writes it: "f32[2, 3][3, 1]cpu". The strides and the device are optional.
var tensorType = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^["'](\w+)\[([\d, ]*)\](?:\[[\d, ]*\])?(?:\w+(?::\d+)?)?["']$`)
})

// standIns gives random values to the attributes that print_readable shows with their types only:
// _tensor_constant0: "i64[2, 3]" = self._tensor_constant0.
func (gm *GraphModule) standIns() {
	for _, n := range gm.Graph.Nodes {
		if n.Op != GetAttr || gm.has(n.Target) {
			continue
		}
		m := tensorType().FindStringSubmatch(n.Type)
		if m == nil {
			continue
		}
		d, ok := tensor.ParseDType(m[1])
		if !ok {
			continue
		}
		expr := "torch.randint(1, size=[" + m[2] + "], dtype=torch." + d.String() + ")"
		if d.IsFloat() || d.Kind() == tensor.KindComplex {
			expr = "torch.randn([" + m[2] + "], dtype=torch." + d.String() + ")"
		}
		gm.setInit(InitLine{Name: n.Target, Expr: expr, Buffer: true})
	}
}

// setSubmodule notes the body of a higher-order operator.
func (gm *GraphModule) setSubmodule(name string, sub *GraphModule) {
	if gm.Submodules == nil {
		gm.Submodules = map[string]*GraphModule{}
	}
	gm.Submodules[name] = sub
}

// initMethod reads __init__, of which every statement has to be understood: see initStatement.
func (s *Source) initMethod(gm *GraphModule, fn *sitter.Node) error {
	body := fn.ChildByFieldName("body")
	for i := 0; i < int(body.NamedChildCount()); i++ {
		st := body.NamedChild(i)
		if st.Type() == "comment" || st.Type() == "pass_statement" {
			continue
		}
		if st.Type() != "expression_statement" || st.NamedChildCount() != 1 {
			return s.Errorf(st, "%s in __init__ is not understood", s.snippet(st))
		}
		ok, err := s.initStatement(gm, st.NamedChild(0))
		if err != nil {
			return err
		}
		if !ok {
			return s.Errorf(st, "%s in __init__ is not understood", s.snippet(st))
		}
	}
	return nil
}

// initStatement reads one statement of __init__; false for a form that is not known.
func (s *Source) initStatement(gm *GraphModule, e *sitter.Node) (bool, error) {
	switch e.Type() {
	case "string":
		return true, nil
	case "call":
		f := s.Content(e.ChildByFieldName("function"))
		args := e.ChildByFieldName("arguments")
		if strings.HasPrefix(f, "super(") && strings.HasSuffix(f, ").__init__") {
			return true, nil
		}
		first := 0
		if f == "setattr" && args.NamedChildCount() == 3 && s.Content(args.NamedChild(0)) == "self" {
			first = 1
		} else if (f != "self.register_buffer" && f != "self.register_parameter" && f != "self.add_module") || args.NamedChildCount() < 2 {
			return false, nil
		}
		if args.NamedChild(first).Type() != "string" {
			return false, nil
		}
		name, err := s.str(args.NamedChild(first))
		if err != nil {
			return false, err
		}
		return true, s.initLine(gm, name, args.NamedChild(first+1), f == "self.register_buffer")
	case "assignment":
		r := e.ChildByFieldName("right")
		if path, ok := s.selfPath(e.ChildByFieldName("left")); ok && path != "" && r != nil {
			return true, s.initLine(gm, path, r, false)
		}
	}
	return false, nil
}

// initLine takes what __init__ gives an attribute: a graph of this file, a module, a tensor, or text that is no Python.
func (s *Source) initLine(gm *GraphModule, name string, value *sitter.Node, buffer bool) error {
	l := InitLine{Name: name, Expr: s.Content(value), Buffer: buffer, Pos: fmt.Sprintf("%s:%d", s.File, value.StartPoint().Row+1)}
	if inner := value; inner.Type() == "call" && strings.HasSuffix(s.Content(inner.ChildByFieldName("function")), "fx.symbolic_trace") {
		if args := inner.ChildByFieldName("arguments"); args.NamedChildCount() == 1 {
			value = args.NamedChild(0)
		}
	}
	if value.Type() == "call" {
		fn := s.Content(value.ChildByFieldName("function"))
		args := value.ChildByFieldName("arguments")
		switch {
		case fn == unreadCall:
			l.Expr, l.Unread = strings.TrimSuffix(strings.TrimPrefix(l.Expr, unreadCall+`("""`), `""")`), true
			if e := s.fromRepr(l.Expr); e != "" {
				l.Expr, l.Unread = e, false
			}
		case s.classes[fn] != nil && args.NamedChildCount() == 0:
			sub, err := s.namedClass(fn)
			if err != nil {
				return err
			}
			gm.setSubmodule(name, sub)
			return nil
		case fn == "GraphModule" || fn == "GraphModuleImpl": // a body of which only the name was written
			l.Unread = true
		case fn == "tensor" || fn == "torch.tensor":
			l.Unread = !constructible(s, args)
		default:
			l.Expr = s.quoteWords(value)
		}
	}
	gm.setInit(l)
	return nil
}

// reprPart is one part of a printed Sequential: "(0): Linear(...)".
var reprPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\((\w+)\): (.*)$`) })

// fromRepr is the constructor of a Sequential or ModuleList that was printed over several lines, "" where a part of it
// is of another kind.
func (s *Source) fromRepr(repr string) string {
	lines := strings.Split(strings.TrimSpace(repr), "\n")
	kind := strings.TrimSuffix(lines[0], "(")
	if kind != "Sequential" && kind != "ModuleList" || len(lines) < 3 {
		return ""
	}
	var parts []string
	for i := 1; i < len(lines)-1; i++ {
		m := reprPart().FindStringSubmatch(strings.TrimSpace(lines[i]))
		if m == nil || m[1] != fmt.Sprint(len(parts)) { // "(0-2): 3 x Linear(...)" stands for several
			return ""
		}
		part := m[2]
		if strings.HasSuffix(part, "(") {
			end := reprEnd(lines, i+1)
			if end < 0 {
				return ""
			}
			part = s.fromRepr(part + "\n" + strings.Join(lines[i+1:end+1], "\n"))
			i = end
		} else if t, err := ParseSource(s.File, part); err == nil && t.Root.NamedChildCount() == 1 && t.Root.NamedChild(0).NamedChildCount() == 1 && t.Root.NamedChild(0).NamedChild(0).Type() == "call" {
			part = t.quoteWords(t.Root.NamedChild(0).NamedChild(0))
		} else {
			part = ""
		}
		if part == "" {
			return ""
		}
		parts = append(parts, part)
	}
	if kind == "ModuleList" {
		return "ModuleList([" + strings.Join(parts, ", ") + "])"
	}
	return "Sequential(" + strings.Join(parts, ", ") + ")"
}

// constructible reports whether a tensor's repr can be called: sparse and quantised ones say more than torch.tensor takes.
func constructible(s *Source, args *sitter.Node) bool {
	for i := 0; i < int(args.NamedChildCount()); i++ {
		if c := args.NamedChild(i); c.Type() == "keyword_argument" {
			switch s.Content(c.ChildByFieldName("name")) {
			case "dtype", "device", "requires_grad", "data", "pin_memory":
			default:
				return false
			}
		}
	}
	return true
}

// quoteWords is a module's constructor with quotes around bare words: PyTorch before 2.2 printed EmbeddingBag(mode=sum),
// and Conv1d(padding=same) is printed still.
func (s *Source) quoteWords(call *sitter.Node) string {
	text := s.Content(call)
	args := call.ChildByFieldName("arguments")
	for i := int(args.NamedChildCount()) - 1; i >= 0; i-- {
		c := args.NamedChild(i)
		if c.Type() != "keyword_argument" {
			continue
		}
		if v := c.ChildByFieldName("value"); v.Type() == "identifier" && s.Content(v) != "inf" && s.Content(v) != "nan" {
			at, end := v.StartByte()-call.StartByte(), v.EndByte()-call.StartByte()
			text = text[:at] + "'" + text[at:end] + "'" + text[end:]
		}
	}
	return text
}

// setInit notes a line of __init__ and what it means for the module's maps.
func (gm *GraphModule) setInit(l InitLine) {
	expr := strings.TrimPrefix(strings.TrimPrefix(l.Expr, "torch.nn.Parameter("), "torch.")
	l.StandIn = strings.HasPrefix(expr, "randn(") || strings.HasPrefix(expr, "randint(") || strings.HasPrefix(expr, "rand(")
	gm.Init = append(gm.Init, l)
	if l.Unread {
		return
	}
	if t := attrValue(l.Expr); t != nil {
		if gm.Attrs == nil {
			gm.Attrs = map[string]*tensor.Tensor{}
		}
		gm.Attrs[l.Name] = t
		return
	}
	if l.Buffer || strings.HasPrefix(l.Expr, "torch.nn.Parameter(") || strings.HasPrefix(l.Expr, "tensor(") || strings.HasPrefix(l.Expr, "torch.") && l.StandIn {
		return
	}
	if gm.Modules == nil {
		gm.Modules = map[string]Module{}
	}
	gm.Modules[l.Name] = Module{Text: l.Expr}
}

// Unread lists the attributes, sub-graphs included, that the text names without saying what they are: Name is the
// qualified name, Expr is empty where there is no line for it at all.
func (gm *GraphModule) Unread() []InitLine {
	var out []InitLine
	for _, l := range gm.Init {
		if l.Unread {
			out = append(out, l)
		}
	}
	named := map[string]bool{}
	for _, n := range gm.Graph.Nodes {
		if (n.Op == GetAttr || n.Op == CallModule) && !gm.has(n.Target) && !named[n.Target] {
			named[n.Target] = true
			out = append(out, InitLine{Name: n.Target, Unread: true})
		}
	}
	for _, k := range sortedKeys(gm.Submodules) {
		for _, l := range gm.Submodules[k].Unread() {
			l.Name = k + "." + l.Name
			out = append(out, l)
		}
	}
	return out
}

// FillBodies takes the bodies of higher-order operators that the text of gm does not hold from another text of the same graph, such as
// print_readable's. It reports how many.
func (gm *GraphModule) FillBodies(from *GraphModule) int {
	filled := 0
	for _, l := range gm.Unread() {
		if sub := from.Submodules[l.Name]; sub != nil {
			gm.setSubmodule(l.Name, sub.untyped())
			filled++
		}
	}
	gm.Init = slices.DeleteFunc(gm.Init, func(l InitLine) bool { return l.Unread && gm.Submodules[l.Name] != nil })
	return filled
}

// untyped is a copy without the types that print_readable shows: sizes change later.
func (gm *GraphModule) untyped() *GraphModule {
	c, _ := gm.Clone()
	for _, n := range c.Graph.Nodes {
		if strings.HasPrefix(n.Type, `"`) {
			n.Type = ""
		}
	}
	for k, sub := range c.Submodules {
		c.Submodules[k] = sub.untyped()
	}
	return c
}

// StandIns lists the buffers and parameters, those of sub-graphs included, for which the text has random data instead of
// their values.
func (gm *GraphModule) StandIns() []InitLine {
	var out []InitLine
	for _, l := range gm.Init {
		if l.StandIn {
			out = append(out, l)
		}
	}
	for _, k := range sortedKeys(gm.Submodules) {
		for _, l := range gm.Submodules[k].StandIns() {
			l.Name = k + "." + l.Name
			out = append(out, l)
		}
	}
	return out
}

// selfPath reads self.a.b and getattr(self.a, "0").b.
func (s *Source) selfPath(n *sitter.Node) (string, bool) {
	switch n.Type() {
	case "identifier":
		return "", s.Content(n) == "self"
	case "attribute":
		base, ok := s.selfPath(n.ChildByFieldName("object"))
		if !ok {
			return "", false
		}
		return joinDot(base, s.Content(n.ChildByFieldName("attribute"))), true
	case "call":
		if s.Content(n.ChildByFieldName("function")) != "getattr" {
			return "", false
		}
		args := n.ChildByFieldName("arguments")
		if args.NamedChildCount() != 2 || args.NamedChild(1).Type() != "string" {
			return "", false
		}
		base, ok := s.selfPath(args.NamedChild(0))
		if !ok {
			return "", false
		}
		name, err := s.str(args.NamedChild(1))
		return joinDot(base, name), err == nil
	case "subscript": // self.layers[0]
		base, ok := s.selfPath(n.ChildByFieldName("value"))
		if !ok || base == "" {
			return "", false
		}
		return joinDot(base, strings.Trim(s.Content(n.ChildByFieldName("subscript")), `'"`)), true
	}
	return "", false
}

// joinDot is a qualified name of two parts, of which the first may be empty.
func joinDot(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}
