package vm

import (
	"unicode/utf8"
	"unsafe"

	"whittle/capture/python/wtf8"
)

// textCache remembers what long strings consist of, so that walking through one by index takes no time that grows with it.
type textCache [8]struct {
	text  string
	runes []rune // nil: all ASCII
}

// runes gives the characters of a string, nil where each is one byte, and their number.
func (c *textCache) runes(s string) ([]rune, int) {
	if len(s) < 32 {
		if isASCII(s) {
			return nil, len(s)
		}
		rs := wtf8.Runes(s)
		return rs, len(rs)
	}
	at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	e := &c[(at>>4^at>>9)%uintptr(len(c))]
	if len(e.text) != len(s) || unsafe.StringData(e.text) != unsafe.StringData(s) {
		e.text, e.runes = s, nil
		if !isASCII(s) {
			e.runes = wtf8.Runes(s)
		}
	}
	if e.runes == nil {
		return nil, len(s)
	}
	return e.runes, len(e.runes)
}

// Runes gives the characters of a string, nil where each is one byte, and their number. The slice is shared: it must not be changed.
func (c *textCache) Runes(s string) ([]rune, int) { return c.runes(s) }

// isASCII reports whether each character is one byte, so that an index of characters is one of bytes.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// strLen counts code points.
func strLen(s string) int { return wtf8.RuneCountInString(s) }

var charStrs = func() (t [128]Object) {
	for i := range t {
		t[i] = Str(wtf8.Char(rune(i)))
	}
	return
}()
