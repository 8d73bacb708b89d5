package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/renameio/v2"
)

// ExistsError says that a file that has to have this very name holds something else.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string {
	return e.Path + " is there already, with other content, and is not replaced"
}

// The seals of Python, of a JSON object and of a page: what the file is about, and the hash of that and of the text before it.
const (
	pythonSeal = "# whittle wrote this file, and replaces it as long as nobody edits it: "
	jsonSeal   = ",\n \"whittle\": \""
	pageSeal   = "<!-- whittle wrote this page, and replaces it as long as nobody edits it: "
)

var (
	rePythonSeal = regexp.MustCompile(`(?:^|\n)` + pythonSeal + `([0-9a-f]{16}) ([0-9a-f]{64})\n$`)
	reJSONSeal   = regexp.MustCompile(`,\n "whittle": "([0-9a-f]{16}) ([0-9a-f]{64})"\n\}\n$`)
	rePageSeal   = regexp.MustCompile(`\n` + pageSeal + `([0-9a-f]{16}) ([0-9a-f]{64}) -->\n$`)
	reJSONEnd    = regexp.MustCompile(`\s*\}\s*$`)
)

// most is how many names beside a taken one are tried.
const most = 10000

// Put writes data to path, or to the first free name beside it, and returns where. about are texts that say what the file is about, the
// same for every run that gives the same result: an unedited file of whittle's about the same is replaced, and one with the same
// bytes is left as it is. An empty file, as mktemp makes one, has nothing to lose. Folders are made. Devices and pipes are written to.
func Put(path string, data []byte, about ...string) (string, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return path, writeInto(path, data)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	topic := digest(about...)[:16]
	sealed := seal(data, topic)
	for n := 1; n <= most; n++ {
		at := numbered(path, n)
		err := create(at, sealed)
		if !errors.Is(err, fs.ErrExist) {
			return at, err
		}
		old, ok := content(at)
		switch {
		case ok && (bytes.Equal(old, sealed) || bytes.Equal(old, data)):
			return at, nil
		case ok && (len(old) == 0 || sealedAbout(old) == topic):
			return at, Replace(at, sealed)
		}
	}
	return "", &ExistsError{path}
}

// Exact writes data to path as it is. A file that is there already must have the same bytes, else the error is an *ExistsError.
func Exact(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err := create(path, data)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if old, ok := content(path); ok && bytes.Equal(old, data) {
		return nil
	}
	return &ExistsError{path}
}

// Replace writes data to path, whatever is there: for files in folders that are whittle's own, such as a cache.
func Replace(path string, data []byte) error {
	return pending(path, data, (*renameio.PendingFile).CloseAtomicallyReplace)
}

// create writes a file that must not be there: fs.ErrExist otherwise.
func create(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	if ok, err := nameless(filepath.Dir(path), path, data); ok {
		return err
	}
	return pending(path, data, func(f *renameio.PendingFile) error {
		if err := f.Sync(); err != nil {
			return err
		}
		return claim(f, path)
	})
}

// claim gives a finished file its name, unless something has that name: a link is not made there, whoever was faster. Where the file
// system knows no links, an empty file holds the name until the finished one takes its place.
func claim(f *renameio.PendingFile, path string) error {
	err := os.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	hold, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(hold.Close(), f.CloseAtomicallyReplace()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// pending writes data to a temporary file beside path, and lets place put it there.
func pending(path string, data []byte, place func(*renameio.PendingFile) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o666))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = place(f)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	return errors.Join(err, f.Cleanup())
}

// syncFolder makes a new name durable. Some file systems cannot sync a folder: there the name is as durable as they make it.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	_ = f.Sync()
	return f.Close()
}

func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// content reads a regular file; links are nobody's to replace.
func content(path string) ([]byte, bool) {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return nil, false
	}
	b, err := os.ReadFile(path)
	return b, err == nil
}

// numbered is the n-th name for a file: repro.py, repro-2.py, repro-3.py.
func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), n, ext)
}

// pageStart is how a page begins.
const pageStart = "<!DOCTYPE html"

// seal adds to a JSON object, to a page, or to Python, what says that whittle wrote it.
func seal(data []byte, topic string) []byte {
	if bytes.HasPrefix(data, []byte(pageStart)) {
		body := string(data)
		if !strings.HasSuffix(body, "\n") {
			body += "\n"
		}
		return []byte(body + pageSeal + topic + " " + digest(topic, body) + " -->\n")
	}
	if bytes.HasPrefix(data, []byte("{")) {
		end := reJSONEnd.FindIndex(data)
		if end == nil || end[0] == 1 {
			return data // no member stands before ours
		}
		body := string(data[:end[0]])
		return []byte(body + jsonSeal + topic + " " + digest(topic, body) + "\"\n}\n")
	}
	body := string(data)
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return []byte(body + pythonSeal + topic + " " + digest(topic, body) + "\n")
}

// sealedAbout is the topic of a file whose seal fits, "" for any other.
func sealedAbout(data []byte) string {
	if bytes.HasPrefix(data, []byte(pageStart)) { // pages are long: only the end is looked through
		from := max(len(data)-300, 0)
		m := rePageSeal.FindSubmatchIndex(data[from:])
		if m == nil {
			return ""
		}
		topic := string(data[from+m[2] : from+m[3]])
		if digest(topic, string(data[:from+m[0]+1])) != string(data[from+m[4]:from+m[5]]) {
			return ""
		}
		return topic
	}
	for _, re := range []*regexp.Regexp{rePythonSeal, reJSONSeal} {
		m := re.FindSubmatchIndex(data)
		if m == nil {
			continue
		}
		body := string(data[:m[0]])
		if re == rePythonSeal && data[m[0]] == '\n' {
			body += "\n"
		}
		if topic := string(data[m[2]:m[3]]); digest(topic, body) == string(data[m[4]:m[5]]) {
			return topic
		}
	}
	return ""
}

// digest is a hash of texts that keeps their borders.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
