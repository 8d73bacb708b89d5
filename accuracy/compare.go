package accuracy

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// Options say how close is close. Use Default and change what differs.
type Options struct {
	Tol        float64 // absolute and relative; PyTorch's repro_tolerance is 1e-3
	EqualNaN   bool    // NaN in the same place counts as equal
	ExactDType bool    // dtypes must agree
	// IgnoreNonFP leaves out bools, ints and other values, as PyTorch's minifier does ("accuracy"): a rounding error that
	// tips an integer over is not the failure looked for. Its strict variant ("strict_accuracy") compares all.
	IgnoreNonFP      bool
	Cosine           bool // compare directions (score at least 0.99) instead of values
	LargerMultiplier bool // small tensors at a tolerance of at least 4e-2 may be 5 or 10 times as far off as eager
	// StrictNaN refuses a result whose error and eager's are both NaN. PyTorch forgives it, except while
	// inject_relu_bug_TESTING_ONLY is set.
	StrictNaN bool
	// Direct compares with eager itself: what Compare takes as the third value is then the noise of eager, see Noise.
	Direct bool
}

// Default is what PyTorch uses when it looks for accuracy failures.
func Default() Options { return Options{Tol: 1e-3, EqualNaN: true, ExactDType: true} }

// Strict is o, to compare with eager itself. The tolerance is what the caller asks for: none is right where nothing is known.
func (o Options) Strict(tol float64) Options {
	o.Direct, o.IgnoreNonFP, o.Tol = true, false, tol
	return o
}

// Minifying is what PyTorch's minifier uses: strict for "strict_accuracy", not strict for "accuracy".
func Minifying(strict bool) Options {
	o := Default()
	o.IgnoreNonFP = !strict
	return o
}

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
// fx.Run: tensors, numbers, []any, fx.Dict, nil, strings. It gives the verdict of torch._dynamo.utils.same, except that:
//
//   - shapes must agree; PyTorch lets sizes of 1 broadcast, and cosine similarity flattens first,
//   - a floating tensor without any reference is compared although IgnoreNonFP is set; PyTorch ignores it,
//   - what PyTorch raises for (values of other types, lengths, keys) is a difference like others.
func Compare(ref, res, fp64 any, o Options) Report {
	c := &comparison{o: o, rep: Report{Same: true}, alone: fp64 == nil}
	if fp64 == nil && !o.Direct {
		fp64 = ref
	}
	c.value("", ref, res, fp64)
	return c.rep
}

type comparison struct {
	o     Options
	alone bool // no reference was given
	rep   Report
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
			return c.fail(where, Type, "type mismatch: a list and %s", typeName(res))
		}
		if len(a) != len(b) {
			return c.fail(where, Length, "Length mismatch: %d and %d", len(a), len(b))
		}
		f, _ := fp64.([]any)
		for i := range a {
			x := c.missing(a[i])
			if i < len(f) {
				x = f[i]
			}
			if !c.value(fmt.Sprintf("%s[%d]", where, i), a[i], b[i], x) {
				return false
			}
		}
		return true
	case fx.Dict:
		return c.dict(where, a, res, fp64)
	case *tensor.Tensor:
		if a == nil {
			break
		}
		b, ok := asTensor(res)
		if !ok {
			return c.fail(where, Type, "type mismatch: a tensor and %s", typeName(res))
		}
		f, _ := asTensor(fp64)
		return c.tensor(where, a, b, f)
	case float64:
		b, ok := asTensor(res)
		if !ok {
			return c.fail(where, Type, "type mismatch: a float and %s", typeName(res))
		}
		f, _ := asTensor(fp64)
		return c.tensor(where, float(a), b, f)
	}
	if c.o.IgnoreNonFP || equalPlain(ref, res) {
		return true
	}
	return c.fail(where, Value, "%v != %v", ref, res)
}

// missing stands in for a reference that is not there: the value itself, and no noise of it.
func (c *comparison) missing(v any) any {
	if c.o.Direct {
		return nil
	}
	return v
}

// dict compares by key: the order of keys does not matter.
func (c *comparison) dict(where string, a fx.Dict, res, fp64 any) bool {
	b, ok := res.(fx.Dict)
	if !ok {
		return c.fail(where, Type, "type mismatch: a dict and %s", typeName(res))
	}
	if len(a) != len(b) {
		return c.fail(where, Length, "keys mismatch: %d and %d", len(a), len(b))
	}
	f, _ := fp64.(fx.Dict)
	for _, it := range a {
		key := fx.FormatArg(it.Key)
		y, ok := lookup(b, key)
		if !ok {
			return c.fail(where, Type, "keys mismatch: %s is in one and not in the other", key)
		}
		x, ok := lookup(f, key)
		if !ok {
			x = c.missing(it.Val)
		}
		if !c.value(fmt.Sprintf("%s[%s]", where, key), it.Val, y, x) {
			return false
		}
	}
	return true
}

