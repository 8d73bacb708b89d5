package main

import (
	"bytes"
	"os"
	"testing"
)

// TestArchive: the embedded code is what go generate writes.
func TestArchive(t *testing.T) {
	want, err := os.ReadFile("../whittle/startcode/code.zip")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("code.zip is not what go generate writes: go generate ./tools/whittle/startcode")
	}
}
