package real

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/kluctl/go-embed-python/python"
)

// Python is the path of the interpreter, which is unpacked into the user's cache folder by the first use on a machine: a second or two.
var Python = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	p, err := python.NewEmbeddedPythonWithTmpDir(filepath.Join(cache, "whittle", "cpython"), true)
	if err != nil {
		return "", err
	}
	return p.GetExePath()
})
