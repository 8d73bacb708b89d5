package minify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// static is the check that keeps wrong candidates from an engine.
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
		idle = idle && allocates(n)
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

// allocates reports whether a call gives memory that nothing was written to.
func allocates(n *fx.Node) bool {
	switch opName(n) {
	case "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "empty_quantized":
		return n.Op != fx.CallModule
	}
	return false
}

// shapeOnly has operators whose result does not depend on the elements of their first argument.
var shapeOnly = map[string]bool{"zeros_like": true, "ones_like": true, "full_like": true, "rand_like": true, "randn_like": true, "randint_like": true,
	"new_zeros": true, "new_ones": true, "new_full": true, "sym_size": true, "sym_numel": true, "sym_stride": true, "sym_storage_offset": true, "size": true,
	"fill": true, "copy": true, "zero": true}

// unset finds a returned value that is computed from uninitialised memory, nil for none.
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
		name := opName(n)
		if n.IsMutating() && name != "setitem" { // copy_, fill_, normal_ ...: what it wrote to holds numbers now
			if ins := n.Inputs(); len(ins) > 0 {
				clean(dirty, ins[0])
			}
			continue
		}
		if shapeOnly[name] {
			if name == "copy" && len(n.Args) > 1 {
				if src, ok := n.Args[1].(*fx.Node); ok {
					dirty[n] = dirty[src]
				}
			}
			continue
		}
		dirty[n] = allocates(n)
		if !dirty[n] {
			n.WalkInputs(func(in *fx.Node) { dirty[n] = dirty[n] || dirty[in] })
		}
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
