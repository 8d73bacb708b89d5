package code

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"whittle/capture/python/literal"
	"whittle/capture/python/syntax"
)

// Unparse prints an expression the way annotations are kept as text: as CPython's does, in one line, with brackets only where they are needed.
func Unparse(e syntax.Expr) string {
	var u unparser
	u.expr(e, 0)
	return u.String()
}

// unparser is the text so far.
type unparser struct{ strings.Builder }

// precedence says how tightly an operator binds; 3 is a conditional expression, 6 is not, 7 a comparison, 14 a sign, 17 an atom.
var precedence = map[string]int{"or": 4, "and": 5, "|": 8, "^": 9, "&": 10, "<<": 11, ">>": 11, "+": 12, "-": 12,
	"*": 13, "/": 13, "//": 13, "%": 13, "@": 13, "**": 15}

// expr prints e where something that binds as prec stands around it: e has brackets if it binds less. A switch over all kinds of expressions.
func (u *unparser) expr(e syntax.Expr, prec int) {
	switch e := e.(type) {
	case nil:
	case *syntax.Constant:
		u.constant(e.Value)
	case *syntax.Name:
		u.WriteString(e.Id)
	case *syntax.Attribute:
		u.expr(e.Value, 17)
		u.WriteString("." + e.Attr)
	case *syntax.Subscript:
		u.subscript(e)
	case *syntax.SliceExpr:
		u.expr(e.Lower, 1)
		u.WriteByte(':')
		u.expr(e.Upper, 1)
		if e.Step != nil {
			u.WriteByte(':')
			u.expr(e.Step, 1)
		}
	case *syntax.Tuple:
		u.WriteByte('(')
		u.tuple(e.Elts)
		u.WriteByte(')')
	case *syntax.List:
		u.WriteByte('[')
		u.list(e.Elts)
		u.WriteByte(']')
	case *syntax.Set:
		u.WriteByte('{')
		u.list(e.Elts)
		u.WriteByte('}')
	case *syntax.Dict:
		u.dict(e)
	case *syntax.BinOp:
		p := precedence[e.Op]
		u.bracket(p, prec, func() {
			u.expr(e.Left, p)
			u.WriteString(" " + e.Op + " ")
			u.expr(e.Right, p+1)
		})
	case *syntax.UnaryOp:
		if e.Op == "not" {
			u.bracket(6, prec, func() { u.WriteString("not "); u.expr(e.Operand, 6) })
		} else {
			u.bracket(14, prec, func() { u.WriteString(e.Op); u.expr(e.Operand, 14) })
		}
	case *syntax.BoolOp:
		p := precedence[e.Op]
		u.bracket(p, prec, func() {
			for i, v := range e.Values {
				if i > 0 {
					u.WriteString(" " + e.Op + " ")
				}
				u.expr(v, p+1)
			}
		})
	case *syntax.Compare:
		u.bracket(7, prec, func() {
			u.expr(e.Left, 8)
			for i, o := range e.Ops {
				u.WriteString(" " + o + " ")
				u.expr(e.Comparators[i], 8)
			}
		})
	case *syntax.IfExp:
		u.bracket(3, prec, func() {
			u.expr(e.Body, 4)
			u.WriteString(" if ")
			u.expr(e.Test, 4)
			u.WriteString(" else ")
			u.expr(e.Else, 3)
		})
	case *syntax.Call:
		u.call(e)
	case *syntax.Await:
		u.bracket(16, prec, func() {
			u.WriteString("await ")
			u.expr(e.Value, 17)
		})
	case *syntax.Starred:
		u.WriteByte('*')
		u.expr(e.Value, 8)
	case *syntax.Lambda:
		u.lambda(e)
	default:
		fmt.Fprintf(u, "<%T>", e)
	}
}

// bracket puts brackets around what f prints if it binds less than what is around it.
func (u *unparser) bracket(own, around int, f func()) {
	if own < around {
		u.WriteByte('(')
	}
	f()
	if own < around {
		u.WriteByte(')')
	}
}

// list prints expressions with commas between them.
func (u *unparser) list(es []syntax.Expr) {
	for i, x := range es {
		if i > 0 {
			u.WriteString(", ")
		}
		u.expr(x, 1)
	}
}

// tuple is list with the comma that one element alone needs.
func (u *unparser) tuple(es []syntax.Expr) {
	u.list(es)
	if len(es) == 1 {
		u.WriteByte(',')
	}
}

// constant prints a literal.
func (u *unparser) constant(v any) {
	switch v := v.(type) {
	case nil:
		u.WriteString("None")
	case bool:
		if v {
			u.WriteString("True")
		} else {
			u.WriteString("False")
		}
	case int64:
		u.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		u.WriteString(v.String())
	case float64:
		u.WriteString(strings.Replace(literal.Float(v), "inf", "1e309", 1)) // a name is not a number
	case string:
		u.WriteString(literal.Str(v))
	case syntax.Bytes:
		u.WriteString(literal.Bytes(string(v)))
	case syntax.EllipsisValue:
		u.WriteString("...")
	default:
		fmt.Fprint(u, v)
	}
}

// subscript leaves out the brackets of a tuple index.
func (u *unparser) subscript(e *syntax.Subscript) {
	u.expr(e.Value, 17)
	u.WriteByte('[')
	if t, ok := e.Index.(*syntax.Tuple); ok && len(t.Elts) > 0 {
		u.tuple(t.Elts)
	} else {
		u.expr(e.Index, 0)
	}
	u.WriteByte(']')
}

// dict prints a dict display.
func (u *unparser) dict(e *syntax.Dict) {
	u.WriteByte('{')
	for i := range e.Keys {
		if i > 0 {
			u.WriteString(", ")
		}
		if e.Keys[i] == nil {
			u.WriteString("**")
		} else {
			u.expr(e.Keys[i], 1)
			u.WriteString(": ")
		}
		u.expr(e.Values[i], 1)
	}
	u.WriteByte('}')
}

// call prints a call.
func (u *unparser) call(e *syntax.Call) {
	u.expr(e.Func, 17)
	u.WriteByte('(')
	u.list(e.Args)
	for i, k := range e.Keywords {
		if i > 0 || len(e.Args) > 0 {
			u.WriteString(", ")
		}
		if k.Arg == "" {
			u.WriteString("**")
		} else {
			u.WriteString(k.Arg + "=")
		}
		u.expr(k.Value, 1)
	}
	u.WriteByte(')')
}

// lambda prints a lambda with its parameters' names.
func (u *unparser) lambda(e *syntax.Lambda) {
	u.WriteString("lambda")
	for i, a := range allArgs(e.Args) {
		if i > 0 {
			u.WriteByte(',')
		}
		u.WriteString(" " + a.Name)
	}
	u.WriteString(": ")
	u.expr(e.Body, 3)
}
