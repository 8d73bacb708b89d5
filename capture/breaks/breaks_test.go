package breaks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every row has words, which show each argument once, in order, and says what a user can do or that nobody will ask.
func TestTable(t *testing.T) {
	names, _ := constants(t)
	for _, id := range All() {
		r := id.Row()
		var args []string
		for _, s := range r.Slots() {
			args = append(args, "<the "+s+">")
		}
		text := New(id, args...).String()
		rest := text
		for _, a := range args {
			_, after, ok := strings.Cut(rest, a)
			if !ok {
				t.Errorf("%s: %q does not show %q after what stands before it", names[id], text, a)
			}
			rest = after
		}
		if bare := !strings.HasPrefix(text, "Unsupported: "); bare != r.Bare {
			t.Errorf("%s: %q: bare is %v", names[id], text, r.Bare)
		}
		if (r.Hint == "") != r.Silent {
			t.Errorf("%s: hint %q, silent %v: a reason that is reported has a hint, and no other", names[id], r.Hint, r.Silent)
		}
		if r.UserError != "" && r.Docs == "" {
			t.Errorf("%s: its error points to no page", names[id])
		}
		if strings.HasSuffix(r.Hint, ".") || strings.Contains(r.Hint, "\n") {
			t.Errorf("%s: hint %q is not one sentence without its full stop", names[id], r.Hint)
		}
	}
}

// What users see of one reason.
func TestTexts(t *testing.T) {
	type texts struct{ String, Message, Explain, Hint string }
	for _, c := range []struct {
		reason Reason
		want   texts
	}{
		{New(DataDependentJump), texts{"Data-dependent jump", "Data-dependent jump", "generic_jump TensorVariable()", hintBranch}},
		{New(TensorTruth), texts{"Unsupported: Data-dependent jump", "Data-dependent jump", "Data-dependent jump", hintBranch}},
		{New(TensorItem), texts{"Unsupported: Tensor.item", "Tensor.item", "Tensor.item", hintNumber}},
		{New(Print, "print", "<class 'torch._dynamo.variables.constant.ConstantVariable'>", "False"), texts{
			"Unsupported: builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False",
			"builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False",
			"builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False", hintPrint}},
		// Braces in an argument are no slots, and empty ones in a form are text.
		{New(UserException, "__main__.Bad", "ConstantVariable(str: '{class} {}')"), texts{
			"Unsupported: call_function UserDefinedClassVariable(<class '__main__.Bad'>) [ConstantVariable(str: '{class} {}')] {}",
			"call_function UserDefinedClassVariable(<class '__main__.Bad'>) [ConstantVariable(str: '{class} {}')] {}",
			"call_function UserDefinedClassVariable(<class '__main__.Bad'>) [ConstantVariable(str: '{class} {}')] {}", hintMove}},
		// What a program says at a break of its own does not decide about the hint.
		{New(ComptimeBreak, "Tensor.item is here"), texts{"Unsupported: Tensor.item is here", "Tensor.item is here", "Tensor.item is here", hintAsked}},
		{New(EndlessIterator), texts{"Unsupported: an iterator without an end, or one that raises, at a graph break",
			"an iterator without an end, or one that raises, at a graph break", "an iterator without an end, or one that raises, at a graph break", ""}},
	} {
		got := texts{c.reason.String(), c.reason.Message(), c.reason.Explain(), c.reason.Hint()}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

// A reason that does not fit its row is a mistake of capture.
func TestMisfits(t *testing.T) {
	for name, make := range map[string]func(){
		"no reason":      func() { New(0) },
		"beyond the end": func() { New(end) },
		"a slot missing": func() { New(Disabled) },
		"one too many":   func() { New(TensorItem, "x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			make()
		}()
	}
}

// Capture uses every row, and fills its slots: a row that nothing uses goes.
func TestUses(t *testing.T) {
	names, ids := constants(t)
	used := map[ID]bool{}
	files, err := filepath.Glob("../*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources of capture: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := ids[selected(n)]; ok {
				used[id] = true
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
				return true
			}
			if fn, ok := call.Fun.(*ast.Ident); selected(call.Fun) != "New" && (!ok || fn.Name != "unsupported") {
				return true
			}
			if id, ok := ids[selected(call.Args[0])]; ok && len(call.Args)-1 != len(id.Row().Slots()) {
				t.Errorf("%s: %s has the slots %q, and %d arguments", fset.Position(call.Pos()), names[id], id.Row().Slots(), len(call.Args)-1)
			}
			return true
		})
	}
	for _, id := range All() {
		if !used[id] {
			t.Errorf("nothing in capture breaks for %s: %q", names[id], id.Row().Form)
		}
	}
}

// selected is the name X of an expression breaks.X, "" for others.
func selected(n ast.Node) string {
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "breaks" {
			return s.Sel.Name
		}
	}
	return ""
}

// constants are the names of the identifiers, as table.go has them in its first block of constants.
func constants(t *testing.T) (names map[ID]string, ids map[string]ID) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names, ids = map[ID]string{}, map[string]ID{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for i, s := range g.Specs {
			n := s.(*ast.ValueSpec).Names[0].Name
			names[ID(i+1)], ids[n] = n, ID(i+1)
		}
		break
	}
	if names[end] != "end" {
		t.Fatalf("the constants of table.go are not where this test looks for them: %q stands at the end", names[end])
	}
	delete(names, end)
	delete(ids, "end")
	return names, ids
}

// TestFind: a reason is found again by its text, and a text of another form is none.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		text string
		want ID
	}{
		{"Unsupported: builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False", Print},
		{"builtin: compile [<class 'x'>] False", Builtin},
		{"Data-dependent jump", DataDependentJump},
		{"Tensor.item", TensorItem},
		{"Tensor.item and more", 0},
		{"something else", 0},
		{"", 0},
	} {
		if got, ok := Find(c.text); got != c.want || ok != (c.want != 0) {
			t.Errorf("Find(%q) = %d, %v; want %d", c.text, got, ok, c.want)
		}
	}
	for _, id := range All() {
		r := Reason{ID: id}
		for range id.Row().Slots() {
			r.Args = append(r.Args, "Nothing")
		}
		got, ok := Find(r.String())
		if ok && got.Row().Hint != id.Row().Hint && len(id.Row().Slots()) == 0 && got.Row().Form != id.Row().Form {
			t.Errorf("%q is taken for %q", r.String(), got.Row().Form)
		}
	}
}
