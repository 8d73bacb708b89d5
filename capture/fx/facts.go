package fx

import (
	"slices"
	"strings"
	"sync"

	"whittle/kernels/aten"
)

// Facts are what a call with its arguments does besides computing its results from the elements of what it is given.
type Facts struct {
	Effect   aten.Effect
	Writes   []Arg // nodes, and lists of them, that it writes to, or may
	Metadata []Arg // those whose sizes, strides and dtype alone it reads
	Views    []Arg // those whose memory a result shares, or may
}

// Unknown is what a caller takes a call for of whose target nobody knows what it does: a function of a library, a module, an operator of a
// program that is not at hand.
type Unknown bool

// The two ways to take it. Who drops or moves calls has to fear the worst; who only asks whether to expect something need not.
const (
	UnknownMay     Unknown = true
	UnknownDoesNot Unknown = false
)

// Facts are those of the call; ok is false where its target is not known. What is no call does nothing.
func (n *Node) Facts() (f Facts, ok bool) {
	switch n.Op {
	case CallFunction, CallMethod:
	case CallModule:
		return Facts{}, false
	default:
		return Facts{Effect: aten.Pure}, true
	}
	c := n.callee()
	if c == nil {
		return Facts{}, false
	}
	if c.fixed != nil {
		f = n.bind(*c.fixed)
	} else {
		f = n.bindAll(c)
	}
	for _, kw := range n.Kwargs { // out= is no argument of the forms
		if kw.Val != nil && c.outs[kw.Name] {
			f.Writes = with(f.Writes, kw.Val)
		}
	}
	return f, true
}

// bindAll joins the facts of the forms that a call fits: what one of them may do, the call may do.
func (n *Node) bindAll(c *callee) (f Facts) {
	for i, form := range n.fitting(c.forms) {
		b := n.bind(form.Given(func(arg int) (aten.Value, bool) {
			v, given := n.argument(form.Sig, arg)
			if !given {
				return form.Sig.Args[arg].Default, form.Sig.Args[arg].HasDefault
			}
			switch v.(type) {
			case nil, bool, int64, float64:
				return v, true
			}
			return nil, false
		}))
		if i == 0 {
			f = b
			continue
		}
		if b.Effect != aten.Pure {
			f.Effect = b.Effect
		}
		f.Writes = with(f.Writes, b.Writes...)
		f.Metadata = slices.DeleteFunc(f.Metadata, func(a Arg) bool { return !slices.ContainsFunc(b.Metadata, func(x Arg) bool { return same(a, x) }) })
		f.Views = with(f.Views, b.Views...)
	}
	return f
}

// with adds what is not among list yet.
func with(list []Arg, as ...Arg) []Arg {
	for _, a := range as {
		if !slices.ContainsFunc(list, func(x Arg) bool { return same(a, x) }) {
			list = append(list, a)
		}
	}
	return list
}

// same reports whether two arguments are one node. Lists are always two.
func same(a, b Arg) bool {
	x, ok := a.(*Node)
	y, too := b.(*Node)
	return ok && too && x == y
}

// bind puts a call's arguments in the place of positions.
func (n *Node) bind(facts aten.Facts) Facts {
	f := Facts{Effect: facts.Effect}
	add := func(to *[]Arg, arg int) {
		if v, ok := n.argument(facts.Sig, arg); ok && v != nil {
			*to = append(*to, v)
		}
	}
	for _, i := range facts.Writes {
		add(&f.Writes, i)
	}
	for _, i := range facts.Metadata {
		add(&f.Metadata, i)
	}
	for _, a := range facts.Aliases {
		add(&f.Views, a.Arg)
	}
	return f
}

// argument is what a call gives for an argument of a signature. The first tensor is self in schemas, and input in Python's functions.
func (n *Node) argument(s *aten.Schema, i int) (v Arg, ok bool) {
	a := s.Args[i]
	if i < len(n.Args) && !a.KwOnly {
		return n.Args[i], true
	}
	if v, ok = n.Kwarg(a.Name); !ok && a.Name == "self" {
		v, ok = n.Kwarg("input")
	}
	return v, ok
}

