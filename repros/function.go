package repros

import (
	"fmt"
	"reflect"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/syntax"
)

// FunctionText is the text of the function that c was compiled from, without its decorators and without the indentation of the place
// where it stands: a def statement, or the expression of a lambda.
func FunctionText(c *code.Code) (text string, lambda bool, err error) {
	if c.Source == nil {
		return "", false, fmt.Errorf("%s has no source", c.Name)
	}
	mod, err := syntax.Parse(c.Filename, c.Source.Text)
	if err != nil {
		return "", false, err
	}
	lines := strings.Split(c.Source.Text, "\n")
	var def *syntax.FunctionDef
	var expr *syntax.Lambda
	walk(reflect.ValueOf(mod.Body), func(n any) {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			if n.Name == c.Name && inside(c, n.Span) && (def == nil || n.Line > def.Line) {
				def = n
			}
		case *syntax.Lambda:
			if c.Name == "<lambda>" && inside(c, n.Span) && (expr == nil || before(expr.Span, n.Span)) {
				expr = n
			}
		}
	})
	switch {
	case def != nil:
		first := lines[def.Line-1]
		indent := first[:len(first)-len(strings.TrimLeft(first, " \t"))]
		part := append([]string(nil), lines[def.Line-1:def.EndLine]...)
		for i, l := range part {
			part[i] = strings.TrimPrefix(l, indent)
		}
		return strings.Join(part, "\n"), false, nil
	case expr != nil:
		part := append([]string(nil), lines[expr.Line-1:expr.EndLine]...)
		last := len(part) - 1
		part[last] = part[last][:expr.EndCol]
		part[0] = part[0][expr.Col:]
		return strings.Join(part, "\n"), true, nil
	}
	return "", false, fmt.Errorf("line %d of %s has no function %s", c.FirstLine, c.Filename, c.Name)
}

// inside reports whether all code of c that has a place stands inside s.
func inside(c *code.Code, s syntax.Span) bool {
	some := false
	for _, in := range c.Instrs {
		if in.Col < 0 || in.Col == in.EndCol && in.Line == in.EndLine || in.Line < s.Line { // of no text
			continue
		}
		some = true
		at := syntax.Span{Line: in.Line, Col: in.Col, EndLine: in.EndLine, EndCol: in.EndCol}
		if before(at, syntax.Span{Line: s.Line, Col: s.Col}) || before(syntax.Span{Line: s.EndLine, Col: s.EndCol}, syntax.Span{Line: at.EndLine, Col: at.EndCol}) {
			return false
		}
	}
	return some
}

// before reports whether a begins before b.
func before(a, b syntax.Span) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// walk shows every node of a syntax tree below v, outer ones first.
func walk(v reflect.Value, see func(node any)) {
	switch v.Kind() {
	case reflect.Interface:
		walk(v.Elem(), see)
	case reflect.Pointer:
		if !v.IsNil() {
			see(v.Interface())
			walk(v.Elem(), see)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), see)
			}
		}
	}
}
