package accuracy

import (
	"fmt"
	"math"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// Options say how close is close. Use Default and change what differs.
type Options struct {
	Tol         float64 // absolute and relative; PyTorch's repro_tolerance is 1e-3
	EqualNaN    bool    // NaN in the same place counts as equal
	ExactDType  bool    // dtypes must agree
	IgnoreNonFP bool    // bools, ints and other values are not compared: minifying accuracy failures
	Cosine      bool    // compare directions (score at least 0.99) instead of values
}

// Default is what PyTorch uses when it looks for accuracy failures.
func Default() Options { return Options{Tol: 1e-3, EqualNaN: true, ExactDType: true} }

// Report says how a comparison went. Same with no Where is the good case.
type Report struct {
	Same     bool    `json:"same"`
	Where    string  `json:"where,omitempty"` // which value: "[0][2]"; "" for a single value
	Kind     Kind    `json:"kind,omitempty"`
	Message  string  `json:"message,omitempty"`
	MaxError float64 `json:"max_error"` // largest absolute difference met in a value that was compared
	RMSE     float64 `json:"rmse"`      // of the result against the float64 reference, where it was needed
	RefRMSE  float64 `json:"ref_rmse"`  // of eager against it
}

// Kind is how two values differ.
type Kind string

// The kinds.
const (
	Length Kind = "length"
	Type   Kind = "type"
	DType  Kind = "dtype"
	Shape  Kind = "shape"
	Value  Kind = "value"
	NaN    Kind = "nan" // one has NaN where the other has none
)

// Compare checks res against ref, with fp64 as the more exact answer (nil: none). Values are those of
// fx.Run: tensors, numbers, []any, fx.Dict, nil, strings.
func Compare(ref, res, fp64 any, o Options) Report {
	c := &comparison{o: o, rep: Report{Same: true}}
	if fp64 == nil {
		fp64 = ref
	}
	c.value("", ref, res, fp64)
	return c.rep
}

type comparison struct {
	o   Options
	rep Report
}

func (c *comparison) fail(where string, k Kind, format string, args ...any) bool {
	c.rep.Same, c.rep.Where, c.rep.Kind, c.rep.Message = false, where, k, fmt.Sprintf(format, args...)
	return false
}

// value compares one value; false ends the comparison.
func (c *comparison) value(where string, ref, res, fp64 any) bool {
	switch a := ref.(type) {
	case []any:
		b, ok := res.([]any)
		if !ok {
			return c.fail(where, Type, "type mismatch: %T and %T", ref, res)
		}
		if len(a) != len(b) {
			return c.fail(where, Length, "length mismatch: %d and %d", len(a), len(b))
		}
		f, _ := fp64.([]any)
		for i := range a {
			x := a[i]
			if i < len(f) {
				x = f[i]
			}
			if !c.value(fmt.Sprintf("%s[%d]", where, i), a[i], b[i], x) {
				return false
			}
		}
		return true
	case fx.Dict:
		b, ok := res.(fx.Dict)
		if !ok || len(a) != len(b) {
			return c.fail(where, Type, "keys mismatch")
		}
		for i, it := range a {
			if it.Key != b[i].Key {
				return c.fail(where, Type, "keys mismatch: %v and %v", it.Key, b[i].Key)
			}
			x := it.Val
			if f, ok := fp64.(fx.Dict); ok && i < len(f) {
				x = f[i].Val
			}
			if !c.value(fmt.Sprintf("%s[%s]", where, fx.FormatArg(it.Key)), it.Val, b[i].Val, x) {
				return false
			}
		}
		return true
	case *tensor.Tensor:
		b, ok := res.(*tensor.Tensor)
		if !ok {
			return c.fail(where, Type, "type mismatch: a tensor and %T", res)
		}
		f, _ := fp64.(*tensor.Tensor)
		return c.tensor(where, a, b, f)
	case float64:
		b, ok := res.(float64)
		if !ok {
			return c.fail(where, Type, "type mismatch: a float and %T", res)
		}
		return c.tensor(where, tensor.Scalar(a), tensor.Scalar(b), nil)
	}
	if c.o.IgnoreNonFP || ref == res {
		return true
	}
	return c.fail(where, Value, "%v and %v", ref, res)
}

func (c *comparison) tensor(where string, ref, res, fp64 *tensor.Tensor) bool {
	if ref == nil || res == nil {
		if ref == res {
			return true
		}
		return c.fail(where, Type, "a tensor and none")
	}
	if !tensor.SameShape(ref, res) {
		return c.fail(where, Shape, "shape mismatch: %v and %v", ref.Shape, res.Shape)
	}
	if c.o.ExactDType && ref.DType != res.DType {
		return c.fail(where, DType, "dtype mismatch: torch.%v and torch.%v", ref.DType, res.DType)
	}
	if c.o.IgnoreNonFP && !ref.DType.IsFloat() {
		return true
	}
	a, b := ref.Floats(), res.Floats()
	if c.o.Cosine {
		return c.cosine(where, a, b)
	}
	if !c.o.ExactDType && ref.DType != res.DType {
		for i := range a {
			a[i] = tensor.RoundTo(res.DType, a[i])
		}
	}
	if allclose(a, b, c.o.Tol, c.o.EqualNaN, &c.rep.MaxError) {
		return true
	}
	if fp64 == nil || fp64.DType != tensor.Float64 || !tensor.SameShape(fp64, res) {
		if hasNaN(a) != hasNaN(b) {
			return c.fail(where, NaN, "NaN in one and not in the other")
		}
		return c.fail(where, Value, "not within tol=%g: largest difference %g", c.o.Tol, c.rep.MaxError)
	}
	return c.againstFP64(where, ref, res, a, b, fp64.Floats())
}

// againstFP64 forgives a result that is about as far from the exact answer as eager is.
func (c *comparison) againstFP64(where string, ref, res *tensor.Tensor, a, b, f []float64) bool {
	const loose = 4e-2
	var scrap float64
	// Eager gives NaN where the result and the exact answer agree: the result is the better one.
	if hasNaN(a) && !hasNaN(b) && !hasNaN(f) && allclose(f, b, loose, c.o.EqualNaN, &scrap) {
		return true
	}
	refErr, resErr := rmse(f, a), rmse(f, b)
	c.rep.RMSE, c.rep.RefRMSE = resErr, refErr
	mult := 2.0
	if res.DType == tensor.Float16 || res.DType == tensor.BFloat16 {
		mult = 3
	}
	nd := len(ref.Shape)
	if len(f) < 1000 || nd == 4 && ref.Shape[2] == 1 && ref.Shape[3] == 1 || c.o.Tol >= 2e-2 {
		mult = 3 // noise dominates small tensors
	}
	if resErr <= mult*refErr+c.o.Tol/10 {
		return true
	}
	if c.o.EqualNaN && math.IsNaN(refErr) && math.IsNaN(resErr) {
		return true
	}
	k := Value
	if math.IsNaN(resErr) {
		k = NaN
	}
	return c.fail(where, k, "RMSE (res-fp64): %.5f, (ref-fp64): %.5f and shape=%v. res.dtype: torch.%v, multiplier: %f, tol: %f",
		resErr, refErr, res.Shape, res.DType, mult, c.o.Tol)
}

func (c *comparison) cosine(where string, a, b []float64) bool {
	if allclose(a, b, c.o.Tol, true, &c.rep.MaxError) {
		return true
	}
	var ab, aa, bb float64
	for i := range a {
		ab += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
	}
	const eps = 1e-6
	score := ab / (math.Max(math.Sqrt(aa), eps) * math.Max(math.Sqrt(bb), eps))
	if score >= 0.99 {
		return true
	}
	return c.fail(where, Value, "cosine similarity %g", score)
}

// allclose is |ref-res| <= tol + tol*|res| everywhere. It notes the largest difference.
func allclose(ref, res []float64, tol float64, equalNaN bool, worst *float64) bool {
	ok := true
	for i := range ref {
		a, b := ref[i], res[i]
		if a == b {
			continue
		}
		if math.IsNaN(a) || math.IsNaN(b) {
			if !(equalNaN && math.IsNaN(a) && math.IsNaN(b)) {
				ok = false
			}
			continue
		}
		d := math.Abs(a - b)
		*worst = math.Max(*worst, d)
		if math.IsInf(a, 0) || math.IsInf(b, 0) || d > tol+tol*math.Abs(b) {
			ok = false
		}
	}
	return ok
}

func hasNaN(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) {
			return true
		}
	}
	return false
}

func rmse(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		d := a[i] - b[i]
		s += d * d
	}
	return math.Sqrt(s / float64(len(a)))
}
