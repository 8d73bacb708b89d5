package minify

import (
	"context"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
)

// bodyArgs lists the submodules that a higher-order call runs, with the operands that each gets; calls whose operands are
// not passed on one to one (map, scan) have none.
func bodyArgs(gm *fx.GraphModule, n *fx.Node) (names []string, operands [][]fx.Arg) {
	if !higherOrder(n) {
		return nil, nil
	}
	for i, a := range n.Args {
		g, ok := a.(*fx.Node)
		if !ok || g.Op != fx.GetAttr || gm.Submodules[g.Target] == nil {
			continue
		}
		want := len(gm.Submodules[g.Target].Graph.Placeholders())
		rest := n.Args[i+1:]
		var ops []fx.Arg
		for _, r := range rest {
			if l, ok := asList(r); ok && len(l) == want {
				ops = l
				break
			}
		}
		if ops == nil && len(rest) == want {
			ops = rest
		}
		if len(ops) == want {
			names, operands = append(names, g.Target), append(operands, ops)
		}
	}
	return names, operands
}

// inlineSingles puts one body of each higher-order call in the call's place: of a cond whose one branch fails, that branch is left.
func inlineSingles(v *view) []Edit {
	var out []Edit
	for _, n := range v.cur.Module.Graph.Calls() {
		names, _ := bodyArgs(v.cur.Module, n)
		for i := range names {
			out = append(out, Inline{n.Name, i, names[i]})
		}
	}
	return out
}

// inline goes on until no body can take its call's place any more: a body may have higher-order calls of its own.
func inline(ctx context.Context, d *driver) error {
	for {
		won, err := d.first(ctx, seldom, inlineSingles(&d.view))
		if won < 0 || err != nil {
			return err
		}
	}
}

// Inline runs one of the bodies of a higher-order call in place of the call.
type Inline struct {
	Call  string
	Which int // of the bodies
	Body  string
}

func (e Inline) String() string { return "inline " + e.Body + " for " + e.Call }
func (e Inline) reshapes() bool { return true }

func (e Inline) apply(_ *world, s State) (State, bool) {
	gm, _ := s.Module.Clone()
	n, which, body := gm.Graph.Node(e.Call), e.Which, e.Body
	if n == nil {
		return State{}, false
	}
	names, operands := bodyArgs(gm, n)
	if which >= len(names) || names[which] != body {
		return State{}, false
	}
	sub := gm.Submodules[body]
	m := map[*fx.Node]fx.Arg{}
	for i, p := range sub.Graph.Placeholders() {
		m[p] = operands[which][i]
	}
	look := func(x *fx.Node) fx.Arg { return m[x] }
	var results []fx.Arg
	gm.Graph.InsertBefore(n, func() {
		for _, x := range sub.Graph.Nodes {
			switch x.Op {
			case fx.Placeholder:
			case fx.Output:
				for _, r := range outputs(sub.Graph) {
					results = append(results, fx.MapArg(r, look))
				}
			default:
				c := copyNode(x, look)
				if x.Op == fx.GetAttr || x.Op == fx.CallModule {
					c.Target = lift(gm, sub, body, x.Target)
				}
				made := gm.Graph.CreateNode(c.Op, c.Target, c.Args, c.Kwargs, c.Name)
				made.Custom = c.Custom
				m[x] = made
			}
		}
	})
	whole := fx.Arg(fx.Tuple(results))
	if len(results) == 1 {
		if _, list := outputArg(sub.Graph); !list {
			whole = results[0]
		}
	}
	for _, u := range gm.Graph.Users()[n] {
		if u.Target == "operator.getitem" && len(u.Args) == 2 {
			if i, ok := u.Args[1].(int64); ok && i >= 0 && int(i) < len(results) {
				gm.Graph.ReplaceUses(u, results[i])
				gm.Graph.Erase(u)
			}
		}
	}
	gm.Graph.ReplaceUses(n, whole)
	gm.Graph.Erase(n)
	return prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}

// outputArg is what a graph returns, and whether that is a list or tuple.
func outputArg(g *fx.Graph) (fx.Arg, bool) {
	o := g.OutputNode()
	if o == nil || len(o.Args) == 0 {
		return nil, false
	}
	_, list := asList(o.Args[0])
	return o.Args[0], list
}

// lift gives an attribute of a body a name in the module around it.
func lift(gm, sub *fx.GraphModule, body, name string) string {
	to := strings.ReplaceAll(body+"_"+name, ".", "_")
	if v, ok := sub.Attrs[name]; ok {
		set(&gm.Attrs, to, v)
	}
	if v, ok := sub.Modules[name]; ok {
		set(&gm.Modules, to, v)
	}
	if v, ok := sub.Submodules[name]; ok {
		set(&gm.Submodules, to, v)
	}
	for _, l := range sub.Init {
		if l.Name == name {
			l.Name = to
			gm.Init = append(gm.Init, l)
		}
	}
	return to
}

// bodyItems lists the calls in the bodies of higher-order calls, as "body/call".
func bodyItems(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Nodes {
		if sub := v.cur.Module.Submodules[n.Target]; n.Op == fx.GetAttr && sub != nil {
			for _, c := range sub.Graph.Calls() {
				if c.IsCall() && len(c.Inputs()) > 0 {
					out = append(out, n.Target+"/"+c.Name)
				}
			}
		}
	}
	return out
}

// BypassInBodies gives the users of calls in bodies, "body/call", one of their operands that looks the same.
type BypassInBodies struct{ Calls []string }

func (e BypassInBodies) String() string { return "bypass " + list(e.Calls) }

