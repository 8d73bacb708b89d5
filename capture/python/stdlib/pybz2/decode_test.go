package pybz2

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/dsnet/compress/bzip2"
)

// TestLargeBlock goes through blocks of the largest size: what the library writes is what is read.
func TestLargeBlock(t *testing.T) {
	src := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 950000)
	_, _ = src.Read(data)
	var packed, out bytes.Buffer
	w, err := bzip2.NewWriter(&packed, &bzip2.WriterConfig{Level: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	err = decode(&packed, func(b []byte) bool { out.Write(b); return true })
	if err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Fatalf("%v, %d bytes of %d", err, out.Len(), len(data))
	}
}

// FuzzDecode decodes anything without a panic, and without more output than blocks can have.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("BZh91AY&SY\xd9\xd7\x13T\x00\x00\x01\x81\x80\x00\x10\x00\x02\x00 \x00!\x98\x19\x84a\xe4\x8a\x95\x0fb\x98\x19"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = decode(bytes.NewReader(data), func([]byte) bool { return true })
	})
}
