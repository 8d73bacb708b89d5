package code

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"whittle/capture/python/literal"
	"whittle/capture/python/syntax"
)

// Unparse prints an expression the way annotations are kept as text.
func Unparse(e syntax.Expr) string {
	var sb strings.Builder
	unparse(&sb, e, 0)
	return sb.String()
}

var precedence = map[string]int{"or": 4, "and": 5, "|": 8, "^": 9, "&": 10, "<<": 11, ">>": 11, "+": 12, "-": 12,
	"*": 13, "/": 13, "//": 13, "%": 13, "@": 13, "**": 15}

func unparse(sb *strings.Builder, e syntax.Expr, prec int) {
	list := func(es []syntax.Expr) {
		for i, x := range es {
			if i > 0 {
				sb.WriteString(", ")
			}
			unparse(sb, x, 1)
		}
	}
	paren := func(own int, f func()) {
		if own < prec {
			sb.WriteByte('(')
		}
		f()
		if own < prec {
			sb.WriteByte(')')
		}
	}
	switch e := e.(type) {
	case nil:
	case *syntax.Constant:
		switch v := e.Value.(type) {
		case nil:
			sb.WriteString("None")
		case bool:
			if v {
				sb.WriteString("True")
			} else {
				sb.WriteString("False")
			}
		case int64:
			sb.WriteString(strconv.FormatInt(v, 10))
		case *big.Int:
			sb.WriteString(v.String())
		case float64:
			sb.WriteString(strings.Replace(literal.Float(v), "inf", "1e309", 1)) // a name is not a number
		case string:
			sb.WriteString(literal.Str(v))
		case syntax.Bytes:
			sb.WriteString(literal.Bytes(string(v)))
		case syntax.EllipsisValue:
			sb.WriteString("...")
		default:
			fmt.Fprint(sb, v)
		}
	case *syntax.Name:
		sb.WriteString(e.Id)
	case *syntax.Attribute:
		unparse(sb, e.Value, 17)
		sb.WriteString("." + e.Attr)
	case *syntax.Subscript:
		unparse(sb, e.Value, 17)
		sb.WriteByte('[')
		if t, ok := e.Index.(*syntax.Tuple); ok && len(t.Elts) > 0 {
			list(t.Elts)
			if len(t.Elts) == 1 {
				sb.WriteByte(',')
			}
		} else {
			unparse(sb, e.Index, 0)
		}
		sb.WriteByte(']')
	case *syntax.SliceExpr:
		unparse(sb, e.Lower, 1)
		sb.WriteByte(':')
		unparse(sb, e.Upper, 1)
		if e.Step != nil {
			sb.WriteByte(':')
			unparse(sb, e.Step, 1)
		}
	case *syntax.Tuple:
		sb.WriteByte('(')
		list(e.Elts)
		if len(e.Elts) == 1 {
			sb.WriteByte(',')
		}
		sb.WriteByte(')')
	case *syntax.List:
		sb.WriteByte('[')
		list(e.Elts)
		sb.WriteByte(']')
	case *syntax.Set:
		sb.WriteByte('{')
		list(e.Elts)
		sb.WriteByte('}')
	case *syntax.Dict:
		sb.WriteByte('{')
		for i := range e.Keys {
			if i > 0 {
				sb.WriteString(", ")
			}
			if e.Keys[i] == nil {
				sb.WriteString("**")
			} else {
				unparse(sb, e.Keys[i], 1)
				sb.WriteString(": ")
			}
			unparse(sb, e.Values[i], 1)
		}
		sb.WriteByte('}')
	case *syntax.BinOp:
		p := precedence[e.Op]
		paren(p, func() {
			unparse(sb, e.Left, p)
			sb.WriteString(" " + e.Op + " ")
			unparse(sb, e.Right, p+1)
		})
	case *syntax.UnaryOp:
		if e.Op == "not" {
			paren(6, func() { sb.WriteString("not "); unparse(sb, e.Operand, 6) })
		} else {
			paren(14, func() { sb.WriteString(e.Op); unparse(sb, e.Operand, 14) })
		}
	case *syntax.BoolOp:
		p := precedence[e.Op]
		paren(p, func() {
			for i, v := range e.Values {
				if i > 0 {
					sb.WriteString(" " + e.Op + " ")
				}
				unparse(sb, v, p+1)
			}
		})
	case *syntax.Compare:
		paren(7, func() {
			unparse(sb, e.Left, 8)
			for i, o := range e.Ops {
				sb.WriteString(" " + o + " ")
				unparse(sb, e.Comparators[i], 8)
			}
		})
	case *syntax.IfExp:
		paren(3, func() {
			unparse(sb, e.Body, 4)
			sb.WriteString(" if ")
			unparse(sb, e.Test, 4)
			sb.WriteString(" else ")
			unparse(sb, e.Else, 3)
		})
	case *syntax.Call:
		unparse(sb, e.Func, 17)
		sb.WriteByte('(')
		list(e.Args)
		for i, k := range e.Keywords {
			if i > 0 || len(e.Args) > 0 {
				sb.WriteString(", ")
			}
			if k.Arg == "" {
				sb.WriteString("**")
			} else {
				sb.WriteString(k.Arg + "=")
			}
			unparse(sb, k.Value, 1)
		}
		sb.WriteByte(')')
	case *syntax.Starred:
		sb.WriteByte('*')
		unparse(sb, e.Value, 8)
	case *syntax.Lambda:
		sb.WriteString("lambda")
		for i, a := range allArgs(e.Args) {
			if i > 0 {
				sb.WriteByte(',')
			}
			sb.WriteString(" " + a.Name)
		}
		sb.WriteString(": ")
		unparse(sb, e.Body, 3)
	default:
		fmt.Fprintf(sb, "<%T>", e)
	}
}
