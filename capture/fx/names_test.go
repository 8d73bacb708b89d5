package fx

import (
	"encoding/json"
	"os"
	"testing"
)

// testdata/names.json holds random runs of PyTorch 2.6's own name generator.
func TestNamesAreThoseOfPyTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var runs [][][2]string
	if err := json.Unmarshal(b, &runs); err != nil {
		t.Fatal(err)
	}
	for i, run := range runs {
		var ns namespace
		for j, p := range run {
			if got := ns.create(p[0]); got != p[1] {
				t.Errorf("run %d step %d: %s gives %s, want %s", i, j, p[0], got, p[1])
				break
			}
		}
	}
}
