package aot

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"whittle/capture/fx"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// A unifier makes one graph of traces at several sizes: the first of them, in place.
type unifier struct {
	j      *Joint
	env    *symbolic.Env
	others []*Joint
	values []map[string]int64 // of the symbols: in the first trace, then in the others
	known  []*symbolic.Expr
	reals  []*symbolic.Expr  // floats that the function computes
	exprs  map[string]fx.Arg // what computes an expression
	at     *fx.Node          // new nodes stand before it
	sizes  map[*tensor.Tensor]extents
	found  func(t *tensor.Tensor, size, stride []*symbolic.Expr)
	inputs map[string]int  // the input that brings a symbol
	views  map[int]extents // of outputs that are rebuilt, where their sizes are not the same for all
}

// greatestDivisor is up to which number a size may be divided without a remainder being known of.
const greatestDivisor = 16

// explainAll goes through the traces side by side.
func (u *unifier) explainAll(z Sizes) error {
	u.found = z.Found
	for _, s := range slices.Concat(z.Symbols, z.Unknown) {
		u.known = append(u.known, symbolic.Sym(s))
	}
	u.known, u.reals = append(u.known, z.Known...), z.Reals
	g := u.j.GM.Graph
	for i, p := range g.Nodes {
		n, number := p.Val.(int64)
		if p.Op != fx.Placeholder || !number {
			continue
		}
		ns := []int64{n}
		for _, o := range u.others {
			m, _ := o.GM.Graph.Nodes[i].Val.(int64)
			ns = append(ns, m)
		}
		e, err := u.explain(ns)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		p.Val = u.symInt(e)
		if e.Op == symbolic.OpSym {
			u.inputs[e.Name] = i
		}
		if u.exprs[e.String()] == nil {
			u.exprs[e.String()] = p
		}
	}
	nodes := slices.Clone(g.Nodes)
	for i, n := range nodes {
		u.at = n
		same := make([]*fx.Node, len(u.others))
		for k, o := range u.others {
			same[k] = o.GM.Graph.Nodes[i]
		}
		if e, ok := n.Meta[metaAsserted].(*symbolic.Expr); ok {
			if e.IsConst() {
				n.Args[0] = e.Int != 0
				continue
			}
			a, err := u.node(e)
			if err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
			n.Args[0] = a
			continue
		}
		if n.Op != fx.Placeholder {
			for k := range n.Args {
				if err := u.replace(&n.Args[k], sameArgs(same, func(m *fx.Node) fx.Arg { return m.Args[k] })); err != nil {
					return fmt.Errorf("%s: %w", n.Name, err)
				}
			}
			for k := range n.Kwargs {
				if err := u.replace(&n.Kwargs[k].Val, sameArgs(same, func(m *fx.Node) fx.Arg { return m.Kwargs[k].Val })); err != nil {
					return fmt.Errorf("%s: %w", n.Name, err)
				}
			}
		}
		if err := u.measure(n.Val, sameArgs(same, func(m *fx.Node) fx.Arg { return m.Val })); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		u.bring(n, same)
		if t := valueOf(n); t != nil {
			d := u.sizes[t]
			if s := symbolsOf(slices.Concat(d.size, d.stride)); s != nil {
				n.Meta = maps.Clone(n.Meta)
				if n.Meta == nil {
					n.Meta = map[string]any{}
				}
				n.Meta[metaSymbols] = s
			}
		}
	}
	return nil
}

// bring notes that a node brings a number that only a run knows: as its value, or as a size of it.
func (u *unifier) bring(n *fx.Node, same []*fx.Node) {
	if v, ok := n.Val.(int64); ok && n.Op == fx.CallFunction {
		ns := []int64{v}
		for _, m := range same {
			k, _ := m.Val.(int64)
			ns = append(ns, k)
		}
		if e, err := u.explain(ns); err == nil {
			n.Val = u.symInt(e)
			if u.exprs[e.String()] == nil {
				u.exprs[e.String()] = n
			}
		}
	}
	t := valueOf(n)
	if t == nil {
		return
	}
	for d, e := range u.sizes[t].size {
		if e.Op != symbolic.OpSym || u.exprs[e.String()] != nil || !u.env.Unknown(e) {
			continue
		}
		u.j.GM.Graph.InsertAfter(n, func() {
			size := u.j.GM.Graph.CreateNode(fx.CallFunction, "aten.sym_size.int", []fx.Arg{n, int64(d)}, nil, "sym_size_int")
			size.Val = u.symInt(e)
			u.exprs[e.String()] = size
		})
	}
}