func (e BypassInBodies) apply(w *world, s State) (State, bool) {
	gm, _ := s.Module.Clone()
	changed := false
	by := map[string][]string{}
	var order []string
	for _, it := range e.Calls {
		body, call, _ := strings.Cut(it, "/")
		if by[body] == nil {
			order = append(order, body)
		}
		by[body] = append(by[body], call)
	}
	for _, body := range order {
		sub := gm.Submodules[body]
		if sub == nil {
			continue
		}
		vals := w.bodyLooks(s, body)
		c, _ := sub.Clone()
		for _, call := range by[body] {
			n := c.Graph.Node(call)
			if n == nil {
				continue
			}
			for _, in := range n.Inputs() {
				a, known := vals[call]
				b, too := vals[in.Name]
				if known && too && !alike(a, b) {
					continue
				}
				c.Graph.ReplaceUses(n, in)
				c.Graph.Erase(n)
				changed = true
				break
			}
		}
		c.Graph.EliminateDeadCode(fx.UnknownDoesNot) // as in prune
		gm.Submodules[body] = c
	}
	return State{Module: gm, Inputs: s.Inputs, Config: s.Config}, changed
}

// bodyLooks is what the values in a body look like, as far as meta functions tell.
func (w *world) bodyLooks(s State, body string) map[string]any {
	vals := map[string]any{}
	for _, n := range s.Module.Graph.Calls() {
		names, operands := bodyArgs(s.Module, n)
		for i, name := range names {
			if name != body {
				continue
			}
			ins := make([]any, len(operands[i]))
			for j, a := range operands[i] {
				ins[j] = a
				if x, ok := a.(*fx.Node); ok {
					ins[j] = w.meta(s, x)
				}
			}
			ctx := context.Background() // meta functions do not wait
			_, _ = fx.RunObserved(ctx, s.Module.Submodules[body], ins, interp.Aten(ctx, aten.Fake), func(n *fx.Node, v any) (any, error) {
				vals[n.Name] = fx.Fake(v)
				return fx.Fake(v), nil
			})
			return vals
		}
	}
	return vals
}

// regions lists the calls that begin or end a region of autocast or of a gradient mode, an end with its beginning.
func regionItems(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Calls() {
		switch opName(n) {
		case "_enter_autocast", "_set_grad_enabled", "set_grad_enabled", "_enter_inference_mode":
			out = append(out, n.Name)
		}
	}
	return out
}

// DropRegions drops regions of autocast or of a gradient mode: the named calls, which begin or end one, and those that use them.
type DropRegions struct{ Calls []string }

func (e DropRegions) String() string { return "no region " + list(e.Calls) }
func (e DropRegions) reshapes() bool { return true }

func (e DropRegions) apply(_ *world, s State) (State, bool) {
	in := setOf(e.Calls)
	gm, _ := s.Module.Clone()
	changed := false
	users := gm.Graph.Users()
	for _, n := range gm.Graph.Calls() {
		if in[n.Name] {
			gm.Graph.Erase(users[n]...)
			gm.Graph.Erase(n)
			changed = true
		}
	}
	if !changed {
		return State{}, false
	}
	return prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}

// functional has the functions of modules without parameters.
var functional = map[string]string{
	"ReLU": "torch.nn.functional.relu", "ReLU6": "torch.nn.functional.relu6", "GELU": "torch.nn.functional.gelu", "SiLU": "torch.nn.functional.silu",
	"Mish": "torch.nn.functional.mish", "ELU": "torch.nn.functional.elu", "LeakyReLU": "torch.nn.functional.leaky_relu", "Hardswish": "torch.nn.functional.hardswish",
	"Sigmoid": "torch.sigmoid", "Tanh": "torch.tanh", "Softplus": "torch.nn.functional.softplus", "Softmax": "torch.softmax", "LogSoftmax": "torch.log_softmax", "Flatten": "torch.flatten",
}

func moduleItems(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Calls() {
		if n.Op == fx.CallModule && functional[moduleClass(v.cur.Module, n)] != "" {
			out = append(out, n.Name)
		}
	}
	return out
}

func moduleClass(gm *fx.GraphModule, n *fx.Node) string {
	class, _, _ := strings.Cut(gm.Modules[n.Target].Text, "(")
	return class[strings.LastIndexByte(class, '.')+1:]
}

// Unwrap calls a function in place of a module without parameters.
type Unwrap struct{ Calls []string }

func (e Unwrap) String() string { return "a function for module " + list(e.Calls) }

func (e Unwrap) apply(_ *world, s State) (State, bool) {
	in := setOf(e.Calls)
	gm, _ := s.Module.Clone()
	changed := false
	for _, n := range gm.Graph.Calls() {
		class := moduleClass(gm, n)
		if n.Op != fx.CallModule || !in[n.Name] || functional[class] == "" {
			continue
		}
		var kwargs []fx.Kwarg
		if a, err := fx.ParseArg("dict" + strings.TrimPrefix(gm.Modules[n.Target].Text, class)); err == nil {
			if c, ok := a.(*fx.Node); ok && class != "GELU" {
				kwargs = c.Kwargs
			}
		}
		if class == "Softmax" || class == "LogSoftmax" {
			if kwargs == nil {
				kwargs = []fx.Kwarg{{Name: "dim", Val: int64(-1)}}
			}
		}
		n.Op, n.Target, n.Kwargs = fx.CallFunction, functional[class], kwargs
		changed = true
	}
	return State{Module: module(gm, gm.Graph), Inputs: s.Inputs, Config: s.Config}, changed
}
