package vm

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
)

// textSigsFile has what maketextsigs.py prints under CPython 3.11: a name and its signature a line.
//
//go:embed textsigs.tsv.gz
var textSigsFile []byte

// textSigs are the signatures of CPython's own functions and classes by module and qualified name, for inspect.
var textSigs = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	r, err := gzip.NewReader(bytes.NewReader(textSigsFile))
	if err != nil {
		panic("vm: textsigs.tsv.gz: " + err.Error()) // the embedded table is wrong
	}
	b, err := io.ReadAll(r)
	if err != nil {
		panic("vm: textsigs.tsv.gz: " + err.Error()) // the same
	}
	for line := range strings.Lines(string(b)) {
		name, sig, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		m[name] = sig
	}
	return m
})

// textSig is __text_signature__, None for what has none.
func textSig(name string) Object {
	if s, ok := textSigs()[name]; ok {
		return Str(s)
	}
	return None
}

// textSig is __text_signature__ of a function.
func (b *Builtin) textSig() Object {
	module := b.Module
	switch {
	case b.Owner != nil:
		module = b.Owner.Module + "." + b.Owner.Qualname
	case module == "":
		module = "builtins"
	}
	return textSig(module + "." + b.Name)
}

// textSig is __text_signature__ of a class that CPython has in C.
func (t *Type) textSig() Object {
	if t.owner != nil {
		return None
	}
	return textSig(t.Module + "." + t.Qualname)
}
