package aten

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"whittle/kernels/tensor"
)

// TestCalledOverloads: every overload that a row names as a part of it is a row. TestRandomCalls sees the names that are put together at run time.
func TestCalledOverloads(t *testing.T) {
	files := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	look := func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		name, isLit := call.Args[0].(*ast.BasicLit)
		if !ok || !isLit || !slices.Contains([]string{"via", "viaT", "do", "doT"}, fn.Sel.Name) {
			return true
		}
		overload, _ := strconv.Unquote(name.Value)
		n++
		if Lookup("aten."+overload) == nil && (!strings.HasPrefix(overload, "prims.") || Lookup(overload) == nil) {
			t.Errorf("%s: there is no %s", files.Position(name.Pos()), overload)
		}
		return true
	}
	for _, path := range paths {
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "aten" {
			ast.Inspect(file, look)
		}
	}
	if n < 500 {
		t.Errorf("%d calls of other operators are seen, want most of them", n)
	}
}

// TestFloatPowerInPlace: it computes in float64 like the functional form, and what it writes to has to be that.
func TestFloatPowerInPlace(t *testing.T) {
	base := func() *tensor.Tensor { return tensor.FromFloat64s([]float64{1, 2, 3}, 3) }
	for _, c := range []struct {
		op       string
		self     *tensor.Tensor
		exponent Value
		want     []float64
		msg      string
	}{
		{"aten.float_power_.Scalar", base(), int64(2), []float64{1, 4, 9}, ""},
		{"aten.float_power_.Tensor", base(), f32([]int64{3}, 1, 2, 3), []float64{1, 4, 27}, ""},
		{"aten.float_power_.Tensor", f32([]int64{1}, 2), base(), nil, "the base given to float_power_ has dtype Float but the operation's result requires dtype Double"},
		{"aten.float_power_.Scalar", base(), 2i, nil, "the base given to float_power_ has dtype Double but the operation's result requires dtype ComplexDouble"},
	} {
		v, err := Run(Eager, c.op, c.self, c.exponent)
		if err != nil {
			if err.Error() != c.msg {
				t.Errorf("%s: %v, want %q", c.op, err, c.msg)
			}
			continue
		}
		if v != Value(c.self) || !slices.Equal(c.self.Floats(), c.want) {
			t.Errorf("%s: %v, want %v", c.op, c.self.Floats(), c.want)
		}
	}
}
