package torch

import (
	"embed"
	"encoding/json"
	"path"
	"strings"
)

//go:embed far/*.py
var farFiles embed.FS

// Strict is a Python module that says whether a result differs from eager by more than rounding explains.
//
//go:embed far/strict.py
var Strict string

// program is what the far side runs: the files of far as a dictionary of texts, and start.py, which makes modules of them. One text, so
// that it can come by a pipe, and nothing has to be written where the Python is.
var program = func() string {
	files, start := map[string]string{}, ""
	entries, err := farFiles.ReadDir("far")
	if err != nil {
		panic(err) // they are part of this binary
	}
	for _, e := range entries {
		text, err := farFiles.ReadFile(path.Join("far", e.Name()))
		if err != nil {
			panic(err)
		}
		if name := strings.TrimSuffix(e.Name(), ".py"); name == "start" {
			start = string(text)
		} else {
			files[name] = string(text)
		}
	}
	dict, err := json.Marshal(files) // which is Python, too
	if err != nil {
		panic(err)
	}
	return "FILES = " + string(dict) + "\n" + start
}()
