package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// manager is a node of the guard tree as PyTorch prints it: the guards of one value, and the values reached from it.
type manager struct {
	class, source, access string
	leaves                []string
	kids                  []*manager
	pairs                 map[int]*pair // of a dict whose keys are guarded in order
}

type pair struct{ key, value *manager }

// treeBuilder sorts guards into managers.
type treeBuilder struct {
	root, globals *manager
	at            map[string]*manager
	values        map[string]vm.Object // by source
	pairs         map[string]*pair     // by the source of the value
	cwd           string
	aliasing      string // the one guard on all tensors, shown whole at the first of them
	among         map[string]bool
}

// treeLines are the guards of a frame as the tree in which PyTorch prints them, a line each, without the name of the tree.
func treeLines(gs []*Guard, values map[string]vm.Object) []string {
	b := &treeBuilder{root: &manager{class: "RootGuardManager"}, at: map[string]*manager{}, values: values, pairs: map[string]*pair{}, among: map[string]bool{}}
	b.cwd = workingDir()
	var after []string
	for _, g := range gs {
		if g.Kind == "NO_TENSOR_ALIASING" {
			b.aliasing = g.Kind + ": " + g.Expr
			for _, s := range g.among {
				b.among[s.Name()] = true
			}
		}
	}
	for _, g := range gs { // the values of these keys stand beside them
		if v, ok := keyedValue(g); ok {
			b.pairs[v] = &pair{}
		}
	}
	for _, g := range gs {
		text := g.Kind + ": " + b.commented(g)
		switch {
		case g.Kind == "LAMBDA_GUARD":
			after = append(after, "+- "+strings.TrimRight(text, " "))
		case g.Kind == "NO_TENSOR_ALIASING":
		case g.Kind == "HASATTR":
			b.manager(g.Source)
		case g.Source == nil && strings.HasPrefix(g.Expr, "___check_obj_id(G['"):
			m := b.named(strings.TrimSuffix(strings.TrimPrefix(g.Expr, "___check_obj_id("), ", <id>)"))
			m.leaves = append(m.leaves, text)
		case g.Source == nil:
			b.root.leaves = append(b.root.leaves, text)
		case strings.HasPrefix(g.Expr, "list("):
			b.key(g, text)
		default:
			m := b.manager(g.Source)
			if strings.Contains(g.Expr, g.Source.Name()+".__code__") {
				m = b.child(m, g.Source.Name()+".__code__", "GetAttrGuardAccessor(__code__)")
			}
			if dict := g.Source.Name() + ".__dict__"; strings.HasSuffix(g.Expr, ", "+dict+")") {
				m = b.child(m, dict, "GetGenericDictGuardAccessor")
			}
			m.leaves = append(m.leaves, text)
		}
	}
	first := true
	var lines []string
	var show func(m *manager, indent string)
	show = func(m *manager, indent string) {
		for _, l := range m.leaves {
			lines = append(lines, indent+"+- "+l)
		}
		if b.among[m.source] && m.source != "" {
			l := "NO_TENSOR_ALIASING"
			if first {
				l, first = b.aliasing, false
			}
			lines = append(lines, indent+"+- "+l)
		}
		at := make([]int, 0, len(m.pairs))
		for i := range m.pairs {
			at = append(at, i)
		}
		sort.Ints(at)
		for _, i := range at {
			p := m.pairs[i]
			lines = append(lines, fmt.Sprintf("%s+- KeyValueManager pair at index=%d", indent, i))
			for _, part := range []struct {
				name string
				m    *manager
			}{{"KeyManager", p.key}, {"ValueManager", p.value}} {
				if part.m != nil {
					lines = append(lines, fmt.Sprintf("%s| +- %s: %s: source=%s", indent, part.name, part.m.class, part.m.source))
					show(part.m, indent+"| | ")
				}
			}
		}
		for _, k := range m.kids {
			lines = append(lines, fmt.Sprintf("%s+- %s: source=%s, accessed_by=%s", indent, k.class, k.source, k.access))
			show(k, indent+"| ")
		}
	}
	lines = append(lines, "+- RootGuardManager")
	show(b.root, "| ")
	return append(lines, after...)
}

// key puts a guard on a key of a dict into the dict's pairs.
func (b *treeBuilder) key(g *Guard, text string) {
	m := b.manager(g.Source)
	m.class = "DictGuardManager"
	if m.pairs == nil {
		m.pairs = map[int]*pair{}
	}
	name, _, _ := strings.Cut(g.Expr, " == ")
	i := 0
	_, _ = fmt.Sscanf(name[strings.LastIndexByte(name, '['):], "[%d]", &i)
	v, _ := keyedValue(g)
	p := b.pairs[v]
	m.pairs[i] = p
	p.key = &manager{class: "GuardManager", source: name, leaves: []string{text}}
}

