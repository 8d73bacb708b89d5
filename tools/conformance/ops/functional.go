package ops

import (
	"fmt"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// params binds a Python call to parameter names with defaults, as the def line of a torch.nn.functional function would.
type params struct {
	names []string
	defs  []aten.Value
}

func sig(pairs ...any) params {
	var p params
	for i := 0; i < len(pairs); i += 2 {
		p.names = append(p.names, pairs[i].(string))
		d := pairs[i+1]
		if n, ok := d.(int); ok {
			d = int64(n)
		}
		p.defs = append(p.defs, d)
	}
	return p
}

func (p params) bind(args []aten.Value, kw map[string]aten.Value) (map[string]aten.Value, error) {
	out := map[string]aten.Value{}
	for i, n := range p.names {
		out[n] = p.defs[i]
		if i < len(args) {
			out[n] = plainValue(args[i])
		}
		if v, ok := kw[n]; ok {
			out[n] = plainValue(v)
		}
	}
	if len(args) > len(p.names) {
		return nil, fmt.Errorf("too many arguments")
	}
	return out, nil
}

// reduction numbers as the operators take them.
func reduction(v aten.Value) aten.Value {
	switch v {
	case "none":
		return int64(0)
	case "sum":
		return int64(2)
	}
	return int64(1)
}

type fnBody func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error)

func with(p params, f fnBody) Callable {
	return func(d aten.Dispatcher, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
		a, err := p.bind(args, kw)
		if err != nil {
			return nil, err
		}
		return f(d, a)
	}
}

// lossFn maps a loss with a textual reduction to the operator whose arguments are the named parameters in order.
func lossFn(op string, p params, order ...string) Callable {
	return with(p, func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
		var args []aten.Value
		for _, n := range order {
			v := a[n]
			if n == "reduction" {
				v = reduction(v)
			}
			args = append(args, v)
		}
		return aten.Run(d, op, args...)
	})
}