func lookup(d fx.Dict, key string) (any, bool) {
	for _, it := range d {
		if fx.FormatArg(it.Key) == key {
			return it.Val, true
		}
	}
	return nil, false
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case []any:
		return "a list"
	case fx.Dict:
		return "a dict"
	case *tensor.Tensor:
		if v == nil {
			return "None"
		}
		return "a tensor"
	case string:
		return "a string"
	}
	return fmt.Sprintf("a value of type %T", v)
}

// asTensor makes numbers tensors, as torch.tensor does.
func asTensor(v any) (*tensor.Tensor, bool) {
	switch v := v.(type) {
	case *tensor.Tensor:
		return v, v != nil
	case float64:
		return float(v), true
	case int64:
		return tensor.FullInt(tensor.Int64, v), true
	case bool:
		x := int64(0)
		if v {
			x = 1
		}
		return tensor.FullInt(tensor.Bool, x), true
	}
	return nil, false
}

// float is torch.tensor(x) of a Python float: a float32.
func float(x float64) *tensor.Tensor { return tensor.Full(tensor.Float32, x) }

// equalPlain is Python's == on values that are no tensors.
func equalPlain(a, b any) bool {
	if x, ok := plainNumber(a); ok {
		y, ok := plainNumber(b)
		return ok && x == y
	}
	switch a := a.(type) {
	case nil:
		t, ok := b.(*tensor.Tensor)
		return b == nil || ok && t == nil
	case *tensor.Tensor: // a nil one
		return equalPlain(nil, b)
	case string:
		s, ok := b.(string)
		return ok && a == s
	}
	return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b)
}

func plainNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func (c *comparison) tensor(where string, ref, res, fp64 *tensor.Tensor) bool {
	if ref.Fake || res.Fake {
		return c.fail(where, Type, "a tensor without data")
	}
	if c.o.ExactDType && ref.DType != res.DType {
		return c.fail(where, DType, "dtype mismatch torch.%v, torch.%v", ref.DType, res.DType)
	}
	if c.o.ExactDType && ref.DType == tensor.Bool && c.o.IgnoreNonFP {
		return true
	}
	if !tensor.SameShape(ref, res) {
		return c.fail(where, Shape, "shape mismatch: %v and %v", ref.Shape, res.Shape)
	}
	if !ref.DType.Computes() || !res.DType.Computes() {
		if ref.DType == res.DType && bytes.Equal(ref.Bytes(), res.Bytes()) {
			return true
		}
		return c.fail(where, Value, "torch.%v and torch.%v can only be compared byte by byte, and differ", ref.DType, res.DType)
	}
	if fp64 != nil && (fp64.Fake || !fp64.DType.Computes()) {
		fp64 = nil
	}
	wasBool := ref.DType == tensor.Bool
	if c.o.Direct {
		return c.direct(where, ref, res, fp64)
	}
	ref, res = bits(ref), bits(res)
	if c.o.Cosine && !wasBool {
		return c.cosine(where, ref, res)
	}
	if ref.DType != res.DType {
		ref = ref.To(res.DType)
	}
	if closeTo(ref, res, c.o.Tol, c.o.EqualNaN, &c.rep.MaxError) {
		return true
	}
	if wasBool {
		return c.fail(where, Value, "Accuracy failed: uint8 tensor did not match")
	}
	if fp64 != nil && fp64.DType == tensor.Float64 && tensor.SameShape(fp64, res) {
		return c.againstFP64(where, ref, res, fp64)
	}
	if c.o.IgnoreNonFP && !(c.alone && ref.DType.IsFloat()) {
		return true
	}
	if hasNaN(ref.Floats()) != hasNaN(res.Floats()) {
		return c.fail(where, NaN, "Accuracy failed: NaN in one and not in the other")
	}
	return c.fail(where, Value, "Accuracy failed: allclose not within tol=%v: largest difference %g", c.o.Tol, c.rep.MaxError)
}

// bits is a tensor of bools as uint8; others stay.
func bits(t *tensor.Tensor) *tensor.Tensor {
	if t.DType == tensor.Bool {
		return t.To(tensor.UInt8)
	}
	return t
}

