package guard

import (
	"fmt"
	"sort"
	"strings"

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
	aliasing      string               // the one guard on all tensors, shown whole at the first of them
	among         map[string]bool
}

// Tree is the guards as the tree in which PyTorch prints them, a line each, without the name of the tree.
func (s *Set) Tree() []string {
	gs := inTree(s.guards)
	b := &treeBuilder{root: &manager{class: "RootGuardManager"}, at: map[string]*manager{}, values: s.values, pairs: map[string]*pair{}, among: map[string]bool{}}
	for _, g := range gs {
		if g.Kind == NoTensorAliasing {
			b.aliasing = g.Kind.String() + ": " + g.Expr
			for _, s := range g.among {
				b.among[s.Name()] = true
			}
		}
		if g.isKey { // the values of these keys stand beside them
			b.pairs[g.keyed()] = &pair{}
		}
	}
	var after []string
	for _, g := range gs {
		if g.Kind == LambdaGuard {
			after = append(after, "+- "+strings.TrimRight(g.line(), " "))
			continue
		}
		b.add(g)
	}
	lines := []string{"+- RootGuardManager"}
	first := true
	b.show(b.root, "| ", &first, func(l string) { lines = append(lines, l) })
	return append(lines, after...)
}

// inTree are the guards that the printed tree has a place for.
func inTree(gs []*Guard) []*Guard {
	out := make([]*Guard, 0, len(gs))
	for _, g := range gs {
		if !g.Hidden || g.Kind == Hasattr {
			out = append(out, g)
		}
	}
	return out
}

// line is a guard with its kind and the line that it comes from, as PyTorch aligns them.
func (g *Guard) line() string {
	text := g.Kind.String() + ": "
	switch {
	case g.Kind == DefaultDevice:
		return text + fmt.Sprintf("%-60s  # _dynamo/output_graph.py:493 in init_ambient_guards", g.Expr)
	case g.note != "":
		return text + g.Expr + "  # " + g.note
	case g.made.Code == nil:
		return text + g.Expr
	}
	return text + fmt.Sprintf("%-60s  %s", g.Expr, g.made.Comment())
}

// add puts a guard where it stands in the tree.
func (b *treeBuilder) add(g *Guard) {
	var m *manager
	switch {
	case g.Kind == NoTensorAliasing: // at the tensors
		return
	case g.Kind == Hasattr: // the way to the method is all that is shown
		b.manager(g.Source)
		return
	case g.isKey:
		b.key(g)
		return
	case strings.HasPrefix(g.path, "G["):
		m = b.path(g.path)
	case g.Source == nil:
		m = b.root
	default:
		m = b.manager(g.Source)
		switch part := g.Source.Name() + "." + g.part; g.part {
		case "__code__":
			m = b.child(m, part, "GetAttrGuardAccessor(__code__)")
		case "__dict__":
			m = b.child(m, part, "GetGenericDictGuardAccessor")
		}
	}
	m.leaves = append(m.leaves, g.line())
}

// show prints a manager and what is below it; first is whether the guard on all tensors is yet to be shown.
func (b *treeBuilder) show(m *manager, indent string, first *bool, line func(string)) {
	for _, l := range m.leaves {
		line(indent + "+- " + l)
	}
	if b.among[m.source] && m.source != "" {
		l := NoTensorAliasing.String()
		if *first {
			l, *first = b.aliasing, false
		}
		line(indent + "+- " + l)
	}
	at := make([]int, 0, len(m.pairs))
	for i := range m.pairs {
		at = append(at, i)
	}
	sort.Ints(at)
	for _, i := range at {
		p := m.pairs[i]
		line(fmt.Sprintf("%s+- KeyValueManager pair at index=%d", indent, i))
		for _, part := range []struct {
			name string
			m    *manager
		}{{"KeyManager", p.key}, {"ValueManager", p.value}} {
			if part.m != nil {
				line(fmt.Sprintf("%s| +- %s: %s: source=%s", indent, part.name, part.m.class, part.m.source))
				b.show(part.m, indent+"| | ", first, line)
			}
		}
	}
	for _, k := range m.kids {
		line(fmt.Sprintf("%s+- %s: source=%s, accessed_by=%s", indent, k.class, k.source, k.access))
		b.show(k, indent+"| ", first, line)
	}
}

// keyed is the name of the value whose key a guard is about.
func (g *Guard) keyed() string { return g.Source.Name() + "[" + g.key + "]" }

// key puts a guard on a key of a dict into the dict's pairs.
func (b *treeBuilder) key(g *Guard) {
	m := b.manager(g.Source)
	m.class = "DictGuardManager"
	if m.pairs == nil {
		m.pairs = map[int]*pair{}
	}
	p := b.pairs[g.keyed()]
	m.pairs[g.place] = p
	p.key = &manager{class: "GuardManager", source: fmt.Sprintf("list(%s.keys())[%d]", g.Source.Name(), g.place), leaves: []string{g.line()}}
}

