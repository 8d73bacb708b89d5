package pycsv

import (
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// writer writes rows to a function that takes their text.
type writer struct {
	vm.Identity
	m       *module
	dialect *dialect
	write   vm.Object
}

// Type implements vm.Object.
func (w *writer) Type() *vm.Type { return w.m.writer }

// row writes a row.
func (w *writer) row(in *vm.Interp, row vm.Object) (vm.Object, error) {
	it, err := in.Iter(row)
	if err != nil {
		if in.Matches(err, in.Exc.TypeError) {
			err = in.Errorf(w.m.err, "iterable expected, not %s", vm.TypeName(row))
		}
		return nil, err
	}
	var sb strings.Builder
	n := 0
	for ; ; n++ {
		v, err := in.Next(it)
		if err != nil {
			return nil, err
		}
		if v == nil {
			break
		}
		if n > 0 {
			wtf8.WriteRune(&sb, w.dialect.delimiter)
		}
		if err := w.field(in, &sb, v); err != nil {
			return nil, err
		}
	}
	if n > 0 && sb.Len() == 0 {
		if w.dialect.quoting == quoteNone {
			return nil, in.Errorf(w.m.err, "single empty field record must be quoted")
		}
		wtf8.WriteRune(&sb, w.dialect.quote)
		wtf8.WriteRune(&sb, w.dialect.quote)
	}
	sb.WriteString(w.dialect.lineTerminator)
	return in.Call(w.write, []vm.Object{vm.Str(sb.String())}, nil)
}

// field adds a field.
func (w *writer) field(in *vm.Interp, sb *strings.Builder, v vm.Object) error {
	quoted := false
	switch w.dialect.quoting {
	case quoteAll:
		quoted = true
	case quoteNonNumeric:
		t := v.Type()
		quoted = t.Lookup("__index__") == nil && t.Lookup("__int__") == nil && t.Lookup("__float__") == nil && !t.IsSubtype(vm.ComplexType)
	}
	text, ok := vm.AsStr(v)
	if !ok && v != vm.None {
		var err error
		if text, err = in.Str(v); err != nil {
			return err
		}
	}
	text, must, err := w.escaped(in, text)
	if err != nil {
		return err
	}
	if quoted || must {
		q := wtf8.Char(w.dialect.quote)
		text = q + text + q
	}
	sb.WriteString(text)
	return nil
}

// escaped doubles quotes and escapes what would be taken for something else. quoted says that the field has to be quoted.
func (w *writer) escaped(in *vm.Interp, s string) (text string, quoted bool, err error) {
	d := w.dialect
	var sb strings.Builder
	for _, c := range wtf8.All(s) {
		special := c == d.delimiter || c == d.escape || c == d.quote || c == '\n' || c == '\r' || strings.ContainsRune(d.lineTerminator, c)
		escape := special && d.quoting == quoteNone
		if special && !escape {
			switch {
			case c == d.quote && d.doubleQuote:
				wtf8.WriteRune(&sb, d.quote)
			case c == d.quote || c == d.escape:
				escape = true
			}
			quoted = quoted || !escape
		}
		if escape {
			if d.escape == unset {
				return "", false, in.Errorf(w.m.err, "need to escape, but no escapechar set")
			}
			wtf8.WriteRune(&sb, d.escape)
		}
		wtf8.WriteRune(&sb, c)
	}
	return sb.String(), quoted, nil
}