// againstFP64 forgives a result that is about as far from the exact answer as eager is.
func (c *comparison) againstFP64(where string, ref, res, fp64 *tensor.Tensor) bool {
	const loose = 4e-2
	a, b, f := ref.Floats(), res.Floats(), fp64.Floats()
	var scrap float64
	// Eager gives NaN where the result and the exact answer agree: the result is the better one.
	if hasNaN(a) && !hasNaN(b) && !hasNaN(f) && closeTo(fp64.To(res.DType), res, loose, c.o.EqualNaN, &scrap) {
		return true
	}
	refErr, resErr := rmse(f, a), rmse(f, b)
	c.rep.RMSE, c.rep.RefRMSE = resErr, refErr
	mult := c.multiplier(ref, res, len(f))
	if resErr <= mult*refErr+c.o.Tol/10 {
		return true
	}
	if c.o.EqualNaN && !c.o.StrictNaN && math.IsNaN(refErr) && math.IsNaN(resErr) {
		return true
	}
	k := Value
	if math.IsNaN(resErr) && !math.IsNaN(refErr) {
		k = NaN
	}
	larger := 0
	if c.o.LargerMultiplier {
		larger = 1
	}
	return c.fail(where, k, "RMSE (res-fp64): %s, (ref-fp64): %s and shape=%s. res.dtype: torch.%v, multiplier: %f, tol: %f, use_larger_multiplier_for_smaller_tensor: %d",
		fixed(resErr), fixed(refErr), sizeText(res.Shape), res.DType, mult, c.o.Tol, larger)
}

// multiplier is how many times eager's error a result may have: noise dominates small tensors and half precision.
func (c *comparison) multiplier(ref, res *tensor.Tensor, n int) float64 {
	nd := len(ref.Shape)
	high := c.o.LargerMultiplier && c.o.Tol >= 4e-2
	switch {
	case high && n <= 10:
		return 10
	case high && n <= 500:
		return 5
	case n < 1000, nd == 4 && ref.Shape[2] == 1 && ref.Shape[3] == 1, c.o.Tol >= 2e-2:
		return 3
	case res.DType == tensor.Float16, res.DType == tensor.BFloat16:
		return 3
	}
	return 2
}

// fixed is Python's "%.5f".
func fixed(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	}
	return strconv.FormatFloat(x, 'f', 5, 64)
}

func sizeText(shape []int64) string {
	var b bytes.Buffer
	for i, s := range shape {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, s)
	}
	return "torch.Size([" + b.String() + "])"
}

// cosine compares in float32, as PyTorch does.
func (c *comparison) cosine(where string, ref, res *tensor.Tensor) bool {
	ref, res = ref.To(tensor.Float32), res.To(tensor.Float32)
	if closeTo(ref, res, c.o.Tol, true, &c.rep.MaxError) {
		return true
	}
	a, b := ref.Floats(), res.Floats()
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
	k := Value
	if math.IsNaN(score) {
		k = NaN
	}
	return c.fail(where, k, "cosine similarity %g", score)
}

// closeTo is torch.allclose of two tensors of one dtype: |ref-res| <= tol + tol*|res| everywhere, each step rounded as
// that dtype's arithmetic rounds it. It notes the largest difference.
func closeTo(ref, res *tensor.Tensor, tol float64, equalNaN bool, worst *float64) bool {
	d := res.DType
	if d.IsInt() {
		return closeInts(ref.Ints(), res.Ints(), tol, worst)
	}
	a, b := ref.Floats(), res.Floats()
	scalar := tol
	if d != tensor.Float64 {
		scalar = float64(float32(tol)) // the type that half precision computes in, too
	}
	ok := true
	for i := range a {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if math.IsNaN(x) || math.IsNaN(y) {
			if !(equalNaN && math.IsNaN(x) && math.IsNaN(y)) {
				ok = false
			}
			continue
		}
		*worst = math.Max(*worst, math.Abs(x-y))
		diff := tensor.RoundTo(d, math.Abs(x-y))
		allowed := tensor.RoundTo(d, scalar+math.Abs(tensor.RoundTo(d, scalar*y)))
		if math.IsInf(diff, 0) || !(diff <= allowed) {
			ok = false
		}
	}
	return ok
}

// closeInts is allclose of integers: one of them becomes a float32 first, and so all is computed in that.
func closeInts(a, b []int64, tol float64, worst *float64) bool {
	ok := true
	t := float32(tol)
	for i, x := range a {
		y := b[i]
		if x == y {
			continue
		}
		*worst = math.Max(*worst, math.Abs(float64(x)-float64(y)))
		diff := float32(x) - float32(y)
		r := t * float32(y)
		if float32(math.Abs(float64(diff))) > t+float32(math.Abs(float64(r))) {
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

// rmse is the root of the mean of the squared differences.
func rmse(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		d := a[i] - b[i]
		s += d * d
	}
	return math.Sqrt(s / float64(len(a)))
}
