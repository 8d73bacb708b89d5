package pyexpat

import (
	"bytes"
	"strings"

	"whittle/capture/python/vm"
)

// dtd is what a document declares. The parsers of its external entities share it.
type dtd struct {
	entities   map[string]*entity
	attrs      map[string][]attrDecl
	complete   bool // all declarations have been read: what is not among them is an error
	standalone bool
	outer      bool // what is being read is declarations alone
	parameters int  // whether parameter entities are asked for: 0 never, 1 unless standalone, 2 always
	foreign    bool
	seen       bool // a DOCTYPE
	system     vm.Object
	public     vm.Object
}

// entity is a general entity.
type entity struct {
	value                string
	base, system, public vm.Object // system is nil for an internal one
	notation             string
}

// attrDecl is the declaration of an attribute.
type attrDecl struct {
	name, kind, value string
	hasValue          bool
}

func newDTD() *dtd {
	return &dtd{entities: map[string]*entity{}, attrs: map[string][]attrDecl{}, complete: true}
}

// tokenized says whether an attribute's value is names, between which spaces do not count.
func (d *dtd) tokenized(element, attr string) bool {
	for _, a := range d.attrs[element] {
		if a.name == attr {
			return a.kind != "CDATA"
		}
	}
	return false
}

// words splits a declaration: names, quoted texts with their quotes, and single other characters.
func words(b []byte) (out []string, err error) {
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case isSpace(c):
			i++
		case c == '"' || c == '\'':
			end := bytes.IndexByte(b[i+1:], c)
			if end < 0 {
				return nil, wrong(invalidToken, i)
			}
			out = append(out, string(b[i:i+end+2]))
			i += end + 2
		default:
			n := 0
			for i+n < len(b) && (nameLen(append([]byte("_"), b[i+n:i+n+1]...)) == 2 || b[i+n] >= 0x80) {
				n++
			}
			n = max(n, 1)
			out = append(out, string(b[i:i+n]))
			i += n
		}
	}
	return out, nil
}

func quoted(s string) bool { return len(s) > 1 && (s[0] == '"' || s[0] == '\'') }

func unquoted(s string) string { return s[1 : len(s)-1] }

// externalID reads SYSTEM "..." or PUBLIC "..." "..." from the front; ok is false if something else is there.
func externalID(w []string) (public, system vm.Object, rest []string, ok bool) {
	switch {
	case len(w) > 1 && w[0] == "SYSTEM" && quoted(w[1]):
		return vm.None, vm.Str(unquoted(w[1])), w[2:], true
	case len(w) > 1 && w[0] == "PUBLIC" && quoted(w[1]):
		public = vm.Str(strings.Join(strings.Fields(unquoted(w[1])), " "))
		if len(w) > 2 && quoted(w[2]) {
			return public, vm.Str(unquoted(w[2])), w[3:], true
		}
		return public, vm.None, w[2:], true
	}
	return vm.None, vm.None, w, false
}

// doctype reads a DOCTYPE up to its bracket, or to its end.
func (p *parser) doctype(b []byte) (int, error) {
	end := -1
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '>':
			end = i
		case c == '<' && i > 0:
			return 0, wrong(invalidToken, i)
		}
		if end >= 0 {
			break
		}
	}
	if end < 0 {
		return 0, errMore
	}
	w, err := words(b[9:end])
	if err != nil || len(w) == 0 || nameLen([]byte(w[0])) == 0 {
		return 0, wrong(syntaxError, 9)
	}
	public, system, rest, _ := externalID(w[1:])
	if len(rest) > 0 {
		return 0, wrong(syntaxError, 9)
	}
	d := p.dtd
	d.seen, d.system, d.public = true, system, public
	if system != vm.None {
		d.complete = false
		if err := p.checkStandalone(); err != nil {
			return 0, err
		}
	}
	inner := b[end] == '['
	if !p.set(startDoctypeHandler) {
		if err := p.pieces(b[:end+1]); err != nil {
			return 0, err
		}
	}
	if err := p.tell(startDoctypeHandler, nil, vm.Str(w[0]), system, public, vm.MakeInt(map[bool]int64{true: 1}[inner])); err != nil {
		return 0, err
	}
	if inner {
		p.place = inDTD
		return end + 1, nil
	}
	return end + 1, p.endDoctype(nil)
}

