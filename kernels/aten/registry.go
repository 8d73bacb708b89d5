package aten

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

// schemas.tsv lists the signatures of PyTorch 2.6's operators, one a line, with exactly one
// effect: N none, R random, U uninitialised memory, A a lasting effect; and with their tags:
// C core, P pointwise, D data dependent, I CompositeImplicit, E CompositeExplicit, V changes
// metadata in place. Rows name a signature; variants (in place, out=) are found and derived by
// comparing signatures.
//
//go:embed schemas.tsv
var schemasTSV string

// Fn computes an operator call.
type Fn func(c *Call) (Value, error)

// row is a hand-written entry: the function, and how it is to be used.
type row struct {
	name   string // "add.Tensor" or "prims::iota"
	fn     Fn
	decomp bool
	tags   Tag
}

var rows []row

// def registers one function as meta and eager kernel of the named overloads: it computes
// metadata, allocates through the call, and returns before touching data when c.Fake().
func def(names string, fn Fn) { defTag(names, 0, fn) }

func defTag(names string, tags Tag, fn Fn) {
	for _, n := range strings.Fields(names) {
		rows = append(rows, row{name: n, fn: fn, tags: tags})
	}
}

// comp registers a decomposition into other operators.
func comp(names string, fn Fn) {
	for _, n := range strings.Fields(names) {
		rows = append(rows, row{name: n, fn: fn, decomp: true})
	}
}

// A registry holds PyTorch's operators. It does not change once it is built: what a program defines is in a Library.
type registry struct {
	ops     map[string]*Op   // by full name
	packets map[string][]*Op // by "aten::add", in PyTorch's order of overloads
	short   map[string]*Op   // those of aten by "add.Tensor"
	family  map[string][]*Op // packets of aten by "add"
	loose   []string         // problems found while building; a test demands none
	read    schemaReader     // has the signatures of all that was looked at while building
}

// A schemaReader reads signatures, each text once: who derives an operator looks at its signature before there is one.
type schemaReader map[string]*Schema

// schema is ParseSchema. What it gives is shared.
func (r schemaReader) schema(text string) (*Schema, error) {
	if s := r[text]; s != nil {
		return s, nil
	}
	s, err := ParseSchema(text)
	if err == nil {
		r[text] = s
	}
	return s, err
}

// theRegistry builds the registry on first use.
var theRegistry func() *registry

func init() { theRegistry = sync.OnceValue(buildRegistry) }

type line struct {
	tags, text string
}

// buildRegistry reads the signatures, gives those with a row their functions, and derives variants from these. What does not fit goes to
// loose, and a test fails: a program never sees it.
func buildRegistry() *registry {
	r := &registry{ops: map[string]*Op{}, packets: map[string][]*Op{}, short: map[string]*Op{}, family: map[string][]*Op{}, read: schemaReader{}}
	lines := map[string]line{}
	var order []string
	for _, l := range strings.Split(strings.TrimRight(schemasTSV, "\n"), "\n") {
		tags, text, ok := strings.Cut(l, "\t")
		if !ok {
			continue
		}
		name := text[:strings.IndexByte(text, '(')]
		lines[name] = line{tags, text}
		order = append(order, name)
	}
	byName := map[string]*Op{}
	add := func(name string, fn Fn, decomp bool, tags Tag) *Op {
		l, ok := lines[name]
		if !ok {
			r.loose = append(r.loose, name+": no such signature")
			return nil
		}
		if byName[name] != nil {
			r.loose = append(r.loose, name+": two rows")
			return nil
		}
		s, err := r.read.schema(l.text)
		if err != nil {
			r.loose = append(r.loose, err.Error())
			return nil
		}
		facts := FactsOf(s, effectOf(l.tags))
		op := &Op{Schema: l.text, Tags: tags | tagsOf(facts, l.tags), Effect: facts.Effect, parsed: s, facts: facts, needs: needsOf(s), device: deviceOf(s)}
		if decomp {
			op.Decomp = fn
			if strings.ContainsRune(l.tags, 'I') {
				op.Tags |= Composite
			}
		} else {
			op.Meta = func(c *Call) (Value, error) { return runAs(c, fn, true) }
			op.Eager = func(c *Call) (Value, error) { return runAs(c, fn, false) }
		}
		byName[name] = op
		return op
	}
	for _, w := range rows {
		name := w.name
		if !strings.Contains(name, "::") {
			name = "aten::" + name
		}
		add(name, w.fn, w.decomp, w.tags)
	}
	deriveVariants(order, lines, byName, r.read, add)
	for _, n := range order {
		op := byName[n]
		if op == nil {
			continue
		}
		r.ops[n] = op
		p := op.parsed.Namespace + "::" + op.parsed.Name
		r.packets[p] = append(r.packets[p], op)
		if op.parsed.Namespace == "aten" {
			r.short[n[len("aten::"):]] = op
			r.family[op.parsed.Name] = r.packets[p]
		}
	}
	return r
}

var reductionNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("sum mean prod amax amin max min any all argmax argmin var std var_mean std_mean logsumexp norm linalg_vector_norm nansum count_nonzero median nanmedian mode aminmax") {
		m[n] = true
	}
	return m
}()

// tagsOf are the tags of an operator: those that the flags of its line have letters for, and those that follow from its signature and its facts.
func tagsOf(f *Facts, flags string) Tag {
	t := f.tags()
	for _, c := range flags {
		switch c {
		case 'C':
			t |= Core
		case 'P':
			t |= Pointwise
		case 'D':
			t |= DataDependent
		}
	}
	s := f.Sig
	takes := slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Type.Base == "Tensor" })
	if !takes && len(s.Returns) > 0 && s.Returns[0].Type.Base == "Tensor" {
		t |= Factory
	}
	if reductionNames[s.Name] {
		t |= Reduction
	}
	return t
}

// Lookup finds an overload of PyTorch by "aten::add.Tensor", "aten::relu", "aten.add.Tensor" or "aten.relu.default"; nil if there is none.
func Lookup(name string) *Op { return theRegistry().ops[registered(name)] }

// registered is the name that a row has in a registry: "aten::add.Tensor".
func registered(name string) string {
	if !strings.Contains(name, "::") {
		name = strings.Replace(name, ".", "::", 1)
	}
	return strings.TrimSuffix(name, ".default")
}

// Packet is all overloads of an operator of PyTorch, in the order in which PyTorch tries them.
func Packet(ns, name string) []*Op {
	if ns == "aten" {
		return theRegistry().family[name]
	}
	return theRegistry().packets[ns+"::"+name]
}

// Unwritten is all overloads of an operator of PyTorch that has no row yet, known by their signatures alone: a program may name them, and handle them in
// a class of its own; calls that reach a dispatcher are refused.
func Unwritten(ns, name string) []*Op { return unwritten()[ns+"::"+name] }

var unwritten = sync.OnceValue(func() map[string][]*Op {
	written, out := theRegistry(), map[string][]*Op{}
	for _, l := range strings.Split(strings.TrimRight(schemasTSV, "\n"), "\n") {
		tags, text, ok := strings.Cut(l, "\t")
		if !ok {
			continue
		}
		s, err := ParseSchema(text)
		if err != nil || len(written.packets[s.Namespace+"::"+s.Name]) > 0 {
			continue
		}
		facts := FactsOf(s, effectOf(tags))
		p := s.Namespace + "::" + s.Name
		out[p] = append(out[p], &Op{Schema: text, Tags: tagsOf(facts, tags), Effect: facts.Effect, parsed: s, facts: facts, needs: needsOf(s), device: deviceOf(s)})
	}
	return out
})

// Prepare reads the signatures, which the first use of an operator, or of its name, would do.
func Prepare() {
	sorted()
	boundSchemas()
}

// All is every operator of PyTorch, sorted by full name.
func All() []*Op { return slices.Clone(sorted()) }

var sorted = sync.OnceValue(func() []*Op {
	byName := map[string]*Op{}
	for _, op := range theRegistry().ops {
		byName[op.FullName()] = op
	}
	ops := make([]*Op, 0, len(byName))
	for _, n := range slices.Sorted(maps.Keys(byName)) {
		ops = append(ops, byName[n])
	}
	return ops
})

// Sig is the parsed schema; callers must not change it.
func (op *Op) Sig() *Schema {
	if op.parsed == nil {
		// A row built by hand and never registered; it has no arguments until its schema parses.
		s, err := ParseSchema(op.Schema)
		if err != nil {
			s = &Schema{}
		}
		return s
	}
	return op.parsed
}

// FullName is "aten::add.Tensor".
func (op *Op) FullName() string { return op.Sig().FullName() }

// Name is "aten.add.Tensor", as printed in graphs after "torch.ops.".
func (op *Op) Name() string { return op.Sig().OpName() }

func (op *Op) String() string { return op.Name() }

// Has reports whether the row carries all the given tags.
func (op *Op) Has(t Tag) bool { return op.Tags&t == t }

func runAs(c *Call, fn Fn, fake bool) (Value, error) {
	if c.real == !fake {
		return fn(c)
	}
	cc := *c
	cc.real = !fake
	return fn(&cc)
}