// keyedValue is the source of the value whose key a guard is about; ok is false for other guards.
func keyedValue(g *Guard) (source string, ok bool) {
	if g.Source == nil || !strings.HasPrefix(g.Expr, "list(") {
		return "", false
	}
	_, key, _ := strings.Cut(g.Expr, " == ")
	return g.Source.Name() + "[" + key + "]", true
}

// child is the manager of a value that is reached from m.
func (b *treeBuilder) child(m *manager, source, access string) *manager {
	if c := b.at[source]; c != nil {
		return c
	}
	c := &manager{class: "GuardManager", source: source, access: access}
	b.at[source] = c
	m.kids = append(m.kids, c)
	return c
}

// named is the manager of a global's attribute that is known by its text: G['module'].a.b.
func (b *treeBuilder) named(text string) *manager {
	global, attrs, _ := strings.Cut(text, "']")
	name := strings.TrimPrefix(global, "G['")
	m := b.manager(source.Global{Var: name})
	for _, a := range strings.Split(strings.TrimPrefix(attrs, "."), ".") {
		if a != "" {
			m = b.child(m, m.source+"."+a, "GetAttrGuardAccessor("+a+")")
		}
	}
	return m
}

// manager is where the guards of a source stand.
func (b *treeBuilder) manager(s source.Source) *manager {
	name := s.Name()
	if n, ok := s.(source.Module); ok {
		return b.manager(n.Base)
	}
	if n, ok := s.(source.Native); ok {
		return b.manager(n.Base)
	}
	if m := b.at[name]; m != nil {
		return m
	}
	global := func() *manager {
		if b.globals == nil {
			b.globals = b.child(b.root, "G", "GlobalsGuardAccessor")
		}
		return b.globals
	}
	item := func(key string) string { return "DictGetItemGuardAccessor('" + key + "')" }
	switch s := s.(type) {
	case source.Local:
		return b.child(b.root, name, item(s.Var))
	case source.Global:
		return b.child(global(), name, item(s.Var))
	case source.Import:
		return b.child(global(), name, item(strings.TrimSuffix(strings.TrimPrefix(name, "G['"), "']")))
	case source.Builtin:
		return b.child(b.child(global(), "G['"+s.Dict+"']", item(s.Dict)), name, item(s.Var))
	case source.Attr:
		base := b.manager(s.Base)
		if _, module := s.Base.(source.Module); module {
			dict := b.child(base, s.Base.Name()+".__dict__", "GetGenericDictGuardAccessor")
			return b.child(dict, name, item(s.Of))
		}
		if _, tensor := b.values[s.Base.Name()].(*torch.Tensor); tensor && s.Of == "grad" {
			return b.child(base, name, "GradGuardAccessor(grad)")
		}
		switch s.Of {
		case "__defaults__":
			return base
		case "__kwdefaults__":
			return b.child(base, name, "FuncKwDefaultsGuardAccessor")
		}
		return b.child(base, name, "GetAttrGuardAccessor("+s.Of+")")
	case source.Item:
		return b.item(s, name)
	case source.Class:
		return b.child(b.manager(s.Base), name, "TypeGuardAccessor")
	case source.Keyed:
		return b.child(b.manager(s.Base), name, "DictGetItemGuardAccessor("+s.Key.Name()+")")
	}
	if base := source.Base(s); base != nil {
		return b.child(b.manager(base), name, "GetItemGuardAccessor("+strings.TrimPrefix(name, base.Name())+")")
	}
	return b.child(b.root, name, "GetItemGuardAccessor("+name+")")
}

func (b *treeBuilder) item(s source.Item, name string) *manager {
	base := b.manager(s.Base)
	access := "GetItemGuardAccessor("
	if a, ok := s.Base.(source.Attr); ok && a.Of == "__defaults__" {
		access = "GetItemGuardAccessor("
		base = b.child(base, a.Name(), "FuncDefaultsGuardAccessor")
		return b.child(base, name, access+s.Text+")")
	}
	switch v := b.values[s.Base.Name()]; {
	case v == nil:
		access = "DictGetItemGuardAccessor("
		if _, isInt := vm.AsInt(s.Key); isInt {
			access = "ListGetItemGuardAccessor("
		}
	case listLen(v) >= 0:
		access = "ListGetItemGuardAccessor("
	case tupleLen(v) >= 0:
		access = "TupleGetItemGuardAccessor("
	case dictLen(v) >= 0:
		access = "DictGetItemGuardAccessor("
	}
	if p := b.pairs[name]; p != nil {
		if p.value == nil {
			p.value = &manager{class: "GuardManager", source: name}
			b.at[name] = p.value
		}
		return p.value
	}
	return b.child(base, name, access+s.Text+")")
}

