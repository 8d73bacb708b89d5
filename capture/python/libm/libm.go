package libm

// #cgo LDFLAGS: -lm
// #include <math.h>
import "C"

func call(f func(C.double) C.double) func(float64) float64 {
	return func(x float64) float64 { return float64(f(C.double(x))) }
}

// Pow is x to the power of y.
func Pow(x, y float64) float64 { return float64(C.pow(C.double(x), C.double(y))) }

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 { return float64(C.atan2(C.double(y), C.double(x))) }

// Hypot is the length of (x, y).
func Hypot(x, y float64) float64 { return float64(C.hypot(C.double(x), C.double(y))) }

// Functions of one number, by the names that C and Python give them.
var (
	Exp   = call(func(x C.double) C.double { return C.exp(x) })
	Exp2  = call(func(x C.double) C.double { return C.exp2(x) })
	Expm1 = call(func(x C.double) C.double { return C.expm1(x) })
	Log   = call(func(x C.double) C.double { return C.log(x) })
	Log2  = call(func(x C.double) C.double { return C.log2(x) })
	Log10 = call(func(x C.double) C.double { return C.log10(x) })
	Log1p = call(func(x C.double) C.double { return C.log1p(x) })
	Sin   = call(func(x C.double) C.double { return C.sin(x) })
	Cos   = call(func(x C.double) C.double { return C.cos(x) })
	Tan   = call(func(x C.double) C.double { return C.tan(x) })
	Asin  = call(func(x C.double) C.double { return C.asin(x) })
	Acos  = call(func(x C.double) C.double { return C.acos(x) })
	Atan  = call(func(x C.double) C.double { return C.atan(x) })
	Sinh  = call(func(x C.double) C.double { return C.sinh(x) })
	Cosh  = call(func(x C.double) C.double { return C.cosh(x) })
	Tanh  = call(func(x C.double) C.double { return C.tanh(x) })
	Asinh = call(func(x C.double) C.double { return C.asinh(x) })
	Acosh = call(func(x C.double) C.double { return C.acosh(x) })
	Atanh = call(func(x C.double) C.double { return C.atanh(x) })
	Erf   = call(func(x C.double) C.double { return C.erf(x) })
	Erfc  = call(func(x C.double) C.double { return C.erfc(x) })
	Cbrt  = call(func(x C.double) C.double { return C.cbrt(x) })
)
