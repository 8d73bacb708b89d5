package pycsv

import (
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// state is where the reader is within a record.
type state int

const (
	startRecord state = iota
	startField
	escaped
	inField
	inQuoted
	escapedInQuoted
	quoteInQuoted
	eatNewline
	afterEscapedNewline
)

// endOfLine is what follows the last character of each line.
const endOfLine rune = -2

// reader reads records from an iterator of lines.
type reader struct {
	vm.Identity
	m       *module
	dialect *dialect
	lines   vm.Object
	line    int64

	state   state
	fields  []vm.Object
	field   strings.Builder
	length  int64 // characters of the field
	numeric bool  // the field was not quoted, and is to be a number
}

// Type implements vm.Object.
func (r *reader) Type() *vm.Type { return r.m.reader }

// Next implements vm.Iterator: the next record.
func (r *reader) Next(in *vm.Interp) (vm.Object, error) {
	r.fields, r.state, r.numeric = nil, startRecord, false
	r.field.Reset()
	r.length = 0
	for {
		line, err := in.Next(r.lines)
		if err != nil {
			return nil, err
		}
		if line == nil {
			if r.length == 0 && r.state != inQuoted {
				return nil, nil
			}
			if r.dialect.strict {
				return nil, in.Errorf(r.m.err, "unexpected end of data")
			}
			if err := r.save(in); err != nil {
				return nil, err
			}
			break
		}
		s, ok := vm.AsStr(line)
		if !ok {
			return nil, in.Errorf(r.m.err, "iterator should return strings, not %s (the file should be opened in text mode)", vm.TypeName(line))
		}
		r.line++
		for _, c := range wtf8.All(s) {
			if err := r.process(in, c); err != nil {
				return nil, err
			}
		}
		if err := r.process(in, endOfLine); err != nil {
			return nil, err
		}
		if r.state == startRecord {
			break
		}
	}
	return vm.NewList(r.fields...), nil
}

// process takes one character.
func (r *reader) process(in *vm.Interp, c rune) error {
	d := r.dialect
	newline := c == '\n' || c == '\r'
	switch r.state {
	case startRecord:
		switch {
		case c == endOfLine:
			return nil
		case newline:
			r.state = eatNewline
			return nil
		}
		return r.start(in, c)
	case startField:
		return r.start(in, c)
	case escaped:
		if newline {
			r.state = afterEscapedNewline
			return r.add(in, c)
		}
		r.state = inField
		return r.add(in, literal(c))
	case afterEscapedNewline:
		if c == endOfLine {
			return nil
		}
		return r.within(in, c)
	case inField:
		return r.within(in, c)
	case inQuoted:
		switch {
		case c == endOfLine:
		case c == d.escape:
			r.state = escapedInQuoted
		case c == d.quote && d.quoting != quoteNone && d.doubleQuote:
			r.state = quoteInQuoted
		case c == d.quote && d.quoting != quoteNone:
			r.state = inField
		default:
			return r.add(in, c)
		}
	case escapedInQuoted:
		r.state = inQuoted
		return r.add(in, literal(c))
	case quoteInQuoted:
		return r.afterQuote(in, c)
	case eatNewline:
		switch {
		case newline:
		case c == endOfLine:
			r.state = startRecord
		default:
			return in.Errorf(r.m.err, "new-line character seen in unquoted field - do you need to open the file with newline=''?")
		}
	}
	return nil
}

// literal is an escaped character; the end of a line stands for a newline.
func literal(c rune) rune {
	if c == endOfLine {
		return '\n'
	}
	return c
}

// start takes the first character of a field.
func (r *reader) start(in *vm.Interp, c rune) error {
	d := r.dialect
	r.state = startField
	switch {
	case r.ends(c):
		return r.end(in, c)
	case c == d.quote && d.quoting != quoteNone:
		r.state = inQuoted
	case c == d.escape:
		r.state = escaped
	case c == ' ' && d.skipSpace:
	case c == d.delimiter:
		return r.save(in)
	default:
		r.numeric = d.quoting == quoteNonNumeric
		r.state = inField
		return r.add(in, c)
	}
	return nil
}

// within takes a character of a field that is not quoted.
func (r *reader) within(in *vm.Interp, c rune) error {
	r.state = inField
	switch {
	case r.ends(c):
		return r.end(in, c)
	case c == r.dialect.escape:
		r.state = escaped
		return nil
	case c == r.dialect.delimiter:
		r.state = startField
		return r.save(in)
	}
	return r.add(in, c)
}

// afterQuote takes the character after a quote within a quoted field: another quote, or the field's end.
func (r *reader) afterQuote(in *vm.Interp, c rune) error {
	d := r.dialect
	switch {
	case c == d.quote && d.quoting != quoteNone:
		r.state = inQuoted
		return r.add(in, c)
	case c == d.delimiter:
		r.state = startField
		return r.save(in)
	case r.ends(c):
		return r.end(in, c)
	case d.strict:
		return in.Errorf(r.m.err, "'%s' expected after '%s'", wtf8.Char(d.delimiter), wtf8.Char(d.quote))
	}
	r.state = inField
	return r.add(in, c)
}

func (r *reader) ends(c rune) bool { return c == '\n' || c == '\r' || c == endOfLine }

// end ends the record.
func (r *reader) end(in *vm.Interp, c rune) error {
	r.state = eatNewline
	if c == endOfLine {
		r.state = startRecord
	}
	return r.save(in)
}

func (r *reader) add(in *vm.Interp, c rune) error {
	if r.length >= r.m.limit {
		return in.Errorf(r.m.err, "field larger than field limit (%d)", r.m.limit)
	}
	r.length++
	wtf8.WriteRune(&r.field, c)
	return nil
}

// save ends a field.
func (r *reader) save(in *vm.Interp) error {
	var v vm.Object = vm.Str(r.field.String())
	r.field.Reset()
	r.length = 0
	if r.numeric {
		r.numeric = false
		var err error
		if v, err = in.Call(vm.FloatType, []vm.Object{v}, nil); err != nil {
			return err
		}
	}
	r.fields = append(r.fields, v)
	return nil
}
