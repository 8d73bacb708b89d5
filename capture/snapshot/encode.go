package snapshot

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/stdlib/pyio"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// Snapshot is a set of values in written form. The zero value holds none.
type Snapshot struct {
	Sources []string `json:"sources"` // texts that code objects were compiled from
	Nodes   []node   `json:"nodes"`
}

// node is one object. Refs are the numbers of other nodes, -1 for nothing.
type node struct {
	Kind string    `json:"k"`
	Text string    `json:"t,omitempty"`
	Refs []int     `json:"r,omitempty"`
	Code *codeText `json:"c,omitempty"`
	// Of a tensor.
	Shape  []int64 `json:"shape,omitempty"`
	Stride []int64 `json:"stride,omitempty"`
	Offset int64   `json:"offset,omitempty"`
	Grad   bool    `json:"grad,omitempty"`
	Made   string  `json:"made,omitempty"` // grad_fn of what is no leaf
}

// Encoder writes values of one interpreter down.
type Encoder struct{ e *encoder }

// encoder numbers objects in the order in which they are met. seen has the numbers, by object, of plain values by their text.
type encoder struct {
	in      *vm.Interp
	t       *torch.Torch
	out     *Snapshot
	seen    map[any]int
	sources map[*code.Source]int
	names   map[string]bool // that code speaks of
	modules map[*vm.Dict]*vm.Module
	paths   map[vm.Object]string
	partly  []*vm.Module // modules of the script: only what is named is written
	opaque  bool         // what has no written form is represented by an object that says what it was
	iter    func(o vm.Object) ([]vm.Object, bool)
	err     error
}

// NewEncoder begins a snapshot. items, which may be nil, lists what an iterator that the snapshot meets has left to give.
func NewEncoder(in *vm.Interp, t *torch.Torch, items func(o vm.Object) ([]vm.Object, bool)) *Encoder {
	e := &encoder{in: in, t: t, out: &Snapshot{}, seen: map[any]int{}, sources: map[*code.Source]int{}, names: map[string]bool{}, modules: map[*vm.Dict]*vm.Module{}, paths: map[vm.Object]string{}, iter: items}
	for _, k := range in.Modules.Keys() {
		v, _, _ := in.Modules.Get(in, k)
		if m, ok := v.(*vm.Module); ok {
			e.modules[m.Dict] = m
			if e.library(m) {
				e.index(m)
			}
		}
	}
	return &Encoder{e}
}

// Add writes o down and gives its number: -1 for nil. It fails for what has no written form, naming it.
func (x *Encoder) Add(o vm.Object) (int, error) {
	i := x.e.add(o)
	return i, x.e.err
}

// Globals is the number of a module's namespace.
func (x *Encoder) Globals(d *vm.Dict) (int, error) {
	i := x.e.globals(d)
	return i, x.e.err
}

// Try is Add for what is wanted but not needed: a stand-in takes the place of each part that has no written form.
func (x *Encoder) Try(o vm.Object) (int, error) {
	before := x.e.opaque
	x.e.opaque = true
	i, err := x.Add(o)
	x.e.opaque = before
	return i, err
}

// Finish writes down the globals that the functions of the snapshot name, and returns it. Like with Try, no global makes it fail.
func (x *Encoder) Finish() (*Snapshot, error) {
	e := x.e
	e.opaque = e.err == nil
	done := map[*vm.Module]map[string]bool{}
	for again := true; again && e.err == nil; {
		again = false
		for _, m := range slices.Clone(e.partly) {
			if done[m] == nil {
				done[m] = map[string]bool{}
			}
			at := e.seen[m.Dict]
			for _, k := range m.Dict.Keys() {
				name, _ := vm.AsStr(k)
				if done[m][name] || !e.names[name] && !strings.HasPrefix(name, "__") || name == "__builtins__" {
					continue
				}
				done[m][name], again = true, true
				v, _ := m.Dict.GetStr(name)
				key, i := e.add(vm.Str(name)), e.add(v)
				e.out.Nodes[at].Refs = append(e.out.Nodes[at].Refs, key, i)
			}
		}
	}
	return e.out, e.err
}

