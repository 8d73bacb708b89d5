package libm

import (
	"math"
	"testing"
)

// The values are CPython's; Go's own pow differs from the first in the last digit.
func TestAgreesWithCPython(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"123456.789 ** 6", Pow(123456.789, 6), 3.5407059681495986808e30},
		{"log(10)", Log(10), 2.302585092994046},
		{"exp(1)", Exp(1), 2.718281828459045},
		{"pow(0, -1)", Pow(0, -1), math.Inf(1)},
		{"atan2(-0.0, -1)", Atan2(math.Copysign(0, -1), -1), -math.Pi},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}
