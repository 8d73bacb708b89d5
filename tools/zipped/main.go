// Command zipped writes a folder's files into one archive, for a package that embeds them: text takes a quarter of the room there.
//
//	go run ./tools/zipped -o capture/torch/py.zip capture/torch/py
//
// The same files give the same archive, byte for byte.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("o", "files.zip", "the `FILE` to write")
	flag.Parse()
	if err := run(*out, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "zipped:", err)
		os.Exit(1)
	}
}

// run writes the archive of a folder.
func run(out, folder string) error {
	b, err := archive(os.DirFS(folder))
	if err != nil {
		return err
	}
	return os.WriteFile(out, b, 0o644)
}

// archive holds a folder's files, but for what a Python left beside them.
func archive(folder fs.FS) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	err := fs.WalkDir(folder, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(filepath.ToSlash(path), "__pycache__/") {
			return err
		}
		text, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
