package vm_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/cpython/real"
)

// TestTextSignatures holds the embedded table against the CPython that it was made by.
func TestTextSignatures(t *testing.T) {
	python, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command(python, "maketextsigs.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("textsigs.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := io.Copy(&got, r); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("textsigs.tsv.gz is not what maketextsigs.py prints (-want +got):\n%s", d)
	}
}
