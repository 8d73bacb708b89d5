package cpython

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
	"sync"
)

//go:generate go run ../../../tools/cpythonlib -o lib.zip

//go:embed lib.zip
var archive string

// Lib is the library: "os.py", "json/__init__.py" and so on. A file is unpacked each time that it is read.
var Lib = sync.OnceValue(func() fs.FS {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("cpython: the embedded library is damaged: " + err.Error()) // it was when this program was built
	}
	return r
})
