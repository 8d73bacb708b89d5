package startcode

import (
	"archive/zip"
	_ "embed"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"whittle/capture/python/code"
)

//go:generate go run ../../startcode -o code.zip

//go:embed code.zip
var archive string

// shipped is the archive, opened.
type shipped struct {
	files   map[string]*file
	order   []*file // as the imports ask for them
	decoder *zstd.Decoder
}

// file is one of the archive. Two goroutines may want it: the one that asks, and the one that reads ahead.
type file struct {
	*zip.File
	once sync.Once
	code *code.Code
}

var open = sync.OnceValue(func() *shipped {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		damaged(err)
	}
	s := &shipped{files: make(map[string]*file, len(r.File)), order: make([]*file, len(r.File))}
	files := make([]file, len(r.File))
	for i, f := range r.File {
		files[i].File = f
		s.files[f.Name], s.order[i] = &files[i], &files[i]
	}
	if s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true)); err != nil {
		damaged(err)
	}
	return s
})

// damaged panics: the archive was whole when this program was built.
func damaged(err error) { panic("startcode: the embedded code is damaged: " + err.Error()) }

// Code gives the code that the code cache would have under a name, nil for one that is not here.
func Code(name string) *code.Code {
	s := open()
	f := s.files[name]
	if f == nil {
		return nil
	}
	return s.read(f)
}

// Ahead reads all that is here, in the order in which importing torch asks for it. It is for a goroutine beside the one that imports, which takes
// three times as long to run a module as this does to read it.
func Ahead() {
	s := open()
	for _, f := range s.order {
		s.read(f)
	}
}

func (s *shipped) read(f *file) *code.Code {
	f.once.Do(func() {
		at, err := f.DataOffset()
		if err != nil {
			damaged(err)
		}
		b, err := s.decoder.DecodeAll([]byte(archive[at:at+int64(f.CompressedSize64)]), make([]byte, 0, f.UncompressedSize64))
		if err != nil {
			damaged(err)
		}
		if f.code, err = code.Unmarshal(b); err != nil {
			damaged(err)
		}
	})
	return f.code
}
