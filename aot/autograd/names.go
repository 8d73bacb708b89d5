package autograd

import (
	"slices"
	"strings"

	"whittle/kernels/aten"
)

// functionalName is the key of op's formula: "add.Tensor" for aten::add.Tensor and for aten::add_.Tensor.
func functionalName(op *aten.Op) string {
	n := op.Name() // "aten.add_.Tensor"
	ns, rest, _ := strings.Cut(n, ".")
	base, over, _ := strings.Cut(rest, ".")
	if op.Tags&aten.Inplace != 0 {
		base = strings.TrimSuffix(base, "_")
		switch base {
		case "pow": // pow_.Scalar is pow.Tensor_Scalar: pow.Scalar has the number first
			over = "Tensor_" + over
		case "transpose": // transpose_.default is transpose.int
			over = "int"
		}
	}
	if ns != "aten" {
		base = ns + "::" + base
	}
	return base + "." + over
}

// formulaOf finds the formula of an operator; that of a view serves its copying and its unchecked form, too.
func formulaOf(name string) (*formula, bool) {
	f, ok := table[name]
	if !ok {
		base, over, _ := strings.Cut(name, ".")
		base = strings.TrimPrefix(strings.TrimSuffix(base, "_copy"), "unsafe_")
		f, ok = table[base+"."+over]
	}
	return f, ok
}

func baseName(n string) string {
	b, _, _ := strings.Cut(n, ".")
	return b
}

// nodeNumbers holds the overloads whose node PyTorch numbers above 0.
var nodeNumbers = map[string]string{
	"add.Scalar": "1", "mul.Scalar": "1", "sub.Scalar": "1", "div.Scalar": "1",
	"sum.dim_IntList": "1", "mean.dim": "1", "std.correction": "0", "var.correction": "0",
	"max.dim": "0", "max.default": "1", "min.dim": "0", "min.default": "1",
	"pow.Tensor_Tensor": "1", "pow.Scalar": "2", "prod.dim_int": "1",
	"where.self": "0", "squeeze.dim": "1", "norm.ScalarOpt_dim": "1",
	"div.Tensor_mode": "1", "clamp.Tensor": "0", "clamp.default": "1", "split.Tensor": "0",
	"index_select.default": "0", "transpose.int": "0", "masked_fill.Scalar": "0", "masked_fill.Tensor": "1",
	"normal.Tensor_float": "1", "normal.float_Tensor": "2", "normal.Tensor_Tensor": "3",
}

// nodeName is what PyTorch calls the node of op: "AddBackward0", "NativeLayerNormBackward0".
func nodeName(op *aten.Op) string {
	key := functionalName(op)
	base := baseName(key)
	if i := strings.Index(base, "::"); i >= 0 {
		base = base[i+2:]
	}
	if key == "copy.default" {
		return "CopyBackwards" // written by hand in PyTorch: torch/csrc/autograd/functions/tensor.cpp
	}
	var b strings.Builder
	for _, p := range strings.Split(base, "_") {
		if p != "" {
			b.WriteString(strings.ToUpper(p[:1]) + p[1:])
		}
	}
	num := nodeNumbers[key]
	if num == "" {
		num = "0"
	}
	return b.String() + "Backward" + num
}

// withoutDerivative are the operators that PyTorch lists with a derivative that is not implemented; what it does not list at all has another message.
var withoutDerivative = set(`_cdist_backward _pdist_backward _embedding_bag_backward nextafter _unique _unique2 unique_dim unique_consecutive unique_dim_consecutive`)

// nonDifferentiable operators never carry a gradient, whatever their inputs.
var nonDifferentiable = set(`eq ne lt le gt ge isnan isinf isfinite logical_and logical_or logical_not logical_xor argmax argmin
	argsort sign_bit signbit  zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty
	new_full new_empty_strided nonzero any all equal _local_scalar_dense  multinomial count_nonzero  searchsorted bucketize
	isin is_nonzero allclose _shape_as_tensor sym_size detach bitwise_and bitwise_or bitwise_not bitwise_xor histc   isclose
	size stride numel dim item is_same_size result_type can_cast one_hot zero_check   isposinf isneginf isreal
	special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
	special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_chebyshev_polynomial_t
	special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
	special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
	special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w`)

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(s) {
		m[f] = true
	}
	return m
}

// How says how an operator takes part in differentiation.
type How string

// The ways of How.
const (
	ByFormula     How = "formula"    // a row of the derivative table
	ByParts       How = "parts"      // the operators that it is made of
	ByDefinition  How = "definition" // the program that defined it gave a derivative
	NoGradient    How = "none"       // its results carry no gradient, as in PyTorch
	NotDerived    How = "missing"    // backward through it is an error that names it
	ThroughOthers How = "variant"    // an out= form: it records nothing
)

// Derivative reports how op is differentiated.
func Derivative(op *aten.Op) How {
	name := functionalName(op)
	switch {
	case op.Has(aten.OutVariant):
		return ThroughOthers
	case op.Derivative != nil:
		return ByDefinition
	case nonDifferentiable[baseName(name)], !slices.ContainsFunc(op.Sig().Args, func(a aten.Arg) bool { return a.Type.Base == "Tensor" }):
		return NoGradient
	}
	if _, ok := formulaOf(name); ok {
		return ByFormula
	}
	if op.Decomp != nil {
		return ByParts
	}
	return NotDerived
}
