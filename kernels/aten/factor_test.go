package aten

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"whittle/kernels/tensor"
)

func randomMatrix(r *rand.Rand, n, m int) []float64 {
	a := make([]float64, n*m)
	for i := range a {
		a[i] = r.NormFloat64()
	}
	return a
}

func product(a, b []float64, n, k, m int) []float64 {
	o := make([]float64, n*m)
	for i := range n {
		for p := range k {
			for j := range m {
				o[i*m+j] += a[i*k+p] * b[p*m+j]
			}
		}
	}
	return o
}

// TestFactors multiplies the factors of random matrices back together.
func TestFactors(t *testing.T) {
	near := cmpopts.EquateApprox(0, 1e-10)
	r := rand.New(rand.NewPCG(3, 4))
	for _, sz := range [][2]int{{1, 1}, {3, 3}, {5, 2}, {2, 5}, {7, 7}} {
		n, m := sz[0], sz[1]
		a := randomMatrix(r, n, m)
		equal := func(what string, got, want []float64) {
			t.Helper()
			if d := cmp.Diff(want, got, near); d != "" {
				t.Errorf("%s of %dx%d: -want +got\n%s", what, n, m, d)
			}
		}
		u, s, vh, ok := svd(a, n, m, false, true)
		if !ok {
			t.Fatal("svd did not converge")
		}
		k := min(n, m)
		us := append([]float64(nil), u...)
		for i := range us {
			us[i] *= s[i%k]
		}
		equal("U S Vh", product(us, vh, n, k, m), a)
		f := append([]float64(nil), a...)
		tau := qrFactor(f, n, m)
		q := reflectors(f, n, m, tau, n)
		rr := append([]float64(nil), f...)
		keepTriangle(rr, n, m, true)
		equal("Q R", product(q, rr, n, n, m), a)
		equal("Q' Q", product(transposed(q, n, n), q, n, n, n), identity(n))
		if n != m {
			continue
		}
		x := randomMatrix(r, n, 2)
		b := product(a, x, n, n, 2)
		lu := append([]float64(nil), a...)
		piv, info := luFactor(lu, n, n)
		if info != 0 {
			t.Errorf("info %d", info)
		}
		luSolve(lu, piv, b, n, 2, false)
		equal("LU solution", b, x)
		sym := product(a, transposed(a, n, n), n, n, n)
		l, bad := cholesky(append([]float64(nil), sym...), n, false)
		if bad != 0 {
			t.Errorf("minor %d", bad)
		}
		equal("L L'", product(l, transposed(l, n, n), n, n, n), sym)
		for i := range n { // symmetric, and not definite
			sym[i*n+i] -= 2 * float64(n)
		}
		w, v, _ := eigSymmetric(sym, n, false, true)
		vw := append([]float64(nil), v...)
		for i := range vw {
			vw[i] *= w[i%n]
		}
		equal("V W V'", product(vw, transposed(v, n, n), n, n, n), sym)
		b = product(sym, x, n, n, 2)
		ld := append([]float64(nil), sym...)
		lp, _ := ldlFactor(ld, n)
		ldlSolve(ld, lp, b, n, 2)
		equal("LDL solution", b, x)
		ws, vs, _ := eig(a, n, true)
		for j := range n {
			for i := range n {
				var av complex128
				for p := range n {
					av += complex(a[i*n+p], 0) * vs[p*n+j]
				}
				if d := cmplx.Abs(av - ws[j]*vs[i*n+j]); d > 1e-10 {
					t.Errorf("A v - w v of %d is off by %g", n, d)
				}
			}
		}
	}
}

