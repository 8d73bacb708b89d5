package syntax

// ErrorAt makes a SyntaxError that is found after parsing.
func (f *File) ErrorAt(sp Span, format string, args ...any) *Error {
	p := newParser(f.Filename, f.Source)
	p.bytes = true
	e := p.errAt("SyntaxError", sp, format, args...)
	e.Late = true
	return e
}

var futureNames = map[string]bool{"nested_scopes": true, "generators": true, "division": true, "absolute_import": true,
	"with_statement": true, "print_function": true, "unicode_literals": true, "barry_as_FLUFL": true,
	"generator_stop": true, "annotations": true}

// future reads the imports from __future__ at the top of a file; only its docstring may stand before them.
func (f *File) future() *Error {
	for i, s := range f.Body {
		im, ok := s.(*ImportFrom)
		if !ok || im.Module != "__future__" || im.Level != 0 {
			if es, ok := s.(*ExprStmt); ok && i == 0 {
				if k, ok := es.Value.(*Constant); ok {
					if _, ok := k.Value.(string); ok {
						continue
					}
				}
			}
			return nil
		}
		for _, a := range im.Names {
			var e *Error
			switch {
			case a.Name == "braces":
				e = f.ErrorAt(im.Span, "not a chance")
			case !futureNames[a.Name]:
				e = f.ErrorAt(im.Span, "future feature %s is not defined", a.Name)
			default:
				f.Future[a.Name] = true
				f.FutureLine = int(im.Line)
				continue
			}
			e.EndOffset = 0 // such an error has no end
			return e
		}
	}
	return nil
}