// library reports whether a module comes with the interpreter, and so is there in any other.
func (e *encoder) library(m *vm.Module) bool {
	if m.Name == "__main__" {
		return false
	}
	f, ok := m.Dict.GetStr("__file__")
	if !ok {
		return true
	}
	s, _ := vm.AsStr(f)
	return strings.HasPrefix(s, "torch/") || strings.HasPrefix(s, "<") || strings.Contains(s, "lib/python")
}

// index notes the names by which a library's objects can be found again.
func (e *encoder) index(m *vm.Module) {
	m.Dict.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		e.name(v, m.Name+":"+name)
		if t, ok := v.(*vm.Type); ok {
			e.indexType(t, m.Name+":"+name, map[*vm.Type]bool{})
		}
		return true
	})
}

// indexType notes the names of a class's attributes.
func (e *encoder) indexType(t *vm.Type, path string, in map[*vm.Type]bool) {
	if in[t] || t.Dict == nil {
		return
	}
	in[t] = true
	t.Dict.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		if f, ok := v.(*vm.Function); ok && strings.Contains(f.Code.QualName, "<locals>") {
			return true // a wrapper, which may have been put there since the library was imported
		}
		e.name(v, path+":"+name)
		if inner, ok := v.(*vm.Type); ok {
			e.indexType(inner, path+":"+name, in)
		}
		return true
	})
}

