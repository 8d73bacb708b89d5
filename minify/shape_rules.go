package minify

import (
	"slices"
	"strconv"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// shapeRules follow dimensions through the operators for which the general rule says too little. A rule gives the
// dimensions of a result of the given shape; a wrong or missing answer is repaired by the general rule. Keys are operator names without
// namespace and overload, and so serve aten, torch functions and methods alike.
var shapeRules = map[string]func(e *extents, n *fx.Node, shape []int64) []size{}

// manyRules do the same for operators with several results: they equate, and shapeRules or the general rule answer.
var manyRules = map[string]func(e *extents, n *fx.Node, results []any){}

func init() {
	rules := func(rule func(e *extents, n *fx.Node, shape []int64) []size, names ...string) {
		for _, name := range names {
			shapeRules[name] = rule
		}
	}
	rules(ruleView, "view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias", "unflatten", "flatten")
	rules(ruleExpand, "expand", "expand_copy", "broadcast_to")
	rules(rulePermute, "permute", "permute_copy")
	rules(ruleTranspose, "transpose", "swapaxes", "swapdims", "t", "mT", "numpy_T")
	rules(ruleUnsqueeze, "unsqueeze", "unsqueeze_copy")
	rules(sized(0), "full", "zeros", "ones", "empty", "rand", "randn", "empty_strided")
	rules(sized(1), "new_zeros", "new_ones", "new_full", "new_empty")
	rules(ruleRange, "iota", "arange")
	rules(ruleMatmul, "mm", "bmm", "matmul", "addmm", "baddbmm", "addbmm", "linear")
	rules(ruleConv, "convolution", "conv1d", "conv2d", "conv3d", "_convolution")
	rules(ruleEmbedding, "embedding")
	rules(ruleLayerNorm, "layer_norm", "native_layer_norm")
	rules(ruleChannels, "batch_norm", "native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "_native_batch_norm_legit_functional",
		"group_norm", "native_group_norm", "instance_norm")
	rules(ruleAttention, "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
	rules(ruleCat, "cat", "concat", "concatenate")
	rules(rulePart, "split", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk")
	for _, name := range []string{"unbind", "split", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk", "split_with_sizes"} {
		manyRules[name] = ruleParts
	}
}

// sizeAt notes that an integer argument is a size.
func (e *extents) sizeAt(at place, a fx.Arg, is size) {
	switch a := a.(type) {
	case int64:
		if a > 1 && a == e.value(is) {
			e.slots = append(e.slots, slot{at, a, is})
		}
	case *fx.Node:
		if s, ok := e.nums[a]; ok {
			e.equate(s, is)
		}
	}
}

// sizeArgs lists the sizes that begin at argument i: a list, or integers one by one.
func sizeArgs(n *fx.Node, i int) (at []place, args []fx.Arg) {
	if i < len(n.Args) {
		if l, ok := asList(n.Args[i]); ok {
			for j, a := range l {
				at, args = append(at, place{node: n.Name, arg: i, elem: j}), append(args, a)
			}
			return at, args
		}
		for j := i; j < len(n.Args); j++ {
			at, args = append(at, place{node: n.Name, arg: j, elem: -1}), append(args, n.Args[j])
		}
		return at, args
	}
	for _, kw := range n.Kwargs {
		if l, ok := asList(kw.Val); ok && (kw.Name == "size" || kw.Name == "shape") {
			for j, a := range l {
				at, args = append(at, place{node: n.Name, kw: kw.Name, elem: j}), append(args, a)
			}
		}
	}
	return at, args
}

func (e *extents) sizesAt(n *fx.Node, i int, ds []size) {
	at, args := sizeArgs(n, i)
	if len(args) != len(ds) {
		return
	}
	for j := range args {
		e.sizeAt(at[j], args[j], ds[j])
	}
}

func intArg(n *fx.Node, i int, or int64) int64 {
	if i < len(n.Args) {
		if v, ok := n.Args[i].(int64); ok {
			return v
		}
	}
	return or
}

// ruleView matches groups of dimensions with equal products.
func ruleView(e *extents, n *fx.Node, shape []int64) []size {
	x := e.of(argOr(n, 0))
	if x == nil && len(shape) > 0 {
		return nil
	}
	out := make([]size, 0, len(shape))
	i := 0
	for j := 0; j < len(shape); {
		var group size
		in, res := int64(1), shape[j]
		end := j + 1
		for in != res {
			switch {
			case in < res && i < len(x):
				group = append(group, x[i]...)
				in *= e.value(x[i])
				i++
			case in > res && end < len(shape):
				res *= shape[end]
				end++
			default:
				return nil
			}
		}
		out = append(out, e.split(group, shape[j:end])...)
		j = end
	}
	switch opName(n) {
	case "flatten":
	case "unflatten":
		if d := intArg(n, 1, 0); len(n.Args) > 2 {
			if d < 0 {
				d += int64(len(x))
			}
			at, args := sizeArgs(n, 2)
			for k := range args {
				if i := int(d) + k; i >= 0 && i < len(out) {
					e.sizeAt(at[k], args[k], out[i])
				}
			}
		}
	default:
		e.sizesAt(n, 1, out)
	}
	return out
}

func argOr(n *fx.Node, i int) fx.Arg {
	if i < len(n.Args) {
		return n.Args[i]
	}
	return nil
}

func ruleExpand(e *extents, n *fx.Node, shape []int64) []size {
	x := e.of(argOr(n, 0))
	out := make([]size, len(shape))
	for i, k := range shape {
		j := i - (len(shape) - len(x))
		if j >= 0 && e.value(x[j]) == k {
			out[i] = x[j]
		} else {
			out[i] = e.fresh(k, n.Name+"."+strconv.Itoa(i))
		}
	}
	e.sizesAt(n, 1, out)
	return out
}

func rulePermute(e *extents, n *fx.Node, _ []int64) []size {
	x := e.of(argOr(n, 0))
	_, dims := sizeArgs(n, 1)
	var out []size
	for _, a := range dims {
		d, ok := a.(int64)
		if d < 0 {
			d += int64(len(x))
		}
		if !ok || d < 0 || int(d) >= len(x) {
			return nil
		}
		out = append(out, x[d])
	}
	return out
}

func ruleTranspose(e *extents, n *fx.Node, _ []int64) []size {
	x := e.of(argOr(n, 0))
	a, b := intArg(n, 1, -2), intArg(n, 2, -1)
	if a < 0 {
		a += int64(len(x))
	}
	if b < 0 {
		b += int64(len(x))
	}
	if len(x) < 2 || a < 0 || b < 0 || int(a) >= len(x) || int(b) >= len(x) {
		return nil
	}
	out := append([]size{}, x...)
	out[a], out[b] = out[b], out[a]
	return out
}

func ruleUnsqueeze(e *extents, n *fx.Node, shape []int64) []size {
	x := e.of(argOr(n, 0))
	d := intArg(n, 1, 0)
	if d < 0 {
		d += int64(len(shape))
	}
	if len(x)+1 != len(shape) || d < 0 || int(d) > len(x) {
		return nil
	}
	return append(append(append([]size{}, x[:d]...), nil), x[d:]...)
}

// sized is the rule of operators that make a tensor of the sizes at an argument.
func sized(at int) func(e *extents, n *fx.Node, shape []int64) []size {
	return func(e *extents, n *fx.Node, shape []int64) []size {
		out := make([]size, len(shape))
		for i, k := range shape {
			out[i] = e.fresh(k, n.Name+"."+strconv.Itoa(i))
		}
		e.sizesAt(n, at, out)
		return out
	}
}

func ruleRange(e *extents, n *fx.Node, shape []int64) []size {
	if len(shape) != 1 {
		return nil
	}
	out := e.fresh(shape[0], n.Name)
	at := len(n.Args) - 1
	if at > 1 {
		at = 1 // start, end, step
	}
	if at >= 0 && (at == 0 || intArg(n, 0, -1) == 0) {
		e.sizeAt(place{node: n.Name, arg: at, elem: -1}, n.Args[at], out)
	}
	return []size{out}
}

// ruleMatmul equates what is summed over; a first operand that is only added broadcasts to the result.
func ruleMatmul(e *extents, n *fx.Node, shape []int64) []size {
	var bias, a, b []size
	name := opName(n)
	switch name {
	case "addmm", "baddbmm", "addbmm":
		bias, a, b = e.of(argOr(n, 0)), e.of(argOr(n, 1)), e.of(argOr(n, 2))
	default:
		a, b, bias = e.of(argOr(n, 0)), e.of(argOr(n, 1)), e.of(argOr(n, 2))
	}
	if len(a) == 0 || len(b) == 0 || name == "addbmm" {
		return nil
	}
	if name == "linear" {
		e.equate(a[len(a)-1], b[len(b)-1])
		if len(b) != 2 {
			return nil
		}
		if len(bias) == 1 {
			e.equate(bias[0], b[0])
		}
		return append(append([]size{}, a[:len(a)-1]...), b[0])
	}
	if len(a) < 2 || len(b) < 2 {
		e.equate(a[len(a)-1], b[max(0, len(b)-2)])
		return nil
	}
	e.equate(a[len(a)-1], b[len(b)-2])
	out := make([]size, len(shape))
	if len(shape) < 2 {
		return nil
	}
	batch := e.broadcast([][]size{a[:len(a)-2], b[:len(b)-2]}, shape[:len(shape)-2])
	copy(out, batch)
	out[len(out)-2], out[len(out)-1] = a[len(a)-2], b[len(b)-1]
	if bias != nil && e.broadcasts([][]size{bias, out}, shape) {
		e.broadcast([][]size{out, bias}, shape)
	}
	return out
}

// ruleConv: [N, C, ...] with weights [O, C/groups, ...] gives [N, O, ...].
func ruleConv(e *extents, n *fx.Node, shape []int64) []size {
	x, w := e.of(argOr(n, 0)), e.of(argOr(n, 1))
	if len(x) != len(shape) || len(w) != len(shape) || len(x) < 3 {
		return nil
	}
	if bias := e.of(argOr(n, 2)); len(bias) == 1 {
		e.equate(bias[0], w[0])
	}
	if transposed, ok := argOr(n, 6).(bool); ok && transposed {
		return nil
	}
	at := 6
	if name := opName(n); name == "convolution" || name == "_convolution" {
		at = 8
	}
	groups := intArg(n, at, 1)
	switch {
	case groups == 1:
		e.equate(x[1], w[1])
	case groups == e.value(x[1]) && groups == e.value(w[0]):
		e.equate(x[1], w[0])
		e.sizeAt(place{node: n.Name, arg: at, elem: -1}, n.Args[at], x[1])
	}
	out := []size{x[0], w[0]}
	for i := 2; i < len(shape); i++ {
		if shape[i] == e.value(x[i]) {
			out = append(out, x[i])
		} else {
			out = append(out, e.free(shape[i]))
		}
	}
	return out
}

func ruleEmbedding(e *extents, n *fx.Node, _ []int64) []size {
	w, idx := e.of(argOr(n, 0)), e.of(argOr(n, 1))
	if len(w) != 2 { // torch.nn.functional.embedding(input, weight)
		w, idx = idx, w
	}
	if ow, oi := e.of(argOr(n, 0)), e.of(argOr(n, 1)); len(ow) == 2 && len(oi) == 2 && n.Op == fx.CallFunction && !fx.IsOverload(n.Target) {
		w, idx = oi, ow
	}
	if len(w) != 2 {
		return nil
	}
	return append(append([]size{}, idx...), w[1])
}

func ruleLayerNorm(e *extents, n *fx.Node, shape []int64) []size {
	x := e.of(argOr(n, 0))
	at, args := sizeArgs(n, 1)
	if l, ok := asList(argOr(n, 1)); ok && len(l) <= len(x) {
		for j := range l {
			e.sizeAt(at[j], args[j], x[len(x)-len(l)+j])
		}
	}
	return nil
}

// ruleChannels: everything of one dimension is per channel, the second dimension of the first operand.
func ruleChannels(e *extents, n *fx.Node, shape []int64) []size {
	x := e.of(argOr(n, 0))
	if len(x) < 2 {
		return nil
	}
	for _, o := range e.operands(n) {
		if len(o) == 1 {
			e.equate(x[1], o[0])
		}
	}
	if opName(n) == "native_group_norm" && len(n.Args) > 6 {
		rest := size{}
		for _, d := range x[2:] {
			rest = append(rest, d...)
		}
		for i, s := range []size{x[0], x[1], rest} {
			e.sizeAt(place{node: n.Name, arg: 3 + i, elem: -1}, n.Args[3+i], s)
		}
	}
	groups := int64(1)
	switch opName(n) {
	case "group_norm":
		groups = intArg(n, 1, 1)
	case "native_group_norm":
		groups = intArg(n, 6, 1)
	}
	if c := e.value(x[1]); groups > 1 && groups < c && c%groups == 0 {
		parts := e.split(x[1], []int64{groups, c / groups})
		e.equate(parts[0], e.fix(groups))
	}
	if len(shape) == len(x) && tensor.Numel(e.shape(x)) == tensor.Numel(shape) {
		return x
	}
	if len(shape) == 1 && shape[0] == e.value(x[1]) {
		return []size{x[1]}
	}
	return nil
}

func ruleAttention(e *extents, n *fx.Node, shape []int64) []size {
	q, k, v := e.of(argOr(n, 0)), e.of(argOr(n, 1)), e.of(argOr(n, 2))
	r := len(q)
	if r < 2 || len(k) != r || len(v) != r || len(shape) != r {
		return nil
	}
	for i := range r - 2 {
		e.equate(q[i], k[i])
		e.equate(q[i], v[i])
	}
	e.equate(q[r-1], k[r-1])
	e.equate(k[r-2], v[r-2])
	return append(append([]size{}, q[:r-1]...), v[r-1])
}

func ruleCat(e *extents, n *fx.Node, shape []int64) []size {
	ops := e.operands(n)
	d := intArg(n, 1, 0)
	if d < 0 {
		d += int64(len(shape))
	}
	out := make([]size, len(shape))
	for i, k := range shape {
		if i == int(d) {
			out[i] = e.free(k)
			continue
		}
		for _, o := range ops {
			if len(o) != len(shape) || e.value(o[i]) != k {
				continue
			}
			if out[i] == nil {
				out[i] = o[i]
			} else {
				e.equate(out[i], o[i])
			}
		}
	}
	return out
}

// rulePart is one of several equal parts: ruleParts has made the dimension a product of their number and their size.
func rulePart(e *extents, n *fx.Node, shape []int64) []size {
	x := e.of(argOr(n, 0))
	if len(x) != len(shape) {
		return nil
	}
	out := slices.Clone(x)
	for i, k := range shape {
		if e.value(x[i]) == k {
			continue
		}
		f := e.roots(x[i])
		for len(f) > 0 && e.value(f) > k {
			f = f[1:]
		}
		out[i] = f
	}
	return out
}

// ruleParts: operators that cut one dimension into parts, whose number stays.
func ruleParts(e *extents, n *fx.Node, results []any) {
	x := e.of(argOr(n, 0))
	dimAt := 2
	if opName(n) == "unbind" {
		dimAt = 1
	}
	d := intArg(n, dimAt, 0)
	for _, kw := range n.Kwargs {
		if v, ok := kw.Val.(int64); ok && kw.Name == "dim" {
			d = v
		}
	}
	if d < 0 {
		d += int64(len(x))
	}
	if d < 0 || int(d) >= len(x) || len(results) == 0 {
		return
	}
	whole := e.value(x[d])
	if opName(n) == "unbind" {
		e.equate(x[d], e.fix(whole))
		return
	}
	if count := int64(len(results)); count > 1 && whole%count == 0 {
		parts := e.split(x[d], []int64{count, whole / count})
		e.equate(parts[0], e.fix(count))
		e.sizeAt(place{node: n.Name, arg: 1, elem: -1}, argOr(n, 1), parts[1])
	}
}