// endDoctype reads the external part if there is a handler that wants to.
func (p *parser) endDoctype(token []byte) error {
	p.place = inProlog
	d := p.dtd
	if d.system != nil && d.system != vm.None {
		if d.parameters == 2 || d.parameters == 1 && !d.standalone {
			if err := p.askExternal(vm.None, p.base, d.system, d.public); err != nil {
				return err
			}
		}
	}
	return p.tell(endDoctypeHandler, token)
}

// checkStandalone asks whether a document that depends on others may do so.
func (p *parser) checkStandalone() error {
	if p.dtd.standalone || !p.set(notStandaloneHandler) {
		return nil
	}
	v, err := p.ask(notStandaloneHandler)
	if err != nil {
		return err
	}
	if n, ok := vm.AsInt(v); ok && n == 0 {
		return wrong(notStandalone, 0)
	}
	return nil
}

// externalRef is a reference to an external entity.
func (p *parser) externalRef(name string, base, system, public vm.Object) error {
	if !p.set(externalHandler) {
		return p.other([]byte("&" + name + ";"))
	}
	return p.askExternal(vm.Str(name), base, system, public)
}

func (p *parser) askExternal(context, base, system, public vm.Object) error {
	if !p.set(externalHandler) {
		return nil
	}
	v, err := p.ask(externalHandler, context, base, system, public)
	if err != nil {
		return err
	}
	n, err := p.in.Index(v)
	if err != nil {
		return err
	}
	if n == 0 {
		return wrong(externalEntity, 0)
	}
	return nil
}

// declaration reads a token between the brackets of a DOCTYPE, or what closes it.
func (p *parser) declaration(b []byte) (int, error) {
	if p.place == afterDTD {
		if b[0] != '>' {
			return 0, wrong(invalidToken, 0)
		}
		return 1, p.endDoctype(b[:1])
	}
	switch {
	case b[0] == ']' && !p.dtd.outer:
		p.place = afterDTD
		return 1, p.other(b[:1])
	case b[0] == '%':
		return p.parameter(b)
	case b[0] != '<':
		return 0, wrong(syntaxError, 0)
	}
	if n, ok, err := p.misc(b); ok || err != nil {
		return n, err
	}
	end, err := declEnd(b)
	if err != nil {
		return 0, err
	}
	name := nameLen(b[2:])
	read := map[string]func(w []string, token []byte) (bool, error){"ENTITY": p.entityDecl, "ATTLIST": p.attlistDecl, "ELEMENT": p.elementDecl, "NOTATION": p.notationDecl}[string(b[2:2+name])]
	if read == nil || b[1] != '!' {
		return 0, wrong(invalidToken, 2)
	}
	w, err := words(b[2+name : end])
	if err != nil {
		return 0, err
	}
	ok, err := read(w, b[:end+1])
	if err == nil && !ok {
		err = wrong(syntaxError, 2+name)
	}
	return end + 1, err
}

