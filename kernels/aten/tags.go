package aten

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// tags.tsv lists the tags of PyTorch 2.6's operators: a tag, and those that have it; behind a "!" are those that lack it.
//
//go:embed tags.tsv
var tagsTSV string

// pt2 is the tag of nearly all of PyTorch's operators.
const pt2 = "pt2_compliant_tag"

// TagNames are the names of torch.Tag, in its order.
var TagNames = []string{"core", "data_dependent_output", "dynamic_output_shape", "flexible_layout", "generated", "inplace_view", "maybe_aliasing_or_mutating",
	"needs_fixed_stride_order", "nondeterministic_bitwise", "nondeterministic_seeded", "pointwise", pt2, "view_copy"}

// tagged are the names of operators by tag.
var tagged = sync.OnceValue(func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for line := range strings.Lines(tagsTSV) {
		tag, names, _ := strings.Cut(strings.TrimSpace(line), "\t")
		m[tag] = setOfNames(names)
	}
	return m
})

// PublicTags are the tags that PyTorch gives to one of its own operators, in the order of TagNames; nil for those of programs.
func (op *Op) PublicTags() []string {
	s := op.Sig()
	if op.Library != nil || s.Namespace != "aten" {
		return nil
	}
	name := s.Name
	if s.Overload != "" {
		name += "." + s.Overload
	}
	var out []string
	for tag, names := range tagged() {
		if tag[0] != '!' && names[name] {
			out = append(out, tag)
		}
	}
	if !tagged()["!"+pt2][name] {
		out = append(out, pt2)
	}
	slices.Sort(out)
	return out
}
