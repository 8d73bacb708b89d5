package reduce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"whittle/repros/engine"
)

// Spending says what time went to, in seconds, most first: "start 4.1, C++ 3.0". What would be 0.0 is left out.
func Spending(spent map[string]time.Duration) string {
	kinds := slices.Clone(engine.Kinds)
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(spent[b], spent[a]) })
	var parts []string
	for _, k := range kinds {
		if spent[k] >= 50*time.Millisecond {
			parts = append(parts, fmt.Sprintf("%s %.1f", k, spent[k].Seconds()))
		}
	}
	return strings.Join(parts, ", ")
}

// Time is what the search took, how that compares with its floor where that is known, and what it went to.
func (r Report) Time() string {
	text := fmt.Sprintf("%.1f s", r.Elapsed.Seconds())
	if r.Floor > 0 {
		text += fmt.Sprintf(", %.1f times its floor of %.1f s", r.Elapsed.Seconds()/r.Floor.Seconds(), r.Floor.Seconds())
	}
	if s := Spending(r.Spent); s != "" {
		text += " (" + s + ")"
	}
	return text
}
