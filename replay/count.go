package replay

import (
	"fmt"
	"regexp"
	"sync"
)

var consonantY = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^aeiou]y$`) })

// Count is a number of things as one says it: 1 query, 2 queries.
func Count[N int | int64](n N, what string) string {
	switch {
	case n == 1:
	case consonantY().MatchString(what):
		what = what[:len(what)-1] + "ies"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
