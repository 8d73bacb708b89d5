package ucd

import (
	"bytes"
	"compress/zlib"
	_ "embed"
	"encoding/binary"
	"io"
	"sync"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

//go:embed tables.bin
var packed []byte

// pageSize is how many characters lie in a page: pages that are the same are there once.
const pageSize = 256

// A table has the properties of all characters of one version of Unicode.
type table struct {
	pages   [utf8.MaxRune/pageSize + 1]uint16
	entries []uint16 // of the pages, indices of records
}

// tables is everything that make.py writes.
type tables struct {
	version    string
	categories []string
	classes    []string
	widths     []string
	numerics   []string
	tags       []string
	records    []Props
	now, old   table
	cases      [4]map[rune][]rune // lower, upper, title and folded, of characters that become several
	parts      map[rune]part
	corrected  map[rune][]rune
	pairs      map[[2]rune]rune // what two characters compose to
	names      map[string]string
}

// part is what a character is taken apart to.
type part struct {
	tag   uint8 // an index of tables.tags; 0: the decomposition is canonical
	runes []rune
}

// all reads the tables. They are part of the program, so that what is wrong with them is our own fault.
var all = sync.OnceValue(func() *tables {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	r := reader{b}
	t := &tables{version: r.text(), categories: r.texts(), classes: r.texts(), widths: r.texts(), numerics: r.texts(), tags: r.texts()}
	t.records = make([]Props, r.number())
	for i := range t.records {
		t.records[i] = r.props()
	}
	t.now.read(&r)
	t.old.read(&r)
	for i := range t.cases {
		t.cases[i] = r.mappings()
	}
	t.readParts(&r)
	t.corrected = r.mappings()
	t.names = map[string]string{}
	for range r.number() {
		name := r.text()
		t.names[name] = r.text()
	}
	if len(r.b) > 0 {
		panic("ucd: tables.bin is longer than it should be") // the embedded table is wrong
	}
	return t
})

// read reads the runs of characters that have the same properties.
func (t *table) read(r *reader) {
	var page [pageSize]uint16
	known := map[[pageSize]uint16]uint16{}
	for c := 0; c <= utf8.MaxRune; {
		n, record := r.number(), uint16(r.number())
		for ; n > 0; n-- {
			page[c%pageSize] = record
			if c++; c%pageSize == 0 {
				at, ok := known[page]
				if !ok {
					at = uint16(len(known))
					known[page] = at
					t.entries = append(t.entries, page[:]...)
				}
				t.pages[c/pageSize-1] = at
			}
		}
	}
}

// at is the index of a character's record.
func (t *table) at(r rune) uint16 {
	return t.entries[int(t.pages[r/pageSize])*pageSize+int(r%pageSize)]
}

// readParts reads the decompositions, and turns the canonical ones of two characters around.
func (t *tables) readParts(r *reader) {
	t.parts, t.pairs = map[rune]part{}, map[[2]rune]rune{}
	c := rune(0)
	for range r.number() {
		c += rune(r.number())
		p := part{tag: uint8(r.number()), runes: wtf8.Runes(r.text())}
		t.parts[c] = p
		if p.tag == 0 && len(p.runes) == 2 && !t.records[t.now.at(c)].Is(excluded) {
			t.pairs[[2]rune{p.runes[0], p.runes[1]}] = c
		}
	}
}

// reader reads what make.py writes.
type reader struct{ b []byte }

func (r *reader) number() int {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		panic("ucd: tables.bin is cut off") // the embedded table is wrong
	}
	r.b = r.b[size:]
	return int(n)
}

func (r *reader) signed() int32 {
	n := r.number()
	if n&1 != 0 {
		return -int32(n/2) - 1
	}
	return int32(n / 2)
}

func (r *reader) text() string {
	n := r.number()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) texts() []string {
	l := make([]string, r.number())
	for i := range l {
		l[i] = r.text()
	}
	return l
}

func (r *reader) props() Props {
	return Props{category: uint8(r.number()), class: uint8(r.number()), width: uint8(r.number()), combining: uint8(r.number()), decimal: uint8(r.number()),
		digit: uint8(r.number()), numeric: uint8(r.number()), flags: Flag(r.number()), cases: [4]int32{r.signed(), r.signed(), r.signed(), r.signed()}}
}

func (r *reader) mappings() map[rune][]rune {
	m := map[rune][]rune{}
	c := rune(0)
	for range r.number() {
		c += rune(r.number())
		m[c] = wtf8.Runes(r.text())
	}
	return m
}
