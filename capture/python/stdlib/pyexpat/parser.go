package pyexpat

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"whittle/capture/python/vm"
)

// place is where a parser is within a document.
type place int

const (
	atStart   place = iota // nothing has been read
	inProlog               // before the document's element
	inDTD                  // between the brackets of a DOCTYPE
	afterDTD               // behind them, before the >
	inContent              // within an element, or in an external entity
	inEpilog               // behind the element
)

// element is an open element.
type element struct {
	raw      string
	name     vm.Object
	prefixes []string // namespaces that it declares
}

// parser is a parser of one document or external entity.
type parser struct {
	*handlers
	in  *vm.Interp
	dtd *dtd
	input
	place    place
	external bool // an external entity: it may have more elements than one, or none
	stack    []element
	bound    []binding
	sep      string
	spaces   bool // namespaces are looked at
	triplets bool
	ordered  bool // attributes come as a list
	given    bool // only those that the document has
	started  bool
	done     bool
	base     vm.Object
	opening  []string // entities that are being replaced
	cdata    bool
	last     problem // what it failed with
}

// errMore says that a token is not complete.
var errMore = errors.New("more input is needed")

// run reads as many tokens as there are.
func (p *parser) run(final bool) error {
	for p.pos < len(p.buf) {
		n, err := p.token(p.buf[p.pos:], final)
		if errors.Is(err, errMore) {
			break
		}
		if err != nil {
			return err
		}
		p.advance(n)
	}
	if !final {
		return nil
	}
	return p.end()
}

// end is what is wrong at the end of the input, if something is.
func (p *parser) end() error {
	switch rest := p.buf[p.pos:]; {
	case p.cdata:
		return wrong(unclosedCDATA, len(rest))
	case len(rest) > 0 && !utf8.FullRune(rest):
		return wrong(partialChar, 0)
	case len(rest) > 0:
		return wrong(unclosedToken, 0)
	case p.external && len(p.stack) == 0:
		return p.flush()
	case p.place != inEpilog:
		return wrong(noElements, 0)
	}
	return p.flush()
}

// token reads one token and says how long it is.
func (p *parser) token(b []byte, final bool) (int, error) {
	if p.place == atStart {
		return p.first(b, final)
	}
	if p.cdata {
		return p.inCDATA(b)
	}
	if p.place == inContent {
		return p.content(b, final)
	}
	if n := spaces(b); n > 0 {
		return n, p.other(b[:n])
	}
	if p.place == inDTD || p.place == afterDTD {
		return p.declaration(b)
	}
	if b[0] != '<' {
		if p.place == inEpilog {
			return 0, wrong(junkAfter, 0)
		}
		if b[0] == '&' || !isNameRune(b) {
			return 0, wrong(invalidToken, 0)
		}
		return 0, wrong(syntaxError, 0)
	}
	if n, ok, err := p.misc(b); ok || err != nil {
		return n, err
	}
	switch {
	case partOf(b, "<!DOCTYPE"):
		return 0, errMore
	case bytes.HasPrefix(b, []byte("<!DOCTYPE")) && p.place == inProlog:
		return p.doctype(b)
	case len(b) > 1 && b[1] == '!':
		return 0, wrong(invalidToken, 2)
	case len(b) < 2:
		return 0, errMore
	case p.place == inEpilog:
		return 0, wrong(junkAfter, 0)
	}
	if p.dtd.foreign && !p.dtd.seen && p.dtd.parameters > 0 {
		p.dtd.seen = true
		if err := p.askExternal(vm.None, p.base, vm.None, vm.None); err != nil {
			return 0, err
		}
	}
	p.place = inContent
	return p.tag(b)
}

// first looks for a declaration <?xml ...?>.
func (p *parser) first(b []byte, final bool) (int, error) {
	if len(b) < 6 && bytes.HasPrefix([]byte("<?xml "), b) && !final {
		return 0, errMore
	}
	p.place = inProlog
	if p.external {
		p.place = inContent
		if p.dtd.outer {
			p.place = inDTD
		}
	}
	if !bytes.HasPrefix(b, []byte("<?xml")) || len(b) < 6 || !isSpace(b[5]) {
		return 0, nil
	}
	end := bytes.Index(b, []byte("?>"))
	if end < 0 {
		p.place = atStart
		return 0, errMore
	}
	attrs, err := readPairs(b[5:end], 5)
	if err != nil {
		return 0, wrong(xmlDecl, err.(*problem).at)
	}
	version, encoding, standalone := vm.Object(vm.None), vm.Object(vm.None), -1
	for _, a := range attrs {
		switch a.name {
		case "version":
			version = vm.Str(a.value)
		case "encoding":
			encoding = vm.Str(a.value)
		case "standalone":
			standalone = map[string]int{"yes": 1, "no": 0}[a.value]
			p.dtd.standalone = standalone == 1
		default:
			return 0, wrong(xmlDecl, a.at)
		}
	}
	if version == vm.None && !p.external {
		return 0, wrong(xmlDecl, 6)
	}
	return end + 2, p.tell(xmlDeclHandler, b[:end+2], version, encoding, vm.MakeInt(int64(standalone)))
}

