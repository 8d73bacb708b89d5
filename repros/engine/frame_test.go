package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	for _, mark := range Marks {
		if err := WriteFrame(&b, Reply{Nonce: "n", Mark: mark}); err != nil {
			t.Fatal(err)
		}
	}
	cut := bytes.Clone(b.Bytes())
	for _, mark := range Marks {
		var r, c Reply
		if err := ReadFrame(&b, &r); err != nil {
			t.Fatal(err)
		}
		n, err := CutFrame(cut, &c)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		cut = cut[n:]
		if diff := cmp.Diff([]Reply{{Nonce: "n", Mark: mark}, {Nonce: "n", Mark: mark}}, []Reply{r, c}); diff != "" {
			t.Error(diff)
		}
	}
	if err := ReadFrame(&b, &Reply{}); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for _, part := range []string{"\x00\x00", "\x00\x00\x00\x05{", "\xff\xff\xff\xff{", "\x00\x00\x00\x02[1"} {
		if err := ReadFrame(bytes.NewBufferString(part), &Reply{}); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", part, err)
		}
	}
}

// FuzzFrame: both ways to read a message take the same ones, from any bytes, and end in an error or wait for more.
func FuzzFrame(f *testing.F) {
	b, err := Frame(Reply{Nonce: "n", Mark: Loaded})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(append(slices.Clone(b), b[:7]...))
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{0, 0, 0, 4, 'n', 'u', 'l', 'l'})
	f.Add([]byte{255, 255, 255, 255, '{'})
	f.Add([]byte("some rubbish"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for rest := data; ; {
			var a, b json.RawMessage
			n, cut := CutFrame(rest, &a)
			read := ReadFrame(r, &b)
			if (cut == nil && n > 0) != (read == nil) || n > len(rest) {
				t.Fatalf("%d bytes, %v; %v", n, cut, read)
			}
			if read != nil {
				return
			}
			if diff := cmp.Diff(string(a), string(b)); diff != "" {
				t.Fatal(diff)
			}
			rest = rest[n:]
		}
	})
}
