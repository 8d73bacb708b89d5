package pyjson

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// text is a str whose places Python counts in characters, and Go in bytes.
type text struct {
	in    *vm.Interp
	s     string
	ascii bool
}

func newText(in *vm.Interp, s string) *text {
	t := &text{in: in, s: s, ascii: true}
	for i := range len(s) {
		if s[i] >= 0x80 {
			t.ascii = false
			break
		}
	}
	return t
}

// place is a place in characters.
func (t *text) place(i int) int {
	if t.ascii || i < 0 {
		return i
	}
	return wtf8.RuneCountInString(t.s[:i])
}

// offset is a place in bytes; false if the text is not that long.
func (t *text) offset(place int) (int, bool) {
	if t.ascii {
		return place, place <= len(t.s)
	}
	i := 0
	for ; place > 0 && i < len(t.s); place-- {
		_, n := wtf8.DecodeRuneInString(t.s[i:])
		i += n
	}
	return i, place == 0
}

// fail raises json.decoder.JSONDecodeError for a place in bytes.
func (t *text) fail(msg string, at int) error {
	decoder, err := t.in.Import("json.decoder")
	if err != nil {
		return err
	}
	if m, ok := t.in.Modules.GetStr("json.decoder"); ok {
		decoder, _ = m.(*vm.Module)
	}
	cls, err := t.in.GetAttr(decoder, "JSONDecodeError")
	if err != nil {
		return err
	}
	c, ok := cls.(*vm.Type)
	if !ok {
		return t.in.Errorf(t.in.Exc.TypeError, "JSONDecodeError is not a class")
	}
	return t.in.RaiseObj(c, vm.Str(msg), vm.Str(t.s), vm.MakeInt(int64(t.place(at))))
}

// escapes are the letters after a backslash, and what they stand for.
const (
	escapes = `"\/bfnrt`
	escaped = "\"\\/\b\f\n\r\t"
)

// scan reads a string whose content begins at i, and gives the place behind its end.
func (t *text) scan(i int, strict bool) (string, int, error) {
	begin := i - 1
	var sb strings.Builder
	for {
		from := i
		for i < len(t.s) && t.s[i] != '"' && t.s[i] != '\\' {
			if t.s[i] < ' ' && strict {
				return "", 0, t.fail("Invalid control character at", i)
			}
			i++
		}
		if i >= len(t.s) {
			return "", 0, t.fail("Unterminated string starting at", begin)
		}
		if t.s[i] == '"' && sb.Len() == 0 {
			return t.s[from:i], i + 1, nil
		}
		sb.WriteString(t.s[from:i])
		if t.s[i] == '"' {
			return sb.String(), i + 1, nil
		}
		if i++; i >= len(t.s) {
			return "", 0, t.fail("Unterminated string starting at", begin)
		}
		if t.s[i] != 'u' {
			k := strings.IndexByte(escapes, t.s[i])
			if k < 0 {
				return "", 0, t.fail("Invalid \\escape", i-1)
			}
			sb.WriteByte(escaped[k])
			i++
			continue
		}
		r, ok := t.hex(i + 1)
		if !ok {
			return "", 0, t.fail("Invalid \\uXXXX escape", i)
		}
		i += 5
		if r&^0x3ff == 0xd800 && strings.HasPrefix(t.s[i:], `\u`) {
			if low, ok := t.hex(i + 2); ok && low&^0x3ff == 0xdc00 {
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
				i += 6
			}
		}
		wtf8.WriteRune(&sb, r)
	}
}

// hex reads four digits.
func (t *text) hex(i int) (r rune, ok bool) {
	if i+4 > len(t.s) {
		return 0, false
	}
	for _, c := range []byte(t.s[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// quote writes a string, in ASCII or not.
func quote(s string, ascii bool) string {
	var sb strings.Builder
	sb.Grow(len(s) + 2)
	sb.WriteByte('"')
	for _, r := range wtf8.All(s) {
		k := -1
		if r < 0x80 && r != '/' {
			k = strings.IndexByte(escaped, byte(r))
		}
		switch {
		case k >= 0:
			sb.WriteByte('\\')
			sb.WriteByte(escapes[k])
		case r < ' ', ascii && r > '~' && r <= 0xffff:
			fmt.Fprintf(&sb, "\\u%04x", r)
		case ascii && r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&sb, "\\u%04x\\u%04x", 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			wtf8.WriteRune(&sb, r)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}
