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
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

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
	in.CodeShipped = nil
	if err := in.RunText("<startcode>", loads); err != nil {
		return fmt.Errorf("%s", in.FormatException(err))
	}
	names, err := filepath.Glob(filepath.Join(in.CodeCache, "*", "*"))
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	z.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor(zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderCRC(false)))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		e, err := z.CreateHeader(&zip.FileHeader{Name: filepath.Base(name), Method: zstd.ZipMethodWinZip})
		if err != nil {
			return err
		}
		if _, err := e.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}
