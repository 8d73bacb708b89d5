package cjk

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the tables
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:embed tables.txt.gz
var packed []byte

// sections are the lines of each codec, unpacked once.
var sections = sync.OnceValue(func() map[string]string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Sprintf("cjk: tables: %v", err))
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(fmt.Sprintf("cjk: tables: %v", err))
	}
	m := map[string]string{}
	for _, part := range strings.Split(string(b), "\n@")[0:] {
		name, lines, _ := strings.Cut(strings.TrimPrefix(part, "@"), "\n")
		m[strings.TrimSpace(name)] = lines
	}
	return m
})

// table is what a codec without a state maps to what. Bytes are kept as strings.
type table struct {
	text  map[string]string // of whole sequences
	need  map[string]int    // of beginnings of sequences: how many bytes the whole has at least
	bytes map[rune]string
	pairs map[string]string // sequences of two characters that are one for the codec
	heads map[rune]bool     // the first ones of pairs
}

var (
	loading sync.Mutex
	loaded  = map[string]*table{}
)

// tableOf is the table of a codec.
func tableOf(name string) *table {
	loading.Lock()
	defer loading.Unlock()
	t := loaded[name]
	if t == nil {
		t = &table{text: map[string]string{}, need: map[string]int{}, bytes: map[rune]string{}, pairs: map[string]string{}, heads: map[rune]bool{}}
		for c := rune(0); c < ' '; c++ {
			t.add(string(c), c, true, true)
		}
		for line := range strings.Lines(sections()[name]) {
			t.line(strings.TrimSuffix(line, "\n"))
		}
		loaded[name] = t
	}
	return t
}

func (t *table) add(seq string, r rune, decode, encode bool) {
	if decode {
		t.text[seq] = string(r)
	}
	if encode {
		t.bytes[r] = seq
	}
}

// line reads one line of the tables.
func (t *table) line(s string) {
	code, text, _ := strings.Cut(s, " ")
	mark := code[0]
	if strings.IndexByte("=<>~^", mark) >= 0 {
		code = code[1:]
	}
	b, err := hex.DecodeString(code)
	if err != nil {
		panic(fmt.Sprintf("cjk: line %q: %v", s, err))
	}
	switch mark {
	case '~':
		last, _ := strconv.ParseUint(text, 16, 8)
		for c := int(b[len(b)-1]); c <= int(last); c++ {
			b[len(b)-1] = byte(c)
			t.need[string(b)] = len(b) + 1
		}
	case '^':
		n, _ := strconv.Atoi(text)
		t.need[string(b)] = n
	case '=':
		t.text[string(b)] = text
		if rs := []rune(text); len(rs) > 1 {
			t.pairs[text] = string(b)
			t.heads[rs[0]] = true
		} else {
			t.bytes[rs[0]] = string(b)
		}
	default:
		for _, r := range text {
			t.add(string(b), r, mark != '>', mark != '<')
			b[len(b)-1]++
		}
	}
}