// functional adapts functions of torch.nn.functional whose Python signature differs from the operator's.
func functional(name string) Callable {
	red := []any{"size_average", nil, "reduce", nil, "reduction", "mean"}
	two := func(extra ...any) params { return sig(append([]any{"input", nil, "target", nil}, extra...)...) }
	switch name {
	case "mse_loss", "l1_loss", "soft_margin_loss":
		return lossFn("aten."+name, two(red...), "input", "target", "reduction")
	case "smooth_l1_loss":
		return lossFn("aten.smooth_l1_loss", two(append(red, "beta", 1.0)...), "input", "target", "reduction", "beta")
	case "huber_loss":
		return lossFn("aten.huber_loss", two("reduction", "mean", "delta", 1.0), "input", "target", "reduction", "delta")
	case "binary_cross_entropy":
		return lossFn("aten.binary_cross_entropy", two(append([]any{"weight", nil}, red...)...), "input", "target", "weight", "reduction")
	case "binary_cross_entropy_with_logits":
		return lossFn("aten.binary_cross_entropy_with_logits", two(append([]any{"weight", nil}, append(red, "pos_weight", nil)...)...), "input", "target", "weight", "pos_weight", "reduction")
	case "cross_entropy":
		return lossFn("aten.cross_entropy_loss", two("weight", nil, "size_average", nil, "ignore_index", -100, "reduce", nil, "reduction", "mean", "label_smoothing", 0.0), "input", "target", "weight", "reduction", "ignore_index", "label_smoothing")
	case "nll_loss":
		return lossFn("aten.nll_loss_nd", two("weight", nil, "size_average", nil, "ignore_index", -100, "reduce", nil, "reduction", "mean"), "input", "target", "weight", "reduction", "ignore_index")
	case "margin_ranking_loss":
		return lossFn("aten.margin_ranking_loss", sig("input1", nil, "input2", nil, "target", nil, "margin", 0.0, "size_average", nil, "reduce", nil, "reduction", "mean"), "input1", "input2", "target", "margin", "reduction")
	case "cosine_embedding_loss":
		return lossFn("aten.cosine_embedding_loss", sig("input1", nil, "input2", nil, "target", nil, "margin", 0.0, "size_average", nil, "reduce", nil, "reduction", "mean"), "input1", "input2", "target", "margin", "reduction")
	case "hinge_embedding_loss":
		return lossFn("aten.hinge_embedding_loss", two("margin", 1.0, "size_average", nil, "reduce", nil, "reduction", "mean"), "input", "target", "margin", "reduction")
	case "multi_margin_loss":
		return lossFn("aten.multi_margin_loss", two("p", 1, "margin", 1.0, "weight", nil, "size_average", nil, "reduce", nil, "reduction", "mean"), "input", "target", "p", "margin", "weight", "reduction")
	case "multilabel_margin_loss":
		return lossFn("aten.multilabel_margin_loss", two(red...), "input", "target", "reduction")
	case "poisson_nll_loss":
		return lossFn("aten.poisson_nll_loss", two("log_input", true, "full", false, "size_average", nil, "eps", 1e-8, "reduce", nil, "reduction", "mean"), "input", "target", "log_input", "full", "eps", "reduction")
	case "triplet_margin_loss":
		return lossFn("aten.triplet_margin_loss", sig("anchor", nil, "positive", nil, "negative", nil, "margin", 1.0, "p", 2.0, "eps", 1e-6, "swap", false, "size_average", nil, "reduce", nil, "reduction", "mean"), "anchor", "positive", "negative", "margin", "p", "eps", "swap", "reduction")
	case "kl_div":
		return with(two("size_average", nil, "reduce", nil, "reduction", "mean", "log_target", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			r := a["reduction"]
			if r == "batchmean" {
				r = "sum"
			}
			v, err := aten.Run(d, "aten.kl_div", a["input"], a["target"], reduction(r))
			if a["log_target"] == true {
				v, err = aten.CallKw(d, "aten.kl_div", []aten.Value{a["input"], a["target"], reduction(r)}, map[string]aten.Value{"log_target": true})
			}
			if err != nil || a["reduction"] != "batchmean" {
				return v, err
			}
			n := int64(1)
			if t := a["input"].(*tensor.Tensor); t.Dim() > 0 {
				n = t.Shape[0]
			}
			return aten.Run(d, "aten.div.Tensor", v, n)
		})
	case "batch_norm":
		return with(sig("input", nil, "running_mean", nil, "running_var", nil, "weight", nil, "bias", nil, "training", false, "momentum", 0.1, "eps", 1e-5), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten.batch_norm", a["input"], a["weight"], a["bias"], a["running_mean"], a["running_var"], a["training"], a["momentum"], a["eps"], true)
		})
	case "instance_norm":
		return with(sig("input", nil, "running_mean", nil, "running_var", nil, "weight", nil, "bias", nil, "use_input_stats", true, "momentum", 0.1, "eps", 1e-5), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten.instance_norm", a["input"], a["weight"], a["bias"], a["running_mean"], a["running_var"], a["use_input_stats"], a["momentum"], a["eps"], true)
		})
	case "embedding":
		return with(sig("input", nil, "weight", nil, "padding_idx", nil, "max_norm", nil, "norm_type", 2.0, "scale_grad_by_freq", false, "sparse", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			pad := a["padding_idx"]
			w := a["weight"].(*tensor.Tensor)
			if pad == nil {
				pad = int64(-1)
			} else if n := pad.(int64); n < 0 {
				pad = w.Shape[0] + n
			}
			if a["max_norm"] != nil {
				if _, err := aten.Run(d, "aten.embedding_renorm_", w, a["input"], a["max_norm"], a["norm_type"]); err != nil {
					return nil, err
				}
			}
			return aten.Run(d, "aten.embedding", w, a["input"], pad, a["scale_grad_by_freq"], a["sparse"])
		})
	case "max_pool1d", "max_pool2d", "max_pool3d":
		return with(sig("input", nil, "kernel_size", nil, "stride", nil, "padding", 0, "dilation", 1, "ceil_mode", false, "return_indices", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			op := "aten." + name
			if a["return_indices"] == true {
				op += "_with_indices"
			}
			st := a["stride"]
			if st == nil {
				st = []aten.Value{}
			}
			return aten.Run(d, op, a["input"], a["kernel_size"], st, a["padding"], a["dilation"], a["ceil_mode"])
		})
	case "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d":
		return with(sig("input", nil, "output_size", nil, "return_indices", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			sz := outputSize(name, a)
			v, err := aten.Run(d, "aten."+name, a["input"], sz)
			if err != nil || a["return_indices"] == true {
				return v, err
			}
			return v.([]aten.Value)[0], nil
		})
	case "adaptive_avg_pool2d", "adaptive_avg_pool3d":
		return with(sig("input", nil, "output_size", nil), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten."+name, a["input"], outputSize(name, a))
		})
	case "group_norm":
		return with(sig("input", nil, "num_groups", nil, "weight", nil, "bias", nil, "eps", 1e-5), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten.group_norm", a["input"], a["num_groups"], a["weight"], a["bias"], a["eps"], true)
		})
	case "dropout", "alpha_dropout", "feature_alpha_dropout":
		return with(sig("input", nil, "p", 0.5, "training", name == "dropout", "inplace", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten."+name, a["input"], a["p"], a["training"])
		})
	case "dropout2d", "dropout3d":
		return with(sig("input", nil, "p", 0.5, "training", true, "inplace", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten.feature_dropout", a["input"], a["p"], a["training"])
		})
	case "softsign":
		return with(sig("input", nil), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			x, err := aten.Run(d, "aten.abs", a["input"])
			if err == nil {
				x, err = aten.Run(d, "aten.add.Tensor", x, int64(1))
			}
			if err != nil {
				return nil, err
			}
			return aten.Run(d, "aten.div.Tensor", a["input"], x)
		})
	case "tanhshrink":
		return with(sig("input", nil), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			x, err := aten.Run(d, "aten.tanh", a["input"])
			if err != nil {
				return nil, err
			}
			return aten.Run(d, "aten.sub.Tensor", a["input"], x)
		})
	case "softmin":
		return with(sig("input", nil, "dim", nil, "_stacklevel", 3, "dtype", nil), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			x, err := aten.Run(d, "aten.neg", a["input"])
			if err != nil {
				return nil, err
			}
			return aten.Run(d, "aten.softmax.int", x, a["dim"], a["dtype"])
		})
	case "normalize":
		return with(sig("input", nil, "p", 2.0, "dim", 1, "eps", 1e-12, "out", nil), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			n, err := aten.Run(d, "aten.norm.ScalarOpt_dim", a["input"], a["p"], []aten.Value{a["dim"]}, true)
			if err == nil {
				n, err = aten.Run(d, "aten.clamp_min", n, a["eps"])
			}
			if err == nil {
				n, err = aten.Run(d, "aten.expand_as", n, a["input"])
			}
			if err != nil {
				return nil, err
			}
			return aten.Run(d, "aten.div.Tensor", a["input"], n)
		})
	case "unfold":
		return with(sig("input", nil, "kernel_size", nil, "dilation", 1, "padding", 0, "stride", 1), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			return aten.Run(d, "aten.im2col", a["input"], a["kernel_size"], a["dilation"], a["padding"], a["stride"])
		})
	case "one_hot", "pad", "relu", "linear":
		return nil
	case "interpolate", "upsample_bilinear", "upsample_nearest":
		return with(sig("input", nil, "size", nil, "scale_factor", nil, "mode", "nearest", "align_corners", nil, "recompute_scale_factor", nil, "antialias", false), func(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
			if name == "upsample_bilinear" {
				a["mode"], a["align_corners"] = "bilinear", true
			}
			return interpolate(d, a)
		})
	}
	return nil
}

