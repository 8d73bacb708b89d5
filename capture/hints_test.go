package capture

import (
	"strings"
	"testing"
)

func TestHints(t *testing.T) {
	for _, c := range []struct {
		of     func(string) string
		reason string
		want   string // part of the advice
	}{
		{BreakHint, "Data-dependent jump", "torch.cond"},
		{BreakHint, "generic_jump TensorVariable()", "torch.where"},
		{BreakHint, "Unsupported: Tensor.item", "capture_scalar_outputs"},
		{BreakHint, "Unsupported: dynamic shape operator: aten.nonzero", "capture_dynamic_output_shape_ops"},
		{BreakHint, "Unsupported: builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False", "is_compiling"},
		{BreakHint, "Unsupported: builtin: open [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False", "outside"},
		{BreakHint, "Unsupported: 'skip function graph_break in file torch/_dynamo/decorators.py'", "asks for this break"},
		{BreakHint, "Unsupported: 'skip function Random.seed in file random.py'", "custom_op"},
		{BreakHint, "Unsupported: Graph break due to unsupported builtin time.time. This function is either a Python builtin (e.g. _warnings.warn) or a third-party", "custom_op"},
		{BreakHint, "Unsupported: Graph break due to unsupported Python builtin _warnings.warn.", "warn outside"},
		{BreakHint, "Unsupported: NYI - User defind vjp", "write backward"},
		{BreakHint, "Unsupported: something that is new", "graph_breaks"},
		{RecompileHint, "tensor 'L['x']' size mismatch at index 0. expected 2, actual 3", "mark_dynamic"},
		{RecompileHint, "tensor 'L['x']' dtype mismatch. expected Float, actual Double", "dtype"},
		{RecompileHint, "GLOBAL_STATE changed: grad_mode ", "gradients"},
		{RecompileHint, "L['k'] == 3", "tensor"},
		{RecompileHint, "___check_obj_id(L['flag'], 7)", "object"},
	} {
		if got := c.of(c.reason); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %q\nwant something about %q", c.reason, got, c.want)
		}
	}
}

// A row that an earlier one hides would never be read.
func TestHintsReachable(t *testing.T) {
	for name, rows := range map[string][]hint{"breaks": breakHints, "recompiles": recompileHints} {
		for i, h := range rows {
			seen := false
			for _, r := range h.reasons {
				seen = seen || advice(rows, r, "") == h.advice
			}
			if !seen {
				t.Errorf("%s: row %d (%s) is hidden", name, i, h.reasons[0])
			}
		}
	}
}
