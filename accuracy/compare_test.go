package accuracy

import (
	"math"
	"testing"

	"whittle/kernels/tensor"
)

var nan = math.NaN()

func f32(xs ...float32) *tensor.Tensor { return tensor.FromFloat32s(xs, int64(len(xs))) }

func TestCompare(t *testing.T) {
	nan := float32(nan)
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		ref, res, fp64 any
		want           Kind
	}{
		"equal":            {f32(1, 2), f32(1, 2), nil, ""},
		"close":            {f32(1, 2), f32(1.0005, 2), nil, ""},
		"far":              {f32(1, 2), f32(1.1, 2), nil, Value},
		"shape":            {f32(1), f32(1, 2), nil, Shape},
		"dtype":            {f32(1), tensor.FromFloat64s([]float64{1}, 1), nil, DType},
		"length":           {[]any{f32(1)}, []any{}, nil, Length},
		"nan in both":      {f32(nan), f32(nan), nil, ""},
		"nan in one":       {f32(1), f32(nan), nil, NaN},
		"inf in both":      {f32(inf), f32(inf), nil, ""},
		"inf in one":       {f32(inf), f32(1), nil, Value},
		"as bad as eager":  {f32(1.1), f32(0.9), tensor.FromFloat64s([]float64{1}, 1), ""},
		"worse than eager": {f32(1.001), f32(1.1), tensor.FromFloat64s([]float64{1}, 1), Value},
		"eager has nan":    {f32(nan), f32(1.01), tensor.FromFloat64s([]float64{1}, 1), ""},
		"ints":             {int64(3), int64(4), nil, Value},
		"nested":           {[]any{nil, []any{f32(1)}}, []any{nil, []any{f32(2)}}, nil, Value},
	} {
		r := Compare(c.ref, c.res, c.fp64, Default())
		if r.Kind != c.want || r.Same != (c.want == "") {
			t.Errorf("%s: %+v", name, r)
		}
		if name == "nested" && r.Where != "[1][0]" {
			t.Error(r.Where)
		}
	}
	o := Default()
	o.IgnoreNonFP = true
	if r := Compare(tensor.FromInt64s([]int64{1}), tensor.FromInt64s([]int64{2}), nil, o); !r.Same {
		t.Error("ints compared though ignored")
	}
}

// FuzzCompare holds Compare to what must be true of any values: it never panics, what is equal is the same in whatever
// order it is given, and a difference says where.
func FuzzCompare(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63}, []byte{0, 0, 128, 63}, uint8(1), uint8(1), uint8(0), 1e-3, uint8(0))
	f.Add([]byte{0, 0, 192, 127, 1}, []byte{0, 0, 128, 255}, uint8(1), uint8(3), uint8(1), 0.0, uint8(31))
	f.Add([]byte{255, 255}, []byte{0, 1}, uint8(9), uint8(10), uint8(2), math.Inf(1), uint8(7))
	f.Fuzz(func(t *testing.T, a, b []byte, da, db, shape uint8, tol float64, flags uint8) {
		x, y := fuzzTensor(a, da, shape), fuzzTensor(b, db, shape/2)
		o := Options{Tol: tol, EqualNaN: flags&1 != 0, ExactDType: flags&2 != 0, IgnoreNonFP: flags&4 != 0, Cosine: flags&8 != 0, LargerMultiplier: flags&16 != 0, StrictNaN: flags&32 != 0}
		for _, fp64 := range []any{nil, x, y, fuzzTensor(a, 2, shape)} {
			r := Compare([]any{x}, []any{y}, wrapped(fp64), o)
			if r.Same != (r.Kind == "") || !r.Same && (r.Where != "[0]" || r.Message == "") {
				t.Errorf("%+v", r)
			}
		}
		o.EqualNaN = true
		if o.Tol >= 0 {
			for _, v := range []any{x, []any{x, y, nil, int64(da)}, float64(tol)} {
				if r := Compare(v, Clone(v), nil, o); !r.Same && !math.IsNaN(tol) {
					t.Errorf("differs from its copy: %+v", r)
				}
			}
		}
		// What is equal in every bit is the same from both sides, with any reference.
		if bitsEqual(x, y) && tol >= 0 {
			if !Compare(x, y, nil, o).Same || !Compare(y, x, nil, o).Same {
				t.Error("equal values differ")
			}
		}
	})
}

func wrapped(v any) any {
	if v == nil {
		return nil
	}
	return []any{v}
}

// fuzzTensor makes a tensor of any dtype that there is from bytes.
func fuzzTensor(b []byte, d, shape uint8) *tensor.Tensor {
	dt := tensor.DType(1 + d%20)
	n := int64(len(b) / dt.Size())
	dims := []int64{n}
	switch {
	case shape%3 == 1 && n%2 == 0:
		dims = []int64{2, n / 2}
	case shape%3 == 2 && n == 1:
		dims = nil
	}
	x, err := tensor.FromBytes(dt, append([]byte{}, b[:n*int64(dt.Size())]...), dims...)
	if err != nil {
		panic(err)
	}
	return x
}

func bitsEqual(x, y *tensor.Tensor) bool {
	return x.DType == y.DType && tensor.SameShape(x, y) && string(x.Bytes()) == string(y.Bytes())
}
