package pyexpat

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/vm"
)

// pair is an attribute as it is written.
type pair struct {
	name, value string // the value with its references
	at, valueAt int    // where they are in the token
}

// readPairs reads attributes, up to the end of b. off is where b lies in the token.
func readPairs(b []byte, off int) (out []pair, err error) {
	i := 0
	for {
		s := spaces(b[i:])
		i += s
		if i >= len(b) {
			return out, nil
		}
		n := nameLen(b[i:])
		if n == 0 || s == 0 {
			return nil, wrong(invalidToken, off+i)
		}
		a := pair{name: string(b[i : i+n]), at: off + i}
		i += n
		i += spaces(b[i:])
		if i >= len(b) || b[i] != '=' {
			return nil, wrong(invalidToken, off+i)
		}
		i++
		i += spaces(b[i:])
		if i >= len(b) || b[i] != '"' && b[i] != '\'' {
			return nil, wrong(invalidToken, off+i)
		}
		end := bytes.IndexByte(b[i+1:], b[i])
		if end < 0 {
			return nil, wrong(invalidToken, off+i)
		}
		a.value, a.valueAt = string(b[i+1:i+1+end]), off+i+1
		if k := strings.IndexByte(a.value, '<'); k >= 0 {
			return nil, wrong(invalidToken, a.valueAt+k)
		}
		if k := badChar([]byte(a.value)); k >= 0 {
			return nil, wrong(invalidToken, a.valueAt+k)
		}
		out = append(out, a)
		i += end + 2
	}
}

// tagEnd is where the > of a tag is.
func tagEnd(b []byte) (int, error) {
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '<' {
				return 0, wrong(invalidToken, i)
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i, nil
		case c == '<' && i > 0:
			return 0, wrong(invalidToken, i)
		}
	}
	return 0, errMore
}

// tag reads a start or end tag.
func (p *parser) tag(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, errMore
	}
	if b[1] == '/' {
		return p.endTag(b)
	}
	name := nameLen(b[1:])
	if name == 0 {
		return 0, wrong(invalidToken, 1)
	}
	end, err := tagEnd(b)
	if err != nil {
		return 0, err
	}
	attrs := b[1+name : end]
	empty := len(attrs) > 0 && attrs[len(attrs)-1] == '/'
	if empty {
		attrs = attrs[:len(attrs)-1]
	}
	if len(attrs) > 0 && !isSpace(attrs[0]) {
		return 0, wrong(invalidToken, 1+name)
	}
	pairs, err := readPairs(attrs, 1+name)
	if err != nil {
		return 0, err
	}
	if err := p.open(string(b[1:1+name]), pairs, b[:end+1]); err != nil {
		return 0, err
	}
	if empty { // its end is behind it
		p.last.at = end + 1
		err = p.close(b[:0])
		p.last.at = 0
	}
	return end + 1, err
}

func (p *parser) endTag(b []byte) (int, error) {
	end := bytes.IndexByte(b, '>')
	name := nameLen(b[2:])
	if end < 0 {
		if len(b) > 2 && name == 0 {
			return 0, wrong(invalidToken, 2)
		}
		return 0, errMore
	}
	if name == 0 || spaces(b[2+name:end]) != end-2-name {
		return 0, wrong(invalidToken, 2+name)
	}
	if len(p.stack) == 0 {
		return 0, wrong(asyncEntity, 0)
	}
	if p.stack[len(p.stack)-1].raw != string(b[2:2+name]) {
		return 0, wrong(tagMismatch, 2)
	}
	return end + 1, p.close(b[:end+1])
}

