package pyexpat

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/vm"
)

// input is what is read: UTF-8, and how much of it.
type input struct {
	buf    []byte
	pos    int
	line   int // from 0
	col    int
	offset int // of pos in all that has come

	raw      []byte // not decoded yet
	encoding string // empty: not known yet
	frozen   *input // within an entity: the document, which is where the parser is
}

// where is the place in the document of what is n bytes behind pos.
func (i *input) where(n int) (line, col, offset int) {
	if i.frozen != nil {
		return i.frozen.where(0)
	}
	line, col = i.line, i.col
	part := i.buf[i.pos:min(i.pos+n, len(i.buf))]
	for k, c := range part {
		switch {
		case c == '\r' || c == '\n' && (k == 0 || part[k-1] != '\r'):
			line, col = line+1, 0
		case c != '\n' && utf8.RuneStart(c):
			col++
		}
	}
	return line, col, i.offset + n
}

func (i *input) advance(n int) {
	i.line, i.col, i.offset = i.where(n)
	i.pos += n
	if i.pos > 1<<16 {
		i.buf, i.pos = append([]byte(nil), i.buf[i.pos:]...), 0
	}
}

var declared = regexp.MustCompile(`^<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// detect says what the input is encoded as, by its first bytes and its declaration; empty if that takes more of it.
func detect(b []byte, final bool) (name string, skip int) {
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return "utf-8", 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return "utf-16", 0
	case bytes.HasPrefix(b, []byte("<\x00")):
		return "utf-16-le", 0
	case bytes.HasPrefix(b, []byte("\x00<")):
		return "utf-16-be", 0
	}
	waits := !final && (len(b) < 2 || partOf(b, "<?xml") || bytes.HasPrefix(b, []byte("<?xml")) && !bytes.Contains(b, []byte("?>")))
	if waits {
		return "", 0
	}
	if m := declared.FindSubmatch(b); m != nil {
		return string(m[1]), 0
	}
	return "utf-8", 0
}

// usable refuses encodings that are none, or not of single bytes.
func usable(in *vm.Interp, name string) error {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-16le", "utf-16be", "iso-8859-1", "us-ascii", "ascii", "latin-1":
		return nil
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	s, err := in.Decode(all, name, "replace")
	if err == nil && utf8.RuneCountInString(s) != 256 {
		return in.Errorf(in.Exc.ValueError, "multi-byte encodings are not supported")
	}
	return err
}

// feed adds input.
func (p *parser) feed(data []byte, final bool) error {
	p.raw = append(p.raw, data...)
	if p.encoding == "" {
		name, skip := detect(p.raw, final)
		if name == "" {
			return nil
		}
		if err := usable(p.in, name); err != nil {
			return err
		}
		p.encoding, p.raw = name, p.raw[skip:]
	}
	switch strings.ToLower(p.encoding) {
	case "utf-8":
		p.buf, p.raw = append(p.buf, p.raw...), nil
		return nil
	case "us-ascii", "ascii":
		if i := bytes.IndexFunc(p.raw, func(r rune) bool { return r >= 0x80 }); i >= 0 {
			return wrong(invalidToken, len(p.buf)-p.pos+i)
		}
	}
	s, n, err := p.decode(final)
	if err != nil {
		return err
	}
	if p.encoding == "utf-16" && n >= 2 {
		p.encoding = map[byte]string{0xff: "utf-16-le", 0xfe: "utf-16-be"}[p.raw[0]]
	}
	p.buf, p.raw = append(p.buf, s...), p.raw[n:]
	return nil
}

// decode decodes what is raw, and says how much of it that was: all of it in an encoding of single bytes.
func (p *parser) decode(final bool) (string, int, error) {
	if strings.HasPrefix(strings.ToLower(p.encoding), "utf") {
		return p.in.DecodePart(p.raw, strings.ReplaceAll(strings.ToLower(p.encoding), "_", "-"), "replace", final)
	}
	s, err := p.in.Decode(p.raw, p.encoding, "replace")
	return s, len(p.raw), err
}
