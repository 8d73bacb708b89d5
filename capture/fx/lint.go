package fx

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"whittle/kernels/tensor"
)

// Lint checks the invariants of a graph: order, names, argument types, arity, one output at the end.
func (g *Graph) Lint() error { return (&GraphModule{Graph: g}).lint(false) }

// Lint checks the graph, and that what get_attr and call_module nodes name is there.
func (gm *GraphModule) Lint() error { return gm.lint(true) }

// lint walks the graph once, in order, so that "defined before" is "seen already". It stops at the first complaint: what follows one is mostly
// its consequence. Without module, names of attributes are not looked up, as a bare graph has none.
func (gm *GraphModule) lint(module bool) error {
	if gm.Graph == nil {
		return errors.New("fx: module without a graph")
	}
	seen := map[*Node]bool{}
	names := map[string]bool{}
	params := map[string]bool{}
	for i, n := range gm.Graph.Nodes {
		bad := func(format string, args ...any) error {
			return fmt.Errorf("fx: node %d (%s %s): %s", i, n.Op, n.Name, fmt.Sprintf(format, args...))
		}
		if !isIdent(n.Name) || isKeyword(n.Name) {
			return bad("%q is no name", n.Name)
		}
		if names[n.Name] {
			return bad("the name is there twice")
		}
		names[n.Name] = true
		if seen[n] {
			return bad("the node is there twice")
		}
		var err error
		n.WalkInputs(func(in *Node) {
			if in == nil {
				err = bad("a nil node among the arguments")
			} else if !seen[in] {
				err = bad("uses %s, which is not defined before it", in.Name)
			} else if in.Op == Output {
				err = bad("uses the output")
			}
		})
		if err != nil {
			return err
		}
		for _, a := range n.Args {
			if err := checkArg(a); err != nil {
				return bad("%v", err)
			}
		}
		kws := map[string]bool{}
		for _, kw := range n.Kwargs {
			if err := checkArg(kw.Val); err != nil {
				return bad("%v", err)
			}
			if !isIdent(kw.Name) || kws[kw.Name] {
				return bad("keyword %q", kw.Name)
			}
			kws[kw.Name] = true
		}
		switch n.Op {
		case Placeholder:
			if len(n.Args) > 1 || len(n.Kwargs) > 0 {
				return bad("a placeholder has one default at most")
			}
			if params[n.Target] || !isIdent(strings.TrimLeft(n.Target, "*")) {
				return bad("target %q", n.Target)
			}
			params[n.Target] = true
		case GetAttr:
			if len(n.Args)+len(n.Kwargs) > 0 {
				return bad("a get_attr has no arguments")
			}
			if module && !gm.has(n.Target) {
				return bad("the module has no attribute %q", n.Target)
			}
		case CallModule:
			if module && !gm.has(n.Target) {
				return bad("the module has no submodule %q", n.Target)
			}
		case CallMethod:
			if len(n.Args) == 0 {
				return bad("a method call needs its receiver")
			}
		case CallFunction:
			if n.Target == "" {
				return bad("no target")
			}
		case Output:
			if len(n.Args) != 1 || len(n.Kwargs) > 0 {
				return bad("the output has one argument")
			}
			if i != len(gm.Graph.Nodes)-1 {
				return bad("nodes follow the output")
			}
		default:
			return bad("unknown kind")
		}
		seen[n] = true
	}
	if gm.Graph.OutputNode() == nil {
		return errors.New("fx: the graph has no output")
	}
	for _, name := range sortedKeys(gm.Submodules) {
		if err := gm.Submodules[name].lint(module); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// has reports whether the module has an attribute or submodule of that qualified name.
func (gm *GraphModule) has(target string) bool {
	if _, ok := gm.Attrs[target]; ok {
		return true
	}
	if _, ok := gm.Modules[target]; ok {
		return true
	}
	if _, ok := gm.Submodules[target]; ok {
		return true
	}
	for _, l := range gm.Init {
		if l.Name == target || strings.HasPrefix(target, l.Name+".") {
			return true
		}
	}
	for name := range gm.Modules {
		if strings.HasPrefix(target, name+".") {
			return true
		}
	}
	return false
}

// checkArg holds an argument to the closed set of types that Arg names. A tensor, say, is none: it has to be a get_attr.
func checkArg(a Arg) error {
	switch a := a.(type) {
	case nil, *Node, bool, int64, *big.Int, float64, string, complex128, tensor.DType, tensor.Device, tensor.Layout,
		tensor.MemoryFormat, Range, Ellipsis, SymInt, FnRef:
		return nil
	case Slice:
		return errors.Join(checkArg(a.Start), checkArg(a.Stop), checkArg(a.Step))
	case List:
		return checkArgs(a)
	case Tuple:
		return checkArgs(a)
	case Dict:
		for _, it := range a {
			if err := errors.Join(checkArg(it.Key), checkArg(it.Val)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%T is no argument type", a)
}

// checkArgs is checkArg for each of a list.
func checkArgs(as []Arg) error {
	for _, a := range as {
		if err := checkArg(a); err != nil {
			return err
		}
	}
	return nil
}