// child is the manager of a value that is reached from m.
func (b *treeBuilder) child(m *manager, source, access string) *manager {
	return b.childAt(m, source, source, access)
}

// childAt is child for a manager that is known by another name than that of its source.
func (b *treeBuilder) childAt(m *manager, name, source, access string) *manager {
	if c := b.at[name]; c != nil {
		return c
	}
	c := &manager{class: "GuardManager", source: source, access: access}
	b.at[name] = c
	m.kids = append(m.kids, c)
	return c
}

// path is the manager of a global's attribute that is known by its text: G['module'].a.b.
func (b *treeBuilder) path(text string) *manager {
	global, attrs, _ := strings.Cut(text, "']")
	m := b.manager(source.Global{Var: strings.TrimPrefix(global, "G['")})
	for _, a := range strings.Split(strings.TrimPrefix(attrs, "."), ".") {
		if a != "" {
			m = b.child(m, m.source+"."+a, "GetAttrGuardAccessor("+a+")")
		}
	}
	return m
}

// global is the manager of the globals.
func (b *treeBuilder) global() *manager {
	if b.globals == nil {
		b.globals = b.child(b.root, "G", "GlobalsGuardAccessor")
	}
	return b.globals
}

// manager is where the guards of a source stand.
func (b *treeBuilder) manager(src source.Source) *manager {
	name := src.Name()
	switch s := src.(type) {
	case source.Module:
		return b.manager(s.Base)
	case source.Native:
		return b.manager(s.Base)
	}
	if m := b.at[name]; m != nil {
		return m
	}
	item := func(key string) string { return "DictGetItemGuardAccessor('" + key + "')" }
	switch s := src.(type) {
	case source.Local:
		return b.child(b.root, name, item(s.Var))
	case source.Global:
		return b.child(b.global(), name, item(s.Var))
	case source.Import:
		return b.child(b.global(), name, item(strings.TrimSuffix(strings.TrimPrefix(name, "G['"), "']")))
	case source.Builtin:
		return b.child(b.child(b.global(), "G['"+s.Dict+"']", item(s.Dict)), name, item(s.Var))
	case source.Attr:
		return b.attr(s)
	case source.Item:
		return b.item(s)
	case source.Class:
		return b.child(b.manager(s.Base), name, "TypeGuardAccessor")
	case source.Numpy:
		return b.child(b.manager(s.Base), name, "PythonLambdaGuardAccessor")
	case source.Keyed:
		return b.child(b.manager(s.Base), name, "DictGetItemGuardAccessor("+s.Key.Name()+")")
	}
	if base := source.Base(src); base != nil {
		return b.child(b.manager(base), name, "GetItemGuardAccessor("+strings.TrimPrefix(name, base.Name())+")")
	}
	return b.child(b.root, name, "GetItemGuardAccessor("+name+")")
}

// attr is the manager of an attribute.
func (b *treeBuilder) attr(s source.Attr) *manager {
	base := b.manager(s.Base)
	if _, module := s.Base.(source.Module); module {
		dict := b.child(base, s.Base.Name()+".__dict__", "GetGenericDictGuardAccessor")
		return b.child(dict, s.Name(), "DictGetItemGuardAccessor('"+s.Of+"')")
	}
	if _, tensor := b.values[s.Base.Name()].(*torch.Tensor); tensor && s.Of == "grad" {
		return b.child(base, s.Name(), "GradGuardAccessor(grad)")
	}
	switch s.Of {
	case "__defaults__":
		return base
	case "__kwdefaults__":
		return b.child(base, s.Name(), "FuncKwDefaultsGuardAccessor")
	}
	return b.child(base, s.Name(), "GetAttrGuardAccessor("+s.Of+")")
}

// item is the manager of an item of a container.
func (b *treeBuilder) item(s source.Item) *manager {
	base := b.manager(s.Base)
	access := "GetItemGuardAccessor("
	if a, ok := s.Base.(source.Attr); ok && a.Of == "__defaults__" {
		return b.child(b.childAt(base, a.Name(), a.Base.Name(), "FuncDefaultsGuardAccessor"), s.Name(), access+s.Text+")")
	}
	switch v := b.values[s.Base.Name()]; {
	case v == nil:
		access = "DictGetItemGuardAccessor("
		if _, isInt := vm.AsInt(s.Key); isInt {
			access = "ListGetItemGuardAccessor("
		}
	case ListLen(v) >= 0:
		access = "ListGetItemGuardAccessor("
	case TupleLen(v) >= 0:
		access = "TupleGetItemGuardAccessor("
	case DictLen(v) >= 0:
		access = "DictGetItemGuardAccessor("
	}
	if p := b.pairs[s.Name()]; p != nil {
		if p.value == nil {
			p.value = &manager{class: "GuardManager", source: s.Name()}
			b.at[s.Name()] = p.value
		}
		return p.value
	}
	return b.child(base, s.Name(), access+s.Text+")")
}
