package vm

import (
	"strings"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

// FSPath is os.fspath, as the bytes that the operating system takes: of a str, what os.fsencode makes of it.
func (in *Interp) FSPath(o Object) (string, error) {
	if s, ok := AsStr(o); ok {
		return in.FSEncode(s)
	}
	if b, ok := unwrap(o).(Bytes); ok {
		return string(b), nil
	}
	v, ok, err := in.Special(o, "__fspath__")
	if err != nil {
		return "", err
	}
	if ok {
		if s, ok := AsStr(v); ok {
			return in.FSEncode(s)
		}
		if b, ok := unwrap(v).(Bytes); ok {
			return string(b), nil
		}
		return "", in.Errorf(in.Exc.TypeError, "expected %s.__fspath__() to return str or bytes, not %s", TypeName(o), TypeName(v))
	}
	return "", in.Errorf(in.Exc.TypeError, "expected str, bytes or os.PathLike object, not %s", TypeName(o))
}

// FSEncode is os.fsencode: UTF-8, where a surrogate of U+DC80 to U+DCFF stands for a byte that is none.
func (in *Interp) FSEncode(s string) (string, error) {
	if wtf8.Valid(s) {
		return s, nil
	}
	b, err := in.Encode(s, "utf-8", "surrogateescape")
	return string(b), err
}

// FSDecode is os.fsdecode: the text of a name that the operating system gave.
func FSDecode(name string) Str {
	if utf8.ValidString(name) {
		return Str(name)
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && n == 1 {
			r = 0xdc00 + rune(name[i])
		}
		wtf8.WriteRune(&b, r)
		i += n
	}
	return Str(b.String())
}

// SourceName is the name of the file that a text is said to come from: a path, or, with a warning, what has a buffer.
func (in *Interp) SourceName(o Object) (string, error) {
	if b, ok := bytesOf(o); ok {
		if _, plain := unwrap(o).(Bytes); !plain {
			if err := in.Warn(in.Exc.DeprecationWarning, "path should be string, bytes, or os.PathLike, not "+TypeName(o)); err != nil {
				return "", err
			}
			return string(FSDecode(string(b))), nil
		}
	}
	if s, ok := AsStr(o); ok {
		return s, nil
	}
	p, err := in.FSPath(o)
	return string(FSDecode(p)), err
}