// name gives an object that is a thing of its own a path, the first that leads to it.
func (e *encoder) name(v vm.Object, path string) {
	switch v.(type) {
	case *vm.Builtin, *vm.Type, *vm.Function, *vm.Instance, *vm.GetSet, *vm.Member, *vm.Property, *vm.ClassMethod, *vm.StaticMethod,
		*torch.DType, *torch.MemoryFormat, *torch.Layout, *torch.Generator, *vm.GenericAlias:
		if _, ok := e.paths[v]; !ok {
			e.paths[v] = path
		}
	}
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// place takes a number for an object before its parts are written, so that they may refer to it.
func (e *encoder) place(key any, n node) int {
	i := len(e.out.Nodes)
	e.out.Nodes = append(e.out.Nodes, n)
	if key != nil {
		e.seen[key] = i
	}
	return i
}

// all writes several values.
func (e *encoder) all(items []vm.Object) []int {
	out := make([]int, len(items))
	for i, x := range items {
		out[i] = e.add(x)
	}
	return out
}

func (e *encoder) dict(d *vm.Dict) int {
	if d == nil {
		return -1
	}
	return e.add(d)
}

// pairs are the keys and values of a dict in turn.
func pairs(d *vm.Dict) []vm.Object {
	var out []vm.Object
	if d != nil {
		d.Each(func(k, v vm.Object) bool { out = append(out, k, v); return true })
	}
	return out
}

// plain is the node of a value without parts. NotImplemented has an empty one.
func (e *encoder) plain(o vm.Object) (node, bool) {
	switch v := o.(type) {
	case *vm.NoneType:
		return node{Kind: "none"}, true
	case vm.Bool:
		return node{Kind: "bool", Text: strconv.FormatBool(bool(v))}, true
	case vm.Int:
		return node{Kind: "int", Text: strconv.FormatInt(int64(v), 10)}, true
	case *vm.BigInt:
		s, _ := e.in.Repr(v)
		return node{Kind: "big", Text: s}, true
	case vm.Float:
		return node{Kind: "float", Text: floatText(float64(v))}, true
	case vm.Complex:
		return node{Kind: "complex", Text: floatText(real(v)) + " " + floatText(imag(v))}, true
	case vm.Str:
		return node{Kind: "str", Text: base64.StdEncoding.EncodeToString([]byte(v))}, true
	case vm.Bytes:
		return node{Kind: "bytes", Text: base64.StdEncoding.EncodeToString([]byte(v))}, true
	case *vm.EllipsisType:
		return node{Kind: "ellipsis"}, true
	case *torch.Device:
		s, _ := e.in.Str(v)
		return node{Kind: "device", Text: s}, true
	case *vm.Range:
		return node{Kind: "range", Text: fmt.Sprint(v.Start, " ", v.Stop, " ", v.Step)}, true
	}
	return node{}, o == vm.NotImplemented
}

// known gives the number of what needs no parts written: of nil, of what was written before, of values without parts, and of what has a name
// in the library.
func (e *encoder) known(o vm.Object) (int, bool) {
	if o == nil || e.err != nil {
		return -1, true
	}
	if n, ok := e.plain(o); ok {
		if n.Kind == "" {
			n.Kind = "notimplemented"
		}
		if i, ok := e.seen[n.Kind+" "+n.Text]; ok {
			return i, true
		}
		return e.place(n.Kind+" "+n.Text, n), true
	}
	if i, ok := e.seen[o]; ok {
		return i, true
	}
	if p, ok := e.paths[o]; ok {
		return e.place(o, node{Kind: "lib", Text: p}), true
	}
	return 0, false
}

// add writes o down, if it is not there yet, and gives its number. An object has its number before its parts are written.
func (e *encoder) add(o vm.Object) int {
	if i, ok := e.known(o); ok {
		return i
	}
	if e.iter != nil {
		if items, ok := e.iter(o); ok {
			i := e.place(o, node{Kind: "iterator"})
			return e.fill(i, e.all(items))
		}
	}
	simple := func(kind string, items ...vm.Object) int {
		i := e.place(o, node{Kind: kind})
		return e.fill(i, e.all(items))
	}
	switch v := o.(type) {
	case *vm.Tuple:
		return simple("tuple", v.Items...)
	case *vm.List:
		return simple("list", v.Items...)
	case *vm.Set:
		return simple("set", v.Items()...)
	case *vm.FrozenSet:
		return simple("frozenset", v.Items()...)
	case *vm.Dict:
		if m := e.modules[v]; m != nil {
			return e.globals(v)
		}
		return simple("dict", pairs(v)...)
	case *vm.Slice:
		return simple("slice", v.Start, v.Stop, v.Step)
	case *vm.Cell:
		return simple("cell", v.V)
	case *vm.ByteArray:
		return e.place(o, node{Kind: "bytearray", Text: base64.StdEncoding.EncodeToString(v.B)})
	case *vm.BoundMethod:
		return simple("method", v.Func, v.Self)
	case *vm.Property:
		return simple("property", v.Get, v.Set, v.Del, v.Doc)
	case *vm.ClassMethod:
		return simple("classmethod", v.Func)
	case *vm.StaticMethod:
		return simple("staticmethod", v.Func)
	case *vm.MappingProxy:
		return simple("mappingproxy", v.M)
	case *vm.GenericAlias:
		return simple("alias", v.Origin, v.Args)
	case *vm.Module:
		if e.library(v) {
			return e.place(o, node{Kind: "module", Text: v.Name})
		}
		i := e.place(o, node{Kind: "script module", Text: v.Name})
		return e.fill(i, []int{e.globals(v.Dict)})
	case *vm.Code:
		i := e.place(o, node{Kind: "code"})
		e.out.Nodes[i].Code = e.code(v.Code)
		return i
	case *vm.Function:
		return e.function(v)
	case *vm.Type:
		return e.class(v)
	case *vm.Generator:
		return e.generator(v)
	case *vm.Instance:
		if u, isFile, ok := pyio.UnreadOf(v); isFile {
			return e.file(v, u, ok)
		}
		return e.instance(v)
	case *vm.Exception:
		i := e.place(o, node{Kind: "exception"})
		return e.fill(i, []int{e.add(v.Class), e.add(v.Args), e.dict(v.Dict)})
	case *torch.Tensor:
		return e.tensor(v)
	}
	return e.refuse(o, "a %s has no written form", o.Type().FullName())
}

// instance writes an instance of a class of the script down, with what it holds: an object, or the objects of itemgetter and the like.
func (e *encoder) instance(o *vm.Instance) int {
	if target := e.t.TargetOf(o); target != "" {
		return e.operator(o, target)
	}
	var native vm.Object
	kind := "instance"
	switch n := o.Native.(type) {
	case nil:
	case vm.Object:
		native = n
	case []vm.Object:
		kind, native = "instance of items", vm.NewTuple(n...)
	default:
		return e.refuse(o, "a %s has no written form", o.Type().FullName())
	}
	i := e.place(o, node{Kind: kind})
	return e.fill(i, []int{e.add(o.Class), e.dict(o.Dict), e.add(native), e.add(vm.NewTuple(o.Slots...))})
}

// refuse fails, or takes a stand-in where that will do.
func (e *encoder) refuse(o vm.Object, format string, args ...any) int {
	if e.opaque {
		return e.place(o, node{Kind: "opaque", Text: o.Type().Name})
	}
	e.fail(fmt.Errorf(format, args...))
	return -1
}

// fill gives a node its parts, once they have numbers.
func (e *encoder) fill(i int, refs []int) int {
	e.out.Nodes[i].Refs = refs
	return i
}

// globals writes a namespace down. Of a module of the script it takes only the place: Finish writes what is named there.
func (e *encoder) globals(d *vm.Dict) int {
	if d == nil {
		return -1
	}
	if i, ok := e.seen[d]; ok {
		return i
	}
	m := e.modules[d]
	switch {
	case m == nil: // of exec, or of a module that is gone
		i := e.place(d, node{Kind: "dict"})
		return e.fill(i, e.all(pairs(d)))
	case e.library(m):
		return e.place(d, node{Kind: "module globals", Text: m.Name})
	}
	e.partly = append(e.partly, m)
	return e.place(d, node{Kind: "script globals", Text: m.Name})
}

// function writes a Python function down with all that a call of it needs.
func (e *encoder) function(f *vm.Function) int {
	if f.Native != nil {
		return e.refuse(f, "function %s is made by the library and has no written form", f.Qualname)
	}
	i := e.place(f, node{Kind: "function", Text: f.Name})
	cells := make([]vm.Object, len(f.Closure))
	for k, c := range f.Closure {
		cells[k] = c
	}
	annots := f.Annots
	return e.fill(i, []int{e.add(f.Code), e.globals(f.Globals), e.add(vm.NewTuple(f.Defaults...)), e.dict(f.KwDefaults), e.add(vm.NewTuple(cells...)),
		e.add(vm.Str(f.Qualname)), e.add(f.Module), e.add(f.Doc), e.add(annots), e.dict(f.Dict)})
}

// class writes a class of the script down: its bases, its metaclass, and its namespace without what making it adds.
func (e *encoder) class(t *vm.Type) int {
	if !t.Heap || t.Native != nil && !classmark(t) {
		return e.refuse(t, "class %s has no written form", t.FullName())
	}
	i := e.place(t, node{Kind: "class", Text: t.Name})
	bases := make([]vm.Object, len(t.Bases))
	for k, b := range t.Bases {
		bases[k] = b
	}
	var attrs []vm.Object
	t.Dict.Each(func(k, v vm.Object) bool {
		if !t.Lays(v) { // making it lays these
			attrs = append(attrs, k, v)
		}
		return true
	})
	var meta vm.Object
	if t.Meta != nil {
		meta = t.Meta
	}
	refs := []int{e.add(meta), e.add(vm.NewTuple(bases...)), e.add(vm.Str(t.Qualname)), e.add(vm.Str(t.Module))}
	return e.fill(i, append(refs, e.all(attrs)...))
}

func classmark(t *vm.Type) bool { return len(t.Bases) > 0 && t.Native == t.Bases[0].Native }

// tensor writes a tensor down; its storage once, for all that share it.
func (e *encoder) tensor(p *torch.Tensor) int {
	x := p.T
	if x.Storage == nil || x.Fake {
		return e.refuse(p, "a %s without data has no written form", p.Type().FullName())
	}
	i := e.place(p, node{Kind: "tensor", Text: x.DType.String(), Shape: x.Shape, Stride: x.Stride, Offset: x.Offset, Grad: e.t.Grad.RequiresGrad(x), Made: e.t.Grad.GradFn(x)})
	st, ok := e.seen[x.Storage]
	if !ok {
		st = e.place(x.Storage, node{Kind: "storage", Text: base64.StdEncoding.EncodeToString(x.Storage.Data)})
	}
	grad := -1
	if g := e.t.Grad.Grad(x); g != nil {
		grad = e.add(e.t.Wrap(g))
	}
	base := -1
	if x.Base != nil && !x.Base.Fake && x.Base != x {
		base = e.add(e.t.Wrap(x.Base))
	}
	return e.fill(i, []int{st, e.add(p.Type()), e.dict(p.AttrDict(false)), grad, base})
}
