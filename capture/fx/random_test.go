package fx

import (
	"slices"
	"testing"
)

// What draws is found under its names in aten, in Python's functions and among the methods.
func TestDraws(t *testing.T) {
	switches := map[string]bool{} // whether some form has none
	for _, d := range Draws() {
		switches[d.Name] = switches[d.Name] || len(d.Facts.Switches()) == 0
	}
	for name, always := range map[string]bool{"rand": true, "randint_like": true, "bernoulli_": true, "dropout": false, "alpha_dropout": false, "kaiming_normal_": true, "gumbel_softmax": true,
		"inductor_seeds": true, "philox_rand": true, "native_dropout": false, "scaled_dot_product_attention": false, "lstm": false} {
		if got, ok := switches[name]; !ok || got != always {
			t.Errorf("%s: among them %v, always draws %v", name, ok, got)
		}
	}
	for _, not := range []string{"relu", "empty", "manual_seed", "where", "sort", "normalize"} {
		if slices.ContainsFunc(Draws(), func(d Draw) bool { return d.Name == not }) {
			t.Errorf("%s draws nothing", not)
		}
	}
}