// metaAsserted is the Meta key of the expression that an assertion is about.
const metaAsserted = "asserted"

// metaSymbols is the Meta key of the symbols in the sizes and strides of a node's tensor, in order.
const metaSymbols = "symbols"

// symbolsOf are the symbols in expressions, in order.
func symbolsOf(es []*symbolic.Expr) []string {
	var out []string
	for _, e := range es {
		out = append(out, e.Symbols()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sameArgs(nodes []*fx.Node, of func(n *fx.Node) fx.Arg) []fx.Arg {
	out := make([]fx.Arg, len(nodes))
	for i, n := range nodes {
		out[i] = of(n)
	}
	return out
}

// measure notes the sizes of a value.
func (u *unifier) measure(v any, others []fx.Arg) error {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || u.sizes[v].size != nil {
			return nil
		}
		ts := []*tensor.Tensor{v}
		for _, o := range others {
			t, ok := o.(*tensor.Tensor)
			if !ok || len(t.Shape) != len(v.Shape) {
				return errors.New("it has other dimensions at other sizes")
			}
			ts = append(ts, t)
		}
		var d extents
		var err error
		if d.size, err = u.explainEach(column(ts, func(t *tensor.Tensor) []int64 { return t.Shape })); err != nil {
			return err
		}
		if d.stride, err = u.explainEach(column(ts, func(t *tensor.Tensor) []int64 { return t.Stride })); err != nil {
			return err
		}
		u.sizes[v] = d
		if u.found != nil {
			u.found(v, d.size, d.stride)
		}
		if count := symbolic.Mul(d.size...); !count.IsConst() {
			u.know(count)
		}
	case []any:
		for i, x := range v {
			var xs []fx.Arg
			for _, o := range others {
				l, ok := o.([]any)
				if !ok || len(l) != len(v) {
					return errors.New("it has other results at other sizes")
				}
				xs = append(xs, l[i])
			}
			if err := u.measure(x, xs); err != nil {
				return err
			}
		}
	}
	return nil
}

// column is a list in each of some values.
func column[T any](of []T, list func(T) []int64) [][]int64 {
	out := make([][]int64, len(of))
	for i, v := range of {
		out[i] = list(v)
	}
	return out
}

// explainEach explains the items of lists that are equally long, of which each trace has one.
func (u *unifier) explainEach(lists [][]int64) ([]*symbolic.Expr, error) {
	out := make([]*symbolic.Expr, len(lists[0]))
	for k := range out {
		ns := make([]int64, len(lists))
		for i, l := range lists {
			if len(l) != len(out) {
				return nil, errors.New("there are other dimensions at other sizes")
			}
			ns[i] = l[k]
		}
		var err error
		if out[k], err = u.explain(ns); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// outputs tells what the runtime does with the results of the graph at other sizes. A number that is not the same for all is one of them.
func (u *unifier) outputs() error {
	for i := range u.j.Outputs {
		o := &u.j.Outputs[i]
		all := []OutputInfo{*o}
		for _, other := range u.others {
			all = append(all, other.Outputs[i])
		}
		for _, x := range all {
			if x.Kind != o.Kind || x.Input != o.Input || x.GraphIndex != o.GraphIndex || x.Base != o.Base || x.RequiresGrad != o.RequiresGrad || x.Detached != o.Detached {
				return fmt.Errorf("output %d is another one at other sizes", i)
			}
		}
		for k, n := range o.Shape {
			if slices.ContainsFunc(all, func(x OutputInfo) bool { return k < len(x.Shape) && x.Shape[k] != n }) {
				o.Dynamic = append(o.Dynamic, k)
			}
		}
		switch o.Kind {
		case ConstantOut:
			if slices.ContainsFunc(all, func(x OutputInfo) bool { return x.Const != o.Const }) {
				o.Kind = FromGraph
			}
		case AliasOfInput, AliasOfValue:
			var d extents
			var err error
			if d.size, err = u.explainEach(column(all, func(x OutputInfo) []int64 { return x.Shape })); err != nil {
				return err
			}
			if d.stride, err = u.explainEach(column(all, func(x OutputInfo) []int64 { return append(slices.Clone(x.Stride), x.Offset) })); err != nil {
				return err
			}
			if slices.ContainsFunc(slices.Concat(d.size, d.stride), u.env.Unknown) {
				return fmt.Errorf("output %d is a view whose size only a run knows", i)
			}
			if slices.ContainsFunc(slices.Concat(d.size, d.stride), func(e *symbolic.Expr) bool { return !e.IsConst() }) {
				o.views = nil
				u.views[i] = d
			}
		}
	}
	for i, m := range u.j.Mutated {
		for _, other := range u.others {
			x := other.Mutated[i]
			if x.Input != m.Input || x.Data != m.Data || x.Grad != m.Grad || x.Meta != m.Meta || m.Meta && !(slices.Equal(x.Shape, m.Shape) && slices.Equal(x.Stride, m.Stride) && x.Offset == m.Offset) {
				return fmt.Errorf("input %d is changed in another way at other sizes", m.Input)
			}
		}
	}
	return nil
}

// symbols are the values of the symbols in a call.
func (u *unifier) symbols(inputs []aten.Value) func(name string) (any, bool) {
	return func(name string) (any, bool) {
		i, ok := u.inputs[name]
		if !ok {
			return nil, false
		}
		n, ok := inputs[i].(int64)
		return n, ok
	}
}

// evaluate computes expressions of sizes.
func evaluate(es []*symbolic.Expr, symbols func(name string) (any, bool)) ([]int64, error) {
	out := make([]int64, len(es))
	for i, e := range es {
		v, err := e.Eval(symbols)
		if err != nil {
			return nil, err
		}
		out[i], _ = v.(int64)
	}
	return out, nil
}

// output is what the runtime does with an output in a call.
func (u *unifier) output(i int, o OutputInfo, inputs []aten.Value) (OutputInfo, error) {
	d, ok := u.views[i]
	if !ok {
		return o, nil
	}
	var err error
	if o.Shape, err = evaluate(d.size, u.symbols(inputs)); err != nil {
		return o, err
	}
	strides, err := evaluate(d.stride, u.symbols(inputs))
	if err != nil {
		return o, err
	}
	last := len(strides) - 1
	o.Stride, o.Offset = strides[:last], strides[last]
	return o, nil
}

// replace puts nodes in the place of the numbers of an argument that are not the same in all traces.
func (u *unifier) replace(a *fx.Arg, others []fx.Arg) error {
	items := func(of func(o fx.Arg) ([]fx.Arg, bool), l []fx.Arg) error {
		for i := range l {
			xs := make([]fx.Arg, len(others))
			for k, o := range others {
				m, ok := of(o)
				if !ok || len(m) != len(l) {
					return fmt.Errorf("%s is %s at other sizes", fx.FormatArg(*a), fx.FormatArg(o))
				}
				xs[k] = m[i]
			}
			if err := u.replace(&l[i], xs); err != nil {
				return err
			}
		}
		return nil
	}
	switch v := (*a).(type) {
	case int64:
		ns, err := alikeNumbers(v, others)
		if err != nil {
			return err
		}
		e, err := u.explain(ns)
		if err == nil && !e.IsConst() {
			*a, err = u.node(e)
		}
		return err
	case float64:
		fs, err := alikeNumbers(v, others)
		if err != nil {
			return err
		}
		n, err := u.real(fs)
		if n != nil {
			*a = n
		}
		return err
	case fx.List:
		v = slices.Clone(v)
		*a = v
		return items(func(o fx.Arg) ([]fx.Arg, bool) { l, ok := o.(fx.List); return l, ok }, v)
	case fx.Tuple:
		v = slices.Clone(v)
		*a = v
		return items(func(o fx.Arg) ([]fx.Arg, bool) { l, ok := o.(fx.Tuple); return l, ok }, v)
	case *fx.Node:
		for _, o := range others {
			if m, ok := o.(*fx.Node); !ok || m.Name != v.Name {
				return fmt.Errorf("%s is %s at other sizes", v.Name, fx.FormatArg(o))
			}
		}
	default:
		for _, o := range others {
			if fx.FormatArg(o) != fx.FormatArg(v) {
				return fmt.Errorf("%s is %s at other sizes", fx.FormatArg(v), fx.FormatArg(o))
			}
		}
	}
	return nil
}

// alikeNumbers are a number of the first trace and those in its place in the others.
func alikeNumbers[T int64 | float64](first T, others []fx.Arg) ([]T, error) {
	ns := []T{first}
	for _, o := range others {
		n, ok := o.(T)
		if !ok {
			return nil, fmt.Errorf("%v is %s at other sizes", first, fx.FormatArg(o))
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// explain is the expression that has these values in the traces.
func (u *unifier) explain(ns []int64) (*symbolic.Expr, error) {
	if !slices.ContainsFunc(ns, func(n int64) bool { return n != ns[0] }) {
		return symbolic.Int(ns[0]), nil
	}
	fits := func(e *symbolic.Expr) bool {
		for i, n := range ns {
			if u.value(e, i) != n {
				return false
			}
		}
		return true
	}
	for _, e := range u.known {
		if fits(e) {
			return e, nil
		}
	}
	for _, e := range u.products() {
		if line := u.line(e, ns); line != nil && fits(line) {
			u.know(line)
			return line, nil
		}
	}
	for _, e := range u.products() {
		for by := int64(2); by <= greatestDivisor; by++ {
			for _, up := range []int64{0, by - 1} { // rounded down, and up
				if part := symbolic.FloorDiv(symbolic.Add(e, symbolic.Int(up)), symbolic.Int(by)); fits(part) {
					u.know(part)
					return part, nil
				}
			}
		}
	}
	some := u.known[:min(len(u.known), 2*few)]
	for i, a := range some {
		for _, b := range some[:i] {
			for _, sum := range []*symbolic.Expr{symbolic.Add(a, b), symbolic.Sub(a, b), symbolic.Sub(b, a)} {
				if fits(sum) {
					u.know(sum)
					return sum, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("no expression has the values %v", ns)
}

// real computes a float that the function does, or that is a number by a count less some, as the gradient of a variance has it; nil for one that is the same in all traces.
func (u *unifier) real(fs []float64) (*fx.Node, error) {
	if !slices.ContainsFunc(fs, func(f float64) bool { return f != fs[0] }) {
		return nil, nil
	}
	for _, e := range u.reals {
		fits := true
		for i, f := range fs {
			v, err := e.Eval(u.symbol(i))
			got, ok := v.(float64)
			fits = fits && err == nil && ok && math.Abs(got-f) <= 1e-12*math.Abs(f)
		}
		if fits {
			n, err := u.node(e)
			if err != nil {
				return nil, err
			}
			return n.(*fx.Node), nil
		}
	}
	for _, e := range u.products() {
		x, y := float64(u.value(e, 0)), float64(u.value(e, 1))
		by := (y - x) / (1/fs[1] - 1/fs[0])
		less := math.Round(x - by/fs[0])
		by = math.Round(by)
		fits := by != 0 && !math.IsNaN(by) && !math.IsInf(by, 0)
		for i, f := range fs {
			fits = fits && math.Abs(by/(float64(u.value(e, i))-less)-f) <= 1e-12*math.Abs(f)
		}
		if !fits {
			continue
		}
		count, err := u.node(e)
		if err != nil {
			return nil, err
		}
		value := symbolic.ToFloat(e)
		n := u.call("torch.sym_float", value, count)
		if less != 0 {
			value = symbolic.Add(value, symbolic.Float(-less))
			n = u.call("operator.sub", value, n, less)
		}
		return u.call("operator.truediv", symbolic.TrueDiv(symbolic.Float(by), value), by, n), nil
	}
	return nil, fmt.Errorf("no expression has the values %v", fs)
}

// call adds a node that computes an expression.
func (u *unifier) call(target string, e *symbolic.Expr, args ...fx.Arg) *fx.Node {
	var n *fx.Node
	u.j.GM.Graph.InsertBefore(u.at, func() { n = u.j.GM.Graph.CallFunction(target, args...) })
	n.Val = u.symInt(e)
	if o, ok := u.at.Meta[fx.MetaOrigin].(fx.Origin); ok {
		n.SetOrigin(o)
	}
	return n
}

// know adds an expression to those that are looked at first.
func (u *unifier) know(e *symbolic.Expr) {
	if !slices.ContainsFunc(u.known, func(k *symbolic.Expr) bool { return k.String() == e.String() }) {
		u.known = append(u.known, e)
	}
}

// few is of how many expressions products are looked at.
const few = 8

// products are the known expressions, and products of two and three of the first of them.
func (u *unifier) products() []*symbolic.Expr {
	out := slices.Clone(u.known)
	first := u.known[:min(len(u.known), few)]
	for i, a := range first {
		for k, b := range first[:i+1] {
			ab := symbolic.Mul(a, b)
			out = append(out, ab)
			for _, c := range first[:k+1] {
				out = append(out, symbolic.Mul(ab, c))
			}
		}
	}
	return out
}

// line is a times e plus b, or e divided by a, as the first two values ask for; nil for none.
func (u *unifier) line(e *symbolic.Expr, ns []int64) *symbolic.Expr {
	x, y := u.value(e, 0), u.value(e, 1)
	dx, dn := y-x, ns[1]-ns[0]
	switch {
	case dx == 0 || dn == 0:
		return nil
	case dn%dx == 0:
		a := dn / dx
		return symbolic.Add(symbolic.Mul(symbolic.Int(a), e), symbolic.Int(ns[0]-a*x))
	case ns[0] != 0 && x%ns[0] == 0:
		return symbolic.FloorDiv(e, symbolic.Int(x/ns[0]))
	}
	return nil
}

// value is an expression's value in trace i.
func (u *unifier) value(e *symbolic.Expr, i int) int64 {
	v, err := e.Eval(u.symbol(i))
	n, ok := v.(int64)
	if err != nil || !ok {
		return -1
	}
	return n
}

// symbol gives the symbols' values in trace i.
func (u *unifier) symbol(i int) func(name string) (any, bool) {
	return func(name string) (any, bool) {
		n, ok := u.values[i][name]
		return n, ok
	}
}

// node computes an expression, once, from the inputs that bring its symbols.
func (u *unifier) node(e *symbolic.Expr) (fx.Arg, error) {
	switch {
	case e.Op == symbolic.OpFloat:
		return e.Float, nil
	case e.IsConst():
		return e.Int, nil
	case e.Op == symbolic.OpToFloat: // Python's operators take whole numbers as they are
		return u.node(e.Args[0])
	}
	if n := u.exprs[e.String()]; n != nil {
		return n, nil
	}
	target, ok := map[symbolic.Op]string{symbolic.OpAdd: "operator.add", symbolic.OpMul: "operator.mul", symbolic.OpPow: "operator.pow", symbolic.OpFloorDiv: "operator.floordiv", symbolic.OpTrueDiv: "operator.truediv",
		symbolic.OpFloatPow: "operator.pow", symbolic.OpFloatAdd: "operator.add", symbolic.OpFloatMul: "operator.mul",
		symbolic.OpMod: "operator.mod", symbolic.OpMax: "torch.sym_max", symbolic.OpMin: "torch.sym_min", symbolic.OpEq: "operator.eq", symbolic.OpNe: "operator.ne",
		symbolic.OpLt: "operator.lt", symbolic.OpLe: "operator.le", symbolic.OpGt: "operator.gt", symbolic.OpGe: "operator.ge"}[e.Op]
	if !ok {
		return nil, fmt.Errorf("nothing computes %s", e)
	}
	args := e.Args
	if e.Op == symbolic.OpAdd {
		args = symbolic.Summands(e)
	}
	if x := negated(e); x != nil {
		of, err := u.node(x)
		if err != nil {
			return nil, err
		}
		n := u.call("operator.neg", e, of)
		u.exprs[e.String()] = n
		return n, nil
	}
	switch {
	case e.Op == symbolic.OpAdd && len(args) == 2 && args[0].IsConst() && negated(args[1]) != nil: // 4 - s0
	case (e.Op == symbolic.OpAdd || e.Op == symbolic.OpMul) && args[0].IsConst(): // s0*2, not 2*s0, as a program has it
		args = append(slices.Clone(args[1:]), args[0])
	}
	acc, err := u.node(args[0])
	for i, a := range args[1:] {
		if err != nil {
			return nil, err
		}
		with := target
		if x := negated(a); x != nil && e.Op == symbolic.OpAdd {
			with, a = "operator.sub", x
		}
		var b fx.Arg
		if b, err = u.node(a); err != nil {
			return nil, err
		}
		part := e
		switch e.Op {
		case symbolic.OpAdd:
			part = symbolic.Add(args[:i+2]...)
		case symbolic.OpMul:
			part = symbolic.Mul(args[:i+2]...)
		}
		if k, ok := b.(int64); ok && k < 0 && e.Op == symbolic.OpAdd {
			with, b = "operator.sub", -k
		}
		n := u.call(with, part, acc, b)
		u.exprs[part.String()] = n
		acc = n
	}
	u.exprs[e.String()] = acc
	return acc, err
}

// negated is x of an expression -x, nil for another.
func negated(e *symbolic.Expr) *symbolic.Expr {
	if e.Op == symbolic.OpMul && len(e.Args) == 2 && e.Args[0].IsConst() && e.Args[0].Int == -1 {
		return e.Args[1]
	}
	return nil
}

// symInt is an expression as the value of a node.
func (u *unifier) symInt(e *symbolic.Expr) fx.SymInt {
	return fx.SymInt{Expr: e.String(), Hint: u.value(e, 0)}
}
