package aten

import (
	"strings"
	"testing"
)

// TestRegistry walks every row: schemas parse and print, variants exist, and tags keep their promises.
func TestRegistry(t *testing.T) {
	r := theRegistry()
	for _, p := range r.loose {
		t.Errorf("registry: %s", p)
	}
	t.Logf("%d rows", len(r.ops))
	for _, op := range All() {
		s := op.Sig()
		if again, err := ParseSchema(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%s: does not round-trip: %v", op, err)
		}
		if op.Decomp == nil && (op.Meta == nil || op.Eager == nil) {
			t.Errorf("%s: neither decomposition nor both kernels", op)
		}
		if op.Has(Inplace) && !s.Args[0].Write() {
			t.Errorf("%s: in place but writes nothing", op)
		}
		if op.Has(OutVariant) && !strings.Contains(s.String(), "*, ") {
			t.Errorf("%s: out variant without keyword arguments", op)
		}
		if op.Has(View) && s.Args[0].Alias == "" {
			t.Errorf("%s: a view without an alias annotation", op)
		}
		if op.Has(Composite) && op.Decomp == nil {
			t.Errorf("%s: composite without decomposition", op)
		}
	}
}