// fitting are the forms that a call's arguments can be meant for; all where it fits none, as with names that only Python's side takes.
func (n *Node) fitting(forms []*aten.Facts) []*aten.Facts {
	if len(forms) == 1 {
		return forms
	}
	var out []*aten.Facts
	for _, f := range forms {
		if n.fits(f.Sig) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return forms
	}
	return out
}

// fits reports whether the call may be one of a signature: by the number and the names of its arguments, and by the types of those that are
// constants.
func (n *Node) fits(s *aten.Schema) bool {
	found := 0
	for i, a := range s.Args {
		v, given := n.argument(s, i)
		if given {
			found++
		}
		if !given && !a.HasDefault || given && !takes(a.Type, v) {
			return false
		}
	}
	return found == len(n.Args)+len(n.Kwargs)
}

// takes reports whether a parameter of type t may be given a. A node may be anything but a list.
func takes(t aten.Type, a Arg) bool {
	switch a := a.(type) {
	case nil:
		return t.Optional
	case *Node:
		return !t.List || t.Size > 0
	case List, Tuple:
		return t.List
	case bool:
		return t.Base == "bool" || t.Base == "Scalar"
	case int64, float64:
		if _, frac := a.(float64); frac && (t.Base == "int" || t.Base == "SymInt") {
			return false
		}
		return t.Base != "bool" && t.Base != "str" && (!t.List || t.Size > 0)
	case string:
		return t.Base == "str" || t.Base == "Device"
	}
	return true
}

// IsImpure reports whether dropping n, or moving it across another impure node, can change what a graph
// computes: it writes to something, draws random numbers, or has a lasting effect. Modules always may.
func (n *Node) IsImpure(u Unknown) bool {
	if n.Op == Output || n.Op == CallModule {
		return true
	}
	f, ok := n.Facts()
	if !ok {
		return bool(u)
	}
	return len(f.Writes) > 0 || f.Effect == aten.Random || f.Effect == aten.Lasting
}

// IsMutating reports whether n writes to what it is given.
func (n *Node) IsMutating(u Unknown) bool {
	f, ok := n.Facts()
	if !ok {
		return bool(u)
	}
	return len(f.Writes) > 0
}

// IsRandom reports whether n draws random numbers.
func (n *Node) IsRandom(u Unknown) bool { return n.has(aten.Random, u) }

// IsUninitialised reports whether n hands out memory that nothing was written to.
func (n *Node) IsUninitialised(u Unknown) bool { return n.has(aten.Uninitialised, u) }

// has reports whether a call has an effect; one whose target is not known has it as u says.
func (n *Node) has(e aten.Effect, u Unknown) bool {
	f, ok := n.Facts()
	if !ok {
		return bool(u)
	}
	return f.Effect == e
}

// A callee is what a target stands for: the forms in which it can be called.
type callee struct {
	forms []*aten.Facts
	fixed *aten.Facts     // the facts of every call, nil where they depend on the arguments
	outs  map[string]bool // keyword arguments that results are put into
}

// A calleeIndex finds callees by their names. It never changes.
type calleeIndex struct {
	overloads map[string]*callee // aten.add.Tensor
	packets   map[string]*callee // aten.add
	rows      map[string]*callee // by module and name, "torch.nn.functional.dropout", "Tensor.size"; "math.*" is all others of the module
}

// callee is what n calls; nil for what is not known.
func (n *Node) callee() *callee {
	x := callees()
	if n.Op == CallMethod {
		if c := x.rows["Tensor."+n.Target]; c != nil {
			return c
		}
		return x.packets["aten."+n.Target]
	}
	if n.Custom != nil && n.Custom.Name() == n.Target {
		return calleeOf([]*aten.Facts{n.Custom.Facts()})
	}
	if c := x.overloads[n.Target]; c != nil {
		return c
	}
	return x.function(strings.TrimPrefix(n.Target, "torch.ops."))
}

