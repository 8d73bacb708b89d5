package torch

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Which calls draw random numbers, as the Python module says that goes to the far side and into the user's Python.
func TestDraws(t *testing.T) {
	python := python3(t)
	x := "object()"
	cases := []struct{ call, want string }{
		{`"relu", (X,), {}`, "None"},
		{`"mylib_op", (X,), {}`, "None"},
		{`"rand", ([2],), {}`, "True"},
		{`"bernoulli_", (X,), {}`, "True"},
		{`"dropout", (X,), {}`, "True"},                    // of torch.nn.functional
		{`"dropout", (X, 0.5, True), {}`, "True"},          // either
		{`"dropout", (X, 0.5, False), {}`, "False"},        //
		{`"dropout", (X,), {"training": False}`, "False"},  //
		{`"alpha_dropout", (X,), {}`, "False"},             // training=False there
		{`"alpha_dropout", (X, 0.5, True), {}`, "True"},    //
		{`"rrelu", (X,), {"training": True}`, "True"},      //
		{`"native_dropout", (X, 0.5, False), {}`, "False"}, //
		{`"scaled_dot_product_attention", (X, X, X), {}`, "False"},
		{`"scaled_dot_product_attention", (X, X, X, None, 0.1), {}`, "True"},
		{`"scaled_dot_product_attention", (X, X, X), {"dropout_p": X}`, "True"}, // not known here
		{`"lstm", (X, (X, X), [X], True, 2, 0.5, True, False, True), {}`, "True"},
		{`"lstm", (X, (X, X), [X], True, 2, 0.5, False, False, True), {}`, "False"},
		{`"inductor_random", ([2], X, "rand"), {}`, "True"},
		{`"inductor_force_stride_order", (X, [1]), {}`, "None"},
	}
	script, want := Draws()+"X = "+x+"\n", ""
	for _, c := range cases {
		script += "print(may_draw(" + c.call + "))\n"
		want += c.want + "\n"
	}
	script += `print(names_draw(["torch", "relu"]), names_draw(["torch", "dropout"]))` + "\n"
	want += "False True\n"
	cmd := exec.Command(python, "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
