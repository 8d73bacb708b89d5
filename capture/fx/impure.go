package fx

import "strings"

// IsImpure reports whether dropping n, or moving it across another impure node, can change what a graph
// computes: it writes to its operands, draws random numbers, or has a lasting effect.
func (n *Node) IsImpure() bool {
	switch n.Op {
	case Output, CallModule:
		return true
	case Placeholder, GetAttr:
		return false
	}
	return n.IsMutating() || n.IsRandom() || effects[n.Target]
}

// effects are functions with an effect beyond their operands.
var effects = map[string]bool{
	"torch._C._set_grad_enabled": true, "torch.amp.autocast_mode._enter_autocast": true, "torch.amp.autocast_mode._exit_autocast": true,
	"torch.manual_seed": true, "torch._assert": true, "torch._check": true, "torch._check_is_size": true,
	"aten._assert_async.msg": true, "aten._assert_async.default": true, "aten._assert_scalar.default": true,
	"aten.sym_constrain_range.default": true, "aten.sym_constrain_range_for_size.default": true,
	"torch._C._log_api_usage_once": false, // only telemetry
}

// IsMutating reports whether n writes to one of its operands.
func (n *Node) IsMutating() bool {
	name := n.Target
	switch n.Op {
	case CallFunction:
		if _, ok := inplace[name]; ok || name == "operator.setitem" || name == "setattr" {
			return true
		}
		if _, ok := n.Kwarg("out"); ok {
			return true
		}
		if v, ok := n.Kwarg("inplace"); ok && v == Arg(true) {
			return true
		}
		if strings.HasPrefix(name, "torch.nn.functional.") && inplacePositional(n) {
			return true
		}
		parts := strings.Split(name, ".")
		if IsOverload(name) {
			name = parts[1]
			if strings.HasSuffix(parts[2], "out") {
				return true
			}
		} else {
			name = parts[len(parts)-1]
		}
	case CallMethod:
	default:
		return false
	}
	return len(name) > 1 && strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__")
}

// inplacePositional finds the inplace flag of activations where it is given by position, and updates of
// running statistics.
func inplacePositional(n *Node) bool {
	name := n.Target[len("torch.nn.functional."):]
	pos := map[string]int{"relu": 1, "relu6": 1, "silu": 1, "mish": 1, "hardswish": 1, "hardsigmoid": 1, "elu": 2, "selu": 1, "celu": 2,
		"leaky_relu": 2, "threshold": 3, "hardtanh": 3, "dropout": 3, "alpha_dropout": 3, "rrelu": 4}
	if k, ok := pos[name]; ok {
		return len(n.Args) > k && n.Args[k] == Arg(true)
	}
	switch name {
	case "batch_norm", "instance_norm":
		training, ok := n.Kwarg("training")
		if !ok && len(n.Args) > 5 {
			training = n.Args[5]
		}
		return training == Arg(true)
	}
	return false
}

// IsRandom reports whether n draws random numbers.
func (n *Node) IsRandom() bool {
	name := n.Target
	if n.Op == CallFunction {
		parts := strings.Split(name, ".")
		if IsOverload(name) {
			name = parts[1]
		} else {
			name = parts[len(parts)-1]
		}
	}
	switch strings.TrimSuffix(name, "_") {
	case "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "bernoulli", "normal", "uniform", "random",
		"multinomial", "poisson", "exponential", "geometric", "cauchy", "log_normal", "native_dropout", "rrelu", "rrelu_with_noise",
		"inductor_seeds", "inductor_seed", "_fused_dropout":
		return true
	case "dropout", "alpha_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d":
		if v, ok := n.Kwarg("training"); ok {
			return v != Arg(false)
		}
		if len(n.Args) > 2 {
			return n.Args[2] != Arg(false)
		}
		return true
	}
	return false
}