// open is the start of an element.
func (p *parser) open(raw string, pairs []pair, token []byte) error {
	e := element{raw: raw}
	var names []string
	values := map[string]string{}
	for _, a := range pairs {
		if _, twice := values[a.name]; twice {
			return wrong(duplicateAttr, a.at)
		}
		v, err := p.attribute(a.value, a.valueAt, 0)
		if err != nil {
			return err
		}
		if p.dtd.tokenized(raw, a.name) {
			v = collapse(v)
		}
		names = append(names, a.name)
		values[a.name] = v
	}
	specified := len(names)
	for _, d := range p.dtd.attrs[raw] {
		if _, there := values[d.name]; !there && d.hasValue {
			names = append(names, d.name)
			values[d.name] = d.value
		}
	}
	if p.given {
		names = names[:specified]
	}
	var items []vm.Object
	if p.spaces {
		for _, n := range names {
			if err := p.declare(&e, n, values[n]); err != nil {
				return err
			}
		}
	}
	seen := map[string]bool{}
	for _, n := range names {
		if p.spaces && (n == "xmlns" || strings.HasPrefix(n, "xmlns:")) {
			continue
		}
		full, err := p.qualified(n, false)
		if err != nil {
			return err
		}
		if seen[full] {
			return wrong(duplicateAttr, 0)
		}
		seen[full] = true
		items = append(items, p.intern(full), vm.Str(values[n]))
	}
	full, err := p.qualified(raw, true)
	if err != nil {
		return err
	}
	e.name = p.intern(full)
	p.stack = append(p.stack, e)
	return p.tell(startElementHandler, token, e.name, p.attributes(items))
}

// attributes are an element's, as its handler gets them.
func (p *parser) attributes(items []vm.Object) vm.Object {
	if p.ordered {
		return vm.NewList(items...)
	}
	d := vm.NewDict()
	for i := 0; i < len(items); i += 2 {
		s, _ := vm.AsStr(items[i])
		d.SetStr(s, items[i+1])
	}
	return d
}

// close is the end of the innermost element.
func (p *parser) close(token []byte) error {
	e := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	if err := p.tell(endElementHandler, token, e.name); err != nil {
		return err
	}
	for i := len(e.prefixes) - 1; i >= 0; i-- {
		p.bound = p.bound[:len(p.bound)-1]
		if err := p.tell(endNamespaceHandler, nil, orNone(e.prefixes[i])); err != nil {
			return err
		}
	}
	if len(p.stack) == 0 && !p.external && len(p.opening) == 0 {
		p.place = inEpilog
	}
	return nil
}

// binding is a namespace's prefix and name.
type binding struct{ prefix, uri string }

const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// declare binds a prefix if an attribute does so.
func (p *parser) declare(e *element, name, uri string) error {
	prefix, ok := strings.CutPrefix(name, "xmlns:")
	if !ok {
		if name != "xmlns" {
			return nil
		}
		prefix = ""
	}
	switch {
	case prefix == "xml" && uri != xmlSpace:
		return wrong(reservedXML, 0)
	case prefix == "xmlns":
		return wrong(reservedXML+1, 0)
	case prefix != "xml" && uri == xmlSpace:
		return wrong(reservedXML+2, 0)
	case ok && uri == "":
		return wrong(undeclaredPrefix, 0)
	}
	e.prefixes = append(e.prefixes, prefix)
	p.bound = append(p.bound, binding{prefix, uri})
	return p.tell(startNamespaceHandler, nil, orNone(prefix), orNone(uri))
}

// qualified is a name with its namespace in front of it.
func (p *parser) qualified(name string, isElement bool) (string, error) {
	if !p.spaces {
		return name, nil
	}
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		prefix, local = "", name
		if !isElement {
			return name, nil
		}
	}
	for i := len(p.bound) - 1; i >= 0; i-- {
		if b := p.bound[i]; b.prefix == prefix {
			return p.joined(b.uri, local, prefix), nil
		}
	}
	if prefix == "xml" {
		return p.joined(xmlSpace, local, prefix), nil
	}
	if ok {
		return "", wrong(unboundPrefix, 0)
	}
	return name, nil
}

func (p *parser) joined(uri, local, prefix string) string {
	if uri == "" {
		return local
	}
	s := uri + p.sep + local
	if p.triplets && prefix != "" && p.sep != "" {
		s += p.sep + prefix
	}
	return s
}

// predefined are the entities that every document has.
var predefined = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// charRef is the character of what is between &# and ;.
func charRef(s string) (rune, bool) {
	base := 10
	if strings.HasPrefix(s, "x") {
		s, base = s[1:], 16
	}
	n, err := strconv.ParseUint(s, base, 32)
	return rune(n), err == nil && n <= utf8.MaxRune && isChar(rune(n))
}

