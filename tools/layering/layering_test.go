// Package layering holds the house's import rules to the code: imports run downward only.
package layering

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed says what the non-test files of each package may import of ours. A trailing /... stands for the folder and all
// below it, on both sides; the longest row that fits a package is its rule. Tests are free: many compare two layers.
// A package without a row fails, so that a new room gets its place in the house with its first commit.
var allowed = map[string][]string{
	"kernels/parallel":      {},
	"kernels/tensor":        {"kernels/parallel", "kernels/native"}, // 16-bit floats are converted by SIMD
	"kernels/native":        {"kernels/parallel"},
	"kernels/ndarray/...":   {"kernels/tensor", "kernels/parallel", "kernels/aten", "kernels/ndarray/..."},
	"kernels/aten":          {"kernels/tensor", "kernels/native", "kernels/parallel"},
	"kernels/levels":        {"kernels/tensor", "kernels/aten"},
	"kernels/aten/atentest": {"kernels/tensor", "kernels/aten"}, // for tests

	"capture/fx/...":             {"kernels/...", "capture/fx/...", "capture/python/literal", "capture/symbolic"}, // sizes in graphs are expressions
	"capture/pace":               {},
	"capture/python/wtf8":        {},
	"capture/python/ucd":         {"capture/python/wtf8"},
	"capture/python/charnames":   {"capture/python/ucd"},
	"capture/python/syntax":      {"capture/python/wtf8", "capture/python/charnames", "capture/python/ucd"},
	"capture/python/literal":     {"capture/python/wtf8", "capture/python/ucd"},
	"capture/python/clinic":      {"capture/python/vm"},
	"capture/python/stdlib/...":  {"capture/python/..."},
	"capture/python/code":        {"capture/python/syntax", "capture/python/literal"},
	"capture/python/libm":        {},
	"capture/python/cpython/...": {},
	"capture/python/vm":          {"capture/python/wtf8", "capture/python/syntax", "capture/python/code", "capture/python/libm", "capture/python/literal", "capture/python/ucd"},
	"capture/symbolic":           {},
	"capture/sizes":              {"kernels/...", "capture/symbolic", "capture/sizes/relations"},
	"capture/sizes/relations":    {"kernels/aten", "kernels/tensor"},
	"capture/snapshot":           {"kernels/...", "capture/python/...", "capture/torch"},
	"capture/numpy":              {"kernels/...", "capture/python/..."},
	"capture/torch/...":          {"kernels/...", "capture/fx/...", "capture/numpy", "capture/python/...", "capture/symbolic", "capture/torch/..."},
	"capture/breaks":             {},
	"capture/resume":             {"capture/python/code", "capture/python/vm"},
	"capture/source":             {"capture/python/vm"},
	"capture/guard":              {"kernels/tensor", "capture/python/vm", "capture/source", "capture/torch"},
	"capture/effects":            {"capture/python/vm", "capture/source", "capture/guard"},
	"capture":                    {"kernels/...", "capture/..."},

	"aot/...":           {"kernels/...", "capture/fx/...", "capture/symbolic", "capture/sizes", "aot/..."},
	"lowering/...":      {"kernels/...", "capture/fx/...", "lowering/..."},
	"accuracy":          {"kernels/...", "capture/fx/..."},
	"accuracy/history":  {}, // it knows figures, whatever they measure
	"replay/files":      {},
	"replay/replaytest": {"replay"},       // for tests
	"replay":            {"replay/files"}, // plain data: engines, store and search share it without knowing each other

	"replay/triage": {"capture/fx/...", "kernels/tensor", "replay", "repros"}, // graphs are read, and nothing is run

	// The static check and the intermediate values of the search need meta functions and eager kernels.
	// How the sizes of a graph hang together is the operators' affair: relations knows no tracing.
	"minify":        {"kernels/...", "capture/fx/...", "capture/sizes/relations", "capture/python/literal", "replay"},
	"minify/bisect": {}, // it knows points and verdicts, whatever they stand for
	"repros":        {"kernels/...", "capture/fx/...", "capture/symbolic", "capture/python/syntax", "capture/python/literal", "capture/python/code", "replay", "replay/files"},
	// Engines answer a search: what they are asked is a state of it.
	"repros/engine":            {"kernels/...", "minify", "replay", "repros"},
	"repros/engine/enginetest": {"capture/fx/...", "minify", "repros", "repros/engine"}, // for tests
	"repros/worker":            {"kernels/...", "capture/fx/...", "minify", "replay", "repros", "repros/engine"},
	"repros/torch":             {"kernels/...", "capture/fx/...", "accuracy", "minify", "replay", "repros", "repros/engine"},
	"repros/kept":              {"replay", "repros/engine"}, // it keeps any engine
	"tools/...":                {"..."},

	"testscripts/scenario": {"kernels/aten", "repros/engine", "tools/whittle/cli"}, // for tests
}

// owners says which package alone may name a module from outside.
var owners = map[string][]string{
	"github.com/mattn/go-sqlite3": {"replay", "capture/python/stdlib/pysqlite3"},
	// Graphs and repros are Python text too, and fx lies below capture/python.
	"github.com/smacker/go-tree-sitter": {"capture/python/syntax", "capture/fx", "repros"},
	"github.com/spf13/cobra":            {"tools/..."},
	"golang.org/x/term":                 {"tools/..."},
}

// fits reports whether pattern names pkg.
func fits(pattern, pkg string) bool {
	dir, deep := strings.CutSuffix(pattern, "...")
	if !deep {
		return pattern == pkg
	}
	dir = strings.TrimSuffix(dir, "/")
	return dir == "" || pkg == dir || strings.HasPrefix(pkg, dir+"/")
}

func fitsAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, pkg) })
}

// rule is the longest row that fits pkg.
func rule(pkg string) (row string, ok bool) {
	for r := range allowed {
		if fits(r, pkg) && (!ok || len(r) > len(row)) {
			row, ok = r, true
		}
	}
	return row, ok
}

func TestLayering(t *testing.T) {
	imports := readImports(t, "../..")
	if len(imports) < 10 {
		t.Fatalf("found only %d packages: is this the root of the module?", len(imports))
	}
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		row, ok := rule(pkg)
		if !ok {
			t.Errorf("%s has no row in the map of allowed imports", pkg)
			continue
		}
		for _, imp := range slices.Sorted(maps.Keys(imports[pkg])) {
			file := imports[pkg][imp]
			if ours, ok := strings.CutPrefix(imp, "whittle/"); ok {
				if !fitsAny(allowed[row], ours) {
					t.Errorf("%s: %s may not import %s (it may import %v)", file, pkg, ours, allowed[row])
				}
				continue
			}
			for mod, who := range owners {
				if (imp == mod || strings.HasPrefix(imp, mod+"/")) && !fitsAny(who, pkg) {
					t.Errorf("%s: only %v may import %s", file, who, imp)
				}
			}
		}
	}
}

// TestRows finds rows that no longer say anything.
func TestRows(t *testing.T) {
	imports := readImports(t, "../..")
	for row := range allowed {
		used := false
		for pkg := range imports {
			r, _ := rule(pkg)
			used = used || r == row
		}
		if !used {
			t.Errorf("no package needs the row %s", row)
		}
	}
}

// readImports maps each package below root to its imports, and each import to a file that has it. It reads the sources itself
// rather than ask the go command: the test cache then knows which files the result came from.
func readImports(t *testing.T, root string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), rel, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(rel)
		if out[pkg] == nil {
			out[pkg] = map[string]string{}
		}
		for _, s := range f.Imports {
			imp, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				return err
			}
			out[pkg][imp] = rel
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
