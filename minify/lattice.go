package minify

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// A becomes says that a call may become a simpler one. Candidates whose types do not fit are refused by the static check or by
// the engine, so that a row need not say when it applies.
type becomes struct {
	from, to string // targets; ".name" is a method
	args     string // the arguments that stay: positions, and names of keyword arguments
}

// lattice, most specific to simplest. No chain of rows leads back: a test checks it.
var lattice = expandRows([]rows{
	// what normalises is first of all a pointwise operator
	{"aten._softmax aten._safe_softmax", "aten.exp", "0"},
	{"aten._log_softmax", "aten.log", "0"},
	{"torch.softmax torch.nn.functional.softmax", "torch.exp", "0"},
	{"torch.log_softmax torch.nn.functional.log_softmax", "torch.log", "0"},
	{".softmax", ".exp", "0"},
	{".log_softmax", ".log", "0"},
	{"torch.nn.functional.layer_norm torch.layer_norm", "torch.mul", "0,2"},
	{"torch.nn.functional.layer_norm torch.layer_norm torch.nn.functional.batch_norm torch.batch_norm torch.nn.functional.group_norm torch.nn.functional.instance_norm", "torch.relu", "0"},
	// pointwise
	{"aten.gelu aten.silu aten.mish aten.elu aten.hardswish aten.hardsigmoid aten.hardtanh aten.leaky_relu aten.softplus aten.log_sigmoid", "aten.sigmoid", "0"},
	{"aten.tanh aten.erf aten.erfc aten.sin aten.cos aten.tan aten.asin aten.acos aten.atan aten.sinh aten.cosh aten.exp2 aten.expm1 aten.log aten.log1p aten.log2 aten.log10 " +
		"aten.sqrt aten.rsqrt aten.reciprocal aten.digamma aten.lgamma aten.sign aten.floor aten.ceil aten.round aten.trunc aten.sigmoid aten.clamp aten.clamp_min aten.clamp_max " +
		"aten.square aten.cumsum aten.cumprod aten.logcumsumexp aten.exp", "aten.relu", "0"},
	{"torch._C._nn.gelu torch.nn.functional.gelu torch.nn.functional.silu torch.nn.functional.mish torch.nn.functional.elu torch.nn.functional.hardswish torch.nn.functional.hardtanh " +
		"torch.nn.functional.leaky_relu torch.nn.functional.softplus torch.nn.functional.logsigmoid torch.nn.functional.dropout torch.cumsum torch.cumprod torch.exp torch.log torch.tanh torch.sigmoid " +
		"torch.sin torch.cos torch.sqrt torch.rsqrt torch.erf torch.clamp torch.nn.functional.relu6", "torch.relu", "0"},
	{".cumsum .cumprod .exp .log .tanh .sigmoid .sin .cos .sqrt .rsqrt .clamp .float", ".relu", "0"},
	{"aten.div.Tensor aten.sub.Tensor aten.pow.Tensor_Tensor aten.pow.Tensor_Scalar aten.atan2.default aten.fmod.Tensor aten.remainder.Tensor aten.maximum.default aten.minimum.default aten.hypot.default", "aten.mul.Tensor", "0,1"},
	{"aten.mul.Tensor", "aten.add.Tensor", "0,1"},
	{"operator.truediv operator.sub operator.pow operator.floordiv operator.mod", "operator.mul", "0,1"},
	{"torch.div torch.sub torch.pow torch.maximum torch.minimum torch.true_divide torch.remainder", "torch.mul", "0,1"},
	{".div .sub .pow .true_divide", ".mul", "0,1"},
	{"operator.mul", "operator.add", "0,1"},
	{"torch.mul", "torch.add", "0,1"},
	{".mul", ".add", "0,1"},
	{"aten.where.self", "aten.mul.Tensor", "1,2"},
	{"torch.where", "torch.mul", "1,2"},
	{"aten.ge.Tensor aten.lt.Tensor aten.le.Tensor aten.eq.Tensor aten.ne.Tensor", "aten.gt.Tensor", "0,1"},
	{"aten.ge.Scalar aten.lt.Scalar aten.le.Scalar aten.eq.Scalar aten.ne.Scalar", "aten.gt.Scalar", "0,1"},
	{"aten.addcmul.default aten.addcdiv.default", "aten.mul.Tensor", "1,2"},
	// products
	{"aten.baddbmm.default", "aten.bmm.default", "1,2"},
	{"aten.addmm.default", "aten.mm.default", "1,2"},
	{"aten.mm.default aten.bmm.default aten.matmul.default aten.convolution.default", "aten.mul.Tensor", "0,1"},
	{"operator.matmul", "operator.mul", "0,1"},
	{"torch._C._nn.linear torch.nn.functional.linear torch.matmul torch.mm torch.bmm torch.conv1d torch.conv2d torch.conv3d torch.nn.functional.conv1d torch.nn.functional.conv2d", "torch.mul", "0,1"},
	{".matmul .mm .bmm", ".mul", "0,1"},
	{"torch._C._nn.scaled_dot_product_attention torch.nn.functional.scaled_dot_product_attention", "torch.matmul", "0,1"},
	{"aten.scaled_dot_product_attention.default", "aten.matmul.default", "0,1"},
	// reductions
	{"aten.var.correction aten.std.correction aten.var.dim aten.std.dim aten.mean.dim aten.logsumexp.default aten.nansum.default", "aten.sum.dim_IntList", "0,1,keepdim"},
	{"aten.mean.default aten.prod.default aten.var.default aten.std.default", "aten.sum.default", "0"},
	{"aten.sum.dim_IntList", "aten.amax.default", "0,1,2"},
	{"torch.var torch.std torch.mean torch.logsumexp torch.prod", "torch.sum", "0,1,keepdim=,dim="},
	{"torch.sum", "torch.amax", "0,1,keepdim=,dim="},
	{".var .std .mean .prod", ".sum", "0,1,keepdim=,dim="},
	{".sum", ".amax", "0,1,keepdim=,dim="},
	{"aten.max_pool2d_with_indices.default aten.adaptive_max_pool2d.default", "aten.avg_pool2d.default", "0,1"},
	{"torch.nn.functional.max_pool2d", "torch.nn.functional.avg_pool2d", "0,1"},
	{"aten.argmax.default aten.argmin.default", "aten.amax.default", "0,1,2"},
	// reading and writing by index
	{"aten.slice_scatter.default aten.select_scatter.default aten.index_put.default aten.scatter.src aten.scatter_add.default aten.masked_fill.Scalar aten.masked_fill.Tensor", "aten.clone.default", "0"},
	{"aten.gather.default aten.index_select.default", "aten.mul.Tensor", "0,2"},
})

