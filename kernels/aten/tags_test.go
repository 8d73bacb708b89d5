package aten

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tags are as torch.ops.aten.X.tags has them in PyTorch 2.6.
func TestPublicTags(t *testing.T) {
	for name, want := range map[string][]string{
		"aten.add.Tensor":  {"core", "pointwise", pt2},
		"aten.item":        {"data_dependent_output", pt2},
		"aten.nonzero":     {"core", "dynamic_output_shape", pt2},
		"aten.t_":          {"inplace_view", pt2},
		"aten.rand":        {"core", "nondeterministic_seeded", pt2},
		"aten.expand_copy": {pt2, "view_copy"},
		"aten.matmul":      {pt2},
	} {
		op := Lookup(name)
		if op == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		if diff := cmp.Diff(want, op.PublicTags()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for tag := range tagged() {
		if !slices.Contains(TagNames, strings.TrimPrefix(tag, "!")) {
			t.Errorf("tags.tsv has the tag %s", tag)
		}
	}
}
