package triage

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// popularTSV says which share of model families has an operator, by TestPopularity from graphs that PyTorch recorded.
//
//go:embed popular.tsv
var popularTSV string

// popular maps operators to the share of model families that have them.
var popular = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(popularTSV) {
		name, share, _ := strings.Cut(strings.TrimSpace(line), "\t")
		v, err := strconv.ParseFloat(share, 64)
		if err != nil {
			panic("popular.tsv: " + line) // the embedded table is wrong
		}
		out[name] = v
	}
	return out
})

// rarest is the share of an operator that no recorded model has: one in a hundred.
const rarest = 0.01

// weight says how much an operator or dtype tells about a bug, from 0 (any model has it) to 1: its inverse document frequency, in units of the rarest one's.
func weight(token string) float64 {
	if strings.HasPrefix(token, "dtype ") {
		if w, ok := dtypeWeights[token[len("dtype "):]]; ok {
			return w
		}
		return 1
	}
	share, ok := popular()[token]
	if !ok {
		share = rarest
	}
	return min(1, math.Log(share)/math.Log(rarest))
}

// dtypeWeights are those of dtypes that many models have; others weigh 1.
var dtypeWeights = map[string]float64{"float32": 0, "int64": 0.4, "bool": 0.4, "float16": 0.5, "bfloat16": 0.5, "float64": 0.5, "int32": 0.5}

// names maps operators that compute the same, before and after decomposition and as methods, to one name.
var names = func() map[string]string {
	out := map[string]string{}
	for to, from := range map[string]string{
		"cast":     "convert_element_type to_copy to float half double int long short bool byte bfloat16 type type_as",
		"view":     "view reshape unsafe_view flatten view_as reshape_as",
		"conv":     "convolution conv1d conv2d conv3d",
		"matmul":   "mm addmm bmm baddbmm matmul linear",
		"permute":  "permute transpose t mT mH adjoint movedim swapaxes",
		"arange":   "arange iota",
		"shift":    "bitwise_left_shift lshift ilshift bitwise_right_shift rshift irshift", // one piece of code in each layer
		"and":      "bitwise_and and logical_and iand",
		"or":       "bitwise_or or logical_or ior",
		"div":      "div truediv true_divide itruediv",
		"add":      "add iadd",
		"sub":      "sub isub rsub",
		"mul":      "mul imul",
		"copy":     "clone contiguous copy",
		"pow":      "pow ipow square",
		"norm":     "native_layer_norm layer_norm",
		"bn":       "batch_norm native_batch_norm_legit native_batch_norm_legit_no_training native_batch_norm",
		"softmax":  "softmax safe_softmax",
		"nearest":  "interpolate upsample_nearest2d unsafe_index",
		"getitem":  "getitem select slice index",
		"setitem":  "setitem slice_scatter select_scatter",
		"complex":  "complex view_as_complex",
		"dropout":  "dropout native_dropout",
		"bwd_relu": "threshold_backward",
	} {
		for _, f := range strings.Fields(from) {
			out[f] = to
		}
	}
	return out
}()

// operator is the name under which a call's target is compared: without namespace, overload and what marks it as in place.
func operator(target string) string {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(target, "torch._ops."), "torch.ops."), ".")
	name := parts[len(parts)-1]
	switch {
	case len(parts) > 1 && (parts[0] == "aten" || parts[0] == "prims" || len(parts) == 3 && parts[0] != "torch" && parts[0] != "operator"):
		name = parts[1]
		if len(parts) > 2 && name == "view" && parts[2] == "dtype" {
			return "view_dtype"
		}
	}
	name = strings.Trim(name, "_")
	if to, ok := names[name]; ok {
		return to
	}
	return name
}

// tokens are what a graph consists of, sorted, each once: its operators, the dtypes that it names, and what its bodies consist of.
func tokens(gm *fx.GraphModule) (out []string, calls int) {
	for _, n := range gm.Graph.Calls() {
		calls++
		op := operator(n.Target)
		if n.Op == fx.CallModule {
			op, _, _ = strings.Cut(gm.Modules[n.Target].Text, "(")
			op = operator(strings.ToLower(op))
		}
		if (op == "view" || op == "cast") && len(n.Args) > 1 {
			if d := dtypeOf(n.Args[1]); d != "" && op == "view" {
				op = "view_dtype"
			}
		}
		out = append(out, op)
		if n.Op == fx.CallMethod {
			if d, ok := castMethods[n.Target]; ok {
				out = append(out, "dtype "+d)
			}
		}
		for _, a := range n.Args {
			out = appendDTypes(out, a)
		}
		for _, k := range n.Kwargs {
			out = appendDTypes(out, k.Val)
		}
	}
	for _, sub := range gm.Submodules {
		t, c := tokens(sub)
		out, calls = append(out, t...), calls+c
	}
	slices.Sort(out)
	return slices.Compact(out), calls
}

// castMethods are methods of a tensor that name a dtype.
var castMethods = map[string]string{"half": "float16", "double": "float64", "int": "int32", "long": "int64", "short": "int16", "bool": "bool", "byte": "uint8", "bfloat16": "bfloat16", "float": "float32"}

func dtypeOf(a fx.Arg) string {
	switch a := a.(type) {
	case tensor.DType:
		return a.String()
	case fx.FnRef:
		name, ok := strings.CutPrefix(fmt.Sprint(a), "torch.")
		if ok && !strings.ContainsAny(name, ".()") && (strings.HasPrefix(name, "float") || strings.Contains(name, "int") || strings.HasPrefix(name, "complex") || strings.HasPrefix(name, "bfloat") || name == "bool") {
			return name
		}
	}
	return ""
}

func appendDTypes(to []string, a fx.Arg) []string {
	if d := dtypeOf(a); d != "" && d != "float32" {
		to = append(to, "dtype "+d)
	}
	return to
}
