package vm

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"whittle/capture/python/code"
	"whittle/capture/python/syntax"
)

// Code that was compiled before is read instead of compiled again: Imports.CodeShipped has what came with the program, Imports.CodeCache names
// the folder of the rest, empty for none. A module's file there is
// named by what it was made of, the name of its source and its text, and lies in a folder of this build, as another may compile otherwise. It
// is written under another name first. What cannot be read or written, or is damaged, is as if it were not there.

// keptBuilds is how many builds' folders stay in a cache.
const keptBuilds = 4

// buildName tells this build from others by its program file.
var buildName = sync.OnceValue(func() string {
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	st, err := os.Stat(file)
	if err != nil {
		return ""
	}
	b := binary.LittleEndian.AppendUint64([]byte(file), uint64(st.Size()))
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(st.ModTime().UnixNano())))
	return hex.EncodeToString(sum[:8])
})

// shortText bounds the texts that may have been shipped: a module that makes functions of a text, as dataclasses does, makes one at a time.
const shortText = 4 << 10

// compiledText gives the code of a text that a program compiles: what came with this program, else nil, and the caller compiles it.
func (im *Imports) compiledText(file, src string, mode code.Mode) (*code.Code, error) {
	if im.CodeShipped == nil || im.Optimize != code.Whole || len(src) > shortText || mode == code.Single {
		return nil, nil
	}
	stamp := fmt.Sprintf("%s\x00text%s", src, mode)
	if im.ShipsTexts {
		return im.compiled(file, stamp, func() (string, error) { return src, nil }, func(file, src string) (*code.Code, error) {
			c, err := im.Optimize.Typed(file, src, mode, syntax.Typed{})
			if err == nil && len(c.Warnings) > 0 {
				return nil, fmt.Errorf("a module's text warns: %s", src)
			}
			return c, err
		})
	}
	c := im.CodeShipped(codeName(file, stamp))
	if c == nil || c.Filename != file {
		return nil, nil
	}
	return c.WithSource(src), nil
}

// codeName is the name of code, by what it was made of.
func codeName(file, stamp string) string {
	sum := sha256.Sum256([]byte(file + "\x00" + stamp))
	return hex.EncodeToString(sum[:12])
}

// compiled gives the code of a source file: from the cache, or by compiling text() with compile, for the cache to keep. stamp is what stands
// for the text: the same only if that is the same.
func (im *Imports) compiled(file, stamp string, text func() (string, error), compile func(file, src string) (*code.Code, error)) (*code.Code, error) {
	if im.Optimize != code.Whole {
		stamp = fmt.Sprintf("%s\x00-O%d", stamp, im.Optimize)
	}
	name, path := codeName(file, stamp), ""
	if im.CodeShipped != nil {
		if c := im.CodeShipped(name); c != nil && c.Filename == file {
			return c, nil
		}
	}
	if im.CodeCache != "" && buildName() != "" {
		path = filepath.Join(im.CodeCache, buildName(), name)
		if data, err := os.ReadFile(path); err == nil {
			if c := codeOf(data, file); c != nil {
				return c, nil
			}
		}
	}
	src, err := text()
	if err != nil {
		return nil, err
	}
	c, err := compile(file, src)
	if err == nil && path != "" {
		if data, ok := code.Marshal(c); ok {
			im.keep(path, data)
		}
	}
	return c, err
}

// KeptCode is the code of modules inside the program. Its zero value is empty; interpreters on several goroutines may have it.
type KeptCode struct{ modules sync.Map }

// module gives the code of a module inside the program: compiled's, which is kept where it can be.
func (im *Imports) module(file, stamp string, text func() (string, error)) (*code.Code, error) {
	if im.CodeKept == nil {
		return im.compiled(file, stamp, text, im.Optimize.Known)
	}
	type key struct {
		file, stamp string
		level       code.Optimize
	}
	k := key{file, stamp, im.Optimize}
	if c, ok := im.CodeKept.modules.Load(k); ok {
		return c.(*code.Code), nil
	}
	c, err := im.compiled(file, stamp, text, im.Optimize.Known)
	if err == nil {
		im.CodeKept.modules.Store(k, c)
	}
	return c, err
}

// codeOf reads the code of a source file, nil if data is none.
func codeOf(data []byte, file string) *code.Code {
	if data == nil {
		return nil
	}
	c, err := code.Unmarshal(data)
	if err != nil || c.Filename != file {
		return nil
	}
	return c
}

// keep writes a file of the cache, if it can.
func (im *Imports) keep(path string, data []byte) {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		if os.MkdirAll(dir, 0o755) != nil {
			return
		}
		dropBuilds(im.CodeCache)
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// dropBuilds removes the oldest builds' folders.
func dropBuilds(cache string) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	age := func(e fs.DirEntry) int64 {
		if st, err := e.Info(); err == nil {
			return st.ModTime().UnixNano()
		}
		return 0
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return int(min(max(age(b)-age(a), -1), 1)) })
	for i, e := range entries {
		if i >= keptBuilds && e.IsDir() && len(e.Name()) == 16 && strings.Trim(e.Name(), "0123456789abcdef") == "" {
			os.RemoveAll(filepath.Join(cache, e.Name()))
		}
	}
}

// textStamp stands for a text by its sum.
func textStamp(text []byte) string {
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// source finds a file of a tree: its stamp, and what reads its text. A file of an archive has its sum in the archive's list, so that it
// need not be unpacked for that.
func (t *sourceTree) source(file string) (stamp string, text func() (string, error), ok bool) {
	read := func() (string, error) {
		b, err := fs.ReadFile(t.fs, file)
		return string(b), err
	}
	if _, isZip := t.fs.(*zip.Reader); isZip {
		st, err := fs.Stat(t.fs, file)
		if err != nil || st.IsDir() {
			return "", nil, false
		}
		if h, ok := st.Sys().(*zip.FileHeader); ok {
			return string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, h.CRC32), h.UncompressedSize64)), read, true
		}
	}
	b, err := fs.ReadFile(t.fs, file)
	if err != nil {
		return "", nil, false
	}
	return textStamp(b), func() (string, error) { return string(b), nil }, true
}
