package replay

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		what string
		want string
	}{
		{1, "query", "1 query"}, {0, "query", "0 queries"}, {2, "query", "2 queries"}, {1, "call", "1 call"}, {12, "input element", "12 input elements"}, {3, "way", "3 ways"},
	} {
		if got := Count(c.n, c.what); got != c.want {
			t.Errorf("%d of %s: %q", c.n, c.what, got)
		}
	}
}
