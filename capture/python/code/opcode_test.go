package code

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryOpcodeHasAName(t *testing.T) {
	for i := range NumOps {
		if ops[i].name == "" {
			t.Errorf("opcode %d has no row", i)
		}
		if o, ok := OpNamed(Op(i).String()); !ok || o != Op(i) {
			t.Errorf("%s does not find itself", Op(i))
		}
	}
}

// pictures reads the comments beside the instructions in opcode.go.
func pictures(t *testing.T) map[string]string {
	f, err := parser.ParseFile(token.NewFileSet(), "opcode.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Comment != nil && len(v.Names) == 1 {
			if _, ok := OpNamed(v.Names[0].Name); ok {
				out[v.Names[0].Name], _, _ = strings.Cut(strings.TrimSpace(v.Comment.Text()), ";")
			}
		}
		return true
	})
	return out
}

// height counts the values in one side of a picture. between says how many lie where two dots stand.
func height(side string, arg, between int, optional bool) (n int) {
	for _, w := range strings.Fields(side) {
		switch {
		case w == "-":
		case w == "..":
			n += between
		case strings.HasPrefix(w, "["):
			if optional {
				n++
			}
		case w == "yb..y1":
			n += arg >> 8
		case w == "xa..x1":
			n += arg & 0xff
		case strings.Contains(w, ".."):
			n += arg * (1 + strings.Count(strings.Split(w, "..")[0], ","))
		default:
			n++
		}
	}
	return n
}

// TestStackPictures holds what the compiler and the tracer know of an instruction's stack to the picture beside it.
func TestStackPictures(t *testing.T) {
	all := map[string]int{"LOAD_GLOBAL": 1, "MAKE_FUNCTION": 15, "CALL_FUNCTION_EX": 1, "FORMAT_VALUE": 4} // arguments that have every optional value
	pics := pictures(t)
	for i := range NumOps {
		op := Op(i)
		args := []int{2, 3, 7}
		if full, ok := all[op.String()]; ok {
			args = []int{0, full}
		} else if op == UNPACK_EX {
			args = []int{0, 2, 3<<8 | 1}
		}
		falls, jumps, _ := strings.Cut(pics[op.String()], " | ")
		if (jumps != "") != op.HasJump() {
			t.Errorf("%s: a picture of its jump, or none, is wanted", op)
		}
		for jump, pic := range map[bool]string{false: falls, true: jumps} {
			if pic == "" && jump {
				continue
			}
			before, after, ok := strings.Cut(" "+pic+" ", " "+op.String()+" ")
			if !ok {
				t.Errorf("%s has no picture: %q", op, pic)
				continue
			}
			for _, arg := range args {
				// Among what lies between, the n-th from the top is itself one of the n; of COPY and SWAP that is so before, of others after.
				between := arg - 1
				if op == SWAP {
					between = arg - 2
				}
				_, optional := all[op.String()]
				optional = optional && arg != 0
				takes := height(before, arg, between, optional)
				got := []int{effect(op, arg, jump), Instr{Op: op, Arg: int32(arg)}.Takes()}
				want := []int{height(after, arg, between, optional) - takes, takes}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s %d: effect and what it takes, (-picture +code)\n%s", op, arg, d)
				}
			}
		}
	}
}
