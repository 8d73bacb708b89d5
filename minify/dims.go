package minify

import (
	"slices"
	"strconv"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// extents finds out which sizes of a graph must agree. Every dimension of an input of a size above 1 begins as a variable; the
// rules of package relations follow the sizes through the calls, and what an operator wants equal is equated. A dimension is a
// product of variables, so that view([16, 32]) of [2, 8, 32] stays right whichever of the three changes. What is found is a
// well-informed guess: the static check and the engine judge what is made of it.
//
// An example. x is f32[2, 8, 32] and w is f32[32, 5]:
//
//	a = x.view(16, 32)    x: v0=2 v1=8 v2=32   w: v3=32 v4=5
//	b = a @ w             a: [v0*v1, v2]; mm wants v2 and v3 equal, so v3 := v2; b: [v0*v1, v4]
//
// The classes are {v0}, {v1}, {v2, v3} and {v4}. Making {v2, v3} 1 changes x, w and the 32 among view's arguments together; the 16
// there is the product of the first two.
type extents struct {
	module *fx.GraphModule   // whose graph it is
	sizes  []int64           // by variable
	def    map[int]size      // variables that are products of others
	fixed  map[int]bool      // variables that cannot change: of constants, counts of results
	loose  map[int]bool      // variables of results that are computed in a way that is not followed
	label  map[int]string    // where a variable was first seen; no two have the same
	named  map[string]bool   // labels
	inputs map[string][]size // by placeholder
	ints   map[string]size   // placeholders that are integers
	slots  []slot            // integers in arguments that are sizes

	dims   map[*fx.Node]any // []size of a tensor, [][]size of several
	dtypes map[*fx.Node]tensor.DType
	nums   map[*fx.Node]size // nodes that are integers
	consts map[int64]size    // numbers that stay
}

// size is a product of variables; none is 1.
type size []int

// slot is an integer in a call's arguments.
type slot struct {
	at  place
	old int64
	is  size
}

// place is where an argument stands.
type place struct {
	node string
	kw   string // "" for a positional argument
	arg  int
	elem int // in a list, -1 for the argument itself
}

func (p place) String() string {
	s := p.node + "." + p.kw
	if p.kw == "" {
		s = p.node + "." + strconv.Itoa(p.arg)
	}
	if p.elem >= 0 {
		s += "[" + strconv.Itoa(p.elem) + "]"
	}
	return s
}

// fresh is a new variable of value n. A size of 1 is the empty product, and never varies; one of 0 stays.
func (e *extents) fresh(n int64, label string) size {
	if n == 1 {
		return nil
	}
	e.sizes = append(e.sizes, n)
	v := len(e.sizes) - 1
	e.call(v, label)
	if n == 0 {
		e.fixed[v] = true
	}
	return size{v}
}

// call gives a variable a name; one that is taken gets marks.
func (e *extents) call(v int, name string) {
	for name != "" && e.named[name] {
		name += "'"
	}
	e.label[v], e.named[name] = name, true
}

// free is a size that was computed in a way that is not followed: nothing is known of it but its value now.
func (e *extents) free(n int64) size {
	s := e.fresh(n, "")
	for _, v := range s {
		e.loose[v] = true
	}
	return s
}

// fix is a size that stays.
func (e *extents) fix(n int64) size {
	s := e.fresh(n, "")
	for _, v := range s {
		e.fixed[v] = true
	}
	return s
}

// roots writes a size in terms of variables that have no definition.
func (e *extents) roots(s size) size {
	var out size
	for _, v := range s {
		if d, ok := e.def[v]; ok {
			out = append(out, e.roots(d)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

func (e *extents) value(s size) int64 {
	n := int64(1)
	for _, v := range e.roots(s) {
		n *= e.sizes[v]
	}
	return n
}

// with says what each size becomes when some classes, by their labels, get another size.
func (e *extents) with(classes map[string]bool, to int64) func(size) int64 {
	return func(s size) int64 {
		n := int64(1)
		for _, v := range e.roots(s) {
			if classes[e.label[v]] {
				n *= to
			} else {
				n *= e.sizes[v]
			}
		}
		return n
	}
}

// equate makes two sizes the same, as far as that can be said with products: what both have is left out; a single variable is defined as what
// remains of the other; of two products whose factors have equal values the factors are paired. Sizes of different values are left alone:
// then the rule that equates them has not understood the call.
func (e *extents) equate(a, b size) {
	a, b = e.roots(a), e.roots(b)
	if e.value(a) != e.value(b) {
		return
	}
	for i := 0; i < len(a); { // what both have
		if j := slices.Index(b, a[i]); j >= 0 {
			b = slices.Delete(slices.Clone(b), j, j+1)
			a = slices.Delete(slices.Clone(a), i, i+1)
			continue
		}
		i++
	}
	if len(a) > 1 && len(b) > 1 { // pairs of equal size
		for _, v := range a {
			for _, w := range b {
				if e.sizes[v] == e.sizes[w] {
					e.define(v, size{w})
					break
				}
			}
		}
		return
	}
	switch {
	case len(a) == 1 && (len(b) != 1 || e.gives(a[0], b[0])):
		e.define(a[0], b)
	case len(b) == 1:
		e.define(b[0], a)
	}
}

// gives reports whether v rather than w should be expressed by the other: one that cannot change stays, one that comes from an unknown calculation
// goes, and else the older one stays, as it is an input's.
func (e *extents) gives(v, w int) bool {
	if e.fixed[v] != e.fixed[w] {
		return e.fixed[w]
	}
	if e.loose[v] != e.loose[w] {
		return e.loose[v]
	}
	return v > w
}

// define says that v is s from now on. A variable cannot be defined by itself, nor twice. Where v cannot change nothing that it consists of can.
func (e *extents) define(v int, s size) {
	s = e.roots(s)
	if _, ok := e.def[v]; ok || slices.Contains(s, v) {
		return
	}
	if len(s) == 1 && e.fixed[v] && !e.fixed[s[0]] {
		v, s = s[0], size{v}
	} else if e.fixed[v] {
		for _, w := range s {
			e.fixed[w] = true
		}
	}
	e.def[v] = s
}

// split takes a size apart into factors of the given values, first ones first, as view does to a dimension. A variable that is larger than a factor
// becomes a product of two new ones, of which the first is that factor: 12 split into 3 and 4. What does not divide is not followed: the
// factors from there on are loose.
func (e *extents) split(s size, parts []int64) []size {
	rest := e.roots(s)
	out := make([]size, len(parts))
	for i, p := range parts {
		need := p
		for need > 1 && len(rest) > 0 {
			v := rest[0]
			n := e.sizes[v]
			switch {
			case n > 0 && need%n == 0:
				out[i] = append(out[i], v)
				rest = rest[1:]
				need /= n
			case n > need && n%need == 0 && !e.fixed[v]:
				a, b := e.fresh(need, e.label[v]+"/"), e.fresh(n/need, e.label[v]+"//")
				if e.loose[v] {
					e.loose[a[0]], e.loose[b[0]] = true, true
				}
				e.def[v] = append(slices.Clone(a), b...)
				out[i] = append(out[i], a...)
				rest = append(slices.Clone(b), rest[1:]...)
				need = 1
			default:
				need = -1
			}
		}
		if need != 1 {
			for j := i; j < len(parts); j++ {
				out[j] = e.free(parts[j])
			}
			return out
		}
	}
	return out
}

// extentsOf follows the sizes through a state's graph.
func (w *world) extentsOf(s State) *extents {
	e := &extents{module: s.Module, named: map[string]bool{}, def: map[int]size{}, fixed: map[int]bool{}, loose: map[int]bool{}, label: map[int]string{}, inputs: map[string][]size{}, ints: map[string]size{},
		dims: map[*fx.Node]any{}, dtypes: map[*fx.Node]tensor.DType{}, nums: map[*fx.Node]size{}, consts: map[int64]size{}}
	phs := s.Module.Graph.Placeholders()
	byValue := map[int64]size{}
	for i, p := range phs { // symbolic sizes first: they stand for what has their value
		if v, ok := s.Inputs[i].Value.(int64); ok {
			if v <= 1 {
				e.nums[p] = e.fix(v)
				continue
			}
			if byValue[v] == nil {
				byValue[v] = e.fresh(v, p.Name)
			}
			e.ints[p.Name], e.nums[p] = byValue[v], byValue[v]
		}
	}
	for i, p := range phs {
		t := isTensor(s.Inputs[i].Value)
		if t == nil {
			continue
		}
		ds := make([]size, len(t.Shape))
		for j, n := range t.Shape {
			if v, ok := byValue[n]; ok {
				ds[j] = v
			} else {
				ds[j] = e.fresh(n, p.Name+"."+strconv.Itoa(j))
			}
		}
		e.inputs[p.Name], e.dims[p], e.dtypes[p] = ds, ds, t.DType
	}
	for _, n := range s.Module.Graph.Nodes {
		switch {
		case n.Op == fx.GetAttr:
			if t := s.Module.Attrs[n.Target]; t != nil {
				ds := make([]size, len(t.Shape))
				for j, k := range t.Shape {
					ds[j] = e.fix(k)
				}
				e.dims[n], e.dtypes[n] = ds, t.DType
			}
		case n.IsCall():
			e.follow(n, w.meta(s, n))
		}
	}
	return e
}

// of is the dimensions of an argument; nil if it is no tensor whose dimensions are known.
func (e *extents) of(a fx.Arg) []size {
	if n, ok := a.(*fx.Node); ok {
		ds, _ := e.dims[n].([]size)
		return ds
	}
	return nil
}

// operands lists the tensors among a call's arguments, with known dimensions, those in lists too.
func (e *extents) operands(n *fx.Node) [][]size {
	var out [][]size
	n.WalkInputs(func(in *fx.Node) {
		if ds, ok := e.dims[in].([]size); ok {
			out = append(out, ds)
		}
	})
	return out
}

func (e *extents) shape(ds []size) []int64 {
	out := make([]int64, len(ds))
	for i, d := range ds {
		out[i] = e.value(d)
	}
	return out
}

// follow finds the dimensions of a call's results.
func (e *extents) follow(n *fx.Node, meta any) {
	switch m := meta.(type) {
	case *tensor.Tensor:
		if m == nil {
			return
		}
		ds := e.results(n)
		if len(ds) != 1 {
			ds = [][]size{nil}
		}
		e.dims[n], e.dtypes[n] = e.sure(n, ds[0], m.Shape), m.DType
	case []any:
		ds := e.results(n)
		all := make([][]size, len(m))
		for i, x := range m {
			if t := isTensor(x); t != nil {
				var is []size
				if len(ds) == len(m) {
					is = ds[i]
				}
				all[i] = e.sure(n, is, t.Shape)
			}
		}
		e.dims[n] = all
	case int64:
		e.nums[n] = e.number(n, m)
	}
	if n.Target == "operator.getitem" && len(n.Args) == 2 {
		if p, ok := n.Args[0].(*fx.Node); ok {
			all, _ := e.dims[p].([][]size)
			if i, ok := n.Args[1].(int64); ok && i >= 0 && int(i) < len(all) && all[i] != nil {
				e.dims[n] = all[i]
			}
		}
	}
}

// sure fills what a rule did not say, or got wrong, by the general rules.
func (e *extents) sure(n *fx.Node, ds []size, shape []int64) []size {
	if !slices.Equal(e.shape(ds), shape) || ds == nil && len(shape) > 0 {
		ds = e.general(n, shape)
	}
	return ds
}

// number is the size that an integer node stands for.
func (e *extents) number(n *fx.Node, v int64) size {
	var args []size
	for _, a := range n.Args {
		switch a := a.(type) {
		case *fx.Node:
			if s, ok := e.nums[a]; ok {
				args = append(args, s)
			}
		case int64:
			args = append(args, e.fix(a))
		}
	}
	switch opName(n) {
	case "sym_size", "size":
		if ds := e.of(n.Args[0]); len(n.Args) == 2 && ds != nil {
			if d, ok := n.Args[1].(int64); ok {
				if d < 0 {
					d += int64(len(ds))
				}
				if d >= 0 && int(d) < len(ds) {
					return ds[d]
				}
			}
		}
	case "mul":
		if len(args) == 2 && e.value(args[0])*e.value(args[1]) == v {
			return append(slices.Clone(args[0]), args[1]...)
		}
	}
	return e.free(v)
}

// general is what holds for most operators, and serves where there is no rule, or where a rule's result does not have the sizes that the engine
// saw: operands broadcast to the result; or the result has the first operand's dimensions, some of them gone, or of other sizes.
func (e *extents) general(n *fx.Node, shape []int64) []size {
	ops := e.operands(n)
	if len(ops) == 0 {
		out := make([]size, len(shape))
		for i, k := range shape {
			out[i] = e.free(k)
		}
		return out
	}
	if e.broadcasts(ops, shape) {
		return e.broadcast(ops, shape)
	}
	out := make([]size, len(shape))
	x := ops[0]
	for _, o := range ops {
		if len(o) == len(shape) {
			x = o
			break
		}
	}
	from := make([]int, 0, len(x)) // dimensions of x that remain
	gone := e.removed(n, x, shape)
	for i := range x {
		if !gone[i] {
			from = append(from, i)
		}
	}
	if len(from) != len(shape) { // one by one, where sizes agree
		from = from[:0]
		i := 0
		for _, k := range shape {
			j := i
			for j < len(x) && e.value(x[j]) != k {
				j++
			}
			if j < len(x) {
				from, i = append(from, j), j+1
			} else {
				from = append(from, -1)
			}
		}
	}
	for i, k := range shape {
		if f := from[i]; f >= 0 && e.value(x[f]) == k {
			out[i] = x[f]
			continue
		}
		out[i] = e.free(k)
		for _, o := range ops { // some other operand's dimension of that size
			for _, d := range o {
				if e.value(d) == k && k != 1 && e.loose[first(out[i])] {
					out[i] = d
				}
			}
		}
	}
	return out
}

func first(s size) int {
	if len(s) == 0 {
		return -1
	}
	return s[0]
}

// removed says which dimensions of x an operator's arguments take away.
func (e *extents) removed(n *fx.Node, x []size, shape []int64) map[int]bool {
	count := len(x) - len(shape)
	if count <= 0 {
		return nil
	}
	args := append([]fx.Arg{}, n.Args...)
	for _, kw := range n.Kwargs {
		args = append(args, kw.Val)
	}
	for _, a := range args {
		list, ok := asList(a)
		if !ok {
			list = []fx.Arg{a}
		}
		gone := map[int]bool{}
		for _, v := range list {
			d, ok := v.(int64)
			if d < 0 {
				d += int64(len(x))
			}
			if !ok || d < 0 || int(d) >= len(x) {
				gone = nil
				break
			}
			gone[int(d)] = true
		}
		if len(gone) != count {
			continue
		}
		var left []int64
		for i, d := range x {
			if !gone[i] {
				left = append(left, e.value(d))
			}
		}
		if slices.Equal(left, shape) || len(left) == 0 && len(shape) == 0 {
			return gone
		}
	}
	return nil
}

func (e *extents) broadcasts(ops [][]size, shape []int64) bool {
	var out []int64
	for _, o := range ops {
		b, err := tensor.BroadcastShapes(out, e.shape(o))
		if err != nil {
			return false
		}
		out = b
	}
	return slices.Equal(out, shape) || len(out) == 0 && len(shape) == 0
}

func (e *extents) broadcast(ops [][]size, shape []int64) []size {
	out := make([]size, len(shape))
	for i, k := range shape {
		for _, o := range ops {
			j := i - (len(shape) - len(o))
			if j < 0 || k == 1 || e.value(o[j]) != k {
				continue
			}
			if out[i] == nil {
				out[i] = o[j]
			} else {
				e.equate(out[i], o[j])
			}
		}
	}
	return out
}

func asList(a fx.Arg) ([]fx.Arg, bool) {
	switch a := a.(type) {
	case fx.List:
		return a, true
	case fx.Tuple:
		return a, true
	}
	return nil, false
}

// class is a set of sizes that change together.
type class struct {
	v     int
	label string
	size  int64
}

// classes lists the variables that can change, in order of first appearance in inputs, then in arguments.
func (e *extents) classes() []class {
	var out []class
	seen := map[int]bool{}
	add := func(s size) {
		for _, v := range e.roots(s) {
			if !seen[v] && !e.fixed[v] && !e.loose[v] && e.sizes[v] > 1 {
				seen[v] = true
				out = append(out, class{v, e.label[v], e.sizes[v]})
			}
		}
	}
	for v := range e.sizes { // variables were made in that order
		if _, ok := e.def[v]; !ok {
			add(size{v})
		}
	}
	used := map[int]bool{}
	for _, ds := range e.inputs {
		for _, d := range ds {
			for _, v := range e.roots(d) {
				used[v] = true
			}
		}
	}
	for _, s := range e.ints {
		for _, v := range e.roots(s) {
			used[v] = true
		}
	}
	for _, s := range e.slots {
		for _, v := range e.roots(s.is) {
			used[v] = true
		}
	}
	return slices.DeleteFunc(out, func(c class) bool { return !used[c.v] })
}