// declEnd is where the > of a declaration is.
func declEnd(b []byte) (int, error) {
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
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

// parameter is a reference to a parameter entity, which is left out: declarations may be missing from here on.
func (p *parser) parameter(b []byte) (int, error) {
	n := nameLen(b[1:])
	if len(b) <= n+1 {
		return 0, errMore
	}
	if n == 0 || b[n+1] != ';' {
		return 0, wrong(invalidToken, n+1)
	}
	if err := p.checkStandalone(); err != nil {
		return 0, err
	}
	p.dtd.complete = false
	name := string(b[1 : n+1])
	if e := p.dtd.entities["%"+name]; e != nil && e.system != nil && p.dtd.parameters > 0 {
		return n + 2, p.askExternal(vm.Str(name), e.base, e.system, e.public)
	}
	if p.set(skippedHandler) {
		return n + 2, p.tell(skippedHandler, nil, vm.Str(name), vm.MakeInt(1))
	}
	return n + 2, p.other(b[:n+2])
}

// entityDecl is <!ENTITY ...>.
func (p *parser) entityDecl(w []string, token []byte) (bool, error) {
	isParam := len(w) > 0 && w[0] == "%"
	if isParam {
		w = w[1:]
	}
	if len(w) < 2 {
		return false, nil
	}
	name, rest := w[0], w[1:]
	key := name
	if isParam {
		key = "%" + name
	}
	e := &entity{base: p.base}
	value, notation := vm.Object(vm.None), vm.Object(vm.None)
	public, system, rest, ok := externalID(rest)
	switch {
	case ok && len(rest) == 2 && rest[0] == "NDATA" && !isParam:
		e.system, e.public, e.notation = system, public, rest[1]
		notation = vm.Str(rest[1])
	case ok && len(rest) == 0:
		e.system, e.public = system, public
	case !ok && len(rest) == 1 && quoted(rest[0]):
		v, err := p.literal(unquoted(rest[0]))
		if err != nil {
			return false, err
		}
		e.value, value = v, vm.Str(v)
	default:
		return false, nil
	}
	if p.dtd.entities[key] != nil {
		return true, p.other(token)
	}
	p.dtd.entities[key] = e
	if e.notation != "" && p.set(unparsedHandler) {
		return true, p.tell(unparsedHandler, token, vm.Str(name), p.base, system, public, notation)
	}
	return true, p.tell(entityHandler, token, vm.Str(name), vm.MakeInt(map[bool]int64{true: 1}[isParam]), value, p.base, system, public, notation)
}

// literal is an entity's value, in which references to characters are replaced and others are not.
func (p *parser) literal(s string) (string, error) {
	var sb strings.Builder
	s = lines([]byte(s))
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], "&#") {
			name, n, err := split([]byte(s[i:]))
			if err != nil {
				return "", wrong(invalidToken, 0)
			}
			r, ok := charRef(name[1:])
			if !ok {
				return "", wrong(badCharRef, 0)
			}
			sb.WriteRune(r)
			i += n
			continue
		}
		sb.WriteByte(s[i])
		i++
	}
	return sb.String(), nil
}

// notationDecl is <!NOTATION ...>.
func (p *parser) notationDecl(w []string, token []byte) (bool, error) {
	if len(w) < 2 {
		return false, nil
	}
	public, system, rest, ok := externalID(w[1:])
	if !ok || len(rest) > 0 {
		return false, nil
	}
	return true, p.tell(notationHandler, token, vm.Str(w[0]), p.base, system, public)
}

// attlistDecl is <!ATTLIST ...>.
func (p *parser) attlistDecl(w []string, token []byte) (bool, error) {
	if len(w) < 1 {
		return false, nil
	}
	element, told := w[0], false
	for w = w[1:]; len(w) > 0; {
		if len(w) < 3 {
			return false, nil
		}
		a := attrDecl{name: w[0], kind: w[1]}
		w = w[2:]
		if a.kind == "NOTATION" || a.kind == "(" {
			for len(w) > 0 && !strings.HasSuffix(a.kind, ")") {
				a.kind += w[0]
				w = w[1:]
			}
		}
		required := false
		if len(w) > 1 && w[0] == "#" {
			required = w[1] == "REQUIRED" || w[1] == "FIXED"
			fixed := w[1] == "FIXED"
			if w = w[2:]; fixed && len(w) == 0 {
				return false, nil
			}
			a.hasValue = fixed
		} else {
			a.hasValue = true
		}
		value := vm.Object(vm.None)
		if a.hasValue {
			if len(w) == 0 || !quoted(w[0]) {
				return false, nil
			}
			v, err := p.attribute(unquoted(w[0]), 0, 0)
			if err != nil {
				return false, err
			}
			if a.kind != "CDATA" {
				v = collapse(v)
			}
			a.value, value, w = v, vm.Str(v), w[1:]
		}
		p.dtd.attrs[element] = append(p.dtd.attrs[element], a)
		if p.set(attlistHandler) {
			told = true
			if err := p.tell(attlistHandler, nil, vm.Str(element), vm.Str(a.name), vm.Str(a.kind), value, vm.MakeInt(map[bool]int64{true: 1}[required])); err != nil {
				return false, err
			}
		}
	}
	if told {
		return true, nil
	}
	return true, p.other(token)
}

