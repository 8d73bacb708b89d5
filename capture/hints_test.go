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
	for name, rows := range map[string][]hint{"recompiles": recompileHints} {
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
