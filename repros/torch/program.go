package torch

import (
	"embed"
	"encoding/json"
	"path"
	"strings"
	"sync"

	"whittle/capture/fx"
	"whittle/replay"
)

//go:embed far/*.py
var farFiles embed.FS

// Strict is a Python module that says whether a result differs from eager by more than rounding explains.
//
//go:embed far/strict.py
var Strict string

// draws is a Python module that knows which calls draw random numbers. DRAWS, which stands before it, has them by name: for each form of a name the
// switches that turn drawing off, as [argument, position, default], where no default means that the form needs it.
//
//go:embed far/draws.py
var draws string

// Draws is a Python module with a function that says whether a call draws random numbers: may_draw(name, args, kwargs).
func Draws() string {
	forms := map[string][][][]any{}
	for _, d := range fx.Draws() {
		switches := [][]any{}
		for _, i := range d.Facts.Switches() {
			a := d.Facts.Sig.Args[i]
			s := []any{a.Name, i}
			if a.HasDefault {
				s = append(s, a.Default)
			}
			switches = append(switches, s)
		}
		forms[d.Name] = append(forms[d.Name], switches)
	}
	text, err := json.Marshal(forms)
	if err != nil {
		panic(err) // names and constants
	}
	return "import json\nDRAWS = json.loads(r\"\"\"" + string(text) + "\"\"\")\n" + draws
}

// Version tells this far side from others: a Python that was told its program by one version of whittle is of no use to another.
func Version() string { return replay.HashOf(boot, program()) }

// program is what the far side runs: the files of far as a dictionary of texts, and start.py, which makes modules of them. One text, so
// that it can come by a pipe, and nothing has to be written where the Python is.
var program = sync.OnceValue(func() string {
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
		} else if name == "draws" {
			files[name] = Draws()
		} else {
			files[name] = string(text)
		}
	}
	dict, err := json.Marshal(files) // which is Python, too
	if err != nil {
		panic(err)
	}
	return "FILES = " + string(dict) + "\n" + start
})