// rows is several becomes with one result.
type rows struct{ from, to, args string }

func expandRows(rs []rows) []becomes {
	full := func(t string) string {
		if strings.HasPrefix(t, "aten.") && strings.Count(t, ".") == 1 {
			return t + ".default"
		}
		return t
	}
	var out []becomes
	for _, r := range rs {
		for _, f := range strings.Fields(r.from) {
			out = append(out, becomes{full(f), full(r.to), r.args})
		}
	}
	return out
}

// depth is the length of the longest way from a target to one that cannot be simplified.
var depth = depths(lattice)

func depths(table []becomes) map[string]int {
	out := map[string]int{}
	for range table { // no way is longer than the table
		changed := false
		for _, b := range table {
			if out[b.from] < out[b.to]+1 && out[b.to] < len(table) {
				out[b.from], changed = out[b.to]+1, true
			}
		}
		if !changed {
			break
		}
	}
	return out
}

// rank is what a call's operator weighs in the cost.
func rank(n *fx.Node) int {
	switch {
	case n.Op == fx.CallModule:
		return 16
	case n.Op == fx.CallMethod:
		return 4 * depth["."+n.Target]
	}
	return 4 * depth[n.Target]
}

func latticeKey(n *fx.Node) string {
	if n.Op == fx.CallMethod {
		return "." + n.Target
	}
	if n.Op == fx.CallModule {
		return ""
	}
	return n.Target
}

// simplifications lists what the calls may become, those that take most away first.
func simplifications(v *view) []Edit {
	calls := v.cur.Module.Graph.Calls()
	if len(calls) > maxShortcut {
		return nil
	}
	var out []Edit
	for _, n := range calls {
		key := latticeKey(n)
		for _, b := range lattice {
			if b.from == key {
				out = append(out, Become{n.Name, b.from, b.to, b.args})
			}
		}
	}
	return out
}

// simplify goes down the lattice until nothing more fits: all calls at once, where what they compute does not matter, else each.
func simplify(ctx context.Context, d *driver) error {
	for {
		before := d.taken
		if err := d.rounds(ctx, allAtOnce(simplifications(&d.view))); err != nil {
			return err
		}
		if d.taken == before {
			if err := d.rounds(ctx, simplifications(&d.view)); err != nil {
				return err
			}
		}
		if d.taken == before {
			return nil
		}
		if err := d.learn(ctx, looks); err != nil {
			return err
		}
	}
}

// allAtOnce is one edit that does all that can be done one after the other; nil for fewer than two.
func allAtOnce(edits []Edit) []Edit {
	if len(edits) < 2 {
		return nil
	}
	return []Edit{Together{Name: edits[0].String() + " ... (all)", Parts: edits, Only: true}}
}

