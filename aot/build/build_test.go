package build_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"whittle/kernels/aten"
)

// TestCalledOverloads: every overload that a formula or a decomposition names is a row of the registry.
func TestCalledOverloads(t *testing.T) {
	// What precedes and follows the name that a method is given.
	methods := map[string][2]string{"T": {"aten.", ""}, "M": {"aten.", ""}, "Try": {"aten.", ""}, "Un": {"aten.", ".default"}, "Prim": {"prims.", ""}}
	n := 0
	for _, dir := range []string{"..", "../autograd", "../decomp"} {
		files := token.NewFileSet()
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				fn, ok := call.Fun.(*ast.SelectorExpr)
				lit, isLit := call.Args[0].(*ast.BasicLit)
				if !ok || !isLit || lit.Kind != token.STRING {
					return true
				}
				around, ok := methods[fn.Sel.Name]
				if !ok {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				n++
				if aten.Lookup(around[0]+text+around[1]) == nil {
					t.Errorf("%s: there is no %s", files.Position(lit.Pos()), around[0]+text+around[1])
				}
				return true
			})
		}
	}
	if n < 500 {
		t.Errorf("%d calls of operators are seen, want most of them", n)
	}
}