// Kinds of content models, and how often their parts may come.
const (
	modelEmpty, modelAny, modelMixed, modelName, modelChoice, modelSeq = 1, 2, 3, 4, 5, 6
	once, optional, repeated, plus                                     = 0, 1, 2, 3
)

var quantifiers = map[string]int{"?": optional, "*": repeated, "+": plus}

// elementDecl is <!ELEMENT ...>.
func (p *parser) elementDecl(w []string, token []byte) (bool, error) {
	if len(w) < 2 {
		return false, nil
	}
	var model vm.Object
	switch w[1] {
	case "EMPTY":
		model = modelOf(modelEmpty, once, "")
	case "ANY":
		model = modelOf(modelAny, once, "")
	default:
		rest := w[1:]
		var ok bool
		if model, rest, ok = readModel(rest); !ok || len(rest) > 0 {
			return false, nil
		}
	}
	return true, p.tell(elementDeclHandler, token, vm.Str(w[0]), model)
}

func modelOf(kind, quant int, name string, children ...vm.Object) vm.Object {
	return vm.NewTuple(vm.MakeInt(int64(kind)), vm.MakeInt(int64(quant)), orNone(name), vm.NewTuple(children...))
}

// readModel reads a group or a name from the front.
func readModel(w []string) (model vm.Object, rest []string, ok bool) {
	if len(w) == 0 {
		return nil, nil, false
	}
	quant := func() int {
		if len(w) > 0 {
			if q := quantifiers[w[0]]; q != 0 {
				w = w[1:]
				return q
			}
		}
		return once
	}
	if w[0] != "(" {
		name := w[0]
		w = w[1:]
		return modelOf(modelName, quant(), name), w, nameLen([]byte(name)) > 0
	}
	kind := modelSeq
	var children []vm.Object
	for w = w[1:]; ; {
		if len(w) > 1 && w[0] == "#" && w[1] == "PCDATA" {
			kind, w = modelMixed, w[2:]
		} else {
			var child vm.Object
			if child, w, ok = readModel(w); !ok {
				return nil, nil, false
			}
			children = append(children, child)
		}
		if len(w) == 0 {
			return nil, nil, false
		}
		sep := w[0]
		w = w[1:]
		switch {
		case sep == ")":
			return modelOf(kind, quant(), "", children...), w, true
		case sep == "|" && kind != modelMixed:
			kind = modelChoice
		case sep != "|" && sep != ",":
			return nil, nil, false
		}
	}
}

// pieces passes a declaration on to the default handler word by word, which is how it takes them.
func (p *parser) pieces(b []byte) error {
	for len(b) > 0 {
		n := spaces(b)
		switch {
		case n > 0:
		case b[0] == '"' || b[0] == '\'':
			n = bytes.IndexByte(b[1:], b[0]) + 2
		default:
			n = 1
			for b[0] != '[' && b[0] != '>' && n < len(b) && !isSpace(b[n]) && bytes.IndexByte([]byte("\"'[>"), b[n]) < 0 {
				n++
			}
		}
		if err := p.other(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
