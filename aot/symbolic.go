package aot

import (
	"errors"
	"fmt"

	"whittle/capture/fx"
	"whittle/capture/sizes"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Sizes say how the sizes among a function's inputs follow from symbols.
type Sizes struct {
	Env     *symbolic.Env
	Symbols []string // each is itself an input of the function, somewhere
	// Unknown are symbols for numbers that only a run knows: Counted is the one of them that the operator that runs now brings, "" for none, and Asserted the
	// expression that an assertion that runs now is about.
	Unknown  []string
	Counted  func() string
	Asserted func() *symbolic.Expr
	// Inputs are the function's inputs for given values of the symbols: integers are the symbols' own inputs.
	Inputs func(values map[string]int64) ([]Input, error)
	// Known are expressions that the function computes.
	Known []*symbolic.Expr
	// Reals are the floats that it computes.
	Reals []*symbolic.Expr
	// Found is told the sizes and strides of each tensor of the graph; nil => nobody.
	Found func(t *tensor.Tensor, size, stride []*symbolic.Expr)
}

// Graphs are a function's graphs as they are for all sizes: integers that depend on the sizes are nodes.
type Graphs struct {
	Joint, Forward, Backward *fx.GraphModule // nil where nothing asks for gradients
	Inference                *fx.GraphModule // nil where something does
	// Numbers is how many numbers the forward pass leaves for the backward pass.
	Numbers int
	sizes   map[*tensor.Tensor]extents
}

// extents are the sizes and strides of a tensor.
type extents struct{ size, stride []*symbolic.Expr }

// probes is how many other sizes a function is traced at.
const probes = 4

// ForAllSizes is the graphs of f, as CompileForAllSizes makes them. Nothing is compiled.
func ForAllSizes(f Function, z Sizes, opt Options) (*Graphs, error) {
	u, err := unify(f, z, &opt)
	if err != nil {
		return nil, err
	}
	return u.graphs(&opt)
}

// NotOneGraph says that a function has other graphs at other sizes, as far as is known: it has to be compiled for each.
type NotOneGraph struct{ Err error }

func (e *NotOneGraph) Error() string { return "not one graph for all sizes: " + e.Err.Error() }

// Unwrap implements errors.Unwrap.
func (e *NotOneGraph) Unwrap() error { return e.Err }

// CompileForAllSizes is Compile for inputs with symbolic sizes: what comes back runs for all of them, with numbers where the symbols are. The error
// is a *NotOneGraph where there is none such.
func CompileForAllSizes(f Function, z Sizes, opt Options) (*Compiled, error) {
	u, err := unify(f, z, &opt)
	if err != nil {
		return nil, err
	}
	j := u.j
	given := make([]aten.Value, len(j.Inputs))
	for i, in := range j.Inputs {
		given[i] = in.Value
	}
	written := j.Written()
	if opt.wrapped(given) || len(written) > 0 && (shared(given, written) != nil || repeated(given) != nil) {
		return nil, &NotOneGraph{errors.New("inputs share memory, and are written")}
	}
	if err := u.outputs(); err != nil {
		return nil, &NotOneGraph{err}
	}
	c := &Compiled{opt: opt, f: f, mutated: written, joint: j, sizes: u}
	return c, c.compileGraphs()
}

// unify traces f at the sizes seen and at some others, and explains by the symbols where the traces differ. Formulas and decompositions compute
// with plain sizes; what all of them made of a size shows in the numbers that change with it. The error is a *NotOneGraph where the traces are no one
// graph, or a number in them cannot be explained.
func unify(f Function, z Sizes, opt *Options) (*unifier, error) {
	return unifyTraces(z, func(values map[string]int64, attempt int) (*Joint, error) {
		ins, err := z.Inputs(values)
		if err != nil {
			return nil, err
		}
		if len(z.Unknown) > 0 {
			z.guess(values, attempt)
			o := *opt
			o.unknown = &unknowns{values, &z}
			return trace(f, ins, &o)
		}
		return trace(f, ins, opt)
	})
}

// TraceForAllSizes makes one graph of those that trace gives for values of the symbols: where they have other numbers, nodes compute these. The first
// inputs of each are the symbols' own, in order. The error is a *NotOneGraph where they are no one graph.
func TraceForAllSizes(z Sizes, trace func(values map[string]int64) (*fx.GraphModule, error)) (*fx.GraphModule, error) {
	u, err := unifyTraces(z, func(values map[string]int64, _ int) (*Joint, error) {
		gm, err := trace(values)
		return &Joint{GM: gm}, err
	})
	if err != nil {
		return nil, err
	}
	return u.j.GM, nil
}

// unifyTraces is unify for what at traces, at values of the symbols that it may add to, in a numbered attempt.
func unifyTraces(z Sizes, at func(values map[string]int64, attempt int) (*Joint, error)) (*unifier, error) {
	hints := map[string]int64{}
	for _, s := range z.Symbols {
		hints[s] = z.Env.HintInt(symbolic.Sym(s))
	}
	j, err := at(hints, 0)
	if err != nil && len(z.Unknown) > 0 {
		return nil, &NotOneGraph{err} // a guess may be what does not fit
	} else if err != nil {
		return nil, err
	}
	u := &unifier{j: j, env: z.Env, values: []map[string]int64{hints}, exprs: map[string]fx.Arg{}, sizes: map[*tensor.Tensor]extents{}, inputs: map[string]int{}, views: map[int]extents{}}
	var refused error
	for attempt := 0; attempt < 4*probes && len(u.others) < probes; attempt++ {
		values, err := z.others(hints, attempt)
		if err != nil || !z.Env.Allows(values) {
			continue
		}
		o, err := at(values, attempt+1)
		if err == nil {
			err = alike(j, o)
		}
		if err != nil {
			refused = err
			continue
		}
		u.others, u.values = append(u.others, o), append(u.values, values)
	}
	if len(u.others) < probes {
		return nil, &NotOneGraph{errors.Join(errors.New("no other sizes have it"), refused)}
	}
	if err := u.explainAll(z); err != nil {
		return nil, &NotOneGraph{err}
	}
	return u, nil
}

// others are sizes to trace at: in turns multiples of those seen, so that what has to divide does, and odd ones by even ones. What is known to
// follow from others does.
func (z *Sizes) others(hints map[string]int64, attempt int) (map[string]int64, error) {
	multiples := []int64{3, 5, 7, 11, 13, 17, 19}
	free := map[string]int64{}
	for i, s := range z.Symbols {
		m := multiples[(attempt+i)%len(multiples)]
		free[s] = hints[s] * m
		if attempt%2 == 1 {
			free[s] = hints[s] + m + 2*int64(i)
		}
	}
	values := map[string]int64{}
	for _, s := range z.Symbols {
		n, err := symbolic.EvalInt(z.Env.Simplify(symbolic.Sym(s)).String(), free)
		if err != nil {
			return nil, err
		}
		values[s] = n
	}
	return values, nil
}

// guess puts numbers in the place of those that only a run knows: within their range where that leaves a choice. What a trace does with a count does
// not ask whether so many can be found.
func (z *Sizes) guess(values map[string]int64, attempt int) {
	primes := []int64{37, 53, 71, 97, 113, 139, 163, 191, 223, 241, 269, 293, 317}
	for i, s := range z.Unknown {
		if !z.Env.Unknown(symbolic.Sym(s)) { // an input holds it
			values[s] = z.Env.HintInt(symbolic.Sym(s)) * []int64{1, 3, 5, 7}[attempt%4]
			if attempt%2 == 1 {
				values[s] += int64(attempt + i)
			}
			continue
		}
		r := z.Env.Bound(symbolic.Sym(s))
		values[s] = primes[(attempt+3*i)%len(primes)]
		if least := max(r.Lo, 2); values[s] > r.Hi && r.Hi-least >= int64(len(primes)+3*i) {
			values[s] = r.Hi - int64(attempt+3*i)
		} else if values[s] < r.Lo {
			values[s] += r.Lo
		}
	}
}

// unknowns are what stands for the numbers in a trace that only a run knows.
type unknowns struct {
	values map[string]int64
	sizes  *Sizes
}

// result is what an operator gives whose result depends on data; nil for one that is not known.
func (n *unknowns) result(op *aten.Op, args []aten.Value) aten.Value {
	count, ok := n.values[n.sizes.Counted()]
	if !ok {
		return nil
	}
	if op.Sig().Name == "_local_scalar_dense" {
		return count
	}
	env := symbolic.NewEnv()
	env.Stand = count
	k := sizes.New(env)
	k.Unbacked = true
	v, err := k.Dispatch(op, args, func(args []aten.Value) (aten.Value, error) { return aten.Fake.Dispatch(op, args) })
	if err != nil {
		return nil
	}
	return v
}

// alike is an error where two traces are not the same but for numbers.
func alike(one, other *Joint) error {
	a, b := one.GM.Graph, other.GM.Graph
	if len(a.Nodes) != len(b.Nodes) || len(one.Outputs) != len(other.Outputs) || len(one.Mutated) != len(other.Mutated) {
		return fmt.Errorf("%d nodes, and %d at other sizes", len(a.Nodes), len(b.Nodes))
	}
	for i, n := range a.Nodes {
		m := b.Nodes[i]
		if n.Op != m.Op || n.Target != m.Target || n.Name != m.Name || len(n.Args) != len(m.Args) || len(n.Kwargs) != len(m.Kwargs) {
			return fmt.Errorf("%s is %s at other sizes", n.Name, m.Target)
		}
		some, _ := n.Val.([]any)
		if others, _ := m.Val.([]any); len(some) != len(others) {
			return fmt.Errorf("%s has %d results, and %d at other sizes", n.Name, len(some), len(others))
		}
	}
	return nil
}

// graphs cuts the joint graph as Compile does.
func (u *unifier) graphs(opt *Options) (*Graphs, error) {
	out := &Graphs{sizes: u.sizes}
	if u.j.Tangents == 0 {
		u.j.asInference()
		out.Inference = u.j.GM
		return out, deadcode(u.j.GM.Graph)
	}
	if err := opt.simplify(u.j); err != nil {
		return nil, err
	}
	out.Joint, _ = u.j.GM.Clone()
	parts, err := opt.cut(u.j)
	if err != nil {
		return nil, err
	}
	out.Forward, out.Backward, out.Numbers = parts.Forward, parts.Backward, parts.numbers()
	return out, nil
}

// Describe is fx.Described with sizes as expressions.
func (g *Graphs) Describe(n *fx.Node) string {
	t, ok := n.Val.(*tensor.Tensor)
	if !ok || t == nil {
		return fx.Described(n.Val)
	}
	d := g.sizes[t]
	return t.DType.Short() + symbolic.List(d.size) + symbolic.List(d.stride) + "cpu"
}