// function finds what is known of a function by its qualified name; nil for nothing.
func (x *calleeIndex) function(target string) *callee {
	module, name, ok := cutLast(target)
	if !ok {
		module, name = "builtins", target
	}
	if IsOverload(target) { // of an operator that has one overload
		return x.rows[module]
	}
	if m, ok := sameModule[module]; ok {
		module = m
	}
	if module == "torch.Tensor" {
		module = "Tensor"
	}
	for _, row := range []string{module + "." + name, module + ".*"} {
		if c := x.rows[row]; c != nil {
			return c
		}
	}
	if prefix, ok := operatorModules[module]; ok {
		return x.packets["aten."+prefix+name]
	}
	return x.packets[target]
}

// callees builds the index on first use, from PyTorch's schemas and from the table of targets.
var callees = sync.OnceValue(func() *calleeIndex {
	x := &calleeIndex{overloads: map[string]*callee{}, packets: map[string]*callee{}, rows: map[string]*callee{}}
	packets := map[string][]*aten.Facts{}
	for _, f := range aten.Declared() {
		x.overloads[f.Sig.OpName()] = calleeOf([]*aten.Facts{f})
		p := f.Sig.Namespace + "." + f.Sig.Name
		packets[p] = append(packets[p], f)
	}
	for p, forms := range packets {
		x.packets[p] = calleeOf(forms)
	}
	eachTarget(func(module, name string, f *aten.Facts) { x.rows[module+"."+name] = calleeOf([]*aten.Facts{f}) })
	return x
})

// eachTarget shows the lines of the table of targets, name by name.
func eachTarget(f func(module, name string, facts *aten.Facts)) {
	for _, t := range targets {
		for _, l := range strings.Split(t.calls, "\n") {
			if strings.Contains(l, "(") {
				s, err := aten.ParseSchema(l)
				if err != nil {
					panic(err)
				}
				f(t.module, s.Name, aten.FactsOf(s, t.effect))
				continue
			}
			for _, name := range strings.Fields(l) {
				f(t.module, name, aten.FactsOf(&aten.Schema{}, t.effect))
			}
		}
	}
}

// calleeOf puts forms together that have one name. Those with out= arguments are left to their twins without, where there are any.
func calleeOf(forms []*aten.Facts) *callee {
	c := &callee{outs: map[string]bool{"out": true}}
	intoOut := func(f *aten.Facts) bool {
		return slices.ContainsFunc(f.Writes, func(i int) bool { return f.Sig.Args[i].KwOnly })
	}
	for _, f := range forms {
		for _, i := range f.Writes {
			if a := f.Sig.Args[i]; a.KwOnly {
				c.outs[a.Name] = true
			}
		}
	}
	c.forms = slices.DeleteFunc(slices.Clone(forms), intoOut)
	if len(c.forms) == 0 {
		c.forms = forms
	}
	bare := func(f *aten.Facts) bool {
		return f.Fixed() && f.Effect == c.forms[0].Effect && len(f.Writes)+len(f.Metadata)+len(f.Aliases) == 0
	}
	switch {
	case len(c.forms) == 1 && c.forms[0].Fixed():
		c.fixed = c.forms[0]
	case !slices.ContainsFunc(c.forms, func(f *aten.Facts) bool { return !bare(f) }):
		c.fixed = c.forms[0]
	}
	return c
}

// Draw is one form of what may draw random numbers: an operator's overload, a function, a method.
type Draw struct {
	Name  string // without module or overload
	Facts *aten.Facts
}

// Draws are all calls that may draw random numbers, in no special order: for those who see calls in a Python of their own.
func Draws() []Draw {
	var all []Draw
	for _, f := range aten.Declared() {
		if f.Effect == aten.Random {
			all = append(all, Draw{f.Sig.Name, f})
		}
	}
	eachTarget(func(_ string, name string, f *aten.Facts) {
		if f.Effect == aten.Random {
			all = append(all, Draw{name, f})
		}
	})
	return all
}
