package repros

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"whittle/replay/files"
)

// Loader reads the stored inputs of a repro whose file lies in dir, from its SaveDir. It is nil where the repro was written without data
// (save_dir=None): then random data stand in, as when PyTorch runs the file. A storage that should be there and is not is a MissingError.
func (r *Repro) Loader(dir string) func(hash string) ([]byte, error) {
	if r.SaveDir == "" {
		return nil
	}
	if !filepath.IsAbs(r.SaveDir) {
		dir = filepath.Join(dir, r.SaveDir)
	} else {
		dir = r.SaveDir
	}
	load := DirLoader(dir)
	return func(hash string) ([]byte, error) {
		b, err := load(hash)
		if err != nil {
			return nil, &MissingError{Hash: hash, Dir: dir, Err: err}
		}
		return b, nil
	}
}

// MissingError says that the data of an input are not where the repro says they are. No other data are taken in their place: the failure may
// depend on them.
type MissingError struct {
	Hash string
	Dir  string // of the storages
	Err  error
}

func (e *MissingError) Error() string {
	why := e.Err.Error()
	if errors.Is(e.Err, fs.ErrNotExist) {
		why = "there is no such file"
	}
	return fmt.Sprintf("storage %s is not to be had from %s: %s (with save_dir=None random data stand in for all inputs)", e.Hash, filepath.Join(e.Dir, "storages", e.Hash), why)
}
func (e *MissingError) Unwrap() error { return e.Err }

// DirLoader reads storages by content hash from a save_dir: dir/storages/HASH, an archive as torch.save writes it.
func DirLoader(dir string) func(hash string) ([]byte, error) {
	return func(hash string) ([]byte, error) {
		if hash == "" || strings.ContainsAny(hash, `/\`) || hash == ".." {
			return nil, fmt.Errorf("%q is no storage hash", hash)
		}
		return ReadStorage(filepath.Join(dir, "storages", hash))
	}
}

// ReadStorage reads the one storage in a torch.save archive.
func ReadStorage(path string) ([]byte, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "/data/0") {
			continue
		}
		rc, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		defer rc.Close()
		b, err := io.ReadAll(rc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s: no storage in the archive", path)
}

// StorageHash is the content hash that storages go by: SHA-1, as PyTorch's stable_hash.
func StorageHash(data []byte) string {
	sum := sha1.Sum(data)
	return hex.EncodeToString(sum[:])
}

// SaveStorage writes bytes under dir/storages by content hash, in the form that torch.load reads, for good: synced, and a file of that name
// that holds other data stays and is an error.
func SaveStorage(dir string, data []byte) error {
	hash := StorageHash(data)
	var b bytes.Buffer
	if err := EncodeStorage(&b, hash, data); err != nil {
		return err
	}
	return saveArchive(dir, hash, b.Bytes())
}

// SaveStorages saves what another folder of the same form holds.
func SaveStorages(from, dir string) error {
	all, err := os.ReadDir(filepath.Join(from, "storages"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range all {
		var archive []byte
		if err == nil {
			archive, err = os.ReadFile(filepath.Join(from, "storages", e.Name()))
		}
		if err == nil {
			err = saveArchive(dir, e.Name(), archive)
		}
	}
	return err
}

// saveArchive puts an archive in its place. Two Pythons write the same storage in two ways: one that is there and has the data is as good.
func saveArchive(dir, hash string, archive []byte) error {
	path := filepath.Join(dir, "storages", hash)
	err := files.Exact(path, archive)
	var exists *files.ExistsError
	if errors.As(err, &exists) {
		if data, rerr := ReadStorage(path); rerr == nil && StorageHash(data) == hash {
			return nil
		}
	}
	return err
}

// WriteStorage writes bytes as SaveStorage does into a folder that is whittle's own and does not last: nothing is synced, and what has the
// name has the data.
func WriteStorage(dir string, data []byte) (string, error) {
	hash := StorageHash(data)
	path := filepath.Join(dir, "storages", hash)
	if _, err := os.Stat(path); err == nil {
		return hash, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if err := EncodeStorage(f, hash, data); err != nil {
		f.Close()
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	return hash, os.Rename(f.Name(), path)
}

// EncodeStorage writes what torch.save makes of an untyped storage: a stored (not compressed) zip whose pickle names
// persistent id ("storage", UntypedStorage, "0", "cpu", nbytes).
func EncodeStorage(w io.Writer, name string, data []byte) error {
	z := zip.NewWriter(w)
	add := func(file string, b []byte) error {
		e, err := z.CreateHeader(&zip.FileHeader{Name: name + "/" + file, Method: zip.Store})
		if err != nil {
			return err
		}
		_, err = e.Write(b)
		return err
	}
	if err := errors.Join(add("data.pkl", storagePickle(len(data))), add("byteorder", []byte("little")), add("data/0", data), add("version", []byte("3\n"))); err != nil {
		return err
	}
	return z.Close()
}

// storagePickle is the protocol 2 pickle of untyped storage 0: nothing but its persistent id.
func storagePickle(nbytes int) []byte {
	var b []byte
	b = append(b, 0x80, 2) // PROTO 2
	b = append(b, '(')     // MARK
	str := func(s string) {
		b = append(b, 'X', byte(len(s)), byte(len(s)>>8), 0, 0)
		b = append(b, s...)
	}
	str("storage")
	b = append(b, "ctorch.storage\nUntypedStorage\n"...) // GLOBAL
	str("0")
	str("cpu")
	if nbytes < 1<<31 {
		b = append(b, 'J', byte(nbytes), byte(nbytes>>8), byte(nbytes>>16), byte(nbytes>>24)) // BININT
	} else {
		b = append(b, 0x8a, 8) // LONG1
		for i := range 8 {
			b = append(b, byte(nbytes>>(8*i)))
		}
	}
	b = append(b, 't', 'Q', '.') // TUPLE, BINPERSID, STOP
	return b
}
