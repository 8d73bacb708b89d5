package real_test

import (
	"os/exec"
	"testing"

	"whittle/capture/python/cpython/real"
)

func TestPython(t *testing.T) {
	py, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(py, "-c", "import sys, _decimal; print(*sys.version_info[:2])").CombinedOutput(); err != nil || string(out) != "3 11\n" {
		t.Errorf("%q, %v", out, err)
	}
}
