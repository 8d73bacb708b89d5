package choice_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx/choice"
)

// ask asks about four choices, and tells which were taken and which were seen.
func ask(m *choice.Matcher) (taken []bool, seen []string) {
	if m != nil {
		m.Seen = func(c choice.Choice) { seen = append(seen, c.ID+" "+c.Text) }
	}
	for _, c := range [][2]string{{"lowerings", "aten.add"}, {"lowerings", "aten.add"}, {"passes", "cse"}, {"lowerings", "aten.mul"}} {
		taken = append(taken, m.Take(c[0], c[1], "", ""))
	}
	return taken, seen
}

func TestMatcher(t *testing.T) {
	_, all := ask(&choice.Matcher{})
	second := all[1][:12]
	for name, c := range map[string]struct {
		m     *choice.Matcher
		taken []bool
		seen  []string
	}{
		"nil":         {nil, []bool{true, true, true, true}, nil},
		"all":         {&choice.Matcher{}, []bool{true, true, true, true}, all},
		"none":        {&choice.Matcher{Kinds: []string{}}, []bool{false, false, false, false}, nil},
		"a kind":      {&choice.Matcher{Kinds: []string{"passes"}}, []bool{false, false, true, false}, all[2:3]},
		"one":         {&choice.Matcher{Kinds: []string{"lowerings"}, Only: []string{second}}, []bool{false, true, false, false}, []string{all[0], all[1], all[3]}},
		"none of all": {&choice.Matcher{Only: []string{}}, []bool{false, false, false, false}, all},
	} {
		taken, seen := ask(c.m)
		if diff := cmp.Diff(c.taken, taken); diff != "" {
			t.Errorf("%s: taken (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.seen, seen); diff != "" {
			t.Errorf("%s: seen (-want +got):\n%s", name, diff)
		}
	}
	if all[0][:12] == second {
		t.Error("two choices about the same thing have one id")
	}
}
