package triton

import "whittle/kernels/tensor"

// A spelling is how an operator is written, by the kind of its operands: $0, $1, ... are the operands, zero and one these numbers in their dtype.
// A spelling of several lines gives each a variable, @0, @1, ..., and ends in the result. "" where no loop has the operator on that kind.
type spelling struct{ float, integer, boolean []string }

// on is a spelling for all kinds, floats and numbers for some.
func on(text ...string) spelling      { return spelling{text, text, text} }
func floats(text ...string) spelling  { return spelling{float: text} }
func numbers(text ...string) spelling { return spelling{float: text, integer: text} }

// truths is s with a spelling for truth values.
func (s spelling) truths(text ...string) spelling { s.boolean = text; return s }

// integers is s with a spelling for integers.
func (s spelling) integers(text ...string) spelling { s.integer = text; return s }

// ordered spells a comparison; truth values are compared as numbers.
func ordered(op string) spelling {
	return numbers("$0 " + op + " $1").truths("$0.to(tl.int8) " + op + " $1.to(tl.int8)")
}

// ops maps a scalar operator to Triton. Maxima and minima keep a NaN, which tl.maximum does not; integers are divided as in C, which % and // do.
var ops = map[string]spelling{
	"add": numbers("$0 + $1"), "sub": numbers("$0 - $1"), "mul": numbers("$0 * $1"), "div": floats("$0 / $1"),
	"neg": numbers("-$0"), "abs": numbers("tl_math.abs($0)"),
	"sign": numbers("($0 > zero).to(tl.int8)", "($0 < zero).to(tl.int8)", "(@0 - @1).to(T)"),
	"exp":  floats("tl_math.exp($0)"), "exp2": floats("libdevice.exp2($0)"), "expm1": floats("libdevice.expm1($0)"),
	"log": floats("tl_math.log($0)"), "log2": floats("libdevice.log2($0)"), "log10": floats("libdevice.log10($0)"), "log1p": floats("libdevice.log1p($0)"),
	"sqrt": floats("libdevice.sqrt($0)"), "rsqrt": floats("libdevice.rsqrt($0)"), "reciprocal": floats("one / $0"),
	"sin": floats("tl_math.sin($0)"), "cos": floats("tl_math.cos($0)"), "tan": floats("libdevice.tan($0)"),
	"asin": floats("libdevice.asin($0)"), "acos": floats("libdevice.acos($0)"), "atan": floats("libdevice.atan($0)"), "atan2": floats("libdevice.atan2($0, $1)"),
	"sinh": floats("libdevice.sinh($0)"), "cosh": floats("libdevice.cosh($0)"), "tanh": floats("libdevice.tanh($0)"),
	"asinh": floats("libdevice.asinh($0)"), "acosh": floats("libdevice.acosh($0)"), "atanh": floats("libdevice.atanh($0)"),
	"erf": floats("libdevice.erf($0)"), "erfc": floats("libdevice.erfc($0)"), "lgamma": floats("libdevice.lgamma($0)"),
	"sigmoid": floats("tl.sigmoid($0)"),
	"ceil":    floats("libdevice.ceil($0)"), "floor": floats("libdevice.floor($0)"), "round": floats("libdevice.nearbyint($0)"), "trunc": floats("libdevice.trunc($0)"),
	"relu":    numbers("triton_helpers.maximum($0, zero)"),
	"pow":     floats("libdevice.pow($0, $1)"), // of integers, see power
	"maximum": numbers("triton_helpers.maximum($0, $1)").truths("$0 | $1"), "minimum": numbers("triton_helpers.minimum($0, $1)").truths("$0 & $1"),
	"fmod":      floats("libdevice.fmod($0, $1)").integers("$0 % $1"),
	"remainder": floats(remainder("libdevice.fmod($0, $1)")...).integers(remainder("$0 % $1")...),
	"div_floor": floats("libdevice.fmod($0, $1)", "($0 - @0) / $1", "(@0 != zero) & (($1 < zero) != (@0 < zero))", "tl.where(@2, @1 - one, @1)", "libdevice.floor(@3)",
		"tl.where(@3 - @4 > 0.5, @4 + one, @4)", "$0 / $1", "tl.where(@3 == zero, libdevice.copysign(zero, @6), @5)", "tl.where($1 == zero, @6, @7)"),
	"div_trunc": floats("libdevice.trunc($0 / $1)"),
	"eq":        on("$0 == $1"), "ne": on("$0 != $1"), "lt": ordered("<"), "le": ordered("<="), "gt": ordered(">"), "ge": ordered(">="),
	"and": on("$0 & $1"), "or": on("$0 | $1"), "xor": on("$0 ^ $1"), "not": on("$0 == 0"),
	"bitand": on("$0 & $1"), "bitor": on("$0 | $1"), "bitxor": on("$0 ^ $1"), "bitnot": numbers("~$0"),
	"isnan": floats("libdevice.isnan($0).to(tl.int1)"), "isinf": floats("libdevice.isinf($0).to(tl.int1)"),
	"where": on("tl.where($0, $1, $2)"),
	"fma":   floats("libdevice.fma($0, $1, $2)").integers("$0 * $1 + $2").truths("$0 & $1", "@0 | $2"),
	// The faults that torch._inductor.config.triton.inject_*_bug_TESTING_ONLY ask for.
	"bug_compile": on("compile error!"),
	"bug_runtime": on(`triton_helpers.device_assert_then($0 == 0, "injected assert fail", $0)`),
	"bug_plus1":   on("$0 + one"),
}

// remainder is what is left of a division, with the sign of the divisor.
func remainder(fmod string) []string {
	return []string{fmod, "(@0 != zero) & ((@0 < zero) != ($1 < zero))", "tl.where(@1, @0 + $1, @0)"}
}

// of is the spelling for operands of dtype d.
func (s spelling) of(d tensor.DType) []string {
	switch d.Kind() {
	case tensor.KindFloat:
		return s.float
	case tensor.KindInt:
		return s.integer
	}
	return s.boolean
}

// doubles are the operators whose function for float64 has another name: Triton's own are of float32.
var doubles = map[string]string{"exp": "libdevice.exp($0)", "log": "libdevice.log($0)", "sin": "libdevice.sin($0)", "cos": "libdevice.cos($0)"}

// A width is how Triton names a dtype: of values, and of what a pointer points to.
type width struct{ value, pointer string }

var widths = map[tensor.DType]width{
	tensor.Float32: {"tl.float32", "*fp32"}, tensor.Float64: {"tl.float64", "*fp64"}, tensor.Float16: {"tl.float16", "*fp16"}, tensor.BFloat16: {"tl.bfloat16", "*bf16"},
	tensor.Int64: {"tl.int64", "*i64"}, tensor.Int32: {"tl.int32", "*i32"}, tensor.Int16: {"tl.int16", "*i16"}, tensor.Int8: {"tl.int8", "*i8"},
	tensor.UInt8: {"tl.uint8", "*u8"}, tensor.Bool: {"tl.int1", "*i1"},
}
