package capture_test

import (
	"slices"
	"strings"
	"testing"

	"whittle/capture"
)

// Every list of names says what it is for, names nothing twice, and names nothing that is not there. Lists without a rule in
// PyTorch are about what is Python there and Go here, or the other way about.
func TestCallRules(t *testing.T) {
	ownRules := []string{"torchState", "levelState", "statelessTypes"}
	s, _ := trace(t, "")
	for name, l := range capture.CallRules() {
		if l.Why == "" || len(l.Names) == 0 {
			t.Errorf("%s: no reason, or no names", name)
		}
		if (l.Torch == "") != slices.Contains(ownRules, name) {
			t.Errorf("%s: PyTorch's rule is in %q", name, l.Torch)
		}
		if l.Torch != "" && !strings.Contains(l.Torch, ".py") {
			t.Errorf("%s: %q names no file of PyTorch", name, l.Torch)
		}
		if l.Home != "" {
			m, err := s.In.Import(l.Home)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range l.Names {
				if _, err := s.In.GetAttr(m, n); err != nil {
					t.Errorf("%s: %s has no %s", name, l.Home, n)
				}
			}
		}
		sorted := slices.Sorted(slices.Values(l.Names))
		if len(slices.Compact(sorted)) != len(l.Names) {
			t.Errorf("%s: a name stands twice: %q", name, l.Names)
		}
	}
}
