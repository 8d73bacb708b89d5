package ndarray

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable walks the universal functions: each row has the types that its function takes and gives, and a loop.
func TestTable(t *testing.T) {
	for name, u := range Ufuncs() {
		if name != "matmul" && len(u.Rows) == 0 {
			t.Errorf("%s has no loops", name)
		}
		for i, r := range u.Rows {
			if len(r.Types) != u.In+u.Out || r.Loop == nil {
				t.Errorf("%s: row %d has %d types, and takes and gives %d", name, i, len(r.Types), u.In+u.Out)
			}
		}
	}
}

// strided is an array of the same elements in other places: axes permuted in memory, every other element, some axes backwards.
func strided(a *Array, rng *rand.Rand) *Array {
	n := a.NDim()
	shape := slices.Clone(a.Shape)
	key := make([]Index, n)
	for i := range shape {
		shape[i] *= 2
		step := 2
		var start *int
		if rng.IntN(2) == 0 {
			last := shape[i] - 1
			step, start = -2, &last
		}
		key[i] = Index{Kind: Part, Start: start, Step: &step}
	}
	s, err := NewOrder(a.DType, shape, rng.Perm(n)).Select(key)
	if err != nil {
		panic(err)
	}
	if err := s.View.Assign(a); err != nil {
		panic(err)
	}
	return s.View
}

// TestStrides computes with arrays that lie anyhow in memory, and compares with contiguous ones.
func TestStrides(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][]int{{5}, {3, 4}, {2, 3, 4}, {1, 7, 1}} {
		a, b := New(Of(Int64), shape...), New(Of(Int64), shape...)
		for i := range Slice[int64](a) {
			Slice[int64](a)[i], Slice[int64](b)[i] = rng.Int64N(100), rng.Int64N(100)
		}
		x, y := strided(a, rng), strided(b, rng)
		want, err := Find("add").Call([]*Array{a, b}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Find("add").Call([]*Array{x, y}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want[0].Ints(), got[0].Ints()) {
			t.Errorf("%v: %v and %v", shape, want[0].Ints(), got[0].Ints())
		}
		for ax := range shape {
			for _, name := range []string{"add", "maximum", "subtract"} {
				r := Reduction{Axes: []int{ax}}
				p, err := Find(name).Reduce(a, r)
				if err != nil {
					t.Fatal(err)
				}
				q, err := Find(name).Reduce(x, r)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(p.Ints(), q.Ints()) {
					t.Errorf("%s of %v along %d: %v and %v", name, shape, ax, p.Ints(), q.Ints())
				}
			}
		}
	}
}

// FuzzParseDType reads names of dtypes: what it understands has a name that it reads as the same.
func FuzzParseDType(f *testing.F) {
	for _, s := range []string{"f4", "<i8", ">u2", "U10", "S3", "float32", "?", "|b1", "O"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := ParseDType(s)
		if !ok || d.Num == Object {
			return
		}
		e, ok := ParseDType(d.Str())
		if !ok || !d.Same(e) {
			t.Errorf("%q is %s, which is %v", s, d.Str(), e)
		}
	})
}