// misc reads a comment or a processing instruction.
func (p *parser) misc(b []byte) (n int, ok bool, err error) {
	switch {
	case partOf(b, "<!--") || partOf(b, "<?"):
		return 0, false, errMore
	case bytes.HasPrefix(b, []byte("<!--")):
		end := bytes.Index(b[4:], []byte("--"))
		if bad := badChar(b[4 : 4+max(end, 0)]); bad >= 0 {
			return 0, false, wrong(invalidToken, 4+bad)
		}
		if end < 0 || len(b) < 4+end+3 {
			return 0, false, errMore
		}
		if b[4+end+2] != '>' {
			return 0, false, wrong(invalidToken, 4+end+2)
		}
		n = 4 + end + 3
		return n, true, p.tell(commentHandler, b[:n], text(lines(b[4:4+end])))
	case bytes.HasPrefix(b, []byte("<?")):
		name := nameLen(b[2:])
		if name == 0 && len(b) > 2 {
			return 0, false, wrong(invalidToken, 2)
		}
		end := bytes.Index(b, []byte("?>"))
		if end < 0 {
			return 0, false, errMore
		}
		target := string(b[2 : 2+name])
		if target == "xml" {
			return 0, false, wrong(misplacedXML, 0)
		}
		data := b[2+name : end]
		if len(data) > 0 && !isSpace(data[0]) || strings.EqualFold(target, "xml") {
			return 0, false, wrong(invalidToken, 2+name)
		}
		if bad := badChar(data); bad >= 0 {
			return 0, false, wrong(invalidToken, 2+name+bad)
		}
		return end + 2, true, p.tell(piHandler, b[:end+2], vm.Str(target), text(lines(data[spaces(data):])))
	}
	return 0, false, nil
}

// content reads a token within an element.
func (p *parser) content(b []byte, final bool) (int, error) {
	switch b[0] {
	case '<':
		if n, ok, err := p.misc(b); ok || err != nil {
			return n, err
		}
		if partOf(b, "<![CDATA[") {
			return 0, errMore
		}
		if bytes.HasPrefix(b, []byte("<![CDATA[")) {
			p.cdata = true
			return 9, p.tell(startCdataHandler, b[:9])
		}
		return p.tag(b)
	case '&':
		return p.reference(b)
	case '\n':
		return 1, p.characters(b[:1])
	case '\r':
		if len(b) == 1 && !final {
			return 0, errMore
		}
		if len(b) > 1 && b[1] == '\n' {
			return 2, p.characters([]byte{'\n'})
		}
		return 1, p.characters([]byte{'\n'})
	}
	n := bytes.IndexAny(b, "<&\r\n")
	if n < 0 {
		n = len(b)
	}
	return p.plain(b[:n], n == len(b) && !final)
}

// plain reads characters; open ones are the last that have come, of which some may be a part of something.
func (p *parser) plain(b []byte, open bool) (int, error) {
	if i := bytes.Index(b, []byte("]]>")); i >= 0 {
		return 0, wrong(invalidToken, i)
	}
	if i := badChar(b); i >= 0 {
		return 0, wrong(invalidToken, i)
	}
	if open {
		n := len(b)
		for n > 0 && n > len(b)-2 && b[n-1] == ']' {
			n--
		}
		b = whole(b[:n])
		if len(b) == 0 {
			return 0, errMore
		}
	}
	return len(b), p.characters(b)
}

// whole is b without the beginning of a character at its end.
func whole(b []byte) []byte {
	for k := 1; k <= 3 && k <= len(b); k++ {
		if utf8.RuneStart(b[len(b)-k]) {
			if !utf8.FullRune(b[len(b)-k:]) {
				return b[:len(b)-k]
			}
			break
		}
	}
	return b
}

// inCDATA reads what is in a CDATA section, line by line, or its end.
func (p *parser) inCDATA(b []byte) (int, error) {
	switch {
	case bytes.HasPrefix(b, []byte("]]>")):
		p.cdata = false
		return 3, p.tell(endCdataHandler, b[:3])
	case partOf(b, "]]>"):
		return 0, errMore
	case b[0] == '\n':
		return 1, p.characters(b[:1])
	case b[0] == '\r':
		if len(b) == 1 {
			return 0, errMore
		}
		if b[1] == '\n' {
			return 2, p.characters([]byte{'\n'})
		}
		return 1, p.characters([]byte{'\n'})
	}
	n := bytes.IndexAny(b[1:], "]\r\n") + 1
	if n == 0 {
		n = len(whole(b))
		if n == 0 {
			return 0, errMore
		}
	}
	if i := badChar(b[:n]); i >= 0 {
		return 0, wrong(invalidToken, i)
	}
	return n, p.characters(b[:n])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func spaces(b []byte) int {
	n := 0
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	return n
}

// partOf says whether b is the beginning of s and no more.
func partOf(b []byte, s string) bool { return len(b) < len(s) && strings.HasPrefix(s, string(b)) }

// badChar is where there is a character that XML has not, or -1. An incomplete one at the end is none.
func badChar(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			if !utf8.FullRune(b[i:]) {
				return -1
			}
			return i
		case !isChar(r):
			return i
		}
		i += n
	}
	return -1
}

func isChar(r rune) bool {
	return r >= 0x20 && r != 0xfffe && r != 0xffff && (r < 0xd800 || r > 0xdfff) && r <= unicode.MaxRune || r == '\t' || r == '\n' || r == '\r'
}

// nameLen is the length of the name with which b begins.
func nameLen(b []byte) int {
	n := 0
	for n < len(b) {
		r, k := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && k == 1 {
			break
		}
		start := r == '_' || r == ':' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if !start && (n == 0 || r != '-' && r != '.' && r != 0xb7 && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Mc, r)) {
			break
		}
		n += k
	}
	return n
}

func isNameRune(b []byte) bool {
	return nameLen(b) > 0 || b[0] >= '0' && b[0] <= '9' || b[0] == '-' || b[0] == '.'
}

// lines has the ends of lines as XML has them.
func lines(b []byte) string {
	return strings.ReplaceAll(strings.ReplaceAll(string(b), "\r\n", "\n"), "\r", "\n")
}

func text(s string) vm.Object { return vm.Str(s) }
