package sizes

import (
	"sort"

	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Expr is a symbolic expression.
type Expr = symbolic.Expr

// Number is a symbolic number among the arguments of an operator.
type Number interface {
	aten.Symbolic
	// Expression is what the number is.
	Expression() *Expr
}

// Tracker knows the symbolic sizes of the tensors of one trace.
type Tracker struct {
	Env *symbolic.Env
	// Unbacked allows operators whose results' sizes depend on data: nonzero and its kind.
	Unbacked bool
	// Fresh is told of each new size that only the running program knows.
	Fresh func(size *Expr)

	dims map[*tensor.Tensor]dims
}

type dims struct{ size, stride []*Expr }

// New is a Tracker over env that knows no tensor.
func New(env *symbolic.Env) *Tracker { return &Tracker{Env: env, dims: map[*tensor.Tensor]dims{}} }

// Set gives a tensor its sizes, and its strides where they are known; nil strides are those of a dense tensor.
func (k *Tracker) Set(t *tensor.Tensor, size, stride []*Expr) { k.dims[t] = dims{size, stride} }

// Copy gives to, a tensor of the same shape, the sizes of from.
func (k *Tracker) Copy(to, from *tensor.Tensor) {
	if d, ok := k.dims[from]; ok {
		k.dims[to] = d
	}
}

// Size is the size of t as expressions.
func (k *Tracker) Size(t *tensor.Tensor) []*Expr {
	if d, ok := k.dims[t]; ok && len(d.size) == len(t.Shape) {
		out := make([]*Expr, len(d.size))
		for i, e := range d.size {
			out[i] = k.Env.Simplify(e)
		}
		return out
	}
	return constants(t.Shape)
}

// Stride is the stride of t as expressions. A layout that the sizes do not explain fixes them.
func (k *Tracker) Stride(t *tensor.Tensor) ([]*Expr, error) {
	size := k.Size(t)
	if !symbols(size) {
		return constants(t.Stride), nil
	}
	if d := k.dims[t]; d.stride != nil {
		out := make([]*Expr, len(d.stride))
		for i, e := range d.stride {
			out[i] = k.Env.Simplify(e)
		}
		return out, nil
	}
	out := Dense(size)
	for i, e := range out {
		if k.trial(e) != t.Stride[i] {
			for _, s := range size {
				if _, err := k.Env.SpecializeInt(s); err != nil {
					return nil, err
				}
			}
			return constants(t.Stride), nil
		}
	}
	return out, nil
}

// Dense is the stride of a contiguous tensor.
func Dense(size []*Expr) []*Expr {
	out := make([]*Expr, len(size))
	acc := symbolic.Int(1)
	for i := len(size) - 1; i >= 0; i-- {
		out[i] = acc
		acc = symbolic.Mul(acc, size[i])
	}
	return out
}

// Symbolic reports whether a size of t holds a symbol.
func (k *Tracker) Symbolic(t *tensor.Tensor) bool { return symbols(k.Size(t)) }

func constants(ns []int64) []*Expr {
	out := make([]*Expr, len(ns))
	for i, n := range ns {
		out[i] = symbolic.Int(n)
	}
	return out
}

func symbols(es []*Expr) bool {
	for _, e := range es {
		if !e.IsConst() {
			return true
		}
	}
	return false
}

func (k *Tracker) trial(e *Expr) int64 { return k.Env.Trial(e) }

// at is trial with given values for some symbols.
func (k *Tracker) at(e *Expr, values map[string]int64) int64 {
	return k.Env.Trial(e.Subst(func(name string) *Expr {
		if n, ok := values[name]; ok {
			return symbolic.Int(n)
		}
		return nil
	}))
}

// call is one operator call under examination.
type call struct {
	*Tracker
	op   *aten.Op
	args []aten.Value // with symbolic numbers
	err  error        // of the first question that had no answer
}

// Dispatch runs op through below, which gets plain numbers, and notes the symbolic sizes of the results.
func (k *Tracker) Dispatch(op *aten.Op, args []aten.Value, below func(args []aten.Value) (aten.Value, error)) (aten.Value, error) {
	c := &call{Tracker: k, op: op, args: args}
	if k.Unbacked {
		if v, ok, err := c.unbacked(); ok || err != nil {
			return v, err
		}
	}
	if err := c.promise(); err != nil {
		return nil, err
	}
	given := c.inputs()
	out, err := below(c.plain(args, nil).([]aten.Value)) // a number may be symbolic in form, and fixed by now
	if v, ok, err := c.parts(err); ok {
		return v, err
	}
	if len(given) == 0 && c.err == nil {
		return out, err
	}
	if c.err != nil {
		return nil, c.err
	}
	if err != nil {
		for _, e := range given {
			if k.Env.Unknown(e) { // it may be the stand-in that does not fit
				return nil, &symbolic.DataDependent{Expr: e}
			}
		}
		return nil, err
	}
	results := tensors(out, nil)
	if r := rules.Of(op); r != nil {
		ds := r(questions{c})
		if c.err != nil {
			return nil, c.err
		}
		if c.take(results, ds) {
			return out, nil
		}
	}
	if c.settle(results, given, below) {
		return out, nil
	}
	for _, e := range given {
		if _, err := k.Env.Specialize(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// take notes ds as the sizes of results, if they are what the operator computed.
func (c *call) take(results []*tensor.Tensor, ds [][]*Expr) bool {
	if ds == nil || len(ds) != len(results) {
		return false
	}
	for i, t := range results {
		if len(ds[i]) != len(t.Shape) {
			return false
		}
		for j, e := range ds[i] {
			if c.trial(e) != t.Shape[j] {
				return false
			}
		}
	}
	for i, t := range results {
		for _, e := range ds[i] {
			c.Env.MarkSize(e)
		}
		c.Set(t, ds[i], nil)
	}
	return true
}

// inputs lists the expressions with symbols among the arguments, in order, each once.
func (c *call) inputs() []*Expr {
	var out []*Expr
	seen := map[string]bool{}
	add := func(e *Expr) {
		if !e.IsConst() && !seen[e.String()] {
			seen[e.String()] = true
			out = append(out, e)
		}
	}
	var walk func(v aten.Value)
	walk = func(v aten.Value) {
		switch v := v.(type) {
		case *tensor.Tensor:
			if v != nil {
				for _, e := range c.Size(v) {
					add(e)
				}
			}
		case Number:
			add(c.Env.Simplify(v.Expression()))
		case []aten.Value:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(c.args)
	return out
}

// plain puts numbers in the place of symbolic ones; with values, tensors of the sizes that they give stand for the symbolic ones.
func (c *call) plain(v aten.Value, values map[string]int64) aten.Value {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || values == nil || !c.Symbolic(v) {
			return v
		}
		shape := make([]int64, len(v.Shape))
		for i, e := range c.Size(v) {
			shape[i] = c.at(e, values)
		}
		return tensor.EmptyFake(v.DType, shape, layout(v, shape))
	case Number:
		if v.Expression().IsBool() { // operators take plain truth values
			return c.decide(v.Expression())
		}
		if v.Expression().IsFloat() {
			return v.Hint()
		}
		return c.at(c.Env.Simplify(v.Expression()), values)
	case []aten.Value:
		out := make([]aten.Value, len(v))
		for i, x := range v {
			out[i] = c.plain(x, values)
		}
		return out
	}
	return v
}

// tensors lists the tensors of a result.
func tensors(v aten.Value, out []*tensor.Tensor) []*tensor.Tensor {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v != nil {
			out = append(out, v)
		}
	case []aten.Value:
		for _, x := range v {
			out = tensors(x, out)
		}
	}
	return out
}

// decide answers a question about sizes; after an error all answers are false.
func (c *call) decide(e *Expr) bool {
	if c.err != nil {
		return false
	}
	b, err := c.Env.DecideSize(e)
	c.err = err
	return b
}

func (c *call) equal(a, b *Expr) bool { return c.decide(symbolic.Cmp(symbolic.OpEq, a, b)) }

// layout is a dense stride for shape whose dimensions lie in memory in the order of t's.
func layout(t *tensor.Tensor, shape []int64) []int64 {
	order := make([]int, len(shape))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return t.Stride[order[i]] > t.Stride[order[j]] })
	out := make([]int64, len(shape))
	acc := int64(1)
	for i := len(order) - 1; i >= 0; i-- {
		d := order[i]
		out[d] = acc
		if t.Stride[d] == 0 {
			out[d] = 0 // an expanded dimension
			continue
		}
		acc *= max(shape[d], 1)
	}
	return out
}
