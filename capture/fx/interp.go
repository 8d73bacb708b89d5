package fx

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"whittle/kernels/tensor"
)

// A Resolver computes one call: n's operands have been evaluated, lists and tuples to []any, slices to
// Slice with evaluated bounds, submodules to *GraphModule. Everything else is as in aten.Value.
type Resolver func(n *Node, args []any, kwargs map[string]any) (any, error)

// NodeError says which node an execution stopped at.
type NodeError struct {
	Node *Node
	Err  error
}

// Error names the statement that failed, as PyTorch does: "while running ...".
func (e *NodeError) Error() string { return fmt.Sprintf("while running %s: %v", e.Node, e.Err) }

// Unwrap gives the error that the resolver returned.
func (e *NodeError) Unwrap() error { return e.Err }

// String is the node's statement as printed in a forward.
func (n *Node) String() string {
	var b strings.Builder
	writeStmt(&b, n)
	return b.String()
}

// Run executes a graph on values and returns its result; tuples and lists come back as []any. A
// value is dropped as soon as its last user has run.
func Run(ctx context.Context, gm *GraphModule, inputs []any, resolve Resolver) (any, error) {
	return RunObserved(ctx, gm, inputs, resolve, nil)
}

// RunObserved is Run, and shows every node's value to observe as it is made. observe may replace a value by
// returning another; an error from it ends the run.
func RunObserved(ctx context.Context, gm *GraphModule, inputs []any, resolve Resolver, observe func(n *Node, v any) (any, error)) (any, error) {
	g := gm.Graph
	last := lastUses(g)
	env := make(map[*Node]any, len(g.Nodes))
	next := 0
	for _, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var v any
		var err error
		switch n.Op {
		case Placeholder:
			switch {
			case strings.HasPrefix(n.Target, "*"):
				return nil, &NodeError{n, fmt.Errorf("variable arguments are not supported")}
			case next < len(inputs):
				v = inputs[next]
			case len(n.Args) == 1:
				v, err = evalArg(n.Args[0], env)
			default:
				err = fmt.Errorf("forward takes %d inputs, %d given", len(g.Placeholders()), len(inputs))
			}
			next++
		case GetAttr:
			v, err = gm.attr(n.Target)
		case Output:
			v, err := evalArg(n.Args[0], env)
			if err != nil {
				return nil, &NodeError{n, err}
			}
			if next < len(inputs) {
				return nil, fmt.Errorf("fx: forward takes %d inputs, %d given", next, len(inputs))
			}
			return v, nil
		default:
			v, err = call(n, env, resolve)
		}
		if err != nil {
			return nil, &NodeError{n, err}
		}
		if observe != nil {
			if v, err = observe(n, v); err != nil {
				return nil, &NodeError{n, err}
			}
		}
		env[n] = v
		for _, d := range last[n] {
			delete(env, d)
		}
	}
	return nil, fmt.Errorf("fx: the graph has no output")
}

// call puts the values of nodes into the arguments of n, and asks the resolver for the rest.
func call(n *Node, env map[*Node]any, resolve Resolver) (any, error) {
	args := make([]any, len(n.Args))
	for i, a := range n.Args {
		v, err := evalArg(a, env)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	var kwargs map[string]any
	for _, kw := range n.Kwargs {
		v, err := evalArg(kw.Val, env)
		if err != nil {
			return nil, err
		}
		if kwargs == nil {
			kwargs = map[string]any{}
		}
		kwargs[kw.Name] = v
	}
	return resolve(n, args, kwargs)
}

// attr is the value of a get_attr.
func (gm *GraphModule) attr(target string) (any, error) {
	if t, ok := gm.Attrs[target]; ok && t != nil {
		return t, nil
	}
	if sub, ok := gm.Submodules[target]; ok {
		return sub, nil
	}
	if m, ok := gm.Modules[target]; ok {
		return m, nil
	}
	return nil, fmt.Errorf("the module has no value for %q", target)
}

// items are the numbers of a range.
func (r Range) items() []any {
	out := []any{}
	for i := r.Start; r.Step > 0 && i < r.Stop || r.Step < 0 && i > r.Stop; i += r.Step {
		out = append(out, i)
	}
	return out
}

// evalArg puts the values of nodes in their places. Lists become []any, as tuples do: the resolver cannot tell them apart, nor can an
// operator.
func evalArg(a Arg, env map[*Node]any) (any, error) {
	seq := func(as []Arg) (any, error) {
		out := make([]any, len(as))
		for i, x := range as {
			v, err := evalArg(x, env)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
	switch a := a.(type) {
	case *Node:
		v, ok := env[a]
		if !ok {
			return nil, fmt.Errorf("%s has no value here", a.Name)
		}
		return v, nil
	case List:
		return seq(a)
	case Tuple:
		return seq(a)
	case Slice:
		v, err := seq([]Arg{a.Start, a.Stop, a.Step})
		if err != nil {
			return nil, err
		}
		p := v.([]any)
		return Slice{p[0], p[1], p[2]}, nil
	case Range:
		return a.items(), nil
	case Dict:
		out := make(Dict, len(a))
		for i, it := range a {
			k, err := evalArg(it.Key, env)
			if err != nil {
				return nil, err
			}
			v, err := evalArg(it.Val, env)
			if err != nil {
				return nil, err
			}
			out[i] = DictItem{k, v}
		}
		return out, nil
	case SymInt:
		return a.Hint, nil
	case *big.Int:
		return nil, fmt.Errorf("the integer %s is too large", a)
	}
	return a, nil
}

// Fake turns the tensors in a value into fake ones of the same metadata; other values stay.
func Fake(v any) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || v.Fake {
			return v
		}
		return tensor.FakeLike(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = Fake(x)
		}
		return out
	}
	return v
}