// split reads a reference: what is between & and ;.
func split(b []byte) (name string, n int, err error) {
	i := 1
	if len(b) > 1 && b[1] == '#' {
		i = 2
		for i < len(b) && (b[i] == 'x' && i == 2 || isHex(b[i])) {
			i++
		}
	} else {
		i += nameLen(b[1:])
	}
	if i >= len(b) {
		return "", 0, errMore
	}
	if b[i] != ';' || i == 1 {
		return "", 0, wrong(invalidToken, i)
	}
	return string(b[1:i]), i + 1, nil
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// reference reads a reference in content.
func (p *parser) reference(b []byte) (int, error) {
	name, n, err := split(b)
	if err != nil {
		return 0, err
	}
	if num, ok := strings.CutPrefix(name, "#"); ok {
		r, ok := charRef(num)
		if !ok {
			return 0, wrong(badCharRef, 0)
		}
		return n, p.characters([]byte(string(r)))
	}
	if s, ok := predefined[name]; ok {
		return n, p.characters([]byte(s))
	}
	e := p.dtd.entities[name]
	switch {
	case e == nil && (p.dtd.complete || p.dtd.standalone):
		return 0, wrong(undefinedEntity, 0)
	case e == nil:
		if p.set(skippedHandler) {
			return n, p.tell(skippedHandler, b[:n], vm.Str(name), vm.MakeInt(0))
		}
		return n, p.other(b[:n])
	case slices.Contains(p.opening, name):
		return 0, wrong(recursiveEntity, 0)
	case e.notation != "":
		return 0, wrong(binaryEntity, 0)
	case e.system != nil:
		return n, p.externalRef(name, e.base, e.system, e.public)
	case p.keepsReferences():
		if p.set(skippedHandler) {
			return n, p.tell(skippedHandler, b[:n], vm.Str(name), vm.MakeInt(0))
		}
		return n, p.other(b[:n])
	}
	return n, p.replace(name, e.value)
}

// replace reads the text of an entity in its place. Elements have to end where they begin.
func (p *parser) replace(name, value string) error {
	depth := len(p.stack)
	outer := p.input
	p.opening = append(p.opening, name)
	p.input = input{buf: []byte(value), frozen: &outer}
	var err error
	for p.pos < len(p.buf) && err == nil {
		var n int
		if n, err = p.content(p.buf[p.pos:], true); err == nil {
			p.pos += n
		}
		if err == nil && len(p.stack) < depth {
			err = wrong(asyncEntity, 0)
		}
	}
	if err == errMore {
		err = wrong(unclosedToken, 0)
	}
	if prob, ok := err.(*problem); ok && prob.fault != recursiveEntity {
		prob.at = 0
	}
	p.input = outer
	p.opening = p.opening[:len(p.opening)-1]
	if err == nil && len(p.stack) != depth {
		err = wrong(asyncEntity, 0)
	}
	return err
}

// attribute is a value with its references replaced and its spaces made blanks.
func (p *parser) attribute(s string, at, depth int) (string, error) {
	var sb strings.Builder
	s = lines([]byte(s))
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case isSpace(c):
			sb.WriteByte(' ')
			i++
		case c != '&':
			sb.WriteByte(c)
			i++
		default:
			name, n, err := split([]byte(s[i:]))
			if err != nil {
				return "", wrong(invalidToken, at+i)
			}
			v, err := p.value(name, at+i, depth)
			if err != nil {
				return "", err
			}
			sb.WriteString(v)
			i += n
		}
	}
	return sb.String(), nil
}

// value is what a reference within an attribute stands for.
func (p *parser) value(name string, at, depth int) (string, error) {
	if num, ok := strings.CutPrefix(name, "#"); ok {
		r, ok := charRef(num)
		if !ok {
			return "", wrong(badCharRef, at)
		}
		return string(r), nil
	}
	if s, ok := predefined[name]; ok {
		return s, nil
	}
	e := p.dtd.entities[name]
	switch {
	case e == nil && (p.dtd.complete || p.dtd.standalone):
		return "", wrong(undefinedEntity, at)
	case e == nil:
		return "", nil
	case e.system != nil:
		return "", wrong(attrExternal, at)
	case slices.Contains(p.opening, name):
		return "", wrong(recursiveEntity, at)
	}
	p.opening = append(p.opening, name)
	v, err := p.attribute(e.value, 0, depth+1)
	p.opening = p.opening[:len(p.opening)-1]
	if prob, ok := err.(*problem); ok {
		prob.at = at
	}
	return v, err
}

func orNone(s string) vm.Object {
	if s == "" {
		return vm.None
	}
	return vm.Str(s)
}

// collapse leaves one blank between words and none around them; what came by a reference is no blank.
func collapse(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
}
