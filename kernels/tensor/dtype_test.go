package tensor

import "testing"

// TestEpsilon has the figures of torch.finfo in PyTorch 2.6.
func TestEpsilon(t *testing.T) {
	for d, want := range map[DType]float64{
		Float64: 2.220446049250313e-16, Float32: 1.1920928955078125e-07, Float16: 0.0009765625, BFloat16: 0.0078125,
		Float8E4M3FN: 0.125, Float8E4M3FNUZ: 0.125, Float8E5M2: 0.25, Float8E5M2FNUZ: 0.125,
		Complex32: 0.0009765625, Complex64: 1.1920928955078125e-07, Complex128: 2.220446049250313e-16,
		Int64: 0, Bool: 0,
	} {
		if got := d.Epsilon(); got != want {
			t.Errorf("%s: %g, not %g", d, got, want)
		}
	}
}
