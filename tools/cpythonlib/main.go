// Command cpythonlib writes CPython 3.11's library, its .py files as they are, into one archive that whittle embeds, and packages that stand beside
// torch in most installations into another.
//
//	go run ./tools/cpythonlib -o capture/python/cpython/lib.zip -site capture/python/cpython/site.zip
//
// They come from the module github.com/kluctl/go-embed-python in the version that go.mod says, which carries a whole CPython. To embed that
// itself would add 31 MB to the program, of which a script needs these 3. The same files give the same archive, byte for byte.
//
// The packages come from the copies that pip carries in that module, under their own names again: where pip has them import each other as
// pip._vendor.NAME, they import NAME, as their authors wrote it.
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
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/kluctl/go-embed-python"

// leftOut are the packages and modules of the library that are not taken along.
var leftOut = []string{"tkinter", "turtle.py", "turtledemo", "idlelib", "lib2to3", "ensurepip", "pydoc_data", "config-3.11-x86_64-linux-gnu"}

// packages are those packages and modules of pip's copies that programs import by themselves.
var packages = []string{"certifi", "idna", "packaging", "requests", "typing_extensions.py", "urllib3"}

func main() {
	out := flag.String("o", "cpython.zip", "the `FILE` to write the library to")
	site := flag.String("site", "site.zip", "the `FILE` to write the packages to")
	flag.Parse()
	if err := run(*out, *site); err != nil {
		fmt.Fprintln(os.Stderr, "cpythonlib:", err)
		os.Exit(1)
	}
}

// run writes the archives.
func run(out, site string) error {
	b, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("go list -m %s: %w", module, err)
	}
	dir := strings.TrimSpace(string(b))
	if err := create(out, os.DirFS(filepath.Join(dir, "python/internal/data/linux-amd64/lib/python3.11")), write); err != nil {
		return err
	}
	return create(site, os.DirFS(filepath.Join(dir, "pip/internal/data/pip/_vendor")), writeSite)
}

// create makes an archive of a folder.
func create(file string, from fs.FS, write func(io.Writer, fs.FS) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := write(f, from); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// library reports whether a file or folder of CPython's library is taken along.
func library(name string, dir bool) bool {
	if slices.Contains(leftOut, name) {
		return false
	}
	return dir || strings.HasSuffix(name, ".py") || name == "LICENSE.txt"
}

// site reports whether a file or folder of pip's copies is taken along: all of a package, its data too.
func site(name string, dir bool) bool {
	first, _, _ := strings.Cut(name, "/")
	return name == "." || slices.Contains(packages, first) && path.Base(name) != "__pycache__"
}

// write writes CPython's library.
func write(w io.Writer, lib fs.FS) error {
	return archive(w, lib, library, func(_ string, text []byte) []byte { return text })
}

var (
	fromVendor = regexp.MustCompile(`(?m)^(\s*)from pip\._vendor import `)
	ofVendor   = regexp.MustCompile(`\bpip\._vendor\.`)
)

// writeSite writes the packages.
func writeSite(w io.Writer, vendor fs.FS) error {
	return archive(w, vendor, site, func(name string, text []byte) []byte {
		if !strings.HasSuffix(name, ".py") {
			return text
		}
		return ofVendor.ReplaceAll(fromVendor.ReplaceAll(text, []byte("${1}import ")), nil)
	})
}

// archive writes the wanted files, in the order of their names and without their times.
func archive(w io.Writer, lib fs.FS, wanted func(name string, dir bool) bool, edit func(name string, text []byte) []byte) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	err := fs.WalkDir(lib, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !wanted(name, d.IsDir()) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || !wanted(name, false):
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
		_, err = e.Write(edit(name, text))
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}
