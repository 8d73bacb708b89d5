package minify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// static is the check that keeps wrong candidates from an engine: it is asked of each, and costs microseconds where a question costs seconds. It
// refuses what cannot be the failure that is looked for: an empty or broken graph, sizes that do not fit together (by meta functions that were
// seen to agree with the engine), sizes that stand for nothing any more, and results that are uninitialised memory. What it does not
// understand it lets pass.
func (v *view) static(ctx context.Context, s State) error {
	g := s.Module.Graph
	calls := g.Calls()
	if len(calls) == 0 {
		return errors.New("no call is left")
	}
	if err := g.Lint(); err != nil {
		return err
	}
	idle := true
	for _, n := range calls {
		idle = idle && n.IsUninitialised(fx.UnknownDoesNot)
	}
	if idle {
		return errors.New("nothing but uninitialised memory is left")
	}
	if name := v.unbound(s); name != "" {
		return fmt.Errorf("no tensor has the size %s any more", name)
	}
	if v.accuracy() {
		if n := unset(g); n != nil {
			return &fx.NodeError{Node: n, Err: errors.New("uninitialised memory is returned")}
		}
	}
	if v.check != nil {
		return v.check(ctx, s)
	}
	if v.w.gen == 0 {
		return nil
	}
	_, _, err := v.w.propagate(ctx, s)
	return err
}

// unbound is an input that stands for a size of the start's tensors, and for no size of those that are left; "" for none. A compiler that knows
// it as their size fails in ways of its own without them. 0 and 1 are no symbols to it.
func (v *view) unbound(s State) string {
	for i, p := range s.Module.Graph.Placeholders() {
		n, ok := s.Inputs[i].Value.(int64)
		if ok && n > 1 && v.sizes[p.Name] && !isSize(n, s.Inputs) {
			return p.Name
		}
	}
	return ""
}

// boundSizes lists the inputs that are numbers and stand for sizes of tensors among the inputs. As a tracer does, it goes by the value.
func boundSizes(s State) map[string]bool {
	out := map[string]bool{}
	for i, p := range s.Module.Graph.Placeholders() {
		if v, ok := s.Inputs[i].Value.(int64); ok && isSize(v, s.Inputs) {
			out[p.Name] = true
		}
	}
	return out
}

func isSize(v int64, inputs []Input) bool {
	return slices.ContainsFunc(inputs, func(in Input) bool {
		t := isTensor(in.Value)
		return t != nil && slices.Contains(t.Shape, v)
	})
}

// accuracy reports whether the failure looked for is one of wrong results.
func (v *view) accuracy() bool {
	return strings.Contains(strings.ToLower(v.want.Stage+" "+v.want.Type), "accuracy")
}

// opName is an operator's name without namespace and overload: aten.empty_like.default => empty_like.
func opName(n *fx.Node) string {
	parts := strings.Split(n.Target, ".")
	if n.Op == fx.CallFunction && fx.IsOverload(n.Target) {
		return parts[1]
	}
	return parts[len(parts)-1]
}

// unset finds a returned value that is computed from uninitialised memory, nil for none: eager and compiled differ there without any fault. What is
// written to as a whole is clean; what only reads sizes or dtypes does not read the memory.
func unset(g *fx.Graph) *fx.Node {
	dirty := map[*fx.Node]bool{}
	for _, n := range g.Nodes {
		if n.Op == fx.Output {
			var bad *fx.Node
			n.WalkInputs(func(in *fx.Node) {
				if dirty[in] {
					bad = in
				}
			})
			return bad
		}
		if !n.IsCall() {
			continue
		}
		f, _ := n.Facts()                   // what is not known reads all that it is given
		if n.Target != "operator.setitem" { // which writes a part
			for _, a := range f.Writes { // copy_, fill_, normal_ ...: what it wrote to holds numbers now
				if w, ok := a.(*fx.Node); ok {
					clean(dirty, w)
				}
			}
		}
		dirty[n] = f.Effect == aten.Uninitialised
		n.WalkInputs(func(in *fx.Node) { dirty[n] = dirty[n] || dirty[in] && !slices.Contains(f.Metadata, fx.Arg(in)) })
	}
	return nil
}

// clean forgets that n, and what n is a view of, was not written to.
func clean(dirty map[*fx.Node]bool, n *fx.Node) {
	for n != nil && dirty[n] {
		dirty[n] = false
		ins := n.Inputs()
		n = nil
		if len(ins) > 0 {
			n = ins[0]
		}
	}
}

// isTensor is v as a tensor, nil if it is none.
func isTensor(v any) *tensor.Tensor {
	t, _ := v.(*tensor.Tensor)
	return t
}