// TestLDLPivots has a matrix that needs a 2x2 block; factors and pivots are LAPACK's.
func TestLDLPivots(t *testing.T) {
	a := []float64{1, 2, 3, 2, 1, 5, 3, 5, 0}
	piv, info := ldlFactor(a, 3)
	if d := cmp.Diff([]int64{-3, -3, 3}, piv); d != "" || info != 0 {
		t.Errorf("pivots: %s, info %d", d, info)
	}
	keepTriangle(a, 3, 3, false)
	want := []float64{1, 0, 0, 3, 0, 0, 5.0 / 3, 1.0 / 9, -26.0 / 9}
	if d := cmp.Diff(want, a, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Errorf("factors: %s", d)
	}
}

// TestFourier compares transforms of awkward lengths with the sum that defines them, and their inverses with what they came from.
func TestFourier(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int64{1, 2, 3, 7, 8, 12, 31} {
		xs := randomMatrix(r, 1, int(n))
		x := tensor.FromFloat64s(xs, n)
		got, err := Run(Eager, "aten.fft_fft", x)
		if err != nil {
			t.Fatal(err)
		}
		for k, z := range got.(*tensor.Tensor).Complexes() {
			var want complex128
			for j, v := range xs {
				want += complex(v, 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(j)*float64(k)/float64(n)))
			}
			if cmplx.Abs(z-want) > 1e-10 {
				t.Errorf("n %d, coefficient %d: %v, want %v", n, k, z, want)
			}
		}
		for _, norm := range []Value{nil, "ortho", "forward"} {
			half, err := Run(Eager, "aten.fft_rfft", x, nil, int64(-1), norm)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Run(Eager, "aten.fft_irfft", half, n, int64(-1), norm)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(xs, back.(*tensor.Tensor).Floats(), cmpopts.EquateApprox(0, 1e-12)); d != "" {
				t.Errorf("n %d, norm %v: %s", n, norm, d)
			}
		}
	}
	_, err := Run(Eager, "aten.fft_fft", tensor.Empty(tensor.BFloat16, 4))
	if err == nil || err.Error() != "Unsupported dtype BFloat16" {
		t.Errorf("a transform of bfloat16: %v", err)
	}
}

// TestComplexRefused checks that a kernel without complex numbers says so, rather than drop imaginary parts.
func TestComplexRefused(t *testing.T) {
	z := tensor.Empty(tensor.Complex64, 2, 2)
	for _, op := range []string{"aten.relu", "aten.cumsum", "aten._softmax", "aten.floor", "aten.linalg_inv_ex"} {
		args := []Value{z, int64(0), false}
		n := len(Lookup(op).Sig().Args)
		_, err := Run(Eager, op, args[:min(n, 3)]...)
		var e *Error
		if err == nil {
			t.Errorf("%s of complex numbers gave a result", op)
		} else if !asError(err, &e) || e.Kind != NotImplementedError && e.Kind != RuntimeError {
			t.Errorf("%s: %v", op, err)
		}
	}
	sum, err := Run(Eager, "aten.add.Tensor", z, complex(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sum.(*tensor.Tensor).Complexes()[3]); got != "(1+2i)" {
		t.Errorf("0 + (1+2i) is %s", got)
	}
}

func asError(err error, to **Error) bool {
	e, ok := err.(*Error)
	*to = e
	return ok
}

// TestNeeds walks the table of demands: each name is an operator, and each argument one of its own.
func TestNeeds(t *testing.T) {
	walked := 0
	for name, list := range needs {
		packet := Packet("aten", name)
		if len(packet) == 0 {
			continue // %d stands for dimensions that not every operator has
		}
		walked++
		for _, n := range list {
			found := false
			for _, op := range packet {
				found = found || op.Sig().Arg(n.arg) >= 0
			}
			if !found && !optionalNeed[n.arg] {
				t.Errorf("%s: no overload has an argument %s", name, n.arg)
			}
		}
	}
	if walked < 80 {
		t.Errorf("only %d names in the table are operators", walked)
	}
}

// optionalNeed are arguments that only some members of a family have.
var optionalNeed = map[string]bool{"self": true, "input": true, "dilation": true, "scale_factors": true, "output_size": true, "stride": true}
