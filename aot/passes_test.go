package aot

import (
	"slices"
	"testing"
)

// TestOrderOfPasses: a pass comes after those that it says, and its name is its own.
func TestOrderOfPasses(t *testing.T) {
	var names []string
	for _, p := range passes {
		for _, before := range p.after {
			if !slices.Contains(names, before) {
				t.Errorf("%s does not come after %s", p.name, before)
			}
		}
		if slices.Contains(names, p.name) {
			t.Errorf("two passes are called %s", p.name)
		}
		names = append(names, p.name)
	}
}
