package capture_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A wrong call with an unknown number in it raises what Python raises, which the program may catch.
func TestWrongCallsOnNumbers(t *testing.T) {
	for _, call := range []string{
		"isinstance(1, n)", "isinstance(n)", "isinstance(n, int, n)", "math.sin(1.0, n)", "math.sin(n, n)", "math.gcd(n, 'a')", "max(n)", "min(n, key=3)",
		"abs(1, n)", "divmod(n)", "pow(n)", "len(n)", "sum(n)", "float(n, n)", "int(n, n)", "bool(n, n)", "range(n, n, n, n)", "n()", "n[0]",
	} {
		src := `
import math
def f(x):
    n = x.shape[0]
    try:
        return x + ` + call + `
    except TypeError as e:
        return x * 2
print(`
		_, eager := trace(t, src+"f(torch.ones(3)))")
		_, got := trace(t, src+"torch.compile(f, backend='eager', dynamic=True)(torch.ones(3)))")
		if diff := cmp.Diff(eager.out, got.out); diff != "" {
			t.Errorf("%s: eager and compiled: %s", call, diff)
		}
	}
}