// Become replaces a call by a simpler one.
type Become struct {
	Call     string
	From, To string // targets, as in the lattice
	Args     string // the arguments that stay
}

func (e Become) String() string { return e.Call + " becomes " + e.To }
func (e Become) reshapes() bool { return true }

func (e Become) apply(_ *world, s State) (State, bool) {
	gm, _ := s.Module.Clone()
	n := gm.Graph.Node(e.Call)
	if n == nil || latticeKey(n) != e.From {
		return State{}, false
	}
	var args []fx.Arg
	var kwargs []fx.Kwarg
	for _, part := range strings.Split(e.Args, ",") {
		if i, err := strconv.Atoi(part); err == nil {
			if i < len(n.Args) {
				args = append(args, n.Args[i])
			}
			continue
		}
		kw, named := strings.CutSuffix(part, "=")
		if v, ok := n.Kwarg(kw); ok {
			if named {
				kwargs = append(kwargs, fx.Kwarg{Name: kw, Val: v})
			} else {
				args = append(args, v)
			}
		}
	}
	if len(args) == 0 {
		return State{}, false
	}
	to, op := e.To, fx.CallFunction
	if m, ok := strings.CutPrefix(e.To, "."); ok {
		to, op = m, fx.CallMethod
	}
	n.Op, n.Target, n.Args, n.Kwargs, n.Val = op, to, args, kwargs, nil
	if strings.Contains(to, ".Tensor") && len(args) == 2 { // aten.mul.Tensor(x, 2) has a schema for numbers, too
		if _, ok := args[0].(*fx.Node); !ok {
			n.Args = slices.Clone(args)
			n.Args[0], n.Args[1] = args[1], args[0]
		}
	}
	return prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}

// castItems lists the casts that the call before them, or the only one after them, can do by its argument dtype: arange, full and others
// that make a tensor from numbers; sums and others that cast what they read.
func castItems(v *view) []string {
	users := v.cur.Module.Graph.Users()
	var out []string
	for _, n := range v.cur.Module.Graph.Calls() {
		if by, _ := castBy(n, users); by != nil {
			out = append(out, n.Name)
		}
	}
	return out
}

// casting are the calls that cast what they read to their argument dtype.
var casting = setOf(strings.Fields("aten.sum.default aten.sum.dim_IntList aten.mean.default aten.mean.dim aten.prod.default aten.prod.dim_int " +
	"aten.cumsum.default aten.cumprod.default torch.sum torch.mean torch.prod torch.cumsum torch.cumprod sum mean prod cumsum cumprod"))

// castBy is the call that can take over the cast n, and the dtype that n casts to; nil where there is none.
func castBy(n *fx.Node, users map[*fx.Node][]*fx.Node) (*fx.Node, fx.Arg) {
	var to fx.Arg
	switch n.Target {
	case "prims.convert_element_type.default", "aten.to.dtype", "to":
		if len(n.Args) > 1 {
			to = n.Args[1]
		}
	case "aten._to_copy.default":
		to, _ = n.Kwarg("dtype")
	}
	if _, ok := to.(tensor.DType); !ok || len(n.Args) == 0 {
		return nil, nil
	}
	if u := users[n]; len(u) == 1 && casting[u[0].Target] {
		if _, set := u[0].Kwarg("dtype"); !set {
			return u[0], to
		}
	}
	if m, _ := n.Args[0].(*fx.Node); m != nil && m.IsCall() && len(m.Inputs()) == 0 && len(users[m]) == 1 {
		return m, to
	}
	return nil, nil
}

// Uncast lets the neighbours of casts do what they do.
type Uncast struct{ Casts []string }

func (e Uncast) String() string { return "cast by the neighbour of " + strings.Join(e.Casts, ", ") }
func (e Uncast) reshapes() bool { return true }

func (e Uncast) apply(_ *world, s State) (State, bool) {
	gm, _ := s.Module.Clone()
	for _, name := range e.Casts {
		n := gm.Graph.Node(name)
		if n == nil {
			return State{}, false
		}
		by, to := castBy(n, gm.Graph.Users())
		if by == nil {
			return State{}, false
		}
		by.Kwargs = append(slices.DeleteFunc(slices.Clone(by.Kwargs), func(k fx.Kwarg) bool { return k.Name == "dtype" }), fx.Kwarg{Name: "dtype", Val: to})
		by.Val = nil
		gm.Graph.ReplaceUses(n, n.Args[0])
		gm.Graph.Erase(n)
	}
	return State{Module: gm, Inputs: s.Inputs, Config: s.Config}, true
}
