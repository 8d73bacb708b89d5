package startcode

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
	"sync"
)

//go:generate go run ../../startcode -o code.zip

//go:embed code.zip
var archive string

var files = sync.OnceValue(func() fs.FS {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("startcode: the embedded code is damaged: " + err.Error()) // it was when this program was built
	}
	return r
})

// Read gives a file of the code cache, nil for one that is not here.
func Read(name string) []byte {
	b, err := fs.ReadFile(files(), name)
	if err != nil {
		return nil
	}
	return b
}
