// Command cpythonlib writes CPython 3.11's library, its .py files as they are, into one archive that whittle embeds.
//
//	go run ./tools/cpythonlib -o capture/python/cpython/lib.zip
//
// They come from the module github.com/kluctl/go-embed-python in the version that go.mod says, which carries a whole CPython. To embed that
// itself would add 31 MB to the program, of which a script needs these 3. The same files give the same archive, byte for byte.
//
// Left out is what only runs with the C of a graphical toolkit, and what installs or converts Python itself.
package main

import (
	"archive/zip"
	"compress/flate"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/kluctl/go-embed-python"

// leftOut are the packages and modules of the library that are not taken along.
var leftOut = []string{"tkinter", "turtle.py", "turtledemo", "idlelib", "lib2to3", "ensurepip", "pydoc_data", "config-3.11-x86_64-linux-gnu"}

func main() {
	out := flag.String("o", "cpython.zip", "the `FILE` to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "cpythonlib:", err)
		os.Exit(1)
	}
}

// run writes the archive.
func run(out string) error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("go list -m %s: %w", module, err)
	}
	lib := os.DirFS(filepath.Join(strings.TrimSpace(string(dir)), "python/internal/data/linux-amd64/lib/python3.11"))
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f, lib); err != nil {
		return err
	}
	return f.Close()
}

// write writes the files of a library into an archive, in the order of their names and without their times.
func write(w io.Writer, lib fs.FS) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	err := fs.WalkDir(lib, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, l := range leftOut {
			if name == l && d.IsDir() {
				return fs.SkipDir
			}
			if name == l {
				return nil
			}
		}
		if d.IsDir() || !strings.HasSuffix(name, ".py") && name != "LICENSE.txt" {
			return nil
		}
		text, err := fs.ReadFile(lib, name)
		if err != nil {
			return err
		}
		e, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = e.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}
