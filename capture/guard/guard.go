package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// Guard is one fact about the surroundings that compiled code relies on. A Draft may change it until a Set is made of it.
type Guard struct {
	Kind   Kind
	Expr   string        // the Python expression that logs show
	Source source.Source // what the guard looks at; nil => it is told by other means, or cannot fail
	Hidden bool          // checked, but not shown

	made  Place  // where the trace was when it relied on the fact
	note  string // why there is a relation between numbers, as logs show it; "" => nothing is said
	path  string // of a guard on a part of the compiler: the attributes that lead to it
	part  string // what of the value the guard is about: "__code__", "__dict__"; "" => the value itself
	isKey bool   // the guard is about the key of a dict at a place
	place int    // this one
	key   string // and how Python writes it

	check Check
	// relate checks the values of several sources, those of among, against each other. Such a guard has no check.
	relate func(vs []vm.Object) (ok bool, why Failure)
	among  []source.Source
	// late completes the guard when the trace has ended; nil => it is complete.
	late func(g *Guard)
}

// Check reports whether a fact still holds for v, which the guard's source gave (nil where it has none). why says what failed, where
// the guard's expression and the cause of its kind do not.
type Check func(e *source.Env, v vm.Object) (ok bool, why Failure)

// New is a guard of a kind for which the package has no maker of its own. check nil => it cannot fail: it is there to be shown.
func New(kind Kind, expr string, src source.Source, check Check) *Guard {
	return &Guard{Kind: kind, Expr: expr, Source: src, check: check}
}

// Noted gives g what logs say of it. It gives g back.
func (g *Guard) Noted(note string) *Guard {
	g.note = note
	return g
}

// Hide makes g a guard that is checked and not shown. It gives g back.
func (g *Guard) Hide() *Guard {
	g.Hidden = true
	return g
}

// Made is where the trace was when it relied on the fact; ok is false where it was nowhere.
func (g *Guard) Made() (p Place, ok bool) { return g.made, g.made.Code != nil }

// Place is a line of a program.
type Place struct {
	Code *vm.Code
	Line int
	In   *vm.Interp // knows the text of code that came without one; nil => such code shows none
}

// Text is the line of source at p as it stands; "" when it is not at hand.
func (p Place) Text() string {
	text := ""
	if p.Code.Source != nil {
		text = p.Code.Source.Text
	} else if p.In != nil {
		text, _ = p.In.SourceText(p.Code.Filename)
	}
	lines := strings.Split(text, "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[p.Line-1], " \t\r")
}

// Comment is p as guards and symbols show it: the line of source, then file, line and function. The file is shown relative to
// torch's folder, or to the working directory where it lies below.
func (p Place) Comment() string {
	file := p.Code.Filename
	if rel, ok := strings.CutPrefix(file, "torch/"); ok {
		file = rel
	} else if rel, err := filepath.Rel(workingDir(), file); err == nil && !strings.HasPrefix(rel, "..") {
		file = rel
	}
	return fmt.Sprintf("# %s  # %s:%d in %s", strings.TrimSpace(p.Text()), file, p.Line, p.Code.Name)
}

// workingDir is what files are shown relative to; "" when it is gone.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