// commented is a guard's expression with the line that it comes from, as PyTorch aligns them.
func (b *treeBuilder) commented(g *Guard) string {
	switch {
	case g.Kind == "DEFAULT_DEVICE":
		return fmt.Sprintf("%-60s  # _dynamo/output_graph.py:493 in init_ambient_guards", g.Expr)
	case g.made.code == nil:
		return g.Expr
	}
	return fmt.Sprintf("%-60s  %s", g.Expr, g.made.comment(b.cwd))
}

// workingDir is what files are shown relative to; "" when it is gone.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// comment is a place as guards and symbols show it: the line of source, then file, line and function.
func (p place) comment(cwd string) string {
	file := p.code.Filename
	if rel, ok := strings.CutPrefix(file, "torch/"); ok {
		file = rel
	} else if rel, err := filepath.Rel(cwd, file); err == nil && !strings.HasPrefix(rel, "..") {
		file = rel
	}
	return fmt.Sprintf("# %s  # %s:%d in %s", strings.TrimSpace(rawLine(p.code, p.line)), file, p.line, p.code.Name)
}

// logGuards logs the guards of a new entry.
func (d *Dynamo) logGuards(en *entry) {
	if d.logs.on[logVerboseGuards] {
		for _, g := range shown(en.guards) {
			text := "Guard: " + g.Expr
			if g.made.code != nil {
				text += fmt.Sprintf("\nUser stack:\n  File \"%s\", line %d, in %s\n    %s\n", g.made.code.Filename, g.made.line, g.made.code.Name, strings.TrimSpace(rawLine(g.made.code, g.made.line)))
			}
			d.Log(logVerboseGuards, text)
		}
	}
	if !d.logs.on[logGuardTree] {
		return
	}
	d.Log(logGuards, "GUARDS:")
	d.Log(logGuardTree, "\nTREE_GUARD_MANAGER:\n"+strings.Join(en.frame.Tree, "\n")+"\n")
}

// logGuardTime logs how long the guards of an entry take to check.
func (d *Dynamo) logGuardTime(en *entry, e *source.Env) {
	if !d.logs.on[logGuardTree] {
		return
	}
	const rounds = 100
	start := time.Now()
	for range rounds {
		en.holds(e)
	}
	d.Log(logGuardTiming, fmt.Sprintf("Guard eval latency = %.2f us", float64(time.Since(start).Nanoseconds())/rounds/1000))
}

// allReasons are the guards that fail of each entry of a code object, newest first, all of them.
func (d *Dynamo) allReasons(st *codeState, e *source.Env) []string {
	var out []string
	for _, en := range st.entries {
		if en.ctx.Backend.Name != d.ctx.Backend.Name && en.ctx != d.ctx {
			continue
		}
		var failed []string
		for _, why := range en.tree.failures(e) {
			failed = append(failed, en.id+": "+why)
		}
		out = append([]string{strings.Join(failed, "\n")}, out...)
	}
	return out
}

// logLimit warns that a code object is not compiled again.
func (d *Dynamo) logLimit(f *vm.Frame, ev *FrameEvent, own bool, limit, total int) {
	name, n := "accumulated_cache_size_limit", total
	if own {
		name, n = "cache_size_limit", limit
	}
	last := ""
	if len(ev.Reasons) > 0 {
		last = ev.Reasons[len(ev.Reasons)-1]
	}
	d.logf(logLimit, "torch._dynamo hit config.%s (%d)\n   function: '%s' (%s:%d)\n   last reason: %s\nTo log all recompilation reasons, use TORCH_LOGS=\"recompiles\".\n"+
		"To diagnose recompilation issues, see https://pytorch.org/docs/main/torch.compiler_troubleshooting.html.", name, n, f.Code.Name, f.Code.Filename, ev.Line, last)
}

// logSuppressed warns that a frame runs as plain Python after an error.
func (d *Dynamo) logSuppressed(f *vm.Frame, ev *FrameEvent, err error) {
	defer d.within("", 0)()
	d.logf(logSuppressed, "WON'T CONVERT %s %s line %d \ndue to: \n%s", f.Code.Name, f.Code.Filename, ev.Line, d.In.FormatException(err))
}

// compileReason says why a graph ends where it does.
func (tr *tracer) compileReason(out *outcome, ev *FrameEvent) string {
	reason := "'return_value'"
	at := stackFrame{tr.root.Code, tr.root.Line()}
	if out.broke {
		b := tr.d.breaks[len(tr.d.breaks)-1]
		reason = fmt.Sprintf("%q", b.Reason.Explain())
		if len(b.at) > 0 {
			at = b.at[len(b.at)-1]
		}
	}
	return fmt.Sprintf("GraphCompileReason(reason=%s, user_stack=[<FrameSummary file %s, line %d in %s>], graph_break=%s)", reason, at.code.Filename, at.line, at.code.Name, pyBool(out.broke))
}
