package vm

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// The encodings of source texts, by PEP 263.

const byteOrderMark = "\ufeff"

var (
	encodingComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`) })
	blankLine       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t\f]*(#.*)?$`) })
)

// DecodeSource is the text of source code in bytes: UTF-8 unless a comment in the first or second line names another encoding. What should be
// UTF-8 and is not stays as it is, for the parser to find the place.
func (in *Interp) DecodeSource(filename string, b []byte) (string, error) {
	src, marked := strings.CutPrefix(string(b), byteOrderMark)
	name := SourceEncoding(src)
	switch {
	case (name == "" || name == "utf-8") && !utf8.Valid(b):
		_, err := in.Decode(b, "utf-8", "strict")
		return "", in.unreadable(filename, "(unicode error) "+raisedText(in, err))
	case name == "" || name == "utf-8":
		return string(b), nil
	case marked:
		return "", in.unreadable(filename, "encoding problem: "+name+" with BOM")
	}
	text, err := in.Decode(b, name, "strict")
	if err != nil && in.Matches(err, in.Exc.LookupError) && !strings.Contains(raisedText(in, err), "text encoding") {
		return "", in.unreadable(filename, "unknown encoding: "+name)
	}
	if err != nil {
		return "", in.unreadable(filename, raisedText(in, err))
	}
	return text, nil
}

// DecodeFile is DecodeSource for the file of a script, which is read line by line: its errors say less.
func (in *Interp) DecodeFile(filename string, b []byte) (string, error) {
	name := SourceEncoding(strings.TrimPrefix(string(b), byteOrderMark))
	if (name == "" || name == "utf-8") && !utf8.Valid(b) {
		for i, line := range strings.Split(string(b), "\n") {
			for k, r := range line {
				if _, n := utf8.DecodeRuneInString(line[k:]); r == utf8.RuneError && n == 1 {
					return "", in.Errorf(in.Exc.SyntaxError, "Non-UTF-8 code starting with '\\x%02x' in file %s on line %d, but no encoding declared; see https://peps.python.org/pep-0263/ for details", line[k], filename, i+1)
				}
			}
		}
	}
	if name == "" || name == "utf-8" {
		return string(b), nil
	}
	text, err := in.DecodeSource(filename, b)
	if err != nil {
		return "", in.Errorf(in.Exc.SyntaxError, "encoding problem: %s", name)
	}
	return text, nil
}

// SourceEncoding is the encoding that a comment in the first two lines names, in its normal form; empty if there is none.
func SourceEncoding(src string) string {
	for range 2 {
		line := src
		if i := strings.IndexAny(src, "\r\n"); i >= 0 {
			line, src = src[:i], strings.TrimPrefix(src[i:], "\r")
			src = strings.TrimPrefix(src, "\n")
		} else {
			src = ""
		}
		if m := encodingComment().FindStringSubmatch(line); m != nil {
			return normalEncoding(m[1])
		}
		if !blankLine().MatchString(line) {
			break
		}
	}
	return ""
}

// normalEncoding gives the two encodings that the tokenizer knows by itself one name each.
func normalEncoding(name string) string {
	s := strings.ReplaceAll(strings.ToLower(name[:min(len(name), 12)]), "_", "-")
	is := func(n string) bool { return s == n || strings.HasPrefix(s, n+"-") }
	switch {
	case is("utf-8"):
		return "utf-8"
	case is("latin-1"), is("iso-8859-1"), is("iso-latin-1"):
		return "iso-8859-1"
	}
	return name
}

// unreadable is a SyntaxError about a text as a whole.
func (in *Interp) unreadable(filename, msg string) error {
	return in.RaiseObj(in.Exc.SyntaxError, Str(msg), NewTuple(Str(filename), MakeInt(0), MakeInt(-1), None))
}

// raisedText is what an exception says.
func raisedText(in *Interp, err error) string {
	if r, ok := err.(*Raised); ok {
		if s, err := in.Str(r.Exc); err == nil {
			return s
		}
	}
	return fmt.Sprint(err)
}
