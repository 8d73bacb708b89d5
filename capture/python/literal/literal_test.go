package literal

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRepr(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Float(0), "0.0"}, {Float(math.Copysign(0, -1)), "-0.0"}, {Float(1e15), "1000000000000000.0"}, {Float(1e16), "1e+16"}, {Float(0.0001), "0.0001"},
		{Float(0.00001), "1e-05"}, {Float(0.1), "0.1"}, {Float(math.Inf(-1)), "-inf"}, {Float(math.NaN()), "nan"}, {Float(5e-324), "5e-324"}, {Float(0.09999999999999998), "0.09999999999999998"}, {Float(1.5e-300), "1.5e-300"},
		{Complex(2i), "2j"}, {Complex(complex(math.Copysign(0, -1), 2)), "(-0+2j)"}, {Complex(1.5 - 2i), "(1.5-2j)"}, {Complex(complex(1, math.Inf(1))), "(1+infj)"},
		{Str(""), "''"}, {Str("it's"), `"it's"`}, {Str(`it's "so"`), `'it\'s "so"'`}, {Str("a\\b\t\n\r\x00\x7f"), `'a\\b\t\n\r\x00\x7f'`},
		{Str("ü"), "'ü'"}, {Str("\u00a0\u2028\U000e0001"), `'\xa0\u2028\U000e0001'`}, {Str("😀"), "'😀'"},
		{Bytes("a'\xff\n"), `b"a'\xff\n"`},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}