func outputSize(name string, a map[string]aten.Value) aten.Value {
	t := a["input"].(*tensor.Tensor)
	l, ok := a["output_size"].([]aten.Value)
	if !ok {
		return a["output_size"]
	}
	out := append([]aten.Value{}, l...)
	for i := range out {
		if out[i] == nil {
			out[i] = t.Shape[t.Dim()-len(out)+i]
		}
	}
	return out
}

func interpolate(d aten.Dispatcher, a map[string]aten.Value) (aten.Value, error) {
	t := a["input"].(*tensor.Tensor)
	nd := t.Dim() - 2
	expand := func(v aten.Value) aten.Value {
		if v == nil {
			return nil
		}
		if l, ok := v.([]aten.Value); ok {
			return l
		}
		out := make([]aten.Value, nd)
		for i := range out {
			out[i] = v
		}
		return out
	}
	size, scale := expand(a["size"]), expand(a["scale_factor"])
	align := a["align_corners"]
	if align == nil {
		align = false
	}
	mode := a["mode"].(string)
	if a["recompute_scale_factor"] == true && size == nil {
		var l []aten.Value
		for i, s := range scale.([]aten.Value) {
			f, _ := s.(float64)
			if n, ok := s.(int64); ok {
				f = float64(n)
			}
			l = append(l, int64(float64(t.Shape[i+2])*f))
		}
		size, scale = l, nil
	}
	if mode == "area" {
		op := [...]string{"", "aten.adaptive_avg_pool1d", "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d"}[nd]
		if size == nil {
			var l []aten.Value
			for i, s := range scale.([]aten.Value) {
				f, _ := s.(float64)
				if n, ok := s.(int64); ok {
					f = float64(n)
				}
				l = append(l, int64(float64(t.Shape[i+2])*f))
			}
			size = l
		}
		return aten.Run(d, op, t, size)
	}
	ops := map[string]string{"nearest1": "upsample_nearest1d", "nearest2": "upsample_nearest2d", "nearest3": "upsample_nearest3d",
		"nearest-exact1": "_upsample_nearest_exact1d", "nearest-exact2": "_upsample_nearest_exact2d", "nearest-exact3": "_upsample_nearest_exact3d",
		"linear1": "upsample_linear1d", "bilinear2": "upsample_bilinear2d", "trilinear3": "upsample_trilinear3d", "bicubic2": "upsample_bicubic2d"}
	op := ops[fmt.Sprint(mode, nd)]
	if a["antialias"] == true {
		op = "_" + op + "_aa"
	}
	args := []aten.Value{t, size}
	if mode != "nearest" && mode != "nearest-exact" {
		args = append(args, align)
	}
	return aten.Run(d, "aten."+op+".vec", append(args, scale)...)
}
