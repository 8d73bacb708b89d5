package startcode

import (
	"archive/zip"
	_ "embed"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ../../startcode -o code.zip

//go:embed code.zip
var archive string

// shipped is the archive, opened.
type shipped struct {
	files   map[string]*zip.File
	decoder *zstd.Decoder
}

var open = sync.OnceValue(func() shipped {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		damaged(err)
	}
	s := shipped{files: make(map[string]*zip.File, len(r.File))}
	for _, f := range r.File {
		s.files[f.Name] = f
	}
	if s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err != nil {
		damaged(err)
	}
	return s
})

// damaged panics: the archive was whole when this program was built.
func damaged(err error) { panic("startcode: the embedded code is damaged: " + err.Error()) }

// Read gives a file of the code cache, nil for one that is not here.
func Read(name string) []byte {
	s := open()
	f := s.files[name]
	if f == nil {
		return nil
	}
	at, err := f.DataOffset()
	if err != nil {
		damaged(err)
	}
	b, err := s.decoder.DecodeAll([]byte(archive[at:at+int64(f.CompressedSize64)]), make([]byte, 0, f.UncompressedSize64))
	if err != nil {
		damaged(err)
	}
	return b
}
