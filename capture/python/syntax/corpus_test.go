package syntax

import (
	"os"
	"strings"
	"testing"
)

// TestParseListed parses the files listed in the file that WHITTLE_FILES names.
func TestParseListed(t *testing.T) {
	list := os.Getenv("WHITTLE_FILES")
	if list == "" {
		t.Skip("WHITTLE_FILES is not set")
	}
	b, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(b)) {
		src, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if _, err := Parse(f, string(src)); err != nil {
			t.Errorf("%v", err)
		}
	}
}
