// Command startcode compiles the modules that import torch loads into the archive that package startcode embeds.
//
//	go run ./tools/startcode -o tools/whittle/startcode/code.zip
//
// It is to be run where the compiler of package code, or one of these modules, has changed. The same program gives the same archive, byte for
// byte.
package main

import (
	"archive/zip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"whittle/capture/python/code"
	"whittle/tools/whittle/stack"
)

// loads is what a first run is likely to import.
const loads = "import torch, argparse, dataclasses, json, random, time, typing"

func main() {
	out := flag.String("o", "code.zip", "the `FILE` to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "startcode:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	return f.Close()
}

// write runs the imports with an empty cache, and packs what the cache has then.
func write(w io.Writer) error {
	cache, err := os.MkdirTemp("", "startcode-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	in := stack.New(context.Background(), cache).In
	in.ShipsTexts = true
	var asked []string // the order in which code is wanted
	in.CodeShipped = func(name string) *code.Code {
		asked = append(asked, name)
		return nil
	}
	if err := in.RunText("<startcode>", loads); err != nil {
		return fmt.Errorf("%s", in.FormatException(err))
	}
	folders, err := filepath.Glob(filepath.Join(in.CodeCache, "*"))
	if err != nil {
		return err
	}
	if len(folders) != 1 {
		return fmt.Errorf("the code cache has %d folders, of one build", len(folders))
	}
	z := zip.NewWriter(w)
	z.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor(zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderCRC(false)))
	packed := map[string]bool{}
	for _, name := range asked {
		data, err := os.ReadFile(filepath.Join(folders[0], name))
		if errors.Is(err, fs.ErrNotExist) || packed[name] {
			continue // it is compiled each time, or was asked for before
		}
		if err != nil {
			return err
		}
		packed[name] = true
		e, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zstd.ZipMethodWinZip})
		if err != nil {
			return err
		}
		if _, err := e.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}
