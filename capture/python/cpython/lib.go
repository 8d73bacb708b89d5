package cpython

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
	"sync"
)

//go:generate go run ../../../tools/cpythonlib -o lib.zip -site site.zip

//go:embed lib.zip
var archive string

//go:embed site.zip
var siteArchive string

// Lib is the library: "os.py", "json/__init__.py" and so on. A file is unpacked each time that it is read.
var Lib = sync.OnceValue(func() fs.FS { return open(archive) })

// Site are packages that a Python with torch has in its site-packages: requests, packaging, and what they stand on.
var Site = sync.OnceValue(func() fs.FS { return open(siteArchive) })

// open is an archive as a file system.
func open(archive string) fs.FS {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("cpython: the embedded library is damaged: " + err.Error()) // it was when this program was built
	}
	return r
}
